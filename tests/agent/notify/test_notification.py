"""A notification, the JSON of it for webhooks field by field, and its form in the store."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.alerting.action import fingerprint
from mqvitals_agent.alerting.decision import NotificationStatus
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.notify.notification import (
    NOT_ENDED,
    NotifiedAlert,
    RuleText,
    notification_of_one,
    notified_alert,
    notified_alert_from,
    pending_notification,
    webhook_payload,
)
from mqvitals_agent.notify.receiver import trial_alerts
from mqvitals_agent.store.rows.alerts.notification_rows import PendingNotification
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.receivers.http import webhook_of
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Why
from mqvitals_rules.snapshot import ObjectName

Pool = Callable[..., Alert]
WORDS = RuleText("Enlarge it.", "MP16", "Buffer pools", "DISPLAY USAGE PSID(*) TYPE(PAGESET)")
STARTED = 1_795_176_010_007
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")


def notified(alert: Alert, words: RuleText, group: str = "") -> NotifiedAlert:
    """What is told about an alert in a group of this name."""
    return notified_alert(alert, words, Labeller(group, {group}).labels_of(alert))


def posted(alert: NotifiedAlert, receiver: str = "ops", **labels: str) -> str:
    """What a webhook is sent of a notification that was in the store."""
    settings = replace(webhook_of("http://x.example"), name=LocatedText(receiver, Place("x")), labels=labels)
    kept = pending_notification(alert, settings, number=1, severity=Severity.INFO, made=1)
    return webhook_payload(notification_of_one(notified_alert_from(kept), receiver))


def check_shape(body: Any) -> None:
    """Version 4 of Alertmanager's webhooks: these fields, of these types, and no others."""
    assert {name: type(value) for name, value in body.items()} == {
        "version": str,
        "groupKey": str,
        "truncatedAlerts": int,
        "status": str,
        "receiver": str,
        "groupLabels": dict,
        "commonLabels": dict,
        "commonAnnotations": dict,
        "externalURL": str,
        "alerts": list,
    }
    assert body["version"] == "4"
    (alert,) = body["alerts"]
    assert {name: type(value) for name, value in alert.items()} == {
        "status": str,
        "labels": dict,
        "annotations": dict,
        "startsAt": str,
        "endsAt": str,
        "generatorURL": str,
        "fingerprint": str,
    }
    assert body["status"] == alert["status"]
    assert body["status"] in ("firing", "resolved")
    assert (alert["endsAt"] == NOT_ENDED) is (alert["status"] == "firing")
    assert MOMENT.fullmatch(alert["startsAt"])
    assert MOMENT.fullmatch(alert["endsAt"])
    assert re.fullmatch("[0-9a-f]{16}", alert["fingerprint"])
    assert body["commonLabels"] == alert["labels"]
    assert body["commonAnnotations"] == alert["annotations"]
    assert body["groupLabels"].items() <= alert["labels"].items()
    for texts in (alert["labels"], alert["annotations"], body["groupLabels"]):
        assert all(isinstance(value, str) and value for value in texts.values())


def test_a_firing_notice_in_full(pool: Pool) -> None:
    """Every field of it."""
    text = posted(notified(pool(started=STARTED), WORDS, "PRDQSG"), site="north")
    labels = {
        "alertname": "BP-03",
        "rule": "BP-03",
        "family": "bp_free",
        "severity": "critical",
        "owner": "QM01",
        "queue_manager": "QM01",
        "kind": "buffer_pool",
        "object": "QM01/buffer_pool/3",
        "name": "3",
        "group": "PRDQSG",
        "site": "north",
    }
    annotations = {
        "summary": "QM01: 4 % free",
        "advice": "Enlarge it.",
        "document": "MP16",
        "section": "Buffer pools",
        "mqsc": "DISPLAY USAGE PSID(*) TYPE(PAGESET)",
    }
    identity = {name: labels[name] for name in ("alertname", "owner", "queue_manager", "kind", "object", "group")}
    assert json.loads(text) == {
        "version": "4",
        "groupKey": '{}:{alertname="BP-03", group="PRDQSG", kind="buffer_pool", object="QM01/buffer_pool/3",'
        ' owner="QM01", queue_manager="QM01"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "ops",
        "groupLabels": identity,
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": "",
        "alerts": [
            {
                "status": "firing",
                "labels": labels,
                "annotations": annotations,
                "startsAt": "2026-11-20T12:00:10.007Z",
                "endsAt": "0001-01-01T00:00:00Z",
                "generatorURL": "",
                "fingerprint": fingerprint(pool(started=STARTED)),
            }
        ],
    }


def test_a_resolved_notice(pool: Pool) -> None:
    """It has an end, and else the same identity."""
    firing = pool(started=STARTED)
    ended = replace(firing, state=AlertState.RESOLVED, ended=STARTED + 60_000)
    first, last = (json.loads(posted(notified(each, WORDS))) for each in (firing, ended))
    check_shape(first)
    check_shape(last)
    assert last["alerts"][0]["endsAt"] == "2026-11-20T12:01:10.007Z"
    assert last["groupKey"] == first["groupKey"]
    assert last["alerts"][0]["fingerprint"] == first["alerts"][0]["fingerprint"]


def test_a_resolved_notice_says_how_long_and_how_it_ended(pool: Pool) -> None:
    """Its words begin with the outcome, at what value; what it was follows."""
    firing = pool(started=STARTED, summary="buffer pool 3: 1 % free")
    ended = replace(
        firing,
        state=AlertState.RESOLVED,
        severity=Severity.WARNING,
        ended=STARTED + 750_000,
        updated=STARTED + 750_000,
        why=Why.CLEARED,
        value_now="34 %",
        worst_value="1 %",
    )
    said = notified(ended, RuleText()).annotations
    assert said == {
        "summary": "over after 12m30s (34 % now, 1 % at worst); it was: QM01: buffer pool 3: 1 % free",
        "worst_value": "1 %",
        "value_now": "34 %",
        "worst_severity": "critical",
        "fired_for": "12m30s",
    }
    gone = replace(ended, why=Why.GONE)
    assert notified(gone, RuleText()).annotations["summary"] == (
        "ended after 12m30s, the object no longer exists; it was: QM01: buffer pool 3: 1 % free"
    )


def test_an_alert_between_its_bounds_says_what_it_is_now(pool: Pool) -> None:
    """Its condition no longer holds, and what clears it does not yet."""
    between = replace(pool(started=STARTED, summary="buffer pool 3: 1 % free"), recent_polls=0, value_now="10 %")
    said = notified(between, RuleText())
    assert said.annotations["summary"] == "QM01: now 10 %, was: buffer pool 3: 1 % free"


@pytest.mark.parametrize(
    ("summary", "named"),
    [
        ("QM01 refused DISPLAY", "QM01 refused DISPLAY"),
        ("queue manager QM01: gone", "queue manager QM01: gone"),
        ("queue QM011: deep", "QM01: queue QM011: deep"),
        ("queue A.QM01: deep", "QM01: queue A.QM01: deep"),
    ],
)
def test_every_summary_names_its_queue_manager(pool: Pool, summary: str, named: str) -> None:
    """Also where a receiver shows nothing but the summary; not twice."""
    assert notified(pool(started=STARTED, summary=summary), RuleText()).annotations["summary"] == named


def test_the_fingerprint_is_that_of_the_incident(pool: Pool) -> None:
    """Severity, words and end do not change it; another start, rule, object or instance does."""
    alert = pool(started=STARTED)
    same = replace(alert, severity=Severity.WARNING, summary="5 %", state=AlertState.RESOLVED, ended=STARTED + 1)
    others = [
        replace(alert, started=STARTED + 1),
        replace(alert, key=AlertKey("BP-02", alert.key.object)),
        replace(alert, key=AlertKey("BP-03", ObjectName("QM02", "buffer_pool", "3"))),
        replace(alert, key=AlertKey("BP-03", alert.key.object, "x")),
    ]
    assert fingerprint(same) == fingerprint(alert)
    assert len({fingerprint(each) for each in [alert, *others]}) == 5
    assert fingerprint(alert) == "0890c65011b908ab"


def test_the_group_is_no_queue_manager(pool: Pool) -> None:
    """Things of the group have an owner and no queue manager; an instance is named where there is one."""
    structure = pool("CF-01", name=ObjectName("PRDQSG", "cf_structure", "APPL1"), instance="form", started=STARTED)
    labels = notified(structure, RuleText(), "PRDQSG").labels
    assert labels["owner"] == "PRDQSG"
    assert "queue_manager" not in labels
    assert labels["instance"] == "form"
    assert "advice" not in notified(structure, RuleText()).annotations


def test_a_label_of_the_site_never_hides_one_of_the_alert(pool: Pool) -> None:
    """The settings refuse such a label; the payload does not rely on it."""
    body = json.loads(posted(notified(pool(started=1), WORDS), severity="none"))
    assert body["commonLabels"]["severity"] == "critical"


def test_the_test_alert_is_marked() -> None:
    """Everybody who sees it knows what it is."""
    firing, resolved = (json.loads(posted(each, site="north")) for each in trial_alerts(STARTED))
    for body in (firing, resolved):
        check_shape(body)
        assert body["commonLabels"]["test"] == "true"
        assert body["commonLabels"]["alertname"] == "MQVITALS-TEST"
        assert "nothing is wrong" in body["commonAnnotations"]["summary"]
    assert (firing["status"], resolved["status"]) == ("firing", "resolved")
    assert firing["alerts"][0]["fingerprint"] == resolved["alerts"][0]["fingerprint"]


def kept_as(payload: str) -> PendingNotification:
    """A row of the store with this payload."""
    return PendingNotification(1, "ops", NotificationStatus.FIRING, Severity.INFO, "0890c65011b908ab", 1, payload)


@pytest.mark.parametrize("state", [AlertState.FIRING, AlertState.RESOLVED])
def test_rows_of_earlier_versions_are_sent_as_they_would_have_been(pool: Pool, state: AlertState) -> None:
    """They hold the webhook's JSON, which says everything."""
    ended = STARTED + 60_000 if state is AlertState.RESOLVED else None
    alert = pool(started=STARTED, state=state)
    text = posted(notified(replace(alert, ended=ended), WORDS, "PRDQSG"), site="north")
    earlier = replace(kept_as(text), fingerprint=fingerprint(alert))
    assert webhook_payload(notification_of_one(notified_alert_from(earlier), "ops")) == text


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "[]",
        "{}",
        '{"alerts": []}',
        '{"labels": {"a": 1}, "annotations": {}, "starts": 1, "ends": null}',
        '{"labels": {}, "annotations": {}, "starts": "x", "ends": null}',
        '{"labels": {}, "annotations": {}, "starts": 1, "ends": 1e400}',
        pytest.param("[" * 100_000, id="nested too deeply"),
    ],
)
def test_a_damaged_row_is_no_notification(payload: str) -> None:
    """One sentence, whatever it holds."""
    with pytest.raises(ValueError, match="the notification in the store is damaged"):
        notified_alert_from(kept_as(payload))


ANY = st.text(st.characters(), max_size=20) | st.sampled_from(["\ud800", '"}{', "\x00\x1b[2J", "\u2028", "[/x]"])


@given(ANY, ANY, ANY, ANY, ANY, st.integers(0, 253_402_300_799_999))
def test_any_text_gives_valid_json(rule: str, owner: str, name: str, summary: str, label: str, started: int) -> None:
    """Whatever MQ, rules and the site say: plain ASCII that every parser takes, with the texts as they were."""
    alert = Alert(
        AlertKey(rule, ObjectName(owner, "queue", name), label),
        ObjectName(owner, "queue", name),
        "operational",
        "",
        AlertState.FIRING,
        Severity.WARNING,
        Severity.WARNING,
        started,
        started,
        summary,
        started,
    )
    text = posted(notified(alert, RuleText(summary, rule, name, owner), label), name, site=label)
    assert text.isascii()
    body = json.loads(text)
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    assert body["version"] == "4"
    if summary.isprintable() and summary:
        assert body["commonAnnotations"]["summary"].endswith(summary)
