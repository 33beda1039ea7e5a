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
from typing import Any, Final

from mqvitals_agent.remote_write.protocol import Series, encode_stale, frame_of, pack, series_of, varint
from mqvitals_agent.remote_write.series import ObjectLabels, SentFamily, SentMetric, Tail, of_kinds
from mqvitals_agent.remote_write.totals import RunningTotals, added
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
    """The series of one request."""

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
        self._totals = RunningTotals()
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
            self._labels = ObjectLabels(self._kinds, self._external)
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
        self._totals = RunningTotals(reader.totals(self._name))
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
        self._totals.forget_others(objects)
        for number, tail in self._labels.refresh(reader, objects, found.last).items():
            # An object with other labels is another series: the one before ends.
            yield from self._ends(number, objects[number].kind, tail, found.first)
        for kind, span, recorded, page in self._pages(reader, found.commits, objects):
            sent = self._sent[kind]
            encoder = _Encoder(sent, span.times, self._active)
            totals = [self._totals.of(kind, metric.name) if metric.total else None for metric in sent]
            for number, samples in page.items():
                if recorded is not None:
                    tail = self._labels.recorded(number, objects[number], recorded)
                    yield from encoder.recorded(samples, tail)
                else:
                    yield from encoder.polled(number, samples, self._labels.tail(number), totals)
        spans = {owner: (span.first, span.last) for owner, span in _spans(found.commits).items()}
        for gone in reader.gone(spans):
            if gone.number in objects:
                yield from self._ends(gone.number, gone.name.kind, self._labels.tail(gone.number), gone.ts)

    def _ends(self, number: int, kind: str, tail: Tail, ts: int) -> Iterator[Series]:
        """The markers that the series of an object end."""
        active = self._active.pop(number, 0)
        for place, metric in enumerate(self._sent.get(kind, ())):
            if active >> place & 1:
                for each in metric.polled:
                    labels = tail.before + each.head + tail.behind
                    yield Series(series_of(labels, encode_stale(ts)), 1, ts, ts)

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


class _Encoder:
    """Encodes the samples of objects of one kind, of whose metrics those are sent.

    ``times`` are those of the snapshots that are sent: other samples may lie between them, whose turn comes later.
    ``active`` says of each object, by number, which of its metrics the engine has as going on, a bit for each.
    """

    def __init__(self, sent: Sequence[SentMetric], times: Mapping[int, int], active: dict[int, int]) -> None:
        self._sent = sent
        self._times = times
        self._active = active

    def polled(
        self, number: int, samples: HourSamples, tail: Tail, totals: Sequence[dict[int, float] | None]
    ) -> Iterator[Series]:
        """The series of an object's polls."""
        ts, polled = samples.ts, samples.polled
        columns: Mapping[str, Cells] = samples.values
        if not all(map(self._times.__contains__, ts)):
            chosen = [place for place, each in enumerate(ts) if each in self._times]
            ts, polled = [ts[place] for place in chosen], [polled[place] for place in chosen]
            columns = {name: [cells[place] for place in chosen] for name, cells in columns.items()}
        if not ts:
            return
        frames = [frame_of(each) for each in ts]
        active = self._active.get(number, 0)
        unanswered: frozenset[int] = frozenset()
        if active:
            every = list(columns.values())
            unanswered = frozenset(
                place for place, own in enumerate(polled) if own and all(cells[place] is None for cells in every)
            )
        bit = 1
        for metric, of_metric in zip(self._sent, totals, strict=True):
            cells = columns.get(metric.name)
            was = bool(active & bit)
            if cells is not None and of_metric is not None:
                cells = added(of_metric, number, cells)
            if cells is None and not was:
                bit <<= 1
                continue
            if cells is None:
                cells = (None,) * len(ts)
            ends: list[int] = []
            goes_on = was
            if was or None in cells:
                for place, cell in enumerate(cells):
                    if cell is not None:
                        goes_on = True
                    elif goes_on and (place in unanswered or (metric.of_poll and polled[place])):
                        ends.append(place)
                        goes_on = False
            else:
                goes_on = True
            for family in metric.polled:
                series = _series(family, tail, ts, frames, cells, ends)
                if series is not None:
                    yield series
            active = active | bit if goes_on else active & ~bit
            bit <<= 1
        self._active[number] = active

    def recorded(self, samples: HourSamples, tail: Tail) -> Iterator[Series]:
        """The series of what records say of an object."""
        frames = [frame_of(each) for each in samples.ts]
        for metric in self._sent:
            cells = samples.values.get(metric.name)
            if cells is None:
                continue
            for family in metric.recorded:
                series = _series(family, tail, samples.ts, frames, cells, ())
                if series is not None:
                    yield series


def _series(
    sent: SentFamily,
    tail: Tail,
    ts: Sequence[int],
    frames: Sequence[tuple[bytes, bytes]],
    cells: Sequence[Any],
    ends: Sequence[int],
) -> Series | None:
    """The series of a family: a sample for each cell that is there, a marker where it ends; None: there is neither."""
    family, scale = sent.family, sent.family.scale
    if not sent.plain:
        cells = [None if cell is None else family.value_of(cell) for cell in cells]
    elif scale != 1:
        cells = [None if cell is None else cell * scale for cell in cells]
    if len(cells) == 1 and cells[0] is not None:
        before, after = frames[0]
        encoded = b"%b%b%b" % (before, pack(cells[0]), after)
        labels = b"%b%b%b" % (tail.before, sent.head, tail.behind)
        return Series(b"\x0a%b%b%b" % (varint(len(labels) + len(encoded)), labels, encoded), 1, ts[0], ts[0])
    parts = {
        place: before + pack(cell) + after
        for place, (cell, (before, after)) in enumerate(zip(cells, frames, strict=True))
        if cell is not None
    }
    for place in ends:
        parts[place] = encode_stale(ts[place])
    if not parts:
        return None
    places = sorted(parts)
    labels = tail.before + sent.head + tail.behind
    data = series_of(labels, b"".join(map(parts.__getitem__, places)))
    return Series(data, len(places), ts[places[0]], ts[places[-1]])
