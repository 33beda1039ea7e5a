"""The past in the store, as windows and rules look at it while an agent runs: what cannot be read is not there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.reading.hours import Figures
from mqvitals_agent.store.result import Owner
from mqvitals_agent.store.rows.messages import NewMessages, StoredMessage
from mqvitals_agent.store.rows.samples.history import FIRST, LAST
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_agent.store.rows.samples.sample import Poll, Sample
from mqvitals_rules.snapshot import ObjectName, Snapshot, Source

_T = TypeVar("_T")


class ResilientReader:
    """The past in a store whose file may fail or be exchanged meanwhile: then what was read last, or nothing.

    ``error`` is what the file did last, None while it can be read. Rules are evaluated either way.
    """

    def __init__(self, reader: StoreReader) -> None:
        self._reader: StoreReader | None = reader
        self.error: StoreError | None = None
        self._owners: tuple[Owner, ...] = ()
        self._followed: Mapping[str, frozenset[str]] = {}
        self.generation = 0
        """Counts the exchanges of the file."""

    @property
    def failing(self) -> bool:
        """Whether the file could not be read at the last look."""
        return self._reader is None or self.error is not None

    def exchange(self, reader: StoreReader | None) -> None:
        """Read from this file from now on; None: there is none for the time being."""
        self._reader = reader
        self.error = None
        self.generation += 1

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def owners(self) -> tuple[Owner, ...]:
        """As of ``StoreReader``."""
        self._owners = self._read(lambda reader: reader.owners(), self._owners)
        return self._owners

    def snapshot_times(self, owner: str, newest: int) -> list[int]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.snapshot_times(owner, newest), [0])

    def polls(self, kind: str, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """As of ``StoreReader``."""
        return iter(self._read(lambda reader: list(reader.polls(kind, metrics, first)), list[Poll]()))

    def records(self, kind: str, metrics: Sequence[str], first: int) -> Iterator[Poll]:
        """As of ``StoreReader``."""
        return iter(self._read(lambda reader: list(reader.records(kind, metrics, first)), list[Poll]()))

    def newest_records(self) -> tuple[Snapshot, ...]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.newest_records(), ())

    def samples(
        self,
        name: ObjectName,
        metric: str,
        source: Source = Source.POLL,
        *,
        first: int = FIRST,
        last: int = LAST,
        newest: int | None = None,
    ) -> list[Sample]:
        """As of ``StoreReader``."""
        return self._read(
            lambda reader: reader.samples(name, metric, source, first=first, last=last, newest=newest), []
        )

    def hour_means(self, kind: str, metric: str, hours: Sequence[int]) -> dict[ObjectName, list[float]]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.hour_means(kind, metric, hours), {})

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> list[HourMean]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.hours(kind, metric, begun), [])

    def hours_of_kind(
        self, kind: str, metric: str, begun: Sequence[int], most: int | None = None
    ) -> dict[ObjectName, Figures]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.hours_of_kind(kind, metric, begun, most), {})

    def sources_followed(self) -> Mapping[str, frozenset[str]]:
        """As of ``StoreReader``; what was last read while the file fails, so that no alert ends for lack of a file."""
        self._followed = self._read(lambda reader: reader.sources_followed(), self._followed)
        return self._followed

    def messages(self, *, owners: Sequence[str], codes: Collection[str], limit: int) -> tuple[StoredMessage, ...]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.messages(owners=owners, codes=codes, limit=limit), ())

    def newest_messages(self, owner: str, code: str) -> tuple[StoredMessage, ...]:
        """As of ``StoreReader``."""
        return self._read(lambda reader: reader.newest_messages(owner, code), ())

    def new_messages(self, number: int, since: int) -> NewMessages:
        """As of ``StoreReader``; nothing while the file fails."""
        return self._read(lambda reader: reader.new_messages(number, since), NewMessages(number, since))

    def _read(self, question: Callable[[StoreReader], _T], otherwise: _T) -> _T:
        if self._reader is None:
            return otherwise
        try:
            found = question(self._reader)
        except StoreError as error:
            self.error = error
            return otherwise
        self.error = None
        return found


PastReader = StoreReader | ResilientReader
"""What windows read of the past. ``failing`` says that the last answers may lack what a later one has."""
