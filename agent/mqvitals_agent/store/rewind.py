"""A clock that was set back: what an owner has that lies at or after the corrected time goes, or is dated by it.

The store's times grow for each owner: the newest sample is the last one, late answers are told by their times, and a sample
has its place by time and object. So before a later cycle is stored at an earlier time, nothing of the owner may lie ahead.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from mqvitals_agent.store.cell import LAST_MOMENT
from mqvitals_agent.store.table import POLL, KindTables
from mqvitals_rules.snapshot import Snapshot

_ALERT_TIMES = ("since", "updated", "started", "ended", "good_since")


def lies_ahead(connection: sqlite3.Connection, snapshot: Snapshot) -> bool:
    """Whether the owner's last snapshot is of an earlier cycle than this one, and of a later time. Raises sqlite3.Error."""
    last = connection.execute("SELECT last_ts, last_cycle FROM owner WHERE name = ?", (snapshot.owner,)).fetchone()
    return last is not None and last[1] > 0 and snapshot.cycle > last[1] and snapshot.ts < last[0]


def rewind(connection: sqlite3.Connection, tables: Iterable[KindTables], owner: str, ts: int) -> None:
    """Bring everything of ``owner`` before ``ts``, ms UTC. The caller owns the transaction. Raises sqlite3.Error.

    Samples, snapshots and hourly means at or after ``ts`` are deleted. Records keep the times that the queue manager gave them.
    Current state, objects and alerts stay, dated ``ts`` at most; an ended alert keeps the identity by which it is known.
    """
    run = connection.execute
    bounds: Mapping[str, str | int] = {"owner": owner, "ts": ts}
    objects = "SELECT id FROM object WHERE owner = :owner"
    run("DELETE FROM snapshot WHERE owner = :owner AND ts >= :ts", bounds)
    run(f"DELETE FROM hour_mean WHERE hour >= :ts AND object_id IN ({objects})", bounds)
    for each in tables:
        run(
            f"DELETE FROM {each.history} WHERE ts >= :ts AND source = {POLL} AND object_id IN ({objects})",
            bounds,
        )
        run(
            f"UPDATE {each.current} SET changed = :ts WHERE changed > :ts AND source = {POLL} AND object_id IN ({objects})",
            bounds,
        )
        run(
            # Earlier than what comes now, which is no late answer.
            "UPDATE reading SET ts = min(ts, :ts - 1), asked = min(asked, :ts - 1) WHERE asked >= :ts AND (object_id, probe)"
            f" IN (SELECT object_id, probe FROM {each.current} WHERE source = {POLL} AND object_id IN ({objects}))",
            bounds,
        )
    run(f"UPDATE reading SET asked = :ts - 1 WHERE asked >= :ts AND ts IS NULL AND object_id IN ({objects})", bounds)
    run(f"UPDATE instance SET ts = :ts WHERE ts > :ts AND object_id IN ({objects})", bounds)
    run("UPDATE object SET first_ts = min(first_ts, :ts), gone_ts = min(gone_ts, :ts) WHERE owner = :owner", bounds)
    # Open ones are dated anew by those who judge.
    _date_alerts(connection, "scope_owner = :owner AND state = 'resolved'", bounds)
    run("UPDATE owner SET first_ts = min(first_ts, :ts), last_ts = :ts WHERE name = :owner", bounds)


def date_alerts(connection: sqlite3.Connection, ts: int, latest: int) -> None:
    """Date alerts and notices ``ts`` at most that lie further ahead than ``latest``, both ms UTC. The caller owns the transaction.

    Raises sqlite3.Error.
    """
    bounds = {"ts": ts, "latest": latest, "last": LAST_MOMENT}
    ahead = f"max({', '.join(f'coalesce({column}, 0)' for column in _ALERT_TIMES)})"
    _date_alerts(connection, f"{ahead} BETWEEN :latest + 1 AND :last", bounds)
    connection.execute("UPDATE notice SET made_ts = :ts WHERE made_ts BETWEEN :latest + 1 AND :last", bounds)


def _date_alerts(connection: sqlite3.Connection, where: str, bounds: Mapping[str, str | int]) -> None:
    connection.execute(
        f"UPDATE alert_transition SET ts = :ts WHERE ts > :ts AND alert_id IN (SELECT id FROM alert WHERE {where})",
        bounds,
    )
    connection.execute(
        "UPDATE alert SET identity = coalesce(identity, started), "
        + ", ".join(f"{column} = min({column}, :ts)" for column in _ALERT_TIMES)
        + f" WHERE max({', '.join(f'coalesce({column}, 0)' for column in _ALERT_TIMES)}) > :ts AND {where}",
        bounds,
    )
