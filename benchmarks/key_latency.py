"""From a key to the repaint that shows what it did, while 10,000 queues and 2,000 channels arrive every ten seconds.

The program is the real one, ``mqvitals top`` at 120x40 in a pseudo-terminal, and beside it ``mqvitals agent`` polls a
simulated group of that size and writes the store that the screen reads. A time runs from writing the key into the
terminal to the end of the first update (synchronised output, as terminals paint it) after which the screen shows the
key's effect: the cursor on another name, the typed letter in the filter, the mark at another place, its first rows.
Keys come at uneven distances, so they meet the screen's own second, the agent's cycles and the reading of the store.

The peer gets the same keys in the same terminal beside the same agent: a minimal Textual application, a DataTable of as
many rows and columns, whose cells change at the same interval. It reads and sorts nothing.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from terminal import Screen, Terminal

QUEUES, CHANNELS, INTERVAL_S = 10_000, 2_000, 10
COLUMNS = ("Queue", "Depth", "Max", "Oldest", "Inputs", "Outputs", "Time", "Last get", "Usage")
WIDTH, HEIGHT = 120, 40
PROGRAM = (sys.executable, "-P", "-m", "mqvitals_tui.main")
START_S = 120.0
SHORTEST_S, LONGEST_S = 0.08, 0.32
"""The time from one key to the next."""
ENOUGH = 100
RUN = 25
"""So many moves one way, then as many back."""
DOWN, UP, PAGE_DOWN, PAGE_UP = "\x1b[B", "\x1b[A", "\x1b[6~", "\x1b[5~"
PLACES = "3244321"
WORD = "03395"
"""Typed into the filter; every prefix of it chooses among the names."""
FIRST, BOTTOM = 3, HEIGHT - 1
"""The lines in which the tables have rows: from, to before."""


def peer() -> None:
    """The peer's program."""
    from textual.app import App, ComposeResult
    from textual.coordinate import Coordinate
    from textual.widgets import DataTable, Static

    def figure(row: int, column: int, now: int) -> str:
        return f"QM01/APPL.REQUEST.{row:05d}" if not column else str((row * 7 + column * 13 + now) % 100_000)

    class Peer(App[None]):
        """A table."""

        CSS = "Static { height: 2; } #below { height: 1; } DataTable { height: 1fr; }"

        def compose(self) -> ComposeResult:
            # As much around the table as ours has, so that rows stand in the same lines.
            yield Static("\n")
            yield DataTable(cursor_type="row")
            yield Static(id="below")

        def on_mount(self) -> None:
            table = self.query_one(DataTable)
            for title in COLUMNS:
                table.add_column(title, width=24 if title == "Queue" else 9)
            for row in range(QUEUES):
                table.add_row(*[figure(row, column, 0) for column in range(len(COLUMNS))])
            self.moment = 0
            self.set_interval(INTERVAL_S, self.change)

        def change(self) -> None:
            self.moment += 1
            table = self.query_one(DataTable)
            with self.batch_update():
                for row in range(QUEUES):
                    for column in range(1, len(COLUMNS)):
                        table.update_cell_at(Coordinate(row, column), figure(row, column, self.moment))

    Peer().run()


@contextmanager
def agent(store: Path, log: Path) -> Iterator[None]:
    """The agent, and a store with its first cycles in it."""
    command = (
        *(*PROGRAM, "agent", "--scenario", "busy-morning", "--store", str(store), "--interval", f"{INTERVAL_S}s"),
        *("--queues", str(QUEUES), "--channels", str(CHANNELS)),
    )
    with log.open("wb") as stream:
        living = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
    try:
        from mqvitals_agent.store.error import StoreError
        from mqvitals_agent.store.reader import StoreReader

        end = time.monotonic() + START_S
        while True:
            try:
                with StoreReader.open(store) as reader:
                    if sum(owner.last_cycle for owner in reader.owners()) > 5 and len(reader.objects()) > QUEUES:
                        break
            except (StoreError, FileNotFoundError):
                pass
            if living.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the agent has no store: {log.read_text()}")
            time.sleep(0.5)
        yield
    finally:
        living.terminate()
        living.wait()


def under_cursor(screen: Screen) -> str:
    """The name that the cursor stands on, and who holds it."""
    return screen.marked(FIRST, BOTTOM)[:50]


def pause(terminal: Terminal, chance: random.Random) -> None:
    terminal.watch(chance.uniform(SHORTEST_S, LONGEST_S))


def moves(terminal: Terminal, count: int, down: str, up: str, chance: random.Random) -> list[float]:
    """The times of so many moves of the cursor."""
    times = []
    for number in range(count):
        pause(terminal, chance)
        before = under_cursor(terminal.screen)
        times.append(
            terminal.press(
                down if number // RUN % 2 == 0 else up,
                lambda screen: bool(found := under_cursor(screen)) and found != before,  # noqa: B023 - used at once
            )
        )
    return times


def places(terminal: Terminal, count: int, chance: random.Random) -> tuple[list[float], list[float]]:
    """The times of so many changes of the place: until its mark is there, until what was read for it is."""
    marks, fills = [], []
    here = "3"
    for number in range(count):
        pause(terminal, chance)
        key = PLACES[number % len(PLACES)]
        if key == here:
            continue
        here = key
        begin = time.perf_counter()
        marks.append(terminal.press(key, lambda screen: f"›{key} " in screen.text()))  # noqa: B023
        if not filled(terminal.screen):
            terminal.watch(30, filled)
        fills.append((terminal.painted - begin) * 1000)
    return marks, fills


def filled(screen: Screen) -> bool:
    """Whether the place shows what was read for it."""
    return "reading the store" not in screen.text() and bool(screen.line(FIRST).strip())


def letters(terminal: Terminal, count: int, chance: random.Random) -> list[float]:
    """The times of so many letters typed into the filter of the queues, until the letter and the new choice are shown."""
    times: list[float] = []
    while len(times) < count:
        terminal.press("/", lambda screen: "words of the name" in screen.text())
        for end in range(1, len(WORD) + 1):
            pause(terminal, chance)
            typed = WORD[:end]
            times.append(
                terminal.press(
                    typed[-1],
                    lambda screen: typed in screen.line(HEIGHT - 2) and typed in screen.line(FIRST),  # noqa: B023
                )
            )
        pause(terminal, chance)
        terminal.press("\x1b", lambda screen: "/ filter" in screen.line(HEIGHT - 1))
    return times


def at(times: list[float], share: float) -> float:
    """The time that ``share`` of all do not exceed."""
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


def line(what: str, times: list[float], theirs: list[float] | None = None) -> str:
    """One line of the result. Fewer than a hundred keys do not show the slowest of a hundred."""
    known = len(times) >= ENOUGH
    p99 = f"{at(times, 0.99):6.1f}" if known else "     -"
    text = f"  {what:40} {len(times):4} keys  p50 {at(times, 0.5):6.1f}  p99 {p99}  max {max(times):6.1f} ms"
    if theirs and known and len(theirs) >= ENOUGH:
        text += f"  p99 {at(theirs, 0.99) / at(times, 0.99):.1f} times faster than the peer"
    return text


def measure(command: tuple[str, ...], keys: int, seen: Callable[[Terminal], None]) -> dict[str, list[float]]:
    """All times of one program."""
    chance = random.Random(7)
    found: dict[str, list[float]] = {}
    with Terminal(command, width=WIDTH, height=HEIGHT) as terminal:
        seen(terminal)
        # Away from the top: what is ill there moves when it recovers, and takes the cursor along.
        moves(terminal, 10, PAGE_DOWN, PAGE_DOWN, chance)
        found["the cursor a line on or back"] = moves(terminal, keys, DOWN, UP, chance)
        found["a page on or back"] = moves(terminal, keys // 4, PAGE_DOWN, PAGE_UP, chance)
        if "top" in command:
            found["a letter in the filter"] = letters(terminal, keys // 5, chance)
            marks, fills = places(terminal, keys // 5, chance)
            found["another place: its mark"] = marks
            found["another place: what was read for it"] = fills
    return found


def open_queues(terminal: Terminal) -> None:
    """Ours: go to the queues."""
    terminal.watch(30, lambda screen: "1 Overview" in screen.text() and "reading the store" not in screen.text())
    terminal.press("3", lambda screen: "›3 " in screen.text() and filled(screen) and bool(under_cursor(screen)))


def open_peer(terminal: Terminal) -> None:
    """The peer: wait for its table."""
    if not terminal.watch(60, lambda screen: bool(under_cursor(screen))):
        raise TimeoutError(terminal.screen.text())


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="key to repaint while a large group arrives")
    parser.add_argument("--keys", type=int, default=600, help="moves of the cursor; of the others a part of that")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        peer()
        return 0
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "bench.db"
        with agent(store, Path(name) / "agent.log"):
            ours = measure((*PROGRAM, "top", "--store", str(store)), arguments.keys, open_queues)
            theirs = measure((sys.executable, __file__, "--peer"), arguments.keys, open_peer)
    print(
        f"key to the end of the update that shows it, {WIDTH}x{HEIGHT}, an agent beside it storing {QUEUES:,} queues and"
        f" {CHANNELS:,} channels every {INTERVAL_S} s"
    )
    for what, times in ours.items():
        print(line(what, times, theirs.get(what)))
    print(
        f"peer: a Textual DataTable of {QUEUES:,} rows, {len(COLUMNS) - 1} of {len(COLUMNS)} cells a row changed every {INTERVAL_S} s"
    )
    for what, times in theirs.items():
        print(line(what, times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
