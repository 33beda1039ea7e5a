"""When the service asks: on the grid, one command at a time, whatever other queue managers do."""

from __future__ import annotations

from typing import Any

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import integer
from mqvitals_agent.poll.queries import zos_queries
from mqvitals_agent.poll.selection import selection_of
from mqvitals_agent.store.reader import StoreReader
from mqvitals_config.sections.collection import PollingSettings

STATUS, CHINIT = "INQUIRE_CHANNEL_STATUS", "INQUIRE_CHANNEL_INIT"
BEGAN_MS = 1795176000000  # 2026-11-20 12:00:00 UTC


async def test_cycles_keep_the_grid(house: Any) -> None:
    """Status is asked every 30 s, usage every 60 s (positions in the log and shared data sets once in 5 minutes), definitions once in 15 minutes."""
    async with house.running():
        await house.clock.advance(120_000)
    script = house.of("QM02")
    assert script.times("INQUIRE_Q_STATUS") == [0, 30_000, 60_000, 90_000, 120_000]
    assert script.times("INQUIRE_USAGE") == [0, 0, 0, 60_000, 120_000]
    assert script.times("INQUIRE_Q") == [0]
    assert [stored.number for stored in house.stored] == [1, 2, 3, 4, 5]
    assert house.log.getvalue().count("is connected") == 3
    assert script.open == 0


async def test_definitions_come_first(house: Any) -> None:
    """The first cycle asks everything, names and storage classes before what needs them."""
    async with house.running():
        await house.clock.advance(0)
    names = [name for _, name in house.of("QM02").asked]
    assert names == [query.form for query in zos_queries(PollingSettings()) if not query.of_group]
    assert names.index("INQUIRE_STG_CLASS") < names.index("INQUIRE_Q") < names.index("INQUIRE_Q_STATUS")


def half(request: bytes) -> bool | None:
    """Which half of the channels a request asks for; True: server connections."""
    return selection_of(Decoder().decode(request, 1208)).clients


async def test_server_connections_are_asked_for_half_as_often(house: Any) -> None:
    """Other channels every 30 s, server connections every 60 s, each half with a filter of its own."""
    async with house.running():
        await house.clock.advance(120_000)
    script = house.of("QM02")
    asked = [half(each) for each, (_, name) in zip(script.requests, script.asked, strict=True) if name == STATUS]
    assert (asked.count(False), asked.count(True), asked.count(None)) == (5, 3, 0)


async def test_many_server_connections_are_asked_for_more_seldom(house: Any) -> None:
    """DISPLAY CHINIT shows 10,000 channels: every 4 minutes; 900 again: every minute. The log says so once each."""
    script = house.of("QM02")
    script.items[CHINIT] = [[integer(mq.MQIACF_CHINIT_STATUS, 2), integer(mq.MQIACH_CURRENT_CHL, 10_000)]]
    async with house.running():
        await house.clock.advance(600_000)
        times = [at for each, (at, _) in zip(script.requests, script.asked, strict=True) if half(each)]
        script.items[CHINIT] = [[integer(mq.MQIACF_CHINIT_STATUS, 2), integer(mq.MQIACH_CURRENT_CHL, 900)]]
        await house.clock.advance(180_000)
        later = [at for each, (at, _) in zip(script.requests, script.asked, strict=True) if half(each)][len(times) :]
    assert times == [0, 240_000, 480_000]
    assert later == [660_000, 720_000, 780_000]
    assert house.log.getvalue().count("server connections are asked for every 240 s") == 1
    assert house.log.getvalue().count("server connections are asked for every 60 s") == 1


async def test_a_refused_list_is_left_out_from_then_on(house: Any) -> None:
    """A level that does not know an attribute is asked for all of them, in the same cycle and in each later one."""
    script = house.of("QM02")
    script.no_lists = True
    async with house.running():
        await house.clock.advance(60_000)
    tried = [each for each, (_, name) in zip(script.requests, script.asked, strict=True) if name == "INQUIRE_Q_STATUS"]
    lists = [mq.MQIACF_Q_STATUS_ATTRS in Decoder().decode(each, 1208).values for each in tried]
    assert lists == [True, False, False, False]
    assert script.times("INQUIRE_Q_STATUS") == [0, 0, 30_000, 60_000]
    first = [half(each) for each, asked in zip(script.requests, script.asked, strict=True) if asked == (0, STATUS)]
    assert first == [False, True, False, True]


async def test_where_channels_cannot_be_filtered_all_come_together(house: Any) -> None:
    """A refused filter is left out: every channel is in the answer, and none is lost."""
    script = house.of("QM02")
    script.no_filters = True
    async with house.running():
        await house.clock.advance(30_000)
    asked = [half(each) for each, (_, name) in zip(script.requests, script.asked, strict=True) if name == STATUS]
    assert asked == [False, True, None, None, None]
    assert "is asked for all channels together from now on" in house.log.getvalue()


async def test_one_command_at_a_time(house: Any) -> None:
    """A queue manager never has two of our commands under way."""
    for script in house.scripts:
        script.took = dict.fromkeys(("INQUIRE_Q", "INQUIRE_Q_STATUS", "INQUIRE_USAGE"), 700)
    async with house.running():
        await house.clock.advance(65_000)
    assert [script.most_at_once for script in house.scripts] == [1, 1, 1]


async def test_hanging_queue_manager_delays_nobody(house: Any) -> None:
    """While QM01 never answers, the others keep their cadence, and cycles after the first end as soon as they have answered."""
    house.of("QM01").hung = {"INQUIRE_Q_STATUS"}
    ended: list[int] = []
    house.stored = _Appending(lambda _: ended.append(house.clock.now()))
    begin = house.clock.now()
    async with house.running():
        await house.clock.advance(100_000)
    assert house.of("QM02").times("INQUIRE_Q_STATUS") == [0, 30_000, 60_000, 90_000]
    assert house.of("QM01").times("INQUIRE_Q_STATUS") == [0]
    assert [moment - begin for moment in ended] == [30_000, 30_000, 60_000, 90_000]


async def test_hung_call_is_given_up(house: Any) -> None:
    """A call that never returns is abandoned after ten waits, and the connection made anew."""
    house.of("QM01").hung = {"INQUIRE_LOG"}
    async with house.running():
        await house.clock.advance(299_000)
        assert len(house.of("QM01").attempts) == 1
        house.of("QM01").hung = set()
        await house.clock.advance(62_000)
        assert len(house.of("QM01").attempts) == 2
    assert house.of("QM01").times("INQUIRE_LOG")[-1] == 360_000


async def test_late_answer_counts_to_the_next_cycle(house: Any) -> None:
    """An answer that comes after its cycle's end is dated as of the beginning of the one it is stored with."""
    house.of("QM01").took = {"INQUIRE_LOG": 45_000}
    begin = house.clock.now()
    async with house.running():
        await house.clock.advance(70_000)
    late = next(each for each in house.tapped if each.elapsed_ms == 45_000)
    assert late.at == begin + 60_000
    assert [each.at for each in house.tapped] == sorted(each.at for each in house.tapped)
    assert house.of("QM01").times("INQUIRE_LOG") == [0, 60_000]


async def test_slow_answers_stretch_their_question(house: Any) -> None:
    """An answer of 4 s makes its question come every 60 s; three quick ones bring the 30 s back. Both are logged."""
    house.of("QM01").took = {"INQUIRE_Q_STATUS": 4_000}
    async with house.running():
        await house.clock.advance(61_000)
        with StoreReader.open(house.store) as reader:
            name = next(row.name for row in reader.objects("QM01/agent/INQUIRE_Q_STATUS"))
            current = reader.current(name)
            assert (current["every_ms"].value, current["stretched"].value) == (60_000, 1)
        house.of("QM01").took = {}
        await house.clock.advance(240_000)
    assert house.of("QM01").times("INQUIRE_Q_STATUS")[:3] == [0, 60_000, 120_000]
    times = house.of("QM01").times("INQUIRE_Q_STATUS")
    assert times[-1] - times[-2] == 30_000
    assert "asked every 60 s" in house.log.getvalue()
    assert "quickly again: asked every 30 s" in house.log.getvalue()


async def test_clock_set_back(house: Any) -> None:
    """A clock that is set back by an hour stops nothing, and nothing in the store lies ahead of it."""
    async with house.running():
        await house.clock.advance(65_000)
        house.clock.set(house.clock.now() - 3_600_000)
        before = len(house.of("QM02").asked)
        await house.clock.advance(0)
        assert len(house.stored) == 3
        await house.clock.advance(3_700_000)
    assert len(house.of("QM02").asked) > before
    numbers = [stored.number for stored in house.stored]
    assert numbers == sorted(set(numbers))
    assert [s.began for s in house.stored[3:]] == sorted(s.began for s in house.stored[3:])
    assert house.stored[3].began == BEGAN_MS + 90_000 - 3_600_000
    with StoreReader.open(house.store) as reader:
        times = reader.snapshot_times("QM01", 1_000)
    assert times == [each.began for each in house.stored[3:]][-1_000:]


class _Appending(list[Any]):
    """A list that calls a function when something is added."""

    def __init__(self, on_append: Any) -> None:
        super().__init__()
        self._on_append = on_append

    def append(self, each: Any) -> None:
        super().append(each)
        self._on_append(each)
