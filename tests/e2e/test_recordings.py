"""Recordings of a simulated group, from bytes to alerts, trends and status: what the scenario does is what is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mqsamples.group import BEGIN, EVERYTHING
from mqvitals_agent.simulator.model import SimulatedGroup

Run = Callable[..., Any]

PATIENCE_S = 25
"""How long after a trouble's beginning its rule must have fired at the latest: five polls."""

TROUBLES = [
    # What the scenario does: rule, object, from when on (s after the beginning), and whether it is over at the end.
    ("Q-03", "QM03/queue/PAYMENTS.IN", 6, True),
    ("Q-02", "QM01/queue/ORDERS.REQUEST", 20, None),
    ("Q-02", "PRDQSG/queue/APPL1.ORDERS", 20, None),
    ("Q-03", "QM02/queue/PAYMENTS.IN", 30, None),
    ("CHL-06", "QM01/channel/TO.QM02", 40, None),
    ("CHL-16", "QM03/channel/TO.PARTNER", 60, False),
    ("AGENT-03", "QM03/queue_manager", 80, False),
    ("AGENT-01", "QM04/queue_manager", 100, False),
    ("CHL-16", "QM01/channel/TO.QM04", 100, False),
    ("CHL-16", "QM02/channel/TO.QM04", 100, None),
    ("CHL-16", "QM03/channel/TO.QM04", 100, False),
    ("AGENT-02", "QM02/queue_manager", 130, True),
    ("AGENT-02", "QM01/queue_manager", 145, True),
    ("AGENT-01", "QM02/queue_manager", 160, True),
    ("CHL-16", "QM01/channel/TO.QM02", 160, True),
    ("CHL-16", "QM03/channel/TO.QM02", 160, True),
]
"""None: the queue manager was away in between, so that its alert may end as unknown and begin anew."""

CONSEQUENCES = {
    ("BP-03", "QM01/buffer_pool/3"),  # ORDERS.REQUEST lies in it
    ("CF-03", "PRDQSG/cf_structure/APPL1"),  # APPL1.ORDERS does
    ("CF-05", "PRDQSG/cf_structure/APPL1"),
    ("Q-01", "PRDQSG/queue/APPL1.ORDERS"),  # it fills its structure
    ("CHL-23", "QM01/channel/TO.QM02"),  # its queue grew while QM02 was away
}
ALERT_KEYS = {"rule", "severity", "state", "queue_manager", "kind", "object", "started", "ended", "summary"}


def ms(moment: str) -> int:
    """A moment as the commands write it, in ms UTC."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def alerts_of(run: Run, store: Path) -> list[dict[str, Any]]:
    """Every alert that the store remembers."""
    listed: list[dict[str, Any]] = json.loads(run("alerts", "list", "--store", store, "--all", "--json").stdout)
    return listed


def test_incident_alerts(mqvitals: Run, incident: Path) -> None:
    """Every trouble is alerted soon after its beginning, and nothing else is but what follows from it."""
    alerts = alerts_of(mqvitals, incident)
    assert all(set(alert) >= ALERT_KEYS for alert in alerts)
    found = {(alert["rule"], alert["object"]) for alert in alerts}
    assert found == {(rule, name) for rule, name, *_ in TROUBLES} | CONSEQUENCES
    for rule, name, begin_s, over in TROUBLES:
        fitting = [alert for alert in alerts if (alert["rule"], alert["object"]) == (rule, name)]
        first = min(fitting, key=lambda alert: ms(alert["started"]))
        assert begin_s <= (ms(first["started"]) - BEGIN) / 1000 <= begin_s + PATIENCE_S, (rule, name)
        if over is not None:
            assert (first["ended"] is not None) is over, (rule, name)


def test_incident_severities(mqvitals: Run, incident: Path) -> None:
    """The severity of an alert is its worst while it was open."""
    severities = {(alert["rule"], alert["object"]): alert["severity"] for alert in alerts_of(mqvitals, incident)}
    assert severities["CHL-06", "QM01/channel/TO.QM02"] == "warning"
    assert severities["BP-03", "QM01/buffer_pool/3"] == "critical"
    assert severities["Q-03", "QM02/queue/PAYMENTS.IN"] == "warning"  # there are no four hours of history
    assert severities["AGENT-01", "QM04/queue_manager"] == "critical"


def test_quiet(mqvitals: Run, quiet: Path) -> None:
    """Where nothing is wrong nothing is alerted, and status says so by its exit code."""
    assert alerts_of(mqvitals, quiet) == []
    status = json.loads(mqvitals("status", "--store", quiet, "--json", code=0).stdout)
    assert status["severity"] == "ok"
    assert status["group"] == "PRDQSG"
    assert [one["name"] for one in status["queue_managers"]] == ["QM01", "QM02", "QM03", "QM04"]
    assert all(one["reachable"] for one in status["queue_managers"])


def points(run: Run, store: Path, metric: str, name: str) -> list[tuple[int, float]]:
    """A metric over time (ms UTC), where it has a value."""
    trend = json.loads(run("trend", metric, name, "--store", store, "--json").stdout)
    return [(ms(at), value) for at, value in trend["points"] if value is not None]


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("depth", "QM02/queue/PAYMENTS.IN"),
        ("free", "QM01/buffer_pool/3"),
        ("entries_used", "PRDQSG/cf_structure/APPL1"),
    ],
)
def test_series(mqvitals: Run, incident: Path, metric: str, name: str) -> None:
    """A trend is told point for point as the group was."""
    found = points(mqvitals, incident, metric, name)
    assert len(found) > 15
    world = SimulatedGroup(EVERYTHING, BEGIN, seed=1)
    for at, value in found:
        group = world.advance(at)
        known = {
            "depth": group.members["QM02"].queues["PAYMENTS.IN"].depth,
            "free": group.members["QM01"].pools[3].free,
            "entries_used": group.structures["APPL1"].entries_used,
        }
        assert value == known[metric], (metric, at)


def test_incident_status(mqvitals: Run, incident: Path) -> None:
    """At the recording's end the group is critical, and the screen says so."""
    status = json.loads(mqvitals("status", "--store", incident, "--json", code=2).stdout)
    assert status["severity"] == "critical"
    assert set(status) >= {"at", "source", "group", "severity", "queue_managers", "alerts"}
    text = mqvitals("status", "--store", incident, code=2).stdout
    assert "CRITICAL" in text
    assert "QM02" in text
    # A command to type next names the store, whose path may be as long as it likes.
    assert max(len(line) for line in text.splitlines() if "--store" not in line) <= 80
    assert "\x1b" not in text
