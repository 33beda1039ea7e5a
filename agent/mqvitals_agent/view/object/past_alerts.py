"""Alerts as of a past moment: their words, and which explained which. The store keeps both as they are now, and of an alert
that has ended no cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mqvitals_agent.store.rows.samples.history import LAST
from mqvitals_agent.view.alerts.past_words import RuleOf, with_past_words
from mqvitals_agent.view.object.explanation import latest_of, load_values
from mqvitals_config.sections.rules import CAUSE_SHARE
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.lifecycle.causes import Partners, explained
from mqvitals_rules.ruleset.rule import RuleKind, causes_of, partner_causes_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, MetricType, Value
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

_OPERATIONAL: Final = RuleKind.OPERATIONAL.value


def alerts_then(
    reader: StoreReader, alerts: Iterable[Alert], at: int, rule_of: RuleOf, share: float = CAUSE_SHARE
) -> tuple[Alert, ...]:
    """The alerts with the words and causes of ``at`` (ms UTC), which ``reader`` is as of.

    ``share`` is the least share of a storage that a queue that is to blame for it holds. Raises StoreError.
    """
    return with_past_causes(reader, with_past_words(reader, alerts, at, rule_of), at, rule_of, share)


def with_past_causes(
    reader: StoreReader, alerts: Iterable[Alert], at: int, rule_of: RuleOf, share: float = CAUSE_SHARE
) -> tuple[Alert, ...]:
    """The alerts with the causes of ``at``: of those that have changed since as the agent found them, by the rules and by
    how the objects belonged together then. Advice explains nothing, and nothing explains it. Raises StoreError.
    """
    found = tuple(alerts)
    alerts = [alert for alert in found if alert.kind_of_rule == _OPERATIONAL]
    if all(alert.updated <= at for alert in alerts):
        return found
    rules = {alert.key: compiled.rule for alert in alerts if (compiled := rule_of(alert)) is not None}
    of_alerts = tuple({str(rule.id): rule for rule in rules.values()}.values())
    causes = _causes(alerts, causes_of(of_alerts), partner_causes_of(of_alerts), _Relations(reader, share))
    return tuple(
        alert
        if alert.updated <= at or alert.key not in rules or alert.cause == causes.get(alert.key)
        else replace(alert, cause=causes.get(alert.key))
        for alert in found
    )


def _causes(
    alerts: Iterable[Alert],
    caused_by: Mapping[str, frozenset[str]],
    partner_causes: Mapping[str, frozenset[str]],
    related: _Relations,
) -> Mapping[AlertKey, AlertKey]:
    """The causes of all alerts, of each owner's for themselves, as the agent finds them."""
    by_owner: dict[str, list[Alert]] = {}
    for alert in alerts:
        by_owner.setdefault(alert.scope.owner, []).append(alert)
    reaching = frozenset[str]().union(*partner_causes.values())
    found: dict[AlertKey, AlertKey] = {}
    for owner, own in by_owner.items():
        others = tuple(
            alert for name, of in by_owner.items() if name != owner for alert in of if alert.key.rule in reaching
        )
        found |= explained(own, caused_by, related.accounts_for, Partners(others, partner_causes, related.leads_to))
    return found


class _NothingDeclared:
    """No declared value says how objects belong together."""

    def of(self, name: ObjectName) -> Mapping[str, Value]:  # noqa: ARG002 - of no object
        return {}


class _Relations:
    """How objects belonged together; what is known of one is read when it is asked about.

    What an object named then, as a channel its partner, is not kept where other words of the same answer have changed: it
    is taken to be what it names today.
    """

    def __init__(self, reader: StoreReader, share: float) -> None:
        self._reader = reader
        self._share = share
        self._latest = latest_of(reader.owners(), _NothingDeclared())
        self._read: set[ObjectName] = set()

    def accounts_for(self, effect: ObjectName, cause: ObjectName) -> bool | None:
        """Whether a fault of one object can be due to another one; None: not known."""
        if effect != cause and effect.owner == cause.owner:
            self._learn(effect)
            self._learn(cause)
        touching = self._latest.touches(effect, cause)
        return self._latest.weighs(cause, effect, self._share) if touching else touching

    def leads_to(self, channel: ObjectName, other: ObjectName) -> bool | None:
        """Whether a channel leads to another queue manager; None: not known."""
        self._learn(channel)
        return self._latest.leads_to(channel, other)

    def _learn(self, name: ObjectName) -> None:
        if name not in self._read and self._reader.has(name):
            values = dict(self._reader.current(name))
            lost = [metric for metric, latest in values.items() if latest.value is Absence.NOT_KEPT]
            today = self._reader.as_of(LAST).current(name) if lost else {}
            values |= {
                metric: today[metric]
                for metric in lost
                if metric in today and metric_of(name.kind, metric).type is MetricType.TEXT
            }
            load_values(self._latest, name, values)
        self._read.add(name)
