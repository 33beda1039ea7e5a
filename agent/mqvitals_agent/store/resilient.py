"""The store of a running agent: alerts and notifications first in memory, everything in the file as soon as it can be
written.

A full disk, another program's lock or a lost file keep no rule from being evaluated and no notification from being sent. Snapshots that cannot be
written wait, the oldest are dropped when there are too many, and both are counted. Alerts and notifications are never
dropped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from mqvitals_agent.store.error import StoreError, StoreErrorKind, StoreIncident, StoreState
from mqvitals_agent.store.file.store_file import is_store, verify
from mqvitals_agent.store.older import ResilientReader
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_agent.store.rows.alerts.alert_memory import AlertMemory
from mqvitals_agent.store.rows.alerts.notifications import UpdateOutbox
from mqvitals_agent.store.rows.journal import JournalEntry
from mqvitals_agent.store.rows.samples.snapshot_writer import check_snapshot_time
from mqvitals_agent.store.waiting import MAX_WAITING_READINGS, WaitingNotes, WaitingSnapshots
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.lifecycle.alert import Transition
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported

RETRY_AFTER_S = 1.0
"""The time after a failure until a change of a notification tries to write the file again."""

BUSY_TIMEOUT_MS = 250
"""How long a transaction waits for another program's: then it waits in memory, and the next cycle tries again."""

REPORT_LOCK_AFTER_MS = 5_000
"""A shorter lock of another program is not reported."""

WRITE_STEP_S = 0.5
"""How long one cycle writes what has waited."""

MAX_READINGS_PER_TRANSACTION = 5_000
"""The most readings in one transaction: other programs that write wait for its end."""


class LatestValue(Protocol):
    """The newest values in memory."""

    def __call__(self, name: ObjectName, metric: str) -> Reported | None:
        """The newest value of a metric; None: none yet."""
        ...


class ResilientStore:
    """Takes everything of a cycle; the file follows as soon as it can. Use it from one thread.

    ``open_file`` opens the file at its place, or makes it, at a moment (ms UTC), and waits for other programs for so
    many ms (0: as long as at a start). ``now`` is the agent's time. ``dropped`` is called with each snapshot that is
    given up. ``steady`` is a clock of seconds for the length of a step.

    As long as ``Store`` has it, everything raises StoreError only where the file alone can answer.
    """

    def __init__(
        self,
        open_file: Callable[[int, int], Store],
        now: Callable[[], int],
        *,
        dropped: Callable[[Snapshot], None] = lambda _: None,
        most_readings: int = MAX_WAITING_READINGS,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises StoreError when the file cannot be opened or read."""
        self._open_file = open_file
        self._now = now
        self._on_dropped = dropped
        self._most = most_readings
        self._steady = steady
        self._waiting = WaitingSnapshots()
        self._notes = WaitingNotes()
        self._gathered: int | None = None
        """How many snapshots were taken in to be written together; None: each is written at once."""
        self._trouble: StoreError | None = None
        self._since: int | None = None
        self._dropped = 0
        self._refusal: StoreError | None = None
        self._failed = 0.0
        self.written_snapshots = self.written_readings = 0
        """What the file has taken since the agent began."""
        self._incidents: list[StoreIncident] = []
        self._unreported: list[StoreIncident] = []
        self._groups: set[str] = set()
        self.latest: LatestValue | None = None
        """Set it to the rules' latest values: those of the cycle under evaluation are not in the file yet."""
        self._file: Store | None = open_file(now(), 0)
        self._memory = AlertMemory(self._file.path, changed=self._follow, new_receivers=self._load_receivers)
        self.alerts = self._memory.alerts
        self.notifications = self._memory.notifications
        """Alerts, notifications and receivers in memory; the file follows each change."""
        self.path = self._file.path
        try:
            with self._file.database.reading() as connection:
                self._memory.load(connection)
            self._groups |= self._file.groups()
            self.older = ResilientReader(StoreReader.open(self.path))
            self._file.set_patience(BUSY_TIMEOUT_MS)
        except BaseException:  # raised again; a store that is half open keeps its lock
            self._file.close()
            raise

    @property
    def file(self) -> Store:
        """The open file, for what only it can answer. Raises StoreError while there is none."""
        if self._file is None:
            assert self._trouble is not None, "a file that is away is a trouble"
            raise self._trouble
        return self._file

    @property
    def state(self) -> StoreState:
        """How it is now."""
        return StoreState(
            self._trouble if self._is_reported() else None,
            self._since or 0,
            len(self._waiting),
            self._dropped,
            self._memory.unwritten,
            len(self._incidents),
            self._incidents[-1] if self._incidents else None,
        )

    @property
    def refused(self) -> Mapping[str, int]:
        """What the file could not take because of what it was, by kind, and how often."""
        return {} if self._file is None else {kind: count for kind, count in self._file.refused.items() if count}

    def take_refusal(self) -> StoreError | None:
        """Why a snapshot could not be stored because of what it holds, once."""
        refusal, self._refusal = self._refusal, None
        return refusal

    def take_incidents(self) -> list[StoreIncident]:
        """The files that could not be gone on with, each once."""
        unreported, self._unreported = self._unreported, []
        return unreported

    def write(
        self, snapshot: Snapshot, evaluation: Evaluation, update_outbox: UpdateOutbox | None = None
    ) -> Sequence[tuple[int, Transition]]:
        """Take in a snapshot; returns the visible transitions with the alerts' numbers. Raises what ``update_outbox`` raises.

        Whether the file can be written makes no difference to the caller.
        """
        check_snapshot_time(snapshot)
        visible = self._take(snapshot, evaluation, update_outbox)
        self._waiting.append(snapshot, evaluation.unknown)
        if self._gathered is not None:
            self._gathered += 1
        if self._trouble is None and (self._gathered is None or self._waiting.readings > MAX_READINGS_PER_TRANSACTION):
            self._write_waiting()
        self._drop()
        return visible

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """A block that takes in the snapshots of a cycle; at its end the file gets them, in one transaction where
        they are small.

        Until then alerts and notifications are in memory. Nothing is sent before the end: the outbox asks this
        thread, which is busy.
        """
        self._gathered = 0
        try:
            yield
        finally:
            gathered, self._gathered = self._gathered, None
            if self._trouble is None:
                self._write_together()
            # Once for each snapshot, as without gathering: a step ends after a short while although more may wait.
            for _ in range(gathered):
                if self._waiting and self._trouble is None:
                    self._write_waiting()

    def write_now(
        self, snapshot: Snapshot, evaluation: Evaluation, update_outbox: UpdateOutbox | None = None
    ) -> Sequence[tuple[int, Transition]]:
        """Take in what can be read again: only its alerts are kept when the file cannot be written.

        Raises StoreError then.
        """
        check_snapshot_time(snapshot)
        visible = self._take(snapshot, evaluation, update_outbox)
        self.check()
        taken = ((snapshot, evaluation.unknown),)
        if not self._attempt(lambda file: file.write_together(taken, self._memory.write_to)):
            raise self._trouble or StoreError(f"the store {self.path} was begun anew", "it is tried again")
        self._memory.written()
        self.written_readings += len(snapshot.readings)
        return visible

    def check(self) -> None:
        """Raises StoreError while the file cannot be written."""
        if self._trouble is not None:
            raise self._trouble

    def retry(self) -> None:
        """Once a cycle: look whether the file is still the same and whole, and write what has waited, for a
        short while.
        """
        if self._file is not None:
            error = self.older.error
            try:
                if error is not None and error.kind.lost:
                    verify(self.path)
                self._file.check()
            except StoreError as lost:
                self._fail(lost)
        if self._file is None:
            self._open()
        if self._file is None:
            return
        self._trouble = None
        for step in (
            self._write_alerts,
            self._write_settings_refused,
            self._write_entries,
            self._write_waiting,
        ):
            step()
            if self._trouble is not None:
                return
        self._since = None
        self._file.note_trouble("")

    def suspect(self, error: StoreError) -> None:
        """Upkeep has failed with ``error``: where the file proves to be damaged, it is set aside as when a write fails."""
        if not error.kind.lost or self._file is None:
            return
        try:
            verify(self.path)
            self._file.check()
        except StoreError as lost:
            self._fail(lost)

    @property
    def actions(self) -> Actions:
        """What people did about alerts, as of the last ``read_actions``: also while there is no file."""
        return self._memory.actions

    def read_actions(self) -> Actions:
        """Look for what people did since; the same object as before where nothing is new. Raises StoreError."""
        self._memory.actions = self.file.actions.read(self._memory.actions)
        return self._memory.actions

    def groups(self) -> frozenset[str]:
        """The owners that are the group."""
        return frozenset(self._groups)

    def value_now(self, name: ObjectName, metric: str) -> Reported:
        """The newest value of a metric that the rules have; else that of the file."""
        known = None if self.latest is None else self.latest(name, metric)
        if known is not None:
            return known
        with suppress(StoreError):
            return self.file.value_now(name, metric)
        return Absence.NOT_ASKED

    def _load_receivers(self, names: Sequence[str]) -> None:
        """Read from the file what it alone keeps about receivers that are new in memory."""
        if self._file is not None:
            with suppress(StoreError), self._file.database.reading() as connection:
                self._memory.load_receivers(connection, names)

    def note_refused(self, text: str) -> None:
        """As of ``Store``, as soon as the file can be written."""
        self._notes.refuse_settings(text)
        if self._trouble is None:
            self._write_settings_refused()

    def note_entry(self, entry: JournalEntry) -> None:
        """Keep an entry of the journal that is of no snapshot, as soon as the file can be written; the newest of many."""
        self._notes.keep_entry(entry)
        if self._trouble is None:
            self._write_entries()

    def close(self) -> None:
        """Write what can be written, and close; a second call does nothing. ``state`` has what could not be written."""
        if self._file is not None and (self._waiting or self._memory.unwritten):
            self.retry()
        self.older.close()
        if self._file is not None:
            self._file.close()

    def _take(
        self, snapshot: Snapshot, evaluation: Evaluation, update_outbox: UpdateOutbox | None
    ) -> Sequence[tuple[int, Transition]]:
        if snapshot.group:
            self._groups.add(snapshot.owner)
        return self._memory.take(evaluation.transitions, update_outbox)

    def _follow(self) -> None:
        """Bring the file to the state of the memory: what was sent and is not noted there is sent again after a kill.

        While it cannot be written that is tried once a second, as each attempt may wait for another program.
        """
        if self._trouble is None or self._steady() - self._failed >= RETRY_AFTER_S:
            self._write_alerts()

    def _write_alerts(self) -> None:
        if self._memory.unwritten and self._attempt(lambda file: file.write_alerts(self._memory.write_to)):
            self._memory.written()

    def _write_together(self) -> None:
        """Write all that waits in one transaction. When that fails everything still waits."""
        if self._file is None or not len(self._waiting) > 1 or self._waiting.readings > MAX_READINGS_PER_TRANSACTION:
            return
        try:
            self._file.write_together(tuple(self._waiting), self._memory.write_to)
        except Exception:  # noqa: BLE001 - all still waits; ``_write_waiting`` raises it again for the snapshot at fault alone
            # The transaction kept nothing, and any of the snapshots may be at fault: each is written by itself next.
            return
        self._memory.written()
        self.written_snapshots += len(self._waiting)
        self.written_readings += self._waiting.readings
        self._waiting.forget_all()

    def _write_waiting(self) -> None:
        ends = self._steady() + WRITE_STEP_S
        while self._waiting:
            first = self._waiting.first
            try:
                done = self._attempt(
                    lambda file: file.write_together((first,), self._memory.write_to)  # noqa: B023 - called before the next round
                )
            except BaseException:  # a fault of the program, raised again: it must not come with every cycle
                self._waiting.forget_first()
                raise
            if self._trouble is not None and self._trouble.kind is StoreErrorKind.REFUSED:
                # The snapshot is at fault, and would be each time: only what follows from it is kept.
                self._refusal, self._trouble, self._since = self._trouble, None, None
                self._dropped += 1
                self._on_dropped(first.snapshot)
                self._waiting.forget_first()
                self._write_alerts()
                continue
            if not done:
                return
            self._memory.written()
            self._waiting.forget_first()
            self.written_snapshots += 1
            self.written_readings += len(first.snapshot.readings)
            if self._steady() >= ends:
                return

    def _attempt(self, work: Callable[[Store], object]) -> bool:
        """Whether the file took it."""
        if self._file is None:
            return False
        try:
            work(self._file)
        except StoreError as error:
            self._fail(error)
            return False
        return True

    def _write_settings_refused(self) -> None:
        text = self._notes.settings_refused
        if text is not None and self._attempt(lambda file: file.note_refused(text)):
            self._notes.settings_refused = None

    def _write_entries(self) -> None:
        entries = self._notes.entries
        if entries and self._attempt(lambda file: file.note_entries(entries)):
            self._notes.entries = []

    def _fail(self, error: StoreError) -> None:
        self._failed = self._steady()
        if self._since is None:
            self._since = self._now()
        self._trouble = error
        if error.kind.lost:
            self._lose(error)
        elif self._file is not None and self._is_reported():
            self._file.note_trouble(error.message)

    def _lose(self, error: StoreError) -> None:
        """The file cannot be gone on with as it is: open it again where that is enough, else set it aside and
        begin a new one.
        """
        assert self._file is not None
        file, self._file = self._file, None
        self.older.close()
        if error.kind is StoreErrorKind.DAMAGED:
            # Its log alone may be damaged: then the file is whole, as of its last checkpoint.
            try:
                file.abandon(self._now(), keep=True)
                if is_store(self.path):
                    verify(self.path)
                    self._open()
            except StoreError:
                pass
            if self._file is not None:
                self._note(f"{error.message}: the last write is lost; the file itself is intact and stays in use")
                return
        try:
            aside = file.abandon(self._now())
        except StoreError as problem:
            self._trouble = StoreError(f"{error.message}; {problem.message}", problem.hint, StoreErrorKind.UNREACHABLE)
            return
        where = f"it is set aside as {aside.name}" if aside else "it is missing"
        self._note(f"{error.message}: {where}; a new store replaces it, with the open alerts")
        self._open()

    def _open(self) -> None:
        """Open the file at its place, or make it. What keeps it from being opened is the trouble from now on."""
        try:
            file = self._open_file(self._now(), BUSY_TIMEOUT_MS)
        except StoreError as error:
            self._trouble = error
            return
        try:
            file.set_patience(BUSY_TIMEOUT_MS)
            self.older.exchange(StoreReader.open(self.path))
        except StoreError as error:
            file.close()
            self._trouble = error
            return
        self._file = file
        self._trouble = None
        # The first transaction brings everything that is open.
        self._memory.all_unwritten(self._now())
        self._notes.begin_file()

    def _note(self, text: str) -> None:
        incident = StoreIncident(self._now(), text)
        self._incidents.append(incident)
        self._unreported.append(incident)

    def _is_reported(self) -> bool:
        trouble = self._trouble
        if trouble is None:
            return False
        return trouble.kind is not StoreErrorKind.LOCKED or self._now() - (self._since or 0) >= REPORT_LOCK_AFTER_MS

    def _drop(self) -> None:
        for dropped in self._waiting.forget_beyond(self._most):
            self._dropped += 1
            self._on_dropped(dropped)
