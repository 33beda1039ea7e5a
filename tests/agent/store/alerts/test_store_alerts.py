"""Alerts as rows: what is open, what has ended, how it came about."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import UnknownRow
from mqvitals_agent.store.rows.alerts import alert_rows
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
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


FIGURES = ("", "62 %", "61 %")
changes = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["A.IN", "B.IN"]),
        "state": st.sampled_from([PENDING, FIRING, FIRING, RESOLVED]),
        "severity": st.sampled_from(Severity),
        # The clock may be set back, and then come to the same moment again.
        "cycle": st.integers(1, 6),
        "polls": st.integers(0, 3),
        "figure": st.sampled_from(FIGURES),
        "cause": st.booleans(),
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.lists(changes, max_size=3), max_size=8))
def test_what_is_read_again_is_what_is_stored(steps: list[list[dict[str, Any]]], make: Any) -> None:
    """Whatever became of the alerts since the last look: those that fire, and all that are open or have ended."""
    with (
        TemporaryDirectory() as folder,
        Store.open(Path(folder) / "x.db", kinds=make.kinds) as store,
        StoreReader.open(store.path, kinds=make.kinds) as reader,
    ):
        open_ones: dict[str, Alert] = {}
        count = 0
        for step in steps:
            for each in step:
                count += 1
                before = open_ones.pop(each["name"], None)
                alert = _changed(each, count, make)
                if alert.state is not RESOLVED:
                    open_ones[each["name"]] = alert
                elif before is None:
                    continue
                store.write(make.snapshot(count), make.verdict(Transition(alert, before, alert.why)))
            with StoreReader.open(store.path, kinds=make.kinds) as fresh:
                firing = reader.alerts()
                assert firing == fresh.alerts() == store.alerts.firing() == reader.alerts()
                assert len(firing) == sum(each.state is FIRING for each in open_ones.values())
                assert all(open_ones[each.alert.scope.name] == each.alert for each in firing)
                for ended, pending in product((False, True), repeat=2):
                    wanted = fresh.alerts(include_ended=ended, include_pending=pending)
                    assert reader.alerts(include_ended=ended, include_pending=pending) == wanted
                    assert [each.id for each in wanted] == sorted(each.id for each in wanted)


def _changed(each: dict[str, Any], count: int, make: Any) -> Alert:
    """An alert after a change; two evaluations of one moment differ in what they count."""
    state: AlertState = each["state"]
    alert: Alert = make.alert(each["cycle"], state, each["severity"], name=each["name"], started=1, true_polls=count)
    return replace(
        alert,
        ended=make.ts(each["cycle"]) if state is RESOLVED else None,
        good_polls=each["polls"],
        value_now=each["figure"],
        cause=AlertKey("Q-01", make.queue("C.IN")) if each["cause"] else None,
    )


def test_alerts_that_do_not_change_are_not_decoded_again(
    path: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many alerts only those that changed since the last look."""
    decoded: list[int] = []
    read = alert_rows.read_alerts

    def noted(*arguments: Any) -> Any:
        for each in read(*arguments):
            decoded.append(each.id)
            yield each

    monkeypatch.setattr(alert_rows, "read_alerts", noted)
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        alerts = [make.alert(1, FIRING, name=f"Q{number}", started=1) for number in range(20)]
        store.write(make.snapshot(1), make.verdict(*(Transition(each, None, each.why) for each in alerts)))
        assert len(reader.alerts()) == len(decoded) == 20
        decoded.clear()
        changed = replace(alerts[3], updated=make.ts(2), good_polls=0)
        ended = replace(alerts[5], updated=make.ts(2), state=RESOLVED, ended=make.ts(2))
        news = ((changed, alerts[3]), (ended, alerts[5]))
        store.write(make.snapshot(2), make.verdict(*(Transition(*each, Why.CLEARED) for each in news)))
        found = reader.alerts()
        assert decoded == [4]
        assert [each.alert for each in found] == [
            changed if each is alerts[3] else each for each in alerts if each is not alerts[5]
        ]
