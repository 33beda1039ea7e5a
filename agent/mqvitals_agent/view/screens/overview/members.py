"""The queue managers on the overview: a line each, in as many columns as fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.text.figure import number, short_age
from mqvitals_agent.text.severity import WIDEST, Health, health_of, worst
from mqvitals_agent.text.sparkline import sparkline
from mqvitals_agent.text.strip import strip
from mqvitals_agent.text.styled import Line, Part, Span, Tone, line, tone_of
from mqvitals_agent.text.terminal import cells, fit, safe, wrap
from mqvitals_agent.view.figures.forecast import FullIn, full_in
from mqvitals_agent.view.figures.table import short_absence
from mqvitals_agent.view.figures.trend import Points
from mqvitals_agent.view.history.heat import folded, heat_parts
from mqvitals_agent.view.lists import key_figures
from mqvitals_agent.view.lists.key_figures import as_seen, seen_ts
from mqvitals_agent.view.lists.overview_history import trend_span
from mqvitals_agent.view.status import (
    GroupStatus,
    OwnerData,
    OwnerStatus,
    unreachable_words,
)
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

_REASONS = frozenset(absence.value for absence in Absence)

_HEAT, _WHY, _POOL, _POOL_PAST, _PAGE_SET, _PAGE_SET_PAST, _FULL_IN, _CHANNELS, _RATE, _RATE_PAST = range(10)
_TASKS, _LOGS, _LOG_PAST, _SEEN = range(10, 14)

_TITLES = {
    _HEAT: "",
    _WHY: "Why",
    _POOL: "Pool, free",
    _POOL_PAST: "trend",
    _PAGE_SET: "Page set",
    _PAGE_SET_PAST: "trend",
    _FULL_IN: "full in",
    _CHANNELS: "Channels",
    _RATE: "Msgs/s",
    _RATE_PAST: "trend",
    _TASKS: "Chinit",
    _LOGS: "Full logs",
    _LOG_PAST: "logged",
    _SEEN: "Seen",
}
"""The columns, in their order; the strip of states is titled by the time that it shows."""

_BY_NEED: Final[Sequence[tuple[tuple[int, ...], int, int]]] = (
    ((_POOL, _PAGE_SET, _CHANNELS, _WHY, _HEAT), _WHY, 28),
    ((_FULL_IN, _RATE, _POOL_PAST, _RATE_PAST), _HEAT, 24),
    ((_LOGS, _TASKS, _SEEN, _LOG_PAST, _PAGE_SET_PAST), _HEAT, 36),
)
"""The columns by priority: they are added while they fit, the strip and the reason at their least. Behind each part of
them one column grows to so many cells."""

_KIND = {
    _POOL: "buffer_pool",
    _PAGE_SET: "page_set",
    _CHANNELS: "channel",
    _TASKS: "channel_initiator",
    _LOGS: "log",
}

PAST, WIDE_PAST = 8, 12
"""Cells of a trend, and on a very wide screen."""

VERY_WIDE = 160
"""Cells: the width from which a screen is very wide."""

AGE = 4
"""Cells reserved for a figure's own age, so that no column moves when it appears."""

LONGEST_NAME = 20
_MOST_CHANNELS = 26
_LEAST_OBJECT, _LEAST_STRIP = 4, 9
"""The least cells of the object in a reason, else the rule stands alone, and of a strip of states."""


def past_cells(width: int) -> int:
    """The cells of a trend on a screen of that width."""
    return WIDE_PAST if width >= VERY_WIDE else PAST


def member_rows(frame: Frame, width: int) -> list[Line]:
    """The titles, and a line for each queue manager; its key opens it."""
    view = frame.status
    if not view.queue_managers:
        return [line("No queue manager has reported yet", Tone.UNKNOWN)]
    members = {member.name: member for member in frame.data.members}
    past = past_cells(width)
    rows = [_row(frame, each, members[each.name], past) for each in view.queue_managers]
    names = [safe(each.name) for each in view.queue_managers]
    name_width = min(max(map(cells, names)), LONGEST_NAME)
    whys = [_why(frame, each) for each in view.queue_managers]
    titles = {**_TITLES, _HEAT: frame.heat.words(_LEAST_STRIP)}
    widths = {column: max(cells(_text(row[column])) for row in rows) for column in rows[0]}
    widths[_WHY] = max(cells(why.rule) for why in whys)
    widths[_HEAT] = _LEAST_STRIP if frame.heat.owners else 0
    widths = {column: max(size, cells(titles[column])) for column, size in widths.items() if size}
    widths[_CHANNELS] = min(widths[_CHANNELS], _MOST_CHANNELS)
    whole = {_WHY: max(cells(why.text) for why in whys)}
    taken, widths = _arranged(widths, whole, width - WIDEST - 2 - name_width)
    head = "".join(f"  {fit(titles[column], widths[column])}" for column in taken)
    lines = [line(f"{' ' * (WIDEST + 2 + name_width)}{head}".rstrip(), Tone.FAINT)]
    for each, name, row, why in zip(view.queue_managers, names, rows, whys, strict=True):
        key = f"{each.name}/queue_manager"
        spans = [Span(fit(str(each.health), WIDEST), tone_of(each.health)), Span("  ")]
        spans.append(Span(fit(name, name_width), Tone.STRONG))
        parts: tuple[Part, ...] = ()
        for column in taken:
            spans.append(Span("  "))
            if column == _WHY:
                spans.append(why.within(widths[column]))
            elif column == _HEAT:
                states = folded(frame.heat.owners.get(each.name, ()), widths[column])
                parts = heat_parts(frame.heat, states, key, sum(cells(span.text) for span in spans), frame.now)
                spans += _fitted(strip(states), widths[column])
            else:
                spans += _fitted(row[column], widths[column])
        lines.append(Line(tuple(spans), key, parts=parts))
        lines += [line(text, Tone.STALE) for text in _note(view, each, width)]
    return lines


def _arranged(least: Mapping[int, int], whole: Mapping[int, int], room: int) -> tuple[list[int], dict[int, int]]:
    """The columns that fit into ``room``, in their order, and their widths: ``least`` at least, what is in ``whole`` no
    wider than that.
    """
    widths, taken = dict(least), list[int]()
    for columns, growing, most in _BY_NEED:
        added = taken_columns(columns, least, room)
        taken += added
        room -= sum(least[column] + 2 for column in added)
        if growing in taken:
            more = max(min(min(most, whole.get(growing, most)) - widths[growing], room), 0)
            widths[growing] += more
            room -= more
    return sorted(taken), widths


def _text(spans: Iterable[Span]) -> str:
    return "".join(span.text for span in spans)


def _fitted(spans: Sequence[Span], width: int) -> Iterator[Span]:
    """The spans in ``width`` cells; only a single one is ever cut."""
    if len(spans) == 1:
        yield spans[0]._replace(text=fit(spans[0].text, width))
        return
    yield from spans
    yield Span(" " * (width - cells(_text(spans))))


_PREFIX = {"buffer_pool": "BP", "page_set": "PS"}
"""Before the numbers of objects that have no other name."""


class _WorstAlert(NamedTuple):
    """The worst alert of a queue manager: its rule and the words for its object; both empty without an alert."""

    rule: str = ""
    words: str = ""
    tone: Tone = Tone.PLAIN

    @property
    def text(self) -> str:
        return f"{self.rule} {self.words}".strip()

    def within(self, width: int) -> Span:
        """Both in ``width`` cells; only the rule where a few cells of the object would tell nothing."""
        whole = width >= min(cells(self.text), cells(self.rule) + 1 + _LEAST_OBJECT)
        return Span(fit(self.text if whole else self.rule, width), self.tone)


def _why(frame: Frame, each: OwnerStatus) -> _WorstAlert:
    about = (alert for alert in frame.status.alerts if each.name in (alert.key.object.owner, alert.scope.owner))
    worst_one = next(about, None)
    if worst_one is None:
        return _WorstAlert()
    name = worst_one.key.object
    words = f"{_PREFIX.get(name.kind, '')}{safe(name.name)}" if name.name else name.kind.replace("_", " ")
    return _WorstAlert(
        safe(worst_one.key.rule), words, Tone.STALE if each.stale else tone_of(health_of(worst_one.severity))
    )


def taken_columns(by_need: Iterable[int], widths: Mapping[int, int], room: int) -> list[int]:
    """The columns that fit into ``room``, in their order."""
    taken = []
    for column in by_need:
        size = widths.get(column, 0)
        if size and size + 2 <= room:
            taken.append(column)
            room -= size + 2
    return sorted(taken)


Spans = tuple[Span, ...]


def _row(frame: Frame, each: OwnerStatus, member: OwnerData, past: int) -> dict[int, Spans]:
    silent = each.stale or not each.reachable
    current, now = frame.data.current, frame.now
    seen_as = as_seen(frame.status, member)
    pool = key_figures.extreme_figure(current, each.name, "buffer_pool", "free_pct", -1)
    page_set = key_figures.extreme_figure(current, each.name, "page_set", "used_pct", 1)
    # One answer reports both: its age is shown once.
    both = pool is not None and page_set is not None and pool.latest.ts == page_set.latest.ts
    pool_age = "" if pool is None else key_figures.own_age(pool.latest, seen_as, now)
    texts = {
        _POOL: key_figures.least_free(current, seen_as, now) + " " * max(AGE - cells(pool_age), 0),
        _PAGE_SET: key_figures.fullest(current, seen_as, now, aged=not both),
        _CHANNELS: key_figures.channel_counts(current, seen_as, now, frame.status.firing),
        _TASKS: key_figures.task_counts(current, seen_as, now),
        _LOGS: key_figures.full_logs(current, seen_as, now),
    }
    row: dict[int, Spans] = {
        column: (Span(text, _tone(frame.status, each.name, _KIND[column], text, silent=silent)),)
        for column, text in texts.items()
    }
    rate = frame.history.rates.get(each.name)
    if rate is None or isinstance(rate.value, Absence | str):
        absence = rate.value if rate is not None and isinstance(rate.value, Absence) else Absence.NOT_ASKED
        row[_RATE] = (Span(short_absence(absence), Tone.ABSENT),)
    else:
        text = number(round(rate.value, 1 if rate.value < 10 else None)) + key_figures.own_age(rate, seen_as, now)
        row[_RATE] = (Span(text, Tone.STALE if silent else Tone.PLAIN),)
    # The trend of a stale queue manager ends at its last snapshot.
    until = member.last_ts if each.stale else now
    span = trend_span(member, until)
    for column, extreme, of in ((_POOL_PAST, pool, _POOL), (_PAGE_SET_PAST, page_set, _PAGE_SET)):
        shown = row[of][0].tone if row[of][0].tone in (Tone.STALE, Tone.ABSENT) else None
        row[column] = frame.history.past_of(None if extreme is None else extreme.name, span, past, shown)
    for column, of_owner in ((_RATE_PAST, frame.history.moved), (_LOG_PAST, frame.history.logged)):
        points = of_owner.get(each.name, ())
        row[column] = (Span(sparkline(points, span, past, high=_most(points)), Tone.STALE if silent else Tone.CALM),)
    page_set_tone = row[_PAGE_SET][0].tone
    ahead = FullIn(None)
    if page_set is not None and not silent:
        ahead = full_in(frame.history.points.get(page_set.name, ()), now)
    tone = Tone.WARNING if ahead.is_soon and page_set_tone is Tone.PLAIN else page_set_tone
    row[_FULL_IN] = (Span("" if ahead.ms is None else short_age(ahead.ms), tone),)
    seen = seen_ts(frame.status, each)
    row[_SEEN] = (Span("never" if seen is None else short_age(now - seen), Tone.STALE if silent else Tone.FAINT),)
    return row


def _most(points: Points) -> float:
    """The greatest value; 1 where all are 0, so that they are drawn as nothing."""
    return max((value for _, value in points if value is not None), default=0.0) or 1.0


def _tone(view: GroupStatus, owner: str, kind: str, text: str, *, silent: bool) -> Tone:
    if text.rstrip() in _REASONS:
        return Tone.ABSENT
    if silent:
        return Tone.STALE
    about = (alert for alert in view.firing if (alert.scope.owner, alert.scope.kind) == (owner, kind))
    health = worst(health_of(alert.severity) for alert in about)
    return tone_of(health) if health >= Health.WARNING else Tone.PLAIN


def _note(view: GroupStatus, each: OwnerStatus, width: int) -> list[str]:
    if each.reachable:
        return []
    words = unreachable_words(view.data, seen_ts(view, each))
    return wrap(words, width, first=" " * (WIDEST + 2), rest=" " * (WIDEST + 2))
