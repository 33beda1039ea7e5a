"""What alerts that have ended may have followed from: while they fire the engine knows that, of the past the store does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mqvitals_agent.alerting.maintenance import ValueOf, leads_to
from mqvitals_agent.view.alerts.words import began_ts
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName

_EARLIER_MS: Final = 120_000
"""An effect may be seen this long before its cause: they are polled at different times."""


class PossibleCauses:
    """Finds the alert from which others may have followed, among those that ``fired`` in a time."""

    def __init__(self, rules: RuleSet, fired: Iterable[Alert], value_of: ValueOf) -> None:
        self._causes: Mapping[str, frozenset[str]] = rules.causes
        self._partner_causes: Mapping[str, frozenset[str]] = rules.partner_causes
        self._value_of = value_of
        self._of_object: dict[tuple[str, ObjectName], list[Alert]] = {}
        self._of_owner: dict[tuple[str, str], list[Alert]] = {}
        for alert in fired:
            self._of_object.setdefault((alert.key.rule, alert.scope), []).append(alert)
            self._of_owner.setdefault((alert.key.rule, alert.scope.owner), []).append(alert)

    def of(self, alerts: Sequence[Alert]) -> AlertKey | None:
        """The alert that fired at the beginning of each of ``alerts``, all of one rule and object, and can cause it by
        its rule: of the same object, of its queue manager, or of the queue manager at the other end. None without one.
        """
        first = alerts[0]
        near = dict.fromkeys((first.scope, ObjectName(first.scope.owner, "queue_manager")))
        possible = [
            self._of_object.get((rule, name), [])
            for rule in sorted(self._causes.get(first.key.rule, ()))
            for name in near
        ]
        if partner_causes := self._partner_causes.get(first.key.rule):
            partners = leads_to(first, (), self._value_of)[1:]
            possible += [self._of_owner.get((rule, name), []) for rule in sorted(partner_causes) for name in partners]
        for found in possible:
            for key in dict.fromkeys(each.key for each in found if each.key != first.key):
                times = [each for each in found if each.key == key]
                if all(any(_covers(each, one) for each in times) for one in alerts):
                    return key
        return None


def _covers(cause: Alert, effect: Alert) -> bool:
    """Whether a cause fired when its effect began."""
    began = began_ts(effect)
    return began_ts(cause) - _EARLIER_MS <= began and (cause.ended is None or cause.ended > began)
