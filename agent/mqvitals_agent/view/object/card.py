"""The card of an object: the few figures that matter for its kind, each with its past, its threshold and yesterday's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mqvitals_agent.store.result import CurrentValue, Series
from mqvitals_agent.view.figures.trend import Points, charted_points
from mqvitals_agent.view.figures.values import MAIN_METRIC, RATE, Values
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.thresholds import Threshold, low_end_is_bad
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.view.figures.table import Item

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
    "server": ("failing_s", "listening", "series", "series_left_out", "pages", "refused"),
    "remote_write": (
        "failing_s",
        "pending",
        "oldest_pending_s",
        "accepted_ago_s",
        "sent",
        "sent_bytes",
        "samples_missed",
        "samples_refused",
    ),
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
    past = reader.trends(name, metrics, now - (DAY_MS if recorded else HOUR_MS), now)
    ago = now - DAY_MS
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
        # A slower command: a poll between two of its answers is no gap.
        points = tuple(point for point in points if point[1] is not None)
    earlier = [value for _, value in (_rates(before, metric) if counted else before.points) if value is not None]
    rate = None
    if counted and not isinstance(latest.value, Absence | str):
        rate = next((value for ts, value in reversed(points) if ts == latest.ts), None)
    return CardFigure(metric, latest, points, rate, earlier[-1] if earlier else None, own, low)


def _rates(series: Series, metric: Metric) -> Points:
    return charted_points(series.points, series.intervals, metric)


def at_work(each: CardFigure) -> list[Threshold]:
    """The thresholds of a figure that are not idle."""
    return [one for one in each.thresholds if not one.idle]


def crossed(each: CardFigure) -> Threshold | None:
    """The worst threshold that the figure lies beyond now; None: none, or it is not known."""
    value = _number(each)
    if value is None:
        return None
    beyond = [one for one in at_work(each) if one.reached_by(value)]
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


Pasts = Mapping[ObjectName, Mapping[str, Points]]
"""The last hour by object and metric; of a counter a second."""

_KINDS: Final = frozenset({"buffer_pool", "page_set", "cf_structure", "smds", "log", "channel_initiator"})
"""Kinds whose past is read with their list: of each there are few."""
_MOST_READ: Final = 60


def read_pasts(reader: StoreReader, items: Sequence[Item], now: int) -> Pasts:
    """The last hour until ``now`` (ms UTC) of the main figures of objects of which there are few, the first of
    ``items``. Raises StoreError.
    """
    pasts: dict[ObjectName, dict[str, Points]] = {}
    for item in [each for each in items if each.name.kind in _KINDS][:_MOST_READ]:
        kind = item.name.kind
        counter = RATE.get(kind, "")
        wanted = [each for each in (MAIN_METRIC[kind], counter) if each in item.values]
        series = reader.trends(item.name, wanted, now - HOUR_MS, now)
        pasts[item.name] = {
            name: _rates(each, metric_of(kind, name)) if name == counter else each.points
            for name, each in series.items()
        }
    return pasts
