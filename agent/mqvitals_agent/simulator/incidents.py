"""What the incidents of a scenario do: slow or stopped traffic, faults, open units of work, dead letters, and clients that should
not connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import Final

from mqvitals_agent.simulator.scenario import FOR_WEEKS_MS, IncidentKind, Scenario, ScenarioIncident
from mqvitals_agent.simulator.state import ChannelInstance, DeadLetter, Fault, GroupState, HeldUnit
from mqvitals_agent.simulator.traffic import ChannelSender, QueueFlow
from mqvitals_rules.timestamps import HOUR_MS

_NETWORK_WIDTH: Final = 1.07 - 0.93
_FLOOD_MS: Final = 120_000
"""Within this time all clients of a flood connect."""
_ADDRESSES: Final = 12
_GREEDY_PART: Final = 8 / 15
"""The part of a flood that comes from one address, as one pool that is far too large."""
_FIRST_PORT: Final = 50_000


class IncidentEffects:
    """What incidents change in a group; a step without them changes it back."""

    def __init__(
        self,
        scenario: Scenario,
        begin: int,
        group: GroupState,
        flows: Mapping[str, QueueFlow],
        senders: Mapping[str, ChannelSender],
        dead_letter_flows: Mapping[str, QueueFlow],
        random: Random,
    ) -> None:
        """``begin``: when the scenario began, ms since 1970 UTC. ``flows`` by owner and queue, ``senders`` by owner and
        channel, ``dead_letter_flows`` by queue manager.
        """
        self._scenario = scenario
        self._begin = begin
        self._group = group
        self._flows = flows
        self._senders = senders
        self._dead_letter_flows = dead_letter_flows
        self._random = random
        self._jobs = {each.object for each in scenario.queues if each.jobs}
        self._held: dict[tuple[str, int], int] = {}
        """By queue manager and beginning of an incident: where its log stood when the unit of work began."""

    def apply(self, incidents: list[ScenarioIncident], share: float) -> None:
        """Reset everything that incidents may change, then apply the current ones. The traffic is usually ``share`` of a
        busy hour's. Raises ValueError for one that its object cannot have.
        """
        self._reset_traffic(share)
        faults: dict[str, Fault] = {}
        for each in incidents:
            flow_of, sender_of = self._flows.get(each.object), self._senders.get(each.object)
            match each.what:
                case IncidentKind.CONSUMER_GONE if flow_of:
                    flow_of.service_factor = 0.0
                case IncidentKind.SLOW_CONSUMER if flow_of:
                    flow_of.service_factor = each.value
                case IncidentKind.JOB_PUTS | IncidentKind.JOB_GETS if each.object in self._jobs and flow_of:
                    side = "arrival_factor" if each.what is IncidentKind.JOB_PUTS else "service_factor"
                    setattr(flow_of, side, 1.0)
                case IncidentKind.ARRIVALS if flow_of:
                    flow_of.arrival_factor = each.value
                case IncidentKind.ARRIVALS if sender_of:
                    sender_of.flow.arrival_factor = each.value
                case IncidentKind.NETWORK if sender_of:
                    sender_of.network_us = each.value * self._random.uniform(0.97, 1.03)
                case IncidentKind.PARTNER_DOWN if sender_of:
                    sender_of.partner_down = True
                case IncidentKind.CHANNEL_STUCK if sender_of:
                    sender_of.stuck = each.status
                case (
                    IncidentKind.DOWN
                    | IncidentKind.RESTART
                    | IncidentKind.MEMBER_FAILED
                    | IncidentKind.DB2_LOST
                    | IncidentKind.LOG_SUSPENDED
                    | IncidentKind.RBA
                    | IncidentKind.CLUSTER_SUSPENDED
                    | IncidentKind.REPOSITORY_LOST
                    | IncidentKind.PUBSUB_ERROR
                    | IncidentKind.REFUSE
                    | IncidentKind.SILENT
                    | IncidentKind.TRUNCATE
                    | IncidentKind.SLOW
                ):
                    _set_fault(faults.setdefault(each.object, Fault()), each)
                case (
                    IncidentKind.DATA_SET_ERROR
                    | IncidentKind.DATA_SET_STOPPED
                    | IncidentKind.DATA_SET_NOT_EXPANDED
                    | IncidentKind.DATA_SET_FAILED
                    | IncidentKind.CLIENT_FLOOD
                    | IncidentKind.CLIENT_LEAK
                ):
                    lasted = self._lasted(each)
                    owner, _, part = each.object.partition("/")
                    _set_fault_of(faults.setdefault(owner, Fault()), part, each, self._group.now, lasted)
                case (
                    IncidentKind.ARCHIVE_STOPPED
                    | IncidentKind.LONG_UNIT
                    | IncidentKind.IN_DOUBT
                    | IncidentKind.DEAD_LETTERS
                    | IncidentKind.MAX_DEPTH
                    | IncidentKind.BATCH_SIZE
                    | IncidentKind.EXPANSION
                    | IncidentKind.GET_INHIBITED
                    | IncidentKind.INITIATOR_DOWN
                    | IncidentKind.CLIENTS_AWAY
                    | IncidentKind.BACKUP
                ):
                    pass
                case _:
                    raise ValueError(f"{each.object} cannot have the incident {each.what.value}")
        self._hold_units(incidents, faults)
        self._group.faults = faults
        self.put_dead_letters(incidents)
        for sender in self._senders.values() if faults else ():
            if not self._group.is_up(sender.channel.transmission_queue):
                sender.partner_down = True

    def _hold_units(self, incidents: Iterable[ScenarioIncident], faults: dict[str, Fault]) -> None:
        """The units of work that stay open, each as old as its incident."""
        holding = [each for each in incidents if each.what in (IncidentKind.LONG_UNIT, IncidentKind.IN_DOUBT)]
        if not holding:
            self._held.clear()
        for each in holding:
            rba, lasted = self._group.members[each.object].log.rba, self._lasted(each)
            begun = self._held.setdefault((each.object, self._group.now - lasted), rba)
            unit = HeldUnit(lasted, rba - begun, in_doubt=each.what is IncidentKind.IN_DOUBT)
            faults.setdefault(each.object, Fault()).units += (unit,)

    def _reset_traffic(self, share: float) -> None:
        for flow in self._flows.values():
            flow.arrival_factor, flow.service_factor = share, 1.0
        for name in self._jobs:
            self._flows[name].arrival_factor = self._flows[name].service_factor = 0.0
        random = self._random.random
        for sender in self._senders.values():
            sender.network_us = sender.usual_us * (0.93 + _NETWORK_WIDTH * random())
            sender.partner_down = False
            sender.stuck = ""
            sender.flow.arrival_factor = share

    def _lasted(self, incident: ScenarioIncident) -> int:
        """How long an incident of now has lasted, ms."""
        since_begin = (self._group.now - self._begin) % self._scenario.length
        return since_begin - (incident.began(since_begin) or 0)

    def put_dead_letters(self, incidents: Iterable[ScenarioIncident]) -> None:
        """Set what is on the dead-letter queues; it comes with an incident and goes with it."""
        letters: dict[str, tuple[DeadLetter, ...]] = {}
        for each in incidents:
            if each.what is IncidentKind.DEAD_LETTERS:
                owner, _, name = each.object.partition("/")
                age = self._lasted(each)
                if each.lasts >= self._scenario.length:
                    age += FOR_WEEKS_MS
                letters[owner] = (*letters.get(owner, ()), DeadLetter(each.reason, name, round(each.value), age))
        self._group.dead_letters = letters
        for name, flow in self._dead_letter_flows.items():
            more = sum(each.messages for each in letters.get(name, ())) - flow.queue.depth
            if more > 0:
                flow.put(more, self._group.now)
                flow.queue.output_handles = 0
            elif more < 0:
                flow.get(-more, self._group.now)


def _set_fault_of(fault: Fault, part: str, incident: ScenarioIncident, now: int, lasted: int) -> None:
    """The fault of a queue manager with one of its data sets or channels, ``lasted`` ms after it began."""
    if incident.what in (IncidentKind.CLIENT_FLOOD, IncidentKind.CLIENT_LEAK):
        fault.clients[part] = flood(now - lasted, lasted, incident)
    else:
        fault.data_sets[part] = incident.what.name.removeprefix("DATA_SET_")


def _set_fault(fault: Fault, incident: ScenarioIncident) -> None:
    match incident.what:
        case IncidentKind.DOWN | IncidentKind.RESTART:
            fault.down = True
        case IncidentKind.MEMBER_FAILED:
            fault.down = fault.failed = True
        case IncidentKind.CLUSTER_SUSPENDED:
            fault.suspended = True
        case IncidentKind.PUBSUB_ERROR:
            fault.pubsub_error = True
        case IncidentKind.REPOSITORY_LOST:
            fault.no_repository = True
        case IncidentKind.DB2_LOST:
            fault.db2_lost = True
        case IncidentKind.LOG_SUSPENDED:
            fault.log_suspended = True
        case IncidentKind.RBA:
            fault.rba_offset = round(incident.value)
        case IncidentKind.SLOW:
            fault.slow_ms = round(incident.value)
        case what:
            setattr(fault, what.value, getattr(fault, what.value) | {incident.command})


def flood(began: int, lasted: int, incident: ScenarioIncident) -> tuple[ChannelInstance, ...]:
    """The instances that an incident has led to ``lasted`` ms after it ``began`` (ms since 1970 UTC)."""
    if incident.what is IncidentKind.CLIENT_LEAK:
        return _leaked(began, int(incident.value), int(incident.value * lasted / HOUR_MS))
    count = int(incident.value)
    return _flooded(began, count, min(count, count * lasted // _FLOOD_MS))


@lru_cache(maxsize=16)
def _flooded(began: int, count: int, connected: int) -> tuple[ChannelInstance, ...]:
    greedy = round(count * _GREEDY_PART)
    places = _turns(greedy, count)
    return tuple(
        _client(began + place * _FLOOD_MS // count, f"10.60.0.{next(places)}", place, "batchpool")
        for place in range(connected)
    )


def _turns(greedy: int, count: int) -> Iterator[int]:
    """Which address connects next: ``greedy`` of ``count`` times the first one, else each of the others in turn."""
    given = 0
    for place in range(1, count + 1):
        if given * count < greedy * place:
            given += 1
            yield 1
        else:
            yield 2 + (place - given) % (_ADDRESSES - 1)


@lru_cache(maxsize=16)
def _leaked(began: int, an_hour: int, connected: int) -> tuple[ChannelInstance, ...]:
    return tuple(
        _client(began + place * HOUR_MS // an_hour, "10.60.1.7", place, "reports") for place in range(connected)
    )


def _client(started: int, address: str, place: int, application: str) -> ChannelInstance:
    return ChannelInstance(
        started,
        f"{address}({_FIRST_PORT + place})",
        application,
        substate="RECEIVE",
        last_message=started,
        messages=3,
        conversations=1,
    )
