"""Whatever happens to the store, the engine, the line between and the process: in the end every sample of the store is there once."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import given, note
from hypothesis import strategies as st

from mqsamples.engine import STALE, Engine, Key, value_of
from mqsamples.sealed import held
from mqsamples.sending import DEPTH, HOUR, MAX_DEPTH, MINUTE, PUTS, PUTS_RECORDED, QTIME, World, key_of, world_in
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.sealing import Sealing
from mqvitals_rules.vocabulary.metric import Absence, Reported

OWNERS = ("QM01", "QM02")
QUEUES = ("A", "B", "C")
REFUSED = "A"
"""Of this queue of the second queue manager the engine refuses some samples."""
KEPT_MS = 2 * HOUR


class Values(NamedTuple):
    depth: int | None
    qtime_us_own: int | None
    puts: float | None
    max_depth: int | None

    def reported(self) -> dict[str, Reported]:
        values = self._asdict()
        if values["max_depth"] is None:
            del values["max_depth"]
        return {name: Absence.NO_ANSWER if value is None else value for name, value in values.items()}


class Poll(NamedTuple):
    """After some time a queue manager answers for its queues; one without values is gone."""

    owner: str
    minutes: int
    values: dict[str, Values | None]


class Back(NamedTuple):
    """The clock is set back."""

    minutes: int


class Record(NamedTuple):
    """Records of some minutes ago."""

    owner: str
    ago: int
    values: dict[str, Values]


class Send(NamedTuple):
    """All that waits is sent, with these faults on the way."""

    faults: list[str]


class Seal(NamedTuple):
    """What is so old is sealed."""


class Prune(NamedTuple):
    """What is so old is deleted."""


class Keep(NamedTuple):
    """The process ends in order, and another one begins."""


VALUES = st.builds(
    Values,
    st.none() | st.integers(0, 1 << 40),
    st.none() | st.integers(0, 1 << 20),
    st.none() | st.integers(0, 1 << 20).map(lambda n: n / 10),
    st.none() | st.integers(0, 3),
)
POLL = st.builds(
    Poll,
    st.sampled_from(OWNERS),
    st.sampled_from((1, 1, 1, 7, 40, 90)),
    st.dictionaries(st.sampled_from(QUEUES), st.none() | VALUES, min_size=1),
)
FAULTS = st.lists(st.sampled_from(("", "", "down", "lost", "die", "die taken")), max_size=6)
STEPS = st.lists(
    st.one_of(
        POLL,
        POLL,
        POLL,
        st.builds(Back, st.integers(1, 200)),
        st.builds(
            Record,
            st.sampled_from(OWNERS),
            st.integers(0, 300),
            st.dictionaries(st.sampled_from(QUEUES), VALUES, min_size=1),
        ),
        st.builds(Send, FAULTS),
        st.builds(Send, FAULTS),
        st.just(Seal()),
        st.just(Prune()),
        st.just(Keep()),
    ),
    min_size=4,
    max_size=40,
)

Row = tuple[Key, int]


class Model:
    """What was stored: each value of a series and time, and how much a counter has counted."""

    def __init__(self) -> None:
        self.values: dict[Row, float] = {}
        self.increases: dict[Row, float] = {}
        self.rewound = False
        """The clock was set back over what was offered, and the process ended before the next place of totals."""


async def play(world: World, model: Model, steps: list[object]) -> None:
    for step in steps:
        match step:
            case Poll(owner, minutes, values):
                world.now += minutes * MINUTE
                ts = world.poll(owner, {name: each and each.reported() for name, each in values.items()}).ts
                for name, each in values.items():
                    if each is None:
                        continue
                    _note(model, owner, name, ts, each)
            case Back(minutes):
                world.now -= minutes * MINUTE
                model.rewound = True
            case Record(owner, ago, values):
                world.record(
                    owner, world.now - ago * MINUTE + 500 + world.cycle, {q: v.reported() for q, v in values.items()}
                )
            case Send(faults):
                if not await world.send(faults):
                    world.begin_anew()
            case Seal():
                sealing = Sealing(world.store, 1)
                while sealing.step(world.now + 4 * HOUR).more:
                    pass
            case Prune():
                retention = Retention(world.store, RetentionPolicy.of(KEPT_MS, None))
                while retention.step(world.now).more:
                    pass
            case Keep():
                if world.sender is not None:
                    await world.sender.keep_totals()
                await world.end()
                world.begin_anew()


def _note(model: Model, owner: str, queue: str, ts: int, values: Values) -> None:
    for name, value in (
        (DEPTH, values.depth),
        (QTIME, None if values.qtime_us_own is None else values.qtime_us_own / 1_000_000),
        (MAX_DEPTH, values.max_depth),
    ):
        if value is not None:
            model.values[key_of(name, queue, owner), ts] = value
    if values.puts is not None:
        model.increases[key_of(PUTS, queue, owner), ts] = values.puts


def expected(path: Path) -> tuple[dict[Row, float], set[Row]]:
    """What of the store an engine has: the values of gauges and of records; and where there is a total."""
    names = _names(path)
    gauges: dict[Row, float] = {}
    totals: set[Row] = set()
    for (_, number, source, ts), cells in held(path, ("queue", "queue_manager")).items():
        owner, queue = names[number]
        word = "" if source == 1 else "smf"
        for metric, name, scale in (
            ("depth", DEPTH, 1),
            ("qtime_us_own", QTIME, 1_000_000),
            ("max_depth", MAX_DEPTH, 1),
        ):
            if metric in cells:
                gauges[key_of(name, queue, owner, source=word), ts] = cells[metric] / scale
        if "puts" in cells and word:
            gauges[key_of(PUTS_RECORDED, queue, owner, source=word), ts] = cells["puts"]
        elif "puts" in cells:
            totals.add((key_of(PUTS, queue, owner), ts))
    return gauges, totals


def _names(path: Path) -> dict[int, tuple[str, str]]:
    """The owner and the name of each object, by number."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, owner, name FROM object")
        return {number: (owner, name) for number, owner, name in rows}


def refuses(key: Key, ts: int) -> str:
    labels = dict(key)
    odd = labels.get("queue") == REFUSED and labels.get("qmgr") == OWNERS[1] and ts // MINUTE % 3 == 0
    return "this one is odd" if odd else ""


@given(steps=STEPS, most=st.sampled_from((1, 3, 50)), round_samples=st.sampled_from((1, 6, 100)))
def test_every_sample_that_is_kept_is_there_once(steps: list[object], most: int, round_samples: int) -> None:
    """With its value, from whatever age it was read; a running total has grown by each increase once."""

    async def run(folder: str) -> None:
        engine = Engine(refuses=refuses)
        async with world_in(Path(folder), engine, most=most, round_samples=round_samples) as world:
            model = Model()
            await play(world, model, steps)
            while not await world.send():
                world.begin_anew()
            gauges, totals = expected(world.path)
            note(f"row {world.row()}")
            for (key, ts), value in gauges.items():
                if not refuses(key, ts):
                    assert engine.values(key).get(ts) == value, (key, ts)
            for key, ts in totals:
                if not refuses(key, ts):
                    assert ts in engine.values(key), (key, ts)
            # Nothing is there that was never stored, and nothing came twice with different values.
            for key, samples in engine.taken.items():
                name, polled = dict(key)["__name__"], "source" not in dict(key)
                for ts, bits in samples.items():
                    if polled and bits != STALE and name != PUTS:
                        assert value_of(bits) == model.values[key, ts]
            if not model.rewound:
                assert engine.conflicts == []
                _check_totals(engine, model)
            if not any(isinstance(step, Prune) for step in steps):
                assert world.row()[2] == 0

    with TemporaryDirectory() as folder:
        asyncio.run(run(folder))


def _check_totals(engine: Engine, model: Model) -> None:
    """Each total is the one before and the increase."""
    for key, samples in engine.offered.items():
        if dict(key)["__name__"] != PUTS:
            continue
        total: float = 0
        for ts, bits in samples.items():
            if bits == STALE:
                continue
            total += model.increases[key, ts]
            assert value_of(bits) == total, (key, ts)
