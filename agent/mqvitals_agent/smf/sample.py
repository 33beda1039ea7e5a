"""Records as samples: what each section tells of an object, in the vocabulary's words, at the end of its own interval.

``readings(records: Iterable[Record], groups: Groups | None = None, *, applications: int = 200) -> Iterator[Snapshot]``
takes the records of any number of files in any order and gives one Snapshot a queue manager (or group) and end of an
interval, the oldest first. All is held in memory until then. The snapshots' readings have the source SMF, ``ts`` and
``interval_ms`` are the end (ms UTC) and the length of the record's interval.

For more than memory holds, ``Sampler.totals`` gives what one record tells, ``Total.plus`` adds up what belongs together, and
``reading`` makes a reading of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final

from mqvitals_agent.smf.application import ranked
from mqvitals_agent.smf.groups import Groups
from mqvitals_agent.smf.identity import identity_of
from mqvitals_agent.smf.measure import Measures
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.restart import guarded
from mqvitals_agent.smf.subject import measures_for
from mqvitals_agent.smf.teller import Sampler
from mqvitals_agent.smf.total import Total, Way
from mqvitals_rules.derived import with_derived
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import within_range

TOP: Final = 200
"""So many applications of a queue manager and day stand by themselves, those that used most processor time."""


Key = tuple[ObjectName, str, int]


def readings(records: Iterable[Record], groups: Groups | None = None, *, applications: int = TOP) -> Iterator[Snapshot]:
    """Everything that records tell, put together. What belongs to a group whose name nothing tells is left out.

    A record that comes twice, in overlapping dumps, counts once.
    """
    groups = groups or Groups()
    sampler = Sampler(groups)
    folded: dict[Key, Total] = {}
    waiting: list[Total] = []
    known: set[bytes] = set()
    for record in records:
        identity = identity_of(record)
        if identity in known:
            sampler.pass_over(record)
            continue
        known.add(identity)
        for total in sampler.totals(record):
            placed = groups.placed(total)
            if placed is None:
                waiting.append(total)
            else:
                add(folded, placed)
    for total in waiting:
        placed = groups.placed(total)
        if placed is not None:
            add(folded, placed)
    shown = [total for total in folded.values() if total.object.kind != "application"]
    shown += ranked((total for total in folded.values() if total.object.kind == "application"), applications)
    yield from snapshots(shown)


def add(folded: dict[Key, Total], total: Total) -> None:
    """Put a total to what is there of the same."""
    known = folded.get(total.key)
    folded[total.key] = total if known is None else known.plus(total, ways_of(total))


def ways_of(total: Total) -> Mapping[str, Way]:
    """How the fields of a total are put together with others."""
    return measures_of(total).putting_together


def measures_of(total: Total) -> Measures:
    """What tells the metrics of a total."""
    return measures_for(total.object.kind, total.probe)


def reading(total: Total) -> Reading:
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


def snapshots(totals: Iterable[Total], cycle: int = 0) -> Iterator[Snapshot]:
    """One for each owner and end of an interval, the oldest first."""
    for (ts, owner, group), each in groupby(sorted(totals, key=_order), key=_moment):
        yield Snapshot(owner, group, cycle, ts, tuple(reading(total) for total in each))


def _moment(total: Total) -> tuple[int, str, bool]:
    return total.ts, total.object.owner, total.group


def _order(total: Total) -> tuple[int, str, bool, ObjectName, str]:
    return *_moment(total), total.object, total.probe
