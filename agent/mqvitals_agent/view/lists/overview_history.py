"""The overview's figures over time, with the bounds of their shares, and the rates of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.meter import Bound
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.sparkline import spark_spans
from mqvitals_agent.text.styled import Span, Tone
from mqvitals_agent.view.figures.meter_columns import bounds_of
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.figures.trend import Points, charted_points
from mqvitals_agent.view.figures.values import PER_SECOND, RATE, Values, number_in, with_rates
from mqvitals_agent.view.lists.key_figures import extreme_figure, objects_of_kind, share_of_entries
from mqvitals_agent.view.status import Current, OwnerData, StatusData
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.thresholds import bounding, low_end_is_bad
from mqvitals_rules.vocabulary.metric import CHANNEL_TYPE, Absence
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.ruleset import RuleSet

SPAN_MS = 3_600_000
MOST_STRUCTURE_TRENDS = 12
"""Structures whose past is read, the fullest."""

_SERVER_CONNECTION = CHANNEL_TYPE["SVRCONN"]
_WATCHED = (("buffer_pool", "free_pct", -1), ("page_set", "used_pct", 1))
"""Kind, metric and the sign of its bad end: the object of an owner that is worst by it has its past shown."""

RATE_OF_CHANNELS = ("type", RATE["channel"])
"""The metrics of channels that rates of messages are made of."""

_METRICS = {"cf_structure": "entries_pct", **{kind: metric for kind, metric, _ in _WATCHED}}
"""The metric whose past is shown, by kind."""

_STRETCHES: Final = 12
_STRETCHES_MS: Final = tuple(1000 * s for s in (5, 10, 15, 30, 60, 120, 300))
"""How many looks at the rates of channels an hour has at most, and the time of one: the shortest that covers the trend."""


class Bounds(NamedTuple):
    """The values of a share, per cent, from which rules warn or alarm; ``low_is_bad``: where it is at most as great."""

    values: tuple[Bound, ...] = ()
    low_is_bad: bool = False


@dataclass(frozen=True, slots=True)
class OverviewHistory:
    """``points`` are (ms UTC, value or None) by object, ``bounds`` the values from which rules warn or alarm about them;
    ``rates`` messages a second of an owner's channels, ``channel_rates`` those of each channel, ``logged`` the bytes a
    second that a queue manager logged, over time, and ``moved`` the messages a second that its channels moved.
    """

    points: Mapping[ObjectName, Points] = field(default_factory=dict)
    rates: Mapping[str, CurrentValue] = field(default_factory=dict)
    bounds: Mapping[ObjectName, Bounds] = field(default_factory=dict)
    channel_rates: Mapping[ObjectName, CurrentValue] = field(default_factory=dict)
    logged: Mapping[str, Points] = field(default_factory=dict)
    moved: Mapping[str, Points] = field(default_factory=dict)

    def past_of(self, name: ObjectName | None, span: TimeRange, width: int, tone: Tone | None) -> tuple[Span, ...]:
        """The sparkline of an object in ``width`` cells, all in ``tone`` unless that is None; blank for none."""
        points, (bounds, low) = ((), Bounds()) if name is None else (self.points.get(name, ()), self.bounds_of(name))
        return spark_spans(points, span, width, bounds, low_is_bad=low, tone=tone)

    def bounds_of(self, name: ObjectName) -> Bounds:
        """The bounds of an object; where none are known the bad end of its kind's metric."""
        found = self.bounds.get(name)
        return Bounds((), low_end_is_bad((), name.kind, _METRICS[name.kind])) if found is None else found


def read_overview_history(reader: StoreReader, data: StatusData, rules: RuleSet) -> OverviewHistory:
    """Read the last hour before ``data.now``, or before its owner fell silent; ``data`` has ``RATE_OF_CHANNELS`` too.

    Raises StoreError.
    """
    points: dict[ObjectName, Points] = {}
    bounds: dict[ObjectName, Bounds] = {}
    rates: dict[str, CurrentValue] = {}
    by_channel: dict[ObjectName, CurrentValue] = {}
    logged: dict[str, Points] = {}
    for member in data.members:
        # For a silent owner: the hour before its last snapshot.
        since = min(data.now, member.last_ts) - SPAN_MS
        if member.is_group:
            found = objects_of_kind(data.current, member.name, "cf_structure")
            fullest = sorted(found, key=lambda name: -share_of_entries(found[name]))[:MOST_STRUCTURE_TRENDS]
            points |= {name: reader.trend(name, "entries_pct", since).points for name in fullest}
            bounds |= {name: bounds_of_object(name, "entries_pct", found[name], rules) for name in fullest}
            continue
        for kind, name, sign in _WATCHED:
            extreme = extreme_figure(data.current, member.name, kind, name, sign)
            if extreme is not None:
                points[extreme.name] = reader.trend(extreme.name, name, since).points
                bounds[extreme.name] = bounds_of_object(extreme.name, name, data.current[extreme.name], rules)
        rate, of_channels = _message_rates(reader, objects_of_kind(data.current, member.name, "channel"))
        by_channel |= of_channels
        if rate is not None:
            rates[member.name] = rate
        log = ObjectName(member.name, "log")
        if log in data.current:
            series = reader.trend(log, RATE["log"], since)
            logged[member.name] = charted_points(series.points, series.intervals, metric("log", RATE["log"]))
    return OverviewHistory(points, rates, bounds, by_channel, logged, _messages_moved(reader, data, rates))


def trend_span(member: OwnerData, until: int) -> TimeRange:
    """The time of an owner's trends that end at ``until`` (ms UTC): an hour, or as long as it has been there."""
    return TimeRange(max(until - SPAN_MS, member.first_ts), until)


def _messages_moved(reader: StoreReader, data: StatusData, rates: Mapping[str, CurrentValue]) -> Mapping[str, Points]:
    """The messages a second of the message channels of each queue manager over the last hour, or the hour before it fell
    silent, ending with its newest of ``rates``.

    The store keeps no sum of them, and to add up every poll of thousands of channels takes longer than all else on the
    overview. So one poll of each of a few stretches is looked at; a stretch begins at a multiple of its length, and what
    is drawn of the past stays as it is while time goes on.
    """
    members = [member for member in data.members if not member.is_group]
    spans = {member.name: trend_span(member, min(data.now, member.last_ts)) for member in members}
    longest = max((span.until - span.since for span in spans.values()), default=0)
    # A stretch that has no poll is a hole: so each has time for two.
    shortest = 2 * max((member.interval_ms for member in members), default=0)
    step = next(
        (each for each in _STRETCHES_MS if each * _STRETCHES >= longest and each >= shortest), _STRETCHES_MS[-1]
    )
    begun = {name: range(-(-span.since // step) * step, span.until - step + 1, step) for name, span in spans.items()}
    sums = reader.rate_sums(
        "channel",
        RATE["channel"],
        sorted(set().union(*begun.values())),
        step,
        without=("type", _SERVER_CONNECTION),
        until=data.now,
    )
    moved = {}
    for name, own in begun.items():
        newest = rates.get(name)
        if newest is not None and newest.ts is not None:
            moved[name] = [(each, sums.get(name, {}).get(each)) for each in own]
            moved[name].append((min(newest.ts, spans[name].until), number_in(newest)))
    return moved


def bounds_of_object(name: ObjectName, metric: str, values: Values, rules: RuleSet) -> Bounds:
    """The values of a share from which the rules warn or alarm about an object."""
    own = rules.rules_telling(name, bounding(name.kind, metric))
    low = low_end_is_bad(own, name.kind, metric)
    return Bounds(bounds_of(Item(name, Health.OK, values, rules=own), metric, low_is_bad=low), low)


def _message_rates(
    reader: StoreReader, current: Current
) -> tuple[CurrentValue | None, Mapping[ObjectName, CurrentValue]]:
    """The messages per second of all message channels of a queue manager (``current``, with type and counter), or why
    they are unknown, None without a channel; and those of each channel of which they are known.

    Server-connection channels are left out: they count calls.
    """
    between = {name: values for name, values in current.items() if not _serves(values.get("type"))}
    rates = {
        name: values[PER_SECOND]
        for name, values in with_rates(reader, "channel", between).items()
        if PER_SECOND in values
    }
    known = {name: rate for name, rate in rates.items() if not isinstance(rate.value, Absence | str)}
    if not known:
        return max(rates.values(), key=lambda each: each.asked, default=None), {}
    newest = max(known.values(), key=lambda each: each.ts or 0)
    # A channel that is not in the newest answer moves nothing now.
    moving = {name: rate for name, rate in known.items() if rate.ts == newest.ts}
    return newest._replace(value=sum(number_in(each) or 0.0 for each in moving.values())), moving


def _serves(channel_type: CurrentValue | None) -> bool:
    return channel_type is not None and channel_type.value == _SERVER_CONNECTION
