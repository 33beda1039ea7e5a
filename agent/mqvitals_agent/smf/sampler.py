"""The partial samples of one record, section by section.

Most objects have one section, and their sample ends with the record's interval, to the millisecond. These have several:

* a channel, whose instances and records of one collection all end at the same time;
* a structure or shared queue of the group: its members' intervals end at about the same time, so the sample stands at
  the nearest full minute;
* an application, whose tasks end at any time: likewise at the nearest full minute.

An object whose name is empty or not printable is left out and noted in ``Sampler.unnamed``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from mqvitals_agent.smf.kinds import (
    ADAPTER,
    APPLICATION,
    BUFFER_POOL,
    BY_KIND,
    CHANNEL_INITIATOR,
    DIRECT,
    DISPATCHER,
    DNS_TASK,
    LOG,
    PAGE_SET,
    POOLS,
    QUEUE,
    QUEUE_MANAGER,
    SSL_TASK,
    STORAGE,
)
from mqvitals_agent.smf.layout.field import Value
from mqvitals_agent.smf.metric_mapping import filled
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample, merged
from mqvitals_agent.smf.record import Record, SmfError, identity_of
from mqvitals_agent.smf.restart import RestartDetector
from mqvitals_agent.smf.section import Section, sections
from mqvitals_agent.smf.section_sample import (
    channel_sample,
    data_set_sample,
    direct_totals,
    fields_of,
    group_sample,
    nearest_minute,
    object_sample,
    pool_totals,
    queue_opened,
    single_sample,
    structure_samples,
    task_totals,
    user_name,
)

_SHARED: Final = 0x80000000
_PARTIAL: Final = 0x40000000
_TASKS: Final = {"QCTADP": ADAPTER, "QCTDSP": DISPATCHER, "QCTSSL": SSL_TASK, "QCTDNS": DNS_TASK}
_POOL_RECORD: Final = 5
"""The subtype of records about storage pools."""
_PLACES: Final = 64
_LONGEST_TASK_US: Final = 366 * 86_400_000_000


MOST_UNNAMED: Final = 20
"""The number of objects without a valid name that are described; the others are counted."""


@dataclass(slots=True)
class UnnamedObjects:
    """Objects left out because of invalid names: how many, and the first ``MOST_UNNAMED`` of them."""

    count: int = 0
    first: list[SmfError] = field(default_factory=list)

    def note(self, record: Record, what: str, name: str) -> None:
        """Count one; ``what`` is the kind of object that has this name."""
        self.count += 1
        if len(self.first) < MOST_UNNAMED:
            why = f"is {name!a}, which holds what cannot be printed" if name.strip() else "is empty"
            of = f"{record.type}/{record.subtype} of {record.ssid or 'no queue manager'}"
            self.first.append(SmfError(f"{of}: the name of {what} {why}", record.offset))

    def lines(self) -> tuple[str, ...]:
        """The summary, one object a line; empty where there is none."""
        if not self.count:
            return ()
        found = [f"left out for their names: {self.count:,}", *(f"  {each}" for each in self.first)]
        more = self.count - len(self.first)
        return (*found, *([f"  and {more:,} more"] if more else []))


def is_name(name: object) -> bool:
    """Whether a text can name an object: it is neither empty nor blank, and printable."""
    return isinstance(name, str) and name.isprintable() and bool(name.strip())


def is_queue_manager(name: str) -> bool:
    """Whether a text can name a queue manager of z/OS: the name of a subsystem has neither blanks nor slashes."""
    return is_name(name) and " " not in name and "/" not in name


class Sampler:
    """Reads records one after another, and learns the names of groups and the numbers of a channel initiator's tasks.

    ``unnamed`` are the objects and records left out because of their names. ``restarts`` detects restarts of queue
    managers in the order of the records; None: restarts are not detected here.
    """

    def __init__(self, groups: GroupNames, restarts: RestartDetector | None = None) -> None:
        self.unnamed = UnnamedObjects()
        self._restarts = restarts
        self._groups = groups
        self._places: dict[tuple[str, str, int], dict[str, int]] = {}
        self._counted: dict[tuple[str, str, int], set[bytes]] = {}
        self._statistics_before: dict[str, Record] = {}

    def partial_samples(self, record: Record) -> Iterator[PartialSample]:
        """The partial samples of a record. Objects of a group have no owner until ``GroupNames.assign`` finds its
        name.
        """
        if record.end_us is None:
            dated = self._dated(record)
            if dated is None:
                return
            record = dated
        if not is_queue_manager(record.ssid):
            self.unnamed.note(record, "the queue manager", record.ssid)
            return
        if record.type == 115 and record.utc_offset_us is not None:
            self._statistics_before[record.sysid] = record
        self._learn(record, record.qsg)
        restarted = self._restarts is not None and self._restarts.note(record)
        for sample in self._samples(record):
            single = BY_KIND[sample.object.kind].kind.single
            if not is_name(sample.object.name) and not (single and not sample.object.name):
                what = "data set" if sample.object.kind == "smds" else sample.object.kind
                self.unnamed.note(record, f"a {what}", sample.object.name)
            else:
                yield replace(sample, restarted=True) if restarted else sample

    def _dated(self, record: Record) -> Record | None:
        """A storage record with its end in UTC: the header is local, in the time zone of the system's record before
        it.
        """
        before = self._statistics_before.get(record.sysid)
        if before is None or before.utc_offset_us is None:
            return None
        return replace(record, end_us=record.header_us - before.utc_offset_us, interval_us=before.interval_us)

    def _learn(self, record: Record, group: object) -> None:
        """Note the group that the record names, if any."""
        if isinstance(group, str) and group:
            if is_queue_manager(group):
                self._groups.learn(record.ssid, group)
            else:
                self.unnamed.note(record, "the queue-sharing group", group)

    def _samples(self, record: Record) -> Iterator[PartialSample]:
        if record.type == 116 and record.subtype in (1, 2):
            yield from self._applications(record)
        elif (record.type, record.subtype) == (115, 231):
            yield from self._channel_initiator(record)
        else:
            yield from self._statistics(record)

    def skip(self, record: Record) -> None:
        """Pass over a known record, but note its group, and how many tasks come before those of the next record."""
        if self._restarts is not None:
            self._restarts.note(record)
        if record.qsg and is_queue_manager(record.qsg):
            self._groups.learn(record.ssid, record.qsg)
        if (record.type, record.subtype) == (115, 231) and is_queue_manager(record.ssid):
            for _ in self._channel_initiator(record):
                pass

    def _statistics(self, record: Record) -> Iterator[PartialSample]:
        whole: dict[str, Value | None] = {}
        parts: list[dict[str, Value]] = []
        for section in sections(record):
            match section.layout.name:
                case "QPST":
                    yield single_sample(section, BUFFER_POOL, "pool")
                case "QIS1":
                    yield single_sample(section, PAGE_SET, "psno")
                case "QJST":
                    yield single_sample(section, LOG)
                case "QMST" | "QIST" | "QLST" | "Q5ST":
                    whole |= fields_of(section, QUEUE_MANAGER)
                case "QSRS":
                    yield single_sample(section, STORAGE)
                case "QSPH" | "QSGM":
                    parts.append(section.fields())
                case "QEST":
                    if record.qsg != "":
                        yield from structure_samples(section)
                case "QESD":
                    if record.qsg != "":
                        yield data_set_sample(section)
                case "QQST":
                    yield self._queue(section)
                case "QCST":
                    yield channel_sample(section)
        if whole:
            # The sections about the queue manager as a whole are one sample.
            yield object_sample(record, QUEUE_MANAGER, "", filled(QUEUE_MANAGER.wanted, {}) | whole)
        if parts:
            # A record has many small parts of the storage; their sums and the greatest of them are kept.
            pools = record.subtype == _POOL_RECORD
            yield object_sample(
                record, POOLS if pools else DIRECT, "", pool_totals(parts) if pools else direct_totals(parts)
            )

    def _queue(self, section: Section) -> PartialSample:
        fields = fields_of(section, QUEUE)
        name, flags = str(fields["qnam"] or ""), fields["flag"]
        if not isinstance(flags, int):
            # The section is too short for its flags.
            flags, name = 0, ""
        if flags & _PARTIAL:
            # A partial section has no depth, though the field is there.
            fields |= dict.fromkeys(("dpth", "dphi", "dplo", "mage"))
        record = section.record
        if not flags & _SHARED:
            return object_sample(record, QUEUE, name, fields)
        self._learn(record, fields["qsgn"])
        # A member that reports the depth counts before one that does not.
        return group_sample(object_sample(record, QUEUE, name, fields, rank=0 if flags & _PARTIAL else 1))

    def _channel_initiator(self, record: Record) -> Iterator[PartialSample]:
        """The initiator and its tasks, which are numbered in their order over all records of an interval.

        Nothing for a record that comes once more before the last of its interval, as where dumps overlap.
        """
        assert record.end_us is not None
        key = record.sysid, record.ssid, record.end_us
        identity, counted = identity_of(record), self._counted.setdefault(key, set())
        if identity in counted:
            return
        counted.add(identity)
        places = self._places.setdefault(key, {})
        fields: dict[str, Value | None] = {}
        initiator = filled(CHANNEL_INITIATOR.wanted, {})
        for section in sections(record):
            if section.layout.name == "QCCT":
                initiator = fields_of(section, CHANNEL_INITIATOR)
                self._learn(record, initiator["qsgn"])
                continue
            name = section.layout.name
            mapping = _TASKS[name]
            place = places.get(name, 0)
            places[name] = place + 1
            task = fields_of(section, mapping)
            for total, value in task_totals(mapping, task).items():
                fields[total] = merged(CHANNEL_INITIATOR.overrides[total], fields.get(total), value)
            yield object_sample(record, mapping, str(place), task)
        if not record.more:
            del self._places[key], self._counted[key]
        elif len(self._places) > _PLACES:
            oldest = next(iter(self._places))
            del self._places[oldest], self._counted[oldest]
        yield replace(object_sample(record, CHANNEL_INITIATOR, "", initiator | fields), joint=True)

    def _applications(self, record: Record) -> Iterator[PartialSample]:
        """One for each queue that a task used, named after its job or CICS transaction."""
        who: dict[str, Value | None] = {}
        task: dict[str, Value | None] = {}
        began = ended = 0
        found: dict[str, PartialSample] = {}
        for section in sections(record):
            if section.layout.name == "WTID":
                who = fields_of(section, APPLICATION)
            elif section.layout.name == "WTAS":
                task = fields_of(section, APPLICATION)
                stamps = section.record.data[section.offset + 664 : section.offset + 680]
                began, ended = int.from_bytes(stamps[:8], "big"), int.from_bytes(stamps[8:], "big")
            else:
                fields = fields_of(section, APPLICATION)
                queue = queue_opened(fields)
                if not is_name(queue):
                    self.unnamed.note(record, "a task's queue", str(queue or ""))
                    continue
                name = f"{user_name(who)}/{queue}"
                known = found.get(name)
                # What a task used beside its queues counts once for each queue.
                beside = task if known is None else dict.fromkeys(task)
                sample = object_sample(record, APPLICATION, name, fields | who | beside)
                found[name] = sample if known is None else known.merge(sample, APPLICATION.merge_rules)
        for sample in found.values():
            lasted = (ended - began) >> 12
            # Releases without intervals of running tasks report a task from its beginning to its end.
            spans = {("", 0): lasted} if 0 < began < ended and lasted <= _LONGEST_TASK_US else {}
            yield replace(sample, ts=nearest_minute(sample.ts), probe="SMF 116-1", spans=spans, joint=True)
