"""The latest values of one object: of polls and records, with their freshness, and declared facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mqvitals_rules.snapshot import PATIENCE_MS, ObjectName, Reading, fresh_until
from mqvitals_rules.vocabulary.metric import NO_YES, Absence, Reported, Value
from mqvitals_rules.vocabulary.storage import PURPOSES

STALE_AFTER = 3
"""A value is stale once it is older than this many of its usual intervals."""

_NEVER = 1 << 62

_NO_METRICS: frozenset[str] = frozenset()

LOST = frozenset({Absence.NO_ANSWER, Absence.UNREACHABLE, Absence.STALE})
"""A metric of polls that is absent for these reasons is absent to a rule, whatever an older record has."""

_LOWEST = ("worst_free_pct", ("free_pct", "low_pct"))
"""A metric that is the lowest of others: of polls now, and of the interval of records."""

_PURPOSE, _SYSTEM_QUEUES = "purpose", "system_queues_only"
"""A pool without a declared purpose whose queues are all SYSTEM queues counts as one for shallow SYSTEM queues."""

RELATIONS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("channel", "queue"): ("channel", "xmitq"),
    ("queue", "page_set"): ("queue", "page_set"),
    ("queue", "buffer_pool"): ("page_set", "buffer_pool"),
    ("page_set", "buffer_pool"): ("page_set", "buffer_pool"),
    ("queue", "cf_structure"): ("queue", "cf_structure"),
    ("queue", "channel"): ("queue", "fed_by"),
    ("subscription", "queue"): ("subscription", "destination"),
    ("smds_connection", "smds"): ("smds_connection", "data_set"),
    ("cluster_queue_manager", "channel"): ("cluster_queue_manager", "channel"),
    ("application", "queue"): ("application", "base_name"),
    ("application", "page_set"): ("application", "page_set"),
    ("application", "buffer_pool"): ("application", "buffer_pool"),
}
"""(kind, related kind) -> the (kind, metric) that names the related object: of the object, or of one related to it."""


LINKS: Mapping[str, frozenset[str]] = {
    kind: frozenset(metric for of, metric in (*RELATIONS.values(), ("queue_manager", "qsg_name")) if of == kind)
    for kind in ("queue_manager", *(of for of, _ in RELATIONS.values()))
}
"""Kind -> its metrics that name the object, or the queue-sharing group, to which it belongs."""

NAMES_NONE = frozenset(
    {
        Absence.NOT_RETURNED,
        Absence.NOTHING_TO_TELL,
        Absence.NOT_ON_ZOS,
        Absence.NOT_ON_DISTRIBUTED,
        Absence.INACTIVE,
        Absence.OFFLINE,
        Absence.NOT_IN_USE,
    }
)
"""Absences of a metric that names an object, for which it names none."""

UNDECIDED = frozenset(Absence) - NAMES_NONE
"""Absences that leave open which object a metric names. Any other absence means that it names none."""


class Stamp:
    """When some metrics of an object were last reported together, and their usual interval (None: reported once).

    Compared by identity, which makes it quick to find the few stamps of many metrics.
    """

    __slots__ = ("ts", "usual_ms")

    def __init__(self, ts: int, usual_ms: int | None) -> None:
        self.ts = ts
        self.usual_ms = usual_ms


class Recorded(NamedTuple):
    """The value of a metric in its newest record: with the end of the record, and until when it is fresh."""

    value: Reported
    ts: int
    fresh_until: int


class LatestState:
    """One object's latest values. ``values`` is what rules read; a metric that was never reported is not in it.

    ``stamps`` are those of polled metrics, ``recorded`` has the values of records, and ``from_records`` the metrics
    whose value is a record's.
    """

    __slots__ = (
        "_linked",
        "_links",
        "_presumes",
        "_records",
        "_together",
        "deadline",
        "declared",
        "extra",
        "from_records",
        "name",
        "recorded",
        "stamps",
        "turn",
        "values",
    )

    def __init__(self, name: ObjectName, declared: Mapping[str, Value]) -> None:
        self.name = name
        self.declared = declared
        self._presumes = declared.get(_PURPOSE) == PURPOSES["unclassified"]
        self.values: dict[str, Reported] = dict(declared)
        self.stamps: dict[str, Stamp] = {}
        self._together: tuple[str, ...] = ()
        """The metrics of the last reading, which have one stamp."""
        self._links = LINKS.get(name.kind, frozenset())
        self._linked: dict[str, Reported] = {}
        """Link metric -> the value reported last."""
        self._records: dict[str, Reading] = {}
        self.recorded: dict[str, Recorded] = {}
        self.from_records = _NO_METRICS
        self.turn = 0
        """Counts what changes ``recorded`` or ``from_records``."""
        self.deadline = _NEVER
        """Until then nothing can become stale, so that most checks cost one comparison."""
        self.extra: object = None
        """For the engine: its own state of this object."""

    def learn(self, reading: Reading) -> None:
        """Take over the values of a reading."""
        values = reading.values
        if not values:
            return
        ts = reading.ts
        metrics = tuple(values)
        if metrics == self._together and self._learn_again(values, ts):
            return
        before: set[Stamp | None] = set()
        if self.stamps:
            before.update(map(self.stamps.get, values))
            before.discard(None)
        usual = None
        if before:
            # The metrics of one answer may come at different rates (a structure's backup every few minutes): the slowest sets the pace.
            oldest = before.pop() if len(before) == 1 else min(filter(None, before), key=lambda stamp: stamp.ts)
            assert oldest is not None
            interval, usual = ts - oldest.ts, oldest.usual_ms
            if interval > 0:
                # One outage must not make the next one invisible.
                usual = interval if usual is None or interval < 2 * usual else 2 * usual
            ends = _NEVER if usual is None else ts + STALE_AFTER * usual
            if ends < self.deadline:
                self.deadline = ends
        stamp = Stamp(ts, usual)
        self.values.update(values)
        if self.declared:
            self._take_declared()
        self.stamps.update(dict.fromkeys(values, stamp))
        self._together = metrics
        if self._links:
            self._note_links(values)
        if self.recorded:
            if not self.recorded.keys().isdisjoint(values):
                self._merge(values.keys() & self.recorded.keys(), polled=True)
            self._take_lowest()

    def _learn_again(self, values: Mapping[str, Reported], ts: int) -> bool:
        """Take over the same metrics as last time, which is the usual case and quicker.

        False where that is not enough.
        """
        stamp = self.stamps[self._together[0]]
        interval = ts - stamp.ts
        if interval <= 0 or self.recorded:
            return False
        usual = stamp.usual_ms
        stamp.ts = ts
        stamp.usual_ms = usual = interval if usual is None or interval < 2 * usual else 2 * usual
        ends = ts + STALE_AFTER * usual
        if ends < self.deadline:
            self.deadline = ends
        self.values.update(values)
        if self.declared:
            self._take_declared()
        if self._links:
            self._note_links(values)
        return True

    def _take_declared(self) -> None:
        """Declared facts take precedence over what polls report, but not over what was measured lately; an undeclared
        purpose is presumed from the queues.
        """
        values = self.values
        if self.from_records.isdisjoint(self.declared):
            values.update(self.declared)
        else:
            values.update((metric, value) for metric, value in self.declared.items() if metric not in self.from_records)
        if self._presumes:
            only_system = values.get(_SYSTEM_QUEUES) == NO_YES["YES"]
            values[_PURPOSE] = PURPOSES["system_shallow" if only_system else "unclassified"]

    def link(self, metric: str) -> Reported | None:
        """The value of a metric that names another object; while it is not known, the one reported last.

        So an outage takes no queue from its page set. The reason of the absence when no value was reported before it.
        """
        value = self.values.get(metric)
        return self._linked.get(metric, value) if value in UNDECIDED else value

    def _note_links(self, values: Mapping[str, Reported]) -> None:
        linked = self._linked
        for metric in self._links:
            # Nearly always it names the same object as before: this runs for every reading of thousands of objects.
            value = values.get(metric)
            if value is None or value is linked.get(metric):
                continue
            if value.__class__ is not Absence:
                linked[metric] = value
            elif value not in UNDECIDED:
                linked.pop(metric, None)

    def learn_record(self, record: Reading) -> bool:
        """Take over a record where nothing newer is known. False when it is not newer than its probe's last record."""
        known = self._records.get(record.probe)
        if known is not None and (record.ts < known.ts or (record.ts == known.ts and record.values == known.values)):
            return False
        self._records[record.probe] = record
        before = self.recorded
        self.recorded = _merged(self._records.values())
        for metric in before.keys() - self.recorded.keys():
            if metric in self.from_records:
                # The probe no longer reports it. The value of an earlier poll has been replaced.
                self.values[metric] = self.declared.get(metric, Absence.NOT_RETURNED)
                self._linked.pop(metric, None)
        self._merge(self.recorded.keys(), polled=False)
        self._take_lowest()
        return True

    def shift(self, by_ms: int) -> None:
        """Shift the dates of polled values by ``by_ms``, as the clock was corrected: ages follow the elapsed time."""
        for stamp in set(self.stamps.values()):
            stamp.ts += by_ms
        for metric in self.from_records:
            # By the wrong clock a record may have been stale.
            self.values[metric] = self.recorded[metric].value
        self.deadline = -1

    def fresh_until_of(self, metrics: Iterable[str]) -> int:
        """Until when all of these metrics that have a record's value are fresh."""
        return min(
            (self.recorded[metric].fresh_until for metric in metrics if metric in self.from_records), default=_NEVER
        )

    def _merge(self, metrics: Iterable[str], *, polled: bool) -> None:
        """Give each of these metrics of records the record's value, or keep the poll's.

        ``polled``: a poll just reported them.
        """
        from_records = set(self.from_records & self.recorded.keys())
        for metric in metrics:
            record, stamp = self.recorded[metric], self.stamps.get(metric)
            if metric in self.declared:
                # What was measured takes the place of a fact, until it is stale; that nothing was measured does not.
                if isinstance(record.value, Absence):
                    from_records.discard(metric)
                    self.values[metric] = self.declared[metric]
                    continue
                stamp = None
            compared = polled or metric not in from_records
            if compared and stamp is not None and _poll_counts(self.values[metric], stamp.ts, record):
                from_records.discard(metric)
                continue
            from_records.add(metric)
            self.values[metric] = record.value
            self.deadline = min(self.deadline, record.fresh_until)
        if not polled or from_records != self.from_records:
            self.from_records = frozenset(from_records)
            self.turn += 1
        if self._links:
            self._note_links({metric: self.values[metric] for metric in from_records.intersection(self._links)})

    def expire(self, now: int) -> None:
        """Mark what is overdue as stale."""
        if now <= self.deadline:
            return
        deadline = _NEVER
        # Nearly always nothing is overdue: metrics that were reported together are checked once.
        stamps = set(self.stamps.values())
        fresh = [stamp.ts + STALE_AFTER * stamp.usual_ms for stamp in stamps if stamp.usual_ms is not None]
        overdue = bool(fresh) and min(fresh) < now
        if fresh and not overdue:
            deadline = min(fresh)
        for metric, stamp in self.stamps.items() if overdue else ():
            if stamp.usual_ms is None:
                continue
            ends = stamp.ts + STALE_AFTER * stamp.usual_ms
            if ends >= now:
                deadline = min(deadline, ends)
            elif (
                metric not in self.declared
                and metric not in self.from_records
                and not isinstance(self.values[metric], Absence)
            ):
                self.values[metric] = Absence.STALE
        for metric in self.from_records:
            ends, late = self.recorded[metric].fresh_until, self.recorded[metric].ts + PATIENCE_MS
            if ends >= now:
                deadline = min(deadline, ends)
            elif metric in self.declared:
                self.values[metric] = self.declared[metric]
            elif not isinstance(self.values[metric], Absence) or self.values[metric] is Absence.AWAITED:
                self.values[metric] = Absence.STALE if late < now else Absence.AWAITED
                deadline = min(deadline, late) if late >= now else deadline
        self.deadline = deadline
        if self.recorded:
            self._take_lowest()

    def _take_lowest(self) -> None:
        """The worst known value is the lower of a poll's and of a record's that is still fresh."""
        metric, parts = _LOWEST
        if isinstance(self.values.get(metric), int | float):
            known = [value for value in map(self.values.get, parts) if isinstance(value, int | float)]
            if known:
                self.values[metric] = min(known)


def _poll_counts(polled: Reported, ts: int, record: Recorded) -> bool:
    """Whether a poll's value of ``ts`` counts, rather than a record's: the newer one, but a value before an absence."""
    if ts >= record.ts:
        return not isinstance(polled, Absence) or polled in LOST
    return isinstance(record.value, Absence) and not isinstance(polled, Absence)


def _merged(records: Iterable[Reading]) -> dict[str, Recorded]:
    """The newest records of all probes together: of each metric the newest value, else the newest absence."""
    found: dict[str, Recorded] = {}
    for record in sorted(records, key=lambda each: (each.ts, each.probe)):
        believed = fresh_until(record.ts, record.interval_ms, record.probe)
        for metric, value in record.values.items():
            before = found.get(metric)
            if before is None or not isinstance(value, Absence) or isinstance(before.value, Absence):
                found[metric] = Recorded(value, record.ts, believed)
    return found
