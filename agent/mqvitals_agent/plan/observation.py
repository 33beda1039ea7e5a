"""What a store and the declared facts tell of the metrics that a formula's inputs are from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.plan.seen import Known
from mqvitals_agent.plan.take import Told
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue
    from mqvitals_rules.facts import Facts

HOUR_MS = 3_600_000
"""Increases of counters are looked at over so long."""

MEMBERS = "queues"
"""``queues.puts`` is the sum over the queues that lie on the object."""

RATE, SECONDS = "/s", ":s"
"""Ends of names: a counter's increase a second, and the seconds in which it was."""


def observe(reader: StoreReader, name: ObjectName, metrics: Iterable[str], facts: Facts, now: int) -> dict[str, Known]:
    """What is known of ``metrics`` of an object at ``now`` (ms UTC): counters over the hour before. Raises StoreError."""
    found: dict[str, Known] = {}
    current: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    for wanted in sorted(metrics):
        kind, dot, plain = wanted.rpartition(".")
        if kind == MEMBERS:
            found[wanted] = _of_members(reader, name, plain)
            continue
        owner = ObjectName(name.owner, kind) if dot else name
        if owner not in current:
            current[owner] = reader.current(owner) if reader.has(owner) else {}
        metric = KINDS[owner.kind].metric(plain.removesuffix(RATE).removesuffix(SECONDS))
        assert metric is not None, f"a test holds the names of metrics together: {wanted}"
        found[wanted] = _one(reader, owner, metric, current[owner], facts, now, way=wanted[-2:])
    return found


def _one(
    reader: StoreReader,
    name: ObjectName,
    metric: Metric,
    current: Mapping[str, CurrentValue],
    facts: Facts,
    now: int,
    *,
    way: str,
) -> Known:
    declared = facts.of(name).get(metric.name)
    if isinstance(declared, (int, float)):
        return Told(declared, None)
    if metric.declared:
        return Absence.NOT_DECLARED
    known = from_current(current, metric)
    if metric.type is not MetricType.COUNTER or not current:
        return known
    told = [
        sample
        for sample in reader.told(name, metric.name, first=now - HOUR_MS, last=now)[1]
        if sample.value is not None and (sample.interval_ms or way not in (RATE, SECONDS))
    ]
    if not told:
        return known if isinstance(known, Absence) else Absence.WINDOW
    total = sum(sample.value or 0 for sample in told)
    seconds = sum(sample.interval_ms or 0 for sample in told) / 1000
    value = total / seconds if way == RATE else seconds if way == SECONDS else total
    return Told(value, told[-1].ts, known.silent if isinstance(known, Told) else "")


def _of_members(reader: StoreReader, name: ObjectName, plain: str) -> Known:
    """The sum over the queues that lie on an object, of those that tell it."""
    metric = KINDS["queue"].metric(plain)
    assert metric is not None, f"a test holds the names of metrics together: {plain}"
    told = [
        from_current(values, metric)
        for values in reader.current_by_kind(name.owner, "queue", {plain, name.kind}).values()
        if (on := values.get(name.kind)) is not None and str(on.value) == name.name
    ]
    known = [
        each for each in told if isinstance(each, Told) and not isinstance(each.value, str) and each.ts is not None
    ]
    if not known:
        return next((each for each in told if isinstance(each, Absence)), Absence.NOTHING_TO_TELL)
    return Told(sum(float(each.value) for each in known), min(each.ts or 0 for each in known))


def from_current(values: Mapping[str, CurrentValue], metric: Metric) -> Known:
    """What the newest value of a metric tells: of a counter, the increase at the last poll."""
    current = values.get(metric.name)
    if current is None:
        if metric.needs_smf:
            return Absence.NEEDS_SMF
        return Absence.NEEDS_STATISTICS if metric.needs_statistics else Absence.NOT_ASKED
    if isinstance(current.value, Absence):
        return current.value
    return Told(current.value, current.ts, current.unanswered.value if current.unanswered is not None else "")
