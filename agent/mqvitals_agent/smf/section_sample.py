"""The partial sample of one section of a record: its fields as a mapping wants them, under the name of its object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from mqvitals_agent.poll.kinds.channel import WORST_STATUS
from mqvitals_agent.smf.kinds import (
    ADAPTER,
    BY_KIND,
    CF_STRUCTURE,
    CHANNEL,
    DISPATCHER,
    SMDS,
    SSL_TASK,
    STORAGE,
    transaction,
)
from mqvitals_agent.smf.layout.field import SectionLayout, SectionShape, Value
from mqvitals_agent.smf.layout.log_and_storage import QSRS
from mqvitals_agent.smf.metric_mapping import AHEAD, UNSET, MetricMapping, filled
from mqvitals_agent.smf.partial_sample import PartialSample, Recency
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.section import Section
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import MINUTE_MS
from mqvitals_rules.vocabulary.application import CONNECTION_TYPES, GENERATED_PREFIXES, QUEUE_TYPES

_SLOTS: Final = 64
_SLOT: Final = 64
_RANK: Final = {status: rank for rank, status in enumerate(WORST_STATUS)}
_TYPE_NAMES: Final = {number: name for name, number in CONNECTION_TYPES.items()}
_MODEL: Final = QUEUE_TYPES["MODEL"]

_MANAGED: Final = ("SYSTEM.MANAGED.DURABLE.", "SYSTEM.MANAGED.NDURABLE.")
"""Prefixes of the queues that the queue manager creates for managed subscriptions."""

_STAMPED: Final = re.compile(r"(.*?[^0-9A-F])[0-9A-F]{16,24}")
"""The name of a dynamic queue: z/OS replaces the asterisk by a time stamp."""

_WHOLE: Final = 1 << 16


def task_totals(mapping: MetricMapping, task: Mapping[str, Value | None]) -> dict[str, Value | None]:
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


def single_sample(section: Section, mapping: MetricMapping, name: str = "") -> PartialSample:
    """The sample of a section that is one object, named by its field ``name``; empty: the only one of its kind."""
    fields = fields_of(section, mapping)
    number = fields[name] if name else None
    return object_sample(section.record, mapping, "" if number is None else str(number), fields)


def pool_totals(parts: Sequence[Mapping[str, Value]]) -> dict[str, Value | None]:
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


def direct_totals(parts: Sequence[Mapping[str, Value]]) -> dict[str, Value | None]:
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


def structure_samples(section: Section) -> Iterator[PartialSample]:
    """The samples of the structures in the slots of a section."""
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
            yield group_sample(object_sample(record, CF_STRUCTURE, name, fields))


def data_set_sample(section: Section) -> PartialSample:
    """The sample of a shared message data set, as one member sees it."""
    fields = fields_of(section, SMDS)
    structure = fields["str"]
    sample = object_sample(section.record, SMDS, f"{structure}/{section.record.ssid}" if structure else "", fields)
    return replace(sample, group=True, object=sample.object._replace(owner=""))


def channel_sample(section: Section) -> PartialSample:
    """The sample of one instance of a channel; means are weighted by its messages."""
    fields = fields_of(section, CHANNEL)
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
    sample = object_sample(section.record, CHANNEL, str(fields["chnm"] or ""), fields, rank=rank)
    end, _, rest = sample.stamp
    began = started if isinstance(started, int) else 0
    return replace(sample, joint=True, stamp=(end, rank, f"{began:020d} {rest}"))


def user_name(who: Mapping[str, Value | None]) -> str:
    """Who a task is: its CICS transaction, else its job, else its type."""
    kind = who.get("wtid.atyp")
    job = str(who.get("wtid.ccn") or "")
    named = transaction(kind, who.get("wtid.cori")) if kind == CONNECTION_TYPES["CICS"] else ""
    return named or job or (_TYPE_NAMES.get(kind, "") if isinstance(kind, int) else "") or "?"


def queue_opened(fields: Mapping[str, Value | None]) -> Value | None:
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


def nearest_minute(ts: int) -> int:
    """The full minute nearest to a moment, ms UTC."""
    return (ts + MINUTE_MS // 2) // MINUTE_MS * MINUTE_MS


def group_sample(sample: PartialSample) -> PartialSample:
    """The sample as that of an object of the group, to which each member adds its part."""
    name = sample.object._replace(owner="")
    return replace(sample, object=name, group=True, ts=nearest_minute(sample.ts), joint=True)


def object_sample(
    record: Record, mapping: MetricMapping, name: str, fields: dict[str, Value | None], *, rank: int = 0
) -> PartialSample:
    """The sample of an object named ``name``. Of several of one interval the greatest ``rank`` is the newest."""
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


def fields_of(section: Section, mapping: MetricMapping) -> dict[str, Value | None]:
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
