"""Alerts as rows: the open ones, the ended ones, and the log of their transitions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.integrity import valid_time
from mqvitals_agent.store.rows.tables import integer, integer_or_none, moment, moment_or_none, real_or_none, text
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName

_SEVERITIES = {each.name.lower(): each for each in Severity}
_STATES = {each.value: each for each in AlertState}
_WHYS = dict(Why.__members__)


def _key(cell: str | None) -> AlertKey | None:
    if cell is None:
        return None
    rule, owner, kind, name, instance = map(text, json.loads(text(cell)))
    return AlertKey(rule, ObjectName(owner, kind, name), instance)


_NAMES = ("rule", "owner", "kind", "name", "instance", "scope_owner", "scope_kind", "scope_name")
_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "kind_of_rule": text,
    "family": text,
    "state": _STATES.__getitem__,
    "severity": _SEVERITIES.__getitem__,
    "worst": _SEVERITIES.__getitem__,
    "since": moment,
    "updated": moment,
    "started": moment_or_none,
    "ended": moment_or_none,
    "why": _WHYS.__getitem__,
    "summary": text,
    "true_polls": integer,
    "good_polls": integer,
    "unknown_polls": integer,
    "recent_polls": integer,
    "good_since": moment_or_none,
    "cause": _key,
    "value_now": text,
    "worst_value": text,
    "worst_number": real_or_none,
    "identity": integer_or_none,
    "off_reason": text,
}
"""The columns that are fields of an alert, and how a cell becomes the field's value."""
_COLUMNS = (*_NAMES, *_FIELDS)
_SELECT = f"SELECT id, {', '.join(_COLUMNS)} FROM alert"  # noqa: S608
_INSERT = f"INSERT INTO alert(id, {', '.join(_COLUMNS)}) VALUES(?{', ?' * len(_COLUMNS)})"
_UPDATE = f"UPDATE alert SET {', '.join(f'{column} = ?' for column in _COLUMNS)} WHERE id = ?"  # noqa: S608
POSSIBLE: Final = " AND ".join(map(valid_time, ("since", "updated", "started", "ended", "good_since")))
"""One that is dated outside any calendar is passed over."""


class StoredAlert(NamedTuple):
    """An alert and its number in the store, which never changes."""

    id: int
    alert: Alert


class StoredTransition(NamedTuple):
    """One line of an alert's history."""

    ts: int
    state: AlertState
    severity: Severity
    why: Why


class AlertRepository:
    """Alerts and the log of their transitions.

    ``write`` is part of a transaction of the caller, who calls ``load`` after a rollback.
    """

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database
        self._connection = database.connection
        self._open: dict[AlertKey, int] = {}
        self._next = self._least = 1
        self.changed: set[int] = set()
        """The numbers of the alerts that the last ``write`` changed or deleted."""
        self.version = 0
        """Grows with each change that may be of consequence to receivers."""
        self.load()

    def all_open(self) -> tuple[Alert, ...]:
        """Pending and firing alerts. Raises StoreError."""
        with self._database.reading() as connection:
            return tuple(stored.alert for stored in read_alerts(connection, "state <> 'resolved'"))

    def firing(self) -> tuple[StoredAlert, ...]:
        """The firing alerts, in the order they arose. Raises StoreError."""
        with self._database.reading() as connection:
            return self._firing.read(connection)

    def ending(self) -> tuple[StoredAlert, ...]:
        """The alerts that have ended, and whose end receivers may still have to be told. Raises StoreError."""
        with self._database.reading() as connection:
            return tuple(read_alerts(connection, "ending = 1"))

    def load(self) -> None:
        """Read the numbers of the open alerts. Raises sqlite3.Error."""
        # After a rollback another alert may get the number of one that was never stored.
        self._firing = FiringAlerts()
        self._open = {stored.alert.key: stored.id for stored in read_alerts(self._connection, "state <> 'resolved'")}
        (last,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM alert").fetchone()
        self._next = max(self._least, integer(last) + 1)

    def keep_numbers(self, last: int = 0) -> None:
        """Give no later alert a number up to ``last``, or up to the highest given so far, even when those rows
        are deleted.
        """
        self._next = self._least = max(self._next, last + 1)

    def write(self, transitions: Iterable[Transition]) -> list[tuple[int, Transition]]:
        """Write changed alerts; returns the visible transitions with the alerts' numbers. Raises sqlite3.Error.

        An alert that ends without ever having fired is deleted: no receiver was notified of it.
        """
        visible = []
        self.changed.clear()
        for transition in transitions:
            alert = transition.after
            number = self._open.get(alert.key)
            ended = alert.state is AlertState.RESOLVED
            if ended and alert.started is None:
                if number is not None:
                    self.changed.add(number)
                    self._connection.execute("DELETE FROM alert_transition WHERE alert_id = ?", (number,))
                    self._connection.execute("DELETE FROM alert WHERE id = ?", (number,))
                    del self._open[alert.key]
                continue
            known = number is not None
            if number is None:
                number = self._next
                self._next += 1
                self._connection.execute(_INSERT, (number, *_row(alert)))
            else:
                self._connection.execute(_UPDATE, (*_row(alert), number))
            self.changed.add(number)
            if not known or _is_news(transition):
                self._connection.execute(
                    "INSERT INTO alert_transition(ts, alert_id, state, severity, why) VALUES(?, ?, ?, ?, ?)",
                    (alert.updated, number, alert.state.value, alert.severity.name.lower(), transition.why.name),
                )
            if ended:
                # Receivers that know it are told its end; until then it stays in memory.
                self._connection.execute(
                    "UPDATE alert SET ending = EXISTS (SELECT 1 FROM notice WHERE alert_id = alert.id)"
                    " OR EXISTS (SELECT 1 FROM resent WHERE alert_id = alert.id) WHERE id = ?",
                    (number,),
                )
                self._open.pop(alert.key, None)
            else:
                self._open[alert.key] = number
            if transition.before is None or transition.before.cause != alert.cause:
                self.version += 1
            # An alert that is stored only now, because its beginning could not be stored, is visible all the same.
            if transition.visible or (not known and alert.state is AlertState.FIRING):
                visible.append((number, transition))
        self.version += bool(visible)
        return visible


def read_alerts(connection: sqlite3.Connection, where: str, parameters: tuple[Any, ...] = ()) -> Iterator[StoredAlert]:
    """The alerts that fulfil ``where`` (a text of ours), in the order they arose. Raises sqlite3.Error."""
    for row in connection.execute(f"{_SELECT} WHERE ({where}) AND {POSSIBLE} ORDER BY id", parameters):
        yield StoredAlert(integer(row[0]), _alert(row[1:]))


_CHANGES = (
    *("updated", "severity", "cause", "identity", "value_now", "length(summary)"),
    *("true_polls", "good_polls", "unknown_polls", "recent_polls", "good_since"),
)
"""What of a firing alert can differ while its number is the same: each evaluation has its time, and where two have the same,
since a clock was set back, they differ in what they count or say."""


class FiringAlerts:
    """The firing alerts, of which only those are decoded again that have changed: thousands of pieces of advice stay for
    days as they are.

    Of one store, for one thread.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[Any, ...], StoredAlert]] = {}

    def read(self, connection: sqlite3.Connection) -> tuple[StoredAlert, ...]:
        """All of them, in the order they arose. Raises sqlite3.Error."""
        known, firing = self._known, f"state = 'firing' AND {POSSIBLE}"
        rows = connection.execute(f"SELECT id, {', '.join(_CHANGES)} FROM alert WHERE {firing} ORDER BY id").fetchall()  # noqa: S608
        kept = {row[0]: found for row in rows if (found := known.get(row[0])) is not None and found[0] == row}
        if len(kept) < len(rows):
            changed = {row[0]: row for row in rows if row[0] not in kept}
            where = "state = 'firing' AND id IN (SELECT value FROM json_each(?))"
            for stored in read_alerts(connection, where, (json.dumps(list(changed)),)):
                kept[stored.id] = changed[stored.id], stored
        self._known = kept
        # One that ended between the two queries is not among them.
        return tuple([kept[row[0]][1] for row in rows if row[0] in kept])


def read_transitions(connection: sqlite3.Connection, number: int) -> Iterator[StoredTransition]:
    """The history of an alert, oldest first. Raises sqlite3.Error."""
    rows = connection.execute(
        f"SELECT ts, state, severity, why FROM alert_transition WHERE alert_id = ? AND {valid_time('ts')} ORDER BY id",  # noqa: S608
        (number,),
    )
    return map(transition_of, rows)


def transition_of(cells: Sequence[Any]) -> StoredTransition:
    """A line of an alert's history from its time, state, severity and reason. Raises KeyError, TypeError, ValueError."""
    ts, state, severity, why = cells
    return StoredTransition(moment(ts), _STATES[state], _SEVERITIES[severity], _WHYS[why])


class SeveritySpan(NamedTuple):
    """A time in which an alert about an object of ``owner`` fired with one severity, ms UTC; ``end`` None: it still does."""

    number: int
    owner: str
    severity: Severity
    begin: int
    end: int | None


def read_severity_spans(
    connection: sqlite3.Connection, kind_of_rule: str, since: int, until: int
) -> Iterator[SeveritySpan]:
    """The severities over time of the alerts that fired from ``since`` to ``until`` (ms UTC), by alert, oldest first.
    Raises sqlite3.Error.
    """
    within = "SELECT id, owner FROM alert WHERE kind_of_rule = ?1 AND started <= ?3 AND"
    rows = connection.execute(
        f"SELECT a.id, a.owner, t.ts, t.state, t.severity FROM ({within} state <> 'resolved' UNION ALL"  # noqa: S608
        f" {within} state = 'resolved' AND ended >= ?2) AS a CROSS JOIN alert_transition AS t ON t.alert_id = a.id"
        f" WHERE t.ts <= ?3 AND {valid_time('t.ts')} ORDER BY a.id, t.id",
        (kind_of_rule, since, until),
    )
    begun: SeveritySpan | None = None
    for number, owner, ts, state, severity in rows:
        ts = moment(ts)
        if begun is not None:
            yield begun if begun.number != number else begun._replace(end=ts)
        fires = _STATES[state] is AlertState.FIRING
        begun = SeveritySpan(integer(number), text(owner), _SEVERITIES[severity], ts, None) if fires else None
    if begun is not None:
        yield begun


def _is_news(transition: Transition) -> bool:
    """Counting polls is no news; a new state or severity is."""
    before, after = transition.before, transition.after
    return before is None or before.state is not after.state or before.severity is not after.severity


def _row(alert: Alert) -> tuple[Any, ...]:
    key = alert.key
    return (key.rule, *key.object, key.instance, *alert.scope, *(_cell(getattr(alert, field)) for field in _FIELDS))


def _cell(value: object) -> object:
    match value:
        case AlertState():
            return value.value
        case Severity():
            return value.name.lower()
        case Why():
            return value.name
        case AlertKey():
            return json.dumps([value.rule, *value.object, value.instance])
    return value


@lru_cache(4096)
def _alert(row: tuple[Any, ...]) -> Alert:
    # Those that have ended are read again and again, and do not change.
    rule, owner, kind, name, instance, *scope = map(text, row[: len(_NAMES)])
    fields = {field: decode(cell) for (field, decode), cell in zip(_FIELDS.items(), row[len(_NAMES) :], strict=True)}
    about, of = ObjectName(owner, kind, name), ObjectName(*scope)
    return Alert(key=AlertKey(rule, about, instance), scope=about if of == about else of, **fields)
