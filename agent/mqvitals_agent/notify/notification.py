"""A notification about one alert, from which each type of receiver renders what it sends; its form in the store."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from mqvitals_agent.store.rows.notifications import NotificationStatus, PendingNotification
from mqvitals_agent.store.rows.tables import moment, moment_or_none
from mqvitals_agent.view.alerts import duration_words, ended_words, summary_with_owner
from mqvitals_config.receiver import ReceiverSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.timestamps import parse_iso

NOT_ENDED = "0001-01-01T00:00:00Z"
"""What Alertmanager writes for the end of an alert that is firing."""

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RuleText:
    """The texts of a rule for its alert: advice, the document and section behind it, the MQSC command to type next."""

    advice: str = ""
    document: str = ""
    section: str = ""
    mqsc: str = ""


@dataclass(frozen=True, slots=True)
class Notification:
    """What a receiver is notified of about one alert. ``ends`` is None while it fires; times are ms UTC.

    The fingerprint identifies the incident: a second one of the same alert has another, a repetition has the same.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    fingerprint: str
    starts: int
    ends: int | None = None

    @property
    def status(self) -> NotificationStatus:
        """Firing, or resolved when the alert has ended."""
        return NotificationStatus.FIRING if self.ends is None else NotificationStatus.RESOLVED

    def with_labels(self, labels: Mapping[str, str]) -> Notification:
        """With the labels of a receiver's settings, which hide none of the alert's own."""
        return replace(self, labels={**_present(labels), **self.labels})


def fingerprint(alert: Alert) -> str:
    """Identifies an incident: a digest of the alert's key and its start, 16 hex digits."""
    facts = json.dumps([alert.key.rule, *alert.key.object, alert.key.instance, alert.began_as])
    return blake2b(facts.encode(), digest_size=8).hexdigest()


def notification_of(alert: Alert, words: RuleText, groups: Collection[str], group: str) -> Notification:
    """The notification about an alert that has fired.

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
    return Notification(_present(labels), _present(annotations), fingerprint(alert), starts, ends)


def pending_notification(
    notification: Notification, receiver: ReceiverSettings, *, number: int, severity: Severity, made: int
) -> PendingNotification:
    """A notification to a receiver as the store keeps it: about alert ``number``, made at ``made`` (ms UTC)."""
    kept = {
        "labels": notification.with_labels(receiver.labels).labels,
        "annotations": notification.annotations,
        "starts": notification.starts,
        "ends": notification.ends,
    }
    name, status = str(receiver.name), notification.status
    return PendingNotification(number, name, status, severity, notification.fingerprint, made, json.dumps(kept))


def notification_from(pending: PendingNotification) -> Notification:
    """The notification that the store keeps. Raises ValueError when it cannot be read.

    Earlier versions kept what they posted to a webhook, which has the same in another form.
    """
    try:
        kept = json.loads(pending.payload)
        if "alerts" in kept:
            (alert,) = kept["alerts"]
            starts = parse_iso(alert["startsAt"])
            ends = None if alert["endsAt"] == NOT_ENDED else parse_iso(alert["endsAt"])
        else:
            alert, starts, ends = kept, moment(kept["starts"]), moment_or_none(kept["ends"])
        return Notification(_texts(alert["labels"]), _texts(alert["annotations"]), pending.fingerprint, starts, ends)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("the notification in the store is damaged") from error


def _texts(texts: Any) -> dict[str, str]:
    """A mapping of texts. Raises TypeError for something else."""
    if isinstance(texts, dict) and all(isinstance(text, str) for text in texts.values()):
        return texts
    raise TypeError


def without_lone_surrogates(text: str) -> str:
    """``text`` as UTF-8 can hold it."""
    return _LONE.sub("\ufffd", text)


def _present(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts that are not empty (Alertmanager drops empty ones), with lone surrogates replaced."""
    return {name: without_lone_surrogates(text) for name, text in texts.items() if text}
