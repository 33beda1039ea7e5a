"""The screen over a store of a day of 10,000 queues and 2,000 channels, polled every ten seconds: what it takes.

    python benchmarks/screen.py --store day.db

The store is made by ``day_store.py`` where it does not exist, which takes some minutes and 15 GB for a day; ``--hours`` makes a
shorter one. An agent goes on writing it while the screen is measured. All times but those of keys are CPU times of the
program, as others' work on the machine changes them little.

- *start*: from the start of ``mqvitals top`` until the overview shows its figures.
- *pages*: reading what the page of an object shows, of objects of every kind; the worst of each kind.
- *keys*: from a key to the end of the update that shows what it did, on the list of queues and on an object's page.
- *idle*: CPU, memory and bytes to the terminal while no key is pressed.

Peer of start, keys and idle: a Textual application that shows a DataTable of as many rows, which reads nothing, and whose cells
change as often (``key_latency.py``).
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
from functools import partial
from pathlib import Path
from typing import NamedTuple

from day_store import PROGRAM, agent_command, environment, make
from figures import taken
from key_latency import BOTTOM, DOWN, FIRST, HEIGHT, UP, WIDTH, at, filled, moves, pause, under_cursor
from moments import large_group_replies, measured
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.frame import DETAIL, LIST, OVERVIEW, FrameRequest, read_frame
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import readable_rule_config
from mqvitals_rules.snapshot import ObjectName
from terminal import Screen, Terminal

START_CPU_S, PAGE_CPU_MS, KEY_MS, IDLE_SHARE, OPEN_SHARE, IDLE_BYTES, MOST_MB = (
    0.8,
    250.0,
    50.0,
    0.01,
    0.02,
    1000.0,
    150.0,
)
"""The aims."""
PEER = (sys.executable, str(Path(__file__).with_name("key_latency.py")), "--peer")
ENTER, END, HOME = "\r", "\x1b[F", "\x1b[H"
WAIT_S = 120.0
SETTLED_S = 12.0
"""A cycle and what follows from it."""
OF_KIND = 3
"""Objects of a kind whose pages are read: the first, one in the middle, the last."""


class Idle(NamedTuple):
    """What a program takes while no key is pressed: share of a core, bytes a second to the terminal, MB resident."""

    share: float
    bytes_s: float
    rss_mb: float


@contextmanager
def writing(store: Path, log: Path) -> Iterator[None]:
    """An agent that goes on writing the store, once it has begun to."""
    with StoreReader.open(store) as reader:
        before = reader.last_ts()
    with log.open("wb") as stream:
        agent = subprocess.Popen(agent_command(store), env=environment(), stdin=subprocess.DEVNULL, stderr=stream)
    try:
        end = time.monotonic() + WAIT_S
        while True:
            with StoreReader.open(store) as reader:
                if reader.last_ts() != before:
                    break
            if agent.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the agent writes nothing: {log.read_text('utf-8', 'replace')[-2000:]}")
            time.sleep(0.5)
        yield
    finally:
        agent.terminate()
        agent.wait()


def pages(store: Path) -> dict[str, tuple[float, float]]:
    """By kind what reading the page of an object costs, and the lists and the overview, the worst of some: CPU ms, and how many
    times a plain walk of pipeline.py beside it that is.
    """
    rules = readable_rule_config(Settings())
    replies = large_group_replies()
    found: dict[str, tuple[float, float]] = {}
    with StoreReader.open(store) as reader:
        names: dict[str, list[ObjectName]] = {}
        for each in reader.objects():
            names.setdefault(each.name.kind, []).append(each.name)
        requests = [("overview", FrameRequest(OVERVIEW))]
        requests += [(f"list of {kind}", FrameRequest(LIST, kind=kind)) for kind in ("queue", "channel")]
        for kind, every in names.items():
            chosen = dict.fromkeys(every[place * (len(every) - 1) // (OF_KIND - 1)] for place in range(OF_KIND))
            requests += [(kind, FrameRequest(DETAIL, name=name)) for name in chosen]
        for what, request in requests:
            (spent,), (walks,) = measured(
                partial(read_frame, reader, reader.last_ts() or 0, request, rules), 1, replies
            )
            found[what] = max((spent, walks), found.get(what, (0.0, 0.0)))
    return found


def started(command: tuple[str, ...], seen: Callable[[Screen], bool]) -> float:
    """The CPU until something is shown, s."""
    with Terminal(command, width=WIDTH, height=HEIGHT) as terminal:
        if not terminal.watch(WAIT_S, seen):
            raise TimeoutError(terminal.screen.text())
        return taken(terminal.pid).cpu_s


def idle(terminal: Terminal, seconds: float) -> Idle:
    """What the program takes from now on."""
    terminal.watch_for(SETTLED_S)
    before, written, began = taken(terminal.pid), terminal.bytes, time.monotonic()
    terminal.watch_for(seconds)
    passed, after = time.monotonic() - began, taken(terminal.pid)
    return Idle((after.cpu_s - before.cpu_s) / passed, (terminal.bytes - written) / passed, after.rss_mb)


def has_figures(screen: Screen) -> bool:
    """Whether the overview shows what was read."""
    return "1 Overview" in screen.text() and "reading the store" not in screen.text() and "QM01" in screen.text()


def has_table(screen: Screen) -> bool:
    """Whether the peer shows its rows."""
    return bool(under_cursor(screen))


def ends(terminal: Terminal, count: int, chance: random.Random) -> list[float]:
    """The times from going to the end of a long page, or back, until all of it is painted."""
    times = []
    for number in range(count):
        pause(terminal, chance)
        before = [terminal.screen.line(y) for y in range(FIRST, BOTTOM)]
        times.append(
            terminal.press(
                HOME if number % 2 else END,
                lambda screen: [screen.line(y) for y in range(FIRST, BOTTOM)] != before,  # noqa: B023 - used at once
            )
        )
    return times


def ours(store: Path, keys: int, seconds: float) -> tuple[dict[str, list[float]], dict[str, Idle]]:
    """Keys and idle of the screen, by place."""
    chance = random.Random(7)
    times: dict[str, list[float]] = {}
    shares: dict[str, Idle] = {}
    with Terminal((*PROGRAM, "top", "--no-agent", "--store", str(store)), width=WIDTH, height=HEIGHT) as terminal:
        if not terminal.watch(WAIT_S, has_figures):
            raise TimeoutError(terminal.screen.text())
        shares["overview"] = idle(terminal, seconds)
        terminal.press("3", lambda screen: "›3 " in screen.text() and filled(screen) and bool(under_cursor(screen)))
        terminal.watch_for(SETTLED_S)
        times["list of queues"] = moves(terminal, keys, DOWN, UP, chance)
        shares["list of queues"] = idle(terminal, seconds)
        terminal.press(ENTER, lambda screen: "Queues ›" in screen.text())
        terminal.watch_for(SETTLED_S)
        times["an object"] = ends(terminal, keys, chance)
        shares["an object"] = idle(terminal, seconds)
    return times, shares


def peers(keys: int, seconds: float) -> tuple[list[float], Idle]:
    """Keys and idle of the peer."""
    with Terminal(PEER, width=WIDTH, height=HEIGHT) as terminal:
        if not terminal.watch(WAIT_S, has_table):
            raise TimeoutError(terminal.screen.text())
        times = moves(terminal, keys, DOWN, UP, random.Random(7))
        return times, idle(terminal, seconds)


def said(good: bool) -> str:  # noqa: FBT001
    """Whether an aim is met, for the end of a line."""
    return "" if good else "  MISSED"


def main() -> int:
    """Measure and print; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description="the screen over a store of a day of a large group")
    parser.add_argument("--store", type=Path, help="where the store is, or is made; the default is a temporary folder")
    parser.add_argument("--hours", type=float, default=24.0, help="what a new store holds (default: %(default)g)")
    parser.add_argument("--keys", type=int, default=100, help="keys in each place (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="how long each place is idle (default: %(default)g)"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mqvitals-screen-") as name:
        folder = Path(name)
        store = arguments.store or folder / "day.db"
        if not store.exists():
            print(f"making {store}, which takes some minutes", flush=True)
            make(store, arguments.hours)
        read = pages(store)
        with writing(store, folder / "agent.log"):
            top = (*PROGRAM, "top", "--no-agent", "--store", str(store))
            start, start_peer = started(top, has_figures), started(PEER, has_table)
            times, shares = ours(store, arguments.keys, arguments.seconds)
            times_peer, idle_peer = peers(arguments.keys, arguments.seconds)
    good = [start <= START_CPU_S]
    print(f"start to figures: {start:.2f} s CPU (aim {START_CPU_S:g}; peer {start_peer:.2f}){said(good[-1])}")
    print(f"reading a page, ms CPU (aim {PAGE_CPU_MS:g} for an object), and in plain walks:")
    for what, (ms, walks) in sorted(read.items(), key=lambda item: -item[1][0]):
        good.append(ms <= PAGE_CPU_MS or " " in what)
        print(f"  {what:24}{ms:8.1f}{walks:7.2f}{said(good[-1])}")
    print(f"key to repaint, ms (aim {KEY_MS:g} at the 99th percentile; peer {at(times_peer, 0.99):.0f}):")
    for what, found in times.items():
        good.append(at(found, 0.99) <= KEY_MS)
        print(f"  {what:24}{len(found):4} keys  p50 {at(found, 0.5):6.1f}  p99 {at(found, 0.99):6.1f}{said(good[-1])}")
    print("no key pressed:")
    for what, each in (*shares.items(), ("peer", idle_peer)):
        limit = IDLE_SHARE if what == "overview" else OPEN_SHARE
        judged = what not in ("peer", "list of queues")
        fine = each.share <= limit and each.rss_mb <= MOST_MB and (what != "overview" or each.bytes_s <= IDLE_BYTES)
        good.append(fine or not judged)
        print(
            f"  {what:24}CPU {100 * each.share:5.2f} %  {each.bytes_s:7.0f} B/s  RSS {each.rss_mb:6.1f} MB{said(good[-1])}"
        )
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
