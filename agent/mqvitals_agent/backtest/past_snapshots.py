"""The snapshots of a past time, rebuilt from stored samples: cycle after cycle, in little memory.

A row of history is what one snapshot told of an object. It becomes the readings that it was made of: one of the poll of its
kind, and one of each other command that answered then. Why a number was absent is not kept: such a metric was not in the
answer, or without any value nothing answered.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from mqvitals_agent.backtest.definitions import PastDefinitions
from mqvitals_agent.backtest.inputs import BacktestInputs
from mqvitals_agent.poll.kinds.qsg import CF_BACKUP, CF_CONNECTIONS
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.changes import MOST_CHANGES
from mqvitals_agent.store.rows.journal import GONE
from mqvitals_agent.store.rows.samples.sample import Number, Poll
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.journal import DEFINING, EntryKind
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, Reported, Value
from mqvitals_rules.vocabulary.tables import KINDS

_PORTION_MS: Final = 3_600_000
"""History is read in portions: one long query would keep an agent from tidying up its store."""

_PATIENCE_MS: Final = 300_000
"""A record comes with the next snapshot of its owner; without one for so long, or for its own interval, by itself."""

_DEFINITION: Final = "definition"
"""The probe of readings of texts that are known from changes."""

_LABELLED: Final = {(part.kind.name, name): part.probe for part in (CF_BACKUP, CF_CONNECTIONS) for name in part.metrics}
"""Metrics of a part of a command that is asked at another time than the command's poll."""
_TOGETHER: Final = {("queue", "INQUIRE_STG_CLASS"): "INQUIRE_Q"}
"""Metrics that are worked out of one command's answer and come with another's."""

_SIGNS: Final = 3
"""Of so many metrics beside those that rules read, a value shows that a command has answered."""

_AGENT: Final = "agent"
_OUTCOME: Final = "outcome"
_COMPLETE: Final = frozenset({Outcome.OK.value, Outcome.NOT_FOUND.value})

_ts_of = attrgetter("ts")
_owner_of = attrgetter("object.owner")


class _Probe(NamedTuple):
    """The metrics that one probe fills: their cells of a row, and the names of those that a rule reads, which come first."""

    name: str
    poll: bool
    cells: slice
    width: int
    names: tuple[str, ...]


class _KindPlan:
    """Which columns are read of a kind, and how a row of them becomes readings."""

    def __init__(self, kind: Kind, wanted: frozenset[str]) -> None:
        self.kind = kind.name
        self.command = kind.poll_command
        self.vanishes = comes_and_goes(kind)
        by_probe: dict[str, list[str]] = {kind.poll: []}
        signs: dict[str, list[str]] = {}
        for each in kind.metrics:
            if is_polled(each):
                names = (
                    by_probe.setdefault(probe_of(kind, each), [])
                    if each.name in wanted
                    else signs.setdefault(probe_of(kind, each), [])
                )
                names.append(each.name)
        columns: list[str] = []
        probes = []
        for probe, names in by_probe.items():
            poll = probe == kind.poll
            # Of another command any value shows that it answered; of an object that comes and goes, that it is there.
            more = signs.get(probe, [])[: None if self.vanishes else 0 if poll else _SIGNS]
            begin = len(columns)
            columns += [*names, *more]
            probes.append(_Probe(probe, poll, slice(begin, len(columns)), len(names) + len(more), tuple(names)))
        self.columns, self.probes = tuple(columns), tuple(probes)
        self.recorded = tuple(each.name for each in kind.metrics if each.name in wanted and is_of_records(each))

    def readings(self, row: Poll) -> Iterator[Reading]:
        """The readings that a row was made of."""
        lacking = Absence.NO_ANSWER if is_empty(row.values) else Absence.NOT_RETURNED
        for name, poll, place, width, names in self.probes:
            cells = row.values[place]
            if (poll and not row.polled) or (not poll and cells.count(None) == width):
                continue
            values: dict[str, Reported] = {
                metric: lacking if cell is None else cell for metric, cell in zip(names, cells, strict=False)
            }
            yield Reading(row.object, name, row.ts, values, row.interval_ms, poll)


def is_empty(values: tuple[Number | None, ...]) -> bool:
    """Whether a row has no value."""
    return values.count(None) == len(values)


def comes_and_goes(kind: Kind) -> bool:
    """Whether objects of a kind end and begin without an entry of the journal."""
    return not kind.single and kind.name not in DEFINING and kind.name != _AGENT


def probe_of(kind: Kind, metric: Metric) -> str:
    """The probe whose readings have a metric of polls."""
    labelled = _LABELLED.get((kind.name, metric.name))
    if labelled is not None:
        return labelled
    command = _TOGETHER.get((kind.name, metric.command), metric.command)
    return kind.poll if command in ("", kind.poll_command) else command


def is_polled(metric: Metric) -> bool:
    """Whether polls may fill a metric of history; declared facts are those of the settings."""
    elsewhere = metric.declared or metric.needs_smf or metric.needs_statistics or metric.measured
    return metric.in_history and not elsewhere


def is_of_records(metric: Metric) -> bool:
    """Whether records may fill a metric of history."""
    return metric.in_history and bool(metric.smf or metric.statistics or metric.measured)


class PastSnapshots:
    """The snapshots from ``since`` to ``until`` (ms UTC), with what ``inputs`` names, in the order of time.

    ``selects`` chooses objects of kinds of which no others are read. An instance is iterated once. Raises StoreError.
    """

    def __init__(
        self,
        reader: StoreReader,
        inputs: BacktestInputs,
        since: int,
        until: int,
        *,
        selects: Callable[[ObjectName], bool] = lambda _: True,
        kinds: Mapping[str, Kind] = KINDS,
    ) -> None:
        self._reader = reader
        self._since, self._until = since, until
        self._selects = selects
        self._plans = {kind: _KindPlan(kinds[kind], wanted) for kind, wanted in inputs.numbers.items()}
        if any(plan.vanishes for plan in self._plans.values()):
            wanted = inputs.numbers.get(_AGENT, frozenset()) | {_OUTCOME}
            self._plans[_AGENT] = _KindPlan(kinds[_AGENT], wanted)
        self._chosen = frozenset(self._plans) - inputs.related
        self._texts = inputs.texts
        self._groups = {owner.name: owner.is_group for owner in reader.owners()}
        self._definitions = PastDefinitions(reader, inputs.texts, self._groups)
        self._ends: dict[str, deque[tuple[int, ObjectName]]] = {}
        self._records: dict[str, deque[Reading]] = {}
        self._complete: dict[tuple[str, str], bool] = {}
        """By owner and command: whether its newest answer was complete."""

    def known(self) -> tuple[Snapshot, ...]:
        """What was known at ``since``, for rules to know without being evaluated."""
        then = self._reader.as_of(self._since)
        found = []
        for owner in then.owners():
            readings: list[Reading] = []
            for kind, plan in self._plans.items():
                texts = self._texts.get(kind, frozenset())
                wanted = frozenset(plan.columns) | frozenset(plan.recorded) | texts
                if not wanted:
                    continue
                for name, values in then.current_by_kind(owner.name, kind, wanted).items():
                    readings += _known_readings(name, values, wanted)
                    if texts:
                        self._definitions.note(name, values)
            found.append(Snapshot(owner.name, owner.is_group, 0, self._since, tuple(readings)))
        return tuple(found)

    def __iter__(self) -> Iterator[Snapshot]:
        self._read_events()
        cycle = 0
        for number in range(self._since // _PORTION_MS, self._until // _PORTION_MS + 1):
            begin = max(number * _PORTION_MS, self._since)
            last = min((number + 1) * _PORTION_MS - 1, self._until)
            rows = [self._rows(plan, begin, last) for plan in self._plans.values()]
            for ts, together in groupby(heapq.merge(*rows, key=_ts_of), key=_ts_of):
                yield from self._alone(ts)
                cycle += 1
                by_owner = sorted(together, key=_owner_of)
                for owner, of_owner in groupby(by_owner, key=_owner_of):
                    yield self._snapshot(owner, ts, cycle, list(of_owner))
            yield from self._alone(last)
        yield from self._alone(self._until, patience_ms=0)

    def _rows(self, plan: _KindPlan, first: int, last: int) -> Iterator[Poll]:
        """The polls of a kind in a portion of time."""
        polls = self._reader.polls(plan.kind, plan.columns, first, others=True)
        chosen = plan.kind in self._chosen
        for poll in polls:
            if poll.ts > last:
                break
            if not chosen or self._selects(poll.object):
                yield poll
        polls.close()  # type: ignore[attr-defined]  # a generator: its query ends here

    def _snapshot(self, owner: str, ts: int, cycle: int, rows: list[Poll]) -> Snapshot:
        ended, ends = set(), self._ends.get(owner)
        while ends and ends[0][0] <= ts:
            ended.add(ends.popleft()[1])
        self._definitions.advance(ts, owner, (row.object for row in rows))
        self._note_outcomes(rows)
        readings: list[Reading] = []
        for row in rows:
            plan = self._plans[row.object.kind]
            if row.polled and is_empty(row.values) and (row.object in ended or self._is_gone(plan, owner)):
                ended.discard(row.object)
                readings.append(Reading(row.object, plan.probes[0].name, ts, {}, gone=True))
                self._definitions.forget(row.object)
                continue
            readings += plan.readings(row)
            if self._texts:
                texts = self._definitions.of(row.object)
                if texts:
                    readings.append(Reading(row.object, _DEFINITION, ts, dict(texts), poll=False))
        # One that ended between two of its polls.
        readings += [Reading(name, self._plans[name.kind].probes[0].name, ts, {}, gone=True) for name in sorted(ended)]
        records = self._records.get(owner)
        while records and records[0].ts <= ts:
            readings.append(records.popleft())
        return Snapshot(owner, self._groups.get(owner, False), cycle, ts, tuple(readings))

    def _note_outcomes(self, rows: Iterable[Poll]) -> None:
        plan = self._plans.get(_AGENT)
        if plan is None or _OUTCOME not in plan.columns:
            return
        place = plan.columns.index(_OUTCOME)
        asked: dict[tuple[str, str], bool] = {}
        for row in rows:
            if row.object.kind == _AGENT:
                key = row.object.owner, row.object.name.partition(" ")[0]
                asked[key] = asked.get(key, True) and row.values[place] in _COMPLETE
        self._complete.update(asked)

    def _is_gone(self, plan: _KindPlan, owner: str) -> bool:
        """Whether an object without any value is gone: a complete answer did not hold it."""
        if not plan.vanishes:
            return False
        whose = [
            complete
            for (asked, command), complete in self._complete.items()
            if command == plan.command and (asked == owner or self._groups.get(owner, False))
        ]
        return bool(whose) and all(whose)

    # -- records -----------------------------------------------------------------------------------------------------

    def _read_records(self) -> None:
        for plan in self._plans.values():
            if not plan.recorded:
                continue
            for record in self._reader.records(plan.kind, plan.recorded, self._since + 1):
                if not self._since < record.ts <= self._until:
                    continue
                if plan.kind in self._chosen and not self._selects(record.object):
                    continue
                values: dict[str, Reported] = {
                    name: value for name, value in zip(plan.recorded, record.values, strict=True) if value is not None
                }
                reading = Reading(
                    record.object,
                    record.source.name,
                    record.ts,
                    values,
                    record.interval_ms,
                    poll=False,
                    source=record.source,
                )
                self._records.setdefault(record.object.owner, deque()).append(reading)
        for owner, records in self._records.items():
            self._records[owner] = deque(sorted(records, key=_ts_of))

    def _alone(self, now: int, *, patience_ms: int = _PATIENCE_MS) -> Iterator[Snapshot]:
        """Snapshots of the records that no snapshot of their owner has taken in time, as of ``now`` (ms UTC)."""
        due = []
        for owner, records in self._records.items():
            while records and records[0].ts + min(records[0].interval_ms or patience_ms, patience_ms) <= now:
                due.append((records[0].ts, owner, records.popleft()))
        for (ts, owner), found in groupby(sorted(due, key=itemgetter(0, 1)), key=itemgetter(0, 1)):
            yield Snapshot(owner, self._groups.get(owner, False), 0, ts, tuple(record for *_, record in found))

    # -- objects that come and go ----------------------------------------------------------------------------------------

    def _read_events(self) -> None:
        self._read_records()
        self._definitions.read_changes(self._since, self._until)
        ends = {
            (each.gone, each.name)
            for each in self._reader.objects(gone=True)
            if each.gone is not None and each.name.kind in self._plans
        }
        entries = self._reader.journal(self._since, self._until, kinds=(EntryKind.OBJECT,), limit=MOST_CHANGES)
        ends |= {(each.ts, each.name) for each in entries if each.metric == GONE and each.name.kind in self._plans}
        for ts, name in sorted(ends):
            if self._since < ts <= self._until and self._is_read(name):
                self._ends.setdefault(name.owner, deque()).append((ts, name))

    def _is_read(self, name: ObjectName) -> bool:
        return name.kind not in self._chosen or self._selects(name)


def _is_lost(value: Reported) -> bool:
    return value is Absence.NOT_KEPT


def _known_readings(name: ObjectName, values: Mapping[str, CurrentValue], wanted: Iterable[str]) -> Iterator[Reading]:
    """The newest values of an object as readings: those of one probe and time are one."""
    together: dict[tuple[str, int, Source, int | None], dict[str, Value | Absence]] = {}
    for metric in wanted:
        each = values.get(metric)
        if each is None or each.ts is None or _is_lost(each.value):
            continue
        together.setdefault((each.probe, each.ts, each.source, each.interval_ms), {})[metric] = each.value
    for (probe, ts, source, interval), found in sorted(together.items(), key=lambda item: item[0][1]):
        yield Reading(name, probe, ts, found, interval, poll=False, source=source)
