"""Alerts as rows: what is open, what has ended, how it came about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import UnknownRow
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity, Transition, Why
from mqvitals_rules.vocabulary.metric import Absence

PENDING, FIRING, RESOLVED = AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED


def live(store: Store, make: Any, *alerts: Alert) -> None:
    """Write the states of alerts that share a key, one a cycle."""
    before: Alert | None = None
    for alert in alerts:
        cycle = (alert.updated - make.start) // 10_000
        store.write(make.snapshot(cycle), make.verdict(Transition(alert, before, alert.why)))
        before = alert


def test_an_alert_from_first_to_last(path: Path, make: Any) -> None:
    """An alert keeps its number through its life; everything of it comes back, and its history tells what changed."""
    life = (
        make.alert(1, PENDING, why=Why.CONDITION_HOLDS),
        make.alert(2, FIRING, started=2, why=Why.HELD, true_polls=2),
        make.alert(3, FIRING, started=2, why=Why.HELD, true_polls=3),
        make.alert(4, FIRING, Severity.CRITICAL, started=2, why=Why.SEVERITY_CHANGED, true_polls=4),
        make.alert(5, RESOLVED, Severity.CRITICAL, started=2, ended=5, why=Why.CLEARED, true_polls=0),
    )
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        live(store, make, life[0])
        assert store.alerts.all_open() == (life[0],)
        assert reader.alerts() == ()
        assert [each.alert for each in reader.alerts(include_pending=True)] == [life[0]]
        live(store, make, *life[1:4])
        assert store.alerts.all_open() == (life[3],)
        assert [each.alert for each in reader.alerts()] == [life[3]]
        live(store, make, life[4])
        assert store.alerts.all_open() == ()
        assert reader.alerts() == ()
        (ended,) = reader.alerts(include_ended=True)
        assert ended == (1, life[4])
        log = [(make.ts(1), PENDING), (make.ts(2), FIRING), (make.ts(4), FIRING), (make.ts(5), RESOLVED)]
        assert [(each.ts, each.state) for each in reader.transitions(1)] == log
        assert reader.transitions(1)[2].why is Why.SEVERITY_CHANGED


def test_the_same_alert_again_is_another_one(path: Path, make: Any) -> None:
    """After its end an alert of the same key is a new one, across a restart too; one key has one open alert."""
    with Store.open(path, kinds=make.kinds) as store:
        live(store, make, make.alert(1, FIRING, started=1), make.alert(2, RESOLVED, started=1, ended=2))
        live(store, make, make.alert(3, FIRING, started=3))
    with Store.open(path, kinds=make.kinds) as store:
        live(store, make, make.alert(4, RESOLVED, started=3, ended=4))
        live(store, make, make.alert(5, FIRING, started=5))
        assert len(store.alerts.all_open()) == 1
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [each.id for each in reader.alerts(include_ended=True)] == [1, 2, 3]


def test_what_never_fired_leaves_no_trace(path: Path, make: Any) -> None:
    """A condition that did not hold long enough is forgotten."""
    with Store.open(path, kinds=make.kinds) as store:
        live(store, make, make.alert(1, PENDING), make.alert(2, RESOLVED, ended=2, why=Why.CONDITION_BROKE))
        live(store, make, make.alert(3, RESOLVED, ended=3, why=Why.CONDITION_BROKE))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.alerts(include_ended=True, include_pending=True) == ()
        assert reader.transitions(1) == ()


def test_advice_and_operational_alerts_are_told_apart(path: Path, make: Any) -> None:
    """Review rules' alerts are kept like others and asked for separately."""
    with Store.open(path, kinds=make.kinds) as store:
        live(store, make, make.alert(1, FIRING, started=1, rule="BP-09", kind_of_rule="review"))
        live(store, make, make.alert(1, FIRING, started=1))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        for review, rules in ((None, ["BP-09", "Q-03"]), (True, ["BP-09"]), (False, ["Q-03"])):
            assert [each.alert.key.rule for each in reader.alerts(review=review)] == rules


def test_instances_of_an_object_are_different_alerts(path: Path, make: Any) -> None:
    """Two alerts of one rule about one object, told apart by their instance, are both open."""
    first = make.alert(1, FIRING, started=1)
    second = replace(first, key=first.key._replace(instance="another form"))
    with Store.open(path, kinds=make.kinds) as store:
        live(store, make, first)
        live(store, make, second)
        assert set(store.alerts.all_open()) == {first, second}


def test_unknown_counts_are_those_of_the_last_snapshot(path: Path, make: Any) -> None:
    """What could not be judged stands for each owner as of its last snapshot."""
    with Store.open(path, kinds=make.kinds) as store:
        counts = (("BP-02", Absence.NEEDS_SMF, 3), ("BP-02", Absence.NOT_DECLARED, 1))
        store.write(make.snapshot(1), make.verdict(unknown=counts))
        store.write(make.snapshot(1, owner="QM02"), make.verdict(unknown=(("Q-02", Absence.WINDOW, 9),)))
        store.write(make.snapshot(2), make.verdict(unknown=counts[:1]))
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.unknown_counts() == (
            UnknownRow("QM01", "BP-02", Absence.NEEDS_SMF, 3),
            UnknownRow("QM02", "Q-02", Absence.WINDOW, 9),
        )


def test_unknown_counts_that_change_come_and_go(path: Path, make: Any) -> None:
    """Each snapshot leaves exactly its own counts, those of other owners stay."""
    stale, window, smf = (("BP-02", reason) for reason in (Absence.STALE, Absence.WINDOW, Absence.NEEDS_SMF))
    courses = [
        {stale: 1, window: 2},
        {stale: 1, window: 3},
        {window: 3, smf: 7},
        {},
        {stale: 1, window: 2},
    ]
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        store.write(make.snapshot(1, owner="QM02"), make.verdict(unknown=(("Q-02", Absence.WINDOW, 9),)))
        for cycle, counts in enumerate(courses, start=1):
            store.write(make.snapshot(cycle), make.verdict(unknown=[(*key, count) for key, count in counts.items()]))
            found = {(row.rule, row.reason): row.count for row in reader.unknown_counts() if row.owner == "QM01"}
            assert found == counts
        assert [row.count for row in reader.unknown_counts() if row.owner == "QM02"] == [9]


def test_unknown_counts_after_a_cycle_that_was_not_stored(path: Path, make: Any) -> None:
    """They are written when they differ from what the file says, whatever was tried in between."""

    def interrupted(_: object) -> None:
        raise InterruptedError

    first, second = (("BP-02", Absence.NEEDS_SMF, 3),), (("BP-02", Absence.NEEDS_SMF, 4),)
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        store.write(make.snapshot(1), make.verdict(unknown=first))
        with pytest.raises(InterruptedError):
            store.write_together([(make.snapshot(2), make.verdict(unknown=second).unknown)], interrupted)
        assert [each.count for each in reader.unknown_counts()] == [3]
        store.write(make.snapshot(3), make.verdict(unknown=second))
        assert [each.count for each in reader.unknown_counts()] == [4]
        store.write(make.snapshot(4), make.verdict(unknown=second))
        store.write(make.snapshot(5), make.verdict())
        assert reader.unknown_counts() == ()
