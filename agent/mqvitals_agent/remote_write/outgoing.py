"""What an engine is sent next: the samples of a few commits at a time, read from the store and encoded.

A round is some rows of the order of commits, and its place moves when the engine has answered all of it. Within a round objects are
read page by page, so that memory is bounded, and the samples of a series stand together in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mqvitals_agent.remote_write.encoder import Encoder, ends_of
from mqvitals_agent.remote_write.protocol import Series
from mqvitals_agent.remote_write.series import LabelsAround, SentLabels, of_kinds
from mqvitals_agent.remote_write.totals import SentTotals, added
from mqvitals_agent.store.reading.stored_order import Pending, StoredOrderReader
from mqvitals_agent.store.rows.remote_write import RemotePlace, StoredSamples, Totals
from mqvitals_agent.store.rows.sealed.chunk import HourSamples
from mqvitals_agent.store.rows.sealed.codec import Cells
from mqvitals_agent.store.rows.tables import POLL
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS

ROUND_SAMPLES: Final = 20_000
"""About how many samples of objects a round has; of a sealed hour all of them."""
_PAGE_SAMPLES: Final = 5_000
"""About how many samples of objects are read at once."""


@dataclass(frozen=True, slots=True)
class Round:
    """Rows of the order that are sent together: from the place ``before`` to ``place``.

    ``first`` and ``last`` are the first and the last time of its samples, ms UTC. ``again``: these may have been sent before,
    by a process that has ended since.
    """

    before: int
    place: int
    commits: tuple[StoredSamples, ...]
    first: int
    last: int
    again: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """The series of one request, those of an object together."""

    series: tuple[Series, ...]

    @property
    def samples(self) -> int:
        """How many samples they have."""
        return sum(each.samples for each in self.series)


class Outgoing:
    """Reads and encodes what comes next for the engine ``name``. Use it in one thread; ``close`` it.

    Every method raises StoreError when the store cannot be read; the next ``begin`` goes on from the place that the store has.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        external: Mapping[str, str],
        most: int,
        *,
        kinds: Mapping[str, Kind] = KINDS,
        round_samples: int = ROUND_SAMPLES,
    ) -> None:
        """``most`` is about how many samples a request has."""
        self._path = path
        self._name = name
        self._external = external
        self._most = most
        self._kinds = kinds
        self._round_samples = round_samples
        self._sent = of_kinds(kinds)
        self._reader: StoredOrderReader | None = None
        self._file: tuple[int, int] | None = None
        self._place: int | None = None
        self._totals = SentTotals()
        self._objects: Mapping[int, ObjectName] = {}
        self._before: Totals = {}
        self._again = True
        self._batches: Iterator[Batch] | None = None
        self._round: Round | None = None
        self._found: Counter[int] = Counter()

    def close(self) -> None:
        """Close the store; a later ``begin`` opens it again."""
        self._place = self._batches = self._round = None
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def look(self) -> tuple[RemotePlace, Pending] | None:
        """The place that the store has, and what has not been sent since; None: the engine is not registered in this file."""
        reader = self._open()
        known = reader.place(self._name)
        return None if known is None else (known, reader.pending(known.place))

    def begin(self) -> Round | None:
        """The next round; None: nothing waits, or the engine is not registered in this file yet."""
        try:
            return self._begin()
        except BaseException:  # raised again; what is known of the file may be wrong now
            self.close()
            raise

    def next(self) -> Batch | None:
        """The next request of the round; None: it is complete."""
        assert self._batches is not None, "a round has begun"
        try:
            return next(self._batches, None)
        except BaseException:  # raised again; the totals hold a part of a round
            self.close()
            raise

    def missed(self) -> int:
        """How many samples of the round, which is complete, were no longer there."""
        assert self._round is not None, "a round has begun"
        numbers = self._round.commits[0].number, self._round.commits[-1].number
        remaining = self._open().remaining(numbers)
        # What a clock that was set back took is kept nowhere.
        return sum(
            max(each.samples - self._found[each.number], 0) for each in self._round.commits if each.number in remaining
        )

    def done(self) -> None:
        """The store has the place of the round."""
        assert self._round is not None, "a round has begun"
        self._place = self._round.place
        self._again = False
        self._round = self._batches = None

    def kept(self) -> tuple[int, Totals] | None:
        """The place that the store has, and the running totals as of it; None: nothing was sent yet."""
        if self._round is not None:
            return self._round.before, self._before
        return None if self._place is None else (self._place, self._totals.copy())

    def totals(self) -> Totals:
        """The running totals as of the end of the round, which is complete."""
        return self._totals.copy()

    def _open(self) -> StoredOrderReader:
        file = None
        with suppress(OSError):
            stat = self._path.stat()
            file = stat.st_dev, stat.st_ino
        if self._reader is not None and file != self._file:
            # Another file is in its place: what is known is of the one before.
            self.close()
        if self._reader is None:
            self._reader = StoredOrderReader.open(self._path, kinds=self._kinds)
            self._file = file
            self._labels = SentLabels(self._kinds, self._external)
            self._active: dict[int, int] = {}
        return self._reader

    def _begin(self) -> Round | None:
        reader = self._open()
        known = reader.place(self._name)
        if known is None:
            return None
        if self._place != known.place:
            self._resume(reader, known.totals_place, known.place)
        commits = reader.after(known.place, self._round_samples)
        if not commits:
            return None
        first, last = min(each.first for each in commits), max(each.last for each in commits)
        found = Round(known.place, commits[-1].number, commits, first, last, self._again)
        self._before = self._totals.copy()
        self._found = Counter()
        self._round = found
        self._batches = self._requests(found)
        return found

    def _resume(self, reader: StoredOrderReader, totals_place: int, place: int) -> None:
        """Go on from what the store has: totals as of a place, and the increases since then."""
        self._totals = SentTotals(reader.totals(self._name))
        self._again = True
        self._active = {}
        after = totals_place
        while commits := reader.after(after, self._round_samples, place):
            after = commits[-1].number
            for kind, span, _, page in self._pages(reader, commits, reader.objects(), totals_alone=True):
                for metric in self._sent[kind]:
                    if metric.total:
                        totals = self._totals.of(kind, metric.name)
                        for number, samples in page.items():
                            cells = samples.values.get(metric.name)
                            if cells is not None:
                                added(totals, number, _of_times(samples, cells, span.times))
        self._place = place

    def _requests(self, found: Round) -> Iterator[Batch]:
        """The requests of a round, as they are asked for."""
        gathered: list[Series] = []
        samples = 0
        for series in self._series(found):
            gathered.append(series)
            samples += series.samples
            if samples >= self._most:
                yield Batch(tuple(gathered))
                gathered, samples = [], 0
        if gathered:
            yield Batch(tuple(gathered))

    def _series(self, found: Round) -> Iterator[Series]:
        reader = self._open()
        objects = reader.objects()
        if objects is not self._objects:
            self._totals.forget_others(objects)
            self._objects = objects
        for number, around in self._labels.refresh(reader, objects, found.last).items():
            # An object with other labels is another series: the one before ends.
            yield from self._ends(number, objects[number].kind, around, found.first)
        for kind, span, recorded, page in self._pages(reader, found.commits, objects):
            encoder = Encoder(self._sent[kind], self._totals, span.times, self._active)
            for number, samples in page.items():
                if recorded is not None:
                    around = self._labels.recorded(number, objects[number], recorded)
                    series = encoder.recorded(samples, around)
                else:
                    series = encoder.polled(number, samples, self._labels.around(number))
                if series is not None:
                    yield series
        spans = {owner: (span.first, span.last) for owner, span in _spans(found.commits).items()}
        for gone in reader.gone(spans):
            if gone.number in objects:
                yield from self._ends(gone.number, gone.name.kind, self._labels.around(gone.number), gone.ts)

    def _ends(self, number: int, kind: str, around: LabelsAround, ts: int) -> Iterator[Series]:
        """The markers that the series of an object end."""
        found = ends_of(self._sent.get(kind, ()), self._active.pop(number, 0), around, ts)
        if found:
            yield Series(b"".join(found), len(found), ts, ts)

    def _pages(
        self,
        reader: StoredOrderReader,
        commits: Sequence[StoredSamples],
        objects: Mapping[int, ObjectName],
        *,
        totals_alone: bool = False,
    ) -> Iterator[tuple[str, _Span, int | None, dict[int, HourSamples]]]:
        """The samples of these rows of the order: kind, span, the source of records (None: polls), and samples by number."""
        by_kind: dict[tuple[str, str], list[int]] = {}
        for number, name in objects.items():
            by_kind.setdefault((name.kind, name.owner), []).append(number)
        metrics = {
            kind: reader.metrics(kind, {each.name for each in sent if each.total or not totals_alone})
            for kind, sent in self._sent.items()
        }
        for owner, span in _spans(commits).items():
            at_once = max(_PAGE_SAMPLES // len(span.times), 1)
            for kind, wanted in metrics.items():
                # Of a kind without series samples are counted nevertheless.
                numbers = by_kind.get((kind, owner), ()) if wanted or not totals_alone else ()
                for begin in range(0, len(numbers), at_once):
                    part = numbers[begin : begin + at_once]
                    page = reader.polled(kind, owner, (part[0], part[-1]), wanted, span.first, span.last)
                    if page:
                        self._count(span, page)
                        yield kind, span, None, page
        if totals_alone:
            return
        for commit in commits:
            if commit.source == POLL:
                continue
            span = _Span(commit.first, commit.last, {})
            for kind, wanted in metrics.items():
                page = (
                    reader.recorded(kind, commit.owner, commit.source, wanted, commit.first, commit.last)
                    if wanted
                    else {}
                )
                self._found[commit.number] += sum(len(each.ts) for each in page.values())
                if page:
                    yield kind, span, commit.source, page

    def _count(self, span: _Span, page: Mapping[int, HourSamples]) -> None:
        """Count the samples of each row of the order that are there."""
        whole: Counter[tuple[int, ...]] = Counter()
        for samples in page.values():
            whole[tuple(samples.ts)] += 1
        for times, count in whole.items():
            for ts in times:
                if (number := span.times.get(ts)) is not None:
                    self._found[number] += count


@dataclass(frozen=True, slots=True)
class _Span:
    """The snapshots of an owner in a round: the first and the last time, and the number of each by its time, ms UTC.

    Of records there are no such times.
    """

    first: int
    last: int
    times: Mapping[int, int]


def _spans(commits: Sequence[StoredSamples]) -> dict[str, _Span]:
    """The snapshots among rows of the order, by owner."""
    times: dict[str, dict[int, int]] = {}
    for each in commits:
        if each.source == POLL:
            times.setdefault(each.owner, {})[each.last] = each.number
    return {owner: _Span(min(own), max(own), own) for owner, own in times.items()}


def _of_times(samples: HourSamples, cells: Cells, times: Mapping[int, int]) -> Cells:
    """Those of the cells whose sample was taken at one of these times."""
    if all(ts in times for ts in samples.ts):
        return cells
    return [cell for ts, cell in zip(samples.ts, cells, strict=True) if ts in times]
