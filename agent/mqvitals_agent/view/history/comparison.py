"""Two moments compared: what is different about an object, or about the objects of a group, biggest change first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.view.figures.values import Values, interval_ms, number_in, rate_of
from mqvitals_agent.view.lists.columns import metrics_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

COMPARED: Final = (
    "queue_manager",
    "channel_initiator",
    "log",
    "buffer_pool",
    "page_set",
    "queue",
    "channel",
    "cf_structure",
    "smds",
)
"""The kinds of objects that a comparison of a group looks at, each with the metrics of its list."""

OF_QUEUE_MANAGER: Final = ("reachable", "command_level", "version")
"""The metrics of queue managers, which have no list."""

MOST_DIFFERENCES: Final = 500
"""The biggest differences, which are shown."""

_OTHER_STATE: Final = 3.0
"""The size of a change of state, and of an object that comes or goes: that of a number that grows twentyfold."""

_STATE_SIZES: Final[Mapping[tuple[str, str], float]] = {
    ("queue_manager", "reachable"): 12.0,
    ("cf_structure", "status"): 11.0,
    ("channel_initiator", "status"): 11.0,
    ("channel", "status"): 4.0,
    ("channel", "substate"): 1.0,
}
"""The size of a change of states on which much depends, and of one that changes with every message."""

_COME_OR_GONE: Final = 1.0
"""The size of a figure that is absent at one of the moments."""

_SMALL: Final[Mapping[str, float]] = {"bytes": 4096, "us": 1000, "ms": 1, "s": 5}
"""Below about this a number counts as nothing, by unit; of other units 1."""

_LEAST: Final = 0.02
"""Smaller changes are none: a share of 2 % of the number."""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A metric of an object that is different at two moments; counters are rates a second.

    ``metric`` None: the object itself was there at one of them only. A value None: that it was not there. ``size``
    orders differences, the biggest first: of numbers the logarithm of their ratio.
    """

    name: ObjectName
    metric: Metric | None
    then: CurrentValue | None
    now: CurrentValue | None
    size: float


@dataclass(frozen=True, slots=True)
class MomentComparison:
    """What is different at ``then`` and ``now`` (ms UTC), of the objects of a group or of the object ``name``.

    ``differences`` are the biggest, ``total`` counts all, ``looked_at`` the objects that were compared. ``begins`` is when
    the first snapshot was taken, where that was later than ``then``: nothing is compared.
    """

    then: int
    now: int
    name: ObjectName | None
    differences: tuple[MetricDifference, ...]
    total: int
    looked_at: int
    begins: int | None = None


def read_comparison(
    then: StoreReader, now: StoreReader, moments: tuple[int, int], name: ObjectName | None = None
) -> MomentComparison:
    """Compare what two readers of one store hold, as of ``moments`` (ms UTC): of one object all, else the group's lists.

    Raises StoreError.
    """
    if not then.owners():
        begins = min((owner.first_ts for owner in now.owners()), default=None)
        return MomentComparison(*moments, name, (), 0, 0, begins)
    found: list[MetricDifference] = []
    looked_at = 0
    for before, after in _objects(then, now, name):
        names = dict.fromkeys((*before, *after))
        looked_at += len(names)
        for each in names:
            found += differences(each, before.get(each), after.get(each))
    found.sort(key=lambda each: (-each.size, each.name, each.metric.name if each.metric else ""))
    return MomentComparison(*moments, name, tuple(found[:MOST_DIFFERENCES]), len(found), looked_at)


def differences(name: ObjectName, then: Values | None, now: Values | None) -> Iterator[MetricDifference]:
    """What is different about an object; None: it was not there. Texts are not compared."""
    if then is None or now is None:
        if then is not now:
            yield MetricDifference(name, None, _any(then), _any(now), _OTHER_STATE)
        return
    for metric in KINDS[name.kind].metrics:
        if metric.type is MetricType.TEXT or metric.declared:
            continue
        size = _size(name.kind, metric, then.get(metric.name), now.get(metric.name))
        if size:
            yield MetricDifference(name, metric, then.get(metric.name), now.get(metric.name), size)


_UNKNOWN: Final = frozenset({Absence.NOT_KEPT, Absence.FIRST_READING, Absence.NOT_ASKED})
"""Absences that say nothing about whether there was a figure."""


def _size(kind: str, metric: Metric, then: CurrentValue | None, now: CurrentValue | None) -> float:
    """How big a difference is, 0 for none."""
    if then is None or now is None or then.value in _UNKNOWN or now.value in _UNKNOWN:
        return 0.0
    before, after = number_in(then), number_in(now)
    if before is None or after is None:
        return 0.0 if before is after else _COME_OR_GONE
    if before == after:
        return 0.0
    if metric.type is MetricType.STATE:
        return _STATE_SIZES.get((kind, metric.name), _OTHER_STATE)
    if not (math.isfinite(before) and math.isfinite(after)):
        return 0.0
    small = _SMALL.get(metric.unit, 1.0)
    if before * after < 0:
        return math.log((abs(before) + small) / small) + math.log((abs(after) + small) / small)
    size = abs(math.log((abs(after) + small) / (abs(before) + small)))
    return size if size > _LEAST else 0.0


def _any(values: Values | None) -> CurrentValue | None:
    """Any value of an object: its time says when the object was there."""
    return None if values is None else next(iter(values.values()), None)


_Objects = Mapping[ObjectName, Values]


def _objects(then: StoreReader, now: StoreReader, name: ObjectName | None) -> Iterator[tuple[_Objects, _Objects]]:
    """The objects then and now, an owner and a kind at a time."""
    if name is not None:
        yield _object(then, name), _object(now, name)
        return
    for owner in dict.fromkeys(owner.name for reader in (then, now) for owner in reader.owners()):
        for kind in COMPARED:
            yield _list(then, owner, kind), _list(now, owner, kind)


def _object(reader: StoreReader, name: ObjectName) -> _Objects:
    there = any(each.name == name for each in reader.objects(str(name)))
    return _rates(reader, name.kind, {name: reader.current(name)}) if there else {}


def _list(reader: StoreReader, owner: str, kind: str) -> _Objects:
    metrics = OF_QUEUE_MANAGER if kind == "queue_manager" else metrics_of(kind)
    return _rates(reader, kind, reader.current_by_kind(owner, kind, metrics))


def _rates(
    reader: StoreReader, kind: str, found: Mapping[ObjectName, Mapping[str, CurrentValue]]
) -> dict[ObjectName, Values]:
    """The objects of one owner with their counters as rates a second."""
    counters = [metric.name for metric in KINDS[kind].metrics if metric.type is MetricType.COUNTER]
    rated: dict[ObjectName, Values] = {name: dict(values) for name, values in found.items()}
    for counter in counters:
        if any(counter in values for values in found.values()):
            covered = interval_ms(reader, counter, found)
            for name, values in found.items():
                if counter in values:
                    rated[name] = {**rated[name], counter: rate_of(values[counter], covered)}
    return rated
