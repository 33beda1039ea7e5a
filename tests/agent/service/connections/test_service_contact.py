"""Queue managers that cannot be reached, refuse or fall silent, and who answers for the group then."""

from __future__ import annotations

from typing import Any

import pytest

from mqvitals_agent.connection.connection import MqiCalls
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.ruleset.config import load_rule_config


def firing(house: Any) -> list[str]:
    """The alerts that fire, by rule and object."""
    with StoreReader.open(house.store) as reader:
        return sorted(f"{each.alert.key.rule} {each.alert.scope}" for each in reader.alerts())


async def test_stays_up_when_nobody_can_be_reached(house: Any) -> None:
    """Without any queue manager the service runs, says so in every cycle, and raises its alerts."""
    for script in house.scripts:
        script.down = 2059
    async with house.running():
        await house.clock.advance(95_000)
        assert [stored.snapshots for stored in house.stored] == [3, 3, 3, 3]
        assert firing(house) == [f"AGENT-01 {name}/queue_manager" for name in ("QM01", "QM02", "QM03")]
        assert house.log.getvalue().count("cannot be reached: MQRC_Q_MGR_NOT_AVAILABLE") == 3
        for script in house.scripts:
            script.down = 0
        await house.clock.advance(100_000)
        assert firing(house) == []


async def test_attempts_become_rare(house: Any) -> None:
    """Waits of at most 1, 2, 4 ... s up to the interval, so that who comes back is seen within one."""
    house.of("QM01").down = 2538
    async with house.running():
        await house.clock.advance(190_000)
    assert house.of("QM01").attempts == [
        *(0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000, 121_000, 151_000, 181_000)
    ]


async def test_refused_connection_is_not_hammered_at(house: Any) -> None:
    """A few wrong passwords revoke a user id: the next attempts come after 5, 10, 20 minutes, until settings are read again."""
    house.of("QM01").down = 2035
    async with house.running() as service:
        await house.clock.advance(1_000_000)
        assert house.of("QM01").attempts == [0, 300_000, 900_000]
        house.of("QM01").down = 0
        service.reload(house.settings, load_rule_config(house.settings))
        await house.clock.advance(40_000)
        assert house.of("QM01").attempts[3:] == [1_020_000]
        assert house.of("QM01").open == 1


async def test_stable_connection_begins_waits_anew(house: Any) -> None:
    """After a minute of a good connection the next failure is followed by a short wait again."""
    script = house.of("QM01")
    script.down = 2538
    async with house.running():
        await house.clock.advance(20_000)
        script.down = 0
        await house.clock.advance(90_000)
        script.down = 2009
        await house.clock.advance(12_000)
        assert script.attempts[5:] == [31_000, 121_000]


async def test_broken_connection_leaves_questions_due(house: Any) -> None:
    """What was not answered for want of a connection is asked again in the next cycle, not an interval later."""
    script = house.of("QM01")
    script.down = 2009
    script.connect_anyway = True
    async with house.running():
        await house.clock.advance(1_000)
        script.down = 0
        await house.clock.advance(60_000)
    assert script.times("INQUIRE_SYSTEM") == [30_000]
    assert script.times("INQUIRE_Q") == [30_000]


async def test_connecting_that_hangs(house: Any) -> None:
    """An attempt that takes longer than the wait for an answer counts as failed; the others do not notice."""
    house.of("QM01").stuck = True
    async with house.running():
        await house.clock.advance(60_000)
        assert firing(house) == ["AGENT-01 QM01/queue_manager"]
    assert "connecting takes too long" in house.log.getvalue()
    assert house.of("QM03").times("INQUIRE_Q_STATUS") == [0, 30_000, 60_000]


async def test_group_is_asked_once(house: Any) -> None:
    """One member answers for the group, always the same while it does."""
    async with house.running():
        await house.clock.advance(120_000)
    assert house.of("QM01").times("INQUIRE_QSG") == [0, 60_000, 120_000]
    assert not house.of("QM02").times("INQUIRE_QSG")


async def test_group_moves_to_another_member(house: Any) -> None:
    """When that member goes, refuses or says nothing, the next one is asked."""
    async with house.running():
        await house.clock.advance(20_000)
        house.of("QM01").down = 2009
        await house.clock.advance(100_000)
        assert house.of("QM02").times("INQUIRE_QSG") == [60_000, 120_000]
        house.of("QM02").refused = {"INQUIRE_QSG"}
        await house.clock.advance(120_000)
        assert house.of("QM02").times("INQUIRE_QSG") == [60_000, 120_000, 180_000]
        assert house.of("QM03").times("INQUIRE_QSG") == [240_000]
        house.of("QM03").silent = {"INQUIRE_QSG"}
        await house.clock.advance(190_000)
        assert house.of("QM03").times("INQUIRE_QSG") == [240_000, 300_000]
        assert house.of("QM02").times("INQUIRE_QSG")[-1] == 360_000


@pytest.mark.parametrize("trouble", ["silent", "refused"])
async def test_what_another_member_answers_now_ends_the_alert(house: Any, trouble: str) -> None:
    """Whoever was silent is not sent the group's question any more: nothing can ever end its alert but that."""
    rule = {"silent": "AGENT-02", "refused": "AGENT-03"}[trouble]
    setattr(house.of("QM01"), trouble, {"INQUIRE_QSG"})
    setattr(house.of("QM02"), trouble, {"INQUIRE_QSG"})
    seen: list[list[str]] = []
    async with house.running():
        for _ in range(25):
            await house.clock.advance(10_000)
            now = firing(house)
            if now not in seen[-1:]:
                seen.append(now)
        one, two = (f"{rule} {name}/agent/INQUIRE_QSG" for name in ("QM01", "QM02"))
        assert [each for each in seen if each] == [[one], [one, two]]
        assert seen[-1] == []
        house.of("QM03").down = 2009
        await house.clock.advance(420_000)
        assert one in firing(house)


async def test_the_alert_of_an_earlier_run_ends_too(house: Any) -> None:
    """QM02 was silent, the agent ended meanwhile, and QM01 answers for the group now."""
    house.of("QM01").down = 2059
    house.of("QM02").silent = {"INQUIRE_QSG"}
    async with house.running():
        await house.clock.advance(100_000)
        assert "AGENT-02 QM02/agent/INQUIRE_QSG" in firing(house)
    house.of("QM01").down = 0
    house.of("QM02").silent = set()
    async with house.running():
        await house.clock.advance(50_000)
        assert firing(house) == []


async def test_a_question_of_the_hour_is_asked_again_soon_when_no_answer_came(house: Any) -> None:
    """After twice the interval, four times and so on, until it is answered."""
    script = house.of("QM01")
    script.silent = {"INQUIRE_SECURITY"}
    async with house.running():
        await house.clock.advance(480_000)
        assert script.times("INQUIRE_SECURITY") == [0, 60_000, 180_000, 420_000]
        assert firing(house) == ["AGENT-02 QM01/agent/INQUIRE_SECURITY"]
        script.silent = set()
        await house.clock.advance(480_000)
        assert script.times("INQUIRE_SECURITY")[4:] == [900_000]
        assert firing(house) == []
        await house.clock.advance(3_600_000)
        assert script.times("INQUIRE_SECURITY")[4:] == [900_000, 4_500_000]


async def test_nobody_waits_sooner_for_who_is_asked_through_it(house: Any) -> None:
    """What is asked of QM09 through QM01 keeps its interval, so that the silence of the one costs the other no polls."""
    script = house.of("QM01")
    house.scripts = [script]
    script.silent = {"INQUIRE_SECURITY"}
    async with house.running(others=["QM09"]):
        await house.clock.advance(480_000)
    sent = zip(script.asked, script.requests, strict=True)
    scoped = [b"QM09" in request for (_, name), request in sent if name == "INQUIRE_SECURITY"]
    assert scoped == [False, True, False, False, False]


async def test_group_does_not_wait_behind_a_hanging_member(house: Any) -> None:
    """Group questions that wait behind one that hangs are given to somebody else."""
    house.of("QM01").hung = {"INQUIRE_Q_MGR"}
    async with house.running():
        await house.clock.advance(61_000)
    assert house.of("QM02").times("INQUIRE_CF_STRUC_STATUS")[:2] == [30_000, 30_000]


async def test_calls_that_hang_raise_an_alert_and_end_it(house: Any) -> None:
    """Counted by the connector, told in the cycle; at the third poll after the last one came back nothing fires any more."""
    script = house.of("QM01")
    async with house.running():
        await house.clock.advance(31_000)
        assert firing(house) == []
        script.calls = MqiCalls(hung=1, hanging=1)
        await house.clock.advance(30_000)
        assert firing(house) == ["AGENT-06 QM01/queue_manager"]
        script.calls = MqiCalls(hung=1)
        await house.clock.advance(60_000)
        assert firing(house) == ["AGENT-06 QM01/queue_manager"]
        await house.clock.advance(30_000)
        assert firing(house) == []
