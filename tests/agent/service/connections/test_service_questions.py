"""What somebody asks of a queue manager while the cycles go on: before errands, one at a time, for the asker alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mqvitals_agent.connection.connection import Answer, Exchange, MqiFailure, Query, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import MemberAnswer
from mqvitals_agent.pcf.encoder import encode_message
from mqvitals_agent.service.cycles.poller import ON_DEMAND_IN_A_ROW
from mqvitals_agent.service.cycles.poller_pool import is_refused
from mqvitals_rules.ruleset.config import load_rule_config

SLOW = "INQUIRE_TRACE"


@pytest.mark.parametrize(("reason", "refused"), [(2035, True), (3007, True), (3200, False), (0, False)])
def test_a_refusal_is_seen_in_items_as_in_bytes(reason: int, refused: bool) -> None:
    """A connection that is not PCF has no replies, only the answer."""
    comp_code = mq.MQCC_FAILED if reason else mq.MQCC_OK
    data = encode_message(mq.MQCFT_XR_MSG, mq.MQCMD_INQUIRE_QSG, (), comp_code=comp_code, reason=reason, ccsid=500)
    member = MemberAnswer("QM01", (), reason, comp_code, complete=True)
    in_bytes = Exchange(0, 0, 1, "QM01", mq.MQCMD_INQUIRE_QSG, b"", (Reply(785, 500, data),))
    in_items = Exchange(0, 0, 1, "QM01", mq.MQCMD_INQUIRE_QSG, b"", answer=Answer((member,), True, 0, {}))
    assert (is_refused(in_bytes), is_refused(in_items)) == (refused, refused)


def ask(service: Any, name: str = "QM01", request: str = "x") -> asyncio.Task[Exchange]:
    """Ask for connections, which no cycle does."""
    put = service._pool.put(name, lambda scope: Query(mq.MQCMD_INQUIRE_TRACE, f"{request} {scope}".encode()))
    return asyncio.create_task(put)


async def test_the_answer_is_for_the_asker_alone(house: Any) -> None:
    """It is neither stored nor recorded, and no cycle waits for it."""
    async with house.running() as service:
        await house.clock.advance(5_000)
        before = len(house.tapped)
        asking = ask(service)
        await house.clock.advance(1)
        assert (await asking).replies
        assert asking.result().request == b"x "
        await house.clock.advance(60_000)
        assert len(house.tapped) > before
        assert {each.command for each in house.tapped}.isdisjoint({mq.MQCMD_INQUIRE_TRACE})
    assert house.of("QM01").times(SLOW) == [5_000]


async def test_cycles_keep_their_cadence(house: Any) -> None:
    """A question that takes longer than an interval delays the errands of its queue manager, and nobody else's."""
    script = house.of("QM01")
    script.took[SLOW] = 70_000
    async with house.running() as service:
        await house.clock.advance(5_000)
        asking = ask(service)
        await house.clock.advance(120_000)
        assert asking.done()
        assert [each.began - house.stored[0].began for each in house.stored] == [0, 30_000, 60_000, 90_000, 120_000]
    assert house.of("QM02").times("INQUIRE_Q_STATUS") == [0, 30_000, 60_000, 90_000, 120_000]
    assert script.times("INQUIRE_Q_STATUS") == [0, 75_000, 90_000, 120_000]
    assert script.most_at_once == 1


async def test_questions_do_not_make_a_member_busy(house: Any) -> None:
    """A cycle in which one is under way is closed as soon as the errands are done, not at its end."""
    house.of("QM01").took[SLOW] = 40_000
    async with house.running() as service:
        await house.clock.advance(5_000)
        poller = service._pool._pollers["QM01"]
        under_way, waiting = ask(service), ask(service)
        await house.clock.advance(0)
        assert not poller.busy
        await house.clock.advance(120_000)
        assert under_way.done()
        assert waiting.done()


async def test_questions_go_before_errands(house: Any) -> None:
    """One that comes while errands wait is put next; after several in a row an errand has its turn."""
    script = house.of("QM01")
    script.took = {"INQUIRE_Q_MGR": 1_000}
    async with house.running() as service:
        waiting = [ask(service, request=str(number)) for number in range(ON_DEMAND_IN_A_ROW + 3)]
        await house.clock.advance(5_000)
        answers = await asyncio.gather(*waiting)
    names = [name for _, name in script.asked]
    first = names.index(SLOW)
    assert first < len(names) - ON_DEMAND_IN_A_ROW - 10, "errands waited behind it"
    assert names[first : first + ON_DEMAND_IN_A_ROW] == [SLOW] * ON_DEMAND_IN_A_ROW
    assert names[first + ON_DEMAND_IN_A_ROW] != SLOW
    assert names[first + ON_DEMAND_IN_A_ROW + 1] == SLOW
    assert [each.request for each in answers] == [f"{number} ".encode() for number in range(ON_DEMAND_IN_A_ROW + 3)]
    assert script.most_at_once == 1


async def test_unreachable(house: Any) -> None:
    """The error comes at once, without an attempt of its own; while the first attempt is under way, with its end."""
    script = house.of("QM01")
    script.stuck = True
    house.of("QM02").down = 2059
    async with house.running() as service:
        waits, refused = ask(service), ask(service, "QM02")
        await house.clock.advance(0)
        assert not waits.done()
        assert (await refused).error == MqiFailure(2, 2059)
        attempts = len(house.of("QM02").attempts)
        await house.clock.advance(house.settings.polling.wait)
        assert (await waits).error == MqiFailure(2, 2538)
        assert (await ask(service)).error == MqiFailure(2, 2538)
    assert attempts == 1
    assert not house.of("QM02").asked


async def test_connection_lost_in_between(house: Any) -> None:
    """All who wait hear it at once; the queue manager is connected anew, and its loss is part of the cycle."""
    script = house.of("QM01")
    async with house.running() as service:
        await house.clock.advance(10_000)
        script.took[SLOW] = 1_000
        asked = [ask(service), ask(service)]
        await house.clock.advance(500)
        script.down = 2059
        await house.clock.advance(501)
        assert [(await each).error for each in asked] == [MqiFailure(2, 2009)] * 2
        assert (await ask(service)).error == MqiFailure(2, 2009)
        script.down = 0
        await house.clock.advance(20_000)
        assert (await ask_and_wait(house, service)).error is None
    lost = [each for each in house.tapped if each.error is not None]
    assert [(each.command, each.error) for each in lost] == [(None, MqiFailure(2, 2009))]
    assert script.times("INQUIRE_Q_STATUS") == [0, 30_000]
    assert script.times(SLOW)[0] == 10_000
    assert script.attempts == [0, 12_000]
    assert script.open == 0


async def ask_and_wait(house: Any, service: Any) -> Exchange:
    asking = ask(service)
    await house.clock.advance(2_000)
    return await asking


async def test_errands_that_waited_stay_due(house: Any) -> None:
    """A connection that is lost by a question leaves what waited behind it to the next cycle."""
    script = house.of("QM01")
    script.took[SLOW] = 31_000
    async with house.running() as service:
        await house.clock.advance(5_000)
        asking = ask(service)
        await house.clock.advance(30_500)
        script.down = 2009
        await house.clock.advance(1_000)
        assert asking.done()
        script.down = 0
        await house.clock.advance(25_000)
    assert script.times("INQUIRE_Q_STATUS") == [0, 60_000]


async def test_taken_back(house: Any) -> None:
    """Whoever is cancelled while waiting is not put; under way already, the answer is thrown away and the next one is put."""
    script = house.of("QM01")
    script.took[SLOW] = 1_000
    async with house.running() as service:
        await house.clock.advance(10_000)
        under_way, waiting, last = ask(service), ask(service), ask(service)
        await house.clock.advance(0)
        under_way.cancel()
        waiting.cancel()
        await house.clock.advance(3_000)
        assert last.result().replies
    assert script.times(SLOW) == [10_000, 11_000]
    assert script.most_at_once == 1


async def test_nobody_waits_for_a_silent_one_as_long_as_errands_do(house: Any) -> None:
    """The wait for an answer is no longer than people's patience."""
    script = house.of("QM01")
    script.silent = {SLOW}
    async with house.running() as service:
        await house.clock.advance(1_000)
        asking = ask(service)
        await house.clock.advance(15_001)
        assert asking.result().error == MqiFailure(2, 2033)
        assert asking.result().elapsed_ms == 15_000


async def test_a_hung_question(house: Any) -> None:
    """An answer that never ends is given up, and the connection with it, as with an errand."""
    script = house.of("QM01")
    script.hung = {SLOW}
    async with house.running() as service:
        await house.clock.advance(1_000)
        asking = ask(service)
        await house.clock.advance(180_000)
        assert asking.result().error == MqiFailure(2, 2009)
        assert script.times("INQUIRE_Q_STATUS")[-1] == 180_000
    assert len(script.attempts) == 2


async def test_members_without_a_connector(house: Any) -> None:
    """They are asked with their name as scope through one that is there, the next when its connection is lost."""
    async with house.running(others=["QM09"]) as service:
        await house.clock.advance(1_000)
        assert service._pool.members == ("QM01", "QM02", "QM03", "QM09")
        assert (await ask(service, "QM09")).queue_manager == "QM01"
        house.of("QM01").down = 2009
        exchange = await ask(service, "QM09")
        assert (exchange.queue_manager, exchange.error) == ("QM02", None)
        for script in house.scripts:
            script.down = 2009
        assert (await ask(service, "QM09")).error == MqiFailure(2, 2009)
    assert house.of("QM02").requests[-2] == b"x QM09"


async def test_a_scope_refused_is_an_answer(house: Any) -> None:
    """What is no matter of the connection is not asked of everybody in turn."""
    house.of("QM01").silent = {SLOW}
    async with house.running(others=["QM09"]) as service:
        await house.clock.advance(1_000)
        asking = ask(service, "QM09")
        await house.clock.advance(15_001)
        assert asking.result().error == MqiFailure(2, 2033)
    assert not house.of("QM02").times(SLOW)


async def test_who_is_not_watched(house: Any) -> None:
    """A name that nobody watches is told as such; a member that is left while it is asked leaves nobody waiting."""
    house.of("QM03").took[SLOW] = 60_000
    async with house.running() as service:
        await house.clock.advance(1_000)
        assert (await ask(service, "QM99")).error == MqiFailure(2, 2058)
        asking = [ask(service, "QM03"), ask(service, "QM03")]
        await house.clock.advance(0)
        service.reload(house.settings, load_rule_config(house.settings), house.scripts[:2])
        await house.clock.advance(30_000)
        assert [(await each).error for each in asking] == [MqiFailure(2, 2009)] * 2
        assert (await ask(service, "QM03")).error == MqiFailure(2, 2058)
        assert service._pool.members == ("QM01", "QM02")


async def test_the_end_while_somebody_asks(house: Any) -> None:
    """Nothing delays the end, and nobody waits beyond it."""
    house.of("QM01").hung = {SLOW}
    async with house.running() as service:
        await house.clock.advance(1_000)
        asking = [ask(service), ask(service)]
        await house.clock.advance(0)
    assert [(await each).error for each in asking] == [MqiFailure(2, 2009)] * 2
