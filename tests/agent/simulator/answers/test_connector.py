"""Connections to simulated queue managers: time, and everything that can go wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import ConnectError, Connection, Connector
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES
from mqvitals_agent.simulator.connector import SimulatedConnector, connectors
from mqvitals_agent.simulator.state import Fault
from mqvitals_agent.threads import run_in_loop
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Absence

LOG = mq.MQCMD_INQUIRE_LOG


def test_connectors_stand_for_every_member(talk: Any) -> None:
    """One for each, and both classes are what the agent expects."""
    made: tuple[Connector, ...] = connectors(talk.simulation, talk.clock)
    assert [connector.queue_manager for connector in made] == ["QM01", "QM02", "QM03"]
    connection: Connection = run_in_loop(made[0].connect(), talk.clock)
    run_in_loop(connection.close(), talk.clock)


def test_an_answer_takes_some_time(talk: Any) -> None:
    """The exchange says when it was asked, how long it took, and when the queue manager put each message."""
    before = talk.clock.now()
    exchange = talk.ask(mq.MQCMD_INQUIRE_Q_STATUS)
    assert exchange.queue_manager == "QM01"
    assert exchange.at >= before
    assert 2 <= exchange.elapsed_ms <= 10
    puts = [reply.put for reply in exchange.replies]
    assert puts == sorted(puts)
    assert all(put % 10 == 0 and exchange.at - 10 < put <= talk.clock.now() for put in puts)


def test_the_same_seed_gives_the_same_times(talk: Any) -> None:
    """Times come from the seed and the name alone."""

    def took(seed: int) -> int:
        clock = VirtualClock(1_795_176_000_000)
        connection = run_in_loop(SimulatedConnector(talk.simulation, "QM01", clock, seed).connect(), clock)
        for _ in range(5):
            run_in_loop(connection.ask(PROBES[LOG].query(QueryOptions()), 1000), clock)
        return clock.now()

    assert took(1) == took(1) != took(2)


def test_no_connection_to_a_queue_manager_that_is_down(talk: Any) -> None:
    """2059, also for one that the group does not have."""
    talk.group.faults["QM01"] = Fault(down=True)
    for name in ("QM01", "QM99"):
        with pytest.raises(ConnectError) as caught:
            talk.connect(name)
        assert caught.value.failure == (2, 2059)


def test_a_connection_breaks_when_the_queue_manager_goes_down(talk: Any) -> None:
    """2009 at once, then there is no connection, until a new one is made."""
    talk.ask(LOG)
    talk.group.faults["QM01"] = Fault(down=True)
    assert talk.ask(LOG).error == (2, 2009)
    del talk.group.faults["QM01"]
    assert talk.ask(LOG).error == (2, 2018)
    assert run_in_loop(talk.connect().ask(PROBES[LOG].query(QueryOptions()), 1000), talk.clock).error is None


def test_a_connection_breaks_while_it_waits(talk: Any) -> None:
    """A queue manager that goes down before its answer has come leaves nothing of it."""
    talk.connect()
    talk.group.faults["QM01"] = Fault(slow_ms=500)
    talk.simulation.at.append((talk.clock.now() + 300, lambda group: group.faults.update(QM01=Fault(down=True))))
    exchange = talk.ask(LOG)
    assert exchange.error == (2, 2009)
    assert exchange.replies == ()


def test_a_refused_command(talk: Any) -> None:
    """2035 in an answer that is complete; other commands are answered."""
    talk.group.faults["QM01"] = Fault(refuse=frozenset({"INQUIRE_ARCHIVE"}))
    assert talk.reason(talk.ask(mq.MQCMD_INQUIRE_ARCHIVE)) == 2035
    assert talk.reason(talk.ask(LOG)) == 0
    talk.end()


def test_a_silent_command(talk: Any) -> None:
    """Nothing comes, and after the wait 2033."""
    talk.group.faults["QM01"] = Fault(silent=frozenset({"INQUIRE_LOG"}))
    exchange = talk.ask(LOG, wait_ms=4_000)
    assert (exchange.replies, exchange.error, exchange.elapsed_ms) == ((), (2, 2033), 4_000)


def test_a_truncated_answer(talk: Any) -> None:
    """Half of it comes, then nothing: the collector sees it as incomplete and keeps what came."""
    whole = talk.ask(mq.MQCMD_INQUIRE_Q_STATUS)
    talk.group.faults["QM01"] = Fault(truncate=frozenset({"INQUIRE_Q_STATUS"}))
    exchange = talk.ask(mq.MQCMD_INQUIRE_Q_STATUS, wait_ms=3_000)
    assert len(exchange.replies) == len(whole.replies) // 2
    assert exchange.error == (2, 2033)
    assert exchange.elapsed_ms >= 3_000
    assert not any(member.complete for member in talk.heard(exchange))


def test_a_slow_answer(talk: Any) -> None:
    """Within the wait it comes late; beyond it, it does not come."""
    talk.group.faults["QM01"] = Fault(slow_ms=2_000)
    assert talk.ask(LOG, wait_ms=2_500).elapsed_ms >= 2_000
    exchange = talk.ask(LOG, wait_ms=1_500)
    assert (exchange.replies, exchange.error, exchange.elapsed_ms) == ((), (2, 2033), 1_500)


def test_faults_of_one_member_in_a_scoped_answer(talk: Any) -> None:
    """One refuses, one is silent: the third is heard, and the answer is incomplete."""
    talk.group.faults["QM02"] = Fault(refuse=frozenset({"INQUIRE_LOG"}))
    exchange = talk.ask(LOG, QueryOptions(scope="*"))
    assert exchange.error is None
    assert {member.queue_manager: member.reason for member in talk.heard(exchange)} == {
        "QM01": 0,
        "QM02": 2035,
        "QM03": 0,
    }
    talk.group.faults["QM02"] = Fault(silent=frozenset({"INQUIRE_LOG"}))
    exchange = talk.ask(LOG, QueryOptions(scope="*"))
    assert exchange.error == (2, 2033)
    assert [member.queue_manager for member in talk.heard(exchange)] == ["QM01", "QM03"]


def test_the_collector_names_each_fault(talk: Any) -> None:
    """What the agent would show of a refusal, of silence and of a broken connection."""
    faults = {
        "QM01": Fault(refuse=frozenset({"INQUIRE_LOG"})),
        "QM02": Fault(silent=frozenset({"INQUIRE_LOG"})),
        "QM03": Fault(),
    }
    for name in faults:
        talk.ask(LOG, queue_manager=name)
    talk.end()
    talk.group.faults = faults
    faults["QM03"].down = True
    for name in faults:
        talk.ask(LOG, queue_manager=name)
    cycle = talk.end()
    outcomes = [cycle.values[f"{name}/agent/INQUIRE_LOG", "outcome"] for name in faults]
    assert outcomes == [Outcome.REFUSED.value, Outcome.INCOMPLETE.value, Outcome.UNREACHABLE.value]
    assert [cycle.values[f"{name}/log", "rba"] for name in faults] == [
        Absence.NOT_AUTHORISED,
        Absence.NO_ANSWER,
        Absence.UNREACHABLE,
    ]


def test_cancelling_leaves_a_connection_that_works(talk: Any) -> None:
    """Cancelled while it waits, the connection answers the next command."""

    async def cancelled() -> None:
        connection = await SimulatedConnector(talk.simulation, "QM01", talk.clock).connect()
        query = PROBES[LOG].query(QueryOptions())
        task = asyncio.create_task(connection.ask(query, 1000))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await connection.ask(query, 1000)).error is None
        await connection.close()
        await connection.close()
        assert (await connection.ask(query, 1000)).error == (2, 2018)

    run_in_loop(cancelled(), talk.clock)
