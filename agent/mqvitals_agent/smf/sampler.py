"""The partial samples of one record, section by section.

Most objects have one section, and their sample ends with the record's interval, to the millisecond. These have several:

* a channel, whose instances and records of one collection all end at the same time;
* a structure or shared queue of the group: its members' intervals end at about the same time, so the sample stands at
  the nearest full minute;
* an application, whose tasks end at any time: likewise at the nearest full minute.

An object whose name is empty or not printable is left out and noted in ``Sampler.unnamed``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from mqvitals_agent.poll.kinds.channel import WORST_STATUS
from mqvitals_agent.smf.kinds import (
    ADAPTER,
    APPLICATION,
    BUFFER_POOL,
    BY_KIND,
    CF_STRUCTURE,
    CHANNEL,
    CHANNEL_INITIATOR,
    DIRECT,
    DISPATCHER,
    DNS_TASK,
    LOG,
    PAGE_SET,
    POOLS,
    QUEUE,
    QUEUE_MANAGER,
    SMDS,
    SSL_TASK,
    STORAGE,
    transaction,
)
from mqvitals_agent.smf.layout.field import SectionLayout, SectionShape, Value
from mqvitals_agent.smf.layout.log_and_storage import QSRS
from mqvitals_agent.smf.metric_mapping import AHEAD, UNSET, MetricMapping, filled
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample, Recency, merged
from mqvitals_agent.smf.record import Record, SmfError, identity_of
from mqvitals_agent.smf.restart import RestartDetector
from mqvitals_agent.smf.section import Section, sections
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.application import CONNECTION_TYPES, GENERATED_PREFIXES, QUEUE_TYPES

MINUTE_MS: Final = 60_000
_SLOTS: Final = 64
_SLOT: Final = 64
_SHARED: Final = 0x80000000
_PARTIAL: Final = 0x40000000
_RANK: Final = {status: rank for rank, status in enumerate(WORST_STATUS)}
_TASKS: Final = {"QCTADP": ADAPTER, "QCTDSP": DISPATCHER, "QCTSSL": SSL_TASK, "QCTDNS": DNS_TASK}
_TYPE_NAMES: Final = {number: name for name, number in CONNECTION_TYPES.items()}
_MODEL: Final = QUEUE_TYPES["MODEL"]
_MANAGED: Final = ("SYSTEM.MANAGED.DURABLE.", "SYSTEM.MANAGED.NDURABLE.")
"""Prefixes of the queues that the queue manager creates for managed subscriptions."""
_STAMPED: Final = re.compile(r"(.*?[^0-9A-F])[0-9A-F]{16,24}")
"""The name of a dynamic queue: z/OS replaces the asterisk by a time stamp."""
_POOL_RECORD: Final = 5
"""The subtype of records about storage pools."""
_PLACES: Final = 64
_WHOLE: Final = 1 << 16
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
                    yield _single(section, BUFFER_POOL, "pool")
                case "QIS1":
                    yield _single(section, PAGE_SET, "psno")
                case "QJST":
                    yield _single(section, LOG)
                case "QMST" | "QIST" | "QLST" | "Q5ST":
                    whole |= _fields(section, QUEUE_MANAGER)
                case "QSRS":
                    yield _single(section, STORAGE)
                case "QSPH" | "QSGM":
                    parts.append(section.fields())
                case "QEST":
                    if record.qsg != "":
                        yield from _structures(section)
                case "QESD":
                    if record.qsg != "":
                        yield _data_set(section)
                case "QQST":
                    yield self._queue(section)
                case "QCST":
                    yield _channel(section)
        if whole:
            # The sections about the queue manager as a whole are one sample.
            yield _sample(record, QUEUE_MANAGER, "", filled(QUEUE_MANAGER.wanted, {}) | whole)
        if parts:
            # A record has many small parts of the storage; their sums and the greatest of them are kept.
            pools = record.subtype == _POOL_RECORD
            yield _sample(record, POOLS if pools else DIRECT, "", _of_pools(parts) if pools else _of_direct(parts))

    def _queue(self, section: Section) -> PartialSample:
        fields = _fields(section, QUEUE)
        name, flags = str(fields["qnam"] or ""), fields["flag"]
        if not isinstance(flags, int):
            # The section is too short for its flags.
            flags, name = 0, ""
        if flags & _PARTIAL:
            # A partial section has no depth, though the field is there.
            fields |= dict.fromkeys(("dpth", "dphi", "dplo", "mage"))
        record = section.record
        if not flags & _SHARED:
            return _sample(record, QUEUE, name, fields)
        self._learn(record, fields["qsgn"])
        # A member that reports the depth counts before one that does not.
        return _group_sample(_sample(record, QUEUE, name, fields, rank=0 if flags & _PARTIAL else 1))

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
                initiator = _fields(section, CHANNEL_INITIATOR)
                self._learn(record, initiator["qsgn"])
                continue
            name = section.layout.name
            mapping = _TASKS[name]
            place = places.get(name, 0)
            places[name] = place + 1
            task = _fields(section, mapping)
            for total, value in _of_task(mapping, task).items():
                fields[total] = merged(CHANNEL_INITIATOR.overrides[total], fields.get(total), value)
            yield _sample(record, mapping, str(place), task)
        if not record.more:
            del self._places[key], self._counted[key]
        elif len(self._places) > _PLACES:
            oldest = next(iter(self._places))
            del self._places[oldest], self._counted[oldest]
        yield replace(_sample(record, CHANNEL_INITIATOR, "", initiator | fields), joint=True)

    def _applications(self, record: Record) -> Iterator[PartialSample]:
        """One for each queue that a task used, named after its job or CICS transaction."""
        who: dict[str, Value | None] = {}
        task: dict[str, Value | None] = {}
        began = ended = 0
        found: dict[str, PartialSample] = {}
        for section in sections(record):
            if section.layout.name == "WTID":
                who = _fields(section, APPLICATION)
            elif section.layout.name == "WTAS":
                task = _fields(section, APPLICATION)
                stamps = section.record.data[section.offset + 664 : section.offset + 680]
                began, ended = int.from_bytes(stamps[:8], "big"), int.from_bytes(stamps[8:], "big")
            else:
                fields = _fields(section, APPLICATION)
                queue = _queue(fields)
                if not is_name(queue):
                    self.unnamed.note(record, "a task's queue", str(queue or ""))
                    continue
                name = f"{_user(who)}/{queue}"
                known = found.get(name)
                # What a task used beside its queues counts once for each queue.
                beside = task if known is None else dict.fromkeys(task)
                sample = _sample(record, APPLICATION, name, fields | who | beside)
                found[name] = sample if known is None else known.merge(sample, APPLICATION.merge_rules)
        for sample in found.values():
            lasted = (ended - began) >> 12
            # Releases without intervals of running tasks report a task from its beginning to its end.
            spans = {("", 0): lasted} if 0 < began < ended and lasted <= _LONGEST_TASK_US else {}
            yield replace(sample, ts=_minute(sample.ts), probe="SMF 116-1", spans=spans, joint=True)


def _of_task(mapping: MetricMapping, task: Mapping[str, Value | None]) -> dict[str, Value | None]:
    """What a task adds to the channel initiator's own fields."""
    requests, elapsed, cpu, longest = (
        value if isinstance(value := task.get(key), int) else 0 for key in ("reqn", "eltm", "cptm", "lsdu")
    )
    if mapping is ADAPTER:
        return {
            "adapters_unused": int(not requests),
            "adapter_requests": requests,
            "adapter_cpu": cpu,
            "adapter_elapsed": elapsed,
        }
    if mapping is DISPATCHER:
        return {"dispatcher_busiest": elapsed, "dispatcher_idlest": elapsed}
    if mapping is SSL_TASK:
        return {"ssltasks_unused": int(not requests), "ssl_longest": longest}
    return {}


def _single(section: Section, mapping: MetricMapping, name: str = "") -> PartialSample:
    fields = _fields(section, mapping)
    number = fields[name] if name else None
    return _sample(section.record, mapping, "" if number is None else str(number), fields)


def _of_pools(parts: Sequence[Mapping[str, Value]]) -> dict[str, Value | None]:
    """How many storage pools there are, and which is the largest and which grew most since the record before."""
    sizes = [
        (_int(part, "stor"), _int(part, "stor") - _int(part, "ostor"), str(part.get("name", ""))) for part in parts
    ]
    largest, _, name = max(sizes)
    _, most, growing = max(sizes, key=itemgetter(1, 0, 2))
    return {
        "pools": len(parts),
        "grown": sum(grown for _, grown, _ in sizes),
        "largest": f"{name or 'unnamed'}: {largest} bytes",
        "growing": f"{growing or 'unnamed'}: {most} bytes" if most > 0 else "",
    }


def _of_direct(parts: Sequence[Mapping[str, Value]]) -> dict[str, Value | None]:
    """How often storage was got without a pool, and which program has most of it."""
    held: dict[str, int] = {}
    for part in parts:
        program = str(part.get("csect", "")) or "unnamed"
        held[program] = held.get(program, 0) + _int(part, "lvtot")
    program, most = max(held.items(), key=itemgetter(1, 0))
    return {"requests": sum(_int(part, "count") for part in parts), "largest": f"{program}: {most} bytes"}


def _int(part: Mapping[str, Value], key: str) -> int:
    value = part.get(key)
    return value if isinstance(value, int) else 0


def _structures(section: Section) -> Iterator[PartialSample]:
    record, shape = section.record, _slot()
    for slot in range(_SLOTS):
        at = section.offset + slot * _SLOT
        if 8 + (slot + 1) * _SLOT > record.triplets[6].length:
            return
        if not record.data[at + 8]:
            continue
        fields = filled(CF_STRUCTURE.wanted, shape.fields(record.data, at))
        name = fields["str"]
        if isinstance(name, str) and name:
            yield _group_sample(_sample(record, CF_STRUCTURE, name, fields))


def _data_set(section: Section) -> PartialSample:
    fields = _fields(section, SMDS)
    structure = fields["str"]
    sample = _sample(section.record, SMDS, f"{structure}/{section.record.ssid}" if structure else "", fields)
    return replace(sample, group=True, object=sample.object._replace(owner=""))


def _channel(section: Section) -> PartialSample:
    fields = _fields(section, CHANNEL)
    status, started = fields["chst"], fields["strt"]
    messages = fields["nmsg"]
    weight = messages if isinstance(messages, int) and messages else 1
    for average, lowest, highest in (("ntav", "ntmn", "ntmx"), ("etav", "etmn", "etmx")):
        mean, least, most = fields[average], fields[lowest], fields[highest]
        measured = isinstance(mean, int) and least not in UNSET and bool(mean or most)
        fields[f"{average}_total"] = mean * weight if measured and isinstance(mean, int) else 0
        fields[f"{average}_weight"] = weight if measured else 0
        if not measured:
            fields[lowest], fields[highest] = max(UNSET), 0
        del fields[average]
    longest, stamp = fields["ntmx"], fields.pop("ntdt")
    fields["ntmx_at"] = (longest << 64) | stamp if isinstance(longest, int) and isinstance(stamp, int) else None
    rank = -_RANK.get(status, 0) if isinstance(status, int) else -len(WORST_STATUS)
    sample = _sample(section.record, CHANNEL, str(fields["chnm"] or ""), fields, rank=rank)
    end, _, rest = sample.stamp
    began = started if isinstance(started, int) else 0
    return replace(sample, joint=True, stamp=(end, rank, f"{began:020d} {rest}"))


def _user(who: Mapping[str, Value | None]) -> str:
    kind = who.get("wtid.atyp")
    job = str(who.get("wtid.ccn") or "")
    named = transaction(kind, who.get("wtid.cori")) if kind == CONNECTION_TYPES["CICS"] else ""
    return named or job or (_TYPE_NAMES.get(kind, "") if isinstance(kind, int) else "") or "?"


def _queue(fields: Mapping[str, Value | None]) -> Value | None:
    """The queue that was opened; for a dynamic queue its model, because each dynamic queue has a name of its own."""
    opened, found = fields["objname"], fields["basename"]
    made = fields["qtype"] == _MODEL or (found != opened and str(found or "").startswith(GENERATED_PREFIXES))
    name = opened if made and opened else found or opened
    return _of_model(name) if isinstance(name, str) else name


def _of_model(name: str) -> str:
    """``CSQ.*`` for ``CSQ.C9422A60F4386075``: the unique suffix of a dynamic queue is left out."""
    for prefix in _MANAGED:
        if name.startswith(prefix) and len(name) > len(prefix):
            return f"{prefix}*"
    found = _STAMPED.fullmatch(name)
    return f"{found[1]}*" if found else name


def _minute(ts: int) -> int:
    return (ts + MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS


def _group_sample(sample: PartialSample) -> PartialSample:
    name = sample.object._replace(owner="")
    return replace(sample, object=name, group=True, ts=_minute(sample.ts), joint=True)


def _sample(
    record: Record, mapping: MetricMapping, name: str, fields: dict[str, Value | None], *, rank: int = 0
) -> PartialSample:
    end_us = record.end_us
    assert end_us is not None
    ahead = record.utc_offset_us
    fields[AHEAD] = ahead
    stamp: Recency = (end_us, rank, repr([fields.get(key) for key in mapping.recency_fields]))
    # A slash is a part of the object name.
    return PartialSample(
        object=ObjectName(record.ssid, mapping.kind.name, name),
        group=False,
        probe=f"SMF {record.type}-{record.subtype}",
        ts=end_us // 1000,
        member=record.ssid,
        spans={} if record.interval_us is None else {(record.ssid, end_us): record.interval_us},
        stamp=stamp,
        fields=fields,
    )


def _fields(section: Section, mapping: MetricMapping) -> dict[str, Value | None]:
    """The used fields of a section, None for those that this release does not have; only the keys of this section."""
    shape, keys = _reduced(mapping.kind.name, section.layout, section.shape)
    values = shape.fields(section.record.data, section.offset)
    return {key: values.get(name) for key, name in keys}


@lru_cache(256)  # a damaged file may hold any length
def _reduced(kind: str, layout: SectionLayout, whole: SectionShape) -> tuple[SectionShape, tuple[tuple[str, str], ...]]:
    """The shape of a reduced layout in the length of ``whole``, and the keys and names of its fields."""
    mapping = STORAGE if layout is QSRS else BY_KIND[kind]
    prefix = next(key for _, key, each in mapping.layouts if each is layout)
    # A damaged section may be too short for even one field.
    length = max((element.offset + element.field.length for element in whole.elements), default=0)
    shape = mapping.reduced(layout).shape(length)
    names = [element.name for element in mapping.reduced(layout).shape(_WHOLE).elements]
    return shape, tuple((prefix + name, name) for name in names)


@cache
def _slot() -> SectionShape:
    return CF_STRUCTURE.reduced(CF_STRUCTURE.layouts[0][2]).shape(8 + _SLOT)
