"""The alerts of another agent in a store of our own, under numbers of our own: what a standby agent goes on with.

The store keeps its history. Rows of the other agent are found again by what they are, not by their numbers: an alert by its
rule, object and instance, and when it began.
"""

# ruff: noqa: S608 - the names of tables and columns are our own; everything else is a bound parameter
from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from mqvitals_agent.store.rows.alerts.actions import AGENT, last_audit, write_audit
from mqvitals_agent.store.rows.alerts.alert_feed import FEED_TABLES, FeedChange

_IDENTITY: Final = ("rule", "owner", "kind", "name", "instance")
_KEYS: Final = {each.name: each.key for each in FEED_TABLES}
_WHOLE: Final = ("receiver", "alert_group", "resent", "report")
"""Tables of which the other agent's rows are all that there are."""
_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "acknowledgement": ("alert_id", "author", "made_ts", "note"),
    "note": ("alert_id", "author", "made_ts", "text"),
    "silence": ("matchers", "author", "made_ts", "reason"),
}
"""What people did, and what tells one action from another under whatever number."""


class FollowedAlerts:
    """Takes over the changes of another agent's feed. The caller owns each transaction, and begins anew after a rollback.

    It begins with the changes from nothing; then come those of each next state.
    """

    def __init__(self, connection: sqlite3.Connection, changes: Sequence[FeedChange], now: int) -> None:
        """Make the store's alerts those of ``changes``, which are a whole state; ``now`` is ms UTC. Raises sqlite3.Error.

        What is open here and is not there has ended since, or was never told.
        """
        self._alerts: dict[int, int] = {}
        """The numbers of the other agent's alerts, and ours; of rows of notifications, and of notifications, the same."""
        self._notices: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._transitions: set[int] = set()
        self.changed: set[int] = set()
        """Our numbers of the alerts that changed last."""
        self._columns = {
            name: frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({name})")) for name in _KEYS
        }
        self._next_alert: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM alert").fetchone()[0]
        self._next_notice: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM notice").fetchone()[0]
        self._match(connection, [each.row for each in changes if each.table == "alert" and each.row is not None])
        self._end_others(connection, now)
        for table in _WHOLE:
            connection.execute(f"DELETE FROM {table}")
        for number in self._alerts.values():
            connection.execute("DELETE FROM alert_transition WHERE alert_id = ?", (number,))
            connection.execute("DELETE FROM notice WHERE alert_id = ?", (number,))
        self.apply(connection, changes, now)

    def apply(self, connection: sqlite3.Connection, changes: Iterable[FeedChange], now: int) -> None:
        """Take over what has changed; ``now`` is ms UTC. Raises sqlite3.Error."""
        self.changed.clear()
        unmuted: dict[int, int] = {}
        acted = 0
        for change in changes:
            if change.row is None:
                self._forget(connection, change)
                continue
            row = {name: value for name, value in change.row.items() if name in self._columns[change.table]}
            if change.table == "alert":
                if (since := row.pop("unmuted", None)) is not None:
                    unmuted[row["id"]] = since
                self._put_alert(connection, row)
            elif "alert_id" in row and row["alert_id"] not in self._alerts:
                # What refers to an alert that is not among those followed tells nothing here.
                continue
            elif change.table == "alert_transition":
                self._put_transition(connection, row)
            elif change.table == "notice":
                self._put_notice(connection, row)
            elif change.table in _ACTIONS:
                acted += self._put_action(connection, change.table, row)
            else:
                if "alert_id" in row:
                    row["alert_id"] = self._alerts[row["alert_id"]]
                _insert(connection, change.table, row, replace=True)
        for alert, since in unmuted.items():
            ours = max((ours for theirs, ours in self._notices.items() if theirs <= since), default=0)
            connection.execute("UPDATE alert SET unmuted = ? WHERE id = ?", (ours, self._alerts[alert]))
        if acted:
            number = last_audit(connection) + 1
            words = f"{acted} of what people did at the other agent"
            write_audit(connection, now, AGENT, "carry over", "the store", words, number=number)

    def _match(self, connection: sqlite3.Connection, alerts: Iterable[Mapping[str, Any]]) -> None:
        """Find the alerts of the other agent among our own."""
        wanted = {(*(row[name] for name in _IDENTITY), row["since"]): row["id"] for row in alerts}
        columns = ", ".join(_IDENTITY)
        earliest = min((key[-1] for key in wanted), default=0)
        for number, *identity in connection.execute(
            f"SELECT id, {columns}, since FROM alert WHERE state <> 'resolved' OR since >= ? ORDER BY id", (earliest,)
        ):
            theirs = wanted.get(tuple(identity))
            if theirs is not None:
                self._alerts[theirs] = number

    def _end_others(self, connection: sqlite3.Connection, now: int) -> None:
        """What is open or waits here, and is not among the other agent's, is over."""
        kept = set(self._alerts.values())
        for number, started in connection.execute(
            "SELECT id, started FROM alert WHERE state <> 'resolved' OR ending = 1"
        ).fetchall():
            if number in kept:
                continue
            if started is None:
                _delete_alert(connection, number)
            else:
                connection.execute(
                    "UPDATE alert SET state = 'resolved', ended = coalesce(ended, max(updated, started)), ending = 0 WHERE id = ?",
                    (number,),
                )
        connection.execute(
            "UPDATE notice SET done_ts = ?, outcome = 'withheld', error = 'the other agent told it' WHERE done_ts IS NULL",
            (now,),
        )

    def _put_alert(self, connection: sqlite3.Connection, row: dict[str, Any]) -> None:
        theirs = row["id"]
        known = theirs in self._alerts
        if not known:
            self._alerts[theirs] = self._next_alert
            self._next_alert += 1
        row["id"] = self._alerts[theirs]
        self.changed.add(row["id"])
        if row["state"] != "resolved":
            # One that is open under the same key began at another time, so it is not this one.
            same = " AND ".join(f"{name} = :{name}" for name in _IDENTITY)
            connection.execute(
                f"UPDATE alert SET state = 'resolved', ended = coalesce(ended, max(updated, coalesce(started, updated))), ending = 0"
                f" WHERE {same} AND state <> 'resolved' AND id <> :id",
                row,
            )
        _insert(connection, "alert", {**row, "unmuted": None}, replace=True)

    def _put_transition(self, connection: sqlite3.Connection, row: dict[str, Any]) -> None:
        if row["id"] in self._transitions:
            return
        self._transitions.add(row.pop("id"))
        row["alert_id"] = self._alerts[row["alert_id"]]
        _insert(connection, "alert_transition", row)

    def _put_notice(self, connection: sqlite3.Connection, row: dict[str, Any]) -> None:
        theirs = row["id"]
        if theirs not in self._notices:
            self._notices[theirs] = self._next_notice
            self._next_notice += 1
        row["id"] = self._notices[theirs]
        # The rows of a notification have one number, which is that of one of its rows.
        row["number"] = self._numbers.setdefault(row["number"], row["id"])
        row["alert_id"] = self._alerts[row["alert_id"]]
        _insert(connection, "notice", row, replace=True)

    def _put_action(self, connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
        """Insert or update what somebody did; returns 1 where that is news."""
        del row["id"]
        if "alert_id" in row:
            row["alert_id"] = self._alerts[row["alert_id"]]
        same = " AND ".join(f"{name} = :{name}" for name in _ACTIONS[table])
        found = connection.execute(f"SELECT id FROM {table} WHERE {same}", row).fetchone()
        if found is None:
            _insert(connection, table, row)
            return 1
        rest = [name for name in row if name not in _ACTIONS[table]]
        updates = ", ".join(f"{name} = :{name}" for name in rest)
        differs = " OR ".join(f"{name} IS NOT :{name}" for name in rest)
        changed = connection.execute(
            f"UPDATE {table} SET {updates} WHERE id = :id AND ({differs})", {**row, "id": found[0]}
        )
        return changed.rowcount

    def _forget(self, connection: sqlite3.Connection, change: FeedChange) -> None:
        """A row has left the feed: history stays, what is about the present goes."""
        if change.table in _WHOLE:
            where = " AND ".join(f"{name} = ?" for name in _KEYS[change.table])
            connection.execute(f"DELETE FROM {change.table} WHERE {where}", change.key)
        elif change.table == "alert":
            number = self._alerts.pop(change.key[0], None)
            row = connection.execute("SELECT state FROM alert WHERE id = ?", (number,)).fetchone()
            if row is not None and row[0] != "resolved":
                # It ended before it fired, and was deleted.
                _delete_alert(connection, number)


def _delete_alert(connection: sqlite3.Connection, number: int | None) -> None:
    for table in ("alert_transition", "notice", "acknowledgement", "note"):
        connection.execute(f"DELETE FROM {table} WHERE alert_id = ?", (number,))
    connection.execute("DELETE FROM alert WHERE id = ?", (number,))


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any], *, replace: bool = False) -> None:
    marks = ", ".join(f":{name}" for name in row)
    verb = "INSERT OR REPLACE" if replace else "INSERT"
    connection.execute(f"{verb} INTO {table}({', '.join(row)}) VALUES({marks})", row)
