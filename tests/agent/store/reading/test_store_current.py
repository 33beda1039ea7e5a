"""What is known now, merged from all probes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.store.rows.samples.current_writer import runs
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import Instance, Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported


def current(path: Path, make: Any, name: str = "APPL.IN") -> Mapping[str, CurrentValue]:
    with StoreReader.open(path, kinds=make.kinds) as reader:
        return reader.current(make.queue(name))


def test_probes_are_merged_by_metric(path: Path, make: Any) -> None:
    """Each metric has the value, the time and the probe of who told it; texts and reasons of absence included."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.definition(1, max_depth=100, description="in")), make.verdict())
        store.write(make.snapshot(2, make.status(2, depth=5, puts=Absence.FIRST_READING)), make.verdict())
    assert current(path, make) == {
        "max_depth": CurrentValue(100, make.ts(1), "DEFINITION", make.ts(1), None),
        "description": CurrentValue("in", make.ts(1), "DEFINITION", make.ts(1), None),
        "depth": CurrentValue(5, make.ts(2), "STATUS", make.ts(2), None),
        "puts": CurrentValue(Absence.FIRST_READING, make.ts(2), "STATUS", make.ts(2), None),
    }


def test_unchanged_values_have_a_new_time(path: Path, make: Any) -> None:
    """A poll that tells the same as before is nevertheless the newest one."""
    with Store.open(path, kinds=make.kinds) as store:
        for cycle in (1, 2, 3):
            store.write(make.snapshot(cycle, make.status(cycle, depth=5)), make.verdict())
    assert current(path, make)["depth"] == CurrentValue(5, make.ts(3), "STATUS", make.ts(3), None)


def test_a_late_record_replaces_nothing(path: Path, make: Any) -> None:
    """What is older than what its probe told already changes no current value, in this process or the next; its history is kept."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(5, make.status(5, depth=5)), make.verdict())
        store.write(make.snapshot(3, make.status(3, depth=3)), make.verdict())
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(4, make.status(4, depth=4)), make.verdict())
        store.write(make.snapshot(2, make.silence(2)), make.verdict())
    assert current(path, make)["depth"] == CurrentValue(5, make.ts(5), "STATUS", make.ts(5), None)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [value for _, value in reader.trend(make.queue(), "depth").points] == [None, 3, 4, 5]
        assert reader.last_ts() == make.ts(5)


def test_no_answer_leaves_the_values(path: Path, make: Any) -> None:
    """Without an answer the last values stay, with their time, and it is said when and why none came."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=5)), make.verdict())
        store.write(make.snapshot(2, make.silence(2), make.silence(2, "NEVER")), make.verdict())
    assert current(path, make)["depth"] == CurrentValue(5, make.ts(1), "STATUS", make.ts(2), Absence.NO_ANSWER)
    assert current(path, make, "NEVER")["depth"] == CurrentValue(
        Absence.NO_ANSWER, None, "STATUS", make.ts(2), Absence.NO_ANSWER
    )
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(3, make.status(3, depth=6), make.status(3, "NEVER", depth=1)), make.verdict())
    assert current(path, make)["depth"] == CurrentValue(6, make.ts(3), "STATUS", make.ts(3), None)
    assert current(path, make, "NEVER")["depth"] == CurrentValue(1, make.ts(3), "STATUS", make.ts(3), None)


def test_what_is_told_no_more_is_known_no_more(path: Path, make: Any) -> None:
    """A probe's reading replaces all that the probe told before, whatever this process knew of it."""
    for order in ("same process", "next process"):
        target = path.with_name(order)
        store = Store.open(target, kinds=make.kinds)
        store.write(make.snapshot(1, make.status(1, depth=5, usage=1)), make.verdict())
        if order == "next process":
            store.close()
            store = Store.open(target, kinds=make.kinds)
        store.write(make.snapshot(2, make.status(2, depth=6)), make.verdict())
        store.close()
        assert {metric: value.value for metric, value in current(target, make).items()} == {"depth": 6}


def test_gone_objects(path: Path, make: Any) -> None:
    """An object found missing is listed only on demand, and is back when it is told of again."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=5)), make.verdict())
        store.write(make.snapshot(2, make.gone(2)), make.verdict())
        with StoreReader.open(path, kinds=make.kinds) as reader:
            assert reader.objects() == ()
            assert [row.gone for row in reader.objects(gone=True)] == [make.ts(2)]
            assert reader.current_by_kind("QM01", "queue") == {}
            assert reader.trend(make.queue(), "depth").points == ((make.ts(1), 5), (make.ts(2), None))
        store.write(make.snapshot(3, make.status(3, depth=5)), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [row.gone for row in reader.objects()] == [None]
        assert reader.current(make.queue())["depth"].value == 5


def test_objects_by_pattern_and_kind(path: Path, make: Any) -> None:
    """Objects are found by patterns on their whole name, and a kind's current state comes in one piece."""
    with Store.open(path, kinds=make.kinds) as store:
        readings = [make.status(1, name, depth=number) for number, name in enumerate(("A.1", "A.2", "B.1"))]
        store.write(make.snapshot(1, *readings), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [row.name.name for row in reader.objects("QM0?/queue/A.*")] == ["A.1", "A.2"]
        values = reader.current_by_kind("QM01", "queue", {"depth"})
        assert {name.name: each["depth"].value for name, each in values.items()} == {"A.1": 0, "A.2": 1, "B.1": 2}
        assert reader.current_by_kind("QM09", "queue") == {}


def test_instances_are_replaced_by_each_poll(path: Path, make: Any) -> None:
    """The instances of a channel are those of its last answered poll; a poll that did not tell of it leaves them."""

    def instances() -> list[tuple[str, dict[str, Reported]]]:
        with StoreReader.open(path, kinds=make.kinds) as reader:
            return [(each.key, dict(each.values)) for each in reader.instances(make.queue())]

    one = Instance(make.queue(), "JOB1", {"depth": 1, "puts": Absence.RESET})
    two = Instance(make.queue(), "JOB2", {"description": "x"})
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1), instances=(one, two)), make.verdict())
        assert instances() == [("JOB1", {"depth": 1, "puts": Absence.RESET}), ("JOB2", {"description": "x"})]
        store.write(make.snapshot(2, make.silence(2), make.status(2, "OTHER", depth=1)), make.verdict())
        assert [key for key, _ in instances()] == ["JOB1", "JOB2"]
        store.write(make.snapshot(3, make.status(3, depth=1), instances=(two,)), make.verdict())
        assert [key for key, _ in instances()] == ["JOB2"]
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(4, make.status(4, depth=1)), make.verdict())
        assert instances() == []


REPORTED = st.one_of(st.integers(0, 3), st.sampled_from([Absence.RESET, Absence.NO_ANSWER]))
VALUES = st.dictionaries(st.sampled_from(["depth", "puts", "usage", "max_depth"]), REPORTED)
STEPS = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from(["STATUS", "DEFINITION"]), VALUES, st.booleans(), st.booleans()),
    max_size=12,
)


@COSTLY
@given(steps=STEPS)
def test_current_state_is_what_a_plain_model_says(
    steps: list[tuple[int, str, dict[str, Reported], bool, bool]], make: Any, tmp_path_factory: Any
) -> None:
    """Whatever order readings come in, with restarts between: each probe's newest answered reading counts, and nothing else."""
    path = tmp_path_factory.mktemp("model") / "store.db"
    newest: dict[str, tuple[int, dict[str, Reported]]] = {}
    store = Store.open(path, kinds=make.kinds)
    for cycle, probe, values, answered, restart in steps:
        if not answered:
            values = dict.fromkeys(values, Absence.NO_ANSWER)
        reading = Reading(make.queue(), probe, make.ts(cycle), values, poll=probe == "STATUS", answered=answered)
        store.write(make.snapshot(cycle, reading), make.verdict())
        if answered and (probe not in newest or newest[probe][0] <= cycle):
            newest[probe] = (cycle, values)
        if restart:
            store.close()
            store = Store.open(path, kinds=make.kinds)
    store.close()
    if not newest:
        return
    expected: dict[str, Reported] = {}
    for _, values in sorted(newest.values(), key=lambda each: each[0]):
        present = {metric: value for metric, value in values.items() if not isinstance(value, Absence)}
        expected = {**expected, **present}
    found = {m: v.value for m, v in current(path, make).items() if not isinstance(v.value, Absence)}
    ties = len({cycle for cycle, _ in newest.values()}) < len(newest)
    assert found.keys() == expected.keys()
    assert ties or found == expected


@given(numbers=st.lists(st.integers(1, 60)))
def test_runs_hold_the_numbers_and_no_others(numbers: list[int]) -> None:
    """Whatever the numbers and their order: the runs hold exactly these, each once, and no two of them touch."""
    found = list(runs(numbers))
    assert [number for first, last in found for number in range(first, last + 1)] == sorted(set(numbers))
    assert all(after - last > 1 for (_, last), (after, _) in pairwise(found))


QUEUES = [f"APPL.{place}" for place in range(6)]
CYCLES = st.lists(st.dictionaries(st.sampled_from(QUEUES), st.sampled_from(["new", "same", "none"])), max_size=6)


@COSTLY
@given(cycles=CYCLES)
def test_each_object_has_the_time_of_its_own_last_answer(
    cycles: list[dict[str, str]], make: Any, tmp_path_factory: Any
) -> None:
    """Of objects that are written together some answer, some do not, and some are not asked: none has the time of
    another."""
    path = tmp_path_factory.mktemp("times") / "store.db"
    answered: dict[str, tuple[Reported, int]] = {}
    asked: dict[str, tuple[int, Absence | None]] = {}
    with Store.open(path, kinds=make.kinds) as store:
        for cycle, queues in enumerate(cycles, 1):
            readings = []
            for name, how in queues.items():
                if how == "none":
                    readings.append(make.silence(cycle, name))
                    asked[name] = make.ts(cycle), Absence.NO_ANSWER
                else:
                    depth = cycle if how == "new" or name not in answered else answered[name][0]
                    readings.append(make.status(cycle, name, depth=depth))
                    answered[name] = depth, make.ts(cycle)
                    asked[name] = make.ts(cycle), None
            store.write(make.snapshot(cycle, *readings), make.verdict())
    for name, (depth, ts) in answered.items():
        assert current(path, make, name)["depth"] == CurrentValue(depth, ts, "STATUS", *asked[name])


def test_objects_that_never_answered_are_no_damage(make: Any, tmp_path: Path) -> None:
    """Where none of them has a time of an answer, each is absent as its poll said."""
    path = tmp_path / "silent.db"
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.silence(1), make.silence(1, "OTHER")), make.verdict())
    for name in ("APPL.IN", "OTHER"):
        found = current(path, make, name)["depth"]
        assert (found.value, found.ts, found.unanswered) == (Absence.NO_ANSWER, None, Absence.NO_ANSWER)
