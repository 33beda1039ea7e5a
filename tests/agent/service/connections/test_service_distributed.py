"""A queue manager that does not run on z/OS beside the group: what it is asked, and what it is never asked."""

from __future__ import annotations

from typing import Any

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.names import command_name
from mqvitals_agent.poll.queries import distributed_queries
from mqvitals_config.sections.collection import PollingSettings

QUEUE = "SYSTEM.ADMIN.STATISTICS.QUEUE"
OWN = [command_name(query.command) for query in distributed_queries(PollingSettings())]


def runs_on(house: Any, name: str, platform: int, queue: str = "") -> None:
    """Let a connection tell its platform, and its connector where statistics lie."""
    script = house.of(name)
    script.platform = platform
    script.statistics_queue = queue


async def test_it_is_asked_what_it_knows_and_never_speaks_for_the_group(house: Any) -> None:
    """Although it stands first; what only z/OS knows is not put to it once, and the group's questions go to a member."""
    runs_on(house, "QM01", mq.MQPL_UNIX, QUEUE)
    async with house.running():
        await house.clock.advance(1_300_000)
    assert [name for at, name in house.of("QM01").asked if at == 0] == [*OWN, "STATISTICS_Q"]
    assert {name for _, name in house.of("QM01").asked} == {*OWN, "STATISTICS_Q"}
    assert house.of("QM01").times("STATISTICS_Q")[:3] == [0, 60_000, 120_000]
    assert house.of("QM02").times("INQUIRE_QSG")
    assert not {"INQUIRE_Q_MGR_STATUS", "STATISTICS_Q"} & {name for _, name in house.of("QM02").asked}
    log = house.log.getvalue()
    assert "statistics messages of QM01 are taken from SYSTEM.ADMIN.STATISTICS.QUEUE (destructive read)" in log
    assert log.count("statistics.taken") == 1


async def test_nobody_speaks_for_the_group_where_there_is_none(house: Any) -> None:
    """All three are distributed: the group's questions wait, and nothing is logged of it."""
    for name in ("QM01", "QM02", "QM03"):
        runs_on(house, name, mq.MQPL_WINDOWS_NT)
    async with house.running():
        await house.clock.advance(100_000)
    assert {name for script in house.scripts for _, name in script.asked} == set(OWN)
    assert "WARNING" not in house.log.getvalue()


async def test_on_zos_no_statistics_queue_is_read(house: Any) -> None:
    """The setting is a mistake there, which the log tells once."""
    runs_on(house, "QM01", mq.MQPL_ZOS, QUEUE)
    async with house.running():
        await house.clock.advance(200_000)
    assert not house.of("QM01").times("STATISTICS_Q")
    assert house.of("QM01").times("INQUIRE_LOG")
    assert house.log.getvalue().count("QM01 runs on z/OS, which writes no statistics messages") == 1


async def test_it_may_come_back_as_another(house: Any) -> None:
    """Behind an address there may be another queue manager after a failure: it is asked what fits it."""
    runs_on(house, "QM01", mq.MQPL_UNIX)
    async with house.running():
        await house.clock.advance(40_000)
        assert "INQUIRE_LOG" not in {name for _, name in house.of("QM01").asked}
        house.of("QM01").down = 2009
        await house.clock.advance(60_000)
        house.of("QM01").down = 0
        runs_on(house, "QM01", mq.MQPL_ZOS)
        await house.clock.advance(300_000)
    assert house.of("QM01").times("INQUIRE_LOG")


async def test_a_statistics_queue_that_cannot_be_read_is_told_once(house: Any) -> None:
    """The log names the reason and where to look; that it goes on is told, too."""
    runs_on(house, "QM01", mq.MQPL_UNIX, QUEUE)
    house.of("QM01").fails = {"STATISTICS_Q": 2042}
    async with house.running():
        await house.clock.advance(200_000)
        house.of("QM01").fails = {}
        await house.clock.advance(100_000)
    log = house.log.getvalue()
    assert log.count("cannot be read: MQRC_OBJECT_IN_USE") == 1
    assert log.count("can be read again") == 1
