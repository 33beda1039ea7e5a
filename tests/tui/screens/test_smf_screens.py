"""Screens over a store that holds SMF records beside polls: tasks, lowest free buffers, log waits, net times."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from mqvitals_agent.ingest.pipeline import Ingest
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_tui.widgets.lines_view import LinesView
from mqvitals_tui.widgets.virtual_table import VirtualTable

GOLDENS = Path(__file__).parents[1] / "goldens"
SIZES = ((80, 24), (120, 40))
"""The goldens are of the last."""
HALF_HOUR = 1_800_000
AGO = 14 * 60_000 + 5_000
"""How long ago the newest interval ended, ms."""

OBJECTS = {
    "pool": ObjectName("QM01", "buffer_pool", "3"),
    "log": ObjectName("QM01", "log"),
    "channel": ObjectName("QM01", "channel", "TO.QM02"),
    "initiator": ObjectName("QM01", "channel_initiator"),
    "dispatcher": ObjectName("QM01", "dispatcher", "1"),
}

Shown = Callable[[Pilot[None]], Awaitable[None]]
Settled = Callable[[Pilot[None]], Awaitable[str]]
Golden = Callable[[Path, str], str]
Missing = Callable[[App[Any]], list[str]]
Until = Callable[[Pilot[None], Callable[[], bool]], Awaitable[None]]


def record(ts: int, name: ObjectName, probe: str, **values: Reported) -> Reading:
    return Reading(name, probe, ts, values, HALF_HOUR, poll=False, source=Source.SMF)


def task(ts: int, kind: str, number: int, share: float, requests: int, **values: Reported) -> Reading:
    """A task that was busy for a share of the interval, two fifths of that with a processor."""
    name = ObjectName("QM01", kind, str(number))
    elapsed = share / 100 * HALF_HOUR * 1000
    average: Callable[[float], Reported] = lambda us: us / requests if requests else Absence.NOTHING_TO_TELL  # noqa: E731
    return record(
        ts,
        name,
        "SMF 115-231",
        requests=requests,
        elapsed_us=round(elapsed),
        busy_pct=share,
        cpu_pct=share * 0.4,
        avg_elapsed_us=average(elapsed),
        avg_cpu_us=average(elapsed * 0.4),
        **values,
    )


def records(ts: int) -> list[Reading]:
    """What the records of QM01 tell of the half hour that ends at ``ts``."""
    adapters = ((62.5, 1_204_311), (41.2, 812_000), (20.4, 300_120), (7, 91_000), (0.04, 40), (0, 0), (0, 0), (0, 0))
    dispatchers = ((12.25, 402_100, 2), (93.1, 2_911_000, 31), (3, 77_000, 2), (0.6, 12_000, 1), (0, 0, 0))
    return [
        *(task(ts, "adapter", number, *each) for number, each in enumerate(adapters)),
        *(
            task(ts, "dispatcher", number, share, requests, channels=channels)
            for number, (share, requests, channels) in enumerate(dispatchers)
        ),
        *(task(ts, "ssl_task", number, 5 - number, 1_000, longest_us=12_500 * (number + 1)) for number in range(3)),
        task(ts, "dns_task", 0, 0.2, 6, longest_us=820_000),
        record(ts, OBJECTS["initiator"], "SMF 115-231", adapters_unused=3, dispatcher_busiest_pct=93.1),
        record(
            ts, OBJECTS["pool"], "SMF 115-215", low=200, low_pct=1.0, dwt=12, dmc=3, sos=0, imw=41, rio=1_200, tpw=90_400,
            wio=8_100,
        ),
        record(
            ts, OBJECTS["log"], "SMF 115-1", write_mb_s=3.25, wtb=2, suspends=81_000, io_max_us=41_000, pagein=0,
            checkpoints=3, reads_active=0, reads_archive=0,
        ),
        record(
            ts, OBJECTS["channel"], "SMF 116-10", type=1, nettime_min_us=410, nettime_avg_us=1_200, nettime_max_us=88_000,
            interval_msgs=420_000, msgs_per_batch=12.4, full_batches=210, put_retries=0,
        ),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def recorded(lives: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The quiet group with records of QM01, half an hour's and 14 minutes old; the other three have none."""
    life = lives("quiet").copied(tmp_path_factory.mktemp("records") / "store.db")
    with Store.open(life.store) as store, StoreReader.open(life.store) as reader:
        end = life.now - AGO
        Ingest(store, life.judging, older=reader).take(
            [Snapshot("QM01", False, 1_000, life.now - 1_000, tuple(records(end)))]
        )
    return life


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_screens(
    recorded: Any, shown: Shown, settled: Settled, missing: Missing, golden: Golden, size: tuple[int, int]
) -> None:
    """What records tell, on each screen that shows it, as agreed; nothing is written beyond the screen."""
    app = recorded.app()
    seen: dict[str, str] = {}
    async with app.run_test(size=size) as pilot:
        await shown(pilot)
        for tab in ("chinit", "storage"):
            app.go_to(tab)
            await shown(pilot)
            seen[tab] = await settled(pilot)
            assert not missing(app), tab
        for name, each in OBJECTS.items():
            app.go_to("overview")
            app.open_object(each)
            await shown(pilot)
            seen[f"detail-{name}"] = await settled(pilot)
            assert not missing(app), name
    for name, text in seen.items():
        assert max(map(cells, text.split("\n"))) <= size[0], name
    if size != SIZES[-1]:
        return
    differing = [golden(GOLDENS / f"smf-{name}.txt", f"{text}\n") for name, text in seen.items()]
    assert not any(differing), "\n".join(filter(None, differing))


async def test_the_tasks_follow_the_cursor(
    recorded: Any, shown: Shown, settled: Settled, until: Until, screen_text: Callable[[App[Any]], str]
) -> None:
    """Below the table stand the tasks of the channel initiator under the cursor; Tab leads to them, Enter opens one."""
    app = recorded.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot)
        app.go_to("chinit")
        await shown(pilot)
        first = await settled(pilot)
        table, lines = app.screen.query_one("#table", VirtualTable), app.screen.query_one("#lines", LinesView)
        assert table.region.bottom <= lines.region.y
        assert table.cursor_key == "QM01/channel_initiator"
        assert "QM01 adapters: 8 of 8 started, unused 3 (SMF 11:47, 14m05s ago)" in first
        await pilot.press("down")
        await until(pilot, lambda: "QM02 adapters: 8 of 8 started" in screen_text(app))
        assert "needs SMF: START TRACE(STAT) CLASS(4), smf import; see mqvitals help smf" in screen_text(app)
        await pilot.press("up")
        await until(pilot, lambda: "QM01 adapters" in screen_text(app))
        await pilot.press("tab", "end", "enter")
        await until(pilot, lambda: "› QM01 DNS task 0" in screen_text(app))
