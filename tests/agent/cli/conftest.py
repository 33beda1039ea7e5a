"""A small store written by the real writer, for the commands that look into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric

START = 1795176000000  # 2026-11-20 12:00:00 UTC
CYCLE = 10_000
CYCLES = 6

POOL = ObjectName("QM01", "buffer_pool", "3")
CHANNEL = ObjectName("QM01", "channel", "TO.QM02")
HOSTILE = ObjectName("QM01", "queue", "\x1b[2J[/x]")


@dataclass(frozen=True)
class Unknown:
    """A verdict that could not be given."""

    rule: str
    reason: Absence
    count: int


@dataclass(frozen=True)
class Verdict:
    """What the rules made of a snapshot, without the rules."""

    transitions: tuple[Transition, ...] = ()
    unknown: tuple[Unknown, ...] = ()


def alert(
    rule: str,
    name: ObjectName,
    severity: Severity,
    cycle: int,
    *,
    ended: int | None = None,
    instance: str = "",
    kind: str = "operational",
    state: AlertState | None = None,
    summary: str = "4 % free",
) -> Transition:
    """An alert that fires from one cycle on, or waits, or has ended."""
    state = state or (AlertState.FIRING if ended is None else AlertState.RESOLVED)
    started = None if state is AlertState.PENDING else START + cycle * CYCLE
    after = Alert(
        AlertKey(rule, name, instance),
        ObjectName(name.owner, "agent", instance) if instance else name,
        kind,
        "",
        state,
        severity,
        severity,
        START + cycle * CYCLE,
        START + cycle * CYCLE,
        summary,
        started,
        None if ended is None else START + ended * CYCLE,
    )
    return Transition(after, None, Why.HELD)


def readings(cycle: int) -> tuple[Reading, ...]:
    """What QM01 says in a cycle; in the fourth the pools are not answered."""
    ts = START + cycle * CYCLE
    running, retrying = (metric("channel", "status").values[word] for word in ("RUNNING", "RETRYING"))
    free: Mapping[str, Reported] = {"free_pct": [60, 50, 40, 30, 10, 4][cycle], "free": 800}
    if cycle == 3:
        free = dict.fromkeys(free, Absence.NO_ANSWER)
    sent: Reported = Absence.FIRST_READING if cycle == 0 else 1000 * cycle
    return (
        Reading(ObjectName("QM01", "queue_manager"), "CONNECTION", ts, {"reachable": 1}, CYCLE),
        Reading(POOL, "INQUIRE_USAGE", ts, free, CYCLE, answered=cycle != 3),
        Reading(ObjectName("QM01", "page_set", "4"), "INQUIRE_USAGE", ts, {"used_pct": 70.476190 + cycle}, CYCLE),
        Reading(
            CHANNEL,
            "INQUIRE_CHANNEL_STATUS",
            ts,
            {
                "status": retrying if cycle == 2 else running,
                "bytes_sent": sent,
                "xqtime_us_short": Absence.NOT_COLLECTED,
                "conname": "10.1.1.1(1414)",
            },
            CYCLE,
        ),
        Reading(HOSTILE, "INQUIRE_Q_STATUS", ts, {"depth": 10_000 * cycle}, CYCLE),
    )


def write_store(path: Path, *, replay: bool, transitions: tuple[Transition, ...] = ()) -> Path:
    """A store of six cycles of one queue manager and its group."""
    source = "recording.jsonl.gz" if replay else "mqvitals.yaml"
    unknown = (Unknown("CHL-02", Absence.NEEDS_SMF, 12), Unknown("Q-09", Absence.NOT_DECLARED, 2))
    with Store.open(path, replay=replay, source=source, group="PRDQSG", created=START) as store:
        for cycle in range(CYCLES):
            verdict: Any = Verdict(transitions if cycle == CYCLES - 1 else (), unknown)
            ts = START + cycle * CYCLE
            store.write(Snapshot("QM01", False, cycle + 1, ts, readings(cycle)), verdict)
            structure = ObjectName("PRDQSG", "cf_structure", "APPL1")
            values: Mapping[str, Reported] = {
                "entries_pct": 60.0,
                "entries_used": 600,
                "entries_max": 1000,
                "status": 1,
            }
            reading = Reading(structure, "INQUIRE_CF_STRUC_STATUS", ts, values, CYCLE)
            quiet: Any = Verdict()
            store.write(Snapshot("PRDQSG", True, cycle + 1, ts, (reading,)), quiet)
    return path


ALERTS = (
    alert("BP-03", POOL, Severity.CRITICAL, 5),
    alert("Q-03", HOSTILE, Severity.WARNING, 4, summary="\x1b[2J is deep"),
    alert("AGENT-03", ObjectName("QM01", "queue_manager"), Severity.WARNING, 2, instance="INQUIRE_ARCHIVE"),
    alert("AGENT-03", ObjectName("QM01", "queue_manager"), Severity.WARNING, 3, instance="INQUIRE_LOG"),
    alert("PS-01", ObjectName("QM01", "page_set", "4"), Severity.WARNING, 1, ended=3),
    alert("CHIN-10", ObjectName("QM01", "channel_initiator"), Severity.INFO, 1, kind="review"),
    alert("CHL-16", CHANNEL, Severity.WARNING, 5, state=AlertState.PENDING),
)

MakeStore = Callable[..., Path]


@pytest.fixture
def make_store(tmp_path: Path) -> MakeStore:
    """Write a small store: ``make_store(replay=False, transitions=())``."""

    def make(*, replay: bool = True, transitions: tuple[Transition, ...] = ALERTS) -> Path:
        return write_store(tmp_path / "small.db", replay=replay, transitions=transitions)

    return make
