"""The payload of a notification: JSON as version 4 of Alertmanager's webhooks, with one alert.

Every notification is a group of its own: the group key identifies the alert, so receivers that keep one incident a
group keep one an alert. The fingerprint also covers when the alert started: a second incident has another one, a
repetition has the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from mqvitals_agent.store.rows.notifications import NotificationStatus, PendingNotification
from mqvitals_agent.view.alerts import duration_words, ended_words, summary_with_owner
from mqvitals_config.receiver import Receiver
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.timestamps import iso

NOT_ENDED = "0001-01-01T00:00:00Z"
"""What Alertmanager writes for the end of an alert that is firing."""

_LONE = re.compile("[\ud800-\udfff]")
_IDENTITY = ("alertname", "owner", "queue_manager", "kind", "object", "instance", "group")


@dataclass(frozen=True, slots=True)
class RuleText:
    """The texts of a rule for its alert: advice, the document and section behind it, the MQSC command to type next."""

    advice: str = ""
    document: str = ""
    section: str = ""
    mqsc: str = ""


@dataclass(frozen=True, slots=True)
class NotificationContent:
    """The content of a notification about one alert. ``ends`` is None while it fires; times are ms UTC."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    fingerprint: str
    starts: int
    ends: int | None = None

    @property
    def status(self) -> NotificationStatus:
        """Firing, or resolved when the alert has ended."""
        return NotificationStatus.FIRING if self.ends is None else NotificationStatus.RESOLVED


def fingerprint(alert: Alert) -> str:
    """Identifies an incident: a digest of the alert's key and its start, 16 hex digits."""
    facts = json.dumps([alert.key.rule, *alert.key.object, alert.key.instance, alert.began_as])
    return blake2b(facts.encode(), digest_size=8).hexdigest()


def content(alert: Alert, words: RuleText, groups: Collection[str], group: str) -> NotificationContent:
    """The content of a notification about an alert that has fired.

    ``groups`` are the owners that are not queue managers; ``group`` is the name of the queue-sharing group.
    """
    about = alert.key.object
    labels = {
        "alertname": alert.key.rule,
        "severity": alert.severity.name.lower(),
        "owner": about.owner,
        "queue_manager": "" if about.owner in groups else about.owner,
        "kind": about.kind,
        "object": str(about),
        "instance": alert.key.instance,
        "group": group,
    }
    annotations = {
        "summary": summary_with_owner(alert) if alert.state is not AlertState.RESOLVED else ended_words(alert),
        "advice": words.advice,
        "document": words.document,
        "section": words.section,
        "mqsc": words.mqsc,
        "worst_value": alert.worst_value,
        "value_now": alert.value_now,
    }
    if alert.state is AlertState.RESOLVED:
        annotations |= {"worst_severity": alert.worst.name.lower(), "fired_for": duration_words(alert, alert.updated)}
    starts = alert.updated if alert.started is None else alert.started
    ends = (alert.updated if alert.ended is None else alert.ended) if alert.state is AlertState.RESOLVED else None
    return NotificationContent(_present(labels), _present(annotations), fingerprint(alert), starts, ends)


def payload(content: NotificationContent, receiver: str, labels: Mapping[str, str]) -> str:
    """The JSON of a notification to ``receiver``, in ASCII. ``labels`` are those of the receiver's settings."""
    every = {**_present(labels), **content.labels}
    identity = {name: every[name] for name in _IDENTITY if name in every}
    status = content.status.value
    return json.dumps(
        {
            "version": "4",
            "groupKey": "{}:" + _braced(identity),
            "truncatedAlerts": 0,
            "status": status,
            "receiver": _LONE.sub("\ufffd", receiver),
            "groupLabels": identity,
            "commonLabels": every,
            "commonAnnotations": dict(content.annotations),
            "externalURL": "",
            "alerts": [
                {
                    "status": status,
                    "labels": every,
                    "annotations": dict(content.annotations),
                    "startsAt": iso(content.starts),
                    "endsAt": NOT_ENDED if content.ends is None else iso(content.ends),
                    "generatorURL": "",
                    "fingerprint": content.fingerprint,
                }
            ],
        }
    )


def notification(
    content: NotificationContent, receiver: Receiver, *, number: int, severity: Severity, made: int
) -> PendingNotification:
    """A notification to a receiver about alert ``number`` of the store, made at ``made`` (ms UTC)."""
    text = payload(content, receiver.name, receiver.labels)
    return PendingNotification(number, str(receiver.name), content.status, severity, content.fingerprint, made, text)


def _present(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts that are not empty (Alertmanager drops empty ones), with lone surrogates replaced."""
    return {name: _LONE.sub("\ufffd", text) for name, text in texts.items() if text}


def _braced(labels: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(labels.items())) + "}"
