"""The end of a cycle: rows become readings; objects that no answer holds become gone, inactive or unanswered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo

from mqvitals_agent.poll.columns import LocalTimes, MetricValues
from mqvitals_agent.poll.counters import SATURATED_AT, Counters
from mqvitals_agent.poll.cycle import CycleData, KnownObject
from mqvitals_agent.poll.kinds import channel, client, log, queue, statistics, storage
from mqvitals_agent.poll.kinds.channel_definitions import ChannelDefinitions, inactive_metrics
from mqvitals_agent.poll.kinds.channel_starts import ChannelStarts
from mqvitals_agent.poll.kinds.qsg import CHANGES, AlterationCounter
from mqvitals_agent.poll.kinds.queue_manager import ATTRIBUTES, CHANNEL_INITIATOR, LostListeners
from mqvitals_agent.poll.kinds.queue_pointers import QueuePointers
from mqvitals_agent.poll.kinds.shared_queues import SharedQueues
from mqvitals_agent.poll.local_time import QueueManagerClock
from mqvitals_agent.poll.polling_readings import PollingReadings
from mqvitals_agent.poll.probe import GROUP, ObjectRow, ProbePart
from mqvitals_agent.poll.selection import missing_reason
from mqvitals_rules.snapshot import Instance, ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.agent import AGENT_KIND
from mqvitals_rules.vocabulary.metric import Absence, Reported

_NAMELESS_GROUP = "QSG"
MOST_INSTANCES = 200
"""Instances of a server-connection channel that are kept one by one; all of them are counted, also by client."""
_OBJECTS = {part.kind.name: part for part in (queue.STATUS, channel.STATUS)}
"""By kind of object in statistics: the part whose answers show whether it still exists."""


def _elsewhere(part: ProbePart, *, distributed: bool) -> Mapping[str, Absence]:
    """Why metrics of other probes than this are absent on that platform, until another answer holds them."""
    found = {}
    for metric in part.kind.metrics:
        if metric.command == part.probe:
            continue
        if metric.platform == ("zos" if distributed else "distributed"):
            found[metric.name] = Absence.NOT_ON_DISTRIBUTED if distributed else Absence.NOT_ON_ZOS
        elif distributed and metric.statistics:
            found[metric.name] = Absence.NEEDS_STATISTICS
    return found


_ELSEWHERE = {
    (part, True): _elsewhere(part, distributed=True) for part in (queue.DEFINITION, channel.DEFINITION, ATTRIBUTES)
} | {(ATTRIBUTES, False): _elsewhere(ATTRIBUTES, distributed=False)}
"""Reported with definitions, which come rarely. On z/OS only of queue managers: of queues and channels there are many."""


class SnapshotBuilder:
    """What must be known from one cycle to the next, and the making of snapshots from a cycle and that."""

    def __init__(self, group: str, queue_managers: Iterable[str], zone_of: Callable[[str], tzinfo | None]) -> None:
        self.owners: dict[str, None] = dict.fromkeys(queue_managers)
        self._site_name = group
        self._group_name = ""
        self._zone_of = zone_of
        self._clocks: dict[str, QueueManagerClock] = {}
        self._known: dict[ProbePart, dict[str, dict[str, KnownObject]]] = {}
        self._remembered: dict[tuple[str, str], set[str]] = {}
        self.polling = PollingReadings()
        """The readings about the polling itself; the collector tells it about intervals and calls."""
        self._via: dict[ProbePart, str] = {}
        self._distributed: dict[str, bool] = {}
        self._with_statistics: set[str] = set()
        self._dead_letter_queues: dict[str, str] = {}
        self._dead_letter_found: dict[str, tuple[str, bool]] = {}
        self._queue_storage = queue.QueueStorage()
        self._channels = ChannelDefinitions()
        self._shared_queues = SharedQueues()
        self._queue_pointers = QueuePointers()
        self._listeners = LostListeners()
        self._restarts = log.RestartCounter()
        self._starts = ChannelStarts()
        self._alterations = AlterationCounter()
        self._counters = {
            channel.STATUS: Counters(channel.COUNTERS, saturated_at=SATURATED_AT),
            storage.PAGE_SET: Counters(("expand_count",)),
            log.LOG: Counters(("written_bytes",)),
            ATTRIBUTES: Counters(("qsg_joined",)),
        }

    def meet(self, queue_manager: str) -> None:
        """From now on the queue manager has a snapshot in every cycle."""
        self.owners.setdefault(queue_manager)

    def remember(self, objects: Iterable[ObjectName]) -> None:
        """Objects that existed when an earlier run ended: those that no answer holds any more are gone."""
        for owner, kind, name in objects:
            if kind == AGENT_KIND.name:
                self.polling.remember(owner, name)
                continue
            self._remembered.setdefault((owner, kind), set()).add(name)
            if kind == channel.STATUS.kind.name:
                self._channels.remember(owner, name)

    def shift(self, by_ms: int) -> None:
        """The clock that dates exchanges was set by ``by_ms`` between two cycles: intervals stay the elapsed time."""
        by_owner = [known for owners in self._known.values() for known in owners.values()]
        for known in (each for names in by_owner for each in names.values()):
            known.shift(by_ms)
        self.polling.shift(by_ms)
        self._shared_queues.shift(by_ms)

    def reads_statistics(self, queue_manager: str) -> None:
        """Statistics messages of this queue manager are read."""
        self._with_statistics.add(queue_manager)

    def asked_via(self, part: ProbePart, queue_manager: str) -> None:
        """The group's objects of this part came over the connection to this queue manager."""
        self._via[part] = queue_manager

    def answers_classically(self, queue_manager: str, cycle: CycleData) -> None:
        """An answer of classic responses came: it does not run on z/OS, unless it reported its platform."""
        if queue_manager not in self._distributed:
            cycle.rows.distributed.setdefault(queue_manager, True)

    def distributed(self, queue_manager: str, cycle: CycleData) -> bool:
        """True when the queue manager is known not to run on z/OS."""
        found = cycle.rows.distributed.get(queue_manager)
        return self._distributed.get(queue_manager, False) if found is None else found

    def snapshots(self, cycle: CycleData, number: int) -> tuple[Snapshot, ...]:
        """One snapshot for each queue manager, then the group's, if there is a group."""
        self._learn(cycle)
        instances: dict[str, list[Instance]] = {}
        readings: dict[str, list[Reading]] = {}
        for owner in self.owners:
            readings[owner] = [self.polling.connection(owner, cycle)]
        readings[GROUP] = []
        for part, owners in cycle.rows.reported.items():
            for owner, rows in owners.items():
                found = self._answered(part, owner, rows, cycle.time_of(owner), instances.setdefault(owner, []))
                readings[owner].extend(found)
        for record in cycle.records:
            reading = self._recorded(record)
            if reading is not None:
                readings[record.key.queue_manager].append(reading)
        for owner, of_owner in readings.items():
            of_owner.extend(self._missing(owner, cycle, cycle.time_of(owner)))
            of_owner.extend(self.polling.commands(owner, cycle))
        made = [
            Snapshot(
                owner,
                group=False,
                cycle=number,
                ts=cycle.time_of(owner),
                readings=tuple(readings[owner]),
                instances=tuple(instances.get(owner, ())),
                clock_ms=cycle.clock.get(owner),
            )
            for owner in self.owners
        ]
        if self._has_group(readings[GROUP]):
            ts, of_group = cycle.time_of(GROUP), tuple(readings[GROUP])
            made.append(Snapshot(self._group(), group=True, cycle=number, ts=ts, readings=of_group))
        return tuple(made)

    def _has_group(self, readings: Sequence[Reading]) -> bool:
        return bool(readings) or (bool(self._site_name) and self._site_name not in self.owners)

    def _group(self) -> str:
        return self._group_name or self._site_name or _NAMELESS_GROUP

    def _learn(self, cycle: CycleData) -> None:
        """Keep what later cycles need, and name the group once something belongs to it."""
        rows = cycle.rows
        self._distributed.update(rows.distributed)
        self._dead_letter_queues.update(rows.dead_letter_queues)
        for queue_manager, (local, now, took) in rows.newest.items():
            self._clock(queue_manager).observe(local, now, took)
        if rows.active_members is not None:
            self._shared_queues.active = rows.active_members
        for part, objects in rows.shared.items():
            combined = self._shared_queues.combined(part, objects, self._age)
            rows.reported.setdefault(part, {})[GROUP] = combined
            cycle.touch(GROUP, min(row.at for row in combined.values()))
        if not self._group_name and (rows.group or any(GROUP in owners for owners in rows.reported.values())):
            # A site may call its group what one of its queue managers is called: then MQ's own name is used.
            clash = self._site_name in self.owners
            self._group_name = (rows.group if clash or not self._site_name else self._site_name) or _NAMELESS_GROUP
        self._channels.learn(rows, cycle.asked_of(channel.DEFINITION))
        self._look_for_dead_letter_queues(cycle)
        about_queues = cycle.asked_of(queue.DEFINITION)
        self._queue_storage.learn(rows, {owner: asked for owner, asked in about_queues.items() if owner != GROUP})
        for owner, questions in about_queues.items():
            definitions = rows.reported.get(queue.DEFINITION, {}).get(owner, {})
            self._queue_pointers.learn(owner, definitions, questions)
        for queue_manager, started in rows.reported.get(log.START, {}).items():
            row = started[""]
            row.values["restarts"] = self._restarts.count(queue_manager, row.values, row.local)
        for queue_manager, listeners in rows.listeners.items():
            values = rows.reported[CHANNEL_INITIATOR][queue_manager][""].values
            values["listeners_lost"] = self._listeners.count(queue_manager, values["status"], listeners)
        self._count_alterations(cycle)
        self._count_clients(cycle)

    def _count_alterations(self, cycle: CycleData) -> None:
        """Count the group's definitions changed lately, as often as its queues' definitions are queried."""
        self._alterations.note(cycle.rows.altered)
        asked = cycle.asked.get((queue.DEFINITION, GROUP), [])
        if not self._group_name or all(each.absence is not None for each in asked):
            return
        now = cycle.time_of(GROUP)
        count = self._alterations.count(now, lambda member, local: self._clock(member).utc(local))
        row = ObjectRow({"altered_1d": count}, whole=True, own=True, at=now, now=now, member="")
        cycle.rows.reported.setdefault(CHANGES, {})[GROUP] = {"": row}

    def _look_for_dead_letter_queues(self, cycle: CycleData) -> None:
        """Whether the named dead-letter queues exist, as of the answers about queues' definitions."""
        reported = cycle.rows.reported.get(queue.DEFINITION, {})
        known = self._known.get(queue.DEFINITION, {})
        for owner, name in self._dead_letter_queues.items():
            questions = cycle.asked.get((queue.DEFINITION, owner), [])
            if any(name in names for names in (reported.get(owner, ()), reported.get(GROUP, ()), known.get(GROUP, ()))):
                self._dead_letter_found[owner] = (name, True)
            elif name and missing_reason(name, questions, None) is None:
                self._dead_letter_found[owner] = (name, False)

    def _dead_letter_exists(self, owner: str) -> Reported:
        name = self._dead_letter_queues.get(owner)
        if name == "":
            return Absence.NOTHING_TO_TELL
        seen, found = self._dead_letter_found.get(owner, ("", False))
        return int(found) if name and seen == name else Absence.NOT_ASKED

    @staticmethod
    def _count_clients(cycle: CycleData) -> None:
        """The clients of each queue manager whose server connections an answer holds."""
        for owner, channels in cycle.rows.reported.get(channel.STATUS, {}).items():
            if (client.CLIENT, owner) in cycle.asked:
                cycle.rows.reported.setdefault(client.CLIENT, {})[owner] = client.client_rows(channels)

    def _clock(self, queue_manager: str) -> QueueManagerClock:
        clock = self._clocks.get(queue_manager)
        if clock is None:
            clock = self._clocks[queue_manager] = QueueManagerClock(self._zone_of(queue_manager))
        return clock

    def _answered(
        self, part: ProbePart, owner: str, rows: Mapping[str, ObjectRow], ts: int, instances: list[Instance]
    ) -> Iterator[Reading]:
        known = self._known.setdefault(part, {}).setdefault(owner, {})
        counters = self._counters.get(part)
        probe, poll, kind = part.probe, part.poll, part.kind.name
        whose = self._group() if owner == GROUP else owner
        dead_letter_queue = self._dead_letter_queues.get(owner) if part is queue.STATUS else None
        elsewhere = _ELSEWHERE.get((part, self._distributed.get(owner, False)), {})
        if owner in self._with_statistics:
            elsewhere = {name: why for name, why in elsewhere.items() if why is not Absence.NEEDS_STATISTICS}
        is_status = part is queue.STATUS
        unnamed = Absence.NOT_ASKED if owner != GROUP else 0
        member = ""
        clock: QueueManagerClock | None = None
        for name, row in rows.items():
            before = known.get(name)
            if before is None:
                before = known[name] = KnownObject(ObjectName(whose, kind, name))
            if row.instances is not None:
                self._channel(before, row, instances)
            elif counters is not None and row.totals is not None:
                row.values.update(counters.increases(before.object, {"": row.totals})[0])
            values = row.values
            if row.local:
                if clock is None or row.member != member:
                    member, clock = row.member, self._clock(row.member)
                _put_ages(clock, row, row.local, values)
            if is_status:
                values["dead_letter"] = unnamed if dead_letter_queue is None else int(name == dead_letter_queue)
                values["usually_read"] = before.usually_read(values["input_handles"], row.at)
            elif part is ATTRIBUTES:
                values["dead_letter_queue_found"] = self._dead_letter_exists(owner)
            elif part is queue.DEFINITION:
                values.update(self._queue_pointers.metrics(owner, name))
                if owner != GROUP:
                    self._queue_storage.relate(owner, values)
            elif part is storage.BUFFER_POOL:
                values["system_queues_only"] = self._queue_storage.system_queues_only(owner, name)
            if elsewhere:
                values.update(elsewhere)
            yield Reading(before.object, probe, ts, values, before.answered(row.at), poll)

    def _recorded(self, record: statistics.StatisticsRecord) -> Reading | None:
        """The reading of a statistics record. None for a temporary queue that no answer knows: thousands may come and go.

        From now on its object is known, so that a complete answer without it shows it gone.
        """
        owner, kind, name = record.key[:3]
        part = _OBJECTS.get(kind)
        if part is not None:
            known = self._known.setdefault(part, {}).setdefault(owner, {})
            if name not in known:
                if record.temporary:
                    return None
                known[name] = KnownObject(ObjectName(owner, kind, name))
        return statistics.reading(record, self._clock(owner).utc)

    def _age(self, row: ObjectRow, local: int) -> Reported:
        utc = self._clock(row.member).utc(local)
        return Absence.TIME_ZONE_UNKNOWN if utc is None else max(0, row.now - utc) // 1000

    def _channel(self, known: KnownObject, row: ObjectRow, instances: list[Instance]) -> None:
        found = row.instances or []
        starts = self._starts.count(known.object, found)
        increases, each = self._counters[channel.STATUS].increases(known.object, channel.instance_totals(found))
        if len(found) > 1:
            seen: dict[str, int] = {}
            for instance in found[:MOST_INSTANCES] if client.is_server_connection(found) else found:
                key = " ".join(part for part in instance.key if part and part != "None")
                seen[key] = seen.get(key, 0) + 1
                values = {**instance.values, **each[instance.key]}
                _put_ages(self._clock(row.member), row, instance.local, values)
                instances.append(Instance(known.object, f"{key} #{seen[key]}" if seen[key] > 1 else key, values))
        row.values, row.local = channel.combined_instances(found)
        row.values.update(increases)
        row.values.update(starts)
        row.values.update(channel.traffic_metrics(row.values))

    def _missing(self, owner: str, cycle: CycleData, ts: int) -> Iterator[Reading]:
        """Readings of known objects that no message of the cycle holds."""
        parts = {part for part, whose in cycle.asked if whose == owner}
        if self._lost(cycle, owner):
            parts.update(part for part, owners in self._known.items() if part.poll and owner in owners)
        if owner == GROUP:
            parts.update(part for part, asked in self._via.items() if part.poll and self._lost(cycle, asked))
        for part in sorted(parts, key=lambda part: (part.kind.name, part.probe)):
            yield from self._missing_of(part, owner, cycle, ts)

    @staticmethod
    def _lost(cycle: CycleData, queue_manager: str) -> bool:
        contact = cycle.contacts.get(queue_manager)
        return contact is not None and contact.reason != 0

    def _missing_of(self, part: ProbePart, owner: str, cycle: CycleData, ts: int) -> Iterator[Reading]:
        known = self._known.setdefault(part, {}).setdefault(owner, {})
        whose = self._group() if owner == GROUP else owner
        if part.poll:
            for name in self._remembered.pop((whose, part.kind.name), ()):
                known.setdefault(name, KnownObject(ObjectName(whose, part.kind.name, name)))
        reported = cycle.rows.reported.get(part, {}).get(owner, {})
        questions = cycle.asked.get((part, owner), [])
        lost = self._lost(cycle, self._via.get(part, "") if owner == GROUP else owner)
        default = Absence.UNREACHABLE if lost and part.poll else None
        if part is channel.STATUS:
            for name in self._channels.of(owner):
                if name not in known and name not in reported:
                    known[name] = KnownObject(ObjectName(owner, part.kind.name, name))
        if len(reported) >= len(known) and known.keys() <= reported.keys():
            return
        halves = self._channels.server_connections(owner) if part is channel.STATUS else {}
        for name in [name for name in known if name not in reported]:
            if part is client.CLIENT:
                why = client.missing_client(name, questions, default)
            else:
                why = missing_reason(name, questions, default, client=halves.get(name))
            if why is Absence.NOT_ASKED:
                continue
            if why is None and not part.poll:
                del known[name]
                continue
            if why is None and part.kind.single:
                why = Absence.NOT_RETURNED  # a queue manager never loses its log
            yield self._absent(part, owner, name, known, why, ts)

    def _absent(
        self, part: ProbePart, owner: str, name: str, known: dict[str, KnownObject], why: Absence | None, ts: int
    ) -> Reading:
        before = known[name]
        if why is not None:
            values: Mapping[str, Reported] = dict.fromkeys(part.metrics, why)
            return Reading(before.object, part.probe, ts, values, poll=part.poll, answered=False)
        counters = self._counters.get(part)
        interval = before.answered(ts)
        if part is channel.STATUS and not self._channels.undefined(owner, name):
            assert counters is not None
            counters.increases(before.object, {})
            defined = self._channels.of(owner).get(name)
            values = {**inactive_metrics(defined), **self._starts.count(before.object, ())}
            return Reading(before.object, part.probe, ts, values, interval, part.poll)
        if counters is not None:
            counters.forget(before.object)
        if part is channel.STATUS:
            self._starts.forget(before.object)
            self._channels.forget(owner, name)
        del known[name]
        return Reading(before.object, part.probe, ts, {}, interval, gone=True)


def _put_ages(clock: QueueManagerClock, row: ObjectRow, local: LocalTimes, values: MetricValues) -> None:
    """Put the ages of local times of a row into ``values``: they are in it already as of an unknown time zone.

    ``clock`` is that of the row's member.
    """
    offset = clock.offset_ms
    if offset is not None:
        ahead = row.now + offset
        for age, ms in local.items():
            values[age] = (ahead - ms) // 1000 if ms < ahead else 0
    elif clock.known:
        for age, ms in local.items():
            utc = clock.utc(ms)
            values[age] = Absence.TIME_ZONE_UNKNOWN if utc is None else max(0, row.now - utc) // 1000
