"""The structure of a store's file: its marks and version, how it is opened, and which objects it may hold.

A trigger, a view in a table's place or an index on an expression would run at a read or a write. A store has none, so
a file that has one is refused before anything else in it is read.
"""

from __future__ import annotations

import errno
import grp
import os
import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.database import closed_on_error, explained, transaction
from mqvitals_agent.store.file.migration import STRUCTURE, make_tables, migrate
from mqvitals_agent.store.rows.tables import KindTables, text

_OF_A_KIND = re.compile(r"(sample|current)_[a-z][a-z0-9_]*")
"""Tables that are made from the vocabulary, also from an older one."""

_OF_LIBRARIES = re.compile(r"sqlite_(autoindex_.*|sequence|stat[14])|(idx_)?_sqlite_migrations\w*")
"""SQLite's own, whose names it forbids to others, and the table in which sqlite_utils notes what was migrated."""

_EXPRESSION = re.compile(r"\b(check|generated|as|collate)\b|default\s*\(|create\s+virtual", re.IGNORECASE)
"""What a table of ours never has: anything that SQLite would compute."""

_LONGEST = 60


class ForeignObject(NamedTuple):
    """Something in a store that mqvitals does not make; as text ``trigger 'x' on 'queue'``."""

    type: str
    name: str
    table: str

    def __str__(self) -> str:
        on = f" on {self.table[:_LONGEST]!r}" if self.table != self.name else ""
        return f"{self.type} {self.name[:_LONGEST]!r}{on}"


def foreign_objects(connection: sqlite3.Connection) -> list[ForeignObject]:
    """What stands in a store that mqvitals does not make. Raises sqlite3.Error."""
    return [
        ForeignObject(str(kind), str(name), str(table))
        for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        if not _ours(str(kind), str(name), sql)
    ]


def refuse_foreign_objects(path: Path, connection: sqlite3.Connection) -> None:
    """Raises StoreError for a store that holds anything that mqvitals does not make, and sqlite3.Error."""
    found = foreign_objects(connection)
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise StoreError(
            f"the store {path} holds what mqvitals does not make: {', '.join(map(str, found[:3]))}{more}; it is not followed",
            "find out who put it there; 'mqvitals store check --repair' drops it",
            StoreErrorKind.DAMAGED,
        )


@lru_cache(maxsize=256)
def _ours(kind: str, name: str, sql: object) -> bool:
    """Every store holds the same, and is looked through each time it is opened: what was judged once is remembered."""
    known = _known()
    if _OF_LIBRARIES.fullmatch(name) and kind in {"table", "index"}:
        plain = sql is None or _EXPRESSION.search(str(sql)) is None
        # An index on columns alone has one pair of parentheses.
        return plain and (kind == "table" or str(sql).count("(") <= 1)
    if kind == "index":
        return known.get((kind, name)) == _words(sql)
    if kind != "table" or not isinstance(sql, str) or _EXPRESSION.search(sql):
        return False
    return (kind, name) in known or _OF_A_KIND.fullmatch(name) is not None


@cache
def _known() -> Mapping[tuple[str, str], str]:
    """(type, name) -> SQL of all that the migrations make."""
    with closing(make_tables(sqlite3.connect(":memory:", isolation_level=None))) as connection:
        return {
            (kind, name): _words(sql)
            for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL")
        }


def _words(sql: object) -> str:
    return " ".join(str(sql).split())


def give_to_group(path: Path, group: str) -> None:
    """Give the store and SQLite's two files beside it to ``group``. Raises StoreError for a group we cannot give it to.

    SQLite passes the store's group on to its own files only when it runs as root; a reader needs them all.
    """
    try:
        number = grp.getgrnam(group).gr_gid
    except KeyError:
        raise StoreError(f"there is no group {group} on this system", "name another one in store.group") from None
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        try:
            if file.stat().st_gid != number:
                os.chown(file, -1, number)
        except FileNotFoundError:
            continue  # SQLite makes its files when it needs them
        except OSError as error:
            raise StoreError(
                f"{file} cannot be given to the group {group} ({error.strerror})",
                "run as a member of that group, or take store.group out of the settings",
            ) from None


APPLICATION_ID = 0x6D717674
"""``mqvt``: in the header of every store, so that tools and we ourselves know the file."""

PAGE_SIZE = 16384
"""Measured, see docs/store.md."""

BUSY_MS = 5000
"""How long to wait for another connection's transaction: checkpoints and acknowledgements take milliseconds."""

_EMPTY = -1


def make_file(path: Path, mode: int) -> None:
    """See that there is a file at ``path`` that may be written; a new one is empty. Raises StoreError."""
    _check_file(path, writing=True)
    if not path.exists():
        _make_file(path, mode)


def open_writer(
    path: Path, tables: Iterable[KindTables], *, page_size: int = PAGE_SIZE, busy_ms: int = 0
) -> sqlite3.Connection:
    """Open the file at ``path`` for writing; an empty one becomes a store, an older one is migrated, columns are added.

    The caller holds the writer's lock. ``busy_ms`` is how long to wait for another connection's transaction (0:
    ``BUSY_MS``).

    Raises StoreError.
    """
    with explained(path, "writing"):
        if _version(path) < STRUCTURE:
            migrate(path, application_id=APPLICATION_ID, page_size=page_size)
        with closed_on_error(_connect(path, "rw", busy_ms=busy_ms)) as connection:
            # A commit survives the death of the process; the last ones before a power cut may be lost, the file is
            # never broken.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -32768")
            # Some builds overwrite what is deleted with zeros, on disk too: twice the log for nothing, as no secret is
            # stored.
            connection.execute("PRAGMA secure_delete = FAST")
            _add_columns(connection, tables)
    return connection


def open_as_it_is(path: Path, *, writing: bool = False, older: bool = False) -> sqlite3.Connection:
    """Open a store of this structure, or an ``older`` one, whatever else is in it, to look it through. Raises StoreError."""
    _check_file(path, writing=False)
    with (
        explained(path, "reading"),
        closed_on_error(_connect(path, "rw") if writing else connect_reader(path)) as connection,
    ):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise StoreError(f"{path} is no mqvitals store", "name the file of a store", StoreErrorKind.REPLACED)
        if version != STRUCTURE and not (older and 0 < version < STRUCTURE):
            raise StoreError(
                f"the store {path} has structure {version}; this mqvitals knows {STRUCTURE}",
                "let the agent of this version open it once, or install the version that wrote it",
            )
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Open the store at ``path`` read-only, also beside a running writer or after one that was killed.

    Raises StoreError.
    """
    _check_file(path, writing=False)
    # Even the message of an error may hold bytes of the file that are no text.
    with explained(path, "reading"):
        _check_readable(path, _version(path))
        with closed_on_error(connect_reader(path)) as connection:
            connection.execute("PRAGMA query_only = ON")
    return connection


def open_beside(path: Path) -> sqlite3.Connection:
    """Open the store at ``path``, which must be there, for short transactions beside its writer, without the lock.

    Raises StoreError.
    """
    _check_file(path, writing=False)
    _check_file(path, writing=True)
    with explained(path, "writing"):
        _check_readable(path, _version(path))
        with closed_on_error(_connect(path, "rw", any_thread=True)) as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            # Only a transaction that writes shows whether the files beside the store may be written too.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    return connection


def columns_of(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """The columns of every table of a store. Raises sqlite3.Error."""
    columns: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'"
    ):
        columns.setdefault(table, set()).add(column)
    return {table: frozenset(names) for table, names in columns.items()}


def _add_columns(connection: sqlite3.Connection, tables: Iterable[KindTables]) -> None:
    existing = columns_of(connection)
    statements = [statement for table in tables for statement in table.statements(existing)]
    if statements:
        with transaction(connection):
            for statement in statements:
                connection.execute(statement)


def _check_file(path: Path, *, writing: bool) -> None:
    """Check what the operating system knows before SQLite reads. Raises StoreError."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder, not a store", "name a file in it", StoreErrorKind.REPLACED)
        exists = path.exists()
        folder = path.parent.is_dir()
    except OSError as error:
        raise StoreError(
            f"the store {path} cannot be reached ({error.strerror})", kind=StoreErrorKind.UNREACHABLE
        ) from None
    if not exists:
        if not writing:
            raise StoreError(
                f"there is no store {path}",
                "run the agent or a replay into it first, or name another file",
                StoreErrorKind.GONE,
            )
        if not folder:
            raise StoreError(
                f"the folder of the store {path} does not exist",
                "make it, or name another file",
                StoreErrorKind.UNREACHABLE,
            )
        return
    if not os.access(path, os.R_OK | os.W_OK if writing else os.R_OK):
        raise StoreError(
            f"no permission for {'writing' if writing else 'reading'} the store {path}",
            "ask its owner, or name another file",
            StoreErrorKind.PERMISSION,
        )


def _make_file(path: Path, mode: int) -> None:
    # SQLite gives its two files beside the store the same permissions.
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(file, mode)
        finally:
            os.close(file)
    except FileExistsError:
        return  # another writer was faster: the lock decides
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise StoreError(
            f"no permission for writing the store {path}: it cannot be made ({error.strerror})"
            if not full
            else f"the disk is full: the store {path} cannot be made",
            "free some space" if full else "name a file in a folder that you may write to",
            StoreErrorKind.FULL if full else StoreErrorKind.PERMISSION,
        ) from None


def _check_readable(path: Path, version: int) -> None:
    """Raises StoreError for a store that a writer has to make or migrate first."""
    if version == _EMPTY:
        raise StoreError(f"the store {path} is empty", "run the agent or a replay into it first")
    if version < STRUCTURE:
        raise StoreError(
            f"the store {path} has the older structure {version}; this mqvitals reads {STRUCTURE}",
            "let the agent or a replay of this version write to it once: that brings it up to date",
        )


def _version(path: Path) -> int:
    """The version of the structure of the store at ``path``, ``_EMPTY`` for a file that holds nothing yet.

    Raises StoreError for what is no store or is of a newer structure, sqlite3.Error for what cannot be read.
    """
    with closing(connect_reader(path)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (things,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if application == APPLICATION_ID and version <= STRUCTURE:
            refuse_foreign_objects(path, connection)
    if application == APPLICATION_ID:
        if version > STRUCTURE:
            raise StoreError(
                f"the store {path} was written by a newer mqvitals (structure {version}, this one knows {STRUCTURE})",
                "install that version, or name another store",
            )
        return int(version)
    if application == 0 and things == 0:
        return _EMPTY
    raise StoreError(
        f"{path} is an SQLite file, but no mqvitals store", "name the file of a store", StoreErrorKind.REPLACED
    )


def connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection that has really read: SQLite opens files only when it must."""
    try:
        with closed_on_error(_connect(path, "ro")) as connection:
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        wal = path.with_name(path.name + "-wal")
        forbidden = error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
        if not forbidden or (wal.exists() and wal.stat().st_size):
            raise
        # In a folder that we may not write to, SQLite cannot make the files beside the store. Without a log nobody is
        # writing it and everything is in the file, so it can be read as it lies.
        with closed_on_error(_connect(path, "ro", immutable=True)) as connection:
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    return connection


def _connect(
    path: Path, mode: str, *, immutable: bool = False, any_thread: bool = False, busy_ms: int = 0
) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={mode}{'&immutable=1' if immutable else ''}"
    timeout = (busy_ms or BUSY_MS) / 1000
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=timeout, check_same_thread=not any_thread
    )
    # A file may come from anywhere: nothing in its schema may call functions with effects, and its cells are checked.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


REFUSED = "refused"
"""The store's own fact of what is wrong with settings that the agent did not take over."""

STANDING = "standing"
"""The store's own fact of which of two agents fills it, as JSON."""

TRUSTED = "clock_trusted"
"""The store's own fact of how far its writer has believed the clock (ms UTC): what a clock further ahead makes old is
not deleted.
"""
LEAP_MS = 3_600_000
"""A clock that is further ahead than this, of what has elapsed, has leapt: what that makes old is not
deleted at once.
"""
BELIEVED = f"min(:now, coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = '{TRUSTED}') + {LEAP_MS}, :now))"  # noqa: S608 - ours
"""A term of SQL: the clock's time ``:now`` as far as it is believed."""

KEPT_FROM = "kept_from"
"""The store's own fact of when its samples begin (ms UTC): of everything before, some has been deleted."""


def kept_from_key(kind: str) -> str:
    """The key of the same fact of a kind that is kept shorter than others."""
    return f"{KEPT_FROM}.{kind}"


ALERTS_FROM = "alerts_kept_from"
"""The same of alerts, by when they ended."""
HOURS_FROM = "hours_kept_from"
"""The same of rolled-up hours."""


def read_meta(connection: sqlite3.Connection) -> Mapping[str, str]:
    """The store's own facts: mode, source, group, created, version, and what was refused. Raises sqlite3.Error."""
    return {text(key): text(value) for key, value in connection.execute("SELECT key, value FROM meta")}


def write_meta(connection: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    """Store facts; the caller owns the transaction. Raises sqlite3.Error."""
    connection.executemany("INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", facts.items())
