"""The outbox: notifications from the change of an alert to their delivery, kept in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from mqvitals_agent.alerting.action import acknowledgement_of, action_annotations
from mqvitals_agent.alerting.configured import pipeline_of, route_tree
from mqvitals_agent.alerting.decision import DecisionReason
from mqvitals_agent.alerting.disposition import Disposition
from mqvitals_agent.alerting.labels import Labeller, Labels, ObjectLabels, alert_name
from mqvitals_agent.alerting.maintenance import NO_CALENDAR, SiteCalendar
from mqvitals_agent.alerting.pipeline import Pipeline, PipelineState
from mqvitals_agent.alerting.plan import DueGroup, NotificationPlan, plan_notifications
from mqvitals_agent.alerting.routing import Route
from mqvitals_agent.notify.notification import NotifiedAlert, RuleText, notified_alert, pending_notification
from mqvitals_agent.notify.resent import KEEP_MS, resent_alert, resent_changes, with_annotations
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.alerts.actions import NO_ACTIONS
from mqvitals_agent.store.rows.alerts.notification_rows import PendingGroup, StoredNotification
from mqvitals_agent.store.rows.alerts.notifications import NotificationChanges, NotificationRepository
from mqvitals_agent.store.rows.alerts.receivers import ReceiverChanges
from mqvitals_agent.store.rows.alerts.resent import ResentAlert, ResentChanges
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.lifecycle.alert import Alert, Transition
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Reported

if TYPE_CHECKING:
    from mqvitals_agent.store.resilient import ResilientStore
    from mqvitals_agent.store.writer import Store
    from mqvitals_agent.threads import ThreadWorker


_T = TypeVar("_T")

_RENEW_MS: Final = 60_000
"""How often the texts of an alert that is sent again and again are made anew, at most."""
_RENEW_STEP_MS: Final = 30_000
"""How often some of them are, at most."""
_MOST_RENEWED: Final = 500
"""Of so many alerts at once."""


@dataclass(frozen=True, slots=True, eq=False)
class OutboxSettings:
    """By what the outbox decides and speaks.

    ``route`` is the tree of routes (None: every receiver gets what its settings allow), ``labels`` are the site's.
    ``group`` is the name of the queue-sharing group; empty: as the store has it.
    """

    receivers: tuple[ReceiverSettings, ...]
    rules: RuleSet
    route: Route | None = None
    group: str = ""
    labels: tuple[ObjectLabels, ...] = ()
    calendar: SiteCalendar = NO_CALENDAR

    def pipeline(self, groups: frozenset[str]) -> Pipeline:
        """The pipeline of these settings, where ``groups`` are the owners that are not queue managers."""
        route = route_tree(None, self.receivers) if self.route is None else self.route
        labeller = Labeller.of_store(self.group, groups, self.labels)
        return pipeline_of(self.receivers, route, labeller, self.rules.ranks, self.calendar)


class Outbox:
    """Builds notifications and keeps them until they are delivered.

    The plain methods run on the store's thread; the coroutines run on the event loop. All raise StoreError. What is to be
    told is found by comparing what is with what each receiver knows. Both are kept in the store alone, so nothing is lost
    between the change of an alert and its notification, and another process continues where this one ended.
    """

    def __init__(
        self,
        store: Callable[[], Store | ResilientStore],
        thread: ThreadWorker,
        settings: OutboxSettings,
        now: Callable[[], int],
        people_now: Callable[[], int] | None = None,
    ) -> None:
        """``store`` returns the open store.

        ``now`` is the agent's time and ``people_now`` the machine's, ms UTC; None: they are the same.
        """
        self._store = store
        self._thread = thread
        self._now = now
        self._people_now = people_now or now
        self._actions = NO_ACTIONS
        self._sending: dict[str, int] = {}
        """The notification that each receiver is being sent."""
        self._resent: dict[str, tuple[ResentAlert, ...]] = {}
        """What is sent again and again, by receiver; one that is not here is read from the store."""
        self._renewed: dict[str, int] = {}
        """When some of these alerts were given new texts, by receiver, ms UTC."""
        self._written: dict[tuple[str, str], int] = {}
        """When the texts of each were made, ms UTC."""
        self.made = 0
        """How many notifications were made; grows."""
        self.configure(settings)

    def configure(self, settings: OutboxSettings) -> None:
        """Use other settings from the next change on. May be called on any thread."""
        self._settings = settings
        self._used: tuple[OutboxSettings, frozenset[str], Pipeline] | None = None
        self._seen: tuple[object, ...] = ()
        self._looked = 0
        self._relabelled = True
        self._mutes = False
        self._next: int | None = None

    @property
    def receivers(self) -> tuple[ReceiverSettings, ...]:
        """The receivers of the settings in force."""
        return self._settings.receivers

    def update(self, changes: Sequence[tuple[int, Transition]]) -> None:
        """Look what ``changes`` lead to, in the transaction of the snapshot that brings them."""
        if changes:
            self._look(self._now())

    def introduce(self, now: int) -> None:
        """Look what new receivers are to be told at ``now`` (ms UTC), in the transaction that makes them known."""
        self._look(now)

    def evaluate(self) -> int | None:
        """Make the notifications that are due. Returns when to look again, ms UTC; None: not before something changes.

        It does nothing while nothing has changed and nothing is due.
        """
        store, now = self._store(), self._now()
        if not self.receivers:
            return None
        with suppress(StoreError):
            self._actions = store.read_actions()
        seen = (store, self._settings, store.alerts.version, self._actions.last)
        if seen != self._seen or now < self._looked or (self._next is not None and now >= self._next):
            self._look(now)
        return self._next

    def take(self, receiver: str) -> StoredNotification | None:
        """The notification that a receiver is to be sent now; ``settled`` ends its delivery.

        What people did until now counts: what they muted is not sent.
        """
        self.evaluate()
        for stored in self._store().notifications.due(receiver, self._now()):
            self._sending[receiver] = stored.number
            return stored
        return None

    def resent(self, receiver: str) -> tuple[ResentAlert, ...]:
        """What a receiver is to be sent again and again now, and what has ended not long ago."""
        self.evaluate()
        store, now = self._store(), self._now()
        found = self._resent.get(receiver)
        if found is None:
            found = store.notifications.resent(receiver)
        over = tuple(each.key for each in found if each.ends is not None and not 0 <= now - each.ends < KEEP_MS)
        renewed = self._renew(receiver, found, now)
        if over or renewed:
            store.notifications.apply(NotificationChanges(now, resent=ResentChanges(renewed, over)))
            found = store.notifications.resent(receiver)
        self._resent[receiver] = found
        return found

    def settle(self, receiver: str, function: Callable[[NotificationRepository], _T]) -> _T:
        """What ``function`` returns, which keeps the outcome of what the receiver was being sent."""
        result = function(self._store().notifications)
        self._sending.pop(receiver, None)
        if self._mutes:
            # What was muted while it was under way is withheld only now.
            self._seen = ()
        return result

    async def run(self, function: Callable[[NotificationRepository], _T]) -> _T:
        """What ``function`` returns, called with the store's notifications."""
        return await self._thread.run(lambda: function(self._store().notifications))

    async def on_thread(self, function: Callable[[], _T]) -> _T:
        """What ``function`` returns, one of the plain methods."""
        return await self._thread.run(function)

    async def adopt(self, ts: int) -> ReceiverChanges:
        """From ``ts`` (ms UTC) on the receivers are those of the settings.

        Notifications to others are dropped; new receivers are notified about what fires.
        """
        self._sending.clear()
        self._resent.clear()
        return await self.run(lambda rows: self._adopt(rows, ts))

    def _adopt(self, rows: NotificationRepository, ts: int) -> ReceiverChanges:
        names = [str(receiver.name) for receiver in self.receivers]
        resending = {str(receiver.name) for receiver in self.receivers if receiver.resends}
        others = tuple(each.key for each in rows.resent() if each.receiver not in resending)
        if others:
            rows.apply(NotificationChanges(ts, resent=ResentChanges(dropped=others)))
        return rows.update_receivers(names, ts, lambda: self.introduce(ts))

    def _look(self, now: int) -> None:
        """Compare what is with what receivers know, and make what is due, all in one transaction."""
        store = self._store()
        with suppress(StoreError):
            self._actions = store.read_actions()
        seen = (store, self._settings, store.alerts.version, self._actions.last)
        ending, rows, pipeline = store.alerts.ending(), store.notifications, self._pipeline(store)
        groups = rows.groups()
        muted, unmuted = rows.mutes()
        # Else nobody is told anything or knows anything, and nothing mutes an alert.
        counts = self.receivers or ending or groups or muted or self._actions.last or pipeline.calendar.windows
        firing = store.alerts.firing() if counts else ()
        alerts = {each.id: each.alert for each in (*ending, *firing)}
        firing_alerts = [each.alert for each in firing]

        def decide(numbers: Sequence[int], before: dict[int, int]) -> dict[int, Disposition]:
            actions = self._actions
            state = PipelineState(
                last, actions.acknowledgements, actions.silences, groups, before, value_of=store.value_now
            )
            some = [(number, alerts[number]) for number in numbers]
            return {
                each.number: each for each in pipeline.dispositions(some, firing_alerts, state, now, self._people_now())
            }

        last = rows.last(alerts)
        found = decide(tuple(alerts), dict(unmuted))
        mutes = {number for number, each in found.items() if each.excluded is not None and each.excluded.mutes}
        mutes -= {each.id for each in ending}
        freed = [
            number
            for number in sorted(muted)
            if number in found and number not in mutes and found[number].excluded is not DecisionReason.INHIBITED
        ]
        if freed:
            newest = rows.newest()
            found |= decide(freed, dict.fromkeys(freed, newest))
        plan = plan_notifications(found.values(), groups, now)
        changes = NotificationChanges(
            now,
            tuple(self._pending(each, pipeline, now) for each in plan.due),
            plan.groups if plan.groups != groups else None,
            withheld=tuple(sorted(mutes & rows.undelivered())) if mutes else (),
            told=tuple(each.id for each in ending if _is_told(found[each.id], plan)),
            muted=tuple(sorted(mutes - muted)),
            unmuted=tuple(freed),
            sending=frozenset(self._sending.values()),
            resent=self._resent_changes(rows, found, pipeline, now),
        )
        self._resent.clear()
        if changes != NotificationChanges(now, sending=changes.sending):
            rows.apply(changes)
        self._relabelled = False
        self.made += len(plan.due) + bool(changes.resent.keys)
        self._seen, self._looked, self._mutes = seen, now, bool(mutes)
        self._next = min((ts for ts in (plan.next, self._next_mute(pipeline, now)) if ts is not None), default=None)

    def _pipeline(self, store: Store | ResilientStore) -> Pipeline:
        groups, settings = store.groups(), self._settings
        if self._used is None or self._used[:2] != (settings, groups):
            self._used = settings, groups, settings.pipeline(groups)
        return self._used[2]

    def _next_mute(self, pipeline: Pipeline, now: int) -> int | None:
        """When a silence, an acknowledgement, maintenance or a time interval may begin or end next, ms UTC."""
        people = self._people_now()
        times = [ts for each in self._actions.silences for ts in (each.starts, each.ends) if ts > people]
        times += [
            each.until
            for made in self._actions.acknowledgements.values()
            for each in made
            if each.until is not None and each.until > people
        ]
        found = [now + ts - people for ts in times]
        if (change := pipeline.calendar.next_change(now)) is not None:
            found.append(change)
        return min(found, default=None)

    def _pending(self, group: DueGroup, pipeline: Pipeline, now: int) -> PendingGroup:
        receiver = pipeline.receivers[group.receiver]
        return PendingGroup(
            tuple(
                pending_notification(
                    notified_alert(each.alert, self._rule_text(each.alert), each.labels, self._people(each)),
                    receiver,
                    number=each.number,
                    severity=each.alert.severity,
                    made=now,
                )
                for each in group.told
            ),
            group.key,
            group.labels,
            group.repeated,
        )

    def _resent_changes(
        self, rows: NotificationRepository, found: dict[int, Disposition], pipeline: Pipeline, now: int
    ) -> ResentChanges:
        if not any(each.resends for each in self.receivers):
            return ResentChanges()

        def render(each: Disposition, receiver: str) -> ResentAlert:
            made = resent_alert(
                self._readable(each.alert, each.labels, self._people(each)),
                pipeline.receivers[receiver],
                each.number,
                each.alert.severity,
            )
            self._written[made.key] = now
            return made

        def render_end(each: Disposition) -> dict[str, str]:
            return dict(self._readable(each.alert, each.labels, self._people(each)).annotations)

        return resent_changes(rows.resent(), found, render, render_end, now, relabelled=self._relabelled)

    def _readable(self, alert: Alert, labels: Labels, people: dict[str, str]) -> NotifiedAlert:
        """What is told about an alert under a name that says what it is."""
        rule = self._settings.rules.rule(alert.key.rule)
        name = alert_name("" if rule is None else rule.title, alert.key.rule)
        return notified_alert(alert, self._rule_text(alert), {**labels, "alertname": name}, people)

    def _renew(self, receiver: str, rows: Sequence[ResentAlert], now: int) -> tuple[ResentAlert, ...]:
        """Those of the firing alerts whose texts have changed, now and then: the oldest first, not all at once."""
        if 0 <= now - self._renewed.get(receiver, now - _RENEW_MS) < _RENEW_STEP_MS:
            return ()
        self._renewed[receiver] = now
        oldest = sorted((self._written.get(each.key, 0), each.key, each) for each in rows if each.ends is None)
        due = [each for ts, _, each in oldest if not 0 <= now - ts < _RENEW_MS][:_MOST_RENEWED]
        if not due:
            return ()
        self._written = {key: ts for key, ts in self._written.items() if key[0] != receiver}
        self._written |= {key: ts for ts, key, _ in oldest}
        alerts = {each.id: each.alert for each in self._store().alerts.firing()}
        changed = []
        for each in due:
            self._written[each.key] = now
            if (alert := alerts.get(each.alert_id)) is not None:
                told = self._readable(alert, {}, self._people_about(each.alert_id, alert))
                made = with_annotations(each, told.annotations, None)
                if made != each:
                    changed.append(made)
        return tuple(changed)

    def _people(self, disposition: Disposition) -> dict[str, str]:
        return self._people_about(disposition.number, disposition.alert)

    def _people_about(self, number: int, alert: Alert) -> dict[str, str]:
        made, notes = self._actions.acknowledgements_of(number), self._actions.notes_of(number)
        if not made and not notes:
            return {}
        return action_annotations(acknowledgement_of(alert, made, self._people_now()), made, notes)

    def _rule_text(self, alert: Alert) -> RuleText:
        rules = self._settings.rules
        rule = rules.rule(alert.key.rule)
        if rule is None:
            return RuleText()
        source = rule.sources[0] if rule.sources else None
        compiled = rules.form_of(rule, alert.scope)

        def lookup(kind: str, metric: str) -> Reported:
            name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
            return self._store().value_now(name, metric)

        context = InstantContext(lookup, alert.updated, alert.scope.name)
        return RuleText(
            compiled.advise(alert.scope, context),
            source.document if source else "",
            source.section if source else "",
            compiled.command(alert.scope, context),
        )


def _is_told(disposition: Disposition, plan: NotificationPlan) -> bool:
    """Whether no receiver is still to be told the end of an alert."""
    due = {(each.receiver, each.key) for each in plan.due if not each.repeated}
    return all(not each.is_news or (each.receiver, each.key) in due for each in disposition.deliveries)
