"""A full screen of a table of 10,000 rows and 12 columns: our VirtualTable against Textual's DataTable, headless at 160x50.

Each figure is the wall time from the change until the screen is painted; one runs after the other in one process. As in the
program, the garbage collector leaves alone what is there after each one's first frame.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from textual.app import App, ComposeResult
from textual.coordinate import Coordinate
from textual.pilot import Pilot
from textual.widgets import DataTable

from mqvitals_agent.gc_tuning import freeze_long_lived
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.view.figures.table import Cell, Column, Item
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.themes import DARK
from mqvitals_tui.widgets.virtual_table import VirtualTable

ROWS, COLUMNS = 10_000, 12
SIZE = (160, 50)
OURS_RUNS, PEER_RUNS = 30, 5
TONES = (Tone.PLAIN, Tone.WARNING, Tone.FAINT, Tone.CRITICAL)


class Spent(NamedTuple):
    """Milliseconds of several runs."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)

    def __str__(self) -> str:
        return f"{self.median:.1f} ms median, {max(self.runs):.1f} worst"


def figure(position: int, number: int, now: int) -> str:
    """The text of a cell: different at every moment."""
    return str((position * 7 + number * 13 + now) % 100_000)


def column(number: int) -> Column:
    """A column that computes its cell from the item and the moment."""

    def cell(item: Item, now: int) -> Cell:
        position = int(item.name.name)
        return Cell(figure(position, number, now), TONES[(position + number) % 4])

    def order(item: Item) -> float | str | None:
        return (int(item.name.name) * 7919) % 10_007

    return Column(f"c{number}", f"Metric {number}", 12, cell, order, right=True)


class Ours(App[None]):
    """Our table."""

    def compose(self) -> ComposeResult:
        yield VirtualTable()


class Peer(App[None]):
    """The toolkit's table."""

    def compose(self) -> ComposeResult:
        yield DataTable()


async def spent(pilot: Pilot[Any], runs: int, change: Callable[[int], Awaitable[None]]) -> Spent:
    """The times of ``change``, each up to the painted screen."""
    times = []
    for run in range(runs):
        await pilot.pause()
        begin = time.perf_counter()
        await change(run)
        painted = asyncio.get_running_loop().create_future()
        pilot.app.screen.call_after_refresh(painted.set_result, None)
        await painted
        times.append((time.perf_counter() - begin) * 1000)
    return Spent(tuple(times))


async def ours() -> dict[str, Spent]:
    """What our table takes."""
    app = Ours()
    columns = [column(number) for number in range(COLUMNS)]
    items = tuple(Item(ObjectName("QM01", "queue", str(row)), Health.OK, {}) for row in range(ROWS))
    async with app.run_test(size=SIZE) as pilot:
        app.register_theme(DARK)
        app.theme = DARK.name
        table = app.query_one(VirtualTable)
        table.show(columns, items, 0)
        await pilot.pause()
        freeze_long_lived()

        async def all_cells(run: int) -> None:
            # As at every poll: a sequence of new items, every cell with another text.
            table.show(columns, tuple(Item(item.name, item.health, item.values) for item in items), run + 1)

        async def sort(run: int) -> None:
            reverse = bool(run % 2)
            ordered = tuple(sorted(items, key=columns[3].order, reverse=reverse))  # type: ignore[arg-type]
            table.show(columns, ordered, 1_000, ("c3", reverse))

        async def page_down(_: int) -> None:
            table.action_page_down()

        return {
            "all cells changed": await spent(pilot, OURS_RUNS, all_cells),
            "page down": await spent(pilot, OURS_RUNS, page_down),
            "sort": await spent(pilot, OURS_RUNS, sort),
        }


async def peer() -> dict[str, Spent]:
    """What the toolkit's table takes; only its best way of updating."""
    app = Peer()
    async with app.run_test(size=SIZE) as pilot:
        table = app.query_one(DataTable)
        keys = [table.add_column(f"Metric {number}", width=12) for number in range(COLUMNS)]
        for row in range(ROWS):
            table.add_row(*[figure(row, number, 0) for number in range(COLUMNS)])
        await pilot.pause()
        freeze_long_lived()

        async def all_cells(run: int) -> None:
            with app.batch_update():
                for row in range(ROWS):
                    for number in range(COLUMNS):
                        table.update_cell_at(Coordinate(row, number), figure(row, number, run + 1))

        async def sort(run: int) -> None:
            table.sort(keys[3], key=lambda text: (int(text) * 7919) % 10_007, reverse=bool(run % 2))

        async def page_down(_: int) -> None:
            table.action_page_down()

        return {
            "all cells changed": await spent(pilot, PEER_RUNS, all_cells),
            "page down": await spent(pilot, PEER_RUNS, page_down),
            "sort": await spent(pilot, PEER_RUNS, sort),
        }


def main() -> None:
    """Measure and print."""
    own, other = asyncio.run(ours()), asyncio.run(peer())
    print(f"{ROWS:,} rows x {COLUMNS} columns at {SIZE[0]}x{SIZE[1]}, headless; change to painted screen;")
    print("for both, the collector of garbage leaves alone what was there after the first frame, as in the program")
    for name, mine in own.items():
        theirs = other[name]
        print(
            f"{name}: VirtualTable {mine}; DataTable {theirs}; {theirs.median / mine.median:.0f} times faster than the peer"
        )


if __name__ == "__main__":
    main()
