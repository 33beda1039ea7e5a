"""The outbox: notifications from the change of an alert to their delivery, kept in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mqvitals_agent.alerting.decision import Decision, decide, inhibitions
from mqvitals_agent.alerting.labels import Labeller, ObjectLabels
from mqvitals_agent.notify.notification import RuleText, notified_alert, pending_notification
from mqvitals_agent.store.rows.notifications import (
    NotificationRepository,
    PendingNotification,
    ReceiverChanges,
)
from mqvitals_config.receiver import ReceiverSettings
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.lifecycle.alert import Alert, Transition
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Reported

if TYPE_CHECKING:
    from mqvitals_agent.store.resilient import ResilientStore
    from mqvitals_agent.store.rows.alerts import StoredAlert
    from mqvitals_agent.store.writer import Store
    from mqvitals_agent.threads import ThreadWorker


_T = TypeVar("_T")


class _OutboxSettings(NamedTuple):
    receivers: tuple[ReceiverSettings, ...]
    rules: RuleSet
    group: str
    labels: tuple[ObjectLabels, ...]


class Outbox:
    """Builds notifications and keeps them until they are delivered.

    The plain methods run on the store's thread, in its transaction; the coroutines run on the event loop. All raise
    StoreError. What a receiver knows is kept in the store alone, so a snapshot that could not be stored has no effect,
    and another process continues where this one ended.
    """

    def __init__(
        self,
        store: Callable[[], Store | ResilientStore],
        thread: ThreadWorker,
        receivers: Sequence[ReceiverSettings],
        rules: RuleSet,
        group: str = "",
        labels: Sequence[ObjectLabels] = (),
    ) -> None:
        """``store`` returns the open store.

        ``group`` is the name of the queue-sharing group; empty: as the store has it. ``labels`` are the site's.
        """
        self._store = store
        self._thread = thread
        self.configure(receivers, rules, group, labels)

    def configure(
        self,
        receivers: Sequence[ReceiverSettings],
        rules: RuleSet,
        group: str = "",
        labels: Sequence[ObjectLabels] = (),
    ) -> None:
        """Use other settings from the next change on. May be called on any thread."""
        self._settings = _OutboxSettings(tuple(receivers), rules, group, tuple(labels))

    @property
    def receivers(self) -> tuple[ReceiverSettings, ...]:
        """The receivers of the settings in force."""
        return self._settings.receivers

    def pending(self, changes: Sequence[tuple[int, Transition]]) -> list[PendingNotification]:
        """The notifications for visible transitions (with the alerts' numbers), in the order in which they are sent."""
        if not self.receivers or not changes:
            return []
        return self._notifications(self.decisions(changes))

    def introduce(self, names: Sequence[str], now: int) -> list[PendingNotification]:
        """The notifications at ``now`` (ms UTC) to receivers that are new, in their order: about every firing alert.

        One that was a receiver before gets what it does not know yet, and the end of what it still takes to be firing.
        """
        receivers = tuple(each for each in self.receivers if each.name in names)
        store = self._store()
        firing = store.alerts.firing()
        alerts = {stored.id: stored.alert for stored in firing}
        for each in receivers:
            alerts.update((stored.id, stored.alert) for stored in store.notifications.ended_unnotified(each.name))
        decisions = self._decide(sorted(alerts.items()), receivers, firing)
        return [replace(each, made=now) for each in self._notifications(decisions)]

    def decisions(self, changes: Sequence[tuple[int, Transition]]) -> list[Decision]:
        """Every decision that ``changes`` lead to.

        An inhibited alert is decided about again when the alert that stands for it ends or becomes milder.
        """
        firing = self._store().alerts.firing()
        alerts = {number: transition.after for number, transition in changes}
        owners = {alert.scope.owner for alert in alerts.values()}
        for stored in firing:
            if stored.alert.scope.owner in owners:
                alerts.setdefault(stored.id, stored.alert)
        return self._decide(tuple(alerts.items()), self.receivers, firing)

    async def run(self, function: Callable[[NotificationRepository], _T]) -> _T:
        """What ``function`` returns, called with the store's notifications."""
        return await self._thread.run(lambda: function(self._store().notifications))

    async def adopt(self, ts: int) -> ReceiverChanges:
        """From ``ts`` (ms UTC) on the receivers are those of the settings.

        Notifications to others are dropped; new receivers are notified about what fires.
        """
        names = [str(receiver.name) for receiver in self.receivers]
        return await self.run(lambda rows: rows.update_receivers(names, ts, lambda new: self.introduce(new, ts)))

    def _decide(
        self,
        alerts: Sequence[tuple[int, Alert]],
        receivers: Sequence[ReceiverSettings],
        firing: Sequence[StoredAlert],
    ) -> list[Decision]:
        inhibited = inhibitions([stored.alert for stored in firing], self._settings.rules.ranks)
        return decide(alerts, receivers, inhibited, self._store().notifications.last([number for number, _ in alerts]))

    def _notifications(self, decisions: Iterable[Decision]) -> list[PendingNotification]:
        groups = self._store().groups()
        settings = self._settings
        labeller = Labeller.of_store(settings.group, groups, settings.labels)
        return [
            pending_notification(
                notified_alert(each.alert, self._rule_text(each.alert), labeller.labels_of(each.alert)),
                each.receiver,
                number=each.number,
                severity=each.alert.severity,
                made=each.alert.updated,
            )
            for each in decisions
            if each.receiver is not None and each.reason.notifies
        ]

    def _rule_text(self, alert: Alert) -> RuleText:
        rules = self._settings.rules
        rule = rules.rule(alert.key.rule)
        if rule is None:
            return RuleText()
        source = rule.sources[0] if rule.sources else None
        compiled = rules.rule_for(rule, alert.scope)

        def lookup(kind: str, metric: str) -> Reported:
            name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
            return self._store().value_now(name, metric)

        context = InstantContext(lookup, alert.updated, alert.scope.name)
        return RuleText(
            compiled.advise(alert.scope, context) if compiled else rule.advice,
            source.document if source else "",
            source.section if source else "",
            compiled.command(alert.scope, context) if compiled else "",
        )
