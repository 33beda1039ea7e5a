"""What was sent to an engine is read back as the store had it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.answering import Answering
from mqsamples.engine import Engine
from mqsamples.examples import VERY_COSTLY
from mqsamples.sending import DEPTH, HOUR, KINDS, MINUTE, PUTS, START, World, key_of, world_in
from mqvitals_agent.engine_history.answer import EngineError
from mqvitals_agent.engine_history.client import TooLargeError
from mqvitals_agent.engine_history.engine_samples import PAUSE_S, EngineSamples, PatientClient
from mqvitals_agent.engine_history.reader import EngineReader
from mqvitals_agent.engine_history.series_names import SeriesNames
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import Series
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

METRICS = ("depth", "qtime_us_own", "puts", "max_depth")
FIRST, LAST = START - HOUR, START + 1000 * HOUR
SITE = {"site": "B"}


class Time:
    """Elapsed time that a test moves on."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


def samples_of(
    answering: Answering, steady_s: Callable[[], float] = lambda: 0.0, *, at_once: int = 200_000
) -> EngineSamples:
    patient = PatientClient(answering, steady_s=steady_s)
    names = SeriesNames(SITE, kinds=KINDS)
    return EngineSamples(patient, names, kinds=KINDS, steady_s=steady_s, at_once=at_once)


def present(series: Series) -> dict[int, float]:
    return {ts: value for ts, value in series.points if value is not None}


def stored(path: Path, name: ObjectName, source: Source = Source.POLL) -> dict[str, dict[int, float]]:
    with StoreReader.open(path, kinds=KINDS) as reader:
        return {
            metric: {each.ts: each.value for each in reader.samples(name, metric, source) if each.value is not None}
            for metric in METRICS
        }


def queue(name: str, owner: str = "QM01") -> ObjectName:
    return ObjectName(owner, "queue", name)


class Values(NamedTuple):
    depth: int | None
    qtime_us_own: int | None
    puts: int | float | None
    max_depth: int | None

    def reported(self) -> dict[str, Reported]:
        return {name: Absence.NO_ANSWER if value is None else value for name, value in self._asdict().items()}


NAMES = ("A", "B.C", 'D+(E)|"F\\', "É/x")
VALUES = st.builds(
    Values,
    st.none() | st.integers(0, 1 << 40),
    st.none() | st.integers(0, 1 << 40),
    st.none() | st.integers(0, 1 << 30) | st.integers(0, 1 << 20).map(lambda n: n / 10),
    st.none() | st.integers(0, 3),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("QM01", "QM02")),
        st.sampled_from((1, 1, 1, 10, 90, 2_000)),
        st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1),
        st.sampled_from(("poll", "poll", "poll", "record", "die")),
    ),
    min_size=1,
    max_size=15,
)


def run(test: Callable[[World], Awaitable[None]]) -> None:
    async def within(folder: str) -> None:
        async with world_in(Path(folder)) as world:
            await test(world)

    with TemporaryDirectory() as folder:
        asyncio.run(within(folder))


@VERY_COSTLY
@given(steps=STEPS, at_once=st.sampled_from((10, 1_000, 200_000)), most=st.sampled_from((50, 1_000_000)))
def test_what_was_sent_is_read_back(
    steps: list[tuple[str, int, dict[str, Values], str]], at_once: int, most: int
) -> None:
    """Every value of polls and of records, bit for bit where it is a whole number, of whatever name; and nothing else."""

    async def play(world: World) -> None:
        for owner, minutes, values, how in steps:
            world.now += minutes * MINUTE
            reported = {name: each.reported() for name, each in values.items()}
            if how == "record":
                world.record(owner, world.now - 3 * MINUTE + 500 + world.cycle, reported)
            else:
                world.poll(owner, reported)
            if how == "die":
                # The totals are those of another process then.
                await world.send(["die"])
                world.begin_anew()
        while not await world.send():
            world.begin_anew()
        answering = Answering(world.engine, most=most, too_large=TooLargeError)
        for owner in ("QM01", "QM02"):
            with StoreReader.open(world.path, kinds=KINDS) as reader:
                objects = [each for each in reader.objects(f"{owner}/queue/*") if each.name.kind == "queue"]
            if not objects:
                continue
            names = [each.name for each in objects]
            began = {each.name: each.first_ts for each in objects}
            try:
                found = samples_of(answering, at_once=at_once).read(names, METRICS, FIRST, LAST, began)
            except TooLargeError:
                assert most == 50
                continue
            for name in names:
                for source in (Source.POLL, Source.SMF):
                    of_source = found.get(name, {}).get(source, {})
                    for metric, expected in stored(world.path, name, source).items():
                        columns = of_source.get(metric)
                        had = {} if columns is None else dict(zip(columns.ts, columns.values, strict=True))
                        assert had == pytest.approx(expected, rel=1e-9), (name, metric, source)
                        assert all(
                            had[ts] == value for ts, value in expected.items() if isinstance(value, int) and source > 1
                        )

    run(play)


def test_pieces_are_as_a_whole() -> None:
    """An increase at the begin of a piece is known from the one before."""

    async def play(world: World) -> None:
        for number in range(300):
            world.now += MINUTE
            world.poll("QM01", {"A": {"depth": number, "puts": number % 7}})
        await world.send()
        began = {queue("A"): START}
        whole = samples_of(Answering(world.engine)).read([queue("A")], METRICS, START, LAST, began)
        answering = Answering(world.engine, most=60, too_large=TooLargeError)
        pieces = samples_of(answering).read([queue("A")], METRICS, START, world.now + HOUR, began)
        assert pieces == whole
        assert len(whole[queue("A")][Source.POLL]["puts"]) == 300
        assert len(answering.asked) > 10

    run(play)


def test_the_first_increase_of_a_time_needs_the_total_before_it() -> None:
    """It is looked for a day and then as far back as the object goes; of a series that begins there the total itself is the increase;
    where nobody knows, the increase is left out.
    """

    async def play(world: World) -> None:
        world.poll("QM01", {"A": {"depth": 1, "puts": 5}})
        world.now += 30 * HOUR
        later = world.poll("QM01", {"A": {"depth": 2, "puts": 7}, "B": {"depth": 1, "puts": 3}}).ts
        await world.send()
        names = [queue("A"), queue("B")]

        def puts(began: Mapping[ObjectName, int]) -> dict[str, dict[int, object]]:
            found = samples_of(Answering(world.engine)).read(names, ["puts"], later - MINUTE, LAST, began)
            rows = {name.name: by_source[Source.POLL]["puts"] for name, by_source in found.items()}
            return {name: dict(zip(each.ts, each.values, strict=True)) for name, each in rows.items()}

        assert puts({queue("A"): START, queue("B"): later}) == {"A": {later: 7}, "B": {later: 3}}
        assert puts({}) == {}

    run(play)


def test_a_total_that_falls_has_begun_again() -> None:
    """As after a takeover: the total is the increase then."""
    engine = Engine()
    engine.taken[key_of(PUTS, "A")] = bits({START: 10.0, START + MINUTE: 12.0, START + 2 * MINUTE: 3.0})
    found = samples_of(Answering(engine)).read([queue("A")], ["puts"], START, LAST, {queue("A"): START})
    assert list(found[queue("A")][Source.POLL]["puts"].values) == [10, 2, 3]


def test_series_of_one_object_are_one() -> None:
    """A queue whose description was altered has another series from then on; its total goes on. What Prometheus scraped itself, and
    another site's, is none of it.
    """
    engine = Engine()
    first, second = (key_of(PUTS, "A", texts={"description": text}) for text in ("old", "new"))
    engine.taken[first] = bits({START: 4.0, START + MINUTE: 6.0})
    engine.taken[second] = bits({START + 2 * MINUTE: 7.0})
    engine.taken[tuple(sorted((dict(first) | {"job": "mq", "instance": "host:9157"}).items()))] = bits(
        {START + 5: 99.0}
    )
    engine.taken[tuple(sorted((dict(first) | {"site": "C"}).items()))] = bits({START + 6: 99.0})
    found = samples_of(Answering(engine)).read([queue("A")], ["puts"], START, LAST, {queue("A"): START})
    columns = found[queue("A")][Source.POLL]["puts"]
    assert list(columns) == [(START, None, 4), (START + MINUTE, MINUTE, 2), (START + 2 * MINUTE, MINUTE, 1)]


def bits(samples: Mapping[int, float]) -> dict[int, int]:
    return {ts: int.from_bytes(struct.pack("<d", value), "little") for ts, value in samples.items()}


def opened(
    world: World, answering: Answering, steady_s: Callable[[], float] = lambda: 0.0, *, whole: bool = False
) -> EngineReader:
    return EngineReader(StoreReader.open(world.path, kinds=KINDS), samples_of(answering, steady_s), whole=whole)


async def five_hours(world: World) -> None:
    """Sent, and the first three of them deleted from the store."""
    for number in range(300):
        world.now += MINUTE
        world.poll("QM01", {"A": {"depth": number, "qtime_us_own": 3 * number, "puts": number % 7}})
    await world.send()


def prune(world: World) -> None:
    retention = Retention(world.store, RetentionPolicy.of(2 * HOUR, None))
    while retention.step(world.now).more:
        pass


def test_what_the_store_has_deleted_is_read_from_the_engine() -> None:
    """The same points as before, for one metric, several, and many objects; what is there comes from the store alone."""

    async def play(world: World) -> None:
        await five_hours(world)
        name = queue("A")
        with StoreReader.open(world.path, kinds=KINDS) as reader:
            before = reader.trends(name, METRICS, START, LAST)
        prune(world)
        with StoreReader.open(world.path, kinds=KINDS) as reader:
            left = reader.trends(name, METRICS, START, LAST)
            assert left["depth"].kept_from is not None
            assert len(left["depth"].points) < len(before["depth"].points)
        answering = Answering(world.engine)
        with opened(world, answering) as reader:
            for series in (
                reader.trends(name, METRICS, START, LAST),
                dict(reader.trends_of([name], METRICS, START, LAST))[name],
                {metric: reader.trend(name, metric, START, LAST) for metric in METRICS},
            ):
                for metric in METRICS:
                    assert present(series[metric]) == present(before[metric])
                assert series["depth"].kept_from is None
            kept_from = left["depth"].kept_from
            assert reader.samples_from(START, world.now) == START
            asked = len(answering.asked)
            reader.trend(name, "depth", kept_from, LAST)
            reader.trend(name, "depth", START, LAST)
            assert len(answering.asked) == asked, "nothing of what is at hand is asked for, and nothing twice"
            moment = kept_from - HOUR
            as_of = reader.as_of(moment)
            then = present(as_of.trend(name, "depth", START, LAST))
            assert then == {ts: value for ts, value in present(before["depth"]).items() if ts <= moment}
            assert reader.history_note == ""

    run(play)


def test_an_engine_that_fails_costs_nothing_but_its_samples() -> None:
    """The store's samples are shown with the reason, and the engine is asked again after a while."""

    async def play(world: World) -> None:
        await five_hours(world)
        prune(world)
        name, elapsed = queue("A"), Time()
        with StoreReader.open(world.path, kinds=KINDS) as reader:
            left = reader.trend(name, "depth", START, LAST)
        answering = Answering(world.engine, failure=EngineError("http://engine cannot be reached", "is it running?"))
        with opened(world, answering, elapsed) as reader:
            found = reader.trend(name, "depth", START, LAST)
            assert found.points == left.points
            assert found.kept_from == left.kept_from
            assert "http://engine cannot be reached (is it running?)" in found.lacking
            assert reader.history_note == found.lacking
            assert reader.samples_from(START, world.now) == left.kept_from
            answering.failure = None
            reader.trends(name, METRICS, START, LAST)
            assert len(answering.asked) == 1
            elapsed.s = PAUSE_S
            again = reader.trend(name, "depth", START, LAST)
            assert len(again.points) == 300
            assert again.lacking == ""

    run(play)


def test_the_whole_time_is_asked_for_where_a_person_wants_the_engines_values() -> None:
    """They count where they differ; polls without an answer, and what the engine has not got, come from the store."""

    async def play(world: World) -> None:
        first = world.poll("QM01", {"A": {"depth": 1}}).ts
        world.now += MINUTE
        second = world.poll("QM01", {"A": {"depth": Absence.NO_ANSWER}}).ts
        await world.send()
        world.now += MINUTE
        third = world.poll("QM01", {"A": {"depth": 3}}).ts
        world.engine.taken[key_of(DEPTH, "A")][first] = bits({0: 8.0})[0]
        with opened(world, Answering(world.engine), whole=True) as reader:
            assert reader.trend(queue("A"), "depth", START, LAST).points == ((first, 8), (second, None), (third, 3))
        with opened(world, Answering(world.engine)) as reader:
            assert reader.trend(queue("A"), "depth", START, LAST).points == ((first, 1), (second, None), (third, 3))

    run(play)


def test_hours_that_are_gone_are_made_of_the_engines_samples() -> None:
    """As the store made them of its own."""

    async def play(world: World) -> None:
        await five_hours(world)
        name = queue("A")
        with StoreReader.open(world.path, kinds=KINDS) as reader:
            before = reader.hour_figures(name, ("depth", "puts"), START, LAST)
            means = reader.hour_means("queue", "depth", [START, START + HOUR], name)
        prune(world)
        with opened(world, Answering(world.engine)) as reader:
            found = reader.hour_figures(name, ("depth", "puts"), START, LAST)
            assert found["depth"] == before["depth"]
            # Of increases the engine does not know the lengths to the ms.
            assert [(hour, each.total, each.count) for hour, each in found["puts"].hours] == [
                (hour, each.total, each.count) for hour, each in before["puts"].hours
            ]
            assert reader.hour_means("queue", "depth", [START, START + HOUR], name) == means
            then = reader.as_of(START + 2 * HOUR + MINUTE).hour_figures(name, ("depth",), START, LAST)
            assert then["depth"].hours == before["depth"].hours[:2]

    run(play)
