"""What came before an alert: what changed and which figures left their usual range, of its object, of what that rests on
and of its queue manager.

Nothing here is called a cause. Each line has a score, by which the lines are in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.store.rows.journal import JournalEntry, is_routine
from mqvitals_agent.text.figure import age, clock, day, figure, metric_words, number, object_words, quantity, zone_name
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, wrapped
from mqvitals_agent.text.terminal import cells, cut, safe, wrap
from mqvitals_agent.view.alerts.words import short_summary
from mqvitals_agent.view.history.changes import explaining
from mqvitals_agent.view.history.journal import entry_words, opens, sign_of_entry, tone_of_entry
from mqvitals_agent.view.lists.related import read_related
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_rules.vocabulary.journal import EntryKind
from mqvitals_rules.vocabulary.metric import Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

BEFORE_MS: Final = 15 * 60_000
"""The time before the beginning of an alert that is looked at."""

LATER_MS: Final = 20 * 60_000
"""What was seen so long after an alert began may have been there before: definitions are asked for rarely."""

DAYS: Final = 7
"""So many other days are looked at, at the same hour."""

MOST_LINES: Final = 40
_WITH_TIMES: Final = 60
"""The width from which lines say when; narrower ones say only how long before."""
MOST_OBJECTS: Final = 40
_MOST_ENTRIES: Final = 400
_POINTS: Final = 60
"""Polls of a time that are looked at, evenly spread."""
_LEAST_POINTS: Final = 5
"""From fewer nothing is said about what is usual."""
_LEAST_SCORE: Final = 4.0
"""A figure that is less far from its usual range is not told."""
_FARTHEST: Final = 1_000.0
"""A figure that is farther from its usual range is told as that far."""
_MOST_OF_FIGURES, _SOFT, _FURTHER = 40.0, 20.0, 0.8
"""How figures are scored, so that they stand below the changes of the same object. A score comes near to the first
number with the distance, measured by the second; each further figure of an object has the third as its part of the one
before.
"""
_NORMAL: Final = 1.4826
"""The factor from a median deviation to a standard deviation."""
_SHARE: Final = 0.05
"""A deviation of less than this share of the usual value is none."""
_LEAST: Final[Mapping[str, float]] = {
    "pct": 2.0,
    "us": 200.0,
    "ms": 5.0,
    "s": 5.0,
    "KB": 64.0,
    "bytes": 65536.0,
    "pages": 50.0,
}
"""The least deviation that is one, by unit; 1 for others."""

_WEIGHT: Final[Mapping[EntryKind, float]] = {
    EntryKind.DEFINITION: 100.0,
    EntryKind.EXPANSION: 90.0,
    EntryKind.CONNECT: 85.0,
    EntryKind.RESTART: 85.0,
    EntryKind.STATE: 75.0,
    EntryKind.USE: 75.0,
    EntryKind.OBJECT: 60.0,
    EntryKind.MESSAGE: 45.0,
    EntryKind.ACTION: 30.0,
    EntryKind.AGENT: 25.0,
    EntryKind.LOG: 15.0,
}
"""The weight of an entry of the journal, by kind. Alerts have none: they follow from what is looked for."""

_OWN, _RELATED, _MANAGER = 1.0, 0.85, 0.7
"""By how near the object is: the alert's own, one that it rests on, its queue manager."""

_WITH_CALM: Final = frozenset({"queue_manager", "channel_initiator", "log", "qsg"})


class Departure(NamedTuple):
    """How far a figure was from its usual range: the value that is farthest, seen at ``ts`` (ms UTC), and what is usual.

    ``of_hour`` counts standard deviations from its own hour before, ``of_days`` from the same hour of other days (None:
    these are not kept). ``past_ms`` is the time before that the store has, ms.
    """

    value: float
    usual: float
    ts: int
    of_hour: float
    of_days: float | None
    past_ms: int = HOUR_MS

    @property
    def score(self) -> float:
        """The smaller of both: what comes each day at this hour is usual."""
        return self.of_hour if self.of_days is None else min(self.of_hour, self.of_days)


@dataclass(frozen=True, slots=True)
class BeforeLine:
    """Something that came before an alert: an entry of the journal, or the departure of a ``metric``."""

    score: float
    name: ObjectName
    entry: JournalEntry | None = None
    metric: Metric | None = None
    departure: Departure | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """What came before an alert, the highest score first; ``alert`` is None where the store does not have it.

    ``since`` and ``until`` (ms UTC) are the time that was looked at, ``objects`` how many objects were.
    """

    alert: Alert | None = None
    lines: tuple[BeforeLine, ...] = ()
    since: int = 0
    until: int = 0
    objects: int = 0
    compared: int = 0
    """How many figures had enough of a past to be compared."""


Points = Sequence[tuple[int, float]]
"""Times (ms UTC) and values, in time order."""


def departure_of(within: Points, before: Points, days: Sequence[float], unit: str = "") -> Departure | None:
    """How far the values ``within`` a time are from those ``before`` it and from those of other ``days``.

    Of the values the one farthest from the median of ``before`` counts. None where there is no value, or too few before.
    """
    if not within or len(before) < _LEAST_POINTS:
        return None
    usual = [value for _, value in before]
    middle = median(usual)
    ts, value = max(within, key=lambda point: abs(point[1] - middle))
    of_days = distance(value, days, unit) if len(days) >= _LEAST_POINTS else None
    return Departure(value, middle, ts, distance(value, usual, unit), of_days, before[-1][0] - before[0][0])


def distance(value: float, usual: Sequence[float], unit: str = "") -> float:
    """How many standard deviations a value is from the median of what is usual, at most ``_FARTHEST``.

    The deviation counts as at least ``_SHARE`` of the usual value and the least deviation of the unit: a figure that
    never moved does not count for much when it moves a little.
    """
    middle = median(usual)
    spread = _NORMAL * median(abs(each - middle) for each in usual)
    least = max(_LEAST.get(unit, 1.0), _SHARE * abs(middle))
    return min(abs(value - middle) / max(spread, least), _FARTHEST)


def entry_score(entry: JournalEntry, nearness: float, since: int, usual: int) -> float:
    """What an entry weighs before an alert that began at ``since`` (ms UTC); ``usual`` counts the same on the day before.

    Entries shortly before weigh more, and what happens often less. What happens all day in a healthy group weighs as
    little in a store that is too young to know that it is usual.
    """
    weight = _WEIGHT.get(EntryKind.LOG if is_routine(entry) else entry.kind, 0.0) * nearness
    away = min(max(since - entry.ts, 0), BEFORE_MS) / BEFORE_MS
    return weight * (1 - 0.25 * away) / (1 + usual / 2)


def spread_over(moments: Sequence[int], most: int) -> list[int]:
    """At most ``most`` of the moments, evenly spread, the last one among them."""
    if len(moments) <= most:
        return list(moments)
    return [moments[len(moments) - 1 - index * len(moments) // most] for index in range(most)][::-1]


def read_before(reader: StoreReader, status: GroupStatus, number_of_alert: int) -> Before:
    """What came before the alert with this number in the store. Raises StoreError."""
    stored = reader.alert(number_of_alert)
    if stored is None:
        return Before()
    alert = stored.alert
    began = alert.since if alert.started is None else min(alert.since, alert.started)
    began = _beginning(reader, number_of_alert, began)
    since = began - BEFORE_MS
    until = max(began, min(alert.started or began, began + BEFORE_MS))
    near = _objects(reader, status, alert)
    entries = reader.journal(since - DAY_MS, began + LATER_MS, objects=near, limit=_MOST_ENTRIES)
    usual = [each for each in entries if each.ts < since]
    lines = [
        BeforeLine(
            entry_score(each, near[each.name], began, sum(_same(each, other) for other in usual)), each.name, each
        )
        for each in entries
        if each.ts >= since
        and each.kind in _WEIGHT
        and (each.ts <= until or (each.before is not None and each.before <= began))
    ]
    figures, compared = _departures(reader, near, since, until)
    ranked = sorted((*_newest(lines), *each_further_less(figures)), key=lambda each: -each.score)
    return Before(alert, tuple(ranked[:MOST_LINES]), since, until, len(near), compared)


def _beginning(reader: StoreReader, number_of_alert: int, since: int) -> int:
    """When the alert began to wait for its hold: its present severity may be younger."""
    return min((each.ts for each in reader.transitions(number_of_alert)), default=since)


def _same(one: JournalEntry, other: JournalEntry) -> bool:
    return one.kind is other.kind and one.name == other.name and one.metric == other.metric


def _newest(lines: Iterable[BeforeLine]) -> list[BeforeLine]:
    """Of the entries about one metric of an object the one with the highest score: a flap is one line."""
    best: dict[tuple[EntryKind, ObjectName, str], BeforeLine] = {}
    for each in lines:
        assert each.entry is not None, "these are lines of entries"
        key = each.entry.kind, each.name, each.entry.metric
        if key not in best or best[key].score <= each.score:
            best[key] = each
    return list(best.values())


def _objects(reader: StoreReader, status: GroupStatus, alert: Alert) -> dict[ObjectName, float]:
    """The alert's object, what it rests on and its queue manager, and how near each is."""
    name = alert.key.object
    related = read_related(reader, status, name, reader.current(name)) if reader.has(name) else ()
    near: dict[ObjectName, float] = {name: _OWN}
    wanted = explaining(name, related) | {
        each for one in related for each, _, _ in one.objects if each.kind in _WITH_CALM
    }
    for each, *_ in (found for one in related for found in one.objects):
        if each in wanted and len(near) < MOST_OBJECTS:
            near.setdefault(each, _RELATED)
    members = [each.name for each in status.queue_managers]
    for owner in [name.owner] if name.owner in members else members:
        for kind in ("queue_manager", "log", "channel_initiator"):
            near.setdefault(ObjectName(owner, kind), _MANAGER)
    if status.group is not None:
        near.setdefault(ObjectName(status.group.name, "qsg"), _MANAGER)
    return near


def _departures(
    reader: StoreReader, near: Mapping[ObjectName, float], since: int, until: int
) -> tuple[list[BeforeLine], int]:
    """The figures that left their usual range, and how many figures were compared."""
    groups: dict[tuple[str, str], list[ObjectName]] = {}
    for name in near:
        groups.setdefault((name.owner, name.kind), []).append(name)
    moments: dict[str, tuple[list[int], list[int], list[int]]] = {}
    found: list[BeforeLine] = []
    compared = 0
    for (owner, kind), names in groups.items():
        if owner not in moments:
            moments[owner] = _moments(reader, owner, since, until)
        of_kind, of_compared = _departures_of(reader, kind, names, near, moments[owner])
        found += of_kind
        compared += of_compared
    return found, compared


def _moments(reader: StoreReader, owner: str, since: int, until: int) -> tuple[list[int], list[int], list[int]]:
    """The snapshots within the time, in the hour before, and at the same hour of other days."""
    within = spread_over(reader.snapshot_span(owner, since, until), _POINTS)
    before = spread_over(reader.snapshot_span(owner, since - HOUR_MS, since - 1), _POINTS)
    if len(before) < _LEAST_POINTS and len(within) > 2 * _LEAST_POINTS:
        # A young store: the first half of what there is stands for the hour before.
        half = len(within) // 2
        before, within = within[:half], within[half:]
    days: list[int] = []
    for back in range(1, DAYS + 1):
        middle = until - back * DAY_MS
        days += spread_over(reader.snapshot_span(owner, middle - HOUR_MS // 2, middle + HOUR_MS // 2), _POINTS // 5)
    return within, before, days


def _departures_of(
    reader: StoreReader,
    kind: str,
    names: Sequence[ObjectName],
    near: Mapping[ObjectName, float],
    moments: tuple[Sequence[int], Sequence[int], Sequence[int]],
) -> tuple[list[BeforeLine], int]:
    metrics = _compared_metrics(kind)
    columns = [metric.name for metric in metrics]
    times = [frozenset(each) for each in moments]
    points: dict[tuple[ObjectName, int], tuple[list[tuple[int, float]], ...]] = {}
    for poll in reader.polls_at(names, columns, [each for part in moments for each in part]):
        for place, cell in enumerate(poll.values):
            value = _value(cell, metrics[place], poll.interval_ms)
            if value is not None:
                parts = points.setdefault((poll.object, place), ([], [], []))
                for part, time in zip(parts, times, strict=True):
                    if poll.ts in time:
                        part.append((poll.ts, value))
    found = []
    compared = 0
    for (name, place), (within, before, days) in points.items():
        metric = metrics[place]
        departure = departure_of(within, before, [value for _, value in days], metric.unit)
        if departure is None:
            continue
        compared += 1
        if departure.score >= _LEAST_SCORE:
            found.append(
                BeforeLine(figure_score(departure.score, near[name]), name, metric=metric, departure=departure)
            )
    return found, compared


def figure_score(away: float, nearness: float) -> float:
    """What a figure weighs that is so many standard deviations ``away``: more the farther, never as much as a change."""
    return _MOST_OF_FIGURES * nearness * (1 - exp(-away / _SOFT))


def each_further_less(figures: Iterable[BeforeLine]) -> list[BeforeLine]:
    """The figures with less weight for each further one of the same object: many figures of an object tell the same."""
    count: Counter[ObjectName] = Counter()
    found = []
    for each in sorted(figures, key=lambda one: -one.score):
        found.append(replace(each, score=each.score * _FURTHER ** count[each.name]))
        count[each.name] += 1
    return found


def _compared_metrics(kind: str) -> list[Metric]:
    """The metrics whose figures are compared: numbers that are measured, not set, and no ages, which only grow."""
    known = KINDS.get(kind)
    return [
        metric
        for metric in (() if known is None else known.metrics)
        if metric.type in (MetricType.GAUGE, MetricType.COUNTER)
        and metric.in_history
        and not (metric.declared or metric.needs_smf or metric.needs_statistics or metric.measured)
    ]


def _value(cell: float | None, metric: Metric, interval_ms: int | None) -> float | None:
    """A number; of a counter its increase a second."""
    if cell is None or metric.type is not MetricType.COUNTER:
        return cell
    return None if not interval_ms else cell * 1000 / interval_ms


def _figure(value: float, metric: Metric) -> str:
    if metric.type is MetricType.COUNTER:
        return f"{number(round(value, 1))}/s" if metric.unit != "bytes" else f"{quantity(value, metric.unit)}/s"
    return figure(value, metric)


def departure_words(metric: Metric, departure: Departure) -> str:
    """``depth 4,812 messages, usually 2 messages: 60 x its usual deviation in the hour before, 12 x at this hour of other
    days``."""
    words = (
        f"{metric_words(metric.name)} {_figure(departure.value, metric)}, usually {_figure(departure.usual, metric)}:"
        f" {_times(departure.of_hour)} its deviation in the {_past(departure.past_ms)} before"
    )
    if departure.of_days is not None:
        words += f", {_times(departure.of_days)} at this hour of other days"
    return safe(words)


def _past(ms: int) -> str:
    return "hour" if ms >= HOUR_MS * 5 // 6 else age(ms)


def _times(score: float) -> str:
    return f"over {_FARTHEST:.0f} x" if score >= _FARTHEST else f"{score:.0f} x"


def before_lines(before: Before, now: int, width: int) -> tuple[Line, ...]:
    """What came before an alert, in ``width`` cells; a line's key is the object that Enter opens."""
    if before.alert is None:
        return tuple(wrapped("the store does not hold this alert", width, Tone.ABSENT))
    alert = before.alert
    lines = wrapped(
        f"{safe(alert.key.rule)}  {object_words(alert.key.object)}: {safe(short_summary(alert))}",
        width,
        Tone.STRONG,
        rest="  ",
    )
    zone = zone_name(now)
    looked = (
        f"From {_at(before.since, now)} to {_at(before.until, now)} {zone}: {number(before.objects)} objects,"
        f" {number(before.compared)} figures compared. What stands first left the usual most; none of it need be the cause."
    )
    lines += wrapped(looked, width, Tone.FAINT)
    lines.append(heading("Score  before it", width))
    if not before.lines:
        lines += wrapped("nothing changed, and no figure left its usual range", width, Tone.FAINT)
    for each in before.lines:
        lines += _line(each, now, width, before.until)
    return tuple(lines)


def _line(one: BeforeLine, now: int, width: int, until: int) -> list[Line]:
    if one.entry is not None:
        words = f"{sign_of_entry(one.entry)}{entry_words(one.entry)}"
        ts, tone, key = one.entry.ts, tone_of_entry(one.entry), opens(one.entry)
    else:
        assert one.metric is not None
        assert one.departure is not None
        ts, words, tone = one.departure.ts, departure_words(one.metric, one.departure), Tone.PLAIN
        key = str(one.name)
    gap = f"{age(until - ts)} before" if ts <= until else f"seen {age(ts - until)} later"
    head = f"{one.score:5.0f}  {_at(ts, now)}  " if width >= _WITH_TIMES else f"{one.score:5.0f}  "
    who = f"{object_words(one.name)}: "
    lead = " " * min(cells(head), max(width // 4, 2))
    first, *rest = wrap(f"{who}{words}, {gap}", width, first=head, rest=lead)
    if not first.startswith(head + who):
        return [Line((Span(each, tone),), key) for each in (first, *rest)]
    spans = (Span(head, Tone.FAINT), Span(who, Tone.STRONG), Span(cut(first[len(head + who) :], width), tone))
    return [Line(spans, key), *(line(each, tone, key) for each in rest)]


def _at(ts: int, now: int) -> str:
    return clock(ts) if day(ts) == day(now) else f"{day(ts)[5:]} {clock(ts)}"
