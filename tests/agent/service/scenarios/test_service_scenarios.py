"""Each scenario on the whole path, from simulated answers to alerts, by a clock that only moves on request."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario

MINUTE_MS = 60_000
SEEDS = [1, pytest.param(2, marks=pytest.mark.soak)]
EXPECTED: dict[str, set[tuple[str, str]]] = {
    "buffer-pool-thrash": {("Q-02", "QM01/queue/ORDERS.REQUEST"), ("BP-03", "QM01/buffer_pool/3")},
    "slow-network": {("CHL-06", "QM01/channel/TO.QM02")},
    "structure-filling": {("Q-02", "PRDQ/queue/APPL1.ORDERS"), ("CF-03", "PRDQ/cf_structure/APPL1")},
    "partner-down": {("CHL-16", "QM01/channel/TO.PARTNER")},
    "consumer-gone": {("Q-03", "QM02/queue/PAYMENTS.IN")},
    "busy-morning": {
        ("Q-02", "QM01/queue/ORDERS.REQUEST"),
        ("BP-03", "QM01/buffer_pool/3"),
        ("Q-03", "QM02/queue/PAYMENTS.IN"),
        ("CHL-06", "QM01/channel/TO.QM02"),
        ("CHL-16", "QM03/channel/TO.PARTNER"),
        ("Q-02", "PRDQ/queue/APPL1.ORDERS"),
        ("AGENT-03", "QM04/queue_manager/"),
        ("AGENT-01", "QM04/queue_manager/"),
    },
}


async def alerts_of(
    house: Any, name: str, seed: int, minutes: int, every_ms: int = 10_000
) -> list[tuple[str, str, str]]:
    """Rule, object and state of a scenario's operational alerts a minute after its first ``minutes``, in which they began."""
    before = house.clock.now() + minutes * MINUTE_MS
    world = SimulatedGroup(load_scenario(name), house.clock.now(), seed=seed)
    house.scripts = connectors(world, house.clock, seed=seed)
    house.settings = replace(house.settings, polling=replace(house.settings.polling, interval=every_ms))
    async with house.running():
        for _ in range(minutes + 1):
            await house.clock.advance(MINUTE_MS)
    store = sqlite3.connect(house.store)
    try:
        found = store.execute(
            "SELECT rule, owner, kind, name, state FROM alert WHERE state != 'pending' AND started < ?"
            " AND kind_of_rule = 'operational'",
            (before,),
        ).fetchall()
    finally:
        store.close()
    return [(rule, f"{owner}/{kind}/{what}", state) for rule, owner, kind, what, state in found]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", sorted(EXPECTED))
async def test_a_scenario_is_alerted_and_passes(house: Any, soak: bool, name: str, seed: int) -> None:
    """What the scenario does to the group fires, and what fired is over within a minute after its end.

    Trouble that lasts for minutes is asked about at the usual interval, in ``make soak`` more often.
    """
    usual = name != "busy-morning" and not soak
    every_ms = house.settings.polling.interval if usual else 10_000
    found = await alerts_of(house, name, seed, load_scenario(name).length // MINUTE_MS, every_ms)
    assert EXPECTED[name] <= {(rule, what) for rule, what, _ in found}
    assert [each for each in found if each[2] != "resolved"] == []


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_alerted_when_it_is_quiet(house: Any, soak: bool, seed: int) -> None:
    """Over more than one round of it; more than three in ``make soak``, polled more often than usual."""
    every_ms = 10_000 if soak else house.settings.polling.interval
    assert await alerts_of(house, "quiet", seed, 30 if soak else 12, every_ms) == []
