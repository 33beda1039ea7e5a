"""Changes of definitions: what counts as one, when it is stored, how long it is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.store.file.migration import STRUCTURE, STRUCTURES
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.retention import Retention, RetentionPolicy
from mqvitals_agent.store.rows.changes import KEEP_CHANGES_MS, Change, Difference, differences
from mqvitals_agent.store.writer import Store
from mqvitals_rules.engine import Evaluation
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.changes import ALTERED, RECORDED, SECURITY, is_security
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric

START, MINUTE, DAY = 1_795_176_000_000, 60_000, 86_400_000
QUEUE = ObjectName("QM01", "queue", "PAYMENTS.IN")
BEFORE, AFTER = "2026-11-20 12.00.00", "2026-11-20 13.20.00"
ATTRIBUTES = RECORDED["queue"]["INQUIRE_Q"]


def defined(**values: Reported) -> dict[str, Reported]:
    """A local queue's definition."""
    return {"definition_type": 1, "trigger": 0, "trigger_type": 0, "max_depth": 5000, ALTERED: BEFORE, **values}


def write(
    store: Store,
    minute: int,
    values: Mapping[str, Reported],
    probe: str = "INQUIRE_Q",
    name: ObjectName = QUEUE,
    **reading: Any,
) -> None:
    at = START + minute * MINUTE
    one = Reading(name, probe, at, dict(values), poll=False, **reading)
    store.write(Snapshot(name.owner, False, minute + 1, at, (one,)), Evaluation((), ()))


def changes(path: Path, **wanted: Any) -> tuple[Change, ...]:
    with StoreReader.open(path) as reader:
        return reader.changes(limit=100, **wanted)


RAISED = Change(QUEUE, "max_depth", 5000, 50000, START + 30 * MINUTE, START + 15 * MINUTE, AFTER, moved=True)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_raised_maxdepth_is_one_change(path: Path, restarted: bool) -> None:
    """Old, new, when it was altered and seen, and when the old value was last seen; also where the agent began anew."""
    store = Store.open(path)
    write(store, 0, defined())
    write(store, 15, defined())
    if restarted:
        store.close()
        store = Store.open(path)
    for minute in (30, 45):
        write(store, minute, raised())
    store.close()
    assert changes(path) == (RAISED,)
    assert changes(path, since=RAISED.ts, until=RAISED.ts, pattern="QM01/queue/PAY*") == (RAISED,)
    assert changes(path, objects=[QUEUE]) == (RAISED,)
    assert changes(path, pattern="QM02/*") == changes(path, until=RAISED.ts - 1) == changes(path, objects=[]) == ()


def raised() -> dict[str, Reported]:
    return defined(max_depth=50000) | {ALTERED: AFTER}


def test_what_changes_nothing(path: Path) -> None:
    """Not the first sight of an object, nor figures, nor what another answer says, nor an object that is gone and back."""
    with Store.open(path) as store:
        write(store, 0, defined())
        write(store, 1, {"depth": 1}, "INQUIRE_Q_STATUS")
        write(store, 2, {"depth": 2}, "INQUIRE_Q_STATUS")
        write(store, 15, defined(index_entries=5))
        write(store, 30, defined(index_entries=7))
        write(store, 45, dict.fromkeys(defined(), Absence.NO_ANSWER), answered=False)
        write(store, 60, {}, gone=True)
        write(store, 75, defined())
    assert changes(path) == ()


def test_an_unanswered_poll_lies_between(path: Path) -> None:
    """The old value was last seen when it was last told, not when it was asked for in vain."""
    with Store.open(path) as store:
        write(store, 15, defined())
        write(store, 20, dict.fromkeys(defined(), Absence.NO_ANSWER), answered=False)
        write(store, 30, raised())
    assert changes(path) == (RAISED,)


def test_an_object_that_comes_back_otherwise(path: Path) -> None:
    """A queue that was deleted and is defined again is compared with what it was before it was found gone."""
    with Store.open(path) as store:
        write(store, 5, defined())
        write(store, 15, {}, gone=True)
        write(store, 30, raised())
    assert changes(path) == (RAISED,)


def test_a_snapshot_that_is_not_kept_leaves_no_change(path: Path) -> None:
    """What is rolled back is compared anew."""
    with Store.open(path) as store:
        write(store, 15, defined())
        with pytest.raises(ValueError, match="no metric"):
            write(store, 30, raised() | {"nonsense": 1})
        assert changes(path) == ()
        write(store, 30, raised())
    assert changes(path) == (RAISED,)


def found(old: Mapping[str, Reported], new: Mapping[str, Reported]) -> tuple[Difference, ...]:
    return differences("queue", ATTRIBUTES, old, new)


def test_dynamic_queues_and_triggers() -> None:
    """Left out: temporary dynamic queues, and TRIGGER of a depth trigger that goes off, or is set on by its program."""
    dynamic = {"definition_type": 3}
    assert found(defined() | dynamic, raised() | dynamic) == ()
    on, off = defined(trigger=1, trigger_type=3), defined(trigger=0, trigger_type=3)
    assert found(on, off) == found(off, on) == found(on, off | {ALTERED: BEFORE}) == ()
    assert found(off, on | {ALTERED: AFTER}) == (Difference("trigger", 0, 1, moved=True),)
    first = {"trigger_type": 1}
    assert found(on | first, off | first) == (Difference("trigger", 1, 0, moved=False),)


def test_a_moved_time_of_alteration() -> None:
    """Alone it says that something was altered that is not watched; without it a difference says so."""
    assert found(defined(), defined() | {ALTERED: AFTER}) == (Difference(ALTERED, BEFORE, AFTER, moved=True),)
    assert found(defined(), defined(max_depth=1)) == (Difference("max_depth", 5000, 1, moved=False),)
    without = {ALTERED: Absence.NOT_RETURNED}
    assert found(defined(), defined(max_depth=1) | without) == (Difference("max_depth", 5000, 1, moved=None),)


def test_the_entries_of_a_structure_may_move_a_little() -> None:
    """ENTSMAX follows what the system does; a difference of more than a hundredth is a change."""
    wanted = RECORDED["cf_structure"]["INQUIRE_CF_STRUC_STATUS"]
    for entries, changed in ((10_000, False), (10_099, False), (10_200, True), (9_800, True)):
        got = differences("cf_structure", wanted, {"entries_max": 10_000}, {"entries_max": entries})
        assert bool(got) is changed


VALUES = st.one_of(st.integers(0, 3), st.sampled_from(["", " ", "A", "A ", "B"]), st.sampled_from(list(Absence)))
DEFINITIONS = st.dictionaries(
    st.sampled_from(["max_depth", "description", "depth", "trigger", "trigger_type", "definition_type", ALTERED]),
    VALUES,
)


@given(old=DEFINITIONS, new=DEFINITIONS)
def test_every_difference_is_one(old: dict[str, Reported], new: dict[str, Reported]) -> None:
    """A difference is of an attribute that both sides have, otherwise than by blanks; nothing differs from itself."""
    got = found(old, new)
    assert found(old, old) == found(new, new) == ()
    assert len({each.metric for each in got}) == len(got)
    for each in got:
        assert each.metric in ATTRIBUTES or [each.metric] == [one.metric for one in got] == [ALTERED]
        assert (each.old, each.new) == (old[each.metric], new[each.metric])
        assert not isinstance(each.old, Absence)
        assert not isinstance(each.new, Absence)
        assert str(each.old).strip() != str(each.new).strip() or each.metric == ALTERED
    if new.get("definition_type") != 3:
        told = {metric for metric in ("max_depth", "description") if metric in old and metric in new}
        plain = {metric for metric in told if not {type(old[metric]), type(new[metric])} & {Absence}}
        wanted = {metric for metric in plain if str(old[metric]).strip() != str(new[metric]).strip()}
        assert wanted == {each.metric for each in got} & {"max_depth", "description"}


def test_an_older_store_is_migrated(path: Path) -> None:
    """A store without changes gets the table, and what it knows of definitions is compared with the next answer."""
    with Store.open(path) as store:
        write(store, 15, defined())
    with closing(sqlite3.connect(path)) as db:
        (number,) = [n for n, each in enumerate(STRUCTURES, 1) if "CREATE TABLE change(" in each[0]]
        for each in range(number, STRUCTURE + 1):
            db.execute("DELETE FROM _sqlite_migrations WHERE name = ?", (f"structure_{each}",))
            for statement in reversed(STRUCTURES[each - 1]):
                # What a later structure adds to a table of an earlier one is taken back too.
                match statement.split():
                    case ["CREATE", "TABLE", name, *_]:
                        db.execute(f"DROP TABLE {name.partition('(')[0]}")
                    case ["CREATE", "INDEX", name, *_]:
                        db.execute(f"DROP INDEX {name}")
                    case ["ALTER", "TABLE", name, "ADD", "COLUMN", column, *_]:
                        db.execute(f"ALTER TABLE {name} DROP COLUMN {column}")
                    case ["UPDATE", *_]:
                        pass
                    case _:
                        raise AssertionError(statement)
        db.execute(f"PRAGMA user_version = {number - 1}")
        db.commit()
    with Store.open(path) as store:
        write(store, 30, raised())
    assert changes(path) == (RAISED,)


def test_changes_are_kept_for_400_days(path: Path) -> None:
    """However short samples are kept."""
    now = START + KEEP_CHANGES_MS + 20 * MINUTE
    with Store.open(path) as store:
        write(store, 0, defined())
        write(store, 10, raised())
        write(store, 30, defined())
        retention = Retention(store, RetentionPolicy.of(DAY, None))
        for _ in range(10):
            retention.step(now)
    assert [(each.old, each.new) for each in changes(path)] == [(50000, 5000)]


def test_the_table_names_what_is_polled() -> None:
    """Each recorded metric is of the answer to its command; each secure one is recorded."""
    for kind, commands in RECORDED.items():
        for command, metrics in commands.items():
            assert {metric(kind, name).command for name in metrics} == {command}
    for kind, name in SECURITY:
        assert any(name in metrics for metrics in RECORDED[kind].values())
    assert is_security("channel", "ssl_cipher_defined", "  ")
    assert not is_security("channel", "ssl_cipher_defined", "ANY_TLS12")
