"""A small vocabulary, and snapshots made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import Instance, ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported

GAUGE, COUNTER, STATE, TEXT = MetricType.GAUGE, MetricType.COUNTER, MetricType.STATE, MetricType.TEXT


@dataclass(frozen=True)
class StubUnknown:
    rule: str
    reason: Absence
    count: int


@dataclass(frozen=True)
class StubVerdict:
    transitions: tuple[Transition, ...] = ()
    unknown: tuple[StubUnknown, ...] = ()


@dataclass(frozen=True)
class Maker:
    """Makes what a store is fed with. Cycle n is at ``start`` + n times ten seconds."""

    kinds: Mapping[str, Kind] = field(
        default_factory=lambda: {
            "queue": Kind(
                "queue",
                "a queue",
                "STATUS",
                (
                    Metric("depth", "messages", GAUGE, "messages on the queue"),
                    Metric("puts", "messages", COUNTER, "messages put"),
                    Metric("usage", "", STATE, "what it is used for", values={"NORMAL": 0, "XMITQ": 1}),
                    Metric("max_depth", "messages", GAUGE, "how deep it may be"),
                    Metric("description", "", TEXT, "what it is for"),
                ),
            ),
            "log": Kind("log", "the log", "LOG", (Metric("used_pct", "%", GAUGE, "used"),), single=True),
        }
    )
    start: int = 1_763_640_000_000

    def ts(self, cycle: int) -> int:
        return self.start + cycle * 10_000

    def queue(self, name: str = "APPL.IN", owner: str = "QM01") -> ObjectName:
        return ObjectName(owner, "queue", name)

    def status(self, cycle: int, name: str = "APPL.IN", owner: str = "QM01", **values: Reported) -> Reading:
        return Reading(self.queue(name, owner), "STATUS", self.ts(cycle), values, 10_000 if cycle > 1 else None)

    def definition(self, cycle: int, name: str = "APPL.IN", owner: str = "QM01", **values: Reported) -> Reading:
        return Reading(self.queue(name, owner), "DEFINITION", self.ts(cycle), values, 10_000, poll=False)

    def silence(self, cycle: int, name: str = "APPL.IN", owner: str = "QM01") -> Reading:
        values: dict[str, Reported] = {"depth": Absence.NO_ANSWER, "puts": Absence.NO_ANSWER}
        return Reading(self.queue(name, owner), "STATUS", self.ts(cycle), values, answered=False)

    def gone(self, cycle: int, name: str = "APPL.IN", owner: str = "QM01") -> Reading:
        return Reading(self.queue(name, owner), "STATUS", self.ts(cycle), {}, gone=True)

    def snapshot(
        self,
        cycle: int,
        *readings: Reading,
        owner: str = "QM01",
        group: bool = False,
        instances: tuple[Instance, ...] = (),
    ) -> Snapshot:
        return Snapshot(owner, group, cycle, self.ts(cycle), readings, instances, self.ts(cycle) + 7)

    def verdict(self, *transitions: Transition, unknown: tuple[tuple[str, Absence, int], ...] = ()) -> StubVerdict:
        return StubVerdict(transitions, tuple(StubUnknown(*each) for each in unknown))

    def alert(
        self,
        cycle: int,
        state: AlertState,
        severity: Severity = Severity.WARNING,
        *,
        rule: str = "Q-03",
        name: str = "APPL.IN",
        kind_of_rule: str = "operational",
        started: int | None = None,
        ended: int | None = None,
        why: Why = Why.CONDITION_HOLDS,
        true_polls: int = 1,
    ) -> Alert:
        return Alert(
            key=AlertKey(rule, self.queue(name), "form"),
            scope=self.queue(name),
            kind_of_rule=kind_of_rule,
            family="queue_filling",
            state=state,
            severity=severity,
            worst=severity,
            since=self.ts(1),
            updated=self.ts(cycle),
            summary="fills [red]and[/red] nobody reads",
            started=None if started is None else self.ts(started),
            ended=None if ended is None else self.ts(ended),
            why=why,
            true_polls=true_polls,
            good_polls=2,
            unknown_polls=3,
        )


@pytest.fixture(scope="session")
def make() -> Maker:
    return Maker()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"
