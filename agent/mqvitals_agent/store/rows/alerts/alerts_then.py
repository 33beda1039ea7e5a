"""Alerts as they were at past moments. The store keeps an alert as it is now, and the log of what became of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from mqvitals_agent.store.file.integrity import valid_time
from mqvitals_agent.store.rows.alerts.alert_rows import (
    POSSIBLE,
    StoredAlert,
    StoredTransition,
    read_alerts,
    transition_of,
)
from mqvitals_agent.store.rows.tables import integer
from mqvitals_rules.lifecycle.alert import Alert, AlertState

_MOST_KEPT: Final = 5_000
"""Alerts that are kept decoded."""


class AlertsThen:
    """Reads alerts as of moments, and keeps what it decoded: it serves all moments before the time when it was read.

    Of one store, for one thread.
    """

    def __init__(self) -> None:
        self._stored: dict[int, StoredAlert] = {}
        self._transitions: dict[int, tuple[StoredTransition, ...]] = {}
        self._left: dict[int, tuple[int, StoredAlert]] = {}
        """How so many transitions left an alert that has changed since."""

    def read(
        self, connection: sqlite3.Connection, at: int, *, ended: bool, number: int | None = None
    ) -> list[StoredAlert]:
        """The alerts stored by ``at`` (ms UTC), as they were then, in the order they arose; ended ones only with ``ended``.

        With ``number`` only that one. An alert that has changed since has the state, severity and reason of its last
        transition by then. Its words and figures of then are not kept: it has those of ``updated``. Raises sqlite3.Error.
        """
        where, parameters = "since <= ?", [at]
        if not ended:
            where += " AND (ended IS NULL OR ended > ?)"
            parameters.append(at)
        if number is not None:
            where += " AND id = ?"
            parameters.append(number)
        rows = connection.execute(f"SELECT id FROM alert WHERE ({where}) AND {POSSIBLE} ORDER BY id", parameters)  # noqa: S608
        every = self._as_stored(connection, [integer(row[0]) for row in rows])
        transitions = self._transitions_of(connection, [each.id for each in every if each.alert.updated > at])
        found = []
        for stored in every:
            if stored.alert.updated <= at:
                found.append(stored)
            elif before := [each for each in transitions.get(stored.id, ()) if each.ts <= at]:
                found.append(self._as_left(stored, before))
        missing = {alert.cause for _, alert in found if alert.cause is not None}
        if missing:
            missing.difference_update(alert.key for _, alert in found if alert.state is AlertState.FIRING)
        if not missing:
            return found
        return [
            StoredAlert(each.id, replace(each.alert, cause=None)) if each.alert.cause in missing else each
            for each in found
        ]

    def _as_stored(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> list[StoredAlert]:
        known = self._stored
        lacking = [number for number in numbers if number not in known]
        if not lacking:
            return [known[number] for number in numbers]
        where = "id IN (SELECT value FROM json_each(?))"
        read = {each.id: each for each in read_alerts(connection, where, (json.dumps(lacking),))}
        # One that is deleted between the two queries is not among them.
        every = [stored for number in numbers if (stored := known.get(number) or read.get(number)) is not None]
        if len(known) + len(read) <= _MOST_KEPT:
            known.update(read)
        return every

    def _transitions_of(
        self, connection: sqlite3.Connection, numbers: Sequence[int]
    ) -> dict[int, tuple[StoredTransition, ...]]:
        """The transitions of these alerts that have any, oldest first."""
        known = self._transitions
        lacking = [number for number in numbers if number not in known]
        if not lacking:
            return known
        read = _read_transitions(connection, lacking)
        kept = {number: found for number, found in read.items() if number in self._stored}
        known.update(kept)
        return known if len(kept) == len(read) else {**known, **read}

    def _as_left(self, stored: StoredAlert, before: Sequence[StoredTransition]) -> StoredAlert:
        known = self._left.get(stored.id)
        # Earlier moments know a beginning of what later ones know.
        if known is not None and known[0] == len(before):
            return known[1]
        found = StoredAlert(stored.id, _left_by(stored.alert, before))
        if stored.id in self._stored:
            self._left[stored.id] = len(before), found
        return found


def _left_by(alert: Alert, before: Sequence[StoredTransition]) -> Alert:
    """The alert as the transitions ``before`` left it."""
    last = before[-1]
    fired = [each.severity for each in before if each.state is AlertState.FIRING]
    began = next((each.ts for each in before if each.state is AlertState.FIRING), None)
    return replace(
        alert,
        state=last.state,
        severity=last.severity,
        worst=max(fired, default=last.severity),
        started=None if began is None else min(alert.started or began, began),
        ended=alert.ended if last.state is AlertState.RESOLVED else None,
        why=last.why,
        good_polls=0,
        unknown_polls=0,
        good_since=None,
        value_now="",
        worst_value="",
        worst_number=None,
    )


def _read_transitions(
    connection: sqlite3.Connection, numbers: Collection[int]
) -> dict[int, tuple[StoredTransition, ...]]:
    found: dict[int, list[StoredTransition]] = {}
    rows = connection.execute(
        "SELECT alert_id, ts, state, severity, why FROM alert_transition WHERE alert_id IN (SELECT value FROM json_each(?))"  # noqa: S608
        f" AND {valid_time('ts')} ORDER BY alert_id, id",
        (json.dumps([*numbers]),),
    )
    for number, *cells in rows:
        found.setdefault(number, []).append(transition_of(cells))
    return {number: tuple(each) for number, each in found.items()}
