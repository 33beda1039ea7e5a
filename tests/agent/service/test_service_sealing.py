"""Sealing in the living agent: between cycles, after a day, and what it says when it cannot."""

from __future__ import annotations

import itertools
import lzma
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqsamples.sealed import held
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.sealed.chunk_rows import ChunkReader
from mqvitals_agent.store.sealing import HOT_MS, Sealing
from mqvitals_agent.store.writer import Store
from mqvitals_rules.vocabulary.tables import KINDS

MINUTE = 60_000
HOUR = 60 * MINUTE
FIRST_VERSION = Path(__file__).parents[2] / "samples" / "stores" / "structure-20.db.xz"


@pytest.fixture(autouse=True)
def rarely(house: Any) -> None:
    """One queue manager that is asked every ten minutes is enough to see what is sealed."""
    house.scripts = house.scripts[:1]
    house.settings = replace(house.settings, polling=replace(house.settings.polling, interval=10 * MINUTE))


def times(house: Any) -> tuple[list[int], list[int]]:
    """When the queue manager's samples were taken that are sealed, and those that are rows."""
    with closing(sqlite3.connect(f"file:{house.store}?mode=ro", uri=True)) as db:
        ((number,),) = db.execute("SELECT id FROM object WHERE kind = 'queue_manager'").fetchall()
        rows = [ts for (ts,) in db.execute("SELECT ts FROM sample_queue_manager WHERE object_id = ?", (number,))]
        reader = ChunkReader()
        first, last = reader.span(db) or (0, -1)
        hours = reader.of_object(db, number, "QM01", 1, range(first, last + 1))
        return [ts for samples in hours for ts in samples.ts], rows


async def test_finished_hours_are_sealed_after_a_day(house: Any) -> None:
    """Each sample is sealed or a row, and none is both; the last day is rows."""
    async with house.running():
        await house.clock.advance(HOT_MS + 3 * HOUR)
        sealed, rows = times(house)
        assert len(sealed) >= 12
        assert not set(sealed) & set(rows)
        every = sorted(sealed + rows)
        assert {after - before for before, after in itertools.pairwise(every)} == {10 * MINUTE}
        now = house.clock.now()
        assert max(sealed) <= now - HOT_MS + HOUR
        assert min(rows) > now - HOT_MS - HOUR - 10 * MINUTE
    async with house.running():
        await house.clock.advance(2 * HOUR)
        assert set(times(house)[0]) > set(sealed)


async def test_failed_sealing_harms_no_cycle(house: Any, monkeypatch: Any) -> None:
    """It is logged once, cycles go on, and sealing is tried again."""
    failing = True
    real = Sealing.step

    def step(self: Sealing, *arguments: Any) -> Any:
        if failing:
            raise StoreError("the disk is slow today")
        return real(self, *arguments)

    monkeypatch.setattr(Sealing, "step", step)
    async with house.running():
        await house.clock.advance(HOT_MS + 2 * HOUR)
        sealed, rows = times(house)
        assert not sealed
        assert len(rows) >= 6 * 28
        assert house.log.getvalue().count("cannot be sealed, and stay as rows: the disk is slow today") == 1
        failing = False
        await house.clock.advance(HOUR)
        assert times(house)[0]
        assert house.log.getvalue().count("store.sealing_recovered ") == 1


async def test_a_clock_far_ahead_seals_nothing(house: Any) -> None:
    """As nothing is deleted by it: its samples go when it is right again."""
    years = 29 * 365 * 24 * HOUR
    async with house.running():
        await house.clock.advance(HOUR)
        house.clock.set(house.clock.now() + years)
        await house.clock.advance(HOUR)
        assert not times(house)[0]


async def test_a_store_of_the_first_version_is_sealed_while_it_polls(house: Any) -> None:
    """What it holds as rows becomes chunks between the cycles, once its clock is believed; nothing of it changes."""
    house.store.write_bytes(lzma.decompress(FIRST_VERSION.read_bytes()))
    with Store.open(house.store) as store:
        newest = max(each.ts for each in store.progress().values())
    before = held(house.store, KINDS)
    house.clock.set(newest + HOT_MS + HOUR)
    async with house.running():
        await house.clock.advance(HOUR)
        # The agent was away for longer than an hour: a clock that has leapt is believed after six. Its records are older.
        assert held(house.store, KINDS).items() >= before.items()
        assert rows_until(house, newest) == sum(ts > newest - HOUR for _, _, _, ts in before) > 1000
        await house.clock.advance(6 * HOUR)
        found = held(house.store, KINDS)
        assert found.items() >= before.items()
        assert rows_until(house, newest) == 0
        polls = {ts for kind, _, _, ts in found if kind == "queue_manager" and ts > newest}
        assert len(polls) >= 6 * 7


def rows_until(house: Any, ts: int) -> int:
    """How many samples until then are rows."""
    with closing(sqlite3.connect(f"file:{house.store}?mode=ro", uri=True)) as db:
        query = "SELECT count(*) FROM sample_{} WHERE ts <= ?"
        return sum(db.execute(query.format(kind), (ts,)).fetchone()[0] for kind in KINDS)
