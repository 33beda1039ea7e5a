"""The steps of a way through time: the cycles of a store, its intervals of records, the transitions of its alerts.

The snapshots of one cycle are some milliseconds apart. A step leads to the end of a cycle, when all of it is there.
"""

from __future__ import annotations

import sqlite3
from enum import Enum
from typing import Final

from mqvitals_agent.store.file.integrity import FIRST_MOMENT
from mqvitals_agent.store.rows.tables import LAST_MOMENT, moment, moment_or_none, numbered

_CYCLE_MS: Final = 500
"""Snapshots that are closer together are of one cycle: no cycle is shorter than a second."""

_OF_OWNER: Final = "SELECT {what}(ts) FROM snapshot WHERE owner = w.name AND ts BETWEEN ?1 AND ?2"


class TimeStep(Enum):
    """What one step leads over."""

    CYCLE = "cycle"
    TRANSITION = "alert transition"


def step_back(connection: sqlite3.Connection, at: int, step: TimeStep) -> int | None:
    """The moment of the last step before the cycle of ``at`` (ms UTC); None: there is none. Raises sqlite3.Error."""
    begin = _begin_of_cycle(connection, at)
    if step is TimeStep.TRANSITION:
        ts = _transition(connection, "max", FIRST_MOMENT, begin - 1)
        return None if ts is None else end_of_cycle(connection, ts)
    return _newest(connection, begin - 1)


def step_on(connection: sqlite3.Connection, at: int, step: TimeStep) -> int | None:
    """The moment of the first step after ``at`` (ms UTC); None: there is none yet. Raises sqlite3.Error."""
    if step is TimeStep.TRANSITION:
        ts = _transition(connection, "min", at + 1, LAST_MOMENT)
    else:
        ts = _snapshot(connection, "min", at + 1, LAST_MOMENT)
        if ts is None:
            ts = _record(connection, "min", at + 1, LAST_MOMENT)
    return None if ts is None else end_of_cycle(connection, ts)


def end_of_cycle(connection: sqlite3.Connection, ts: int) -> int:
    """When the last snapshot was taken of the cycle that has one at ``ts``; both are ms UTC. Raises sqlite3.Error."""
    end = _snapshot(connection, "max", ts, ts + _CYCLE_MS - 1)
    return ts if end is None else end


def _begin_of_cycle(connection: sqlite3.Connection, at: int) -> int:
    """When the first snapshot of the newest cycle by ``at`` was taken, or where there is none the newest record ended."""
    newest = _snapshot(connection, "max", FIRST_MOMENT, at)
    if newest is None:
        record = _record(connection, "max", FIRST_MOMENT, at)
        return at if record is None else record
    begin = _snapshot(connection, "min", newest - _CYCLE_MS + 1, newest)
    return newest if begin is None else begin


def _newest(connection: sqlite3.Connection, at: int) -> int | None:
    """The newest snapshot by ``at``; where there is none, the newest end of a record."""
    ts = _snapshot(connection, "max", FIRST_MOMENT, at)
    return _record(connection, "max", FIRST_MOMENT, at) if ts is None else ts


def _snapshot(connection: sqlite3.Connection, what: str, first: int, last: int) -> int | None:
    """The first or last (``what``) snapshot of any owner: one seek an owner."""
    of_owner = _OF_OWNER.format(what=what)
    row = connection.execute(f"SELECT {what}(({of_owner})) FROM owner AS w", numbered(first, last)).fetchone()  # noqa: S608
    return moment_or_none(row[0])


def _record(connection: sqlite3.Connection, what: str, first: int, last: int) -> int | None:
    row = connection.execute(f"SELECT {what}(ts) FROM record WHERE ts BETWEEN ? AND ?", (first, last)).fetchone()  # noqa: S608
    return moment_or_none(row[0])


def _transition(connection: sqlite3.Connection, what: str, first: int, last: int) -> int | None:
    """The first or last transition that people see: an alert begins to fire, changes its severity, or ends."""
    row = connection.execute(
        f"SELECT {what}(ts) FROM alert_transition WHERE state <> 'pending' AND ts BETWEEN ? AND ?",  # noqa: S608
        (first, last),
    ).fetchone()
    return None if row[0] is None else moment(row[0])
