"""How much each table and index of a store takes: counted by SQLite, or estimated from a few of its pages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.schema import open_as_it_is

EXACT_UP_TO: Final = 1 << 30
"""Bytes: SQLite counts by reading every page, about a second a GB where the file is in memory."""

_INNER: Final = {2, 5}
"""Types of pages that lead to others: of an index or a table without rowid, of a table with one."""
_MOST_LEVELS: Final = 20


@dataclass(frozen=True, slots=True)
class FilePages:
    """The pages of a store's file: the bytes of one, how many there are, and how many of them are free."""

    size: int
    count: int
    free: int

    @property
    def used(self) -> int:
        """Bytes of the pages in use."""
        return (self.count - self.free) * self.size


def pages_of(connection: sqlite3.Connection) -> FilePages:
    """The pages of the database of a connection. Raises sqlite3.Error."""
    names = ("page_size", "page_count", "freelist_count")
    return FilePages(*(int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in names))


def length_of(path: Path) -> int:
    """The bytes of a file; 0: it is not there, or nobody can tell."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


class TableSizes(NamedTuple):
    """Bytes of each table with its indexes, by its name. ``estimated``: not counted page by page."""

    by_table: Mapping[str, int]
    estimated: bool


def table_sizes(path: Path, *, exact_up_to: int = EXACT_UP_TO) -> TableSizes:
    """What each table of the store at ``path`` takes. No connection of this process may be in a transaction there.

    A file of at most ``exact_up_to`` bytes is counted by SQLite's ``dbstat``, which most builds have. Else the pages that lead to
    others are read, one in a hundred or so: they name all that hold rows, but not those on which a long row goes on, nor
    what is in the log alone. Raises StoreError.
    """
    found: dict[str, int] = {}
    with closing(open_as_it_is(path, older=True)) as connection, explained(path, "reading"):
        pages = pages_of(connection)
        trees = [
            (str(name), str(table), int(root))
            for name, table, root in connection.execute(
                "SELECT name, tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0 AND type IN ('table', 'index')"
            )
        ]
        if pages.count * pages.size <= exact_up_to and has_dbstat(connection):
            counted = dict(connection.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = 1").fetchall())
            for name, table, _ in trees:
                found[table] = found.get(table, 0) + int(counted.get(name, 0))
            return TableSizes(found, estimated=False)
    # To close another descriptor of the file drops the locks that SQLite has on it in this process: its connection is closed.
    try:
        with path.open("rb") as file:
            descriptor = file.fileno()
            for _, table, root in trees:
                count = count_pages(
                    lambda number: os.pread(descriptor, pages.size, (number - 1) * pages.size), root, pages.count
                )
                found[table] = found.get(table, 0) + count * pages.size
    except OSError as error:
        raise StoreError(f"reading the store {path} failed ({error.strerror})", kind=StoreErrorKind.IO) from None
    return TableSizes(found, estimated=True)


def has_dbstat(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite counts pages."""
    try:
        connection.execute("SELECT 1 FROM dbstat WHERE 0").fetchone()
    except sqlite3.OperationalError:
        return False
    return True


def count_pages(read: Callable[[int], bytes], root: int, most: int) -> int:
    """The pages of the tree at page ``root``, the first being 1: ``most`` at most, whatever the pages hold.

    ``read`` gives a page. Of the level that holds the rows one page is read.
    """
    level, count = [root], 0
    for _ in range(_MOST_LEVELS):
        count += len(level)
        first = _children(read(level[0]), level[0])
        if not first or count >= most:
            break
        below = first
        for number in level[1:]:
            below += _children(read(number), number)
        level = below[: most - count] or [root]
    return min(count, most)


def _children(page: bytes, number: int) -> list[int]:
    """The pages to which one leads; none for one with rows, or one that is no page of a tree."""
    at = 100 if number == 1 else 0
    if len(page) < at + 12 or page[at] not in _INNER:
        return []
    cells = int.from_bytes(page[at + 3 : at + 5], "big")
    found = []
    for cell in range(cells):
        place = int.from_bytes(page[at + 12 + 2 * cell : at + 14 + 2 * cell], "big")
        found.append(int.from_bytes(page[place : place + 4], "big"))
    found.append(int.from_bytes(page[at + 8 : at + 12], "big"))
    return [each for each in found if each > 0]
