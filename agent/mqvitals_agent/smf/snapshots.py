"""Partial samples to snapshots: one for each owner and end of an interval, in the vocabulary's metrics.

Of the applications of a day, those that used most processor time stand by themselves; the others are one sum, ``*/*``.
An application is a job or transaction with the queue it used: ``job/queue``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Final

from mqvitals_agent.smf.kinds import mapping_of
from mqvitals_agent.smf.layout.field import Value
from mqvitals_agent.smf.metric_mapping import MetricMapping
from mqvitals_agent.smf.partial_sample import MergeRule, PartialSample
from mqvitals_agent.smf.restart import guarded
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source, with_derived
from mqvitals_rules.vocabulary.metric import within_range

DAY_MS: Final = 86_400_000
TOP_APPLICATIONS: Final = 200
"""The number of applications of a queue manager and day that stand by themselves."""
REST: Final = "*/*"
"""The name of all other applications together."""
_MOST: Final = (1 << 63) - 1
"""What a store can hold."""
SampleKey = tuple[ObjectName, str, int]
"""Object, probe and end of the interval (ms UTC)."""
_TIMES: Final = ("openct", "closect", "getct", "putct", "put1ct", "inqct", "setct")
_OWN: Final = frozenset(
    {
        "wtid.atyp",
        "wtid.ccn",
        "wtid.cori",
        "wtid.chl",
        "objname",
        "basename",
        "qtype",
        "indxtype",
        "qsgdisp",
        "nps",
        "nbuffpool",
    }
)


def processor_time(fields: Mapping[str, Value | None]) -> int:
    """What an application's calls for a queue used, in TOD units."""
    return min(sum(value for key in _TIMES if isinstance(value := fields.get(key), int)), _MOST)


def top(used: Mapping[str, int], count: int) -> frozenset[str]:
    """The ``count`` names that used most; of equal ones those that come first in the alphabet."""
    return frozenset(sorted(used, key=lambda name: (-used[name], name))[:count])


def as_rest(total: PartialSample) -> PartialSample:
    """A total as a part of the rest: what is an application's own (its job, its queue) is not told."""
    fields = {key: None if key in _OWN else value for key, value in total.fields.items()}
    return replace(total, object=total.object._replace(name=REST), fields=fields)


def merge_into(folded: dict[SampleKey, PartialSample], total: PartialSample) -> None:
    """Put a total to what is there of the same."""
    known = folded.get(total.key)
    folded[total.key] = total if known is None else known.plus(total, ways_of(total))


def ways_of(total: PartialSample) -> Mapping[str, MergeRule]:
    """How the fields of a total are put together with others."""
    return measures_of(total).putting_together


def measures_of(total: PartialSample) -> MetricMapping:
    """What tells the metrics of a total."""
    return mapping_of(total.object.kind, total.probe)


def reading(total: PartialSample) -> Reading:
    """A total as a reading, with what follows from its own metrics."""
    interval = total.interval_us
    values = with_derived(total.object.kind, measures_of(total).tell(total.fields, interval))
    found = Reading(
        total.object,
        total.probe,
        total.ts,
        {name: within_range(value) for name, value in values.items()},
        None if interval is None else max(1, round(interval / 1000)),
        poll=False,
        source=Source.SMF,
    )
    return guarded(found) if total.restarted else found


def snapshots(totals: Iterable[PartialSample], cycle: int = 0) -> Iterator[Snapshot]:
    """One for each owner and end of an interval, the oldest first."""
    for (ts, owner, group), each in groupby(sorted(totals, key=_order), key=_moment):
        yield Snapshot(owner, group, cycle, ts, tuple(reading(total) for total in each))


def _moment(total: PartialSample) -> tuple[int, str, bool]:
    return total.ts, total.object.owner, total.group


def _order(total: PartialSample) -> tuple[int, str, bool, ObjectName, str]:
    return *_moment(total), total.object, total.probe
