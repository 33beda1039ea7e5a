"""The agent as a process on living connections that hang or are slow: it ends within a second, the others keep their cadence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mqstandin.library import Bindings
from mqstandin.server import StandIn, stand_in

from mqsamples.pairs import alone, paired
from mqsamples.patience import PATIENCE_S, awaited
from mqsamples.warm import WarmProcess
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader

BUSY = 4
"""The end with a call that hangs may take so many times as long as one in which nothing does, on the same machine at the same time."""
SECOND_S = 1.0
BINDINGS = ("ibmmq", "pymqi")
Start = Callable[[], WarmProcess]


@pytest.fixture
def group() -> Iterator[StandIn]:
    """Stand-in queue managers with no more queues than the site has: how many there are is nothing to these tests."""
    with stand_in("quiet") as running:
        yield running


@pytest.fixture
def start(request: pytest.FixtureRequest, bindings: Bindings, group: StandIn, tmp_path: Path) -> Iterator[Start]:
    """Starts an agent for QM01 and QM02, a cycle each second."""
    binding: str = request.param
    bindings.require(binding)
    settings = {
        "connection": {"channel": "MQVITALS.SVRCONN", "binding": binding},
        "polling": {"interval": "1s", "wait": "2s"},
        "store": {"path": str(tmp_path / "s.db")},
        "queue_managers": [
            {"name": name, "connection": {"connection_names": [group.address(name)]}} for name in ("QM01", "QM02")
        ],
    }
    path = tmp_path / "mqvitals.yaml"
    path.write_text(json.dumps(settings))
    environment = bindings.environment(binding)
    environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
    running: list[WarmProcess] = []

    def begin() -> WarmProcess:
        running.append(WarmProcess(["agent", "--config", str(path)], env=environment, stderr=subprocess.DEVNULL))
        return running[-1]

    yield begin
    for each in running:
        if each.poll() is None:
            each.kill()
        each.wait()


def cycles(folder: Path) -> dict[str, int]:
    """The number of each owner's last cycle; none as long as there is no store."""
    try:
        with StoreReader.open(folder / "s.db") as reader:
            return {owner.name: owner.last_cycle for owner in reader.owners()}
    except StoreError:
        return {}


def seconds_to_end(agent: WarmProcess) -> float:
    """How long the agent takes to end after SIGTERM; it must end well."""
    began = time.monotonic()
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(PATIENCE_S) == 0
    return time.monotonic() - began


def seconds_for_cycles(folder: Path, count: int = 4) -> float:
    """How long so many cycles of QM02 take."""
    began, before = time.monotonic(), cycles(folder)["QM02"]
    awaited(lambda: cycles(folder)["QM02"] >= before + count)
    return time.monotonic() - began


def ends_soon(agent: WarmProcess, start: Start, folder: Path, group: StandIn) -> bool:
    """Whether the agent ends within a second and what a busy machine adds: what that is, the end of one with nothing to wait for tells."""
    took = seconds_to_end(agent)
    if took < SECOND_S:
        return True
    group.at("QM01").release()
    healthy = start()
    before = cycles(folder).get("QM02", 0)
    awaited(lambda: cycles(folder).get("QM02", 0) >= before + 2)
    return took < SECOND_S + BUSY * seconds_to_end(healthy)


@pytest.mark.parametrize(
    ("verb", "start"), paired(("connect", "inquire", "open", "put", "get"), BINDINGS), indirect=["start"]
)
def test_no_hung_call_delays_the_end(start: Start, group: StandIn, tmp_path: Path, verb: str) -> None:
    """Whichever call of MQ does not come back, while the other queue manager is watched."""
    group.at("QM01").hang(verb)
    agent = start()
    awaited(lambda: group.at("QM01").state()["hung"] > 0 and cycles(tmp_path).get("QM02", 0) >= 2)
    assert ends_soon(agent, start, tmp_path, group)


@pytest.mark.parametrize(("verb", "start"), paired(("close", "disconnect"), BINDINGS), indirect=["start"])
def test_leaving_that_hangs_does_not_delay_the_end(start: Start, group: StandIn, tmp_path: Path, verb: str) -> None:
    """MQCLOSE or MQDISC do not come back while the agent ends."""
    agent = start()
    awaited(lambda: cycles(tmp_path).get("QM01", 0) >= 2)
    group.at("QM01").hang(verb)
    assert ends_soon(agent, start, tmp_path, group)


@pytest.mark.parametrize("start", alone(*BINDINGS), indirect=True)
def test_slow_answers_delay_nobody_else(start: Start, group: StandIn, tmp_path: Path) -> None:
    """Each answer of one takes most of a wait: it falls behind the interval, the other one does not."""
    agent = start()
    awaited(lambda: min(cycles(tmp_path).get(name, 0) for name in ("QM01", "QM02")) >= 2)
    healthy = seconds_for_cycles(tmp_path)
    group.at("QM01").slow(1_500)
    # Whoever waited for all of its answers would need many seconds for each of these cycles.
    assert seconds_for_cycles(tmp_path) < 2 * healthy + 3
    assert ends_soon(agent, start, tmp_path, group)
