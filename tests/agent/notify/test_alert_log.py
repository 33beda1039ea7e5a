"""Alerts as lines of the agent's log."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.log import LineHandler, logging_to
from mqvitals_agent.notify.notification import RuleText, notification_of_one, notified_alert, webhook_payload
from mqvitals_agent.service.cycles.cycle_log import log_alerts
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName, Snapshot

Pool = Callable[..., Alert]
BEGAN = 1_795_176_000_000


def logged(*transitions: Transition, group: bool = False) -> list[dict[str, Any]]:
    """What is logged of a snapshot's transitions."""
    stream = io.StringIO()
    snapshot = Snapshot("QM01", group, 1, BEGAN, ())
    with logging_to(LineHandler(stream, VirtualClock(BEGAN), form="json")):
        log_alerts(snapshot, transitions)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def incident(alert: Alert) -> Sequence[Transition]:
    """It fires, becomes milder, and ends after ten minutes."""
    fires = replace(alert, started=BEGAN)
    milder = replace(fires, severity=Severity.WARNING, updated=BEGAN + 60_000)
    ended = replace(milder, state=AlertState.RESOLVED, ended=BEGAN + 600_000, updated=BEGAN + 600_000, why=Why.CLEARED)
    return (
        Transition(fires, None, Why.HELD),
        Transition(milder, fires, Why.SEVERITY_CHANGED),
        Transition(ended, milder, Why.CLEARED),
    )


def test_each_transition_is_a_line_that_names_the_alert(pool: Pool) -> None:
    """Event, level and facts suffice to follow an alert without any receiver."""
    firing, changed, resolved = logged(*incident(pool(summary='4 % "free"')))
    assert [(each["event"], each["level"]) for each in (firing, changed, resolved)] == [
        ("alert.firing", "error"),
        ("alert.changed", "warning"),
        ("alert.resolved", "info"),
    ]
    for each in (firing, changed, resolved):
        assert each["rule"] == "BP-03"
        assert each["object"] == "QM01/buffer_pool/3"
        assert each["queue_manager"] == "QM01"
        assert each["summary"] == 'QM01: 4 % "free"'
        assert each["fingerprint"] == firing["fingerprint"]
    assert firing["severity"] == "critical"
    assert (changed["severity"], changed["before"]) == ("warning", "critical")
    assert (resolved["severity"], resolved["worst"], resolved["fired_ms"]) == ("warning", "critical", 600_000)
    assert resolved["reason"] == Why.CLEARED.value
    assert "10m00s" in resolved["text"]


def test_the_fingerprint_is_that_of_the_webhook(pool: Pool) -> None:
    """One is found by the other."""
    for transition in incident(pool()):
        (line,) = logged(transition)
        posted = json.loads(
            webhook_payload(notification_of_one(notified_alert(transition.after, RuleText(), {}), "ops"))
        )
        assert line["fingerprint"] == posted["alerts"][0]["fingerprint"]


@pytest.mark.parametrize("severity", list(Severity))
def test_the_level_follows_the_severity(pool: Pool, severity: Severity) -> None:
    """Critical is an error, so that 'journalctl -p err' and its like find it."""
    (line,) = logged(Transition(pool(severity=severity, started=BEGAN), None, Why.HELD))
    expected = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
    assert line["level"] == expected[severity]


def test_advice_is_no_alert(pool: Pool) -> None:
    """Rules that only advise are not logged."""
    assert logged(*incident(pool(kind_of_rule="review"))) == []


def test_what_belongs_to_the_group_names_no_queue_manager(pool: Pool) -> None:
    """As in a webhook."""
    name = ObjectName("PRDQSG", "cf_structure", "APPL1")
    (line,) = logged(Transition(pool("CF-01", name=name, started=BEGAN), None, Why.HELD), group=True)
    assert "queue_manager" not in line
    assert line["object"] == "PRDQSG/cf_structure/APPL1"


def test_an_explained_alert_names_its_cause(pool: Pool) -> None:
    """It is logged all the same."""
    cause = AlertKey("Q-02", ObjectName("QM01", "queue", "A.B"))
    (line,) = logged(Transition(pool(started=BEGAN, cause=cause), None, Why.HELD))
    assert line["cause"] == "Q-02 QM01/queue/A.B"


def test_an_end_that_is_no_recovery_says_so(pool: Pool) -> None:
    """An object that is gone has not become well."""
    ended = replace(pool(started=BEGAN), state=AlertState.RESOLVED, ended=BEGAN + 1000, why=Why.GONE)
    (line,) = logged(Transition(ended, pool(started=BEGAN), Why.GONE))
    assert Why.GONE.value in line["text"]
    assert line["reason"] == Why.GONE.value


def test_one_that_the_store_hears_of_late_fires(pool: Pool) -> None:
    """What began it could not be stored: for who reads the log it begins now."""
    fires = pool(started=BEGAN)
    (line,) = logged(Transition(replace(fires, summary="3 % free"), fires, Why.HELD))
    assert line["event"] == "alert.firing"


def test_a_line_of_text_has_the_same_facts(pool: Pool) -> None:
    """Each as name=value; names of MQ cannot break the line."""
    stream = io.StringIO()
    with logging_to(LineHandler(stream, VirtualClock(BEGAN))):
        log_alerts(Snapshot("QM01", False, 1, BEGAN, ()), incident(pool(summary="4 %\nfree\x1b[2J")))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert " ERROR alert.firing BP-03 QM01/buffer_pool/3 fires, CRITICAL (rule=BP-03 object=" in lines[0]
    assert " INFO alert.resolved " in lines[2]
    for name in ("rule", "object", "queue_manager", "severity", "worst", "fired_ms", "fingerprint", "summary"):
        assert f"{name}=" in lines[2]
    assert "\x1b" not in stream.getvalue()
