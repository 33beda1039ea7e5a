"""SMF records as snapshots, merged in memory: the reference for what a store holds after an import."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from mqvitals_agent.smf.kinds import APPLICATION
from mqvitals_agent.smf.partial_sample import GroupNames, PartialSample
from mqvitals_agent.smf.record import Record, identity_of
from mqvitals_agent.smf.sampler import Sampler
from mqvitals_agent.smf.snapshots import TOP_APPLICATIONS, SampleKey, as_rest, merge_into, processor_time, snapshots
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.timestamps import DAY_MS


def readings(
    records: Iterable[Record], groups: GroupNames | None = None, *, applications: int = TOP_APPLICATIONS
) -> Iterator[Snapshot]:
    """Everything that records tell, put together. What belongs to a group whose name nothing tells is left out.

    A record that comes twice, in overlapping dumps, counts once.
    """
    groups = groups or GroupNames()
    sampler = Sampler(groups)
    folded: dict[SampleKey, PartialSample] = {}
    waiting: list[PartialSample] = []
    known: set[bytes] = set()
    for record in records:
        identity = identity_of(record)
        if identity in known:
            sampler.skip(record)
            continue
        known.add(identity)
        for total in sampler.partial_samples(record):
            placed = groups.assign(total)
            if placed is None:
                waiting.append(total)
            else:
                merge_into(folded, placed)
    for total in waiting:
        placed = groups.assign(total)
        if placed is not None:
            merge_into(folded, placed)
    shown = [total for total in folded.values() if total.object.kind != "application"]
    shown += ranked((total for total in folded.values() if total.object.kind == "application"), applications)
    yield from snapshots(shown)


def ranked(totals: Iterable[PartialSample], count: int) -> list[PartialSample]:
    """Totals of applications with all but the ``count`` costliest of each queue manager and day added up."""
    days: dict[tuple[str, int], list[PartialSample]] = defaultdict(list)
    for total in totals:
        days[total.object.owner, total.ts // DAY_MS].append(total)
    found: list[PartialSample] = []
    for each in days.values():
        used: dict[str, int] = defaultdict(int)
        for total in each:
            used[total.object.name] += processor_time(total.fields)
        first = sorted(used, key=lambda name: (-used[name], name))[:count]
        rest: dict[tuple[ObjectName, int], PartialSample] = {}
        for total in each:
            if total.object.name in first:
                found.append(total)
                continue
            part = as_rest(total)
            known = rest.get((part.object, part.ts))
            together = part if known is None else known.merge(part, APPLICATION.merge_rules)
            rest[part.object, part.ts] = together
        found += rest.values()
    return found
