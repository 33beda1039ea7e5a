"""What can be wrong with a store, each in one sentence, and the state of the store of a running agent."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from mqvitals_agent.errors import MqvitalsError


class StoreErrorKind(Enum):
    """What is wrong with a store; what goes on without it decides by this."""

    OTHER = "other"
    FULL = "full"
    LOCKED = "locked"
    PERMISSION = "permission"
    IO = "input or output failed"
    UNREACHABLE = "unreachable"  # its folder is not there
    GONE = "gone"  # the folder is there, the file is not
    REPLACED = "replaced"  # another file has its name
    DAMAGED = "damaged"
    REFUSED = "refused"  # what was to be stored is at fault, not the store

    @property
    def lost(self) -> bool:
        """Whether the file is lost to its writer, so that only a new one helps."""
        return self in {StoreErrorKind.GONE, StoreErrorKind.REPLACED, StoreErrorKind.DAMAGED}


class StoreError(MqvitalsError):
    """A store cannot be opened, read or written.

    ``message`` says what happened and where, ``hint`` what to do next; the text of the exception is both.
    """

    def __init__(self, message: str, hint: str = "", kind: StoreErrorKind = StoreErrorKind.OTHER) -> None:
        super().__init__(message, hint)
        self.kind = kind


UNDECODABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of decoding bytes that no writer of ours can have written."""


class UnknownNameError(StoreError):
    """There is no such object, kind or metric. ``closest`` are the names that look most like it, best first."""

    def __init__(self, message: str, closest: tuple[str, ...] = ()) -> None:
        super().__init__(message, f"did you mean {' or '.join(closest)}?" if closest else "")
        self.closest = closest


def store_error(path: Path, error: Exception, doing: str) -> StoreError:
    """The sentence for an error met while ``doing`` (``reading``, ``writing``) the store at ``path``.

    One that is not SQLite's came of what was read: what was written by us can always be decoded.
    """
    if not isinstance(error, sqlite3.Error):
        return damaged_error(path, f"{type(error).__name__}: {error}")
    # The low byte is the error's class; the rest says which system call met it.
    # The module's own mistakes (a closed connection, a value it cannot bind) carry no code at all.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL:
            return StoreError(
                f"the disk is full: nothing of this cycle was kept in the store {path}",
                "free some space; what was stored before is safe",
                StoreErrorKind.FULL,
            )
        case sqlite3.SQLITE_CORRUPT:
            return damaged_error(path, str(error))
        case sqlite3.SQLITE_ERROR if hasattr(error, "sqlite_errorcode") or "decode" in str(error):
            # Our statements are right for the tables that we made: it is the file that is not.
            return damaged_error(path, str(error))
        case sqlite3.SQLITE_NOTADB:
            return StoreError(
                f"{path} is no mqvitals store: it is not an SQLite file, or its beginning is damaged",
                "name the file of a store",
                StoreErrorKind.DAMAGED,
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(
                f"another program keeps the store {path} locked",
                "end its transaction (an SQLite shell left open?) and try again",
                StoreErrorKind.LOCKED,
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_AUTH:
            return StoreError(
                f"no permission for {doing} the store {path} ({error})",
                "the file and its folder must be accessible to you; SQLite keeps two files beside it",
                StoreErrorKind.PERMISSION,
            )
        case sqlite3.SQLITE_INTERRUPT:
            return StoreError(
                f"{doing} the store {path} took too long and was stopped", "ask for a shorter time or fewer objects"
            )
        case sqlite3.SQLITE_IOERR if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHORT_READ:
            # Part of a file that SQLite knows to be longer is missing.
            return damaged_error(path, str(error))
        case sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{doing} the store {path} failed ({error})",
                "check whether the disk is full or failing; what was stored before is safe",
                StoreErrorKind.IO,
            )
        case _:
            return StoreError(f"{doing} the store {path} failed ({error})")


def damaged_error(path: Path, what: str) -> StoreError:
    """The sentence for a store that holds what no writer of ours can have written."""
    return StoreError(
        f"the store {path} is damaged ({' '.join(what.split())})",
        "restore a copy, or move it away and start a new one under the same name",
        StoreErrorKind.DAMAGED,
    )


@dataclass(frozen=True, slots=True)
class StoreIncident:
    """A file that could not be gone on with, in words, at ``ts`` (ms UTC)."""

    ts: int
    text: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """How the agent's store is: why it cannot be written (None: it can) and since when (ms UTC).

    ``waiting`` snapshots are still to be written, ``dropped`` ones were given up since the agent began, ``unwritten``
    alerts and notifications differ from the file, ``incidents`` counts the files that had to be replaced,
    ``last_incident`` is the newest.
    """

    trouble: StoreError | None = None
    since: int = 0
    waiting: int = 0
    dropped: int = 0
    unwritten: int = 0
    incidents: int = 0
    last_incident: StoreIncident | None = None
