"""Sealing between the transactions of a store: whatever happens in between, the store holds what one without it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from mqsamples.sealed import Samples, held
from mqvitals_agent.store.rows.sealed.sealer import SHORTEST_HOT_MS
from mqvitals_agent.store.sealing import HOT_MS, STEP_S, DamagedChunk, Sealing, hot_span
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source

MINUTE = 60_000
HOUR = 60 * MINUTE
START = 490_000 * HOUR
OWNERS = ("QM01", "QM02")
POLLED = ("A", "B")
RECORDED = ("A", "APPL")
"""One has polls and records, one records alone, which may be forgotten."""


class CrashError(Exception):
    """The process ends here."""


class Values(NamedTuple):
    depth: int | None
    puts: float | None
    max_depth: int | None


class Poll(NamedTuple):
    """After some minutes (the clock may be set back) a queue manager answers for some of its queues."""

    owner: str
    minutes: int
    values: dict[str, Values]


class Record(NamedTuple):
    """Records come late: of some minutes ago."""

    owner: str
    minutes_ago: int
    values: dict[str, Values]


class Forget(NamedTuple):
    """Records of one object between two moments, minutes ago, are taken back."""

    owner: str
    first: int
    last: int


class Seal(NamedTuple):
    """Some steps, each of so many pieces. It crashes at the so manieth piece, None: it does not; then all begins anew."""

    steps: int
    pieces: int
    crash: int | None


VALUES = st.builds(
    Values,
    st.none() | st.integers(0, 1 << 40),
    st.none() | st.integers(0, 1 << 20).map(lambda n: n / 8),
    st.none() | st.integers(0, 3),
)
STEPS = st.lists(
    st.one_of(
        st.builds(Poll, st.sampled_from(OWNERS), st.integers(1, 90), st.dictionaries(st.sampled_from(POLLED), VALUES)),
        st.builds(
            Poll, st.sampled_from(OWNERS), st.integers(-400, 90), st.dictionaries(st.sampled_from(POLLED), VALUES)
        ),
        st.builds(
            Record,
            st.sampled_from(OWNERS),
            st.integers(0, 600),
            st.dictionaries(st.sampled_from(RECORDED), VALUES, min_size=1),
        ),
        st.builds(Forget, st.sampled_from(OWNERS), st.integers(0, 600), st.integers(0, 600)),
        st.builds(Seal, st.integers(1, 4), st.integers(1, 12), st.none() | st.integers(0, 30)),
    ),
    min_size=5,
    max_size=60,
)


def ticking(pieces: int) -> Callable[[], float]:
    """A clock by which a step ends after so many looks."""
    ticks = count()
    return lambda: next(ticks) * 1.004 * STEP_S / pieces


class Twins:
    """Two stores of the same writes, of which one is sealed."""

    def __init__(self, folder: Path, kinds: Any) -> None:
        self._kinds = kinds
        self._paths = folder / "sealed.db", folder / "plain.db"
        self._now = self._latest = START
        self._cycle = 0
        self._stores = self._open()
        self._sealing: Sealing | None = None

    def _open(self) -> list[Store]:
        return [Store.open(path, kinds=self._kinds) for path in self._paths]

    def begin_anew(self) -> None:
        self.close()
        self._stores = self._open()
        self._sealing = None

    def close(self) -> None:
        for store in self._stores:
            store.close()

    def do(self, step: Poll | Record | Forget | Seal, verdict: Any) -> None:
        match step:
            case Poll(owner, minutes, values):
                self._now = max(self._now + minutes * MINUTE, START)
                self._latest = max(self._latest, self._now)
                self._cycle += 1
                readings = [
                    Reading(ObjectName(owner, "queue", name), "STATUS", self._now, each._asdict(), 30_000)
                    for name, each in values.items()
                ]
                self._write(Snapshot(owner, False, self._cycle, self._now, tuple(readings), (), self._now), verdict)
            case Record(owner, ago, values):
                ts = max(self._now - ago * MINUTE, START) + 7
                records = [
                    Reading(
                        ObjectName(owner, "queue", name),
                        "SMF",
                        ts,
                        each._asdict(),
                        60_000,
                        poll=False,
                        source=Source.SMF,
                    )
                    for name, each in values.items()
                ]
                self._write(Snapshot(owner, False, self._cycle, self._now, tuple(records), (), self._now), verdict)
            case Forget(owner, first, last):
                for store in self._stores:
                    bounds = sorted((self._now - first * MINUTE, self._now - last * MINUTE))
                    store.forget_records(ObjectName(owner, "queue", "APPL"), *bounds)
            case Seal(steps, pieces, crash):
                self._seal(steps, pieces, crash)

    def _write(self, snapshot: Snapshot, verdict: Any) -> None:
        for store in self._stores:
            store.write(snapshot, verdict)

    def _seal(self, steps: int, pieces: int, crash: int | None) -> None:
        looks = count()

        def waits() -> bool:
            if next(looks) == crash:
                raise CrashError
            return False

        if self._sealing is None:
            # A store that may hold so little keeps rows for as short as it may.
            self._sealing = Sealing(self._stores[0], 1, steady=ticking(pieces))
        try:
            for _ in range(steps):
                self._sealing.step(self._now, waits)
        except CrashError:
            self.begin_anew()

    def seal_all(self) -> None:
        sealing = Sealing(self._stores[0], 1, steady=ticking(50))
        while sealing.step(self._latest + HOT_MS + HOUR).more:
            pass

    def both(self) -> tuple[Samples, Samples]:
        sealed, plain = (held(path) for path in self._paths)
        return sealed, plain

    def rows_left(self) -> int:
        with self._stores[0].database.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM sample_queue").fetchone()[0])


@given(steps=STEPS)
def test_a_sealed_store_holds_what_a_plain_one_holds(make: Any, steps: list[Any]) -> None:
    """Whenever sealing stops, after what was written since, and when all is sealed in the end."""
    with TemporaryDirectory() as folder:
        twins = Twins(Path(folder), make.kinds)
        try:
            for step in steps:
                twins.do(step, make.verdict())
                if isinstance(step, Seal):
                    sealed, plain = twins.both()
                    assert sealed == plain
            sealed, plain = twins.both()
            assert sealed == plain
            twins.seal_all()
            sealed, plain = twins.both()
            assert sealed == plain
            assert not twins.rows_left()
        finally:
            twins.close()


def test_a_damaged_chunk_is_told_and_gives_way(path: Path, make: Any) -> None:
    """What comes late to a sealed hour takes its place; the other objects of that hour are sealed as ever."""
    with Store.open(path, kinds=make.kinds) as store:
        polls = [make.status(1, depth=1), make.status(1, "OTHER", depth=2)]
        store.write(make.snapshot(1, *polls), make.verdict())
        now = make.ts(1) + HOT_MS + HOUR
        sealing = Sealing(store, None, steady=lambda: 0.0)
        assert sealing.step(now).chunks == 2
        with store.deleting() as connection:
            connection.execute("UPDATE chunk SET data = x'00' WHERE id = (SELECT min(id) FROM chunk)")
        late = [
            Reading(make.queue(name), "STATISTICS", make.ts(1), {"puts": 5}, 60_000, poll=False, source=Source.POLL)
            for name in ("APPL.IN", "OTHER")
        ]
        store.write(make.snapshot(1, *late), make.verdict())
        step = sealing.step(now)
        assert (step.chunks, step.more) == (2, False)
        assert step.damaged == (DamagedChunk(make.queue(), make.ts(1) // HOUR * HOUR),)
        names = {number: str(name) for name, number in store.snapshots.objects.items()}
    assert {names[number]: row for (_, number, _, _), row in held(path).items()} == {
        "QM01/queue/APPL.IN": {"puts": 5, "interval_ms": 60_000, "polled": 0},
        "QM01/queue/OTHER": {"depth": 2, "puts": 5, "interval_ms": 60_000, "polled": 1},
    }


def test_nothing_is_looked_for_until_an_hour_is_due(path: Path, make: Any) -> None:
    """A step between two cycles opens no transaction when there is nothing to seal; a late record is sealed at once."""
    with Store.open(path, kinds=make.kinds) as store:
        began: list[int] = []
        store.database.connection.set_trace_callback(lambda text: began.append(1) if text.startswith("BEGIN") else None)
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        sealing = Sealing(store, None, steady=lambda: 0.0)
        began.clear()
        now = make.ts(1)
        due = now // HOUR * HOUR + HOT_MS
        assert [sealing.step(ts).chunks for ts in (now, now + 10_000, due - 1, due - 1, due, due + 1)] == [
            0,
            0,
            0,
            0,
            1,
            0,
        ]
        assert len(began) == 3
        store.write(make.snapshot(2, replace(make.status(1, depth=2), source=Source.SMF, poll=False)), make.verdict())
        assert sealing.step(due + 2).chunks == 1


def test_how_long_rows_stay_is_decided_once_an_hour(path: Path, make: Any) -> None:
    """However many records come late; without a limit nothing is looked at."""
    for limit, times in ((None, 0), (1 << 30, 2)):
        with Store.open(path, kinds=make.kinds) as store:
            statements: list[str] = []
            store.database.connection.set_trace_callback(statements.append)
            store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
            sealing = Sealing(store, limit, steady=lambda: 0.0)
            due = make.ts(1) // HOUR * HOUR + HOT_MS
            for minute in (0, 10, 20, 70, 80):
                late = replace(make.status(1, depth=minute), source=Source.SMF, poll=False)
                store.write(make.snapshot(2 + minute, late), make.verdict())
                assert sealing.step(due + minute * MINUTE).chunks == 1 + (minute == 0)
            assert sum("sum(readings)" in text for text in statements) == times
        path.unlink()


@given(readings=st.lists(st.integers(0, 10**7), max_size=30), limit=st.none() | st.integers(1, 1 << 40))
def test_rows_stay_for_a_day_where_there_is_room(readings: list[int], limit: int | None) -> None:
    """Never for longer, never for less than three hours; less than a day only where rows of an hour more would be too many."""
    span = hot_span(readings, limit)
    assert SHORTEST_HOT_MS <= span.ms <= HOT_MS
    assert span.ms % HOUR == 0
    assert bool(span.reason) == (span.ms < HOT_MS)
    hours = span.ms // HOUR
    if span.reason:
        assert limit is not None
        assert sum(readings[: hours + 1]) * 110 > limit // 5
    if limit is not None and hours > SHORTEST_HOT_MS // HOUR:
        assert sum(readings[:hours]) * 110 <= limit // 5
