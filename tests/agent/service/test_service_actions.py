"""What people do about alerts, beside a running agent: it knows within a second, and the log says who did what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from mqvitals_agent.alerting.action import AckState, acknowledgement_of
from mqvitals_agent.service.on_demand import LOOK_MS
from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.store.rows.alerts.actions import Actions
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_config.sections.rules import RuleSettings, TuningSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import load_rule_config


def actions_in(log: str) -> list[str]:
    return [line.split("alert.action ", 1)[1] for line in log.splitlines() if " alert.action " in line]


async def test_known_within_a_second(house: Any) -> None:
    told: list[Actions] = []
    house.of("QM03").down = 2059
    async with house.running(requests_clock=house.clock, acted=told.append) as service:
        await house.clock.advance(65_500)
        assert [each.last for each in told] == [0]
        (stored,) = service.store.alerts.firing()
        with ActionClient.open(house.store, "anna") as anna, ActionClient.open(house.store, "ben") as ben:
            now = house.clock.now()
            anna.acknowledge(stored.id, now, note="calling z/OS")
            ben.add_note(stored.id, "so am I", now)
            await house.clock.advance(LOOK_MS)
            assert [each.author for each in told[-1].acknowledgements_of(stored.id)] == ["anna"]
            assert [each.text for each in told[-1].notes_of(stored.id)] == ["so am I"]
            await house.clock.advance(10 * LOOK_MS)
            assert len(told) == 2
            silence = ben.add_silence((parse_matcher("queue_manager=QM03"),), "IPL", now, now + 60_000, now)
            await house.clock.advance(LOOK_MS)
            assert told[-1].silences == (silence,)
            assert service.resilient_store.actions is told[-1]
        house.store.unlink()
        await house.clock.advance(40_000)
        assert told[-1].last == 4, "a new file has them too"
        assert told[-1].silences == (silence,)
        assert [each.author for each in told[-1].acknowledgements_of(stored.id)] == ["anna"]
    about = f"alert {stored.id}: {stored.alert.key.rule} {stored.alert.key.object}"
    assert [(line.partition(" (")[0], line.partition(" detail=")[2]) for line in actions_in(house.log.getvalue())] == [
        (f"anna: acknowledge, {about}", '"calling z/OS")'),
        (f"ben: note, {about}", '"so am I")'),
        ("ben: silence, silence 1: queue_manager=QM03", '"until 2026-11-20T12:02:05.500Z; IPL")'),
        ("mqvitals: carry over, the store", '"1 acknowledgement, 1 note, 1 silence")'),
    ]
    told.clear()
    async with house.running(requests_clock=house.clock, acted=told.append):
        await house.clock.advance(5_000)
        assert [each.silences for each in told] == [(silence,)], "another agent begins with what is in the store"


async def test_a_severity_raised_by_the_settings_asks_anew(house: Any) -> None:
    """Who acknowledged an alert took it for less severe than it now is."""

    def settings(severity: Literal["info", "critical"]) -> Settings:
        place = Place("mqvitals.yaml", 3, 5)
        entry = TuningSettings(rule=LocatedText("AGENT-01", place), severity=severity, reason=LocatedText("x", place))
        found: Settings = replace(house.settings, rules=RuleSettings(tuning=(entry,)))
        return found

    house.of("QM03").down = 2059
    async with house.running(requests_clock=house.clock) as service:
        service.reload(settings("info"), load_rule_config(settings("info")))
        await house.clock.advance(125_500)
        (stored,) = service.store.alerts.firing()
        assert stored.alert.severity is Severity.INFO
        with ActionClient.open(house.store, "anna") as anna:
            anna.acknowledge(stored.id, house.clock.now())
        await house.clock.advance(LOOK_MS)
        made = service.resilient_store.actions.acknowledgements_of(stored.id)
        assert acknowledgement_of(stored.alert, made, house.clock.now()).state is AckState.ACKNOWLEDGED
        service.reload(settings("critical"), load_rule_config(settings("critical")))
        await house.clock.advance(60_000)
        (after,) = service.store.alerts.firing()
        assert (after.id, after.alert.severity) == (stored.id, Severity.CRITICAL)
        assert acknowledgement_of(after.alert, made, house.clock.now()).state is AckState.WORSE
