"""The key figures of queue managers and structures, each small enough for one cell, and their last hour.

A figure that is older than the newest snapshot shows its own age (``BP3 4 % 41s``); one that is absent shows why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.chart import TimeRange
from mqvitals_agent.text.figure import figure, number, short_age, whole_percent
from mqvitals_agent.text.meter import Bound
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.sparkline import spark_spans
from mqvitals_agent.text.styled import Span, Tone
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.meter_columns import bounds_of
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.figures.trend import Points, charted_points
from mqvitals_agent.view.figures.values import PER_SECOND, RATE, Values, number_in, plain_number, with_rates
from mqvitals_agent.view.status import (
    STALE_INTERVALS,
    Current,
    GroupStatus,
    OwnerData,
    OwnerStatus,
    StatusData,
    health_of_object,
)
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName, Outcome
from mqvitals_rules.thresholds import bounding, low_end_is_bad
from mqvitals_rules.vocabulary.metric import CHANNEL_TYPE, Absence
from mqvitals_rules.vocabulary.tables import KINDS, metric

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.ruleset import RuleSet


NOT_ASKED = Absence.NOT_ASKED.value
_OWN_KINDS = frozenset({"queue_manager", "agent"})
_OF_OUTCOME = (
    (Outcome.REFUSED, Absence.NOT_AUTHORISED),
    (Outcome.UNREACHABLE, Absence.UNREACHABLE),
    (Outcome.INCOMPLETE, Absence.NO_ANSWER),
    (Outcome.DAMAGED, Absence.NO_ANSWER),
    (Outcome.FAILED, Absence.NO_ANSWER),
    (Outcome.UNKNOWN_COMMAND, Absence.NO_ANSWER),
)
_CHANNEL_STATES = metric("channel", "status").values
_RUNNING, _RETRYING, _STOPPED, _INACTIVE = (
    _CHANNEL_STATES[name] for name in ("RUNNING", "RETRYING", "STOPPED", "INACTIVE")
)


class ExtremeFigure(NamedTuple):
    """The object with the least or greatest value of a metric."""

    name: ObjectName
    latest: CurrentValue


def objects_of_kind(current: Current, owner: str, kind: str) -> dict[ObjectName, Values]:
    """What is known of an owner's objects of a kind."""
    return {name: values for name, values in current.items() if name.owner == owner and name.kind == kind}


def least_free(current: Current, member: OwnerData, now: int) -> str:
    """The buffer pool with the least free: ``BP3 4 %``."""
    return _extreme_text(current, member, now, kind="buffer_pool", name="free_pct", prefix="BP", sign=-1)


def fullest(current: Current, member: OwnerData, now: int, *, aged: bool = True) -> str:
    """The page set with the most used: ``PS4 62 %``; its own age with it unless ``aged`` is false."""
    return _extreme_text(current, member, now, kind="page_set", name="used_pct", prefix="PS", sign=1, aged=aged)


def group_members(current: Current, group: OwnerData, now: int) -> str:
    """The members of a group: ``3 of 4 members active, failed: QM03; Db2: 2, without: QM02``; empty while nothing is
    known of them.
    """
    values = current.get(ObjectName(group.name, "qsg"), {})
    active = values.get("members_active")
    if active is None:
        return ""
    if isinstance(active.value, Absence):
        return f"members: {_reason([active])}"
    failed, without = (_names(values.get(name)) for name in ("failed_members", "members_without_db2"))
    text = f"{plain_number(active)} of {plain_number(values.get('qmgr_count'))} members active"
    text += f", failed: {failed}" if failed else ""
    text += f"; Db2: {plain_number(values.get('db2_active'))}" + (f", without: {without}" if without else "")
    return text + own_age(active, group, now)


def _names(latest: CurrentValue | None) -> str:
    return safe(latest.value) if latest is not None and isinstance(latest.value, str) else ""


def channel_counts(current: Current, member: OwnerData, now: int, alerts: Iterable[Alert] = ()) -> str:
    """Channels by state, and how many have alerts: ``48 run 1 retry ▲1``.

    Inactive channels are not counted.
    """
    states = [
        values["status"] for values in objects_of_kind(current, member.name, "channel").values() if "status" in values
    ]
    if not states:
        return nothing_known(current, member.name, "channel")
    numbers = Counter(each.value for each in states)
    absent = sum(count for value, count in numbers.items() if isinstance(value, Absence))
    if absent == len(states):
        return _reason(states)
    run, retry, stop = numbers[_RUNNING], numbers[_RETRYING], numbers[_STOPPED]
    other = len(states) - absent - run - retry - stop - numbers[_INACTIVE]
    parts = [f"{number(run)} run"]
    parts += [
        f"{number(count)} {word}" for count, word in ((retry, "retry"), (stop, "stop"), (other, "other")) if count
    ]
    parts += [f"? {number(absent)}"] if absent else []
    about: dict[ObjectName, Health] = {}
    for alert in alerts:
        if (alert.scope.owner, alert.scope.kind) == (member.name, "channel"):
            about[alert.scope] = max(about.get(alert.scope, Health.OK), health_of(alert.severity))
    ill = [health for health in about.values() if health >= Health.WARNING]
    parts += [f"{max(ill).glyph}{number(len(ill))}"] if ill else []
    # The newest is as of the last answer; a single channel may have been asked for by name since.
    return " ".join(parts) + own_age(max(states, key=lambda each: each.ts or 0), member, now)


def task_counts(current: Current, member: OwnerData, now: int) -> str:
    """Adapters and dispatchers, started of configured: ``8/8 A 5/5 D``, or that the channel initiator does not run."""
    values = current.get(ObjectName(member.name, "channel_initiator"))
    if not values:
        return nothing_known(current, member.name, "channel_initiator")
    status = values.get("status")
    if status is not None and not isinstance(status.value, Absence):
        word = figure(status.value, metric("channel_initiator", "status"))
        if word != "RUNNING":
            return word + own_age(status, member, now)
    pairs = [
        (plain_number(values.get(f"{kind}_started")), plain_number(values.get(f"{kind}_max")), letter)
        for kind, letter in (("adapters", "A"), ("dispatchers", "D"))
    ]
    latest = max(values.values(), key=lambda each: each.ts or 0)
    if all(started == most == "?" for started, most, _ in pairs):
        return _reason(list(values.values()))
    return " ".join(f"{started}/{most} {letter}" for started, most, letter in pairs) + own_age(latest, member, now)


def full_logs(current: Current, member: OwnerData, now: int) -> str:
    """Active logs that wait to be archived, of all: ``0/8``."""
    values = current.get(ObjectName(member.name, "log"), {})
    full = values.get("full_logs")
    if full is None:
        return nothing_known(current, member.name, "log")
    if isinstance(full.value, Absence):
        return full.value.value
    return (
        f"{plain_number(values.get('full_logs'))}/{plain_number(values.get('total_logs'))}{own_age(full, member, now)}"
    )


def extreme_figure(current: Current, owner: str, kind: str, name: str, sign: int) -> ExtremeFigure | None:
    """The object of a kind whose metric is the greatest (``sign`` 1) or the least (-1); None when none is known."""
    present = [
        (sign * latest.value, ExtremeFigure(object_name, latest))
        for object_name, values in objects_of_kind(current, owner, kind).items()
        if (latest := values.get(name)) is not None and not isinstance(latest.value, Absence | str)
    ]
    return max(present, key=lambda pair: pair[0])[1] if present else None


def reason_of(current: Current, owner: str, kind: str, name: str) -> str:
    """Why no object of a kind has a figure: the most frequent reason, or the outcome of the command that reports
    them."""
    found = [values[name] for values in objects_of_kind(current, owner, kind).values() if name in values]
    return _reason(found) if found else nothing_known(current, owner, kind)


def nothing_known(current: Current, owner: str, kind: str) -> str:
    """Why no object of a kind is known: the outcome of its command, or that it was not asked."""
    poll = KINDS[kind].poll_command
    outcomes = {
        values["outcome"].value
        for name, values in objects_of_kind(current, owner, "agent").items()
        if name.name.partition(" ")[0] == poll and "outcome" in values
    }
    return next((absence.value for outcome, absence in _OF_OUTCOME if outcome.value in outcomes), NOT_ASKED)


def _extreme_text(
    current: Current, member: OwnerData, now: int, *, kind: str, name: str, prefix: str, sign: int, aged: bool = True
) -> str:
    extreme = extreme_figure(current, member.name, kind, name, sign)
    if extreme is None:
        return reason_of(current, member.name, kind, name)
    share = extreme.latest.value
    assert not isinstance(share, Absence | str)
    old = own_age(extreme.latest, member, now) if aged else ""
    return f"{prefix}{safe(extreme.name.name)} {whole_percent(abs(share))}{old}"


def _reason(found: Iterable[CurrentValue]) -> str:
    """Why there is no figure: the most frequent reason."""
    reasons = Counter(each.value.value for each in found if isinstance(each.value, Absence))
    return reasons.most_common(1)[0][0] if reasons else NOT_ASKED


def newest_ts(current: Current, owner: str) -> int | None:
    """When the newest of an owner's figures was reported, ms UTC; the agent's own metrics do not count."""
    times = [
        latest.ts
        for name, values in current.items()
        if name.owner == owner and name.kind not in _OWN_KINDS
        for latest in values.values()
        if latest.ts is not None
    ]
    return max(times, default=None)


def own_age(latest: CurrentValue | None, member: OwnerData, now: int) -> str:
    """The age of a figure that the newest snapshot did not bring."""
    if latest is None or latest.ts is None or member.last_ts - latest.ts < member.interval_ms / 2:
        return ""
    return f" {short_age(now - latest.ts)}"


SPAN_MS = 3_600_000

_SERVER_CONNECTION = CHANNEL_TYPE["SVRCONN"]

RATE_OF_CHANNELS = ("type", RATE["channel"])
"""The metrics of channels that rates of messages are made of."""

_WATCHED = (("buffer_pool", "free_pct", -1), ("page_set", "used_pct", 1))

_METRICS = {"cf_structure": "entries_pct", **{kind: metric for kind, metric, _ in _WATCHED}}
"""The metric whose past is shown, by kind."""

_STRETCHES: Final = 12
_STRETCHES_MS: Final = tuple(1000 * s for s in (5, 10, 15, 30, 60, 120, 300))
"""How many looks at the rates of channels an hour has at most, and the time of one: the shortest that covers the trend."""

MOST_STRUCTURE_TRENDS = 12
"""Structures whose past is read, the fullest."""


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
            fullest = sorted(found, key=lambda name: -_share(found[name]))[:MOST_STRUCTURE_TRENDS]
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


def as_seen(view: GroupStatus, member: OwnerData) -> OwnerData:
    """The owner as of the newest of its figures, where it has reported nothing for a while.

    So the line has one age, instead of one in every cell.
    """
    seen = newest_ts(view.data.current, member.name)
    if seen is None or seen >= member.last_ts - member.interval_ms / 2:
        return member
    return replace(member, last_ts=seen)


def seen_ts(view: GroupStatus, member: OwnerStatus) -> int | None:
    """When it last reported something, ms UTC; None: never."""
    if member.reachable:
        return view.data.now - member.age_ms
    return newest_ts(view.data.current, member.name)


def groups_of(view: GroupStatus) -> dict[str, OwnerData]:
    """The queue-sharing groups by name: one, but for stores of SMF records of several."""
    return {member.name: member for member in view.data.members if member.is_group}


def structure_name(name: ObjectName, groups: Collection[str]) -> str:
    """A structure's name, with its group's where there are several."""
    return safe(f"{name.owner}/{name.name}" if len(groups) > 1 else name.name)


def worst_and_fullest(view: GroupStatus) -> list[tuple[Health, ObjectName]]:
    """The structures of the groups with their health, the worst first, then the fullest."""
    ranked = sorted(
        (
            (_structure_health(view, group, name, values), _share(values), name)
            for group in groups_of(view).values()
            for name, values in objects_of_kind(view.data.current, group.name, "cf_structure").items()
        ),
        key=lambda item: (-item[0], -item[1], item[2]),
    )
    return [(health, name) for health, _, name in ranked]


def _structure_health(view: GroupStatus, group: OwnerData, name: ObjectName, values: Values) -> Health:
    """The health by its alerts; without alerts OK only when its figures are present and current."""
    if group.name in view.stale:
        return Health.UNKNOWN
    latest = values.get("entries_pct")
    fresh = (
        latest is not None
        and latest.ts is not None
        and group.last_ts - latest.ts <= STALE_INTERVALS * group.interval_ms
    )
    known = fresh and latest is not None and not isinstance(latest.value, Absence)
    return max(health_of_object(name, view.firing), Health.OK if known else Health.UNKNOWN)


def _share(values: Values) -> float:
    """How full a structure is; -1 where that is not known."""
    share = number_in(values.get("entries_pct"))
    return -1.0 if share is None else share
