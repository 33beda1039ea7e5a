"""Which notifications the transitions of alerts cause, through the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.alerting.decision import LATE_EFFECT_MS, inhibitions
from mqvitals_agent.store.error import StoreError
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity, Why
from mqvitals_rules.ruleset.pack import read_rules
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.ruleset.tuning import Tuning
from mqvitals_rules.vocabulary.tables import KINDS

PENDING, FIRING, RESOLVED = AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED
WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
Pool = Callable[..., Alert]
Webhook = Callable[..., WebhookSettings]


def notifications(site: Any, receiver: str = "ops") -> list[tuple[str, str, str]]:
    """(rule, status, severity) of a receiver's notifications, in order."""
    rows = site.row("SELECT receiver, status, severity, payload FROM notice ORDER BY id")
    return [
        (json.loads(payload)["labels"]["alertname"], status, severity)
        for name, status, severity, payload in rows
        if name == receiver
    ]


def test_one_incident(site: Any, pool: Pool, webhook: Webhook) -> None:
    """A notification when it starts, when its severity changes and when it ends; none while it waits or goes on."""
    site.receivers = [webhook()]
    site.change(pool(state=PENDING, severity=WARNING))
    assert notifications(site) == []
    site.change(pool(severity=WARNING))
    site.change(pool(severity=WARNING, summary="5 % free"))
    site.change(pool(severity=CRITICAL))
    site.change(pool(state=RESOLVED, severity=CRITICAL))
    assert notifications(site) == [
        ("BP-03", "firing", "warning"),
        ("BP-03", "firing", "critical"),
        ("BP-03", "resolved", "critical"),
    ]
    assert len(set(site.row("SELECT fingerprint FROM notice"))) == 1


def test_a_second_incident_is_another_one(site: Any, pool: Pool, webhook: Webhook) -> None:
    """It has a fingerprint of its own."""
    site.receivers = [webhook()]
    for _ in range(2):
        site.change(pool())
        site.change(pool(state=RESOLVED))
    keys = [key for (key,) in site.row("SELECT fingerprint FROM notice ORDER BY id")]
    assert keys[0] == keys[1] != keys[2] == keys[3]


def test_what_ends_before_it_fires_and_advice_notify_nobody(site: Any, pool: Pool, webhook: Webhook) -> None:
    """Neither has a notice."""
    site.receivers = [webhook()]
    site.change(pool(state=PENDING))
    site.change(pool(state=RESOLVED, started=None))
    site.change(pool("BP-09", kind_of_rule="review", family=""))
    site.change(pool("BP-09", kind_of_rule="review", family="", state=RESOLVED))
    assert notifications(site) == []


def test_only_the_worst_of_a_family(site: Any, pool: Pool, webhook: Webhook) -> None:
    """A milder one is sent when the worse one has ended and it still fires; one that ended meanwhile is not."""
    site.receivers = [webhook()]
    site.change(pool("BP-01", severity=WARNING), pool("BP-02", severity=WARNING), pool("BP-03"))
    assert notifications(site) == [("BP-03", "firing", "critical")]
    site.change(pool("BP-02", state=RESOLVED, severity=WARNING))
    site.change(pool("BP-03", state=RESOLVED))
    site.change(pool("BP-01", state=RESOLVED, severity=WARNING))
    assert notifications(site)[1:] == [
        ("BP-03", "resolved", "critical"),
        ("BP-01", "firing", "warning"),
        ("BP-01", "resolved", "warning"),
    ]


def test_one_that_was_told_before_it_was_covered_is_ended_too(site: Any, pool: Pool, webhook: Webhook) -> None:
    """Exactly one firing and one resolved for each, although the worse one came and went in between."""
    site.receivers = [webhook()]
    site.change(pool("BP-01", severity=WARNING))
    site.change(pool("BP-03"))
    site.change(pool("BP-03", state=RESOLVED))
    site.change(pool("BP-01", state=RESOLVED, severity=WARNING))
    assert [each[:2] for each in notifications(site)] == [
        ("BP-01", "firing"),
        ("BP-03", "firing"),
        ("BP-03", "resolved"),
        ("BP-01", "resolved"),
    ]


def test_what_another_alert_brings_about_is_told_when_it_stays_alone(site: Any, pool: Pool, webhook: Webhook) -> None:
    """One incident is one call; what is left of it when its cause is over is a new one."""
    site.receivers = [webhook()]
    cause = pool("LOG-08", family="")
    effect = pool("BP-03", cause=cause.key)
    site.change(cause, effect)
    assert [each[:2] for each in notifications(site)] == [("LOG-08", "firing")]
    site.change(pool("LOG-08", state=RESOLVED, family=""), pool("BP-03"))
    assert [each[:2] for each in notifications(site)] == [
        ("LOG-08", "firing"),
        ("LOG-08", "resolved"),
        ("BP-03", "firing"),
    ]


def test_what_comes_long_after_its_cause_is_told(pool: Pool) -> None:
    """It has become worse: the receiver of the cause is notified again."""
    cause = pool("LOG-08", family="", started=1_000)
    soon = pool("BP-03", cause=cause.key, started=1_000 + LATE_EFFECT_MS)
    late = pool("BP-05", family="", cause=cause.key, started=1_001 + LATE_EFFECT_MS)
    assert inhibitions([cause, soon, late], {}) == {soon.key: cause.key}
    # Later changes are sent too, whatever the cause is by then.
    assert inhibitions([late, cause], {}) == {}


def test_a_milder_cause_keeps_nobody_asleep(site: Any, pool: Pool, webhook: Webhook) -> None:
    site.receivers = [webhook()]
    cause = pool("LOG-08", severity=WARNING, family="")
    site.change(cause, pool("BP-03", cause=cause.key))
    assert {each[:2] for each in notifications(site)} == {("LOG-08", "firing"), ("BP-03", "firing")}


def test_each_receiver_is_notified_by_itself(site: Any, pool: Pool, webhook: Webhook) -> None:
    """With its name and labels; the end only where it is wanted; a new one is not notified of the end of what it never knew."""
    site.receivers = [webhook(labels={"site": "north"}), webhook(name="chat", send_resolved=False)]
    site.change(pool())
    site.receivers.append(webhook(name="new"))
    site.change(pool(state=RESOLVED))
    assert [each[1] for each in notifications(site)] == ["firing", "resolved"]
    assert [each[1] for each in notifications(site, "chat")] == ["firing"]
    assert notifications(site, "new") == []
    (ops, first), (chat, second) = site.row("SELECT receiver, payload FROM notice ORDER BY id LIMIT 2")
    assert (ops, json.loads(first)["labels"]["site"]) == ("ops", "north")
    assert (chat, "site" in json.loads(second)["labels"]) == ("chat", False)


def test_the_rule_speaks(site: Any, pool: Pool, webhook: Webhook) -> None:
    """Advice, document, section and the MQSC command of the rule; a rule that is no longer known has none."""
    site.receivers = [webhook()]
    site.change(pool(), pool("GONE-1", family=""))
    known, unknown = (json.loads(row[0])["annotations"] for row in site.row("SELECT payload FROM notice"))
    assert known["mqsc"] == "DISPLAY USAGE PSID(*) TYPE(PAGESET)"
    assert known["advice"]
    assert known["document"]
    assert known["section"]
    assert unknown == {"summary": "QM01: 4 % free"}


def test_the_end_of_an_alert_whose_rule_is_turned_off(
    site: Any, pool: Pool, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Receivers that know it are told, with the site's reason and the texts of the rule as it was."""
    site.receivers = [webhook()]
    site.change(pool())
    entry = Tuning("BP-03", ObjectPattern.parse("QM01/*"), off=True, reason="a pool for tests")
    tuned = RuleSet(read_rules(KINDS)[0], KINDS, (entry,))
    monkeypatch.setitem(type(site).outbox.__globals__, "ruleset", lambda: tuned)
    site.change(replace(pool(state=RESOLVED), why=Why.TURNED_OFF, off_reason=entry.reason))
    assert [status for _, status, _ in notifications(site)] == ["firing", "resolved"]
    first, last = (json.loads(row[0])["annotations"] for row in site.row("SELECT payload FROM notice ORDER BY id"))
    assert "turned off by the settings (a pool for tests); it was: QM01: 4 % free" in last["summary"]
    assert (last["advice"], last["mqsc"]) == (first["advice"], first["mqsc"])


def test_without_receivers_nothing_is_owed(site: Any, pool: Pool) -> None:
    """And nothing is kept."""
    site.change(pool())
    assert site.row("SELECT count(*) FROM notice") == [(0,)]


def test_a_snapshot_that_cannot_be_stored_owes_nothing(site: Any, pool: Pool, webhook: Webhook) -> None:
    """Alert and notification are one transaction; what follows is decided by what the store holds, so nothing is lost."""
    site.receivers = [webhook()]
    site.change(pool(state=PENDING))

    def full(changes: Any) -> None:
        raise StoreError("the disk is full")

    with pytest.raises(StoreError):
        site.change(pool(), update_outbox=full)
    assert site.row("SELECT state FROM alert") == [("pending",)]
    assert notifications(site) == []
    # The rules go on with an alert that fires; the store hears of it with the next change.
    site.change(pool(severity=WARNING))
    assert notifications(site) == [("BP-03", "firing", "warning")]
