"""What people do about alerts, beside a running agent: it knows within a second, and the log says who did what."""

from __future__ import annotations

from typing import Any

from mqvitals_agent.service.on_demand import LOOK_MS
from mqvitals_agent.store.rows.action_client import ActionClient
from mqvitals_agent.store.rows.actions import Actions
from mqvitals_config.matcher import parse_matcher


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
