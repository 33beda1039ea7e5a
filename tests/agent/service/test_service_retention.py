"""Retention in the living agent: between cycles, announced once, changed by a reload."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.service.agent_meters import LimitOutlook
from mqvitals_agent.service.cycles.cycle_log import CycleLog
from mqvitals_agent.store import resilient
from mqvitals_agent.store.error import StoreError, damaged_error
from mqvitals_agent.store.file import store_file
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.retention import Retention
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkKey
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.store import KeepSettings, RawKeep, StoreSettings, short_keep
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

MINUTE = 60_000
HOUR = 60 * MINUTE
KEPT = KeepSettings(RawKeep(HOUR), HOUR, HOUR)
"""An hour of everything: hours that are kept no longer than samples hold nothing up."""


@pytest.fixture(autouse=True)
def alone(house: Any) -> None:
    """Samples of one queue manager are enough to see which go."""
    house.scripts = house.scripts[:1]


def times(house: Any) -> list[int]:
    """When the queue managers' samples in the store were taken."""
    with StoreReader.open(house.store) as reader:
        return [ts for ts, _ in reader.trend(ObjectName("QM01", "queue_manager"), "reachable").points]


async def test_old_samples_go_between_cycles(house: Any) -> None:
    """After each cycle what is older than ``keep`` is deleted, and the log says once that this begins."""
    house.settings = replace(house.settings, store=StoreSettings(keep=KEPT))
    async with house.running():
        await house.clock.advance(HOUR - MINUTE)
        assert "store.retention" not in house.log.getvalue()
        began = times(house)[0]
        await house.clock.advance(30 * MINUTE)
        left = times(house)
        assert house.clock.now() - HOUR - MINUTE < left[0] <= house.clock.now() - HOUR + MINUTE
        assert began < left[0]
    async with house.running():
        await house.clock.advance(5 * MINUTE)
        assert times(house)[0] > left[0]
    assert house.log.getvalue().count("store.retention ") == 1
    assert (
        "keeps samples 1h; hours 1h; ended alerts, journal and console messages 1h; at most 5GB" in house.log.getvalue()
    )


async def test_a_reload_changes_what_is_kept(house: Any) -> None:
    """``keep`` and ``max_size`` hold from the next cycle on; another path waits for the next start."""
    house.settings = replace(house.settings, store=StoreSettings(keep=short_keep(None), limit=None))
    async with house.running() as service:
        await house.clock.advance(90 * MINUTE)
        assert len(times(house)) == 181
        other = StoreSettings(keep=KEPT, limit=1 << 30)
        settings = replace(house.settings, store=other)
        service.reload(settings, load_rule_config(settings))
        await house.clock.advance(MINUTE)
        assert 119 <= len(times(house)) <= 121
        assert "settings.later" not in house.log.getvalue()
        settings = replace(
            settings, store=replace(other, path=LocatedText("other.db", Place("mqvitals.yaml")), keep=short_keep(None))
        )
        service.reload(settings, load_rule_config(settings))
        await house.clock.advance(10 * MINUTE)
        assert len(times(house)) >= 139
        assert "settings.later" in house.log.getvalue()


def deletion_waits(house: Any) -> object:
    with StoreReader.open(house.store) as reader:
        return reader.current(ObjectName("QM01", "store"))["deletion_waits"].value


async def test_a_failed_deletion_harms_no_cycle(house: Any, monkeypatch: Any) -> None:
    """It is logged once, cycles go on, and deleting is tried again after each."""
    failing = True
    real = Retention.step

    def step(self: Retention, *arguments: Any) -> Any:
        if failing:
            raise StoreError("the disk is slow today")
        return real(self, *arguments)

    monkeypatch.setattr(Retention, "step", step)
    house.settings = replace(house.settings, store=StoreSettings(keep=KEPT))
    async with house.running():
        await house.clock.advance(62 * MINUTE)
        assert house.log.getvalue().count("cannot be deleted: the disk is slow today") == 1
        assert len(times(house)) == 125
        assert deletion_waits(house) == "deleting fails: the disk is slow today"
        failing = False
        await house.clock.advance(2 * MINUTE)
        assert deletion_waits(house) is Absence.NOTHING_TO_TELL
        assert len(times(house)) <= 122


async def test_a_file_that_deleting_finds_damaged(house: Any, monkeypatch: Any) -> None:
    """SQLite looks at the file: where it is whole, cycles go on in it; where it is not, it is set aside, and a new one begins."""
    whole = True
    real = store_file.verify

    def step(self: Retention, *_: Any) -> Any:
        raise damaged_error(self._store.path, "database disk image is malformed")

    def verify(path: Path) -> None:
        real(path)
        if not whole:
            raise damaged_error(path, "a page is no page")

    monkeypatch.setattr(Retention, "step", step)
    monkeypatch.setattr(resilient, "verify", verify)
    async with house.running():
        await house.clock.advance(10 * MINUTE)
        assert house.log.getvalue().count("cannot be deleted: ") == 1
        assert len(times(house)) == 21
        assert not list(house.store.parent.glob("*.damaged-*"))
        whole = False
        await house.clock.advance(MINUTE)
        whole = True
        await house.clock.advance(5 * MINUTE)
        assert list(house.store.parent.glob("*.damaged-*"))
        assert "store.damaged the store" in house.log.getvalue()
        assert 8 <= len(times(house)) <= 13
        with StoreReader.open(house.store) as reader:
            store = reader.current(ObjectName("QM01", "store"))
            assert store["begun_anew"].value == 1
            assert "a page is no page" in str(store["incident"].value)
            assert "AGENT-11" in {each.alert.key.rule for each in reader.alerts()}


async def test_what_the_limit_does_is_logged(house: Any) -> None:
    """The day on which it is reached, again when that moves by more than a day; that it was; and that it is over."""
    log, gb, day = CycleLog(), 1 << 30, 24 * HOUR
    began = 1_795_000_000_000
    for reached, missed in (
        (None, False),
        (began + 5 * day, False),
        (began + 5 * day + HOUR, False),
        (began + 6 * day + 1, False),
        (began + 6 * day + 1, True),
        (None, True),
        (None, False),
        (None, False),
    ):
        log.note_limit(LimitOutlook(gb, reached, missed))
    log.note_limit(None)
    lines = house.log.getvalue().splitlines()
    assert [each.split()[2] for each in lines] == [
        *["store.limit_ahead"] * 2,
        "store.limit_reached",
        "store.limit_recovered",
    ]
    assert "the store reaches its limit of 1GB on 2026-11-23, before samples are as old as store.keep.raw" in lines[0]


async def test_a_clock_far_ahead_deletes_nothing_of_what_is_kept(house: Any) -> None:
    """It is said once, in the log and at the store; once the clock is right again deleting goes on."""
    house.settings = replace(house.settings, store=StoreSettings(keep=KEPT))
    years = 29 * 365 * 24 * HOUR
    async with house.running():
        await house.clock.advance(40 * MINUTE)
        before = times(house)
        house.clock.set(house.clock.now() + years)
        await house.clock.advance(10 * MINUTE)
        assert times(house)[: len(before)] == before
        assert house.log.getvalue().count("store.retention_waits ") == 1
        with StoreReader.open(house.store) as reader:
            reason = reader.current(ObjectName("QM01", "store"))["deletion_waits"].value
        assert "leapt ahead by 10585d" in str(reason)
        house.clock.set(house.clock.now() - years)
        await house.clock.advance(40 * MINUTE)
    left = times(house)
    assert left == sorted(left)
    assert house.clock.now() - HOUR - MINUTE < left[0] <= house.clock.now() - HOUR + MINUTE
    assert house.log.getvalue().count("store.retention_resumed ") == 1


async def test_samples_wait_until_their_day_is_rolled_up(house: Any) -> None:
    """While hours are kept longer, an hour of samples means: until the day is over, sealed and rolled up."""
    keep = KeepSettings(RawKeep(HOUR), 240 * HOUR, HOUR)
    house.settings = replace(
        house.settings, store=StoreSettings(keep=keep), polling=replace(house.settings.polling, interval=10 * MINUTE)
    )
    day = 24 * HOUR
    async with house.running():
        began = house.clock.now()
        await house.clock.advance(5 * HOUR)
        assert first_sample(house) < began + HOUR
        midnight = -(-began // day) * day
        await house.clock.advance(midnight + 30 * HOUR - house.clock.now())
        # The last hour of the day that is rolled up is there for the first values of the next.
        assert first_sample(house) == midnight - HOUR
        with closing(sqlite3.connect(house.store)) as connection:
            days = {row[0] for row in connection.execute("SELECT day FROM rollup")}
        assert days == {began // day}
    assert "store.retention " in house.log.getvalue()


def first_sample(house: Any) -> int:
    """When the oldest sample of the queue manager was taken; of a sealed hour its begin."""
    with closing(sqlite3.connect(house.store)) as connection:
        row, chunk = connection.execute(
            "SELECT (SELECT min(ts) FROM sample_queue_manager), (SELECT min(id) FROM chunk)"
        ).fetchone()
    found: list[int] = [
        *(() if row is None else (int(row),)),
        *(() if chunk is None else (ChunkKey.of(chunk).hour * HOUR,)),
    ]
    return min(found)
