"""The model of the simulated group: messages move through queues and channels, and pools, page sets, logs and
structures follow.

It advances in steps of one second, or those of the scenario, so the same scenario, seed and time always give the same
group. A scenario repeats in rounds, each with the same random numbers. A round that would be like the last one is added
by arithmetic or replayed from a recording instead of simulated, so that days cost little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import lcm
from random import Random
from typing import Protocol

from mqvitals_agent.simulator.events import EventQueues
from mqvitals_agent.simulator.incidents import IncidentEffects
from mqvitals_agent.simulator.operation import Operation
from mqvitals_agent.simulator.repetition import RecordedRound, Repetition
from mqvitals_agent.simulator.scenario import (
    FOR_WEEKS_MS,
    IncidentKind,
    Scenario,
    ScenarioIncident,
)
from mqvitals_agent.simulator.site import DEFAULT_NAMES, SimulatedNames, build, enlarge
from mqvitals_agent.simulator.state import GroupState, MemberState, QueueState
from mqvitals_agent.simulator.storage import Storage
from mqvitals_agent.simulator.traffic import STEP_MS, BackgroundTraffic, ChannelSender, QueueFlow

_PRIVATE_RATES = {
    "ORDERS.REQUEST": (450.0, 1_400.0),
    "ORDERS.REPLY": (400.0, 1_500.0),
    "PAYMENTS.IN": (40.0, 400.0),
    "REMOTE.IN": (0.0, 2_500.0),
    "BATCH.FEED": (4.0, 400.0),
}
"""By queue: messages put a second, and messages that its consumers can get."""
_SHARED_RATES = {"APPL1.ORDERS": (300.0, 480.0), "APPL1.STOCK": (60.0, 600.0), "APPL2.DOCUMENTS": (12.0, 100.0)}
_SHARED_READERS, _SHARED_READERS_OF_MEMBER = 8, 2
_SENT_PER_S = {"PARTNER": 60.0}
_USUAL_SENT_PER_S = 240.0
_NETWORK_US = {"PARTNER": 1_900.0}
_USUAL_NETWORK_US = 420.0
_ENTRIES_BASE, _KB_BASE, _KB_A_MESSAGE = 900, 12_000, 1.5
_ADMIN_ENTRIES = 53
_CATCHING_UP = 2_600.0
"""Messages a second that the consumers of a shared queue get when there is a backlog and arrivals are as usual."""

_LAST_JOB_MS = 2 * 86_400_000
"""So long before the beginning the last job got a message."""


class GroupObserver(Protocol):
    """Sees every simulated second of a group, and changes nothing."""

    def second(self, group: GroupState) -> None:
        """One second of the group has passed, until ``group.now``."""
        ...

    def leap(self, group: GroupState) -> None:
        """Rounds have been added to the group without being simulated."""
        ...


class SimulatedGroup:
    """A simulated group in a scenario that begins at ``begin`` (ms since 1970 UTC).

    ``queues`` and ``channels`` are added to the ordinary site, spread over its queue managers. ``names`` are those with which
    the scenario was loaded.
    """

    def __init__(
        self,
        scenario: Scenario,
        begin: int,
        *,
        seed: int = 1,
        queues: int = 0,
        channels: int = 0,
        names: SimulatedNames = DEFAULT_NAMES,
    ) -> None:
        self._scenario = scenario
        self._begin = scenario.began(begin)
        self._share = 1.0
        self._seed = seed
        self._random = Random(seed)  # noqa: S311 - applications that come and go, no secrets
        self.group: GroupState = build(begin, names)
        self.group.events = EventQueues(self._begin, scenario.length, scenario.events)
        self.group.seed = seed
        for member in self.group.members.values():
            member.log.log_bytes = round(scenario.log_mb * 1_000_000)
        self._flows: dict[str, QueueFlow] = {}
        for each in scenario.queues:
            owner, _, name = each.object.partition("/")
            member = self.group.members[owner]
            queue = member.queues[name] = each.state(member.started)
            flow = QueueFlow(
                queue, each.arrivals, each.service, each.readers, ends_after_ms=each.ends_after, closes=each.closes
            )
            self._flows[each.object] = flow
            flow.put(each.depth, begin - FOR_WEEKS_MS)
            if each.jobs:
                queue.last_get = begin - _LAST_JOB_MS
        for each in scenario.queues:
            if each.stream_queue:
                copies = self._flows[f"{each.object.partition('/')[0]}/{each.stream_queue}"]
                self._flows[each.object].copies = copies
        self._senders: dict[str, ChannelSender] = {}
        self._dead_letter_flows = {
            name: QueueFlow(member.queues["SYSTEM.DEAD.LETTER.QUEUE"], 0, 0)
            for name, member in self.group.members.items()
        }
        self._storage = {name: Storage(member) for name, member in self.group.members.items()}
        for name, member in self.group.members.items():
            self._connect(name, member)
        # Each member reads each shared queue.
        readers = max(_SHARED_READERS, _SHARED_READERS_OF_MEMBER * names.count)
        for name, (arrivals, service) in _SHARED_RATES.items():
            self._flows[f"{names.group}/{name}"] = QueueFlow(
                self.group.shared_queues[name], arrivals, service, readers=readers
            )
        self._effects = IncidentEffects(
            scenario, self._begin, self.group, self._flows, self._senders, self._dead_letter_flows, self._random
        )
        self._operation = Operation(self.group, self._flows, self._senders)
        self._sending = [(key.split("/")[0], sender) for key, sender in self._senders.items()]
        self._flowing = [
            (owner, name == "REMOTE.IN", flow)
            for (owner, _, name), flow in ((key.partition("/"), flow) for key, flow in self._flows.items())
        ]
        self._all_flows = [
            *self._flows.values(),
            *(sender.flow for sender in self._senders.values()),
            *self._dead_letter_flows.values(),
        ]
        self._repetition = Repetition(self.group)
        self._record: RecordedRound | None = None
        self._plays = False
        self._put_at_begin: list[int] = []
        self._observers: list[GroupObserver] = []
        self._simulated_ms = 0
        self._set_step(scenario.step)
        self._open_queues()
        self._sides = BackgroundTraffic(begin, *enlarge(self.group, queues, channels))

    def watch(self, observer: GroupObserver, simulated_ms: int) -> None:
        """Add an observer. The last ``simulated_ms`` before a requested time are always simulated, so that it sees
        them.
        """
        self._observers.append(observer)
        self._simulated_ms = max(self._simulated_ms, simulated_ms)
        self._set_step(STEP_MS)

    def _set_step(self, step_ms: int) -> None:
        self._step_ms = step_ms
        self._round_ms = lcm(self._scenario.length, step_ms)
        seconds = step_ms // STEP_MS
        for flow in self._all_flows:
            flow.seconds = seconds
        for storage in self._storage.values():
            storage.seconds = seconds

    def settle(self) -> None:
        """Set the added queues and channels to their state now; they do not change while seconds are simulated."""
        self._sides.move(self.group.now)

    def advance(self, now: int) -> GroupState:
        """The group as of ``now``. An earlier time returns the group as it is."""
        before = self.group.now
        while self.group.now + self._step_ms <= now:
            if (self.group.now - self._begin) % self._round_ms == 0:
                self._begin_round(now)
            if self.group.now + self._step_ms > now:
                break
            if self._plays:
                self._play(now)
            else:
                self._step(self.group.now + self._step_ms)
                if self._record is not None:
                    self._record.add()
        if self.group.now != before:
            self._sides.move(self.group.now)
        return self.group

    def up_since(self, name: str, now: int) -> int:
        """The start of the queue manager that is up at ``now``: after its last outage. Both ms since 1970 UTC."""
        started, length = self.group.members[name].started, self._scenario.length
        for after in self._scenario.returns(name):
            back = self._begin + min(after, length)
            if back <= now:
                started = max(started, back + (now - back) // length * length)
        return started

    def _begin_round(self, now: int) -> None:
        """Begin the next round, and add the rounds until ``now`` that would be like the last one."""
        self._random.seed(self._seed)
        group = self.group
        senders, storages = self._senders.values(), self._storage.values()
        hidden = [flow.begin_round(group.now) for flow in self._flows.values()]
        hidden += [sender.begin_round(group.now) for sender in senders]
        hidden += [flow.begin_round(group.now) for flow in self._dead_letter_flows.values()]
        hidden += [storage.begin_round() for storage in storages]
        rounds = self._repetition.whole_rounds(now - self._simulated_ms, self._round_ms, hidden)
        if rounds > 0:
            before = self._put_totals()
            self._repetition.add(rounds, self._round_ms)
            self._add_to_flows(rounds, before)
            for storage in storages:
                storage.add_rounds(rounds)
            for observer in self._observers:
                observer.leap(group)
        self._play_or_record()

    def _play_or_record(self) -> None:
        """Replay the round that begins now from the recording of a like one, or record it for later ones."""
        if not self._repetition.alike:
            self._plays, self._record = False, None
        elif self._record is None or self._record.seconds * self._step_ms < self._round_ms:
            # None, or a recording begun at this time: the end of a round is the beginning of the next.
            self._plays, self._record = False, self._repetition.record()
        else:
            self._plays = True
            self._record.begin()
            self._put_at_begin = self._put_totals()

    def _play(self, now: int) -> None:
        """Advance to ``now``, at most to the end of the round. Observers see every second."""
        group, record = self.group, self._record
        assert record is not None, "only what was recorded is played"
        begun = group.now - (group.now - self._begin) % self._round_ms
        step_ms = self._step_ms
        first, last = (group.now - begun) // step_ms, min(now - begun, self._round_ms) // step_ms
        written = first
        for second in range(first + 1, last + 1) if self._observers else (last,):
            for storage in self._storage.values():
                storage.write_again(written, second)
            written = second
            record.play(second)
            group.now = begun + second * step_ms
            for observer in self._observers:
                observer.second(group)
        if last * step_ms == self._round_ms:
            self._add_to_flows(1, self._put_at_begin)

    def _put_totals(self) -> list[int]:
        return [flow.queue.put_total for flow in self._all_flows]

    def _add_to_flows(self, rounds: int, before: Iterable[int]) -> None:
        """Move the messages in queues by added rounds; ``before``: the messages put until then."""
        for flow, put in zip(self._all_flows, before, strict=True):
            flow.add_rounds(rounds * self._round_ms, flow.queue.put_total - put)

    def _connect(self, name: str, member: MemberState) -> None:
        for queue, (arrivals, service) in _PRIVATE_RATES.items():
            self._flows[f"{name}/{queue}"] = QueueFlow(member.queues[queue], arrivals, service)
        for channel in member.channels.values():
            if channel.kind != "SENDER":
                continue
            partner = channel.transmission_queue
            flow = QueueFlow(member.queues[partner], _SENT_PER_S.get(partner, _USUAL_SENT_PER_S), 0)
            sender = ChannelSender(channel, flow, _NETWORK_US.get(partner, _USUAL_NETWORK_US))
            if self._scenario.week is not None:
                sender.disconnect_ms = self._scenario.week.disconnect
            if partner in self.group.members:
                incoming = self.group.members[partner].channels[channel.name]
                sender.peer = next(each for each in incoming.instances if each.partner == name)
            self._senders[f"{name}/{channel.name}"] = sender
        command_input = member.queues["SYSTEM.COMMAND.INPUT"]
        command_input.input_handles = 1

    def _open_queues(self) -> None:
        """The applications and channels that are there have their queues open before the first second."""
        self._apply_incidents()
        # What the incidents drew must not change the seconds that follow.
        self._random.seed(self._seed)
        for flow in self._flows.values():
            flow.begin(self.group.now)
        for _, sender in self._sending:
            sender.begin()
        self._divide_handles()

    def _apply_incidents(self) -> list[ScenarioIncident]:
        """The incidents of the group's now, which are applied to its traffic and faults."""
        since_begin = self.group.now - self._begin
        incidents = list(self._scenario.active(since_begin))
        if self._scenario.week is not None:
            self._share = self._scenario.week.share(since_begin)
        self._effects.apply(incidents, self._share)
        return incidents

    def _step(self, now: int) -> None:
        group = self.group
        group.now = now
        incidents = self._apply_incidents()
        self._operation.move(incidents)
        random = self._random
        arrived_by: dict[str, int] = defaultdict(int)
        # Storage moves after all puts, so that the put rate is the same throughout the second.
        running = {
            name: storage.slows_anything
            for name, storage in self._storage.items()
            if self.group.is_up(name) and not self.group.fault(name).log_suspended
        }
        for member, sender in self._sending:
            if member not in running:
                continue
            queue = sender.flow.queue
            count = sender.flow.come(now, random, self._slowed(member, queue) if running[member] else 1.0)
            self._log(member, queue, count)
            moved = sender.move(now, count)
            partner = sender.channel.transmission_queue
            if partner in group.members:
                arrived_by[partner] += moved
        for owner, incoming, flow in self._flowing:
            if owner == group.name:
                flow.come(now, random)
                self._catch_up(flow)
            elif owner not in running:
                continue
            else:
                if incoming:
                    count = arrived_by[owner]
                    flow.put(count, now)
                else:
                    count = flow.come(now, random, self._slowed(owner, flow.queue) if running[owner] else 1.0)
                self._log(owner, flow.queue, count)
            flow.go(now, random)
        stopped = {each.object for each in incidents if each.what is IncidentKind.ARCHIVE_STOPPED}
        for name, storage in self._storage.items():
            storage.move()
            storage.end_second(stopped=name in stopped)
        self._divide_handles()
        self._fill_structures()
        self._move_clients(now)
        for observer in self._observers:
            observer.second(group)

    def _slowed(self, member: str, queue: QueueState) -> float:
        return self._storage[member].slowed(queue.storage_class)

    def _log(self, member: str, queue: QueueState, count: int) -> None:
        if queue.persistent and count:
            self._storage[member].log(count, queue.message_bytes)

    def _catch_up(self, flow: QueueFlow) -> None:
        """With a backlog and usual arrivals the consumers of shared queues run at full speed."""
        rush = flow.arrival_factor > 1
        backlog = flow.queue.depth > 10 * flow.service
        if backlog and not rush and flow.service_factor == 1.0:
            flow.service_factor = _CATCHING_UP / flow.service

    def _divide_handles(self) -> None:
        """Divide the handles of shared queues among the members that are up."""
        running = {name for name in self.group.members if self.group.is_up(name)}
        for place, (name, member) in enumerate(self.group.members.items()):
            mine = name in running
            member.shared_handles = {
                shared: (queue.input_handles * mine // max(len(running), 1), (1 + place % 2) * mine)
                for shared, queue in self.group.shared_queues.items()
            }

    def _fill_structures(self) -> None:
        for structure in self.group.structures.values():
            depth = self.group.messages_in(structure.name)
            if structure.kind == "ADMIN":
                structure.entries_used = _ADMIN_ENTRIES + self._random.randrange(8)
                continue
            structure.entries_used = min(_ENTRIES_BASE + depth, structure.entries_max)
            structure.size_used_kb = min(round(_KB_BASE + depth * _KB_A_MESSAGE), structure.size_max_kb)
            if structure.offload == "SMDS":
                structure.smds_used_blocks = min(180 + depth // 4, structure.smds_total_blocks)

    def _move_clients(self, now: int) -> None:
        for name, member in self.group.members.items():
            if not self.group.is_up(name):
                continue
            for instance in member.channels["CLIENTS.ORDERS"].instances:
                count = round(self._random.randrange(60, 90) * self._share * (self._step_ms // STEP_MS))
                if not count or not instance.active:
                    continue
                instance.messages += count
                instance.bytes_received += count * 3_900
                instance.bytes_sent += count * 1_500
                instance.buffers_received += count
                instance.buffers_sent += count
                instance.last_message = now
