"""What RMF measured, as partial samples of queue managers, structures and groups.

RMF knows systems, structures and classes of work of all products: a system is a queue manager's by MQ's own records, which
name both, a structure is a group's where its name begins with the group's name in MQ, and a class is that of an address space
where the site declares it. What belongs to no known one is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mqvitals_agent.smf.layout.field import NO_COUNT, SectionLayout, Value
from mqvitals_agent.smf.layout.rmf import CARD, CLASS, CPU, ENGINE, FACILITY, PERIOD, REQUESTS, SECTIONS, STORAGE
from mqvitals_agent.smf.measured_kinds import ADDRESS_SPACES, MEASURED_AT, STRUCTURES
from mqvitals_agent.smf.metric_mapping import AHEAD
from mqvitals_agent.smf.partial_sample import PartialSample
from mqvitals_agent.smf.record import Record, SmfError, utc_text
from mqvitals_agent.store.writer import Store
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import MINUTE_MS

_PREFIX: Final = 4
"""The characters of a group's name in MQ, with which z/OS's names of its structures begin; shorter ones end in @."""
_GENERAL: Final = 0
"""SMF70TYP of a processor that runs all work, not only what a zIIP may run."""
_VARIED, _ONLINE = 0x02, 0x01
_WHOLE_CARD: Final = 0
_VALID: Final = 0x80
_LONGEST_REQUEST_US: Final = 60_000_000
_MOST_BUSY: Final = 1.05
"""More than all of the interval is damage; a little more is the clocks'."""
_HUNDREDTHS: Final = 10_000
WORKLOAD: Final = 72
"""The type of the records of workload activity: one of each class, so there are many."""
_REPORT_CLASS, _NO_ACTIVITY = 0x80, 0x40
_HAS_RESOURCES: Final = 0x80
_NORMAL_SPEED: Final = 256
_MOST_PROCESSORS: Final = 256
"""More than any system has; a class cannot have used so many."""


class Systems:
    """Which queue managers run on which system, and what their groups are called, by MQ's own records."""

    def __init__(self) -> None:
        self._system_of: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}

    def recall(self, queue_manager: str, system: str) -> None:
        """Note where a queue manager ran some time ago."""
        self._system_of.setdefault(queue_manager, system)

    def learn(self, record: Record) -> None:
        """Note the system of the queue manager that wrote a record."""
        if record.ssid and record.sysid:
            self._system_of[record.ssid] = record.sysid

    def name_group(self, in_mq: str, owner: str) -> None:
        """``owner`` is what the group called ``in_mq`` is called here."""
        if 0 < len(in_mq) <= _PREFIX:
            self._prefixes[in_mq.ljust(_PREFIX, "@")] = owner

    def queue_managers(self, system: str) -> tuple[str, ...]:
        """Those on a system."""
        return tuple(sorted(name for name, on in self._system_of.items() if on == system))

    def structure(self, name: str) -> tuple[str, str] | None:
        """Group and name in MQ of a structure; None: of no known group."""
        owner = self._prefixes.get(name[:_PREFIX])
        return (owner, name[_PREFIX:]) if owner and name[_PREFIX:].strip() else None


def recall_systems(systems: Systems, store: Store) -> None:
    """Learn what the store knows of who runs where, and of groups. Raises StoreError."""
    for name in store.progress():
        on = store.value_now(ObjectName(name, "queue_manager"), "smf_system")
        if isinstance(on, str):
            systems.recall(name, on)
    for group in store.groups():
        in_mq = store.value_now(ObjectName(group, "qsg"), "name")
        systems.name_group(in_mq if isinstance(in_mq, str) else group, group)


class AddressSpaces:
    """The declared classes of the address spaces of queue managers, and what records of workload activity had of them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._names: dict[str, frozenset[str]] = {
            space: frozenset(map(_class_name, facts.declared("queue_manager", f"{space.lower()}_class")))
            for space in ADDRESS_SPACES
        }
        self._seen: dict[str, set[str]] = {}
        self._newest: dict[str, Record] = {}

    @property
    def seen(self) -> bool:
        """Whether there were records of workload activity."""
        return bool(self._seen)

    def takes(self, record: Record) -> bool:
        """Whether the class of a record of workload activity is declared to hold an address space."""
        name = next((_class_name(each["mcnm"]) for each in _sections(record, CLASS)), "")
        self._seen.setdefault(record.sysid, set()).add(name)
        newest = self._newest.setdefault(record.sysid, record)
        if (record.end_us or 0) > (newest.end_us or 0):
            self._newest[record.sysid] = record
        return any(name in names for names in self._names.values())

    def held_by(self, name: str, queue_manager: str) -> Iterator[str]:
        """The address spaces of a queue manager that a class holds."""
        return (space for space in ADDRESS_SPACES if self._class_of(queue_manager, space) == _class_name(name))

    def undeclared(self, systems: Systems) -> Iterator[PartialSample]:
        """That there are no figures of an address space, as its class is not declared, where records have classes."""
        for system, record in sorted(self._newest.items()):
            for queue_manager in systems.queue_managers(system):
                for space in ADDRESS_SPACES:
                    if not self._class_of(queue_manager, space):
                        name = ObjectName(queue_manager, "queue_manager")
                        yield _sample(record, name, {"system": record.sysid}, space=space)

    def unseen(self, systems: Systems) -> Iterator[str]:
        """Sentences about declared classes that are not among those that a system's records have."""
        for system, seen in sorted(self._seen.items()):
            for queue_manager in systems.queue_managers(system):
                for space in ADDRESS_SPACES:
                    name = self._class_of(queue_manager, space)
                    if name and name not in seen:
                        yield (
                            f"{queue_manager}: RMF's records of {system} have no class {name}, which is declared as"
                            f" {space.lower()}_class"
                        )

    def _class_of(self, queue_manager: str, space: str) -> str:
        facts = self._facts.of(ObjectName(queue_manager, "queue_manager"))
        return _class_name(facts.get(f"{space.lower()}_class", ""))


def _class_name(name: object) -> str:
    return str(name).strip().upper()


def measured_samples(record: Record, systems: Systems, spaces: AddressSpaces | None = None) -> list[PartialSample]:
    """The samples of a record of RMF; empty where nothing in it belongs to a known queue manager or group.

    Raises SmfError for figures that cannot be.
    """
    match record.type, record.subtype:
        case 70, 1:
            fields = _processors(record)
            return _of_queue_managers(record, systems, fields | {"system": record.sysid} if fields else {})
        case 70, 2:
            return _of_queue_managers(record, systems, _cards(record))
        case 72, _:
            return [] if spaces is None else list(_workload(record, systems, spaces))
        case _:
            return list(_facility(record, systems))


def _of_queue_managers(record: Record, systems: Systems, fields: Mapping[str, Value | None]) -> list[PartialSample]:
    if not fields:
        return []
    return [_sample(record, ObjectName(name, "queue_manager"), fields) for name in systems.queue_managers(record.sysid)]


def _sections(record: Record, wanted: SectionLayout) -> Iterator[dict[str, Value]]:
    for number, layout in SECTIONS[record.type, record.subtype].items():
        if layout is wanted:
            offset, length, instances = record.triplets[number]
            shape = layout.shape(length)
            for index in range(instances):
                yield shape.fields(record.data, offset + index * length)


def _processors(record: Record) -> dict[str, Value | None]:
    """How busy the general processors were that were online all the time: not waiting, of the time that they were not
    parked.
    """
    assert record.interval_us
    busy = there = 0
    for each in _sections(record, CPU):
        number, state, waited, parked = (
            int(each["cid"]),
            int(each["cnf"]),
            int(each["wat"]) >> 12,
            int(each["pat"]) >> 12,
        )
        if each["typ"] != _GENERAL or state & _VARIED or not state & _ONLINE:
            continue
        if max(waited, parked, waited + parked) > _MOST_BUSY * record.interval_us:
            raise _impossible(
                record, f"processor {number} waited {waited / 1e6:,.0f} s and was parked {parked / 1e6:,.0f} s"
            )
        unparked = max(record.interval_us - parked, 0)
        busy += max(unparked - waited, 0)
        there += unparked
    return {"busy": round(_HUNDREDTHS * busy / there)} if there else {}


def _cards(record: Record) -> dict[str, Value | None]:
    """How busy the busiest CCA coprocessor was, by all systems that use it, where the record tells them apart."""
    assert record.interval_us
    found: list[tuple[int, int]] = []
    for each in _sections(record, CARD):
        if each.get("scope", _WHOLE_CARD) != _WHOLE_CARD or not int(each["msk"]) & _VALID:
            continue
        if each["c0"] == NO_COUNT:
            raise _impossible(record, f"card {each['ax']} has a number of operations that is not whole")
        share = _real(str(each["t0"])) * _real(str(each["sf"])) * 1_000_000 / record.interval_us
        if not 0 <= share <= _MOST_BUSY:
            raise _impossible(record, f"card {each['ax']} was busy {100 * share:.4g} % of the time")
        found.append((round(_HUNDREDTHS * min(share, 1.0)), int(each["ax"])))
    if not found:
        return {}
    share, card = max(found)
    return {"busiest": f"{share:05d} card {card}"}


def _workload(record: Record, systems: Systems, spaces: AddressSpaces) -> Iterator[PartialSample]:
    """What a class used, for each address space that it holds."""
    for control in _sections(record, CLASS):
        held = [
            (name, space)
            for name in systems.queue_managers(record.sysid)
            for space in spaces.held_by(str(control["mcnm"]), name)
        ]
        if not held:
            continue
        fields = _activity(record, control)
        for name, space in held:
            rank = bool(int(control["mscf"]) & _REPORT_CLASS)
            yield _sample(record, ObjectName(name, "queue_manager"), fields, space=space, rank=rank)


def _activity(record: Record, control: Mapping[str, Value]) -> dict[str, Value | None]:
    """The fields of a class: its name, processor time on general processors and zIIPs in hundredths of a per cent of one,
    and its samples; None for what the record does not say.
    """
    assert record.interval_us
    flags, name = int(control["mscf"]), str(control["mcnm"])
    periods = [] if flags & _NO_ACTIVITY else [each for each in _sections(record, PERIOD) if _valid(each)]
    found: dict[str, Value | None] = {
        "system": record.sysid,
        "class": f"{'report' if flags & _REPORT_CLASS else 'service'} class {name}{_several(control, periods)}",
        "cpu": None,
        "ziip": None,
        "delayed": sum(int(each["ccde"]) for each in periods) if periods and "ccde" in periods[0] else None,
        "samples": round(_total(record, periods, "ctsa") or 0) if periods and "ctsa" in periods[0] else None,
    }

    def time_us(units: float | None, coefficient: str) -> float | None:
        """R723MCPU and R723MSRB are 10,000 times a coefficient, R723MADJ is 16,000,000 / (service units a second)."""
        by = int(control[coefficient])
        return units * int(control["madj"]) * 625 / by if units is not None and by else None

    total = time_us(_total(record, periods, "ccpu"), "mcpu")
    requests = time_us(_total(record, periods, "csrb"), "msrb")
    ziip, zaap = (time_us(_total(record, periods, key), "mcpu") for key in ("csup", "cifa"))
    if total is None or requests is None:
        return found
    total += requests + sum(_total(record, periods, key) or 0 for key in ("crct", "ciit", "chst"))
    elsewhere = sum(
        time * int(control.get(speed, _NORMAL_SPEED)) / _NORMAL_SPEED
        for time, speed in ((ziip, "nffs"), (zaap, "nffi"))
        if time
    )
    most = _MOST_PROCESSORS * record.interval_us
    if max(total, ziip or 0) > most or elsewhere > _MOST_BUSY * total:
        raise _impossible(
            record, f"class {name} used {total / 1e6:.4g} s of processors, {(ziip or 0) / 1e6:.4g} s of zIIPs"
        )
    found["cpu"] = round(_HUNDREDTHS * max(total - elsewhere, 0) / record.interval_us)
    found["ziip"] = None if ziip is None else round(_HUNDREDTHS * ziip / record.interval_us)
    return found


def _valid(period: Mapping[str, Value]) -> bool:
    return bool(int(period["cadf"]) & _HAS_RESOURCES)


def _several(control: Mapping[str, Value], periods: list[dict[str, Value]]) -> str:
    """How many address spaces a class holds, as far as samples tell, where it is more than one."""
    taken = int(control["mtv"])
    spaces = round(sum(int(each.get("csac", 0)) for each in periods) / taken) if taken else 0
    return f", about {spaces:,} address spaces" if spaces > 1 else ""


def _total(record: Record, periods: list[dict[str, Value]], key: str) -> float | None:
    """A field of all periods; None where there is none, or the release's section does not have it."""
    values = [_real(str(each[key])) for each in periods if key in each]
    if any(value < 0 for value in values):
        raise _impossible(record, f"R723{key.upper()} is below 0")
    return sum(values) if values else None


def _real(digits: str) -> float:
    """A long hexadecimal floating-point number."""
    data = bytes.fromhex(digits)
    size = int.from_bytes(data[1:], "big") * 16.0 ** ((data[0] & 0x7F) - 64 - 14)
    return -size if data[0] & 0x80 else size


def _facility(record: Record, systems: Systems) -> Iterator[PartialSample]:
    """The requests of a system to the structures of each group, and of the group the coupling facility itself."""
    name = next((str(each["fnam"]).strip() for each in _sections(record, FACILITY)), "")
    owners: set[str] = set()
    for each in _sections(record, REQUESTS):
        whole = str(each["snam"]).rstrip()
        known = systems.structure(whole)
        if known is None or not known[1].isprintable():
            continue
        _check_requests(record, whole, each)
        owners.add(known[0])
        fields: dict[str, Value | None] = {key: value for key, value in each.items() if key in STRUCTURES.wanted}
        yield _sample(record, ObjectName(known[0], "cf_structure", known[1]), fields | {"cf": name}, joint=True)
    shares = _of_facility(record, name) if owners else {}
    for owner in sorted(owners) if shares else ():
        yield _sample(record, ObjectName(owner, "qsg"), shares, joint=True)


def _check_requests(record: Record, structure: str, fields: Mapping[str, Value]) -> None:
    """Raises SmfError for counts that are not whole, and for times that no such number of requests takes."""
    for key in ("ssta", "strc", "sarc", "ssrc", "sqrc"):
        if fields[key] == NO_COUNT:
            raise _impossible(record, f"R744{key.upper()} of structure {structure} is no whole number")
    for count, time in (("sarc", "satm"), ("ssrc", "sstm"), ("sqrc", "sqtm")):
        requests, took = int(fields[count]), int(fields[time])
        if took > requests * _LONGEST_REQUEST_US:
            raise _impossible(
                record, f"structure {structure} has {took:,} us in R744{time.upper()} for {requests:,} requests"
            )


def _of_facility(record: Record, name: str) -> dict[str, Value | None]:
    """Busy and free shares of the coupling facility, in hundredths of a per cent; none where the record has neither."""
    found: dict[str, Value | None] = {}
    busy = waiting = 0
    for each in _sections(record, ENGINE):
        busy += int(each["pbsy"])
        waiting += int(each["pwai"])
    if busy + waiting:
        found["busiest"] = f"{round(_HUNDREDTHS * busy / (busy + waiting)):05d} {name}"
    for each in _sections(record, STORAGE):
        total, free = int(each["gtsd"]), int(each["gtsf"])
        if free > total:
            raise _impossible(record, f"coupling facility {name} has {free:,} of {total:,} blocks free")
        if total:
            found["free"] = round(_HUNDREDTHS * free / total)
    return found


def _sample(
    record: Record,
    name: ObjectName,
    fields: Mapping[str, Value | None],
    *,
    joint: bool = False,
    space: str = "",
    rank: int = 0,
) -> PartialSample:
    end_us, ahead = record.end_us, record.utc_offset_us
    assert end_us is not None
    assert record.interval_us is not None
    assert ahead is not None
    local = utc_text(end_us + ahead) or ""
    values = dict(fields) | {AHEAD: ahead, MEASURED_AT: f"{local[:10]} {local[11:16].replace(':', '.')}"}
    # The members' intervals end at the same time, to the second.
    ts = (end_us // 1000 + MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS if joint else end_us // 1000
    return PartialSample(
        object=name,
        group=joint,
        probe=f"SMF {record.type}-{record.subtype} {space}".rstrip(),
        ts=ts,
        member=record.sysid,
        spans={(record.sysid, end_us): record.interval_us},
        stamp=(end_us, rank, f"{record.sysid} {sorted(map(str, values.values()))}"),
        fields=values,
        joint=joint,
    )


def _impossible(record: Record, what: str) -> SmfError:
    return SmfError(f"{record.type}/{record.subtype} of {record.sysid}: {what}", record.offset)
