"""The card of an object: the few figures that matter for its kind, each with its past, its threshold and yesterday's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue, Series
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import figure, metric_words, quantity, short_age
from mqvitals_agent.text.meter import Bound
from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.sparkline import spark_spans, sparkline, worst_of_stretches
from mqvitals_agent.text.styled import Line, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit
from mqvitals_agent.view.figures.trend import Points, charted_points
from mqvitals_agent.view.figures.values import RATE, Values
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.thresholds import Threshold, low_end_is_bad
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

MOST = 8
"""The figures of a card: they must leave room for what to do on the smallest terminal."""

CARD: Final[Mapping[str, tuple[str, ...]]] = {
    "queue_manager": (
        "reachable",
        "connections",
        "units_active",
        "indoubt_age_s",
        "logged_age_s",
        "mqi_call_rate",
        "storage31_free_bytes",
        "mstr_cpu_pct",
        "certificate_days_left",
        "uptime_s",
        "restarts",
    ),
    "qsg": (
        "members_active",
        "members_inactive",
        "members_failed",
        "db2_active",
        "structure_count",
        "cf_busy_pct",
        "cf_free_pct",
        "altered_1d",
    ),
    "channel": (
        "status",
        "msgs",
        "xmitq_msgs",
        "nettime_us_short",
        "xbatchsz_short",
        "xqtime_us_short",
        "last_msg_age_s",
        "short_left",
        "instances",
        "conversations",
        "indoubt",
    ),
    "client": ("instances", "conversations", "clients"),
    "cluster_queue_manager": ("role", "suspend", "status", "definition_type"),
    "queue": (
        "depth",
        "oldest_msg_age_s",
        "input_handles",
        "output_handles",
        "put_rate",
        "get_rate",
        "qtime_us_short",
        "last_get_age_s",
        "last_put_age_s",
        "uncommitted_msgs",
    ),
    "dead_letter": ("messages", "last_age_s", "first_age_s"),
    "subscription": ("subscriptions",),
    "buffer_pool": ("free_pct", "low_pct", "free", "total", "dwt", "dmc", "sos", "rio", "imw"),
    "page_set": (
        "used_pct",
        "unused_pages",
        "total_pages",
        "persist_pages",
        "nonpersist_pages",
        "expand_count",
        "full_count",
        "restart_extents",
    ),
    "cf_structure": (
        "entries_pct",
        "entries_used",
        "size_used_pct",
        "members_connected",
        "connections_failed",
        "backup_age_s",
        "full_count",
        "avg_call_us",
        "size_max_kb",
    ),
    "smds": (
        "used_pct",
        "used_blocks",
        "offload_msgs",
        "buffers_in_use",
        "waits_pct",
        "reads_saved_pct",
        "lowest_free",
        "alloc_failures",
    ),
    "smds_connection": ("status", "avail", "open_mode", "expand_status"),
    "log": (
        "full_logs",
        "used_pct",
        "written_bytes",
        "oldest_uow_age_s",
        "uow_span_mb",
        "rba_used_pct",
        "rba_days_left",
        "io_avg_us",
        "wtb",
        "total_logs",
    ),
    "channel_initiator": (
        "current",
        "active",
        "retrying",
        "stopped",
        "adapters_started",
        "dispatchers_started",
        "dispatcher_busiest_pct",
        "adapter_avg_elapsed_us",
        "listeners_down",
        "ssltasks_started",
    ),
    "adapter": ("busy_pct", "requests", "avg_elapsed_us", "avg_cpu_us", "wait_us", "cpu_pct"),
    "dispatcher": ("busy_pct", "channels", "requests", "avg_elapsed_us", "avg_cpu_us", "wait_us", "cpu_pct"),
    "ssl_task": ("busy_pct", "longest_us", "requests", "avg_elapsed_us", "avg_cpu_us", "wait_us", "cpu_pct"),
    "dns_task": ("busy_pct", "longest_us", "requests", "avg_elapsed_us", "avg_cpu_us", "wait_us", "cpu_pct"),
    "application": (
        "cpu_us",
        "get_n",
        "put_n",
        "commit_n",
        "log_wait_us",
        "suspend_us",
        "latency_us",
        "max_depth_seen",
    ),
    "agent": ("outcome", "elapsed_ms", "replies", "bytes", "commands", "every_ms", "stretched"),
    "store": (
        "used_bytes",
        "limit_used_pct",
        "held_s",
        "growth_bytes_per_h",
        "disk_free_pct",
        "disk_free_bytes",
        "dropped_snapshots",
        "keep_missed",
    ),
    "receiver": ("failing_s", "pending", "oldest_pending_s", "accepted_ago_s", "refused"),
}
"""The metrics of each kind's card, those first that matter most: the first ``MOST`` that the store can have."""

NEVER_HERE: Final = frozenset(
    {
        Absence.NEEDS_SMF,
        Absence.NEEDS_STATISTICS,
        Absence.NEEDS_CONSOLE,
        Absence.NEEDS_EVENTS,
        Absence.NOT_RETURNED,
        Absence.NOT_ON_ZOS,
        Absence.NOT_ON_DISTRIBUTED,
        Absence.NOT_DECLARED,
        Absence.NOT_LIVE,
        Absence.NOT_ASKED,
    }
)
"""Reasons of what was never known of an object: such a metric has no past either."""

SPANS: Final = ((300_000, "last 5m"), (900_000, "last 15m"), (3_600_000, "last 1h"), (86_400_000, "last 24h"))
"""The past that a card shows, ms and in words: the shortest that holds all that is known of the last hour.

Of records it is a day, because there are one or two an hour.
"""
_HOUR_MS: Final = 3_600_000

_DAY_MS: Final = 86_400_000
_NEAR_MS: Final = 900_000
"""Yesterday's value is at most so much older than the same moment; of records four times as much."""


@dataclass(frozen=True, slots=True)
class CardFigure:
    """A figure of a card.

    ``points`` are its last hour or day, as (ms UTC, number or None), of a counter a second; ``yesterday`` the number a
    day ago, None where it is not known; ``thresholds`` those of its metric; ``low_is_bad``: whether low values are the
    bad ones.
    """

    metric: Metric
    latest: CurrentValue
    points: Points = ()
    rate: float | None = None
    yesterday: float | None = None
    thresholds: tuple[Threshold, ...] = ()
    low_is_bad: bool = False

    @property
    def counted(self) -> bool:
        """Whether it is a counter of a flow, shown as a rate; of others the increase of an interval says more."""
        return self.metric.type is MetricType.COUNTER and self.metric.name in RATE.values()


def card_metrics(kind: str, values: Values) -> tuple[str, ...]:
    """The metrics on the card of an object: of its kind's the first that it can have."""
    possible = [name for name in CARD[kind] if name in values and values[name].value not in NEVER_HERE]
    return tuple(possible[:MOST])


def read_card(
    reader: StoreReader, name: ObjectName, values: Values, thresholds: Sequence[Threshold], now: int
) -> tuple[CardFigure, ...]:
    """The card of an object as of ``now`` (ms UTC). Raises StoreError."""
    metrics = card_metrics(name.kind, values)
    recorded = any(values[metric].source is not Source.POLL for metric in metrics)
    past = reader.trends(name, metrics, now - (_DAY_MS if recorded else _HOUR_MS), now)
    ago = now - _DAY_MS
    before = reader.trends(name, metrics, ago - _NEAR_MS * (4 if recorded else 1), ago)
    return tuple(
        _figure_of(name.kind, metric, values[metric], past[metric], before[metric], thresholds) for metric in metrics
    )


def _figure_of(
    kind: str, name: str, latest: CurrentValue, past: Series, before: Series, thresholds: Sequence[Threshold]
) -> CardFigure:
    metric = metric_of(kind, name)
    own = tuple(each for each in thresholds if each.metric == name)
    low = own[0].low_is_bad if own else low_end_is_bad((), kind, name)
    counted = CardFigure(metric, latest).counted
    points = _rates(past, metric) if counted else past.points
    if latest.probe != KINDS[kind].poll:
        # A slower command: the polls between its answers do not say that there was none.
        points = tuple(point for point in points if point[1] is not None)
    earlier = [value for _, value in (_rates(before, metric) if counted else before.points) if value is not None]
    rate = None
    if counted and not isinstance(latest.value, Absence | str):
        rate = next((value for ts, value in reversed(points) if ts == latest.ts), None)
    return CardFigure(metric, latest, points, rate, earlier[-1] if earlier else None, own, low)


def _rates(series: Series, metric: Metric) -> Points:
    return charted_points(series.points, series.intervals, metric)


def _at_work(each: CardFigure) -> list[Threshold]:
    return [one for one in each.thresholds if not one.idle]


def crossed(each: CardFigure) -> Threshold | None:
    """The worst threshold that the figure lies beyond now; None: none, or it is not known."""
    value = _number(each)
    if value is None:
        return None
    beyond = [one for one in _at_work(each) if one.reached_by(value)]
    return max(beyond, key=lambda one: one.severity, default=None)


def shown_threshold(each: CardFigure) -> Threshold | None:
    """The threshold that a card shows: the worst one crossed, else the nearest one ahead; None: there is none."""
    value = _number(each)
    if (found := crossed(each)) is not None or not each.thresholds:
        return found
    if value is None:
        return each.thresholds[0]
    return min(each.thresholds, key=lambda one: abs(one.value - value))


def _number(each: CardFigure) -> float | None:
    value = each.latest.value
    return None if isinstance(value, Absence | str) or not math.isfinite(value) else value


class _Columns(NamedTuple):
    """The cells of each column, 0 for none."""

    name: int
    value: int
    age: int
    past: int
    threshold: int
    yesterday: int


_AGE, _GAP, _MOST_PAST, _LEAST_PAST = 6, 2, 120, 8

_ROOMY = 72
"""From this width on a value may be longer than most."""


def _columns_of(card: Sequence[CardFigure], words: Mapping[str, str], width: int) -> _Columns:
    values = (cells(_words(each)) for each in card if not isinstance(each.latest.value, Absence))
    return _columns(width, max(map(cells, words.values())), max(values, default=0))


def _columns(width: int, names: int, values: int) -> _Columns:
    """What fits into ``width`` cells beside names and values of so many cells: yesterday goes first, then the past."""
    name, value = min(max(names, 8), 20), min(max(values, 12), 20 if width >= _ROOMY else 12)
    left = width - _GAP - name - 1 - value - 1 - _AGE
    threshold = 12 if left >= 12 + _GAP else 0
    left -= threshold + _GAP if threshold else 0
    yesterday = 12 if left >= 12 + 2 * _GAP + _LEAST_PAST else 0
    left -= yesterday + _GAP if yesterday else 0
    past = min(left - _GAP, _MOST_PAST) if left >= _LEAST_PAST + _GAP else 0
    return _Columns(name, value, _AGE, past, threshold, yesterday)


def card_lines(card: Sequence[CardFigure], now: int, width: int, *, stale: bool = False) -> Iterator[Line]:
    """A line with the titles of the columns and one a figure, in at most ``width`` cells; each knows its metric.

    ``stale``: nothing new comes.
    """
    if not card:
        yield line("  none of its figures is known", Tone.ABSENT)
        return
    words = _names(card)
    columns = _columns_of(card, words, width)
    past, _ = _past_of(card, now)
    for each in card:
        spans = _row(each, words[each.metric.name], columns, (past, now), width, stale=stale)
        yield Line(tuple(spans), figure=each.metric.name)


def _names(card: Sequence[CardFigure]) -> dict[str, str]:
    """What each figure is called: its words where no other figure has the same, else its name."""
    words = {each.metric.name: metric_words(each.metric.name) for each in card}
    several = Counter(words.values())
    return {name: name if several[word] > 1 else word for name, word in words.items()}


def _past_of(card: Sequence[CardFigure], now: int) -> tuple[TimeRange, str]:
    """The past of the card, until its newest value, and its length in words: it moves with the values, not with the
    clock."""
    until = max((each.points[-1][0] for each in card if each.points), default=now)
    oldest = min((each.points[0][0] for each in card if each.points), default=until - _HOUR_MS)
    ms, words = next((span for span in SPANS if until - oldest <= span[0]), SPANS[-1])
    return TimeRange(until - ms, until), words


def card_titles(card: Sequence[CardFigure], now: int, width: int) -> str:
    """The titles of the columns, to stand above the rows in a line that begins with other words."""
    if not card:
        return ""
    columns = _columns_of(card, _names(card), width)
    titles = [
        (columns.value, "now", True),
        (columns.age, "age", True),
        (columns.past, _past_of(card, now)[1], False),
        (columns.threshold, "threshold", True),
        (columns.yesterday, "yesterday", True),
    ]
    text = " " * (_GAP + columns.name)
    for size, title, right in titles:
        if size:
            text += " " * (1 if title in ("now", "age") else _GAP) + fit(title, size, right=right)
    return text


def _row(
    each: CardFigure, name: str, columns: _Columns, times: tuple[TimeRange, int], width: int, *, stale: bool
) -> Iterator[Span]:
    """``times`` are the past that is shown, and now."""
    latest, (past, now) = each.latest, times
    old = "" if latest.ts is None else short_age(now - latest.ts)
    stale = stale or latest.unanswered is not None
    yield Span("  ")
    yield Span(fit(name, columns.name), Tone.FAINT)
    if isinstance(latest.value, Absence):
        room = width - _GAP - columns.name - 1
        yield Span(" ")
        yield Span(cut(latest.value.value, room), Tone.ABSENT)
        return
    beyond = crossed(each)
    tone = Tone.STALE if stale else Tone.STRONG if beyond is None else tone_of(health_of(beyond.severity))
    yield Span(" ")
    yield Span(fit(_words(each), columns.value, right=True), tone)
    yield Span(" ")
    yield Span(fit(old, columns.age, right=True), Tone.STALE if stale else Tone.FAINT)
    if columns.past:
        yield Span("  ")
        yield from _past(each, past, columns.past, stale=stale)
    if columns.threshold:
        bound = shown_threshold(each)
        yield Span("  ")
        tone = Tone.FAINT if bound is None or beyond is None else tone_of(health_of(bound.severity))
        yield Span(fit("" if bound is None else _bound_words(bound, each), columns.threshold, right=True), tone)
    if columns.yesterday:
        yield Span("  ")
        yield Span(fit(_number_words(each.yesterday, each), columns.yesterday, right=True), Tone.FAINT)


def _words(each: CardFigure) -> str:
    if each.counted:
        return _number_words(each.rate, each) or figure(each.latest.value, each.metric)
    return figure(each.latest.value, each.metric)


def _number_words(value: float | None, each: CardFigure) -> str:
    """A number of the figure's series; of a counter it is one a second."""
    if value is None:
        return ""
    return f"{quantity(value, each.metric.unit)}/s" if each.counted else figure(value, each.metric)


def _bound_words(bound: Threshold, each: CardFigure) -> str:
    """The bound, with the sign of its severity where it is crossed."""
    words = figure(bound.value, each.metric)
    glyph = f" {health_of(bound.severity).glyph}" if crossed(each) is not None else ""
    sign = ("<" if bound.beyond else "≤") if bound.low_is_bad else (">" if bound.beyond else "≥")
    return f"{sign} {words}{glyph}"


def _past(each: CardFigure, past: TimeRange, width: int, *, stale: bool) -> Iterator[Span]:
    """The worst value of each stretch of the past, in the tone that its threshold gives it."""
    numbers = [value for _, value in each.points if value is not None and math.isfinite(value)]
    if each.metric.type is MetricType.STATE or not numbers:
        yield Span(" " * width)
        return
    low = each.low_is_bad
    if each.metric.unit == "pct":
        bounds = [Bound(one.value, one.severity) for one in _at_work(each) if one.low_is_bad is low]
        yield from spark_spans(each.points, past, width, bounds, low_is_bad=low, tone=Tone.STALE if stale else None)
        return
    blocks = sparkline(each.points, past, width, high=max(numbers) or 1.0, low_is_bad=low)
    worst = worst_of_stretches(each.points, past, width, low_is_bad=low)
    for tone, cells_of in groupby(zip(blocks, worst, strict=True), lambda pair: _tone_of(each, pair[1], stale=stale)):
        yield Span("".join(block for block, _ in cells_of), tone)


def _tone_of(each: CardFigure, value: float | None, *, stale: bool) -> Tone:
    if stale:
        return Tone.STALE
    # What a counter is told as is no increase, with which its thresholds are compared.
    reached = [] if value is None or each.counted else [one for one in _at_work(each) if one.reached_by(value)]
    worst = max(reached, key=lambda one: one.severity, default=None)
    return Tone.CALM if worst is None else tone_of(health_of(worst.severity))
