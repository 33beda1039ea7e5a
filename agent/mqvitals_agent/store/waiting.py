"""What waits for the file of a store that cannot be written: each sort up to some number."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from mqvitals_agent.store.rows.journal import JournalEntry
from mqvitals_rules.engine import UnknownCount
from mqvitals_rules.snapshot import Snapshot

MAX_WAITING_READINGS: Final = 60_000
"""The most readings that wait for a file that cannot be written: about a hundred megabytes."""

MAX_WAITING_ENTRIES: Final = 100
"""The most entries of the agent's own for the journal that wait."""


class WaitingSnapshot(NamedTuple):
    """A snapshot that waits; its transitions are in the memory of alerts already."""

    snapshot: Snapshot
    unknown: tuple[UnknownCount, ...]


class WaitingSnapshots:
    """Snapshots that wait, oldest first; ``readings`` is how many they hold together."""

    def __init__(self) -> None:
        self._queue: deque[WaitingSnapshot] = deque()
        self.readings = 0

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[WaitingSnapshot]:
        return iter(self._queue)

    @property
    def first(self) -> WaitingSnapshot:
        """The oldest. Raises IndexError when none waits."""
        return self._queue[0]

    def append(self, snapshot: Snapshot, unknown: tuple[UnknownCount, ...]) -> None:
        """One more waits."""
        self._queue.append(WaitingSnapshot(snapshot, unknown))
        self.readings += len(snapshot.readings)

    def forget_first(self) -> Snapshot:
        """The oldest waits no longer. Raises IndexError when none waits."""
        snapshot = self._queue.popleft().snapshot
        self.readings -= len(snapshot.readings)
        return snapshot

    def forget_all(self) -> None:
        """None waits any longer."""
        self._queue.clear()
        self.readings = 0

    def forget_beyond(self, most: int) -> Iterator[Snapshot]:
        """Give up the oldest until at most ``most`` readings wait, or one snapshot."""
        while self.readings > most and len(self._queue) > 1:
            yield self.forget_first()


class WaitingNotes:
    """What waits beside snapshots: entries for the journal, what is wrong with the settings.

    Of too many the newest are kept. ``settings_refused`` is None where the file has it.
    """

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []
        self._refused = ""
        self.settings_refused: str | None = None

    def keep_entry(self, entry: JournalEntry) -> None:
        """One more entry waits."""
        self.entries = [*self.entries, entry][-MAX_WAITING_ENTRIES:]

    def refuse_settings(self, text: str) -> None:
        """What is wrong with the settings waits; empty: nothing any more."""
        self._refused = self.settings_refused = text

    def begin_file(self) -> None:
        """A new file does not know what is wrong with the settings."""
        self.settings_refused = self._refused or None
