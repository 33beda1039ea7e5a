"""Snapshots: readings of objects and outcomes of commands in one cycle, immutable; and metrics derived
from readings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from mqvitals_rules.vocabulary.metric import Absence, Reported

LONGEST_OWNER: Final = 48
"""Characters of an MQCHAR48, the longest name of a queue manager."""
LONGEST_NAME: Final = 1024
"""Characters of an object's name: those of MQ have 48 at most, an application's is made of several."""


def is_owner_name(value: object) -> bool:
    """Whether a value can name an owner. A '/' would run into the kind in an object's whole name."""
    return (
        type(value) is str
        and 0 < len(value) <= LONGEST_OWNER
        and value.isprintable()
        and value.strip() == value
        and "/" not in value
    )


def is_object_name(value: object) -> bool:
    """Whether a value can name an object: a text that is not blank, without control and other invisible characters."""
    return type(value) is str and is_object_text(value)


@lru_cache(maxsize=1 << 15)
def is_object_text(text: str) -> bool:
    """As ``is_object_name``, of a text: the same thousands of names are checked in every cycle."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and not text.isspace()


class ObjectName(NamedTuple):
    """An object's whole name: owner (queue manager or group), kind, and name (empty for kinds with one
    object an owner).
    """

    owner: str
    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.owner}/{self.kind}/{self.name}" if self.name else f"{self.owner}/{self.kind}"

    @classmethod
    def parse(cls, text: str) -> ObjectName:
        """Read ``QM01/buffer_pool/3`` or ``QM01/log``. MQ names may themselves hold slashes: they belong to the name.

        Raises ValueError when there are fewer than two parts.
        """
        parts = text.split("/", 2)
        if len(parts) < 2 or not all(parts):
            raise ValueError(f"an object is written owner/kind/name, such as QM01/buffer_pool/3, not {text!r}")
        return cls(*parts)


_FOR_GOOD = 1 << 62


class Source(IntEnum):
    """Where a reading comes from; the number is what history keeps."""

    POLL = 1  # an answer to one of our commands
    STATISTICS = 2  # a statistics message of a distributed queue manager
    SMF = 3  # SMF records of z/OS
    IMPORT = 4  # what another command of z/OS printed


FRESH_INTERVALS = 2.5
"""Values of a record are fresh for this many of its own intervals after its end; then they are stale."""

MEASURED: Final = frozenset({"SMF 70-1", "SMF 70-2", "SMF 72-3 MSTR", "SMF 72-3 CHIN", "SMF 74-4", "D XCF", "NETSTAT"})
"""Probes of figures that others measured. They take the place of declared ones."""
MEASURED_INTERVALS = 2.0
"""The same of figures that others measured."""


def fresh_until(ts: int, interval_ms: int | None, probe: str = "") -> int:
    """Until when (ms UTC) a record of the ``interval_ms`` before ``ts`` is fresh. Of unknown length: for good."""
    intervals = MEASURED_INTERVALS if probe in MEASURED else FRESH_INTERVALS
    return ts + round(intervals * interval_ms) if interval_ms else _FOR_GOOD


PATIENCE_MS: Final = 75 * 60_000
"""For so long after its end a record is at most awaiting the next one, however short its interval was: the first interval
after a start is short, and the usual 30 minutes of the next one end that much later."""


NEWEST_RECORDS: Final = 3
"""So many of the newest records of an object are looked at: several probes may have ended at different times."""


def overdue_after(ts: int, interval_ms: int | None, recent_ms: Collection[int | None], probe: str = "") -> int:
    """Until when (ms UTC) nothing is wrong where no record follows the one of the ``interval_ms`` before ``ts``.

    ``recent_ms`` are the intervals of the newest records of its object, its own among them. The longest counts, as one in
    which the queue manager started or ended is short. One alone may be such a short one.
    """
    longest = max((each for each in recent_ms if each), default=0)
    fresh = fresh_until(ts, interval_ms and max(interval_ms, longest), probe)
    return fresh if len(recent_ms) > 1 else max(fresh, ts + PATIENCE_MS)


@dataclass(slots=True)
class Reading:
    """The replies of one probe about one object in one cycle.

    ``values`` holds metric name -> value or the reason of its absence; counters as increases since the object's
    previous reading. A metric that this probe does not fill is not in it. ``poll`` is true when this reading counts
    as a poll of the object (the answer of its kind's own probe, which selected it), also when no answer came: then
    ``answered`` is false and every value is absent. ``gone`` is true when a complete answer that selected the object
    no longer holds it. ``interval_ms`` is the time since the previous answered reading of the same probe, None at the
    first. Of another ``source`` than a poll, ``ts`` and ``interval_ms`` are the end and the length of the record's
    own interval, and ``poll`` is false.
    """

    # Immutable, as the type checker sees to: a frozen class takes three times as long to make, thousands of times a cycle.
    object: Final[ObjectName]
    probe: Final[str]
    ts: Final[int]
    values: Final[Mapping[str, Reported]]
    interval_ms: Final[int | None] = None
    poll: Final[bool] = True
    answered: Final[bool] = True
    gone: Final[bool] = False
    source: Final[Source] = Source.POLL


class Outcome(Enum):
    """The outcome of a command; history keeps the number."""

    OK = 0
    NOT_FOUND = 1  # a normal answer: nothing matches
    UNKNOWN_COMMAND = 2  # this platform or level has no such command
    REFUSED = 3  # 2035 or 3081: not authorised
    INCOMPLETE = 4  # the answer stopped coming
    FAILED = 5  # any other reason
    DAMAGED = 6  # a message of the answer cannot be decoded
    UNREACHABLE = 7  # the connection broke or could not be made


@dataclass(frozen=True, slots=True)
class Instance:
    """One current instance of a channel that has several: current state only."""

    object: ObjectName
    key: str
    values: Mapping[str, Reported]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that one queue manager (or the group, ``group`` true) reported in one cycle.

    ``ts`` is when the cycle's first request for this owner was put, ms since 1970 UTC; ``cycle`` counts from 1
    without gaps of its own: it is the number of the interval. ``clock_ms`` is the queue manager's own clock at the
    last reply, UTC, None when unknown.
    """

    owner: str
    group: bool
    cycle: int
    ts: int
    readings: tuple[Reading, ...]
    instances: tuple[Instance, ...] = ()
    clock_ms: int | None = None


def with_derived(kind: str, values: Mapping[str, Reported]) -> dict[str, Reported]:
    """``values`` and the metrics that are derived from them; values that are present stay."""
    found = dict(values)
    for metric, derive in _DERIVED.get(kind, {}).items():
        if metric not in found:
            value = derive(values)
            if value is not None:
                found[metric] = value
    return found


def _number(values: Mapping[str, Reported], metric: str) -> float | None:
    value = values.get(metric)
    return float(value) if isinstance(value, int | float) else None


def _worst_free(values: Mapping[str, Reported]) -> Reported | None:
    known = [value for value in (_number(values, "free_pct"), _number(values, "low_pct")) if value is not None]
    if known:
        return min(known)
    return next((values[metric] for metric in ("free_pct", "low_pct") if isinstance(values.get(metric), Absence)), None)


def _share(used: str, total: str) -> Callable[[Mapping[str, Reported]], Reported | None]:
    def derive(values: Mapping[str, Reported]) -> Reported | None:
        part, whole = _number(values, used), _number(values, total)
        return 100 * part / whole if part is not None and whole else None

    return derive


def _used_pages(values: Mapping[str, Reported]) -> Reported | None:
    for metric in ("total_pages", "unused_pages"):
        value = values.get(metric)
        if value in (Absence.OFFLINE, Absence.NOT_IN_USE):
            return value
    unused, total = _number(values, "unused_pages"), _number(values, "total_pages")
    return 100 * (total - unused) / total if unused is not None and total else None


_DERIVED: Mapping[str, Mapping[str, Callable[[Mapping[str, Reported]], Reported | None]]] = {
    "buffer_pool": {"worst_free_pct": _worst_free},
    "page_set": {"used_pct": _used_pages},
    "cf_structure": {"entries_pct": _share("entries_used", "entries_max")},
}
