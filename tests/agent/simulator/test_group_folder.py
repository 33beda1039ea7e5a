"""One simulated group for several agents: the same beginning, and a reply queue that one at a time has open."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.connection.connection import ConnectError
from mqvitals_agent.errors import Failure
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.group_folder import GroupBeginning, GroupFolder
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import load_scenario

BEGAN = 1_795_176_000_000


async def test_a_reply_queue_is_open_once(tmp_path: Path) -> None:
    """The second agent gets 2042 until the first closes its connection."""
    clock = VirtualClock(BEGAN)
    one, other = (
        connectors(SimulatedGroup(load_scenario("quiet"), BEGAN), clock, folder=GroupFolder(tmp_path))[0]
        for _ in range(2)
    )
    held = await one.connect()
    with pytest.raises(ConnectError) as raised:
        await other.connect()
    assert raised.value.failure == (2, 2042)
    assert raised.value.queue == "MQVITALS.REPLY"
    await held.close()
    await held.close()
    await (await other.connect()).close()


def test_it_ends_with_its_process(tmp_path: Path) -> None:
    """As a handle of MQ does, also when the process is killed."""
    code = (
        "import pathlib, sys, time\n"
        "from mqvitals_agent.simulator.group_folder import GroupFolder\n"
        "lock = GroupFolder(pathlib.Path(sys.argv[1])).open_reply_queue('QM01')\n"
        "print(lock is not None, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        folder = GroupFolder(tmp_path)
        assert folder.open_reply_queue("QM01") is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        lock = folder.open_reply_queue("QM01")
        assert lock is not None
        lock.close()


def test_the_first_agent_says_when_the_group_began(tmp_path: Path) -> None:
    """Every later one goes by that."""
    folder = GroupFolder(tmp_path / "group")
    first = GroupBeginning(BEGAN, BEGAN + 5)
    assert folder.beginning(first) == first
    assert GroupFolder(tmp_path / "group").beginning(GroupBeginning(1, 2)) == first


@pytest.mark.parametrize("text", ["{", "[1]", '["a", "b"]'])
def test_a_folder_that_holds_something_else(tmp_path: Path, text: str) -> None:
    """A failure that names the file."""
    (tmp_path / "began.json").write_text(text)
    with pytest.raises(Failure, match=r"began\.json"):
        GroupFolder(tmp_path).beginning(GroupBeginning(1, 2))
    file = tmp_path / "file"
    file.write_text(json.dumps(1))
    with pytest.raises(Failure, match="cannot use the folder"):
        GroupFolder(file)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0.01, 1000))
def test_the_time_of_the_group(ahead: int, passed: int, speed: float) -> None:
    """It goes by its speed from its beginning, and never beyond the machine's."""
    beginning = GroupBeginning(BEGAN - ahead, BEGAN)
    now = beginning.now(BEGAN + passed, speed)
    assert BEGAN - ahead <= now <= BEGAN + passed
    assert beginning.now(BEGAN, speed) == BEGAN - ahead
