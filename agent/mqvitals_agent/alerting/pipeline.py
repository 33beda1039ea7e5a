"""The way of alerts to receivers: stages in one order, each of which lets an alert pass or not, and says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mqvitals_agent.alerting.action import Acknowledgement, Silence, acknowledgement_of, silence_of
from mqvitals_agent.alerting.decision import (
    DecisionReason,
    LastNotification,
    NotificationStatus,
    causes_of,
    inhibitions,
    reason_for,
)
from mqvitals_agent.alerting.disposition import Delivery, Disposition, Stage, StageResult
from mqvitals_agent.alerting.grouping import AlertGroup, due, repeats_at
from mqvitals_agent.alerting.labels import Labeller, Labels
from mqvitals_agent.alerting.maintenance import NO_CALENDAR, SiteCalendar, ValueOf, moment_text
from mqvitals_agent.alerting.routing import (
    Destination,
    Route,
    besides,
    besides_words,
    destinations,
    failing_receiver,
    group_key,
    group_labels,
)
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, stages
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import iso

_REMEMBERED: Final = 20_000
"""Alerts whose way through the routes is remembered."""


def _passed(stage: Stage, text: str) -> StageResult:
    return StageResult(stage, passes=True, text=text)


def _stopped(stage: Stage, text: str) -> StageResult:
    return StageResult(stage, passes=False, text=text)


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


def _unknown(_about: ObjectName, _metric: str) -> None:
    """Where no values are at hand."""


@dataclass(frozen=True, slots=True)
class PipelineState:
    """What is known beside the alerts, mostly by their numbers in the store.

    ``last`` maps (number, receiver) to the last notification; ``groups`` (receiver, key) to the state of a group;
    ``unmuted`` maps the number of an alert that was muted to the number of the newest notification when that ended.
    ``value_of`` looks up what a metric is now.
    """

    last: Mapping[tuple[int, str], LastNotification] = field(default_factory=_nothing)
    acknowledgements: Mapping[int, Sequence[Acknowledgement]] = field(default_factory=_nothing)
    silences: Sequence[Silence] = ()
    groups: Mapping[tuple[str, str], AlertGroup] = field(default_factory=_nothing)
    unmuted: Mapping[int, int] = field(default_factory=_nothing)
    value_of: ValueOf = _unknown


_Arrival = tuple[Destination, str, Labels]
"""Where an alert arrives, with key and labels of its group there."""


class _Way(NamedTuple):
    """Where an alert arrives: for each receiver the ways to it, in the order of the tree."""

    labels: Labels
    arrivals: tuple[tuple[_Arrival, ...], ...]


_ENDED = tuple(
    _passed(stage, "it has ended")
    for stage in (Stage.CAUSE, Stage.FAMILY, Stage.MAINTENANCE, Stage.SILENCE, Stage.ACKNOWLEDGED)
)
_NO_CAUSE = _passed(Stage.CAUSE, "no other alert explains it")
_OWN_CAUSE = _passed(Stage.CAUSE, "the alert that explains it has ended, is milder, or began long before it")
_WORST = _passed(Stage.FAMILY, "no worse alert of its family is about its object")
_NO_MAINTENANCE = _passed(Stage.MAINTENANCE, "its object is not in maintenance")
_NO_SILENCE = _passed(Stage.SILENCE, "no silence matches it")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Decides about alerts, by the settings of a site.

    ``receivers`` are by name, ``ranks`` map the id of a rule to its rank in its family.
    """

    labeller: Labeller
    root: Route
    receivers: Mapping[str, ReceiverSettings]
    ranks: Mapping[str, int]
    calendar: SiteCalendar = NO_CALENDAR
    _ways: dict[tuple[AlertKey, Severity], _Way] = field(default_factory=dict, repr=False, compare=False)

    def dispositions(
        self,
        alerts: Iterable[tuple[int, Alert]],
        firing: Sequence[Alert],
        state: PipelineState,
        now: int,
        people: int | None = None,
    ) -> list[Disposition]:
        """What becomes of each numbered alert at ``now`` (ms UTC). ``firing`` are all alerts that fire.

        ``people`` is the time by the machine's clock, by which silences and acknowledgements end; None: ``now`` is that.
        """
        people = now if people is None else people
        by_key = {each.key: each for each in firing} if self.calendar.windows else {}
        standing = inhibitions(firing, self.ranks, self._known_since(by_key, state, now) if by_key else None)
        families = stages(firing, self.ranks) if standing else {}
        silences = [each for each in state.silences if each.active(people)]
        found = []
        for number, alert in alerts:
            way = self._way(alert)
            excluded: DecisionReason | None = DecisionReason.NEVER_FIRED
            results: tuple[StageResult, ...] = ()
            if alert.started is not None:
                stands = standing.get(alert.key)
                family = alert.key in families
                results = tuple(
                    self._results(
                        number, alert, way.labels, stands, silences, state, by_key, now, people, family=family
                    )
                )
                excluded = _EXCLUSIONS.get(results[-1].stage) if not results[-1].passes else None
            if excluded is None and not way.arrivals:
                results = (*results, _stopped(Stage.ROUTE, DecisionReason.NO_ROUTE.value))
            deliveries = tuple(self._deliveries(number, alert, way, excluded, state, now))
            if excluded is None and not way.arrivals and not deliveries:
                excluded = DecisionReason.NO_ROUTE
            found.append(Disposition(number, alert, way.labels, results, excluded, deliveries))
        return found

    def muted_now(self, route: Route, now: int) -> str:
        """Why a route does not notify at ``now`` (ms UTC); empty when it does."""
        for name in route.muted:
            if self.calendar.within(name, now):
                return f"{route.path} is muted during {name}{self._change_text('until', (name,), now)}"
        if route.active and not any(self.calendar.within(name, now) for name in route.active):
            names = " and ".join(route.active)
            return f"{route.path} is active only during {names}{self._change_text('next from', route.active, now)}"
        return ""

    def _change_text(self, word: str, names: Sequence[str], now: int) -> str:
        """``, until 07:00 CET``: when the first of these time intervals changes; empty where that is far away."""
        times = [(ts, name) for name in names if (ts := self.calendar.interval_change(name, now)) is not None]
        if not times:
            return ""
        ts, name = min(times)
        return f", {word} {moment_text(ts, self.calendar.intervals[name][0].zone, now)}"

    def muted_routes(self, now: int) -> list[tuple[Route, str]]:
        """The routes that do not notify at ``now`` (ms UTC), each with the reason."""
        found, ahead = [], [self.root]
        while ahead:
            route, *ahead = ahead
            ahead = [*route.routes, *ahead]
            if text := self.muted_now(route, now):
                found.append((route, text))
        return found

    def _known_since(
        self, firing: Mapping[AlertKey, Alert], state: PipelineState, now: int
    ) -> Callable[[Alert, int], int]:
        """(alert, when it began) -> since when people can know of it: what maintenance mutes, they do not."""
        groups = self.labeller.groups

        def known(alert: Alert, begun: int) -> int:
            labels, causes = self._way(alert).labels, causes_of(alert, firing)
            return self.calendar.known_since(alert, labels, causes, begun, now, groups, state.value_of)

        return known

    def _way(self, alert: Alert) -> _Way:
        key = alert.key, alert.severity
        way = self._ways.get(key)
        if way is None:
            if len(self._ways) >= _REMEMBERED:
                self._ways.clear()
            labels = self.labeller.labels_of(alert)
            arrivals: dict[str, list[_Arrival]] = {}
            for each in destinations(self.root, labels):
                if each.receiver in self.receivers:
                    arrival = each, group_key(each.way, labels), group_labels(each.route, labels)
                    arrivals.setdefault(each.receiver, []).append(arrival)
            way = self._ways[key] = _Way(labels, tuple(map(tuple, arrivals.values())))
        return way

    def _first_open(self, ways: tuple[_Arrival, ...], alert: Alert, now: int) -> _Arrival:
        """By which of its ways to a receiver an alert is told: once, by the first that is neither too strict nor muted."""
        if len(ways) == 1 or alert.state is not AlertState.FIRING:
            return ways[0]
        return next((each for each in ways if self._blocked(alert, each[0].route, now)[0] is None), ways[0])

    def _blocked(self, alert: Alert, route: Route, now: int) -> tuple[DecisionReason | None, str]:
        """Why a route does not lead a firing alert to its receiver."""
        receiver = self.receivers[route.receiver]
        least = max(route.min_severity, Severity[receiver.min_severity.upper()])
        reason = reason_for(alert, None, least=least)
        if reason in (DecisionReason.ADVICE, DecisionReason.TOO_MILD):
            return reason, f"{reason.value}: {least.name.lower()} by {receiver.name} and {route.path}"
        text = self.muted_now(route, now)
        return (DecisionReason.ROUTE_MUTED, text) if text else (None, "")

    def _results(
        self,
        number: int,
        alert: Alert,
        labels: Labels,
        stands: AlertKey | None,
        silences: Sequence[Silence],
        state: PipelineState,
        firing: Mapping[AlertKey, Alert],
        now: int,
        people: int,
        *,
        family: bool,
    ) -> Iterator[StageResult]:
        """The results of the stages that are the same for all receivers, up to the first that does not pass.

        ``stands`` is the alert that stands for it, with ``family`` as a worse one of its family.
        """
        if alert.ended is not None or alert.state is AlertState.RESOLVED:
            yield from _ENDED
            return
        if stands is not None and not family:
            yield _stopped(Stage.CAUSE, f"{stands.rule} {stands.object} explains it")
            return
        yield _NO_CAUSE if alert.cause is None else _OWN_CAUSE
        if stands is not None:
            yield _stopped(Stage.FAMILY, f"{stands.rule} {stands.object} is worse and stands for it")
            return
        yield _WORST
        muting = None
        if self.calendar.windows:
            causes, groups = causes_of(alert, firing), self.labeller.groups
            muting = self.calendar.muted(alert, labels, causes, now, groups, state.value_of)
        if muting is not None:
            yield _stopped(Stage.MAINTENANCE, muting.text(now))
            return
        yield _NO_MAINTENANCE
        silence = silence_of(labels, silences, people) if silences else None
        if silence is not None:
            why = f": {silence.reason}" if silence.reason else ""
            text = f"silence {silence.id} of {silence.author} until {iso(silence.ends)}{why}"
            yield _stopped(Stage.SILENCE, text)
            return
        yield _NO_SILENCE
        acknowledged = acknowledgement_of(alert, state.acknowledgements.get(number, ()), people)
        made = acknowledged.by
        if acknowledged.state.asks or made is None:
            yield _passed(Stage.ACKNOWLEDGED, acknowledged.state.value)
            return
        until = "" if made.until is None else f" until {iso(made.until)}"
        note = f": {made.note}" if made.note else ""
        yield _stopped(Stage.ACKNOWLEDGED, f"{made.author} has acknowledged it{until}{note}")

    def _deliveries(
        self, number: int, alert: Alert, way: _Way, excluded: DecisionReason | None, state: PipelineState, now: int
    ) -> Iterator[Delivery]:
        arrived = set()
        for ways in self._arrivals(alert, way, now):
            destination, key, labels = self._first_open(ways, alert, now)
            name = destination.receiver
            arrived.add(name)
            why = "" if destination.way else besides_words(failing_receiver(way.labels), name)
            if self.receivers[name].resends and alert.state is AlertState.RESOLVED:
                yield _ended(destination, state.last.get((number, name)), now)
                continue
            last = state.last.get((number, name))
            if last is not None and last.status is NotificationStatus.FIRING:
                # What a receiver knows stays in the group with which it was told, so that its end belongs to its beginning.
                known = state.groups.get((name, last.group))
                if known is not None:
                    key, labels = known.key, known.labels
            if self.receivers[name].resends and alert.state is AlertState.FIRING:
                at = Delivery(destination, "", {}, _UNDECIDED, now, resent=True, why=why)
                yield self._resent(alert, at, excluded, last, now)
            elif excluded is not None:
                yield Delivery(destination, key, labels, excluded, now)
            else:
                at = Delivery(destination, key, labels, _UNDECIDED, now, why=why)
                yield self._delivery(number, alert, at, last, state, now)
        if alert.state is not AlertState.RESOLVED or excluded is not None:
            return
        for name, receiver in self.receivers.items():
            if receiver.resends:
                continue
            # A receiver to which no way leads any more is told the end of what it knows.
            last = None if name in arrived else state.last.get((number, name))
            if (
                reason_for(alert, last, send_resolved=receiver.send_resolved) is DecisionReason.ENDED
                and last is not None
            ):
                route = replace(self.root, receiver=name, routes=())
                known = state.groups.get((name, last.group))
                key, labels = group_key((route,), way.labels), group_labels(route, way.labels)
                if known is not None:
                    key, labels = known.key, known.labels
                destination = Destination(route, ())
                yield self._delivery(
                    number, alert, Delivery(destination, key, labels, _UNDECIDED, now), last, state, now
                )

    def _arrivals(self, alert: Alert, way: _Way, now: int) -> Sequence[tuple[_Arrival, ...]]:
        """Where an alert arrives. One about a failing receiver that no route leads to another one goes to all others too."""
        failing = failing_receiver(way.labels)
        if not failing or alert.state is not AlertState.FIRING:
            return way.arrivals
        for ways in way.arrivals:
            for destination, _, _ in ways:
                if destination.receiver != failing and self._blocked(alert, destination.route, now)[0] is None:
                    return way.arrivals
        others = besides(self.root, failing, self.receivers)
        own = [ways for ways in way.arrivals if ways[0][0].receiver == failing]
        labels = group_labels(self.root, way.labels)
        return [*own, *(((each, group_key((each.route,), way.labels), labels),) for each in others)]

    def _resent(
        self, alert: Alert, at: Delivery, excluded: DecisionReason | None, last: LastNotification | None, now: int
    ) -> Delivery:
        """What a receiver that is sent all that fires gets of an alert that does.

        What it knows is sent on whatever happens, since it takes for ended what is not sent any more.
        """
        known = last is not None and last.status is NotificationStatus.FIRING
        blocked, text = (excluded, "") if excluded is not None else self._blocked(alert, at.route, now)
        results = () if excluded is not None else (StageResult(Stage.ROUTE, blocked is None, text or at.way),)
        if blocked is not None:
            if known:
                results = (*results, _SENT_ON)
            return replace(at, reason=blocked, results=results)
        reason = DecisionReason.STARTED
        if last is not None and known:
            same = last.severity is alert.severity
            reason = DecisionReason.REPEATED if same else DecisionReason.SEVERITY_CHANGED
        return replace(at, reason=reason, results=(*results, _NO_GROUP, _passed(Stage.DEDUP, reason.value), _AGAIN))

    def _delivery(
        self, number: int, alert: Alert, at: Delivery, last: LastNotification | None, state: PipelineState, now: int
    ) -> Delivery:
        firing = alert.state is AlertState.FIRING
        blocked, text = self._blocked(alert, at.route, now) if firing else (None, "")
        if blocked is not None:
            return replace(at, reason=blocked, results=(_stopped(Stage.ROUTE, text),))
        reason = reason_for(alert, last, send_resolved=self.receivers[at.receiver].send_resolved)
        results = [_passed(Stage.ROUTE, at.way)]
        if reason is DecisionReason.ALREADY_SENT and firing and last is not None:
            before = state.unmuted.get(number)
            if before is not None and last.number <= before:
                reason = DecisionReason.UNMUTED
        group = state.groups.get((at.receiver, at.key), AlertGroup(at.receiver, at.key)).as_of(now)
        since = _since(alert, reason, now)
        if reason.notifies:
            told = group.with_news(since, alert.severity, firing=firing)
            at_ts = due(told, at.route)
            if at_ts is not None and at_ts > now:
                text = f"{at.key} is notified at {iso(at_ts)}"
                return replace(
                    at,
                    reason=DecisionReason.GROUP_WAITS,
                    since=since,
                    results=(*results, _stopped(Stage.GROUP, text)),
                )
        results.append(_passed(Stage.GROUP, at.key))
        results.append(StageResult(Stage.DEDUP, passes=reason.notifies, text=reason.value))
        if reason is DecisionReason.ALREADY_SENT and firing:
            again = repeats_at(group, at.route)
            if again is None:
                results.append(_stopped(Stage.REPEAT, "it is not repeated"))
            elif again > now:
                results.append(_stopped(Stage.REPEAT, f"it is repeated at {iso(again)}"))
            else:
                reason = DecisionReason.REPEATED
                results.append(_passed(Stage.REPEAT, reason.value))
        return replace(at, reason=reason, since=since, results=tuple(results))


def _ended(destination: Destination, last: LastNotification | None, now: int) -> Delivery:
    """What a receiver that is sent all that fires gets of an alert that has ended."""
    reason = DecisionReason.NEVER_SENT if last is None else DecisionReason.ENDED
    return Delivery(
        destination, "", {}, reason, now, (StageResult(Stage.DEDUP, reason.notifies, reason.value),), resent=True
    )


_NO_GROUP = _passed(Stage.GROUP, "the receiver groups alerts itself")
_AGAIN = _passed(Stage.REPEAT, "it is sent again and again until it ends")
_SENT_ON = _passed(
    Stage.REPEAT, "the receiver has it already: it is sent on until it ends, else it would end there now"
)
_UNDECIDED: Final = DecisionReason.ALREADY_SENT
_EXCLUSIONS: Final = {
    Stage.CAUSE: DecisionReason.INHIBITED,
    Stage.FAMILY: DecisionReason.INHIBITED,
    Stage.MAINTENANCE: DecisionReason.MAINTENANCE,
    Stage.SILENCE: DecisionReason.SILENCED,
    Stage.ACKNOWLEDGED: DecisionReason.ACKNOWLEDGED,
}


def _since(alert: Alert, reason: DecisionReason, now: int) -> int:
    """When what is to be told about an alert happened, not later than ``now``, ms UTC."""
    match reason:
        case DecisionReason.ENDED:
            since = alert.ended
        case DecisionReason.SEVERITY_CHANGED:
            since = alert.updated
        case _:
            # Not its start: what explained it may have ended just now, and it ends soon after.
            since = None
    return now if since is None else min(since, now)
