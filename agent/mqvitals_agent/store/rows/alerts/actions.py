"""What people do about alerts, as rows: acknowledgements, notes, silences, and an audit of who did what when.

People write beside the agent, each action in a short transaction with its row in the audit; the agent and the screens
read. Times are the machine's own clock, ms UTC, also where the agent's samples have another one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from mqvitals_agent.alerting.action import Acknowledgement, Note, Silence, fingerprint
from mqvitals_agent.store.error import UNDECODABLE
from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.integrity import valid_time
from mqvitals_agent.store.rows.alerts.alert_rows import read_alerts
from mqvitals_agent.store.rows.tables import LAST_MOMENT, integer, moment, moment_or_none, text
from mqvitals_config.sections.matcher import match, parse_matcher
from mqvitals_rules.lifecycle.alert import Alert, Severity

AUDIT_KEPT_MS: Final = 366 * 86_400_000
"""The audit is kept as long as ended alerts, and for a year at least."""
MOST_AUDIT: Final = 100_000
"""Rows of the audit; the oldest go first."""
AGENT: Final = "mqvitals"
"""The author of what the agent itself writes into the audit."""

_MOST_NEW: Final = 1_000
"""Rows of the audit that are read at once."""
_T = TypeVar("_T", Acknowledgement, Note)
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Actions:
    """What people did about alerts, by the alerts' numbers in the store, oldest first; all silences by number.

    ``last`` is the number of the newest row of the audit: it changes with every action.
    """

    acknowledgements: Mapping[int, tuple[Acknowledgement, ...]] = field(default_factory=lambda: MappingProxyType({}))
    notes: Mapping[int, tuple[Note, ...]] = field(default_factory=lambda: MappingProxyType({}))
    silences: tuple[Silence, ...] = ()
    last: int = 0

    def until(self, at: int) -> Actions:
        """What people had done by ``at``, ms UTC."""
        acknowledgements = {
            number: tuple(
                replace(each, undone=None) if each.undone is not None and each.undone > at else each
                for each in made
                if each.made <= at
            )
            for number, made in self.acknowledgements.items()
        }
        notes = {number: tuple(each for each in made if each.made <= at) for number, made in self.notes.items()}
        silences = tuple(each for each in self.silences if each.made <= at)
        return Actions(acknowledgements, notes, silences, self.last)

    def acknowledgements_of(self, alert: int) -> tuple[Acknowledgement, ...]:
        """The acknowledgements of an alert, oldest first."""
        return self.acknowledgements.get(alert, ())

    def notes_of(self, alert: int) -> tuple[Note, ...]:
        """The notes about an alert, oldest first."""
        return self.notes.get(alert, ())


NO_ACTIONS: Final = Actions()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """``author`` did ``action`` at ``ts`` (ms UTC) about an alert or a silence, in words; ``detail`` may be empty."""

    id: int
    ts: int
    author: str
    action: str
    about: str
    detail: str


def read_actions(connection: sqlite3.Connection, known: Actions = NO_ACTIONS) -> Actions:
    """What people did; ``known`` itself where nothing is new since. Raises sqlite3.Error, and as decoding does."""
    # The number first: what is done between the queries is then seen as new at the next look.
    last = last_audit(connection)
    if last == known.last:
        return known
    return Actions(
        _by_alert(acknowledgements_where(connection, "1")),
        _by_alert(_notes(connection)),
        silences_where(connection, "1"),
        last,
    )


def read_audit(
    connection: sqlite3.Connection, *, since: int = 0, until: int = LAST_MOMENT, after: int = 0, limit: int
) -> tuple[AuditEntry, ...]:
    """The newest ``limit`` rows of the audit from ``since`` to ``until`` (ms UTC), oldest first. Raises sqlite3.Error.

    Only those with a number above ``after``.
    """
    rows = connection.execute(
        "SELECT id, ts, author, action, about, detail FROM audit WHERE ts BETWEEN ? AND ? AND id > ?"
        " ORDER BY id DESC LIMIT ?",
        (since, until, after, limit),
    ).fetchall()
    return tuple(AuditEntry(integer(row[0]), moment(row[1]), *map(text, row[2:])) for row in reversed(rows))


def carry_over(connection: sqlite3.Connection, actions: Actions, now: int) -> None:
    """Give a new file, which has the open alerts already, what people did about them, and the silences.

    What the file has stays as it is there. ``now`` is ms UTC. The caller owns the transaction. Raises sqlite3.Error.
    """
    counts = {"acknowledgement": 0, "note": 0, "silence": 0}
    for number in sorted({*actions.acknowledgements, *actions.notes}):
        for stored in read_alerts(connection, "id = ?", (number,)):
            for each in actions.acknowledgements_of(number):
                row = _acknowledgement_row(each, stored.alert)
                counts["acknowledgement"] += _insert_missing(connection, "acknowledgement", row)
            for note in actions.notes_of(number):
                counts["note"] += _insert_missing(connection, "note", _note_row(note, stored.alert))
    for silence in actions.silences:
        counts["silence"] += _insert_missing(connection, "silence", _silence_row(silence))
    if any(counts.values()):
        words = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count)
        # Its number goes on from that of the old file, so that who looks for something new finds it.
        write_audit(
            connection,
            now,
            AGENT,
            "carry over",
            "the store",
            words,
            number=max(last_audit(connection), actions.last) + 1,
        )


class ActionRepository:
    """What people did, as the agent reads it. Raises StoreError."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def read(self, known: Actions = NO_ACTIONS) -> Actions:
        """What people did; ``known`` itself where nothing is new since."""
        with self._database.reading() as connection:
            return read_actions(connection, known)

    def audit(self, after: int) -> tuple[AuditEntry, ...]:
        """The rows of the audit after the number ``after``, oldest first; the newest where there are very many."""
        with self._database.reading() as connection:
            return read_audit(connection, after=after, limit=_MOST_NEW)


def acknowledgements_where(connection: sqlite3.Connection, where: str, *parameters: int) -> tuple[Acknowledgement, ...]:
    """The acknowledgements that fulfil ``where`` (a text of ours), oldest first. Raises sqlite3.Error."""
    possible = " AND ".join(map(valid_time, ("made_ts", "until_ts", "undone_ts")))
    rows = connection.execute(
        "SELECT id, alert_id, author, made_ts, severity, note, until_ts, undone_ts FROM acknowledgement"  # noqa: S608
        f" WHERE {where} AND {possible} ORDER BY made_ts, id",
        parameters,
    )
    return _readable(_acknowledgement, rows)


def _acknowledgement(row: Sequence[Any]) -> Acknowledgement:
    number, alert, author, made, severity, note, until, undone = row
    return Acknowledgement(
        integer(number),
        integer(alert),
        text(author),
        moment(made),
        Severity[text(severity).upper()],
        text(note),
        moment_or_none(until),
        moment_or_none(undone),
    )


def _notes(connection: sqlite3.Connection) -> tuple[Note, ...]:
    rows = connection.execute(
        f"SELECT id, alert_id, author, made_ts, text FROM note WHERE {valid_time('made_ts')} ORDER BY made_ts, id"  # noqa: S608
    )
    return _readable(_note, rows)


def _note(row: Sequence[Any]) -> Note:
    number, alert, author, made, words = row
    return Note(integer(number), integer(alert), text(author), moment(made), text(words))


def silences_where(connection: sqlite3.Connection, where: str, *parameters: int) -> tuple[Silence, ...]:
    """The silences that fulfil ``where`` (a text of ours), by number. Raises sqlite3.Error."""
    possible = " AND ".join(map(valid_time, ("made_ts", "starts_ts", "ends_ts")))
    rows = connection.execute(
        "SELECT id, matchers, author, reason, made_ts, starts_ts, ends_ts FROM silence"  # noqa: S608
        f" WHERE {where} AND {possible} ORDER BY id",
        parameters,
    )
    return _readable(_silence, rows)


def _silence(row: Sequence[Any]) -> Silence:
    number, texts, author, reason, made, starts, ends = row
    matchers = tuple(parse_matcher(text(each)) for each in json.loads(text(texts)))
    if match(matchers, {}):
        raise ValueError("it would silence every alert")
    return Silence(integer(number), matchers, text(author), text(reason), moment(made), moment(starts), moment(ends))


def _readable(decode: Callable[[Sequence[Any]], _R], rows: Iterable[Sequence[Any]]) -> tuple[_R, ...]:
    """What the rows hold.

    One that ``ActionClient`` cannot have written is passed over: whoever may act may write anything into these tables,
    and that must neither stop the agent nor silence what nobody wanted to silence.
    """
    found = []
    for row in rows:
        with suppress(*UNDECODABLE, RecursionError):
            found.append(decode(row))
    return tuple(found)


def _by_alert(found: Iterable[_T]) -> Mapping[int, tuple[_T, ...]]:
    by_alert: dict[int, list[_T]] = {}
    for each in found:
        by_alert.setdefault(each.alert, []).append(each)
    return {number: tuple(of_it) for number, of_it in by_alert.items()}


def insert_acknowledgement(connection: sqlite3.Connection, made: Acknowledgement, alert: Alert) -> int:
    """Returns its number. The caller owns the transaction. Raises sqlite3.Error."""
    return _insert(connection, "acknowledgement", _acknowledgement_row(made, alert))


def insert_note(connection: sqlite3.Connection, note: Note, alert: Alert) -> int:
    """Returns its number. The caller owns the transaction. Raises sqlite3.Error."""
    return _insert(connection, "note", _note_row(note, alert))


def insert_silence(connection: sqlite3.Connection, silence: Silence) -> int:
    """Returns its number. The caller owns the transaction. Raises sqlite3.Error."""
    return _insert(connection, "silence", _silence_row(silence))


_Row = Mapping[str, Any]


def _acknowledgement_row(made: Acknowledgement, alert: Alert) -> _Row:
    return {
        "id": made.id or None,
        "alert_id": made.alert,
        "fingerprint": fingerprint(alert),
        "author": made.author,
        "made_ts": made.made,
        "severity": made.severity.name.lower(),
        "note": made.note,
        "until_ts": made.until,
        "undone_ts": made.undone,
    }


def _note_row(note: Note, alert: Alert) -> _Row:
    return {
        "id": note.id or None,
        "alert_id": note.alert,
        "fingerprint": fingerprint(alert),
        "author": note.author,
        "made_ts": note.made,
        "text": note.text,
    }


def _silence_row(silence: Silence) -> _Row:
    return {
        "id": silence.id or None,
        "matchers": json.dumps([str(each) for each in silence.matchers], ensure_ascii=False),
        "author": silence.author,
        "reason": silence.reason,
        "made_ts": silence.made,
        "starts_ts": silence.starts,
        "ends_ts": silence.ends,
    }


def _insert(connection: sqlite3.Connection, table: str, row: _Row) -> int:
    """Insert a row; returns its number."""
    marks = ", ".join(f":{column}" for column in row)
    statement = f"INSERT INTO {table}({', '.join(row)}) VALUES({marks})"
    return integer(connection.execute(statement, row).lastrowid)


_SAME: Mapping[str, tuple[str, ...]] = {
    "acknowledgement": ("alert_id", "author", "made_ts", "note"),
    "note": ("alert_id", "author", "made_ts", "text"),
    "silence": ("matchers", "author", "made_ts", "reason"),
}
"""What tells one action from another, also under another number."""


def _insert_missing(connection: sqlite3.Connection, table: str, row: _Row) -> int:
    """Insert a row that the file has under no number, with its own number where that is free; returns how many."""
    same = " AND ".join(f"{column} = :{column}" for column in _SAME[table])
    if connection.execute(f"SELECT 1 FROM {table} WHERE {same}", row).fetchone() is not None:  # noqa: S608
        return 0
    taken = connection.execute(f"SELECT 1 FROM {table} WHERE id = :id", row).fetchone() is not None  # noqa: S608
    _insert(connection, table, {**row, "id": None} if taken else row)
    return 1


def count_unseen(connection: sqlite3.Connection, kind_of_rule: str, since: int) -> int:
    """How many warnings and worse began after ``since`` (ms UTC) and ended before anybody acknowledged them.

    Raises sqlite3.Error.
    """
    (count,) = connection.execute(
        "SELECT count(*) FROM alert WHERE started > ? AND state = 'resolved' AND kind_of_rule = ?"
        " AND worst IN ('warning', 'critical') AND NOT EXISTS"
        " (SELECT 1 FROM acknowledgement AS a WHERE a.alert_id = alert.id AND a.undone_ts IS NULL)",
        (since, kind_of_rule),
    ).fetchone()
    return integer(count)


def last_audit(connection: sqlite3.Connection) -> int:
    """The number of the newest row of the audit, 0 without any. Raises sqlite3.Error."""
    return integer(connection.execute("SELECT coalesce(max(id), 0) FROM audit").fetchone()[0])


def write_audit(
    connection: sqlite3.Connection,
    now: int,
    author: str,
    action: str,
    about: str,
    detail: str,
    number: int | None = None,
) -> None:
    """Write what ``author`` did, in the transaction of the action, which the caller owns. Raises sqlite3.Error."""
    connection.execute(
        "INSERT INTO audit(id, ts, author, action, about, detail) VALUES(?, ?, ?, ?, ?, ?)",
        (number, now, author, action, about, detail),
    )
