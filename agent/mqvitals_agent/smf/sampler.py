"""What one record tells, section by section.

Most objects are told whole by one section, at the end of the record's interval to the millisecond. Those that several records
tell in parts get one sample together:

* a channel, whose instances and records of one collection are added up: they all end at the same time;
* a structure or shared queue of the group: its members' intervals end at about the same time, so the sample stands at the
  nearest full minute, and what the members counted is added up;
* an application, whose tasks end at any time: likewise at the nearest full minute.

Names are checked here: an object whose name is empty or not printable is left out and noted in ``Sampler.unnamed``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Final

from mqvitals_agent.poll.channel import WORST
from mqvitals_agent.smf.kinds import (
    ADAPTER,
    APPLICATION,
    BUFFER_POOL,
    BY_KIND,
    CF_STRUCTURE,
    CHANNEL,
    CHANNEL_INITIATOR,
    DISPATCHER,
    DNS_TASK,
    LOG,
    PAGE_SET,
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
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample, Recency
from mqvitals_agent.smf.record import Record, SmfError
from mqvitals_agent.smf.restart import RestartDetector
from mqvitals_agent.smf.section import Section, sections
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.application import CONNECTION_TYPES, GENERATED_PREFIXES, QUEUE_TYPES

MINUTE_MS: Final = 60_000
_SLOTS: Final = 64
_SLOT: Final = 64
_SHARED: Final = 0x80000000
_PARTIAL: Final = 0x40000000
_RANK: Final = {status: rank for rank, status in enumerate(WORST)}
_TASKS: Final = {"QCTADP": ADAPTER, "QCTDSP": DISPATCHER, "QCTSSL": SSL_TASK, "QCTDNS": DNS_TASK}
_TYPE_NAMES: Final = {number: name for name, number in CONNECTION_TYPES.items()}
_MODEL: Final = QUEUE_TYPES["MODEL"]
_MANAGED: Final = ("SYSTEM.MANAGED.DURABLE.", "SYSTEM.MANAGED.NDURABLE.")
"""How the names of queues begin that the queue manager makes for managed subscriptions."""
_STAMPED: Final = re.compile(r"(.*?[^0-9A-F])[0-9A-F]{16,24}")
"""A name that ends in a time stamp, as z/OS puts it in the place of the asterisk of a dynamic queue's name."""
_PLACES: Final = 64
_WHOLE: Final = 1 << 16
_LONGEST_TASK_US: Final = 366 * 86_400_000_000


MOST_UNNAMED: Final = 20
"""So many objects without a name are described one by one, the others are counted."""


@dataclass(slots=True)
class UnnamedObjects:
    """Objects that are left out as their names cannot be: how many, and the first ``MOST_UNNAMED`` of them."""

    count: int = 0
    first: list[SmfError] = field(default_factory=list)

    def note(self, record: Record, what: str, name: str) -> None:
        """Count one: ``what`` says what has this name."""
        self.count += 1
        if len(self.first) < MOST_UNNAMED:
            why = f"is {name!a}, which holds what cannot be printed" if name.strip() else "is empty"
            of = f"{record.type}/{record.subtype} of {record.ssid or 'no queue manager'}"
            self.first.append(SmfError(f"{of}: the name of {what} {why}", record.offset))

    def lines(self) -> tuple[str, ...]:
        """In words, one thing a line; nothing where there is none."""
        if not self.count:
            return ()
        found = [f"left out for their names: {self.count:,}", *(f"  {each}" for each in self.first)]
        more = self.count - len(self.first)
        return (*found, *([f"  and {more:,} more"] if more else []))


def is_name(name: object) -> bool:
    """Whether a text can name an object: there is something in it, and all of it can be printed."""
    return isinstance(name, str) and name.isprintable() and bool(name.strip())


def is_queue_manager(name: str) -> bool:
    """Whether a text can name a queue manager of z/OS, which is a subsystem: it holds neither blanks nor slashes."""
    return is_name(name) and " " not in name and "/" not in name


class Sampler:
    """Reads records one after another. It learns the names of groups on its way, and where a channel initiator's tasks go on.

    ``unnamed`` are the objects, and whole records, that were left out for their names. ``restarts`` looks for restarts of queue managers
    in the order of the records; None: nobody does.
    """

    def __init__(self, groups: GroupNames, restarts: RestartDetector | None = None) -> None:
        self.unnamed = UnnamedObjects()
        self._restarts = restarts
        self._groups = groups
        self._places: dict[tuple[str, str, int], dict[str, int]] = {}
        self._statistics_before: dict[str, Record] = {}

    def totals(self, record: Record) -> Iterator[PartialSample]:
        """What the record tells. Things of a group whose name is to be found by ``Groups.placed`` have no owner yet."""
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
        for total in self._totals(record):
            single = BY_KIND[total.object.kind].kind.single
            if not is_name(total.object.name) and not (single and not total.object.name):
                self.unnamed.note(record, f"a {total.object.kind}", total.object.name)
            else:
                yield replace(total, restarted=True) if restarted else total

    def _dated(self, record: Record) -> Record | None:
        """A record of storage with an end in UTC: its header is local, by a zone that the system's record before it told."""
        before = self._statistics_before.get(record.sysid)
        if before is None or before.utc_offset_us is None:
            return None
        return replace(record, end_us=record.header_us - before.utc_offset_us, interval_us=before.interval_us)

    def _learn(self, record: Record, group: object) -> None:
        """The record tells the name of its queue manager's group, or does not."""
        if isinstance(group, str) and group:
            if is_queue_manager(group):
                self._groups.learn(record.ssid, group)
            else:
                self.unnamed.note(record, "the queue-sharing group", group)

    def _totals(self, record: Record) -> Iterator[PartialSample]:
        if record.type == 116 and record.subtype in (1, 2):
            yield from self._applications(record)
        elif (record.type, record.subtype) == (115, 231):
            yield from self._channel_initiator(record)
        else:
            yield from self._statistics(record)

    def pass_over(self, record: Record) -> None:
        """A record that is known already: it still tells its group's name, and how many tasks come before the next one's."""
        if self._restarts is not None:
            self._restarts.note(record)
        if record.qsg and is_queue_manager(record.qsg):
            self._groups.learn(record.ssid, record.qsg)
        if (record.type, record.subtype) == (115, 231) and is_queue_manager(record.ssid):
            for _ in self._channel_initiator(record):
                pass

    def _statistics(self, record: Record) -> Iterator[PartialSample]:
        for section in sections(record):
            match section.layout.name:
                case "QPST":
                    yield _whole(section, BUFFER_POOL, "pool")
                case "QIS1":
                    yield _whole(section, PAGE_SET, "psno")
                case "QJST":
                    yield _whole(section, LOG)
                case "Q5ST":
                    yield _whole(section, QUEUE_MANAGER)
                case "QSRS":
                    yield _whole(section, STORAGE)
                case "QEST":
                    if record.qsg != "":
                        yield from _structures(section)
                case "QESD":
                    if record.qsg != "" and (found := self._named(_data_set(section), section, "a data set")):
                        yield found
                case "QQST":
                    if found := self._named(self._queue(section), section, "a queue"):
                        yield found
                case "QCST":
                    if found := self._named(_channel(section), section, "a channel"):
                        yield found

    def _named(self, total: PartialSample | None, section: Section, what: str) -> PartialSample | None:
        """``total``; None, which is noted, says that the section's name is empty."""
        if total is None:
            self.unnamed.note(section.record, what, "")
        return total

    def _queue(self, section: Section) -> PartialSample | None:
        fields = _fields(section, QUEUE)
        name, flags = fields["qnam"], fields["flag"]
        if not isinstance(name, str) or not name or not isinstance(flags, int):
            return None
        if flags & _PARTIAL:
            # The depth is not told then, though the field is there.
            fields |= dict.fromkeys(("dpth", "dphi", "dplo", "mage"))
        record = section.record
        if not flags & _SHARED:
            return _total(record, QUEUE, name, fields)
        self._learn(record, fields["qsgn"])
        # A member that tells the depth counts before one that does not.
        return _of_group(_total(record, QUEUE, name, fields, rank=0 if flags & _PARTIAL else 1))

    def _channel_initiator(self, record: Record) -> Iterator[PartialSample]:
        """Its tasks are named by their place; records after one that says that more follow go on counting."""
        assert record.end_us is not None
        key = record.sysid, record.ssid, record.end_us
        places = self._places.setdefault(key, {})
        fields: dict[str, Value | None] = {}
        initiator = filled(CHANNEL_INITIATOR.wanted, {})
        for section in sections(record):
            if section.layout.name == "QCCT":
                initiator = _fields(section, CHANNEL_INITIATOR)
                self._learn(record, initiator["qsgn"])
                continue
            name = section.layout.name
            measures = _TASKS[name]
            place = places.get(name, 0)
            places[name] = place + 1
            task = _fields(section, measures)
            _count_task(fields, measures, task)
            yield _total(record, measures, str(place), task)
        if not record.more:
            self._places.pop(key, None)
        elif len(self._places) > _PLACES:
            self._places.pop(next(iter(self._places)))
        yield replace(_total(record, CHANNEL_INITIATOR, "", initiator | fields), joint=True)

    def _applications(self, record: Record) -> Iterator[PartialSample]:
        """One for each queue that a task used, under its job, or its transaction where it is CICS's."""
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
                # What a task did beside its queues counts once for each queue that it used.
                beside = task if known is None else dict.fromkeys(task)
                total = _total(record, APPLICATION, name, fields | who | beside)
                found[name] = total if known is None else known.plus(total, APPLICATION.putting_together)
        for total in found.values():
            lasted = (ended - began) >> 12
            # Releases that end no interval of a running task tell its whole life.
            spans = {("", 0): lasted} if 0 < began < ended and lasted <= _LONGEST_TASK_US else {}
            yield replace(total, ts=_minute(total.ts), probe="SMF 116-1", spans=spans, joint=True)


def _count_task(found: dict[str, Value | None], measures: MetricMapping, task: Mapping[str, Value | None]) -> None:
    """What a channel initiator's own metrics say of all its tasks of a sort."""
    requests, elapsed, cpu = (
        value if isinstance(value := task.get(key), int) else 0 for key in ("reqn", "eltm", "cptm")
    )
    if measures is ADAPTER:
        _plus(found, "adapters_unused", int(not requests))
        _plus(found, "adapter_requests", requests)
        _plus(found, "adapter_cpu", cpu)
        _plus(found, "adapter_elapsed", elapsed)
    elif measures is DISPATCHER:
        before = found.get("dispatcher_busiest"), found.get("dispatcher_idlest")
        most, least = (value if isinstance(value, int) else elapsed for value in before)
        found["dispatcher_busiest"], found["dispatcher_idlest"] = max(most, elapsed), min(least, elapsed)
    elif measures is SSL_TASK:
        _plus(found, "ssltasks_unused", int(not requests))
        longest, known = task.get("lsdu"), found.get("ssl_longest")
        found["ssl_longest"] = max(longest if isinstance(longest, int) else 0, known if isinstance(known, int) else 0)


def _plus(found: dict[str, Value | None], key: str, number: int) -> None:
    known = found.get(key)
    found[key] = number + (known if isinstance(known, int) else 0)


def _whole(section: Section, measures: MetricMapping, name: str = "") -> PartialSample:
    fields = _fields(section, measures)
    number = fields[name] if name else None
    return _total(section.record, measures, "" if number is None else str(number), fields)


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
            yield _of_group(_total(record, CF_STRUCTURE, name, fields))


def _data_set(section: Section) -> PartialSample | None:
    fields = _fields(section, SMDS)
    name = fields["str"]
    if not isinstance(name, str) or not name:
        return None
    total = _total(section.record, SMDS, f"{name}/{section.record.ssid}", fields)
    return replace(total, group=True, object=total.object._replace(owner=""))


def _channel(section: Section) -> PartialSample | None:
    fields = _fields(section, CHANNEL)
    name, status, started = fields["chnm"], fields["chst"], fields["strt"]
    if not isinstance(name, str) or not name:
        return None
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
    rank = -_RANK.get(status, 0) if isinstance(status, int) else -len(WORST)
    total = _total(section.record, CHANNEL, name, fields, rank=rank)
    end, _, rest = total.stamp
    began = started if isinstance(started, int) else 0
    return replace(total, joint=True, stamp=(end, rank, f"{began:020d} {rest}"))


def _user(who: Mapping[str, Value | None]) -> str:
    kind = who.get("wtid.atyp")
    job = str(who.get("wtid.ccn") or "")
    named = transaction(kind, who.get("wtid.cori")) if kind == CONNECTION_TYPES["CICS"] else ""
    return named or job or (_TYPE_NAMES.get(kind, "") if isinstance(kind, int) else "") or "?"


def _queue(fields: Mapping[str, Value | None]) -> Value | None:
    """The queue that a name led to; the model of one that was made when it was opened.

    Each of those has a name of its own: told one by one, none would say what they come to.
    """
    opened, found = fields["objname"], fields["basename"]
    made = fields["qtype"] == _MODEL or (found != opened and str(found or "").startswith(GENERATED_PREFIXES))
    name = opened if made and opened else found or opened
    return _of_model(name) if isinstance(name, str) else name


def _of_model(name: str) -> str:
    """``CSQ.*`` for ``CSQ.C9422A60F4386075``: what is put behind a dynamic queue's name makes it unique and says nothing."""
    for beginning in _MANAGED:
        if name.startswith(beginning) and len(name) > len(beginning):
            return f"{beginning}*"
    found = _STAMPED.fullmatch(name)
    return f"{found[1]}*" if found else name


def _minute(ts: int) -> int:
    return (ts + MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS


def _of_group(total: PartialSample) -> PartialSample:
    name = total.object._replace(owner="")
    return replace(total, object=name, group=True, ts=_minute(total.ts), joint=True)


def _total(
    record: Record, measures: MetricMapping, name: str, fields: dict[str, Value | None], *, rank: int = 0
) -> PartialSample:
    end_us = record.end_us
    assert end_us is not None
    ahead = record.utc_offset_us
    fields[AHEAD] = ahead
    stamp: Recency = (end_us, rank, repr([fields.get(key) for key in measures.deciding]))
    # A name from a record may hold anything; a slash belongs to it.
    return PartialSample(
        object=ObjectName(record.ssid, measures.kind.name, name),
        group=False,
        probe=f"SMF {record.type}-{record.subtype}",
        ts=end_us // 1000,
        member=record.ssid,
        spans={} if record.interval_us is None else {(record.ssid, end_us): record.interval_us},
        stamp=stamp,
        fields=fields,
    )


def _fields(section: Section, measures: MetricMapping) -> dict[str, Value | None]:
    """What matters of a section; None for what this release's does not have. Of several sections, only this one's keys."""
    shape, keys = _reduced(measures.kind.name, section.layout, section.shape)
    values = shape.fields(section.record.data, section.offset)
    return {key: values.get(name) for key, name in keys}


@lru_cache(256)  # a damaged file may hold any length
def _reduced(kind: str, layout: SectionLayout, whole: SectionShape) -> tuple[SectionShape, tuple[tuple[str, str], ...]]:
    """A table with nothing but the fields that matter, in the length of ``whole``, and their keys and names."""
    measures = STORAGE if layout is QSRS else BY_KIND[kind]
    beginning = next(key for _, key, each in measures.layouts if each is layout)
    # A damaged section may be too short for even one field.
    length = max((cell.offset + cell.field.length for cell in whole.cells), default=0)
    shape = measures.only(layout).shape(length)
    names = [cell.name for cell in measures.only(layout).shape(_WHOLE).cells]
    return shape, tuple((beginning + name, name) for name in names)


@cache
def _slot() -> SectionShape:
    return CF_STRUCTURE.only(CF_STRUCTURE.layouts[0][2]).shape(8 + _SLOT)
