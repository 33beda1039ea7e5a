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
from mqvitals_agent.smf.partial_sample import PartialSample
from mqvitals_agent.smf.restart import guarded
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source, with_derived
from mqvitals_rules.vocabulary.metric import within_range

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
    """The processor time of an application's calls for a queue, in TOD units."""
    return min(sum(value for key in _TIMES if isinstance(value := fields.get(key), int)), _MOST)


def as_rest(sample: PartialSample) -> PartialSample:
    """A part of an application's sample as a part of ``REST``, without its job and queue."""
    fields = {key: None if key in _OWN else value for key, value in sample.fields.items()}
    return replace(sample, object=sample.object._replace(name=REST), fields=fields)


def merge_into(samples: dict[SampleKey, PartialSample], part: PartialSample) -> None:
    """Add a part to the sample it belongs to."""
    known = samples.get(part.key)
    samples[part.key] = part if known is None else known.merge(part, _mapping(part).merge_rules)


def _mapping(sample: PartialSample) -> MetricMapping:
    return mapping_of(sample.object.kind, sample.probe)


def reading(sample: PartialSample) -> Reading:
    """The reading of a sample, with the metrics that follow from others."""
    interval = sample.interval_us
    values = with_derived(sample.object.kind, _mapping(sample).values(sample.fields, interval))
    found = Reading(
        sample.object,
        sample.probe,
        sample.ts,
        {name: within_range(value) for name, value in values.items()},
        None if interval is None else max(1, round(interval / 1000)),
        poll=False,
        source=Source.SMF,
    )
    return guarded(found) if sample.restarted else found


def snapshots(samples: Iterable[PartialSample]) -> Iterator[Snapshot]:
    """One for each owner and end of an interval, the oldest first."""
    for (ts, owner, group), each in groupby(sorted(samples, key=_order), key=_owner_time):
        yield Snapshot(owner, group, 0, ts, tuple(reading(sample) for sample in each))


def _owner_time(sample: PartialSample) -> tuple[int, str, bool]:
    return sample.ts, sample.object.owner, sample.group


def _order(sample: PartialSample) -> tuple[int, str, bool, ObjectName, str]:
    return *_owner_time(sample), sample.object, sample.probe
