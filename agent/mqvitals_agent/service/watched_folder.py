"""A folder in which the agent finds files of SMF records: looked at every ten seconds, read between the cycles.

A file is read when its size and time are the same at two looks, for it may still be on its way. Folder and files are
read in threads of their own, so that a file system that does not answer holds up nothing else; what was read is
stored a little at a time, so that cycles are stored in time. What was read is noted in the store, and read again only
when it changes.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from mqvitals_agent.clock import Clock
from mqvitals_agent.log import as_change, as_event, as_recovery, forget
from mqvitals_agent.service.cycles.cycle_writer import CycleWriter
from mqvitals_agent.smf.ingest import IngestResult, RecordIngest, strange_words
from mqvitals_agent.smf.measured import Systems
from mqvitals_agent.smf.partial_sample import GroupNames
from mqvitals_agent.smf.reader import ReadCounts, open_smf, read_error, records_in_steps
from mqvitals_agent.smf.record import Record, SmfError
from mqvitals_agent.smf.restart import RestartDetector
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.samples.smf_records import SmfFile
from mqvitals_agent.threads import BoundedCall, NoAnswerError, ThreadWorker

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")

LOOK_MS: Final = 10_000
"""How often the folder is looked at."""
TURN_S: Final = 0.05
"""The thread of the store works this long at a file before cycles have their turn."""
PAUSE_MS: Final = 10
"""Between two turns."""
ANSWER_S: Final = 60.0
"""A file whose next records cannot be read within this time is given up until it changes."""
_AT_ONCE: Final = 60


class _FileReading:
    """A file being read, in a thread that may hang: giving it up does not wait for it to be closed."""

    def __init__(self, path: str, now_us: int) -> None:
        self.counts = ReadCounts()
        self._path = path
        self._now_us = now_us
        self._open = ExitStack()
        self._steps: Iterator[Record | None] | None = None
        self._lock = threading.Lock()
        self._busy = False
        self._given_up = False

    def batch(self) -> list[Record | None]:
        """The next records, with None for a stretch that holds none; nothing at the end.

        Raises OSError and SmfError.
        """
        with self._lock:
            self._busy = True
        try:
            if self._steps is None:
                stream = self._open.enter_context(open_smf(self._path))
                self._steps = records_in_steps(stream, self.counts, self._now_us, measured=True)
            return list(islice(self._steps, _AT_ONCE))
        finally:
            with self._lock:
                self._busy = False
                if self._given_up:
                    self._open.close()

    def close(self) -> None:
        """Let go of the file, at once or when the thread comes back from it."""
        with self._lock:
            self._given_up = True
            if not self._busy:
                self._open.close()


class WatchedFolder:
    """Looks at ``folder`` and reads what is new in it, in ``run``.

    ``groups`` are the names of groups. ``steady`` is a clock of seconds for the length of a turn, else ``clock``'s.
    ``calls`` makes what reads the folder or a file.
    """

    def __init__(
        self,
        folder: Path,
        writer: CycleWriter,
        thread: ThreadWorker,
        groups: GroupNames,
        clock: Clock,
        *,
        steady: Callable[[], float] | None = None,
        calls: Callable[[], BoundedCall] = BoundedCall,
    ) -> None:
        self._folder = folder
        self._writer = writer
        self._thread = thread
        self._groups = groups
        self._clock = clock
        self._steady = steady or clock.steady_s
        self._seen: frozenset[SmfFile] = frozenset()
        self._failed: set[SmfFile] = set()
        self._restarts = RestartDetector()
        self._systems = Systems()
        self._calls = calls
        self._looking = calls()
        self._paths: dict[SmfFile, str] = {}

    async def run(self) -> None:
        """Look and read until cancelled. What a file or the store does wrong goes to the log."""
        while True:
            for file in await self._ready():
                await self._read(file)
            await self._clock.sleep(LOOK_MS)

    async def _ready(self) -> list[SmfFile]:
        """The files that lie still and were not read, in the order of their times."""
        try:
            with self._clock.hold():
                paths = await self._looking.run(self._look, ANSWER_S)
            done = await self._thread.run(self._done)
        except (OSError, NoAnswerError) as error:
            why = (
                f"({error.strerror}): create it"
                if isinstance(error, OSError)
                else "because it does not answer: check its file system"
            )
            problem = f"the watched folder {self._folder} cannot be read {why}, or set smf.watch"
            _LOG.error(problem, extra=as_change("smf folder", "smf.folder_failed"))
            return []
        except StoreError:
            return []  # the cycles report it
        _LOG.info(
            f"the watched folder {self._folder} can be read again",
            extra=as_recovery("smf folder", "smf.folder_recovered"),
        )
        self._paths = paths
        found = frozenset(paths)
        still = found & self._seen
        self._seen = found
        self._failed &= found
        return sorted(still - done - self._failed, key=lambda file: (file.changed_ns, file.name))

    def _done(self) -> frozenset[SmfFile]:
        return self._writer.store.smf.files()

    def _look(self) -> dict[SmfFile, str]:
        found: dict[SmfFile, str] = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.is_file():
                    continue
                facts = entry.stat()
                # A name may be no UTF-8; the store holds text.
                name = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                found[SmfFile(name, facts.st_size, facts.st_mtime_ns)] = entry.path
        return found

    async def _read(self, file: SmfFile) -> None:
        # A file that is half read at the end is read again at the next start; known records cost little.
        reading = _FileReading(self._paths[file], self._clock.now() * 1000)
        call = self._calls()
        try:
            ingest = await self._thread.run(self._ingest)
            while batch := await self._batch(call, reading):
                if found := [record for record in batch if record is not None]:
                    await self._in_turns(ingest.add(found))
            await self._in_turns(ingest.finish())
            now = self._clock.now()
            await self._thread.run(lambda: self._writer.store.smf.add_file(file, now))
        except (OSError, SmfError) as error:
            self._failed.add(file)
            _LOG.error(
                f"{file.name} in {self._folder} cannot be read: {read_error(error)}; copy it there again, in binary",
                extra=as_event("smf.failed", file=file.name),
            )
        except NoAnswerError:
            self._failed.add(file)
            text = f"{file.name} in {self._folder} does not answer: check its file system, then 'touch' the file"
            _LOG.error(text, extra=as_event("smf.failed", file=file.name))
        except StoreError as error:
            text = f"{file.name} cannot be imported: {error}; the agent will retry"
            _LOG.error(text, extra=as_change("smf store", "smf.store_failed"))
        else:
            forget(_LOG, "smf store")
            self._log_import(file.name, ingest.result, reading.counts)
        finally:
            reading.close()

    async def _batch(self, call: BoundedCall, reading: _FileReading) -> Sequence[Record | None]:
        with self._clock.hold():
            return await call.run(reading.batch, ANSWER_S)

    def _ingest(self) -> RecordIngest:
        return RecordIngest(
            self._writer.store,
            self._writer.take_records,
            self._groups,
            at_once=_AT_ONCE,
            restarts=self._restarts,
            systems=self._systems,
            facts=self._writer.facts,
        )

    async def _in_turns(self, steps: Iterator[None]) -> None:
        """Make all steps in the thread of the store, for a short while at a time."""
        while await self._thread.run(self._turn, steps):
            await self._clock.sleep(PAUSE_MS)

    def _turn(self, steps: Iterator[None]) -> bool:
        """Work for a while; False when all is done."""
        ends = self._steady() + TURN_S
        return any(self._steady() >= ends for _ in steps)

    def _log_import(self, name: str, taken: IngestResult, counts: ReadCounts) -> None:
        text = f"{name}: new records: {taken.new:,}, already imported: {taken.known:,}, samples: {taken.readings:,}"
        _LOG.info(
            text, extra=as_event("smf.read", file=name, records=taken.new, known=taken.known, samples=taken.readings)
        )
        if counts.damage:
            _LOG.warning(
                f"{name}: damaged records: {counts.lost:,}, the first at {counts.damage[0]}; 'mqvitals smf dump --summary' lists them",
                extra=as_event("smf.damaged", file=name, damaged=counts.lost),
            )
        if taken.damage:
            _LOG.warning(
                f"{name}: records of RMF with impossible figures: {len(taken.damage):,}, the first at {taken.damage[0]}",
                extra=as_event("smf.damaged", file=name, damaged=len(taken.damage)),
            )
        for system, count in sorted(taken.strange.items()):
            _LOG.warning(
                f"{name}: {strange_words(system, count)}",
                extra=as_change(f"smf system {system}", "smf.system_unknown", system=system),
            )
        for words in taken.unseen:
            _LOG.warning(words, extra=as_change(f"smf class {words}", "smf.class_unknown"))
        for restart in taken.restarts:
            _LOG.info(
                f"{name}: {restart.words()}: rates and increases of two intervals are not evaluated",
                extra=as_event("smf.restart", file=name, queue_manager=restart.queue_manager),
            )
        if taken.unnamed.count:
            _LOG.warning(
                f"{name}: objects left out for their names: {taken.unnamed.count:,}, the first at {taken.unnamed.first[0]}",
                extra=as_event("smf.unnamed", file=name, objects=taken.unnamed.count),
            )
        for queue_manager, count in sorted(taken.left_out.items()):
            _LOG.warning(
                f"{queue_manager}: samples of structures and shared queues that cannot be shown, because the name of its"
                f" queue-sharing group is unknown: {count:,}; set name in the configuration, and 'touch' the file",
                extra=as_change(f"smf group {queue_manager}", "smf.group_unknown", queue_manager=queue_manager),
            )
