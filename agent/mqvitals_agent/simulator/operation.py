"""What operators do in a scenario: they restart queue managers and channel initiators, alter queues, and clients come and
go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqvitals_agent.simulator.scenario import IncidentKind, ScenarioIncident
from mqvitals_agent.simulator.state import ChannelInstance, GroupState, MemberState
from mqvitals_agent.simulator.traffic import ChannelSender, QueueFlow, begin_counters

_INITIATOR_LATER_MS = 20_000
"""A channel initiator starts so long after its queue manager."""

_BACKUP_MS = 4_000


class Operation:
    """The restarts and alterations of a group, from step to step."""

    def __init__(self, group: GroupState, flows: Mapping[str, QueueFlow], senders: Mapping[str, ChannelSender]) -> None:
        """``flows`` by owner and queue, ``senders`` by owner and channel."""
        self._group = group
        self._flows = flows
        self._senders = senders
        self._batch_sizes = {name: sender.channel.batch_size for name, sender in senders.items()}
        self._expanded: set[str] = set()
        self._max_depths = {name: flow.queue.max_depth for name, flow in flows.items()}
        self._inhibited = {name for name, flow in flows.items() if flow.queue.get_inhibited}
        self._restarting: set[str] = set()
        self._without_initiator: set[str] = set()
        self._without_clients: set[str] = set()

    def move(self, incidents: Iterable[ScenarioIncident]) -> None:
        """One step, with the incidents of now, whose faults are set. Raises ValueError for one that its object cannot
        have.
        """
        by_kind: dict[IncidentKind, dict[str, ScenarioIncident]] = {}
        for each in incidents:
            by_kind.setdefault(each.what, {})[each.object] = each
        self._alter(by_kind)
        self._expand(by_kind.get(IncidentKind.EXPANSION, {}))
        self._restart(set(by_kind.get(IncidentKind.RESTART, ())))
        self._stop_initiators(set(by_kind.get(IncidentKind.INITIATOR_DOWN, ())))
        for name in by_kind.get(IncidentKind.BACKUP, ()):
            structure = self._group.structures[name.partition("/")[2]]
            structure.backup_started, structure.backup_ended = self._group.now - _BACKUP_MS, self._group.now
        self._send_clients_away(set(by_kind.get(IncidentKind.CLIENTS_AWAY, ())))

    def _alter(self, by_kind: Mapping[IncidentKind, Mapping[str, ScenarioIncident]]) -> None:
        """Give the queues the attributes that an operator has set, or their usual ones, with the time of alteration."""
        depths = by_kind.get(IncidentKind.MAX_DEPTH, {})
        inhibited = by_kind.get(IncidentKind.GET_INHIBITED, {})
        for kind, names in ((IncidentKind.MAX_DEPTH, depths), (IncidentKind.GET_INHIBITED, inhibited)):
            if names.keys() - self._flows.keys():
                raise ValueError(f"{', '.join(names)} cannot have the incident {kind.value}")
        for name, flow in self._flows.items():
            queue = flow.queue
            max_depth = round(depths[name].value) if name in depths else self._max_depths[name]
            get_inhibited = name in inhibited or name in self._inhibited
            if (queue.max_depth, queue.get_inhibited) != (max_depth, get_inhibited):
                queue.max_depth, queue.get_inhibited, queue.altered = max_depth, get_inhibited, self._group.now

        sizes = by_kind.get(IncidentKind.BATCH_SIZE, {})
        if sizes.keys() - self._senders.keys():
            raise ValueError(f"{', '.join(sizes)} cannot have the incident {IncidentKind.BATCH_SIZE.value}")
        for name, sender in self._senders.items():
            channel = sender.channel
            size = round(sizes[name].value) if name in sizes else self._batch_sizes[name]
            if channel.batch_size != size:
                channel.batch_size, channel.altered = size, self._group.now

    def _expand(self, expanding: Mapping[str, ScenarioIncident]) -> None:
        """Give page sets more pages, once for each incident. Raises ValueError for what is none."""
        for name in expanding.keys() - self._expanded:
            owner, _, number = name.partition("/")
            member = self._group.members.get(owner)
            page_set = None if member is None or not number.isdecimal() else member.page_sets.get(int(number))
            if page_set is None:
                raise ValueError(f"{name} cannot have the incident {IncidentKind.EXPANSION.value}")
            page_set.total += round(expanding[name].value)
            page_set.expand_count += 1
        self._expanded = set(expanding)

    def _restart(self, restarting: set[str]) -> None:
        """Queue managers that are back have started now, and so have their channels."""
        for name in self._restarting - restarting:
            member = self._group.members[name]
            member.started = self._group.now
            member.log.start_rba = member.log.rba
            self._initiator_starts(member, self._group.now + _INITIATOR_LATER_MS)
        self._restarting = restarting

    def _stop_initiators(self, down: set[str]) -> None:
        for name in down | self._without_initiator:
            member = self._group.members[name]
            member.chinit_running = name not in down
            if member.chinit_running:
                self._initiator_starts(member, self._group.now)
        self._without_initiator = down
        if not down and not self._restarting:
            return
        for key, sender in self._senders.items():
            owner = key.partition("/")[0]
            sender.initiator_down = owner in down
            if sender.channel.transmission_queue in down:
                sender.partner_down = True

    def _initiator_starts(self, member: MemberState, now: int) -> None:
        member.chinit_started = now
        for key, sender in self._senders.items():
            if key.startswith(f"{member.name}/"):
                sender.initiator_down = False
        for channel in member.channels.values():
            for instance in channel.instances:
                _begin(instance, now)

    def _send_clients_away(self, away: set[str]) -> None:
        for name in away | self._without_clients:
            owner, _, channel = name.partition("/")
            for instance in self._group.members[owner].channels[channel].instances:
                if name in away:
                    instance.status = "INACTIVE"
                elif not instance.active:
                    instance.status = "RUNNING"
                    _begin(instance, self._group.now)
        self._without_clients = away


def _begin(instance: ChannelInstance, now: int) -> None:
    instance.started = now
    begin_counters(instance)
