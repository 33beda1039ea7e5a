"""Connections and queue managers that are let go of: nothing of them stays, and nothing of them comes after."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from mqvitals_agent.connection.connection import ConnectError, MqiFailure
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.store import StoreSettings
from mqvitals_rules.ruleset.config import load_rule_config


async def test_a_connection_that_comes_too_late_is_closed(house: Any) -> None:
    """One that is made in the moment when the attempt is given up, because of its length or of the end."""
    script = house.of("QM01")
    script.deaf = True
    async with house.running():
        await house.clock.advance(40_000)
        assert len(script.attempts) >= 2
    await house.clock.advance(0)
    assert script.open == 0
    assert not script.asked


@pytest.mark.parametrize("failure", [ConnectError(MqiFailure(2, 2009)), ConnectionResetError(104, "reset")])
async def test_a_connection_that_cannot_be_closed_in_order(house: Any, failure: Exception) -> None:
    """That is told once and stops neither the agent nor its end; a mistake of ours would."""
    script = house.of("QM01")
    script.close_fails = failure
    async with house.running():
        for _ in range(3):
            await house.clock.advance(35_000)
            script.down = 2009
            await house.clock.advance(35_000)
            script.down = 0
    assert house.log.getvalue().count("could not be closed in order") == 1
    assert [each.open for each in house.scripts] == [0, 0, 0]
    assert house.of("QM02").times("INQUIRE_Q_STATUS") == list(range(0, 210_001, 30_000))


async def test_a_mistake_in_closing_is_raised(house: Any) -> None:
    """What is not MQ's failure stops the agent, also in the end."""
    house.of("QM01").close_fails = KeyError("a mistake")
    service = house.make()
    task = asyncio.create_task(service.run())
    await house.clock.advance(5_000)
    service.stop()
    with pytest.raises(BaseExceptionGroup) as caught:
        await asyncio.wait_for(task, 5)
    assert caught.group_contains(KeyError)
    Store.open(house.store).close()


async def test_a_late_answer_of_one_that_was_left(house: Any) -> None:
    """What a queue manager still said before it was taken out of the configuration does not bring it back."""
    house.of("QM03").took = {"INQUIRE_LOG": 45_000}
    async with house.running() as service:
        # The answer came at 45 s, when the cycle of 30 s was stored already.
        await house.clock.advance(50_000)
        service.reload(house.settings, load_rule_config(house.settings), house.scripts[:2])
        await house.clock.advance(130_000)
    with StoreReader.open(house.store) as reader:
        last = {owner.name: owner.last_ts - house.stored[0].began for owner in reader.owners()}
    assert (last["QM02"], last["QM03"]) == (180_000, 60_000)


async def test_reasons_are_told_when_they_change(house: Any) -> None:
    """A queue manager that cannot be reached for one reason, for another, and for the first again: a line for each."""
    async with house.running():
        await house.clock.advance(5_000)
        house.of("QM01").down = 2009
        await house.clock.advance(60_000)
        for reason in (2059, 2538, 2059):
            house.of("QM01").down = reason
            await house.clock.advance(300_000)
    lines = [line for line in house.log.getvalue().splitlines() if "queue_manager.unreachable" in line]
    reasons = [line.rpartition("reason=")[2].partition(")")[0].partition(" ")[0] for line in lines]
    # The first two: the connection was lost, and could not be made again.
    assert reasons == ["2009", "2009", "2059", "2538", "2059"]


async def test_what_only_a_new_start_can_change(house: Any) -> None:
    """Another store and another name of the group are told of at a reload, and stay as they were."""
    async with house.running() as service:
        await house.clock.advance(5_000)
        other = replace(
            house.settings,
            name=LocatedText("OTHER", Place("x.yaml")),
            store=StoreSettings(path=LocatedText("/nowhere/at/all.db", Place("x.yaml"))),
        )
        service.reload(other, load_rule_config(other))
        await house.clock.advance(60_000)
        service.reload(other, load_rule_config(other))
        await house.clock.advance(60_000)
    assert house.log.getvalue().count("takes effect at the next start") == 2
    assert "name and store" in house.log.getvalue()
    with StoreReader.open(house.store) as reader:
        assert "OTHER" not in {owner.name for owner in reader.owners()}
        assert {owner.last_cycle for owner in reader.owners()} == {5}
