"""A queue manager of the simulated group that is down as planned, for longer than planned."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from tests.agent.service.scenarios.test_incident_scenarios import MINUTE_MS, played

from mqvitals_agent.alerting.calendar import TimeSpan
from mqvitals_agent.alerting.maintenance import MaintenanceWindow, SiteCalendar
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident
from mqvitals_rules.ruleset.pattern import ObjectPattern


async def test_a_planned_outage_is_told_when_the_window_is_over(house: Any) -> None:
    """Before, nothing of it is, and what is not planned is; then the queue manager is, and none of its effects."""
    arrivals = (
        ScenarioIncident(30_000, 60 * MINUTE_MS, IncidentKind.ARRIVALS, f"{name}/TO.QM03", 0.02)
        for name in ("QM01", "QM02", "QM04")
    )
    down = ScenarioIncident(MINUTE_MS, 50 * MINUTE_MS, IncidentKind.MEMBER_FAILED, "QM03")
    unplanned = ScenarioIncident(4 * MINUTE_MS, 3 * MINUTE_MS, IncidentKind.DB2_LOST, "QM02")
    began, qm03 = house.clock.now(), (ObjectPattern.parse("QM03/*"),)
    span = TimeSpan(began, began + 10 * MINUTE_MS)
    window = MaintenanceWindow("IPL", "IPL of SYS3", UTC, span, queue_managers=qm03, planned_down=True)
    scenario = Scenario("QM03 is down as planned", 60 * MINUTE_MS, (*arrivals, down, unplanned))
    found = await played(house, scenario, 12, calendar=SiteCalendar(windows=(window,)))
    assert found.told("firing") == ["OPS-114 PRDQ/qsg critical", "AGENT-01 QM03/queue_manager critical"]
    (post,) = (each for each in found.posts if each["labels"]["alertname"] == "AGENT-01")
    assert post["startsAt"].startswith("2026-11-20T12:01")
    effects = {name for name, alert in found.alerts.items() if alert.cause is not None}
    assert {"CHL-16 QM01/channel/TO.QM03", "OPS-101 QM01/queue/QM03", "OPS-113 PRDQ/qsg"} <= effects
