"""Alerts, what people did about them, and what receivers know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqvitals_agent.alerting.decision import LastNotification
from mqvitals_agent.alerting.grouping import AlertGroup
from mqvitals_agent.store.reading.base import QueryBase
from mqvitals_agent.store.rows.alerts.actions import (
    Actions,
    AuditEntry,
    count_unseen,
    last_audit,
    read_actions,
    read_audit,
)
from mqvitals_agent.store.rows.alerts.alert_feed import NOTHING, FeedState, read_feed
from mqvitals_agent.store.rows.alerts.alert_rows import (
    SeveritySpan,
    StoredAlert,
    StoredTransition,
    read_alerts,
    read_severity_spans,
    read_transitions,
)
from mqvitals_agent.store.rows.alerts.notification_rows import read_last
from mqvitals_agent.store.rows.alerts.notifications import read_groups, read_mutes
from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow, read_receivers
from mqvitals_agent.store.rows.samples.history import (
    LAST,
)
from mqvitals_rules.snapshot import ObjectName

OPERATIONAL = "operational"
"""The ``kind_of_rule`` of alerts to act on; every other kind is advice."""


class AlertQueries(QueryBase):
    """Alerts, what people did about them, and what receivers know."""

    def alerts(
        self, *, include_ended: bool = False, include_pending: bool = False, review: bool | None = None
    ) -> tuple[StoredAlert, ...]:
        """The firing alerts, in the order they arose; also those that ended after firing, or wait for their hold.

        ``review``: True only advice, False only operational alerts, None both.
        """
        states = (*(("resolved",) if include_ended else ()), *(("pending",) if include_pending else ()))
        with self._query() as connection:
            found = self._firing.read(connection)
            if states:
                others = read_alerts(connection, f"state IN ({', '.join('?' * len(states))})", states)
                # One that changed its state between the two queries is among both.
                found = tuple(sorted({each.id: each for each in (*found, *others)}.values()))
        return tuple(each for each in found if review is None or (each.alert.kind_of_rule != OPERATIONAL) is review)

    def feed(self, before: FeedState = NOTHING) -> FeedState:
        """All that decides about alerts and their notifications, as of one moment; it follows ``before``."""
        with self._query() as connection:
            return read_feed(connection, before)

    def alerts_about(self, name: ObjectName) -> tuple[StoredAlert, ...]:
        """The alerts about an object, and those with it as their scope, in the order they arose; ended and pending ones
        too.
        """
        where = "(owner = ? AND kind = ? AND name = ?) OR (scope_owner = ? AND scope_kind = ? AND scope_name = ?)"
        with self._query() as connection:
            return tuple(read_alerts(connection, where, (*name, *name)))

    def alerts_within(self, since: int, until: int) -> tuple[StoredAlert, ...]:
        """The alerts of operational rules that fired at some time from ``since`` to ``until`` (ms UTC), in the order
        they arose.
        """
        where = "kind_of_rule = ? AND started <= ? AND (state = 'firing' OR state = 'resolved' AND ended >= ?)"
        with self._query() as connection:
            return tuple(read_alerts(connection, where, (OPERATIONAL, until, since)))

    def severity_spans(self, since: int, until: int) -> tuple[SeveritySpan, ...]:
        """The severities over time of the operational alerts that fired from ``since`` to ``until`` (ms UTC), by alert."""
        with self._query() as connection:
            return tuple(read_severity_spans(connection, OPERATIONAL, since, until))

    def alert(self, number: int) -> StoredAlert | None:
        """The alert with this number in the store; None: there is none."""
        with self._query() as connection:
            return next(read_alerts(connection, "id = ?", (number,)), None)

    def actions(self) -> Actions:
        """What people did about alerts; read again only where something is new since the last look."""
        with self._query() as connection:
            self._actions = read_actions(connection, self._actions)
        return self._actions

    def last_action(self) -> int:
        """The number of the newest action of a person; it changes with every action."""
        with self._query() as connection:
            return last_audit(connection)

    def count_unseen(self, since: int) -> int:
        """How many warnings and worse began after ``since`` (ms UTC) and ended before anybody acknowledged them."""
        with self._query() as connection:
            return count_unseen(connection, OPERATIONAL, since)

    def audit(self, *, since: int = 0, until: int = LAST, limit: int) -> tuple[AuditEntry, ...]:
        """The newest ``limit`` actions of people from ``since`` to ``until`` (ms UTC), oldest first."""
        with self._query() as connection:
            return read_audit(connection, since=since, until=until, limit=limit)

    def transitions(self, number: int) -> tuple[StoredTransition, ...]:
        """How an alert came to be what it is, oldest first."""
        with self._query() as connection:
            return tuple(read_transitions(connection, number))

    def receivers(self) -> tuple[ReceiverRow, ...]:
        """The receivers of notifications, by name, and their state."""
        with self._query() as connection:
            return read_receivers(connection)

    def last_notifications(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], LastNotification]:
        """(number of an alert, receiver) -> the last notification that the receiver has or will get."""
        with self._query() as connection:
            return read_last(connection, alerts)

    def alert_groups(self) -> Mapping[tuple[str, str], AlertGroup]:
        """(receiver, key) -> the state of each group of alerts that has something to tell, or was told something."""
        with self._query() as connection:
            return read_groups(connection)

    def mutes(self) -> tuple[frozenset[int], Mapping[int, int]]:
        """The numbers of the firing alerts that are muted; of those that were, the last row of a notification before."""
        with self._query() as connection:
            return read_mutes(connection)
