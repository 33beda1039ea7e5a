"""Alerts as of past moments: a reader that goes through time tells what a fresh one does, while alerts go on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.alerts import alerts_then
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity, Transition, Why

PENDING, FIRING, RESOLVED = AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED
NAMES = "A", "B", "C", "D"


def lives(make: Any, draw: random.Random, cycles: int) -> Iterator[tuple[int, list[Transition]]]:
    """In each cycle what becomes of alerts that begin, get worse, name another as their cause, are said again, and end."""
    now: dict[str, Alert] = {}
    for cycle in range(1, cycles + 1):
        changes = []
        for name in NAMES:
            before = now.get(name)
            what = draw.choice(["nothing", "begins", "fires", "severity", "words", "cause", "ends"])
            after = before
            if before is None and what in ("begins", "fires"):
                state = PENDING if what == "begins" else FIRING
                started = None if state is PENDING else cycle
                after = replace(make.alert(cycle, state, name=name, started=started), since=make.ts(cycle))
            elif before is not None and what == "fires" and before.state is PENDING:
                after = replace(before, state=FIRING, started=make.ts(cycle), why=Why.HELD)
            elif before is not None and what == "severity":
                severity = Severity.CRITICAL if before.severity is Severity.WARNING else Severity.WARNING
                after = replace(before, severity=severity, worst=max(before.worst, severity), why=Why.SEVERITY_CHANGED)
            elif before is not None and what == "words":
                after = replace(before, summary=f"said in cycle {cycle}")
            elif before is not None and what == "cause":
                other = draw.choice([None, *(each for each in now.values() if each is not before)])
                after = replace(before, cause=None if other is None else other.key)
            elif before is not None and what == "ends":
                after = replace(before, state=RESOLVED, ended=make.ts(cycle), why=Why.CLEARED)
            if after is not None and after is not before:
                after = replace(after, updated=make.ts(cycle))
                changes.append(Transition(after, before, after.why))
                now.pop(name, None)
                if after.state is not RESOLVED:
                    now[name] = after
        yield cycle, changes


def told_at(reader: StoreReader, at: int, *, whole: bool) -> list[Any]:
    """The alerts as of a moment; not ``whole``: without what is told as it was said later."""
    then = reader.as_of(at)
    every = then.alerts(include_ended=True, include_pending=True)
    found = [*every, *then.alerts(), *(then.alert(each.id) for each in every)]
    return found if whole else [each and as_it_was(each) for each in found]


def as_it_was(stored: StoredAlert) -> tuple[Any, ...]:
    number, alert = stored
    told = (alert.state, alert.severity, alert.worst, alert.since, alert.started, alert.ended, alert.why)
    return (number, alert.key, *told)


@COSTLY
@given(seed=st.integers(0, 1 << 32), most=st.sampled_from([2, 5_000]))
def test_the_way_to_a_moment_makes_no_difference_to_alerts(
    seed: int, most: int, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Back and forth, before and after the agent went on and was started again; also where few are kept."""
    draw = random.Random(seed)
    path = tmp_path_factory.mktemp("alerts") / "store.db"
    cycles = list(lives(make, draw, 24))
    with Store.open(path, kinds=make.kinds) as store:
        for cycle, changes in cycles[:12]:
            store.write(make.snapshot(cycle), make.verdict(*changes))
    with pytest.MonkeyPatch.context() as patch, StoreReader.open(path, kinds=make.kinds) as reader:
        patch.setattr(alerts_then, "_MOST_KEPT", most)
        seen = 12
        while True:
            for _ in range(8):
                at = make.ts(0) + draw.randint(0, 10_000 * seen)
                with StoreReader.open(path, kinds=make.kinds) as fresh:
                    whole = seen == 12
                    assert told_at(reader, at, whole=whole) == told_at(fresh, at, whole=whole), at
            if seen == len(cycles):
                break
            with Store.open(path, kinds=make.kinds) as store:
                for cycle, changes in cycles[seen : seen + 6]:
                    store.write(make.snapshot(cycle), make.verdict(*changes))
            seen += 6


@COSTLY
@given(seed=st.integers(0, 1 << 32))
def test_alerts_of_then_are_those_that_were_there(
    seed: int, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """At the time of each cycle, going back from the last one: state, severity, beginning, and causes that fired then."""
    draw = random.Random(seed)
    path = tmp_path_factory.mktemp("alerts") / "store.db"
    were = {}
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as live:
        for cycle, changes in lives(make, draw, 14):
            store.write(make.snapshot(cycle), make.verdict(*changes))
            were[cycle] = live.alerts()
    with StoreReader.open(path, kinds=make.kinds) as reader:
        for cycle, alerts in reversed(were.items()):
            then = reader.as_of(make.ts(cycle)).alerts()
            about = [(each.id, each.alert.state, each.alert.severity, each.alert.started) for each in then]
            assert about == [(each.id, each.alert.state, each.alert.severity, each.alert.started) for each in alerts]
            firing = {each.alert.key for each in then}
            assert all(each.alert.cause is None or each.alert.cause in firing for each in then)
