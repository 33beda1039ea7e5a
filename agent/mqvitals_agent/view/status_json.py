"""The status of a group as JSON: for ``mqvitals status --json``, and for everybody that asks an agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import AgentStanding
from mqvitals_agent.view.alerts.actions import handling_json
from mqvitals_agent.view.alerts.handling import AlertSite, Handlings
from mqvitals_agent.view.alerts.words import AlertAdvice, alert_json, read_advice
from mqvitals_agent.view.status import GroupStatus, OwnerStatus, read_status_data, status_of
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.timestamps import iso

if TYPE_CHECKING:
    from mqvitals_rules.ruleset.ruleset import RuleSet


STATUS_PATH: Final = "/api/v1/status"
"""Where an agent serves its status."""
MOST_ADVISED: Final = 3
"""The worst alerts, for which an agent says what to do."""

_NO_ADVICE: Mapping[AlertKey, AlertAdvice] = MappingProxyType({})


def status_json(
    view: GroupStatus, labeller: Labeller, advice: Mapping[AlertKey, AlertAdvice] = _NO_ADVICE
) -> dict[str, Any]:
    """The object of ``mqvitals status --json``.

    An alert has its number, who acknowledged it, its silence and its notes, and where there is ``advice`` what to do; one that
    another alert explains names that one. ``past`` is in it of a store that no agent fills, ``refused`` while settings or
    rules cannot be used, ``unstored`` while the agent cannot store. Of two agents for the group ``role`` is that of the one
    that fills the store, and ``standing`` since when and why.
    """
    data = view.data
    intervals = {member.name: member.interval_ms for member in data.members}
    return {
        "at": iso(data.now),
        "source": data.origin,
        "group": data.group,
        "severity": view.health.word,
        "queue_managers": [
            {
                "name": member.name,
                "severity": member.health.word,
                "reachable": member.reachable,
                **_age_json(member, intervals),
                "alerts": _counts_json(member),
            }
            for member in view.queue_managers
        ],
        "groups": [
            {
                "name": member.name,
                "severity": member.health.word,
                **_age_json(member, intervals),
                "alerts": _counts_json(member),
            }
            for member in view.groups
        ],
        "alerts": [
            {
                **alert_json(alert, labeller.labels_of(alert)),
                **_handling_json(data.handled, alert),
                **_explained_json(view.explained.get(alert.key)),
                **_advice_json(advice.get(alert.key)),
            }
            for alert in view.firing
        ],
        **({"past": True} if data.past else {}),
        **({"refused": data.refused} if data.refused else {}),
        **({"unstored": data.unstored} if data.unstored else {}),
        **_standing_json(data.standing),
    }


def _age_json(member: OwnerStatus, intervals: Mapping[str, int]) -> dict[str, Any]:
    return {
        "age_s": round(member.age_ms / 1000, 3),
        "interval_s": round(intervals[member.name] / 1000, 3),
        "stale": member.stale,
    }


def _counts_json(member: OwnerStatus) -> dict[str, int]:
    return {severity.name.lower(): number for severity, number in member.alerts}


def _explained_json(by: AlertKey | None) -> dict[str, Any]:
    return {} if by is None else {"explained_by": {"rule": by.rule, "object": str(by.object)}}


def _advice_json(advice: AlertAdvice | None) -> dict[str, Any]:
    return {} if advice is None else {"advice": advice.text or None, "mqsc": advice.mqsc or None}


def _standing_json(standing: AgentStanding | None) -> dict[str, Any]:
    if standing is None:
        return {}
    return {
        "role": standing.role,
        "standing": {
            "since": iso(standing.since),
            "reason": standing.reason,
            "peer": standing.peer or None,
            **({"follows": standing.follows} if standing.waits else {}),
        },
    }


def _handling_json(handled: Handlings, alert: Alert) -> dict[str, Any]:
    found = handled.of(alert)
    return {} if found is None else handling_json(found)


@dataclass(frozen=True, slots=True)
class StatusSource:
    """What the status of a group is made of: its store, what the site says of alerts, and the rules in force.

    ``now`` is the time by which the store is filled, ``machine`` the machine's, by which people act; both in ms UTC.
    """

    store: Path
    site_of: Callable[[Collection[str]], AlertSite]
    rules: Callable[[], RuleSet]
    now: Callable[[], int]
    machine: Callable[[], int]

    def status(self) -> dict[str, Any]:
        """The object of ``mqvitals status --json``, with what to do about the worst alerts. Raises StoreError."""
        rules = self.rules()
        with StoreReader.open(self.store) as reader:
            data = read_status_data(reader, self.now(), site_of=self.site_of, machine=self.machine())
            view = status_of(data, rules.ranks)
            advice = {alert.key: read_advice(reader, alert, rules) for alert in view.alerts[:MOST_ADVISED]}
        labeller = self.site_of([member.name for member in view.groups]).labeller
        return status_json(view, labeller, advice)

    def body(self) -> bytes:
        """The same as bytes. Raises StoreError."""
        return json.dumps(self.status()).encode()
