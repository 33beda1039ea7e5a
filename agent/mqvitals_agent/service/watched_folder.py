"""A folder in which the agent finds files of SMF records: looked at every ten seconds, read between the cycles.

A file is read when its size and time are the same at two looks, for it may still be on its way. It is read a little at a time, so
that cycles are stored in time. What was read is noted in the store, and read again only when it changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.journal import Journal
from mqvitals_agent.smf.error import SmfError
from mqvitals_agent.smf.groups import Groups
from mqvitals_agent.smf.intake import RecordIntake
from mqvitals_agent.smf.reader import records
from mqvitals_agent.smf.source import open_smf
from mqvitals_agent.smf.tally import Tally
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.smf_row import FileRow
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import Snapshot

_T = TypeVar("_T")

LOOK_MS: Final = 10_000
"""How often the folder is looked at."""
TURN_S: Final = 0.05
"""So long the thread of the store works at a file before cycles have their turn."""
PAUSE_MS: Final = 10
"""Between two turns."""
_AT_ONCE: Final = 60


class Taking(Protocol):
    """What takes records in, in the thread of the store."""

    @property
    def store(self) -> Store:
        """The open store. Raises StoreError."""
        ...

    def take_records(self, snapshot: Snapshot) -> None:
        """Judge and store. Raises StoreError."""
        ...


class InThread(Protocol):
    """Runs a function in the thread of the store."""

    def __call__(self, function: Callable[[], _T], /) -> Awaitable[_T]:
        """What the function returns; raises what it raises."""
        ...


@dataclass(slots=True)
class _Reading:
    """A file being read. All of it happens in the thread of the store."""

    file: FileRow
    tally: Tally = field(default_factory=Tally)
    open: ExitStack = field(default_factory=ExitStack)
    intake: RecordIntake | None = None
    steps: Iterator[None] | None = None


class WatchedFolder:
    """Looks at ``folder`` and reads what is new in it, in ``run``.

    ``groups`` are the names of groups. ``steady`` is a clock of seconds for the length of a turn.
    """

    def __init__(
        self,
        folder: Path,
        keeper: Taking,
        in_thread: InThread,
        groups: Groups,
        clock: Clock,
        journal: Journal,
        *,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._keeper = keeper
        self._in_thread = in_thread
        self._groups = groups
        self._clock = clock
        self._journal = journal
        self._steady = steady
        self._seen: frozenset[FileRow] = frozenset()
        self._failed: set[FileRow] = set()
        self._reading: _Reading | None = None
        self._paths: dict[FileRow, str] = {}

    async def run(self) -> None:
        """Look and read until cancelled. What a file or the store does wrong goes to the log."""
        try:
            while True:
                for file in await self._ready():
                    await self._read(file)
                await self._clock.sleep(LOOK_MS)
        finally:
            # A file that is half read is read anew at the next start: what is known of it then costs little.
            self._close()

    async def _ready(self) -> list[FileRow]:
        """The files that lie still and were not read, in the order of their times."""
        try:
            found, done = await self._in_thread(self._look)
        except OSError as error:
            problem = f"the watched folder {self._folder} cannot be read ({error.strerror}): make it, or set smf.watch"
            self._journal.changed("smf folder", "smf.folder_failed", problem, level="error")
            return []
        except StoreError:
            return []  # the cycles tell of it
        if self._journal.changed("smf folder", "smf.folder_failed", ""):
            self._journal.say("smf.folder_recovered", f"the watched folder {self._folder} can be read again")
        still = found & self._seen
        self._seen = found
        self._failed &= found
        return sorted(still - done - self._failed, key=lambda file: (file.changed_ns, file.name))

    def _look(self) -> tuple[frozenset[FileRow], frozenset[FileRow]]:
        found: dict[FileRow, str] = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.is_file():
                    continue
                facts = entry.stat()
                # A name may be no UTF-8; the store holds text.
                name = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                found[FileRow(name, facts.st_size, facts.st_mtime_ns)] = entry.path
        self._paths = found
        return frozenset(found), self._keeper.store.record_files()

    async def _read(self, file: FileRow) -> None:
        self._reading = reading = _Reading(file)
        try:
            while await self._in_thread(lambda: self._turn(reading)):
                await self._clock.sleep(PAUSE_MS)
            now = self._clock.now()
            await self._in_thread(lambda: self._keeper.store.keep_record_file(file, now))
        except (OSError, SmfError) as error:
            why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
            self._failed.add(file)
            self._journal.say(
                "smf.failed",
                f"{file.name} in {self._folder} cannot be read: {why}; copy it there again, in binary",
                level="error",
                file=file.name,
            )
        except StoreError as error:
            text = f"{file.name} cannot be taken in: {error}; it is tried again"
            self._journal.changed("smf store", "smf.store_failed", text, level="error")
        else:
            self._journal.changed("smf store", "smf.store_failed", "")
            self._tell(reading)
        finally:
            self._close()

    def _turn(self, reading: _Reading) -> bool:
        """Work at a file for a while; False when it is read."""
        ends = self._steady() + TURN_S
        if reading.steps is None:
            reading.intake = intake = RecordIntake(
                self._keeper.store, self._keeper.take_records, self._groups, at_once=_AT_ONCE
            )
            stream = reading.open.enter_context(open_smf(self._paths[reading.file]))
            reading.steps = intake.steps(records(stream, reading.tally))
        return any(self._steady() >= ends for _ in reading.steps)

    def _close(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.open.close()

    def _tell(self, reading: _Reading) -> None:
        assert reading.intake is not None
        taken, tally, name = reading.intake.taken, reading.tally, reading.file.name
        text = f"{name}: new records: {taken.new:,}, known before: {taken.known:,}, samples: {taken.readings:,}"
        self._journal.say("smf.read", text, file=name, records=taken.new, known=taken.known, samples=taken.readings)
        if tally.damage:
            self._journal.say(
                "smf.damaged",
                f"{name}: damaged records: {tally.lost:,}, the first at {tally.damage[0]}; 'mqvitals smf dump --summary' lists them",
                level="warning",
                file=name,
                damaged=tally.lost,
            )
        for queue_manager in sorted(taken.left_out):
            self._journal.changed(
                f"smf group {queue_manager}",
                "smf.group_unknown",
                f"{queue_manager}: structures and shared queues of SMF records are left out, as nothing tells the name of its"
                " queue-sharing group: set name in the configuration, and 'touch' the file",
                level="warning",
                queue_manager=queue_manager,
            )
