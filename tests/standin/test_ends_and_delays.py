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
from mqstandin import library
from mqstandin.library import Bindings
from mqstandin.server import StandIn

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader

if library.compiler() is None and not os.environ.get("MQVITALS_REQUIRE_STANDIN"):
    pytest.skip(library.NO_COMPILER, allow_module_level=True)

PATIENCE_S = 40
SOON_S = 2.5
"""A second, and what a busy machine adds. What hangs would last for ever."""
Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture(params=["ibmmq", "pymqi"])
def start(request: pytest.FixtureRequest, bindings: Bindings, group: StandIn, tmp_path: Path) -> Iterator[Start]:
    """Starts an agent for QM01 and QM02, a cycle each second."""
    binding: str = request.param
    if binding in bindings.missing:
        pytest.skip(f"pip could not install {binding}: {bindings.missing[binding]}")
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
    words = [sys.executable, "-m", "mqvitals_agent.cli.main", "agent", "--config", str(path)]
    running: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        running.append(subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL))
        return running[-1]

    yield begin
    for each in running:
        if each.poll() is None:
            each.kill()
        each.wait()


def until(true: Callable[[], bool]) -> None:
    """Look until it is so."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def cycles(folder: Path) -> dict[str, int]:
    """The number of each owner's last cycle; none as long as there is no store."""
    try:
        with StoreReader.open(folder / "s.db") as reader:
            return {owner.name: owner.last_cycle for owner in reader.owners()}
    except StoreError:
        return {}


def seconds_to_end(agent: subprocess.Popen[bytes]) -> float:
    """How long the agent takes to end after SIGTERM; it must end well."""
    began = time.monotonic()
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(PATIENCE_S) == 0
    return time.monotonic() - began


@pytest.mark.parametrize("verb", ["connect", "inquire", "open", "put", "get"])
def test_no_hung_call_delays_the_end(start: Start, group: StandIn, tmp_path: Path, verb: str) -> None:
    """Whichever call of MQ does not come back, while the other queue manager is watched."""
    group.at("QM01").hang(verb)
    agent = start()
    until(lambda: group.at("QM01").state()["hung"] > 0 and cycles(tmp_path).get("QM02", 0) >= 2)
    assert seconds_to_end(agent) < SOON_S


@pytest.mark.parametrize("verb", ["close", "disconnect"])
def test_leaving_that_hangs_does_not_delay_the_end(start: Start, group: StandIn, tmp_path: Path, verb: str) -> None:
    """MQCLOSE or MQDISC do not come back while the agent ends."""
    agent = start()
    until(lambda: cycles(tmp_path).get("QM01", 0) >= 2)
    group.at("QM01").hang(verb)
    assert seconds_to_end(agent) < SOON_S


def test_slow_answers_delay_nobody_else(start: Start, group: StandIn, tmp_path: Path) -> None:
    """Each answer of one takes most of a wait: it falls behind the interval, the other one does not."""
    agent = start()
    until(lambda: min(cycles(tmp_path).get(name, 0) for name in ("QM01", "QM02")) >= 2)
    group.at("QM01").slow(1_500)
    began, before = time.monotonic(), cycles(tmp_path)["QM02"]
    until(lambda: cycles(tmp_path)["QM02"] >= before + 4)
    assert time.monotonic() - began < 4 + 3
    assert seconds_to_end(agent) < SOON_S
