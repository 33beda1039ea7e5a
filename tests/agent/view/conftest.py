"""A small group in plain values, for the views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import CurrentValue, UnknownRow
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.meter import METER_GLYPHS
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.sparkline import BLOCKS
from mqvitals_agent.text.styled import Line
from mqvitals_agent.text.terminal import cells, safe
from mqvitals_agent.view.status import Current, OwnerData, StatusData
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
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

    def member(self, name: str, *, seen: int = NOW, is_group: bool = False) -> OwnerData:
        return OwnerData(name, is_group, NOW - 59 * INTERVAL, seen, INTERVAL)

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
def healthy(group: Group) -> StatusData:
    """Two queue managers and their group, all well, in a replayed store."""
    current: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    current.update(group.figures("QM01"))
    current.update(group.figures("QM02"))
    current.update(group.structures())
    members = (group.member("QM01"), group.member("QM02"), group.member("PRDQSG", is_group=True))
    return StatusData(NOW, True, "replay of recording.jsonl.gz", "PRDQSG", members, current)


@pytest.fixture
def ill(healthy: StatusData, group: Group) -> StatusData:
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


HOSTILE = ("[/x]", "\x1b[2J\x1b[31mRED", "漢" * 48)
"""Names that steer a terminal, look like markup, or are wider than they are long."""

_READINGS: Mapping[tuple[str, str, str], Mapping[str, Reported]] = {
    ("queue_manager", "", "CONNECTION"): {"reachable": 1, "reason": 0},
    ("queue", "APPL.IN", "INQUIRE_Q_STATUS"): {
        "depth": 1200,
        "input_handles": 2,
        "output_handles": 1,
        "oldest_msg_age_s": 3,
        "qtime_us_short": Absence.NOT_COLLECTED,
        "qtime_us_long": Absence.NOT_COLLECTED,
    },
    ("queue", "APPL.IN", "INQUIRE_Q"): {
        "max_depth": 5000,
        "usage": 0,
        "storage_class": "ONLINE",
        "page_set": 4,
        "buffer_pool": 3,
    },
    ("queue", "QM02", "INQUIRE_Q_STATUS"): {"depth": 7, "input_handles": 1, "output_handles": 0},
    ("queue", "QM02", "INQUIRE_Q"): {"max_depth": 5000, "usage": 1, "page_set": 4, "buffer_pool": 3},
    ("channel", "TO.QM02", "INQUIRE_CHANNEL_STATUS"): {
        "status": 3,
        "type": 1,
        "msgs": 500,
        "xmitq": "QM02",
        "remote_queue_manager": "QM02",
        "conname": "10.1.1.2(1414)",
        "batchsz": 50,
        "xmitq_msgs": 7,
    },
    ("page_set", "4", "INQUIRE_USAGE"): {
        "total_pages": 1000,
        "unused_pages": 380,
        "used_pct": 62.0,
        "buffer_pool": 3,
        "status": 0,
    },
    ("channel_initiator", "", "INQUIRE_CHANNEL_INIT"): {
        "status": 2,
        "adapters_started": 8,
        "adapters_max": 8,
        "dispatchers_started": 5,
        "dispatchers_max": 5,
    },
    ("log", "", "INQUIRE_LOG"): {"full_logs": 0, "total_logs": 8, "written_bytes": 20_971_520, "suspend": 0},
    ("agent", "INQUIRE_USAGE", "COMMAND"): {
        "outcome": 0,
        "mqsc": "DISPLAY USAGE",
        "reason": 0,
        "commands": 1,
        "replies": 9,
        "bytes": 2048,
        "elapsed_ms": 12,
    },
}


@pytest.fixture(scope="session")
def judging() -> RuleConfig:
    """The shipped rules, without a configuration."""
    return load_rule_config(Settings())


@pytest.fixture
def stored(tmp_path: Path, judging: RuleConfig) -> Iterator[StoreReader]:
    """A replayed store: QM01 whose buffer pool 3 drains over twelve polls until it is critical, and its group."""
    path = tmp_path / "store.db"
    names = [("queue", each) for each in HOSTILE] + [("channel", each) for each in HOSTILE]
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, judging)
        for cycle in range(1, 13):
            ts = NOW - (12 - cycle) * INTERVAL
            readings = [
                Reading(ObjectName("QM01", kind, rest), probe, ts, values, INTERVAL if cycle > 1 else None)
                for (kind, rest, probe), values in _READINGS.items()
                if probe != "INQUIRE_Q"
            ]
            readings += [
                Reading(ObjectName("QM01", kind, rest), probe, ts, values, INTERVAL, poll=False)
                for (kind, rest, probe), values in _READINGS.items()
                if probe == "INQUIRE_Q"
            ]
            free = (90, 80, 70, 60, 50, 40, 30, 18, 14, 12, 4, 4)[cycle - 1]
            pool: Mapping[str, Reported] = {
                "total": 50_000,
                "free": 500 * free,
                "free_pct": free,
                "worst_free_pct": free,
            }
            readings.append(Reading(ObjectName("QM01", "buffer_pool", "3"), "INQUIRE_USAGE", ts, pool, INTERVAL))
            readings += [
                Reading(
                    ObjectName("QM01", kind, each),
                    f"INQUIRE_{'Q' if kind == 'queue' else 'CHANNEL'}_STATUS",
                    ts,
                    {"depth": 3} if kind == "queue" else {"status": 3, "conname": each},
                    INTERVAL,
                )
                for kind, each in names
            ]
            structure: Mapping[str, Reported] = {
                "status": 1,
                "entries_pct": 12.0,
                "entries_used": 12,
                "entries_max": 100,
            }
            shared = Reading(ObjectName("PRDQSG", "cf_structure", "APPL1"), "INQUIRE_CF_STRUC_STATUS", ts, structure)
            intake.take(
                [
                    Snapshot("QM01", False, cycle, ts, tuple(readings)),
                    Snapshot("PRDQSG", True, cycle, ts, (shared,)),
                ]
            )
    with StoreReader.open(path) as reader:
        yield reader


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[StoreReader]:
    """A store of a running agent into which nothing was stored yet."""
    path = tmp_path / "empty.db"
    Store.open(path, group="PRDQSG").close()
    with StoreReader.open(path) as reader:
        yield reader


GOLDEN_WIDTH = 80
WIDER = (100, 120, 160, 200)


@pytest.fixture
def golden(golden: Callable[[Path, str], str]) -> Callable[[str, Callable[[int], Sequence[Line]]], None]:
    """Compares lines of 80 cells, and what Enter opens on them, with a file of ``goldens``; ``make`` makes them for a width.

    Wider lines fit, lead to the same objects, show each with the same glyph and word, and lose no word of the narrower ones.
    """

    def check(name: str, make: Callable[[int], Sequence[Line]]) -> None:
        lines = make(GOLDEN_WIDTH)
        text = "".join(f"{line.text.rstrip()}{f'  -> {safe(line.key)}' if line.key else ''}\n" for line in lines)
        difference = golden(Path(__file__).parent / "goldens" / f"{name}.txt", text)
        assert not difference, difference
        for width in WIDER:
            wider = make(width)
            assert max(cells(line.text) for line in wider) <= width
            assert _signs(wider) == _signs(lines), width
            assert not _words(lines) - _words(wider), width

    return check


def _signs(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """The objects that lines lead to, in their order, with the glyph and word at the beginning of the first line of each."""
    first: dict[str, str] = {}
    for line in lines:
        sign = next((str(health) for health in Health if line.text.startswith(str(health))), "")
        if line.key or sign:
            first.setdefault(line.key or sign, sign)
    return list(first.items())


def _words(lines: Sequence[Line]) -> set[str]:
    """The words, but for the title, which has shorter forms, those that were cut, rules, trends and meters."""
    words = {
        word.strip(",;")
        for line in lines
        if not line.text.startswith(("mqvitals", "PRDQSG  "))
        for word in line.text.split()
    }
    return {word for word in words if "…" not in word and not set(word) & {"─", *BLOCKS, *METER_GLYPHS}}
