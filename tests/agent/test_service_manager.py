"""The notification protocol of systemd, over real datagram sockets."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mqvitals_agent.clock import SystemClock
from mqvitals_agent.service.process import ServiceManager

UNITS = Path(__file__).parents[2] / "config"


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """A service manager's address, and the socket on which it listens."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@mqvitals-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0{name[1:]}" if name.startswith("@") else name)
        listening.setblocking(False)
        yield name, listening


def heard(listening: socket.socket) -> list[list[str]]:
    """What has come, each message as its lines."""
    messages = []
    while True:
        try:
            messages.append(listening.recv(65_536).decode().split("\n"))
        except BlockingIOError:
            return messages


class Steady:
    """A time that tests set, seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Sleeps(SystemClock):
    """A clock whose sleepers wake when the test says so."""

    def __init__(self, steady: Steady) -> None:
        self.steady = steady
        self.slept: list[float] = []
        self._next = asyncio.Event()

    def now(self) -> int:
        return int(self.steady() * 1000)

    async def sleep(self, ms: float) -> None:
        self.slept.append(ms)
        self._next.clear()
        await self._next.wait()

    async def pass_by(self, ms: float) -> None:
        """Let time go by, and those who wake do what they can."""
        self.steady.now += ms / 1000
        self._next.set()
        for _ in range(20):
            await asyncio.sleep(0)


def test_a_life(manager: tuple[str, socket.socket]) -> None:
    """Ready with the first cycle and not before, a sentence with each, the end announced once."""
    address, listening = manager
    us = ServiceManager.of({"NOTIFY_SOCKET": address})
    us.starting(90_000)
    us.reloading()
    assert heard(listening) == [["STATUS=the first cycle is under way", "EXTEND_TIMEOUT_USEC=90000000"]]
    us.cycle("all is\nwell\x1b[2J")
    us.cycle("all is well")
    assert heard(listening) == [["READY=1", "STATUS=all is well␛[2J"], ["STATUS=all is well"]]
    us.reloading()
    us.reloaded()
    (reloading, usec), ready = heard(listening)
    assert (reloading, ready) == ("RELOADING=1", ["READY=1"])
    assert re.fullmatch(r"MONOTONIC_USEC=[0-9]+", usec)
    us.stopping("stopped by SIGTERM")
    us.stopping("again")
    us.cycle("the last one")
    us.reloading()
    assert heard(listening) == [["STOPPING=1", "STATUS=stopped by SIGTERM"]]


async def test_signs_of_life(manager: tuple[str, socket.socket]) -> None:
    """Two in a watchdog interval while cycles are stored; none when they cease; again when they go on."""
    address, listening = manager
    steady = Steady()
    us = ServiceManager(address, 10_000_000, steady=steady)
    clock = Sleeps(steady)

    async def answers() -> None:
        return

    task = asyncio.create_task(us.watch(answers, lambda: 30_000, clock))
    try:
        await clock.pass_by(0)
        for _ in range(8):
            await clock.pass_by(5_000)
        assert heard(listening) == [["WATCHDOG=1"]] * 9
        await clock.pass_by(5_000)
        assert heard(listening) == []
        us.cycle("a cycle")
        await clock.pass_by(5_000)
        assert ["WATCHDOG=1"] in heard(listening)
        assert set(clock.slept) == {5_000}
    finally:
        task.cancel()


async def test_a_worker_that_hangs_gives_no_sign(manager: tuple[str, socket.socket]) -> None:
    """Even while its last cycle is not long ago."""
    address, listening = manager
    steady = Steady()
    us = ServiceManager(address, 10_000_000, steady=steady)
    clock = Sleeps(steady)
    hangs = asyncio.Event()
    hung = [False]

    async def answers() -> None:
        if hung[0]:
            await hangs.wait()

    task = asyncio.create_task(us.watch(answers, lambda: 3_600_000, clock))
    try:
        await clock.pass_by(0)
        assert heard(listening)
        hung[0] = True
        for _ in range(10):
            await clock.pass_by(5_000)
        assert heard(listening) == []
    finally:
        task.cancel()


async def test_nobody_listens() -> None:
    """No address, one that leads nowhere, one that cannot be used, a watchdog of another process: nothing is sent, nothing fails."""
    for environ in (
        {},
        {"WATCHDOG_USEC": "1000"},
        {"NOTIFY_SOCKET": "/nowhere/at/all"},
        {"NOTIFY_SOCKET": "vsock:2:1234"},
        {"NOTIFY_SOCKET": "@"},
        {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "many"},
        {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"},
    ):
        us = ServiceManager.of(environ, pid=2)
        assert us.watchdog_ms == 0
        us.cycle("well")
        us.stopping("the end")
    ours = ServiceManager.of({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "2"}, pid=2)
    assert ours.watchdog_ms == 1000


@pytest.mark.parametrize("unit", sorted(UNITS.glob("*.service")), ids=lambda path: path.name)
def test_units_are_valid(unit: Path, tmp_path: Path) -> None:
    """As systemd itself judges them; the program that they start is put where they look for it."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        # Only systemd can say whether it takes a unit.
        pytest.skip("systemd-analyze is not there: install systemd")
    # The paths of the site, and the user, are not those of this machine.
    text = unit.read_text("utf-8").replace("/opt/mqvitals/bin/mqvitals-agent", "/bin/true")
    text = re.sub(r"^(User|Group)=.*$", r"\1=root", text, flags=re.MULTILINE)
    name = unit.name.replace("@.", "@prdqsg.")
    copied = tmp_path / unit.name
    copied.write_text(text, "utf-8")
    (tmp_path / name).write_text(text, "utf-8")
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / name)], capture_output=True, text=True, timeout=60, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if unit.stem.rstrip("@") in line]
    assert (complaints, done.returncode) == ([], 0), done.stderr


def test_the_template_differs_in_names_alone() -> None:
    """What one unit allows the other does."""

    def settings(unit: str, places: dict[str, str]) -> list[str]:
        lines = (UNITS / unit).read_text("utf-8").splitlines()
        text = "\n".join(line for line in lines if line and not line.startswith("#"))
        for place, plain in places.items():
            text = text.replace(place, plain)
        return text.splitlines()

    places = {"/%i.yaml": "/mqvitals.yaml", "mqvitals/%i": "mqvitals", "agent %i": "agent"}
    assert settings("mqvitals-agent@.service", places) == settings("mqvitals-agent.service", {})
