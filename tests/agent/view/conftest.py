"""A small group in plain values, for the views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from mqvitals_agent.store.result import CurrentValue, UnknownRow
from mqvitals_agent.view.situation import Current, Member, Situation
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric

NOW = 1795176590000  # 2026-11-20 12:09:50 UTC
INTERVAL = 10_000


def told(value: Reported, ts: int | None = NOW, unanswered: Absence | None = None) -> CurrentValue:
    return CurrentValue(value, ts, "PROBE", NOW, unanswered)


@dataclass(frozen=True)
class Group:
    """Makes parts of a situation, all as of one moment."""

    now: int = NOW
    interval: int = INTERVAL

    def member(self, name: str, *, seen: int = NOW, is_group: bool = False) -> Member:
        return Member(name, is_group, NOW - 59 * INTERVAL, seen, INTERVAL)

    def figures(self, name: str, *, free: float = 61, ts: int = NOW, reachable: int = 1) -> Current:
        """What a queue manager in health tells, as of ``ts``."""
        running, retrying = (metric("channel", "status").values[word] for word in ("RUNNING", "RETRYING"))
        chinit = metric("channel_initiator", "status").values["RUNNING"]
        unanswered = None if reachable else Absence.UNREACHABLE
        values: dict[tuple[str, str], Mapping[str, Reported]] = {
            ("buffer_pool", "0"): {"free_pct": 95},
            ("buffer_pool", "3"): {"free_pct": free},
            ("page_set", "0"): {"used_pct": 2.5},
            ("page_set", "4"): {"used_pct": 62.48},
            **{("channel", f"TO.{number}"): {"status": running} for number in range(48)},
            ("channel", "TO.BANK"): {"status": retrying},
            ("channel", "TO.OLD"): {"status": 0},
            ("channel_initiator", ""): {
                "status": chinit,
                "adapters_started": 8,
                "adapters_max": 8,
                "dispatchers_started": 5,
                "dispatchers_max": 5,
            },
            ("log", ""): {"full_logs": 0, "total_logs": 8},
        }
        current = {
            ObjectName(name, kind, rest): {key: told(value, ts, unanswered) for key, value in each.items()}
            for (kind, rest), each in values.items()
        }
        return {**current, ObjectName(name, "queue_manager"): {"reachable": told(reachable)}}

    def structures(self) -> Current:
        active = metric("cf_structure", "status").values["ACTIVE"]
        figures: Mapping[str, tuple[float, int, int, int]] = {
            "APPL1": (93.08, 186_160, 200_000, 84),
            "CSQ_ADMIN": (0.56, 53, 9400, 4),
        }
        names = ("entries_pct", "entries_used", "entries_max", "size_used_pct")
        return {
            ObjectName("PRDQSG", "cf_structure", name): {
                **{key: told(value) for key, value in zip(names, values, strict=True)},
                "status": told(active),
            }
            for name, values in figures.items()
        }

    def alert(
        self,
        rule: str,
        name: ObjectName,
        severity: Severity,
        ago: int = 60_000,
        summary: str = "something is wrong",
        *,
        instance: str = "",
        kind: str = "operational",
        ended: int | None = None,
    ) -> Alert:
        started = NOW - ago
        scope = ObjectName(name.owner, "agent", instance) if instance else name
        state = AlertState.FIRING if ended is None else AlertState.RESOLVED
        return Alert(
            AlertKey(rule, name, instance),
            scope,
            kind,
            "",
            state,
            severity,
            severity,
            started,
            NOW,
            summary,
            started,
            ended,
        )


@pytest.fixture
def group() -> Group:
    """The maker of situations."""
    return Group()


@pytest.fixture
def healthy(group: Group) -> Situation:
    """Two queue managers and their group, all well, in a replayed store."""
    current: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    current.update(group.figures("QM01"))
    current.update(group.figures("QM02"))
    current.update(group.structures())
    members = (group.member("QM01"), group.member("QM02"), group.member("PRDQSG", is_group=True))
    return Situation(NOW, True, "recording.jsonl.gz", "PRDQSG", members, current)


@pytest.fixture
def ill(healthy: Situation, group: Group) -> Situation:
    """QM01 has a full buffer pool, QM02 cannot be reached, and some of it is unknown."""
    current = {
        **healthy.current,
        **group.figures("QM01", free=4),
        **group.figures("QM02", ts=NOW - 50_000, reachable=0),
    }
    alerts = (
        group.alert(
            "CHL-16",
            ObjectName("QM01", "channel", "TO.BANK"),
            Severity.WARNING,
            541_000,
            "RETRYING, 9 short retries left",
        ),
        group.alert("AGENT-01", ObjectName("QM02", "queue_manager"), Severity.CRITICAL, 50_000, "not reachable: 2059"),
        group.alert(
            "BP-03",
            ObjectName("QM01", "buffer_pool", "3"),
            Severity.CRITICAL,
            252_000,
            "buffer pool 3: 4 % free, so the queue manager writes pages itself while everyone waits for it",
        ),
        group.alert(
            "AGENT-03",
            ObjectName("QM01", "queue_manager"),
            Severity.WARNING,
            86_400_000,
            "refused: 2035",
            instance="INQUIRE_ARCHIVE",
        ),
        group.alert("CHIN-10", ObjectName("QM01", "channel_initiator"), Severity.INFO, 1000, "advice", kind="review"),
    )
    unknown = (
        UnknownRow("QM01", "CHL-02", Absence.NEEDS_SMF, 7),
        UnknownRow("QM02", "CHL-02", Absence.NEEDS_SMF, 5),
        UnknownRow("QM01", "Q-09", Absence.NOT_DECLARED, 2),
    )
    return replace(healthy, current=current, alerts=alerts, unknown=unknown)
