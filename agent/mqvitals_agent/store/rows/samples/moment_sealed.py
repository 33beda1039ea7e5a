"""Sealed hours as past moments see them: which samples count, and chunks that stay open for the next moment."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.rows.sealed.chunk import OpenSamples
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader
from mqvitals_agent.store.rows.tables import integer

_MOST_BYTES: Final = 100 << 20
"""Of open chunks: some hours of a list of ten thousand queues."""
_FEW: Final = 64
"""Objects that are opened apart: a page of one wants other metrics than a list of all."""


class MomentSample(NamedTuple):
    """A sample: the ms that it covers, whether the object was polled, whether it answers the poll of the kind, whether
    it holds any of the metrics of a condition, and its cells.
    """

    interval_ms: int | None
    polled: bool
    answered: bool
    holds_any: bool
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class SampleCondition:
    """Which samples of an object count.

    With ``polled`` those of its kind's poll, answered or not; with ``any_of`` those that hold any of these metrics.
    ``answers``: these are the metrics by which a poll is answered.
    """

    polled: bool = False
    any_of: tuple[str, ...] | None = None
    answers: bool = False

    @property
    def holds_any(self) -> str:
        """Whether a row ``s`` holds any of the metrics, as SQL."""
        listed = "".join(f', s."{name}"' for name in self.any_of or ())
        return "1" if self.any_of is None else f"coalesce(NULL, NULL{listed}) IS NOT NULL"

    @property
    def sql(self) -> str:
        """The condition of a row ``s``."""
        return f"s.polled AND {self.holds_any}" if self.polled else self.holds_any

    def counts(self, sample: MomentSample) -> bool:
        """Whether a sample counts, which was read for this condition."""
        return sample.holds_any and (sample.polled or not self.polled)

    def holding(self, samples: OpenSamples) -> int:
        """With a bit for each sample: whether it holds any of the metrics."""
        if self.any_of is None:
            return (1 << len(samples.ts)) - 1
        if self.answers:
            return samples.answered
        there = 0
        for name in self.any_of:
            if (column := samples.values.get(name)) is not None:
                there |= column.there
        return there

    def newest(self, samples: OpenSamples, until: int) -> int | None:
        """When the newest sample by ``until`` was taken that counts (both ms UTC); None: there is none."""
        counting = self.holding(samples) & ((1 << bisect_right(samples.ts, until)) - 1)
        if self.polled:
            counting &= samples.polled
        return samples.ts[counting.bit_length() - 1] if counting else None


class OpenFor(NamedTuple):
    """What chunks are opened for: objects of a kind and owner, the source of samples, the metrics that answer a poll."""

    kind: str
    owner: str
    source: int
    answering: frozenset[str]


@dataclass(slots=True)
class _OpenHour:
    """Chunks of an hour: the metrics that are read of them, and the objects that were asked for.

    ``mark`` is that of the chunks of objects with numbers within ``bounds``, as of the ``version`` of the file.
    """

    names: frozenset[str]
    version: int
    asked: set[int] = field(default_factory=set)
    samples: dict[int, OpenSamples] = field(default_factory=dict)
    bounds: tuple[int, int] = (0, 0)
    mark: tuple[int, ...] = ()
    size: int = 0


class OpenHours:
    """Chunks that were opened last, for the next moments in their hours. What has changed since is opened again.

    Use it over one connection. Every method raises sqlite3.Error, and TypeError for a cell that no chunk has. A damaged
    chunk is as one that is not there.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._reader = ChunkReader()
        self._hours: OrderedDict[tuple[OpenFor, int, bool], _OpenHour] = OrderedDict()
        self._version = -1
        self._last: int | None = None

    @property
    def count(self) -> int:
        """How many hours are open, those of single objects apart."""
        return len(self._hours)

    @property
    def size(self) -> int:
        """About how many bytes they take."""
        return sum(each.size for each in self._hours.values())

    def last(self, connection: sqlite3.Connection) -> int | None:
        """The last hour that is sealed; None: none is."""
        self._look_at_version(connection)
        return self._last

    def of(
        self,
        connection: sqlite3.Connection,
        wanted: OpenFor,
        hour: int,
        numbers: Collection[int],
        names: Collection[str],
    ) -> Mapping[int, OpenSamples]:
        """The samples of an hour of those of the objects ``numbers`` of which there is a chunk, and of others, by number;
        of the metrics ``names`` and of others.
        """
        self._look_at_version(connection)
        key = wanted, hour, len(numbers) <= _FEW
        found = self._hours.get(key)
        if found is not None and found.version != self._version:
            if found.mark == self._reader.mark(connection, hour, found.bounds):
                found.version = self._version
            else:
                found = None
                self._reader = ChunkReader()
        if found is None or not found.names.issuperset(names):
            others = frozenset() if found is None else found.names
            found = self._hours[key] = _OpenHour(others.union(names), self._version)
        self._hours.move_to_end(key)
        missing = set(numbers).difference(found.asked)
        if missing:
            self._open(connection, wanted, hour, missing, found)
        return found.samples

    def _open(
        self, connection: sqlite3.Connection, wanted: OpenFor, hour: int, numbers: Collection[int], into: _OpenHour
    ) -> None:
        kind, owner, source, answering = wanted
        chunks = self._reader.opened(connection, hour, kind, owner, numbers, source, into.names, answering)
        for number, samples in chunks:
            into.samples[number] = samples
            into.size += samples.size
        into.asked.update(numbers)
        into.bounds = min(into.asked), max(into.asked)
        into.mark = self._reader.mark(connection, hour, into.bounds)
        size = self.size
        for key in [*self._hours][:-1]:
            if size <= self._most_bytes:
                break
            size -= self._hours.pop(key).size

    def _look_at_version(self, connection: sqlite3.Connection) -> None:
        version = integer(connection.execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            self._version = version
            span = self._reader.span(connection)
            self._last = None if span is None else span[1]
