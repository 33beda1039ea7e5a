"""What an engine is sent, and what becomes of it when it fails."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from mqsamples.engine import Engine, Key
from mqsamples.sending import DEPTH, HOUR, MAX_DEPTH, MINUTE, NAME, PUTS, PUTS_RECORDED, QTIME, World, key_of, world_in
from mqvitals_agent.store.sealing import HOT_MS, Sealing
from mqvitals_rules.vocabulary.metric import Absence

NOTHING = {"depth": Absence.NO_ANSWER, "qtime_us_own": Absence.NO_ANSWER, "puts": Absence.NO_ANSWER}


def poll(world: World, owner: str = "QM01", minutes: int = 1, **queues: object) -> int:
    """A minute later a queue manager answers for some queues."""
    world.now += minutes * MINUTE
    return world.poll(owner, queues).ts  # type: ignore[arg-type]


async def test_every_sample_has_its_name_unit_and_time(tmp_path: Path) -> None:
    """Gauges scaled to base units, counters as running totals, definitions when they were asked for."""
    async with world_in(tmp_path) as world:
        first = poll(world, A={"depth": 5, "qtime_us_own": 250, "puts": Absence.FIRST_READING, "max_depth": 100})
        second = poll(world, A={"depth": 0, "qtime_us_own": Absence.NOT_COLLECTED, "puts": 7})
        third = poll(world, A={"depth": 3, "qtime_us_own": 1_000_000, "puts": 2.5})
        assert await world.send()
        engine = world.engine
        assert engine.values(key_of(DEPTH, "A")) == {first: 5, second: 0, third: 3}
        assert engine.values(key_of(QTIME, "A")) == {first: 250e-6, third: 1}
        assert engine.values(key_of(PUTS, "A")) == {second: 7, third: 9.5}
        assert engine.values(key_of(MAX_DEPTH, "A")) == {first: 100}
        assert (engine.repeats, engine.conflicts) == (0, [])


async def test_records_have_their_own_times(tmp_path: Path) -> None:
    """In whatever order they come: what they count is an increase of its own interval."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1})
        for ago, puts in ((10, 3), (90, 4)):
            world.record("QM01", world.now - ago * MINUTE, {"A": {"puts": puts, "max_depth": ago}})
        assert await world.send()
        times = {world.now - 10 * MINUTE: 3.0, world.now - 90 * MINUTE: 4.0}
        assert world.engine.values(key_of(PUTS_RECORDED, "A", source="smf")) == times
        assert world.engine.values(key_of(MAX_DEPTH, "A", source="smf")) == dict(zip(times, (10.0, 90.0), strict=True))
        assert not world.engine.values(key_of(PUTS, "A"))


async def test_a_series_ends_where_nothing_is_known_any_more(tmp_path: Path) -> None:
    """No answer, no value where each poll asks for it, an object that is gone: each once; and it goes on again."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1, "qtime_us_own": 1, "puts": 1}, B={"depth": 1})
        assert await world.send()
        partly = poll(world, A={"depth": 2, "qtime_us_own": Absence.NOT_COLLECTED, "puts": 1}, B={"depth": 2})
        assert await world.send()
        silent = poll(world, A=NOTHING, B={"depth": 3})
        again = poll(world, A=NOTHING, B=None)
        back = poll(world, A={"depth": 4, "qtime_us_own": 1, "puts": 1})
        assert await world.send()
        engine = world.engine
        assert engine.ends(key_of(DEPTH, "A")) == [silent]
        assert engine.ends(key_of(QTIME, "A")) == [partly]
        assert engine.ends(key_of(PUTS, "A")) == [silent]
        assert engine.ends(key_of(DEPTH, "B")) == [again]
        assert engine.values(key_of(DEPTH, "A"))[back] == 4
        assert engine.values(key_of(PUTS, "A"))[back] == 3


async def test_an_object_with_other_labels_is_another_series(tmp_path: Path) -> None:
    """The one before ends; its running total goes on."""
    async with world_in(tmp_path) as world:
        before = poll(world, A={"depth": 1, "puts": 1, "description": "old"})
        assert await world.send()
        after = poll(world, minutes=2, A={"depth": 2, "puts": 1, "description": "new"})
        assert await world.send()
        old, new = {"description": "old"}, {"description": "new"}
        assert world.engine.values(key_of(PUTS, "A", texts=old)) == {before: 1}
        assert world.engine.ends(key_of(PUTS, "A", texts=old)) == [after]
        assert world.engine.values(key_of(PUTS, "A", texts=new)) == {after: 2}


async def test_an_outage_costs_nothing(tmp_path: Path) -> None:
    """What waits is told, pauses double and are as long as the engine asks for; then all of it comes, totals too."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1, "puts": 1})
        assert await world.send()
        world.line.retry_after = 90_000
        times = [poll(world, A={"depth": n, "puts": n}) for n in range(9)]
        began = len(world.clock.slept)
        assert await world.send(["down"] * 4)
        pauses = [ms for ms in world.clock.slept[began:] if ms >= 60_000]
        assert pauses == [90_000] * 4
        assert world.engine.values(key_of(DEPTH, "A")).items() >= dict(zip(times, range(9), strict=True)).items()
        assert world.engine.values(key_of(PUTS, "A"))[times[-1]] == 1 + sum(range(9))
        assert world.sender is not None
        assert world.sender.state.failing_since is None
        assert not world.pending()


async def test_what_waits_is_known_while_it_fails(tmp_path: Path) -> None:
    """So the agent's own metrics show how far an engine is behind."""
    async with world_in(tmp_path) as world:
        ts = poll(world, A={"depth": 1}, B={"depth": 1})
        sender = world.begin()
        world.line.faults = ["down"] * 1000
        await sender.drain()
        state = sender.state
        assert (state.pending, state.oldest, state.error) == (2, ts, "it cannot be reached")
        assert state.failing_since is not None
        world.line.faults = []
        assert await world.send()
        assert (sender.state.pending, sender.state.oldest, sender.state.sent) == (0, None, 2)


@pytest.mark.parametrize("taken", [False, True])
async def test_a_process_that_dies_loses_and_doubles_nothing(tmp_path: Path, taken: bool) -> None:
    """The next one goes on from what the store has; running totals go on as they were."""
    async with world_in(tmp_path, most=3) as world:
        for n in range(4):
            poll(world, A={"depth": n, "puts": 0.1}, B={"depth": n, "puts": 3})
        assert await world.send()
        for n in range(4, 9):
            poll(world, A={"depth": n, "puts": 0.1}, B={"depth": n, "puts": 3})
        assert not await world.send(["", "die taken" if taken else "die"])
        world.begin_anew()
        assert await world.send()
        totals = list(world.engine.values(key_of(PUTS, "A")).values())
        expected = 0.0
        for total in totals:
            expected += 0.1
            assert total == expected
        assert len(totals) == 9
        assert world.engine.conflicts == []


async def test_refused_samples_do_not_cost_their_neighbours(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They are counted, and some are named."""

    def refuses(key: Key, ts: int) -> str:
        return "label value is too odd" if dict(key)["queue"] == "B" and ts in bad else ""

    bad: set[int] = set()
    async with world_in(tmp_path, Engine(refuses=refuses), most=50) as world:
        times = [poll(world, A={"depth": n, "puts": 1}, B={"depth": n, "puts": 1}) for n in range(6)]
        bad.update(times[2:4])
        with caplog.at_level(logging.WARNING):
            assert await world.send()
        assert list(world.engine.values(key_of(DEPTH, "A"))) == times
        assert list(world.engine.values(key_of(DEPTH, "B"))) == [*times[:2], *times[4:]]
        # A total goes on over what was refused.
        assert world.engine.values(key_of(PUTS, "B"))[times[4]] == 5
        assert world.row()[3] == 4
        assert "ibmmq_queue_depth{" in caplog.text
        assert "has refused 4 samples" in caplog.text


async def test_samples_that_are_too_old_are_not_tried_one_by_one(tmp_path: Path) -> None:
    """An engine that takes nothing from before a moment is not asked about each sample."""
    async with world_in(tmp_path, most=1000, round_samples=1000) as world:
        queues: dict[str, object] = {f"Q{n}": {"depth": n} for n in range(50)}
        times = [poll(world, "QM01", 1, **queues) for _ in range(10)]
        world.engine.refuses = lambda _, ts: "out of bounds" if ts <= times[6] else ""
        assert await world.send()
        assert world.row()[3] == 7 * 50
        assert sorted(world.engine.values(key_of(DEPTH, "Q7"))) == times[7:]
        assert world.engine.requests < 60


async def test_what_an_engine_has_already_is_delivered(tmp_path: Path) -> None:
    """After an answer that was lost, Prometheus refuses the same samples as out of order: none of them is counted as refused."""
    async with world_in(tmp_path, Engine(strict=True), most=4) as world:
        times = [poll(world, A={"depth": n, "puts": 1}) for n in range(6)]
        assert await world.send(["lost", "lost"])
        assert sorted(world.engine.values(key_of(DEPTH, "A"))) == times
        assert world.row()[3] == 0


async def test_what_was_deleted_before_it_was_sent_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Row by row as the store forgets them."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1})
        assert await world.send()
        times = [poll(world, A={"depth": n}, B={"depth": n}) for n in range(5)]
        with world.store.deleting() as connection:
            connection.execute("DELETE FROM sample_queue WHERE ts <= ?", (times[2],))
        with caplog.at_level(logging.WARNING):
            assert await world.send()
        assert world.row()[2] == 6
        assert "6 samples were deleted from the store before they could be sent" in caplog.text
        assert sorted(world.engine.values(key_of(DEPTH, "B"))) == times[3:]


async def test_sealed_hours_are_sent_too(tmp_path: Path) -> None:
    """An engine that was away for days gets what was sealed meanwhile."""
    async with world_in(tmp_path, most=9, round_samples=6) as world:
        times = [poll(world, minutes=13, A={"depth": n, "puts": 1}, B={"depth": -n}) for n in range(40)]
        sealing = Sealing(world.store, None)
        while sealing.step(world.now + HOT_MS - 2 * HOUR).more:
            pass
        assert await world.send()
        assert world.engine.values(key_of(DEPTH, "A")) == dict(zip(times, range(40), strict=True))
        assert world.engine.values(key_of(PUTS, "A"))[times[-1]] == 40
        assert world.row()[2] == 0


async def test_a_new_file_is_begun_with(tmp_path: Path) -> None:
    """The store was set aside: what comes after it is sent, and totals begin anew."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1, "puts": 5})
        assert await world.send()
        world.set_aside()
        ts = poll(world, A={"depth": 2, "puts": 6})
        with world.store.database.reading() as connection:
            assert connection.execute("SELECT count(*) FROM remote_write").fetchone() == (0,)
        assert world.sender is not None
        world.sender.wake()
        await world.sender.drain()
        assert await world.send()
        assert world.engine.values(key_of(PUTS, "A"))[ts] == 6
        assert NAME in world.sender.state.name


async def test_totals_begin_anew_after_a_takeover(tmp_path: Path) -> None:
    """The other agent may have sent higher ones since: what is lower is a reset, which PromQL knows how to take."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1, "puts": 50})
        assert await world.send()
        await world.end()
        world.store.remote_write.register((NAME,), anew=True)
        ts = poll(world, A={"depth": 1, "puts": 3})
        assert await world.send()
        assert world.engine.values(key_of(PUTS, "A"))[ts] == 3


async def test_an_engine_that_is_no_longer_named_is_forgotten(tmp_path: Path) -> None:
    """And with the last one the order of what is stored."""
    async with world_in(tmp_path) as world:
        poll(world, A={"depth": 1})
        assert world.store.remote_write.register(("other",)) == (NAME,)
        with world.store.database.reading() as connection:
            assert connection.execute("SELECT name, place FROM remote_write").fetchall() == [("other", 0)]
        assert world.store.remote_write.register(()) == ("other",)
        with world.store.database.reading() as connection:
            assert connection.execute("SELECT count(*) FROM stored_samples").fetchone() == (0,)
