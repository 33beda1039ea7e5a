"""What a person does about alerts: acknowledge, note, silence, and take it back, beside the agent."""

from __future__ import annotations

import os
import pwd
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from unicodedata import category

from mqvitals_agent.alerting.action import Acknowledged, Acknowledgement, Note, Silence, acknowledgement_of
from mqvitals_agent.store.error import StoreError, StoreErrorKind
from mqvitals_agent.store.file.database import StoreDatabase
from mqvitals_agent.store.file.schema import STANDING, read_meta
from mqvitals_agent.store.file.store_file import writer_of
from mqvitals_agent.store.result import AgentStanding
from mqvitals_agent.store.rows.alerts.actions import (
    acknowledgements_where,
    insert_acknowledgement,
    insert_note,
    insert_silence,
    silences_where,
    write_audit,
)
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert, read_alerts
from mqvitals_agent.store.rows.requests import open_beside_agent
from mqvitals_agent.text.terminal import UNSAFE
from mqvitals_config.sections.matcher import Matcher, match, matchers_text
from mqvitals_rules.timestamps import iso

LONGEST_TEXT: Final = 1_000
"""Characters of a note or a reason."""
MOST_MATCHERS: Final = 20
"""Matchers of a silence."""
MOST_OF_AN_ALERT: Final = 1_000
"""Acknowledgements, and notes, of one alert."""
MOST_SILENCES: Final = 500
"""Silences that have not ended: each alert is compared with all of them."""
LONGEST_SILENCE_MS: Final = 366 * 86_400_000
"""What is never wanted is a matter of the rules."""
_NO_LOGIN: Final = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Undone:
    """The acknowledgements that were taken back, and what the alert's others mean then."""

    taken_back: tuple[Acknowledgement, ...]
    left: Acknowledged


def author_name() -> str:
    """The person who works here, by the operating system: who logged in, also through sudo or su, else the process's user."""
    user = os.getuid()
    with suppress(OSError, ValueError):
        login = int(Path("/proc/self/loginuid").read_text())
        user = user if login == _NO_LOGIN else login
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"uid {user}"


def one_line(what: str, words: str, *, required: bool = True) -> str:
    """What someone wrote, on one line. ``what`` names it in the error: ``the note``.

    Raises StoreError for one that is empty where it is ``required``, too long, or holds what could control a terminal.
    """
    line = " ".join(words.split())
    if required and not line:
        raise _refused(f"{what} is empty", "write some words")
    if len(line) > LONGEST_TEXT:
        raise _refused(f"{what} has {len(line):,} characters", f"write at most {LONGEST_TEXT:,}")
    for char in line:
        if category(char) in UNSAFE:
            raise _refused(f"{what} holds the character U+{ord(char):04X}, which is not printed", "leave it out")
    return line


class ActionClient:
    """Writes what a person does about alerts into a store that an agent writes. ``close`` it, or leave a ``with`` block.

    As ``RequestClient`` it writes beside the agent, never makes a store and never takes the writer's lock. Use it in one
    thread at a time. An action may wait for the agent's transaction, five seconds at most. Every method raises
    StoreError; what it refuses is of the kind REFUSED. ``now`` is the machine's time, all times are ms UTC.
    """

    def __init__(self, database: StoreDatabase, author: str) -> None:
        """For ``open``."""
        self._database = database
        self.author = author

    @classmethod
    def open(cls, path: Path | str, author: str | None = None) -> ActionClient:
        """Open the store at ``path`` for what ``author`` does (None: the user of the operating system).

        Raises StoreError: no store, no permission for writing, an older or newer structure, a replay, damaged; its agent
        waits while another one is active.
        """
        path = Path(path).resolve()
        author = one_line("the name of the user", author_name() if author is None else author)
        past = "its alerts are past, and nobody acts on them"
        client = cls(StoreDatabase(path, open_beside_agent(path, past)), author)
        try:
            client._refuse_standby()
        except BaseException:  # raised again; nobody else has the connection yet
            client.close()
            raise
        return client

    def _refuse_standby(self) -> None:
        """Raises StoreError where the agent follows another one, which would not know what is done here."""
        database = self._database
        with database.reading() as connection:
            standing = AgentStanding.stored(read_meta(connection).get(STANDING, ""))
        if standing is not None and standing.waits and writer_of(database.path) is not None:
            of = f" of {standing.peer}" if standing.peer else ""
            raise _refused(
                f"the agent of the store {database.path} is standby{of}, and follows what is done at the active agent",
                "act there",
            )

    def acknowledge(
        self, alert: int, now: int, *, note: str = "", until: int | None = None, take_over: bool = False
    ) -> Acknowledged:
        """Say that the author has an alert, until it ends or ``until``; returns what is in force then.

        That may be an earlier acknowledgement of somebody else, who keeps the alert; with ``take_over`` the others' are
        taken back. An alert that has ended is marked as seen.
        """
        note = _checked_note(note, until, now)
        with self._database.writing() as connection:
            return self._acknowledge(connection, alert, now, note, until, take_over=take_over)

    def acknowledge_all(self, alerts: Iterable[int], now: int, *, note: str = "", until: int | None = None) -> None:
        """``acknowledge`` each of several alerts: all of them or, where one is refused, none."""
        note = _checked_note(note, until, now)
        with self._database.writing() as connection:
            for alert in alerts:
                self._acknowledge(connection, alert, now, note, until)

    def _acknowledge(
        self,
        connection: sqlite3.Connection,
        alert: int,
        now: int,
        note: str,
        until: int | None,
        *,
        take_over: bool = False,
    ) -> Acknowledged:
        stored = _alert(connection, alert)
        _check_count(connection, "acknowledgement", alert)
        ended = stored.alert.ended is not None
        made = acknowledgements_where(connection, "alert_id = ?", alert)
        others = _in_force(stored, made, now) if take_over else ()
        others = tuple(each for each in others if each.author != self.author)
        _take_back(connection, others, now)
        new = Acknowledgement(0, alert, self.author, now, stored.alert.severity, note, None if ended else until)
        insert_acknowledgement(connection, new, stored.alert)
        action = "take over" if take_over else "acknowledge"
        detail = _joined(
            "it has ended" if ended else "",
            f"from {_names(others)}" if others else "",
            "" if new.until is None else f"until {iso(new.until)}",
            note,
        )
        self._audit(connection, now, action, _about_alert(stored), detail)
        return acknowledgement_of(stored.alert, acknowledgements_where(connection, "alert_id = ?", alert), now)

    def undo_acknowledgement(self, alert: int, now: int) -> Undone:
        """Take back the author's acknowledgement of an alert; where there is none, those of the others."""
        return self.undo_acknowledgements((alert,), now)[0]

    def undo_acknowledgements(self, alerts: Iterable[int], now: int) -> list[Undone]:
        """``undo_acknowledgement`` of each of several alerts: all of them or, where one is refused, none."""
        with self._database.writing() as connection:
            return [self._undo(connection, alert, now) for alert in alerts]

    def _undo(self, connection: sqlite3.Connection, alert: int, now: int) -> Undone:
        stored = _alert(connection, alert)
        made = acknowledgements_where(connection, "alert_id = ?", alert)
        in_force = _in_force(stored, made, now)
        if not in_force:
            state = acknowledgement_of(stored.alert, made, now).state
            raise _refused(f"alert {alert} is not acknowledged: {state.value}")
        chosen = tuple(each for each in in_force if each.author == self.author) or in_force
        _take_back(connection, chosen, now)
        detail = f"of {_names(chosen)}"
        self._audit(connection, now, "undo acknowledgement", _about_alert(stored), detail)
        made = acknowledgements_where(connection, "alert_id = ?", alert)
        return Undone(chosen, acknowledgement_of(stored.alert, made, now))

    def add_note(self, alert: int, words: str, now: int) -> Note:
        """Keep a note about an alert, open or ended."""
        words = one_line("the note", words)
        with self._database.writing() as connection:
            stored = _alert(connection, alert)
            _check_count(connection, "note", alert)
            note = Note(0, alert, self.author, now, words)
            note = replace(note, id=insert_note(connection, note, stored.alert))
            self._audit(connection, now, "note", _about_alert(stored), words)
        return note

    def add_silence(self, matchers: Sequence[Matcher], reason: str, starts: int, ends: int, now: int) -> Silence:
        """Silence alerts that all ``matchers`` match, from ``starts`` to ``ends``."""
        reason = one_line("the reason", reason)
        _check_matchers(matchers)
        _check_times(starts, ends, now)
        with self._database.writing() as connection:
            (open_ones,) = connection.execute("SELECT count(*) FROM silence WHERE ends_ts > ?", (now,)).fetchone()
            if open_ones >= MOST_SILENCES:
                raise _refused(
                    f"there are {open_ones} silences that have not ended",
                    "end those that nobody needs, or change the rules instead",
                )
            silence = Silence(0, tuple(matchers), self.author, reason, now, starts, ends)
            silence = replace(silence, id=insert_silence(connection, silence))
            detail = _joined(f"from {iso(starts)}" if starts > now else "", f"until {iso(ends)}", reason)
            self._audit(connection, now, "silence", _about_silence(silence), detail)
        return silence

    def end_silence(self, number: int, now: int) -> Silence:
        """End a silence now, also one that has not begun; returns it as it is then."""
        return self._change(number, now, "end silence", lambda old: replace(old, starts=min(old.starts, now), ends=now))

    def extend_silence(self, number: int, ends: int, now: int) -> Silence:
        """Let a silence that has not ended end at ``ends``, which is later; returns it as it is then."""

        def longer(old: Silence) -> Silence:
            if ends <= old.ends:
                raise _refused(
                    f"silence {number} ends at {iso(old.ends)}, which is not before {iso(ends)}",
                    "an earlier end takes a new silence; 'mqvitals alerts unsilence' ends it now",
                )
            _check_times(old.starts, ends, now)
            return replace(old, ends=ends)

        return self._change(number, now, "extend silence", longer)

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._database.connection.close()

    def __enter__(self) -> ActionClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _change(self, number: int, now: int, action: str, change: Callable[[Silence], Silence]) -> Silence:
        with self._database.writing() as connection:
            found = silences_where(connection, "id = ?", number)
            if not found:
                raise _refused(f"there is no silence {number}", "'mqvitals alerts silences --all' lists them")
            if found[0].ends <= now:
                raise _refused(f"silence {number} has ended at {iso(found[0].ends)}", "make a new one")
            silence = change(found[0])
            connection.execute(
                "UPDATE silence SET starts_ts = ?, ends_ts = ? WHERE id = ?", (silence.starts, silence.ends, number)
            )
            self._audit(connection, now, action, _about_silence(silence), f"until {iso(silence.ends)}")
        return silence

    def _audit(self, connection: sqlite3.Connection, now: int, action: str, about: str, detail: str) -> None:
        write_audit(connection, now, self.author, action, about, detail)


def _checked_note(note: str, until: int | None, now: int) -> str:
    """The note of an acknowledgement that lasts ``until`` (ms UTC, None: until its alert ends). Raises StoreError."""
    note = one_line("the note", note, required=False)
    if until is not None and until - now > LONGEST_SILENCE_MS:
        raise _refused("an acknowledgement lasts a year at most", "leave its end out: it ends with the alert")
    if until is not None and until <= now:
        raise _refused(f"the acknowledgement would end at {iso(until)}, which is over", "name a later time")
    return note


def _refused(message: str, hint: str = "") -> StoreError:
    return StoreError(message, hint, StoreErrorKind.REFUSED)


def _check_matchers(matchers: Sequence[Matcher]) -> None:
    if not matchers:
        raise _refused("a silence without a matcher would be of all alerts", "write one such as rule=BP-03")
    if len(matchers) > MOST_MATCHERS:
        raise _refused(f"a silence has at most {MOST_MATCHERS} matchers, and not {len(matchers)}")
    for each in matchers:
        one_line("a matcher", str(each))
    if match(matchers, {}):
        raise _refused(
            f"{matchers_text(matchers)} matches alerts that have none of these labels",
            "one of the matchers must ask for a value",
        )


def _check_times(starts: int, ends: int, now: int) -> None:
    if ends - starts > LONGEST_SILENCE_MS or ends - now > 2 * LONGEST_SILENCE_MS:
        raise _refused(
            "a silence lasts a year at most",
            "what is never wanted is set in the configuration, see rules in 'mqvitals help configuration'",
        )
    if ends <= now:
        raise _refused(f"the silence would end at {iso(ends)}, which is over", "name a later time")
    if not starts < ends:
        raise _refused(f"the silence would end at {iso(ends)}, before it begins at {iso(starts)}")


def _alert(connection: sqlite3.Connection, number: int) -> StoredAlert:
    """Raises StoreError for a number that no alert has which has fired."""
    for stored in read_alerts(connection, "id = ?", (number,)):
        if stored.alert.started is None:
            raise _refused(f"alert {number} is still pending: nobody was notified of it", "wait until it fires")
        return stored
    raise _refused(f"there is no alert {number}", "'mqvitals alerts list --all' shows the numbers")


def _check_count(connection: sqlite3.Connection, table: str, alert: int) -> None:
    """Raises StoreError where a program that acts again and again must have done so."""
    (count,) = connection.execute(f"SELECT count(*) FROM {table} WHERE alert_id = ?", (alert,)).fetchone()  # noqa: S608
    if count >= MOST_OF_AN_ALERT:
        raise _refused(f"alert {alert} has {count:,} rows of this kind already", "see whether a program writes them")


def _in_force(stored: StoredAlert, made: Iterable[Acknowledgement], now: int) -> tuple[Acknowledgement, ...]:
    return tuple(each for each in made if not acknowledgement_of(stored.alert, (each,), now).state.asks)


def _take_back(connection: sqlite3.Connection, chosen: Iterable[Acknowledgement], now: int) -> None:
    statement = "UPDATE acknowledgement SET undone_ts = ? WHERE id = ?"
    connection.executemany(statement, [(now, each.id) for each in chosen])


def _names(chosen: Iterable[Acknowledgement]) -> str:
    return ", ".join(dict.fromkeys(each.author for each in chosen))


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _about_alert(stored: StoredAlert) -> str:
    key = stored.alert.key
    return f"alert {stored.id}: {key.rule} {key.object}" + (f" {key.instance}" if key.instance else "")


def _about_silence(silence: Silence) -> str:
    return f"silence {silence.id}: {matchers_text(silence.matchers)}"
