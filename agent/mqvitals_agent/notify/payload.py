"""A notice as JSON: the payload that version 4 of Alertmanager's webhooks has, with one alert in it.

Every notice is a group of its own: its key is made of what identifies the alert, so that receivers that keep one
incident a group keep one an alert. The fingerprint also holds when it started: a second incident is another one, and
whatever is sent again about the same has the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from mqvitals_agent.store.notice_row import NoticeStatus
from mqvitals_agent.view.alerts import duration_words, ended_words, summary_with_owner
from mqvitals_rules.lifecycle.alert import Alert, AlertState
from mqvitals_rules.timestamps import iso

NOT_ENDED = "0001-01-01T00:00:00Z"
"""What Alertmanager writes for the end of an alert that is firing."""

_LONE = re.compile("[\ud800-\udfff]")
_IDENTITY = ("alertname", "owner", "queue_manager", "kind", "object", "instance", "group")


@dataclass(frozen=True, slots=True)
class Words:
    """What a rule says about its alert: advice, the document and section behind it, the MQSC command to type next."""

    advice: str = ""
    document: str = ""
    section: str = ""
    mqsc: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """What is said of one alert, as plain data. ``ends`` is None while it is firing; moments are ms UTC."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    fingerprint: str
    starts: int
    ends: int | None = None

    @property
    def status(self) -> NoticeStatus:
        """Firing until it has ended."""
        return NoticeStatus.FIRING if self.ends is None else NoticeStatus.RESOLVED


def fingerprint(alert: Alert) -> str:
    """What tells this incident from all others: of what the alert is about and when it started; 16 hex digits."""
    facts = json.dumps([alert.key.rule, *alert.key.object, alert.key.instance, alert.began_as])
    return blake2b(facts.encode(), digest_size=8).hexdigest()


def content(alert: Alert, words: Words, groups: Collection[str], group: str) -> Content:
    """What is said of an alert that has fired.

    ``groups`` are the owners that are no queue manager; ``group`` is the name of the queue-sharing group.
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
    return Content(_present(labels), _present(annotations), fingerprint(alert), starts, ends)


def payload(content: Content, receiver: str, labels: Mapping[str, str]) -> str:
    """The JSON of a notice to ``receiver``, plain ASCII. ``labels`` are those that the site adds."""
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


def _present(texts: Mapping[str, str]) -> dict[str, str]:
    """Without empty ones, which are none to Alertmanager. Half a surrogate pair is no text that JSON can carry."""
    return {name: _LONE.sub("\ufffd", text) for name, text in texts.items() if text}


def _braced(labels: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(labels.items())) + "}"
