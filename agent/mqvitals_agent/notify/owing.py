"""Which notices are owed for what has just changed: the pipeline over the store, inside the snapshot's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from mqvitals_agent.notify.payload import Words, content, payload
from mqvitals_agent.notify.pipeline import Candidate, dedup, family, fired, operational, receivers, run
from mqvitals_agent.store.alert_row import StoredAlert
from mqvitals_agent.store.notice_row import OwedNotice, Told
from mqvitals_config.receiver import Receiver
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, Transition
from mqvitals_rules.lifecycle.family import overshadowed
from mqvitals_rules.present import Present
from mqvitals_rules.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Reported


class Ledger(Protocol):
    """What the store knows in the middle of the transaction; ``Store`` is one. Every method raises StoreError."""

    def firing_alerts(self) -> Sequence[StoredAlert]:
        """Every alert that is firing after the transitions."""
        ...

    def told(self, alerts: Iterable[int]) -> Mapping[tuple[int, str], Told]:
        """(number of an alert, receiver) -> the last notice that the receiver knows or will know."""
        ...

    def believed(self, receiver: str) -> Sequence[StoredAlert]:
        """The alerts that have ended and that a receiver still takes to be firing."""
        ...

    def groups(self) -> frozenset[str]:
        """The owners that are the group."""
        ...

    def value_now(self, name: ObjectName, metric: str) -> Reported:
        """The newest that was told of a metric."""
        ...


WORSE_MS = 1_800_000
"""What an alert brings about later than this, ms, is told: whoever was called for the cause may have gone back to bed."""


def quiet(firing: Sequence[Alert], ranks: Mapping[str, int]) -> dict[AlertKey, AlertKey]:
    """Which firing alerts nobody is called for, because another one stands for them: alert -> that one."""
    begun = {alert.key: alert.since if alert.started is None else alert.started for alert in firing}
    late = {
        alert.key
        for alert in firing
        if alert.cause is not None and begun[alert.key] - begun.get(alert.cause, begun[alert.key]) > WORSE_MS
    }
    return {key: stands for key, stands in overshadowed(firing, ranks).items() if key not in late}


class Owing:
    """Says which notices visible transitions owe: what ``Store.write`` and ``Intake`` take as ``owed``.

    It remembers nothing: what was told stands in the store, so a snapshot that could not be stored leaves nothing behind
    and another process goes on where this one ended. ``group`` is the name of the queue-sharing group, empty: that under
    which its things stand.
    """

    def __init__(self, settings: Sequence[Receiver], rules: RuleSet, ledger: Ledger, group: str = "") -> None:
        self._receivers = tuple(settings)
        self._rules = rules
        self._ranks = rules.ranks
        self._ledger = ledger
        self._group = group

    def __call__(self, changes: Sequence[tuple[int, Transition]]) -> list[OwedNotice]:
        """The notices owed for ``changes``, in the order in which they are to be sent. Raises StoreError."""
        if not self._receivers or not changes:
            return []
        return self._notices(self.decided(changes))

    def introduced(self, names: Sequence[str], now: int) -> list[OwedNotice]:
        """The notices owed at ``now`` (ms UTC) to receivers that have not been told of alerts so far, in their order.

        They are told of what fires already. One that was a receiver before is told what it does not know yet of that, and
        the end of what it takes to be firing. Raises StoreError.
        """
        settings = tuple(each for each in self._receivers if each.name in names)
        firing = self._ledger.firing_alerts()
        alerts = {stored.id: stored.alert for stored in firing}
        for each in settings:
            alerts.update((stored.id, stored.alert) for stored in self._ledger.believed(each.name))
        candidates = [Candidate(number, alert) for number, alert in sorted(alerts.items())]
        return [replace(each, made=now) for each in self._notices(self._run(candidates, settings, firing, now))]

    def _notices(self, decided: Iterable[Candidate]) -> list[OwedNotice]:
        groups = self._ledger.groups()
        group = self._group or next(iter(sorted(groups)), "")
        notices = []
        for each in decided:
            if each.receiver is None or not each.reason.told:
                continue
            said = content(each.alert, self._words(each.alert), groups, group)
            notices.append(
                OwedNotice(
                    each.number,
                    str(each.receiver.name),
                    said.status,
                    each.alert.severity,
                    said.fingerprint,
                    each.alert.updated,
                    payload(said, each.receiver.name, each.receiver.labels),
                )
            )
        return notices

    def decided(self, changes: Sequence[tuple[int, Transition]]) -> list[Candidate]:
        """Every candidate that ``changes`` bring up, with the reason why it is told or is not. Raises StoreError.

        An alert of which nobody was told while another one stood for it, a worse one of its family or what explains it, comes up when
        that one ends or becomes milder.
        """
        firing = self._ledger.firing_alerts()
        alerts = {number: transition.after for number, transition in changes}
        owners = {alert.scope.owner for alert in alerts.values()}
        for stored in firing:
            if stored.alert.scope.owner in owners:
                alerts.setdefault(stored.id, stored.alert)
        now = max(transition.after.updated for _, transition in changes)
        candidates = [Candidate(number, alert) for number, alert in alerts.items()]
        return self._run(candidates, self._receivers, firing, now)

    def _run(
        self, candidates: Sequence[Candidate], settings: Sequence[Receiver], firing: Sequence[StoredAlert], now: int
    ) -> list[Candidate]:
        stages = (
            fired,
            operational,
            family(quiet([stored.alert for stored in firing], self._ranks)),
            receivers(settings),
            dedup(self._ledger.told([each.number for each in candidates])),
        )
        return run(stages, now, candidates)

    def _words(self, alert: Alert) -> Words:
        rule = self._rules.rule(alert.key.rule)
        if rule is None:
            return Words()
        source = rule.sources[0] if rule.sources else None
        form = self._rules.form(rule, alert.scope)

        def lookup(kind: str, metric: str) -> Reported:
            name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
            return self._ledger.value_now(name, metric)

        return Words(
            rule.advice,
            source.document if source else "",
            source.section if source else "",
            form.command(alert.scope, Present(lookup, alert.updated, alert.scope.name)) if form else "",
        )
