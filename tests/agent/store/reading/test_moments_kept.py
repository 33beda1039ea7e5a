"""What was read as of one moment serves others: a reader that goes through time tells what a fresh one does, also of hours
that are sealed meanwhile.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.store import kept_past
from mqvitals_agent.store.file.schema import open_writer
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples import moment_history, moment_rows, moment_values
from mqvitals_agent.store.rows.samples.history import HistoryQuery
from mqvitals_agent.store.rows.samples.moment_links import link_then
from mqvitals_agent.store.rows.samples.moment_values import ObjectThen
from mqvitals_agent.store.rows.sealed.sealer import SEAL_AFTER_MS, Sealer, SealStep
from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName, Reading, Source
from mqvitals_rules.vocabulary.metric import Absence

QUEUES = 6
OWNERS = "QM01", "QM02"

TOLD = "status", "status", "status", "both", "both", "silent", "nothing", "gone", "record"
"""What there is about an object in a cycle."""

METRICS = st.sampled_from([None, ("depth",), ("max_depth", "usage"), ("depth", "puts", "max_depth", "description")])


def cycles_of(draw: random.Random, fewest: int, most: int) -> list[list[str]]:
    """Cycles in which anything may be told of each object."""
    return [[draw.choice(TOLD) for _ in range(QUEUES)] for _ in range(draw.randint(fewest, most))]


MANY = {"_FEW": 1, "_MOST_SEEKS": 4, "_LEADERS": 1, "LOOKBACK_MS": 65_000, "_LOOKS": 3}
"""As if six objects were thousands, and a minute were hours."""

FEW = MANY | {"_FEW": QUEUES, "_MOST_SEEKS": QUEUES, "_LOOKS": 1_000}
"""As if they were few, which are looked for one by one."""


@contextmanager
def these(sizes: Mapping[str, int]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            for module in (moment_history, moment_rows, moment_values):
                if hasattr(module, name):
                    patch.setattr(module, name, size)
        yield


def write(store: Store, make: Any, cycle: int, kinds: Sequence[str], ts: int | None = None) -> None:
    """A cycle of both queue managers, the second one's the other way round; ``ts`` where it is not the usual one."""
    ts = make.ts(cycle) if ts is None else ts
    for owner, told in zip(OWNERS, (kinds, kinds[::-1]), strict=True):
        readings: list[Reading] = []
        for at, kind in enumerate(told):
            name = f"Q{at}"
            if kind in ("status", "both"):
                readings.append(make.status(cycle, name, owner, depth=cycle * 10 + at, puts=at))
            if kind in ("definition", "both"):
                limit = Absence.NOT_RETURNED if (cycle + at) % 5 == 0 else 100 + cycle
                definition = make.definition(
                    cycle, name, owner, max_depth=limit, usage=at % 2, description=f"{cycle // 3}"
                )
                readings.append(definition)
            if kind == "silent":
                readings.append(make.silence(cycle, name, owner))
            if kind == "gone":
                readings.append(make.gone(cycle, name, owner))
            if kind == "record":
                values = {"puts": cycle}
                readings.append(Reading(make.queue(name, owner), "SMF", ts - 15_000, values, 10_000, source=Source.SMF))
        polled = [replace(each, ts=ts) if each.source is Source.POLL else each for each in readings]
        store.write(replace(make.snapshot(cycle, *polled, owner=owner), ts=ts), make.verdict())


def filled(
    cycles: list[list[str]], make: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[list[str]]]:
    """A store that holds these cycles, and they."""
    path = tmp_path_factory.mktemp("kept") / "store.db"
    with Store.open(path, kinds=make.kinds) as store:
        for number, kinds in enumerate(cycles, start=1):
            write(store, make, number, kinds)
    return path, cycles


def told_at(
    reader: StoreReader, at: int, metrics: Sequence[str] | None
) -> dict[tuple[ObjectName, str], Mapping[str, CurrentValue]]:
    """All that a reader tells of a moment, by whichever way it is asked."""
    then = reader.as_of(at)
    found: dict[tuple[ObjectName, str], Mapping[str, CurrentValue]] = {}
    for owner in OWNERS:
        for name, values in then.current_by_kind(owner, "queue", metrics).items():
            told = found[name, "among all"] = dict(values.items())
            found[name, "alone"] = dict(then.current(name).items())
            assert {metric: values[metric] for metric in values} == told
            assert {metric: values.get(metric) for metric in KNOWN if metric in values} == told
            assert isinstance(values, ObjectThen)
            polls = all(each.source is Source.POLL and each.unanswered is None for each in told.values())
            alone = values.polled()
            assert alone is None or (polls and alone == {metric: each.value for metric, each in told.items()})
    return found


KNOWN = "depth", "puts", "usage", "max_depth", "description"


@COSTLY
@given(seed=st.integers(0, 1 << 32), metrics=METRICS)
def test_the_way_to_a_moment_makes_no_difference(
    seed: int, metrics: Sequence[str] | None, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Back, on and by leaps: objects that came and went, slower probes, silence and records are as a fresh reader has them."""
    draw = random.Random(seed)
    path, cycles = filled(cycles_of(draw, 6, 14), make, tmp_path_factory)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        for _ in range(12):
            at = draw.randint(make.ts(0), make.ts(len(cycles)) + 50_000)
            with these(MANY):
                told = told_at(reader, at, metrics)
            with StoreReader.open(path, kinds=make.kinds) as fresh, these(FEW):
                assert told == told_at(fresh, at, metrics), at


@COSTLY
@given(seed=st.integers(0, 1 << 32))
def test_a_clock_that_was_set_back_makes_what_was_kept_worthless(
    seed: int, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What lay ahead of it is deleted, and other cycles are at these times: they are told, not those from before."""
    draw = random.Random(seed)
    path = tmp_path_factory.mktemp("kept") / "store.db"
    cycles, again = cycles_of(draw, 6, 14), cycles_of(draw, 1, 8)
    moments = [draw.randint(make.ts(0), make.ts(len(cycles))) for _ in range(4)]
    with Store.open(path, kinds=make.kinds) as store:
        for number, kinds in enumerate(cycles, start=1):
            write(store, make, number, kinds)
        with StoreReader.open(path, kinds=make.kinds) as reader, these(MANY):
            for at in moments:
                told_at(reader, at, None)
            corrected = make.ts(len(cycles)) - 1_000 * draw.randint(1, 60)
            for later, kinds in enumerate(again):
                write(store, make, len(cycles) + 1 + later, kinds, corrected + 10_000 * later)
            for at in moments:
                with StoreReader.open(path, kinds=make.kinds) as fresh:
                    assert told_at(reader, at, None) == told_at(fresh, at, None), at


@COSTLY
@given(
    seed=st.integers(0, 1 << 32),
    naming=st.sampled_from(
        [("usage", "1"), ("usage", "7"), ("description", "2"), ("max_depth", "104"), ("depth", "33")]
    ),
    doubtful=st.booleans(),
)
def test_objects_that_named_another_are_those_of_all_objects(
    seed: int, naming: tuple[str, str], doubtful: bool, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Those of which the value is that, and where asked for those that leave it open and one of the others, with their values."""
    draw = random.Random(seed)
    path, cycles = filled(cycles_of(draw, 3, 14), make, tmp_path_factory)
    metric, value = naming
    with StoreReader.open(path, kinds=make.kinds) as reader, these(MANY):
        for _ in range(8):
            then = reader.as_of(draw.randint(make.ts(0), make.ts(len(cycles)) + 50_000))
            every = then.current_by_kind("QM01", "queue", ("depth", metric))
            links = {name: link_then(values.get(metric), "STATUS") for name, values in every.items()}
            named = {name for name, link in links.items() if link.word == value}
            perhaps = {name for name, link in links.items() if link.open and doubtful} | named
            found = then.current_naming("QM01", "queue", naming, ("depth", metric), doubtful=doubtful)
            assert perhaps <= set(found)
            assert len(found) - len(perhaps) == (doubtful and len(every) > len(perhaps))
            assert {name: dict(each.items()) for name, each in found.items()} == {
                name: dict(every[name].items()) for name in found
            }
            assert list(found) == sorted(found)


@COSTLY
@given(seed=st.integers(0, 1 << 32), back=st.booleans())
def test_polls_of_all_objects_are_those_of_each(
    seed: int, back: bool, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same times, intervals and values, and the same poll before; none where they are too many."""
    draw = random.Random(seed)
    path, cycles = filled(cycles_of(draw, 4, 14), make, tmp_path_factory)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        first = make.ts(draw.randint(2, len(cycles)))
        then = reader.as_of(draw.randint(first, make.ts(len(cycles)))) if back else reader
        before, metrics = make.ts(0), ("depth", "usage")
        found = then.poll_columns_of_all("QM02", "queue", metrics, first=first, before=before, most=1_000)
        for name, columns in found.items():
            alone = then.poll_columns(name, metrics, first=first, before=before)
            assert repr(columns) == repr(alone)
        polled = {name for each in range(2) for name in told_before(then, first, each)}
        assert set(found) == polled
        if then.snapshot_span("QM02", first, make.ts(len(cycles))):
            assert then.poll_columns_of_all("QM02", "queue", metrics, first=first, before=before, most=0) == {}


def told_before(reader: StoreReader, first: int, back: int) -> set[ObjectName]:
    """The objects that the last snapshot before a moment polled, or with ``back`` one further back."""
    times = reader.snapshot_span("QM02", 0, first - 1)[::-1]
    if back >= len(times):
        return set()
    names = [each.name for each in reader.objects("QM02/*", gone=True)]
    return {
        name
        for name in names
        if list(reader.poll_columns(name, ("depth",), first=times[back], until=times[back]).ts) == [times[back]]
    }


@COSTLY
@given(seed=st.integers(0, 1 << 32), most=st.sampled_from([20, 1_000_000]))
def test_the_past_of_an_object_is_read_on(
    seed: int, most: int, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Series and columns of any spans, one after another, are as a fresh reader has them; also where little is kept."""
    draw = random.Random(seed)
    path, cycles = filled(cycles_of(draw, 6, 14), make, tmp_path_factory)
    names = [make.queue(f"Q{at}", OWNERS[0]) for at in range(2)]
    last = make.ts(len(cycles)) + 20_000
    with pytest.MonkeyPatch.context() as patch, StoreReader.open(path, kinds=make.kinds) as reader:
        patch.setattr(kept_past, "_MOST_KEPT", most)
        names = [name for name in names if reader.has(name)]
        for _ in range(40 if names else 0):
            at, length = draw.randint(make.ts(0), last), draw.choice((0, 9_999, 10_000, 35_000, 200_000))
            name, first = draw.choice(names), at - length + draw.choice((0, 0, 1, 20_000))
            columns = {"first": first, "before": first - draw.choice((0, 15_000, 60_000))}
            with StoreReader.open(path, kinds=make.kinds) as fresh:
                then, anew = reader.as_of(at), fresh.as_of(at)
                assert then.trend(name, "depth", first) == anew.trend(name, "depth", first)
                metrics = draw.choice((("depth", "usage"), ("puts",)))
                assert repr(then.poll_columns(name, metrics, **columns)) == repr(
                    anew.poll_columns(name, metrics, **columns)
                )


@COSTLY
@given(seed=st.integers(0, 1 << 32), kept_values=st.sampled_from([20, 1_000_000]))
def test_the_past_of_many_objects_is_read_on(
    seed: int, kept_values: int, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of any spans, one after another, what is told of an object is what a fresh reader tells of it alone; and nothing is told
    where the polls are too many.
    """
    draw = random.Random(seed)
    path, cycles = filled(cycles_of(draw, 6, 14), make, tmp_path_factory)
    metrics, at = ("depth", "usage"), make.ts(len(cycles))
    with pytest.MonkeyPatch.context() as patch, StoreReader.open(path, kinds=make.kinds) as reader:
        patch.setattr(kept_past, "_MOST_KEPT", kept_values)
        for _ in range(12):
            at = min(
                max(at + draw.choice((-10_000, -10_000, -10_000, 10_000, -35_000)), make.ts(1)), make.ts(len(cycles))
            )
            first = at - draw.choice((15_000, 15_000, 40_000))
            before, most = first - draw.choice((15_000, 60_000)), draw.choice((1_000, 1_000, 1_000, 3))
            with StoreReader.open(path, kinds=make.kinds) as fresh:
                then, anew = reader.as_of(at), fresh.as_of(at)
                found = then.poll_columns_of_all("QM02", "queue", metrics, first=first, before=before, most=most)
                assert sum(len(each.ts) for each in found.values()) <= most
                for name, columns in found.items():
                    assert repr(columns) == repr(anew.poll_columns(name, metrics, first=first, before=before))


def test_a_step_reads_what_it_adds_to_the_past_of_many_objects(make: Any, tmp_path: Path) -> None:
    """Of objects that all were polled in each cycle, the polls of one cycle at one end; all of them are told."""
    with Store.open(tmp_path / "store.db", kinds=make.kinds) as store:
        for number in range(1, 15):
            write(store, make, number, ["status"] * QUEUES)
    spans: list[tuple[int, int]] = []
    read = HistoryQuery.columns_of_all

    def noted(*of_one: Any, first: int, last: int, **others: Any) -> Any:
        spans.append((first, last))
        return read(*of_one, first=first, last=last, **others)

    with pytest.MonkeyPatch.context() as patch, StoreReader.open(tmp_path / "store.db", kinds=make.kinds) as reader:
        patch.setattr(HistoryQuery, "columns_of_all", noted)
        for cycle in (10, 9, 8, 9, 10, 11):
            first, at = make.ts(cycle - 4), make.ts(cycle)
            found = reader.as_of(at).poll_columns_of_all(
                "QM02", "queue", ("depth",), first=first, before=make.ts(0), most=1_000
            )
            assert len(found) == QUEUES
            assert all(
                list(each.ts) == [make.ts(number) for number in range(cycle - 4, cycle + 1)] for each in found.values()
            )
    assert [make.ts(6), make.ts(10)] == list(spans[0])
    assert all(last - first < 10_000 for first, last in spans[1:])


def test_the_next_moment_knows_that_many_objects_were_read_together(make: Any, tmp_path: Path) -> None:
    """It reads none of them alone; of other metrics, and of a time apart, nothing was read."""
    with Store.open(tmp_path / "store.db", kinds=make.kinds) as store:
        for number in range(1, 15):
            write(store, make, number, ["status"] * QUEUES)
    of_all = "QM02", "queue", ("depth",)
    with StoreReader.open(tmp_path / "store.db", kinds=make.kinds) as reader:
        assert not reader.has_columns_of_all(*of_all, make.ts(9))
        then = reader.as_of(make.ts(12))
        assert not then.has_columns_of_all(*of_all, make.ts(9))
        then.poll_columns_of_all(*of_all, first=make.ts(9), before=make.ts(0), most=1_000)
        before = reader.as_of(make.ts(11))
        assert before.has_columns_of_all(*of_all, make.ts(8))
        assert not before.has_columns_of_all("QM02", "queue", ("depth", "usage"), make.ts(8))
        assert not reader.as_of(make.ts(5)).has_columns_of_all(*of_all, make.ts(2))


def test_a_list_makes_a_metric_of_all_its_objects_at_once(make: Any, tmp_path: Path) -> None:
    """Who asks for it of many objects has each value found once, and the same values as one who asks for few."""
    with Store.open(tmp_path / "store.db", kinds=make.kinds) as store:
        for number in range(1, 9):
            write(store, make, number, ["both", "status", "silent", "record", "definition", "both"])
    with StoreReader.open(tmp_path / "store.db", kinds=make.kinds) as reader, these(MANY):
        few = {
            name: dict(each.items()) for name, each in reader.as_of(make.ts(5)).current_by_kind("QM01", "queue").items()
        }
        many = reader.as_of(make.ts(5)).current_by_kind("QM01", "queue")
        for metric in ("depth", "max_depth", "description", "puts"):
            for _ in range(3):
                assert {name: each.get(metric) for name, each in many.items()} == {
                    name: each.get(metric) for name, each in few.items()
                }


HOUR_MS = 3_600_000
EVERY_MS = 1_300_000
"""Between two cycles: hours have two or three, and sometimes nothing of an object."""
LOOKBACK_MS = 3 * HOUR_MS


def sealing(path: Path, make: Any, now: int) -> Generator[SealStep]:
    """Seals a store in steps, each of which is committed."""
    tables = tables_of(make.kinds)
    with closing(open_writer(path, tables.values())) as connection:
        yield from Sealer(tables, set(), lambda: 0.0).round(connection, now)


def leading_at(reader: StoreReader, at: int) -> list[tuple[ObjectName, Any]]:
    return [*reader.as_of(at).leading("queue", "depth", 3), *reader.as_of(at).leading("queue", "puts", 2)]


@COSTLY
@given(seed=st.integers(0, 1 << 32), metrics=METRICS, sizes=st.sampled_from([MANY, FEW]))
def test_sealing_changes_nothing(
    seed: int,
    metrics: tuple[str, ...] | None,
    sizes: dict[str, int],
    make: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Wherever it stands, whichever way leads to a moment, and when records come late or the clock is set back meanwhile."""
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("sealed")
    plain, sealed = folder / "plain.db", folder / "sealed.db"
    cycles = cycles_of(draw, 6, 14)
    start = make.ts(0)
    last = start + EVERY_MS * len(cycles)
    now = last + SEAL_AFTER_MS + draw.choice([-2, 1, 2]) * HOUR_MS
    for path in (plain, sealed):
        with Store.open(path, kinds=make.kinds) as store:
            for number, kinds in enumerate(cycles, start=1):
                write(store, make, number, kinds, start + EVERY_MS * number)
    with (
        StoreReader.open(plain, kinds=make.kinds) as before,
        StoreReader.open(sealed, kinds=make.kinds) as known,
        these(sizes | {"LOOKBACK_MS": LOOKBACK_MS}),
    ):
        later = 0
        for _ in range(6):
            with closing(sealing(sealed, make, now)) as steps:
                done = sum(1 for _ in islice(steps, draw.randint(0, 60)))
            match draw.choice(["nothing", "nothing", "late record", "clock set back"]):
                case "late record":
                    record = _record(make, draw, start, last)
                    for path in (plain, sealed):
                        _write(path, make, len(cycles) + later, record, ts=last + 1_000 * (later + 1))
                    later += 1
                case "clock set back" if later == 0:
                    back = draw.randint(start + EVERY_MS, last)
                    for path in (plain, sealed):
                        with Store.open(path, kinds=make.kinds) as store:
                            write(store, make, len(cycles) + 1, draw_told(seed), back)
                    # A clock that leapt by hours deletes nothing, and what was read before is not that of now.
                    before.forget_moments()
                    known.forget_moments()
                case _:
                    pass
            for _ in range(4):
                at = draw.randint(start, last + 50_000)
                assert told_at(known, at, metrics) == told_at(before, at, metrics), (at, done)
                with (
                    StoreReader.open(plain, kinds=make.kinds) as fresh,
                    StoreReader.open(sealed, kinds=make.kinds) as fresh_of_sealed,
                ):
                    assert told_at(fresh_of_sealed, at, metrics) == told_at(fresh, at, metrics), (at, done)
                    assert leading_at(fresh_of_sealed, at) == leading_at(fresh, at), (at, done)


def draw_told(seed: int) -> list[str]:
    draw = random.Random(seed)
    return [draw.choice(TOLD) for _ in range(6)]


def _record(make: Any, draw: random.Random, start: int, last: int) -> Reading:
    end = draw.randint(start, last)
    name = make.queue(f"Q{draw.randint(0, 5)}", draw.choice(OWNERS))
    return Reading(name, "SMF", end, {"puts": draw.randint(0, 9)}, 10_000, source=Source.SMF)


def _write(path: Path, make: Any, cycle: int, record: Reading, ts: int) -> None:
    with Store.open(path, kinds=make.kinds) as store:
        store.write(replace(make.snapshot(cycle, record, owner=record.object.owner), ts=ts), make.verdict())


@pytest.mark.parametrize("change", ["DELETE FROM chunk", "UPDATE chunk SET data = substr(data, 1, length(data) - 5)"])
def test_sealed_hours_that_are_gone_or_damaged_are_not_kept(change: str, make: Any, tmp_path: Path) -> None:
    """What can no longer be read says so; the rest of the list is there, also to a reader that has read the hour before."""
    path = tmp_path / "store.db"
    start = make.ts(0)
    with Store.open(path, kinds=make.kinds) as store:
        for number in range(1, 15):
            write(store, make, number, ["both"] * QUEUES, start + EVERY_MS * number)
    at = start + EVERY_MS * 3
    with closing(sealing(path, make, at + 9 * HOUR_MS)) as steps:
        assert sum(step.chunks for step in steps) > 20
    with StoreReader.open(path, kinds=make.kinds) as reader:
        told = told_at(reader, at, ("depth", "puts"))
        assert [values["depth"].value for values in told.values()] == [30 + number // 2 for number in range(12)] * 2
        with closing(open_writer(path, tables_of(make.kinds).values())) as connection:
            assert connection.execute(change).rowcount > 0
        with StoreReader.open(path, kinds=make.kinds) as fresh:
            for each in (reader, fresh):
                each.forget_moments()
                gone = told_at(each, at, ("depth", "puts"))
                assert {values["depth"].value for values in gone.values()} == {Absence.NOT_KEPT}
                assert gone.keys() == told.keys()
