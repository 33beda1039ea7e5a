"""What agent and full-screen interface take while no key is pressed: CPU and memory, over ten minutes.

The group of the demonstration, once at its cycle of 2 seconds and once at the default of 30, each with its agent and a
``mqvitals top`` at 120x40 on the agent's store; all of them at the same time. CPU is that of the processes, from
``/proc``, after a minute's begin that does not count (a tenth of the time when that is less). The agent's contains the simulated queue managers.

Peers of the same run: for the interface a Textual application that shows the time each second; for the agent an asyncio
loop that puts one row into SQLite at every cycle.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from figures import Taken, taken
from terminal import Terminal

PROGRAM = (sys.executable, "-P", "-m", "mqvitals_tui.main")
INTERVALS_S = (2, 30)
START_S = 60.0

CLOCK = """
import datetime
from textual.app import App
from textual.widgets import Static
class Clock(App):
    def compose(self):
        yield Static(id="clock")
    def on_mount(self):
        self.set_interval(1, lambda: self.query_one(Static).update(f"{datetime.datetime.now():%H:%M:%S}"))
Clock().run()
"""
LOOP = """
import asyncio, sqlite3, sys, time
async def main(path, interval_s):
    store = sqlite3.connect(path)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("CREATE TABLE sample (ts INTEGER PRIMARY KEY, value REAL)")
    while True:
        with store:
            store.execute("INSERT INTO sample VALUES (?, ?)", (time.time_ns(), time.process_time()))
        await asyncio.sleep(interval_s)
asyncio.run(main(sys.argv[1], float(sys.argv[2])))
"""


class Watched(NamedTuple):
    """A process under measurement, and the name of its peer (empty: it is one)."""

    name: str
    pid: int
    peer: str = ""


def begin(stack: ExitStack, folder: Path) -> list[Watched]:
    """Start everything; it ends with the stack."""
    found = []
    terminals: list[Terminal] = []
    for interval in INTERVALS_S:
        store = folder / f"every-{interval}.db"
        command = (*PROGRAM, "agent", "--scenario", "busy-morning", "--interval", f"{interval}s", "--store", str(store))
        agent = stack.enter_context(Running(command, folder / f"agent-{interval}.log"))
        found.append(Watched(f"agent, every {interval} s", agent.pid, f"loop, every {interval} s"))
        end = time.monotonic() + START_S
        while not store.exists():
            if agent.poll() is not None or time.monotonic() > end:
                raise RuntimeError((folder / f"agent-{interval}.log").read_text())
            time.sleep(0.1)
        terminals.append(stack.enter_context(Terminal((*PROGRAM, "top", "--store", str(store)))))
        found.append(Watched(f"top, every {interval} s", terminals[-1].pid, "clock"))
    for interval in INTERVALS_S:
        plain = (sys.executable, "-c", LOOP, str(folder / f"loop-{interval}.db"), str(interval))
        loop = stack.enter_context(Running(plain, folder / f"loop-{interval}.log"))
        found.append(Watched(f"loop, every {interval} s", loop.pid))
    terminals.append(stack.enter_context(Terminal((sys.executable, "-c", CLOCK))))
    found.append(Watched("clock", terminals[-1].pid))
    stop = threading.Event()
    readers = [threading.Thread(target=_drain, args=(terminal, stop)) for terminal in terminals]
    for reader in readers:
        reader.start()
        stack.callback(reader.join)
    stack.callback(stop.set)
    return found


class Running:
    """A process without a terminal that ends with the block."""

    def __init__(self, command: tuple[str, ...], log: Path) -> None:
        with log.open("wb") as stream:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()


def _drain(terminal: Terminal, stop: threading.Event) -> None:
    """A terminal shows what comes: a program whose output is not read would stop."""
    while not stop.is_set():
        terminal.watch(0.5)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="CPU and memory of agent and interface while no key is pressed")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to watch (default: %(default)g)")
    minutes = parser.parse_args().minutes
    first = min(60.0, 6 * minutes)
    print(f"CPU and memory over {minutes:g} minutes, after {first:.0f} s of begin; please wait", flush=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        watched = begin(stack, Path(name))
        time.sleep(first)
        began, before = time.monotonic(), {each.name: taken(each.pid) for each in watched}
        time.sleep(minutes * 60)
        after = {each.name: taken(each.pid) for each in watched}
        passed = time.monotonic() - began
    for each in watched:
        print(line(each, before, after, passed))
    print("clock: a Textual application that shows the time; loop: asyncio, one row into SQLite a cycle")
    print("CPU in hundredths of one core; the agent's contains the simulated queue managers")
    return 0


def line(each: Watched, before: dict[str, Taken], after: dict[str, Taken], passed: float) -> str:
    """One line of the result."""
    old, new = before[each.name], after[each.name]
    share = 100 * (new.cpu_s - old.cpu_s) / passed
    pss = "" if new.pss_mb is None else f", PSS {new.pss_mb:.1f}"
    text = f"  {each.name:20} CPU {share:6.2f} %  RSS {old.rss_mb:6.1f} -> {new.rss_mb:6.1f} MB{pss}"
    if each.peer:
        peer_cpu = 100 * (after[each.peer].cpu_s - before[each.peer].cpu_s) / passed
        times = (
            f"{share / peer_cpu:.1f} times the CPU" if peer_cpu else "more CPU (the peer's is below the clock's tick)"
        )
        text += f"  {times}, {new.rss_mb / after[each.peer].rss_mb:.1f} times the memory of {each.peer!r}"
    return text


if __name__ == "__main__":
    sys.exit(main())
