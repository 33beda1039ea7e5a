"""A notification of a receiver: alerts of one group, from which each type of receiver renders what it sends; their form in the store."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from mqvitals_agent.alerting.action import fingerprint
from mqvitals_agent.alerting.decision import NotificationStatus
from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.alerting.routing import braced
from mqvitals_agent.store.rows.alerts.notification_rows import PendingNotification, StoredNotification
from mqvitals_agent.store.rows.tables import moment, moment_or_none
from mqvitals_agent.view.alerts.words import duration_words, ended_words, summary_with_owner
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.timestamps import iso, parse_iso

NOT_ENDED = "0001-01-01T00:00:00Z"
"""What Alertmanager writes for the end of an alert that is firing."""

_IDENTITY = ("alertname", "owner", "queue_manager", "kind", "object", "instance", "group")
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RuleText:
    """The texts of a rule for its alert: advice, the document and section behind it, the MQSC command to type next."""

    advice: str = ""
    document: str = ""
    section: str = ""
    mqsc: str = ""


@dataclass(frozen=True, slots=True)
class NotifiedAlert:
    """What a receiver is told about one alert. ``ends`` is None while it fires; times are ms UTC.

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

    @property
    def severity(self) -> Severity:
        """The severity that its labels name; INFO where they name none."""
        return Severity.__members__.get(self.labels.get("severity", "").upper(), Severity.INFO)

    def with_labels(self, labels: Mapping[str, str]) -> NotifiedAlert:
        """With the labels of a receiver's settings, which hide none of the alert's own."""
        return replace(self, labels={**_present(labels), **self.labels})


_NO_LABELS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Notification:
    """What is sent to a receiver at once: the alerts of a group that are to be told, and those that still fire.

    ``key`` identifies the group and ``labels`` are what its alerts have in common by the route. ``truncated`` counts alerts
    of the group that are left out. ``number`` is that of the outbox: each attempt has the same; 0 outside of it.
    ``repeated``: nothing has changed since the last one. The last ``known`` of ``alerts`` are no news: they fire on, as the
    receiver was told before.
    """

    receiver: str
    key: str
    labels: Mapping[str, str]
    alerts: tuple[NotifiedAlert, ...]
    truncated: int = 0
    number: int = 0
    repeated: bool = False
    known: int = 0

    @property
    def news(self) -> tuple[NotifiedAlert, ...]:
        """The alerts that the receiver is told now: those that fire and then those that have ended, the worst first."""
        news = self.alerts[: len(self.alerts) - self.known]
        return tuple(sorted(news, key=lambda each: (each.ends is not None, *_worst_first(each))))

    @property
    def by_news(self) -> tuple[NotifiedAlert, ...]:
        """All its alerts: the news, and then what fires on, the worst first. Who shows few of them shows the first ones."""
        return *self.news, *sorted(self.alerts[len(self.alerts) - self.known :], key=_worst_first)

    @property
    def status(self) -> NotificationStatus:
        """Resolved when all its alerts have ended."""
        return NotificationStatus.FIRING if self.firing else NotificationStatus.RESOLVED

    @property
    def firing(self) -> tuple[NotifiedAlert, ...]:
        """The alerts that fire, the worst first, then the oldest."""
        return tuple(sorted((each for each in self.alerts if each.ends is None), key=_worst_first))

    @property
    def resolved(self) -> tuple[NotifiedAlert, ...]:
        """The alerts that have ended, the worst first, then the oldest."""
        return tuple(sorted((each for each in self.alerts if each.ends is not None), key=_worst_first))

    @property
    def severity(self) -> Severity:
        """The worst of the alerts that fire, or, when none does, of all."""
        return max((each.severity for each in self.firing or self.alerts), default=Severity.INFO)

    @property
    def common_labels(self) -> Mapping[str, str]:
        """The labels that all its alerts have, with one value."""
        return _common([each.labels for each in self.alerts])

    @property
    def common_annotations(self) -> Mapping[str, str]:
        """The annotations that all its alerts have, with one value."""
        return _common([each.annotations for each in self.alerts])


def _worst_first(alert: NotifiedAlert) -> tuple[int, int, str]:
    return -alert.severity, alert.starts, alert.fingerprint


def _common(texts: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    if not texts:
        return _NO_LABELS
    first, *others = texts
    return {name: value for name, value in first.items() if all(each.get(name) == value for each in others)}


def notification_of_one(alert: NotifiedAlert, receiver: str) -> Notification:
    """A notification about one alert, a group of its own: the key identifies the alert, so that receivers that keep one
    incident a group keep one an alert.
    """
    identity = {name: alert.labels[name] for name in _IDENTITY if name in alert.labels}
    return Notification(receiver, "{}:" + braced(identity), identity, (alert,))


def notified_alert(
    alert: Alert, words: RuleText, labels: Labels, people: Mapping[str, str] = MappingProxyType({})
) -> NotifiedAlert:
    """What is told about an alert that has fired.

    ``labels`` are those that ``Labeller.labels_of`` gives it, ``people`` what ``action_annotations`` says of people.
    """
    annotations = {
        "summary": summary_with_owner(alert) if alert.state is not AlertState.RESOLVED else ended_words(alert),
        "advice": words.advice,
        "document": words.document,
        "section": words.section,
        "mqsc": words.mqsc,
        "worst_value": alert.worst_value,
        "value_now": alert.value_now,
        **people,
    }
    if alert.state is AlertState.RESOLVED:
        annotations |= {"worst_severity": alert.worst.name.lower(), "fired_for": duration_words(alert, alert.updated)}
    starts = alert.updated if alert.started is None else alert.started
    ends = (alert.updated if alert.ended is None else alert.ended) if alert.state is AlertState.RESOLVED else None
    return NotifiedAlert(_present(labels), _present(annotations), fingerprint(alert), starts, ends)


def pending_notification(
    notified: NotifiedAlert, receiver: ReceiverSettings, *, number: int, severity: Severity, made: int
) -> PendingNotification:
    """A notification to a receiver as the store keeps it: about alert ``number``, made at ``made`` (ms UTC)."""
    kept = kept_alert(notified.with_labels(receiver.labels))
    name, status = str(receiver.name), notified.status
    return PendingNotification(number, name, status, severity, notified.fingerprint, made, json.dumps(kept))


def kept_alert(notified: NotifiedAlert) -> dict[str, Any]:
    """What the store keeps of an alert, for JSON."""
    return {
        "labels": dict(notified.labels),
        "annotations": dict(notified.annotations),
        "starts": notified.starts,
        "ends": notified.ends,
    }


def notified_alert_of(kept: Any, identity: str) -> NotifiedAlert:
    """The alert that the store keeps, with a fingerprint. Raises KeyError, TypeError or ValueError when it is none."""
    labels, annotations = _texts(kept["labels"]), _texts(kept["annotations"])
    return NotifiedAlert(labels, annotations, identity, moment(kept["starts"]), moment_or_none(kept["ends"]))


def notified_alert_from(pending: PendingNotification) -> NotifiedAlert:
    """What the store keeps of it. Raises ValueError when it cannot be read.

    Earlier versions kept what they posted to a webhook, which has the same in another form.
    """
    try:
        kept = json.loads(pending.payload)
        if "alerts" not in kept:
            return notified_alert_of(kept, pending.fingerprint)
        (alert,) = kept["alerts"]
        starts = parse_iso(alert["startsAt"])
        ends = None if alert["endsAt"] == NOT_ENDED else parse_iso(alert["endsAt"])
        return NotifiedAlert(_texts(alert["labels"]), _texts(alert["annotations"]), pending.fingerprint, starts, ends)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("the notification in the store is damaged") from error


def notification_from(stored: StoredNotification) -> Notification:
    """The notification that the store keeps. Raises ValueError when one of the alerts that it tells cannot be read."""
    told = tuple(map(notified_alert_from, stored.alerts))
    if not stored.key:
        # Of an earlier version, which told each alert by itself.
        return replace(notification_of_one(told[0], stored.receiver), number=stored.number)
    beside = []
    for each in stored.beside:
        with suppress(ValueError):
            beside.append(notified_alert_from(each))
    return Notification(
        stored.receiver,
        stored.key,
        stored.labels,
        (*told, *beside),
        stored.truncated,
        stored.number,
        stored.repeated,
        len(beside),
    )


def webhook_payload(notification: Notification, links: Mapping[str, str] = MappingProxyType({})) -> str:
    """The JSON of a notification, in ASCII: version 4 of Alertmanager's webhooks."""
    return json.dumps(
        {
            "version": "4",
            "groupKey": notification.key,
            "truncatedAlerts": notification.truncated,
            "status": notification.status.value,
            "receiver": without_lone_surrogates(notification.receiver),
            "groupLabels": dict(notification.labels),
            "commonLabels": dict(notification.common_labels),
            "commonAnnotations": dict(notification.common_annotations),
            "externalURL": "",
            "alerts": [
                {
                    "status": each.status.value,
                    "labels": dict(each.labels),
                    "annotations": dict(each.annotations),
                    "startsAt": iso(each.starts),
                    "endsAt": NOT_ENDED if each.ends is None else iso(each.ends),
                    "generatorURL": links.get(each.fingerprint, ""),
                    "fingerprint": each.fingerprint,
                }
                for each in notification.alerts
            ],
        }
    )


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
