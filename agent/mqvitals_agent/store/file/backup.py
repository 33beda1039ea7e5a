"""A copy of a store, made while an agent writes it, and verified before it has its name."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mqvitals_agent.new_files import give_name
from mqvitals_agent.store.error import StoreError, StoreErrorKind, store_error
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.long_work import LongWork, copy_pages, count_rows, find_damage
from mqvitals_agent.store.file.schema import open_as_it_is, refuse_foreign_objects
from mqvitals_agent.text.figure import size


@dataclass(frozen=True, slots=True)
class Backup:
    """A verified copy: where it is, its bytes, and the rows in all of its tables."""

    path: Path
    size: int
    rows: int


def back_up(path: Path, target: Path, work: LongWork | None = None) -> Backup:
    """Copy the store at ``path`` to ``target``, which must not be there; returns what was copied.

    The copy is the store at the moment at which this begins, whatever an agent writes meanwhile: a read transaction
    keeps that moment, so that no write makes the copy begin anew, and the writer never waits for it. Only its log grows
    for as long. The copy has its name once SQLite has found no damage in it and each table has as many rows as in the
    store; before, and whenever this fails, there is none. It has the permissions of the store.

    Raises StoreError: no store, damaged, ``target`` is there or cannot be written, the disk is full.
    """
    work = work or LongWork()
    if os.path.lexists(target):
        raise _there(target)
    open_as_it_is(path, older=True).close()
    with _beside(path, target) as part:
        before = _copy(path, part, work)
        after = _verify(path, part, work)
        if before != after:
            wrong = ", ".join(
                f"{table} {before[table]:,} and {after.get(table, 0):,}"
                for table in before
                if before[table] != after.get(table)
            )
            raise StoreError(
                f"the copy of the store {path} is not as the store (rows: {wrong}): it was deleted",
                "check the disk, and try again",
                StoreErrorKind.IO,
            )
        _name(part, target)
        return Backup(target, target.stat().st_size, sum(after.values()))


def _copy(path: Path, part: Path, work: LongWork) -> dict[str, int]:
    """Copy the pages; returns the rows of each table at that moment."""
    with closing(open_as_it_is(path, older=True)) as source:
        with explained(path, "reading"):
            refuse_foreign_objects(path, source)
            source.execute("BEGIN")
            tables = _tables(source)  # a transaction begins with its first look
        try:
            # Until it has its name nobody reads the copy: what a crash leaves is deleted, not recovered.
            with closing(sqlite3.connect(part, isolation_level=None)) as target:
                target.execute("PRAGMA journal_mode = OFF")
                target.execute("PRAGMA synchronous = OFF")
                copy_pages(source, target, work)
        except sqlite3.Error as error:
            raise _failed(path, part, error, work) from error
        with explained(path, "reading"):
            return count_rows(source, tables, work)


def _verify(path: Path, part: Path, work: LongWork) -> dict[str, int]:
    """The rows of each table of the copy. Raises StoreError when it is damaged."""
    with closing(open_as_it_is(part, older=True)) as copy, explained(part, "reading"):
        damage = find_damage(copy, work)
        if damage:
            raise StoreError(
                f"the copy of the store {path} is damaged ({damage[0]}): it was deleted",
                f"'mqvitals store check {path}' tells whether the store is damaged too",
                StoreErrorKind.DAMAGED,
            )
        return count_rows(copy, _tables(copy), work)


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
    )
    return [str(row[0]) for row in found]


@contextmanager
def _beside(path: Path, target: Path) -> Iterator[Path]:
    """An empty file in the folder of ``target`` with the permissions of the store; deleted in the end. Raises StoreError."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        facts = path.stat()
        file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            # Who may not give it to that group keeps it for the group of their own, which may be another.
            mode = facts.st_mode & 0o777
            if os.fstat(file).st_gid != facts.st_gid:
                try:
                    os.fchown(file, -1, facts.st_gid)
                except OSError:
                    mode &= 0o700
            os.fchmod(file, mode)
        finally:
            os.close(file)
    except OSError as error:
        raise _cannot_write(target, error) from None
    try:
        yield part
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                part.with_name(part.name + ending).unlink(missing_ok=True)


def _name(part: Path, target: Path) -> None:
    """Give the copy its name once all of it is on the disk; a file that has come there meanwhile stays."""
    try:
        for each in (part, part.parent):
            file = os.open(each, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(file)
            finally:
                os.close(file)
            if each is part:
                give_name(part, target)
    except FileExistsError:
        raise _there(target) from None
    except OSError as error:
        raise _cannot_write(target, error) from None


def _failed(path: Path, part: Path, error: sqlite3.Error, work: LongWork) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL and not work.stopped:
        return StoreError(
            f"the disk of {part.parent} is full: there is no copy of the store {path}",
            f"it takes {size(path.stat().st_size)}: free some space, or name a file elsewhere",
            StoreErrorKind.FULL,
        )
    return store_error(path, error, "copying")


def _there(target: Path) -> StoreError:
    return StoreError(f"{target} is there already", "name a new file: nothing is overwritten", StoreErrorKind.REPLACED)


def _cannot_write(target: Path, error: OSError) -> StoreError:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return StoreError(
        f"the copy {target} cannot be written ({error.strerror})",
        "free some space" if full else "name a new file in a folder that you may write to",
        StoreErrorKind.FULL if full else StoreErrorKind.PERMISSION,
    )
