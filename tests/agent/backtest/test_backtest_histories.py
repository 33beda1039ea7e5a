"""A backtest over any history finds the alerts that were found while it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.backtest.inputs import refusals
from mqvitals_agent.backtest.run import BacktestResult, backtest
from mqvitals_agent.backtest.variants import RuleVariant, in_force, with_values
from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.chart import TimeRange
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

START = 1_795_176_000_000
EVERY_MS = 30_000
POOL, PAGE_SET = ObjectName("QM01", "buffer_pool", "3"), ObjectName("QM01", "page_set", "4")
QUEUES = tuple(ObjectName(owner, "queue", "ORDERS") for owner in ("QM01", "QM02"))


def standard() -> RuleVariant:
    """The shipped rules about pools, page sets and queues that history can answer."""
    config: RuleConfig = load_rule_config(Settings())
    rules = config.rules
    return in_force(
        config,
        {
            str(rule.id)
            for rule in rules.rules
            if rule.scope in ("buffer_pool", "page_set", "queue")
            and rule.id not in rules.switched_off
            and not refusals(compile_rule(rule, rules.kinds), rules.kinds)
        },
    )


STANDARD = standard()


@dataclass(frozen=True)
class Moment:
    """What one cycle reports; None: not polled in it. ``gap`` counts the cycles that are missing before it."""

    gap: int = 0
    free_pct: float | Absence | None = None
    used_pct: float | Absence | None = None
    depth: tuple[int | Absence | None, ...] = field(default=(None, None))
    input_handles: int = 0
    max_depth: int | None = None
    low_pct: float | None = None
    gone: bool = False


def readings(moment: Moment, ts: int, since: int) -> Iterable[Reading]:
    """The readings of a cycle, as a collector makes them."""

    def poll(name: ObjectName, probe: str, value: Reported, values: Mapping[str, Reported]) -> Reading:
        answered = value is not Absence.NO_ANSWER
        said = values if answered else dict.fromkeys(values, Absence.NO_ANSWER)
        return Reading(name, probe, ts, said, ts - since if since else None, answered=answered)

    if moment.free_pct is not None:
        pool = {"free_pct": moment.free_pct, "worst_free_pct": moment.free_pct, "total": 1_000}
        yield poll(POOL, "INQUIRE_USAGE", moment.free_pct, pool)
    if moment.used_pct is not None:
        pages = {"used_pct": moment.used_pct, "total_pages": 5_000, "buffer_pool": 3, "status": 0}
        yield poll(PAGE_SET, "INQUIRE_USAGE", moment.used_pct, pages)
    for name, depth in zip(QUEUES, moment.depth, strict=True):
        if moment.gone and name is QUEUES[0]:
            yield Reading(name, "INQUIRE_Q_STATUS", ts, {}, gone=True)
            continue
        if depth is not None:
            status = {"depth": depth, "input_handles": moment.input_handles, "oldest_msg_age_s": 400}
            yield poll(name, "INQUIRE_Q_STATUS", depth, status)
        if moment.max_depth is not None:
            said: dict[str, Reported] = {"max_depth": moment.max_depth, "usage": 0, "trigger": 0, "stream_queue": ""}
            yield Reading(name, "INQUIRE_Q", ts, said, poll=False)
    if moment.low_pct is not None:
        record: dict[str, Reported] = {"low_pct": moment.low_pct, "dmc": int(moment.low_pct < 2)}
        yield Reading(POOL, "SMF 115-215", ts - 5_000, record, 60_000, poll=False, source=Source.SMF)


def write(path: Path, moments: list[Moment]) -> None:
    """Fill a store as an agent does."""
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, STANDARD.config)
        ts = START
        last: dict[str, int] = {}
        there: set[ObjectName] = set()
        for cycle, moment in enumerate(moments, 1):
            ts += (1 + moment.gap) * EVERY_MS
            by_owner: dict[str, list[Reading]] = {"QM01": [], "QM02": []}
            for each in readings(moment, ts, last.get("QM01", 0)):
                if not each.gone or each.object in there:  # a collector tells once that one is gone
                    by_owner[each.object.owner].append(each)
                    (there.discard if each.gone else there.add)(each.object)
            intake.take(
                Snapshot(owner, group=False, cycle=cycle, ts=ts, readings=tuple(found))
                for owner, found in by_owner.items()
                if found
            )
            last = dict.fromkeys(by_owner, ts)


def run(path: Path, *settings: str) -> BacktestResult:
    with StoreReader.open(path) as reader:
        owners = reader.owners()
        span = TimeRange(START, max((owner.last_ts for owner in owners), default=START + 1))
        variants = [STANDARD, with_values(STANDARD, settings)] if settings else [STANDARD]
        return backtest(reader, variants, span, lambda _: True, lambda _: None)


def told(alerts: Iterable[Alert]) -> list[tuple[object, ...]]:
    return sorted((each.key, each.started, each.ended, each.worst, each.worst_number, each.why) for each in alerts)


_ABSENT = st.sampled_from([None, Absence.NO_ANSWER, Absence.NOT_RETURNED])
_SHARES = st.sampled_from([0.0, 1.0, 4.0, 9.0, 14.0, 30.0, 80.0, 91.0, 97.0, 100.0]) | _ABSENT
_DEPTHS = st.sampled_from([0, 60, 900, 4_100, 5_000]) | _ABSENT


@st.composite
def histories(draw: st.DrawFn) -> list[Moment]:
    """Cycles whose values stay for a while, with gaps, lost answers, records, and queues that go and come back."""
    found: list[Moment] = []
    for _ in range(draw(st.integers(1, 9))):
        moment = Moment(
            0,
            draw(_SHARES),
            draw(_SHARES),
            (draw(_DEPTHS), draw(_DEPTHS)),
            draw(st.integers(0, 2)),
            draw(st.sampled_from([None, 1_000, 5_000])),
            draw(st.sampled_from([None, None, 0.0, 50.0])),
            draw(st.integers(0, 9)) == 0 and bool(found),
        )
        gap = draw(st.sampled_from([0, 0, 0, 1, 5, 200]))
        found += [
            Moment(**{**vars(moment), "gap": gap if number == 0 else 0}) for number in range(draw(st.integers(1, 6)))
        ]
    return found


@given(histories())
def test_any_history(moments: list[Moment]) -> None:
    """Which, from when until when, how bad and why it ended: as they were found cycle by cycle."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        write(path, moments)
        found = run(path)
        assert told(found.now[0]) == told(found.then)
        assert all(0 <= share <= 1 for share in found.covered.values())


def test_nothing_fires_in_a_gap(tmp_path: Path) -> None:
    """What holds before a gap fires in a snapshot or not at all, and the gap is not covered."""
    path = tmp_path / "store.db"
    low, well = Moment(free_pct=3.0), Moment(free_pct=80.0)
    write(
        path,
        [*[well] * 20, low, Moment(gap=200, free_pct=80.0), *[well] * 19, Moment(gap=200, free_pct=3.0), *[low] * 5],
    )
    found = run(path, "hold=10m")
    with StoreReader.open(path) as reader:
        times = set(reader.snapshot_span("QM01", START, START * 2))
    assert found.now[0]
    assert {each.started for alerts in (*found.now, found.then) for each in alerts} <= times
    assert told(found.now[0]) == told(found.then)
    assert found.covered["QM01"] == pytest.approx(47 / 447, abs=0.02)


def test_definitions_of_then_count(tmp_path: Path) -> None:
    """A text of a definition is what it was: with a stream queue that has been taken away since, its rule fires then."""
    path = tmp_path / "store.db"
    with Store.open(path, replay=True, source="made up.jsonl", group="PRDQSG") as store:
        intake = Ingest(store, STANDARD.config)
        for cycle in range(1, 61):
            ts = START + cycle * EVERY_MS
            named = "COPIES" if 20 <= cycle < 40 else ""
            values: dict[str, Reported] = {
                "max_depth": 5_000, "usage": 0, "stream_queue": named, "put_enabled": 1, "stream_qos": 0,
            }  # fmt: skip
            copies: dict[str, Reported] = {"max_depth": 100, "usage": 0, "stream_queue": "", "put_enabled": 1}
            intake.take(
                [
                    Snapshot(
                        "QM01",
                        group=False,
                        cycle=cycle,
                        ts=ts,
                        readings=(
                            Reading(QUEUES[0], "INQUIRE_Q_STATUS", ts, {"depth": 3, "input_handles": 1}, EVERY_MS),
                            Reading(QUEUES[0], "INQUIRE_Q", ts, values, poll=False),
                            Reading(
                                QUEUES[0]._replace(name="COPIES"), "INQUIRE_Q_STATUS", ts, {"depth": 100}, EVERY_MS
                            ),
                            Reading(QUEUES[0]._replace(name="COPIES"), "INQUIRE_Q", ts, copies, poll=False),
                        ),
                    )
                ]
            )
    found = run(path)
    assert "OPS-261" in {each.key.rule for each in found.then}
    assert told(found.now[0]) == told(found.then)
