"""A night of a group, written by the real writer: a pool runs short, a page set fills, people act, the agent is away."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.rows.alerts.action_client import ActionClient
from mqvitals_agent.store.rows.changes import Change, insert_changes
from mqvitals_agent.store.writer import Store
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported

HOUR = 3_600_000
MINUTE = 60_000
BEGIN = 1795126200000  # 2026-11-19 22:10:00 UTC
END = BEGIN + 12 * HOUR
EVERY = 5 * MINUTE
AWAY = (BEGIN + 4 * HOUR, BEGIN + 5 * HOUR)
"""The agent does not run."""
SILENT = (BEGIN + 7 * HOUR, BEGIN + 8 * HOUR)
"""QM02 has no snapshot."""

POOL = ObjectName("QM01", "buffer_pool", "3")
PAGE_SET = ObjectName("QM01", "page_set", "3")
QUEUE = ObjectName("QM02", "queue", "PAY.IN")
HOSTILE = ObjectName("QM02", "queue", "<script>alert(1)</script>|`x`")
MANAGER = ObjectName("QM02", "queue_manager")
CHANNEL = ObjectName("QM01", "channel", "TO.QM02")
STRUCTURE = ObjectName("PRDQSG", "cf_structure", "APPL1")


class Quiet:
    """What the rules conclude of a snapshot: nothing; alerts are written by themselves."""

    transitions = ()
    unknown = ()


def alert(
    rule: str, name: ObjectName, severity: Severity, began: int, ended: int | None = None, **fields: Any
) -> Alert:
    """An alert that fires from one minute of the night on, to another one."""
    began, end = BEGIN + began * MINUTE, None if ended is None else BEGIN + ended * MINUTE
    known: dict[str, Any] = {
        "key": AlertKey(rule, name, ""),
        "scope": name,
        "kind_of_rule": "operational",
        "family": "",
        "state": AlertState.FIRING if end is None else AlertState.RESOLVED,
        "severity": severity,
        "worst": severity,
        "since": began - MINUTE,
        "updated": began if end is None else end,
        "summary": "",
        "started": began,
        "ended": end,
        "why": Why.HELD if end is None else Why.CLEARED,
    }
    return Alert(**{**known, **fields})


def firing(ended: Alert) -> Alert:
    """The same alert while it fired."""
    fields = {each: getattr(ended, each) for each in Alert.__slots__}
    return Alert(**{**fields, "state": AlertState.FIRING, "ended": None, "updated": ended.started, "why": Why.HELD})


POOL_ALERT = alert(
    "BP-03", POOL, Severity.CRITICAL, 300, summary="buffer pool 3: 4 % free", worst_value="2 %", worst_number=2.0
)
QUEUE_ALERTS = tuple(
    alert(
        "Q-01",
        HOSTILE,
        Severity.WARNING,
        minute,
        minute + lasts,
        summary=f"queue {HOSTILE.name}: 4 k msgs of 5,000 msgs",
        worst_value=worst,
        worst_number=number,
    )
    for minute, lasts, worst, number in ((100, 10, "4 k msgs", 4000.0), (200, 25, "4.9 k msgs", 4900.0))
)
MANAGER_ALERT = alert("AGENT-01", MANAGER, Severity.CRITICAL, 422, 470, summary="queue manager QM02 cannot be reached")
CHANNEL_ALERT = alert("CHL-16", CHANNEL, Severity.WARNING, 424, 472, summary="channel TO.QM02: RETRYING")
NEW_ALERT = alert(
    "PS-01", PAGE_SET, Severity.WARNING, 690, summary="page set 3: 85.2 % used of 10,000 pages", worst_value="88 %"
)


def _values(minute: int) -> Mapping[ObjectName, tuple[str, Mapping[str, Reported]]]:
    """What the objects report at a minute of the night."""
    free: Reported = max(4.0, 62.0 - minute / 8)
    if 350 <= minute < 380:
        free = Absence.NO_ANSWER
    used = 40.0 if minute < 360 else min(40 + (minute - 360) / 7.5, 88.0)
    depth = 4_900 if 200 <= minute < 225 else 4_000 if 100 <= minute < 110 else 10 + minute % 7
    return {
        ObjectName("QM01", "queue_manager"): ("CONNECTION", {"reachable": int(not 500 <= minute < 520)}),
        POOL: ("INQUIRE_USAGE", {"free_pct": free}),
        PAGE_SET: ("INQUIRE_USAGE", {"used_pct": used}),
        QUEUE: ("INQUIRE_Q_STATUS", {"depth": 3, "max_depth": 5_000}),
        HOSTILE: ("INQUIRE_Q_STATUS", {"depth": depth, "max_depth": 5_000}),
        STRUCTURE: ("INQUIRE_CF_STRUC_STATUS", {"entries_pct": 20.0 + minute % 3}),
    }


def write_night(path: Path, *, quiet: bool = False) -> Path:
    """The store of the night; ``quiet``: nothing fired, and nobody did anything."""
    verdict: Any = Quiet()
    with Store.open(path, source="mqvitals.yaml", group="PRDQSG", created=BEGIN) as store:
        for cycle, ts in enumerate(range(BEGIN, END + 1, EVERY), start=1):
            if AWAY[0] < ts < AWAY[1]:
                continue
            values = _values((ts - BEGIN) // MINUTE)
            for owner in ("QM01", "QM02", "PRDQSG"):
                if owner == "QM02" and SILENT[0] < ts < SILENT[1]:
                    continue
                readings = tuple(
                    Reading(name, probe, ts, found, EVERY, answered=not isinstance(found.get("free_pct"), Absence))
                    for name, (probe, found) in values.items()
                    if name.owner == owner
                )
                store.write(Snapshot(owner, owner == "PRDQSG", cycle, ts, readings), verdict)
        if not quiet:
            for each in (*QUEUE_ALERTS, MANAGER_ALERT, CHANNEL_ALERT):
                store.write_transitions([Transition(firing(each), None, Why.HELD)])
                store.write_transitions([Transition(each, firing(each), Why.CLEARED)])
            for each in (POOL_ALERT, NEW_ALERT):
                store.write_transitions([Transition(each, None, Why.HELD)])
    if not quiet:
        _act(path)
    return path


def _act(path: Path) -> None:
    """What people did, and what was altered."""
    with closing(sqlite3.connect(path)) as connection:
        number = dict(connection.execute("SELECT rule, max(id) FROM alert GROUP BY rule"))
        change = Change(
            QUEUE, "max_depth", 1_000, 5_000, BEGIN + 2 * HOUR, BEGIN + 2 * HOUR - EVERY, "2026-11-20 00.09.12", True
        )
        insert_changes(connection, [change])
        connection.commit()
    with ActionClient.open(path, "anna") as anna:
        anna.acknowledge(number["BP-03"], BEGIN + 305 * MINUTE, note="the batch of the night, see INC4711")
        anna.acknowledge(number["AGENT-01"], BEGIN + 430 * MINUTE)
    with ActionClient.open(path, "ben") as ben:
        ben.add_note(number["BP-03"], "<b>more</b> buffers | `ALTER BUFFPOOL(3)`", BEGIN + 320 * MINUTE)
        begin = BEGIN + 95 * MINUTE
        ben.add_silence([parse_matcher("rule=Q-01")], "load test", begin, begin + 2 * HOUR, begin)


@pytest.fixture(scope="session")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the night, which tests only read."""
    return write_night(tmp_path_factory.mktemp("night") / "night.db")


@pytest.fixture(scope="session")
def quiet_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a night in which nothing fired."""
    return write_night(tmp_path_factory.mktemp("night") / "quiet.db", quiet=True)
