"""Work on a store's file that may take minutes: how far it is, and how it is stopped, from another thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.store.file.page_counts import pages_of


def _nothing() -> float:
    return 0


@dataclass(frozen=True, slots=True)
class WorkStep:
    """What goes on: in a few words, its end in a ``unit`` (``B``: bytes; None: nobody knows), how much is ``done``."""

    number: int = 0
    what: str = ""
    total: float | None = None
    unit: str = "B"
    done: Callable[[], float] = field(default=_nothing)


class LongWork:
    """Told by the work what it does; asked by another thread, which may stop it."""

    def __init__(self) -> None:
        self._step = WorkStep()
        self._lock = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        self._stopped = False

    @property
    def step(self) -> WorkStep:
        """What goes on now."""
        return self._step

    def begin(
        self, what: str, total: float | None = None, unit: str = "B", done: Callable[[], float] = _nothing
    ) -> None:
        """The work begins with something; ``done`` is called from the other thread."""
        self._step = WorkStep(self._step.number + 1, what, total, unit, done)

    @property
    def stopped(self) -> bool:
        """Whether the work is to stop."""
        return self._stopped

    @contextmanager
    def on(self, connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        """Within, ``stop`` ends what this connection does: it raises sqlite3.OperationalError (interrupted)."""
        with self._lock:
            self._connections.append(connection)
        try:
            self.check()
            yield connection
        finally:
            with self._lock:
                self._connections.remove(connection)

    def check(self) -> None:
        """Raises sqlite3.OperationalError once the work is to stop: for between two statements."""
        if self._stopped:
            raise sqlite3.OperationalError("interrupted")

    def stop(self) -> None:
        """End the work soon; it raises StoreError. For the other thread."""
        self._stopped = True
        with self._lock:
            for each in self._connections:
                each.interrupt()


_MOST_DAMAGE: Final = 20


def find_damage(connection: sqlite3.Connection, work: LongWork) -> tuple[str, ...]:
    """What SQLite finds damaged in all of a file, at most some; none: nothing. Raises sqlite3.Error."""
    work.begin("SQLite's integrity check")
    with work.on(connection):
        damage = tuple(str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST_DAMAGE:d})"))
    return () if damage == ("ok",) else damage


def count_rows(connection: sqlite3.Connection, tables: Iterable[str], work: LongWork) -> dict[str, int]:
    """The number of rows of tables whose names are ours. Raises sqlite3.Error."""
    names = list(tables)
    rows: dict[str, int] = {}
    work.begin("counting rows", len(names), " tables", lambda: len(rows))
    with work.on(connection):
        for name in names:
            rows[name] = int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])  # noqa: S608 - ours
            work.check()
    return rows


_PAGES_AT_ONCE: Final = 512
"""Pages of a step of a copy: a few milliseconds."""


def copy_pages(source: sqlite3.Connection, target: sqlite3.Connection, work: LongWork) -> None:
    """Copy a whole database, page by page. Raises sqlite3.Error.

    Within a transaction of ``source`` that has read, the copy is of that moment, and nothing that others write meanwhile
    makes it begin anew.
    """
    pages = pages_of(source)
    done = 0

    def progress(_: int, remaining: int, total: int) -> None:
        nonlocal done
        done = (total - remaining) * pages.size
        work.check()

    work.begin("copying", pages.count * pages.size, done=lambda: done)
    source.backup(target, pages=_PAGES_AT_ONCE, progress=progress, sleep=0)
