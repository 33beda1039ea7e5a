"""When the service asks: on the grid, one command at a time, whatever other queue managers do."""

from __future__ import annotations

from typing import Any

from mqvitals_agent.poll.queries import zos_queries
from mqvitals_agent.store.reader import StoreReader
from mqvitals_config.collection import PollingSettings

BEGAN_MS = 1795176000000  # 2026-11-20 12:00:00 UTC


async def test_cycles_keep_the_grid(house: Any) -> None:
    """Status is asked every 30 s, usage every 60 s (positions in the log only once in 5 minutes), definitions once in 15 minutes."""
    async with house.running():
        await house.clock.advance(120_000)
    script = house.of("QM02")
    assert script.times("INQUIRE_Q_STATUS") == [0, 30_000, 60_000, 90_000, 120_000]
    assert script.times("INQUIRE_USAGE") == [0, 0, 0, 60_000, 60_000, 120_000, 120_000]
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
