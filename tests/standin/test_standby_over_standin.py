"""Two agents for one group on living connections: the queue managers themselves say which of them is active."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mqstandin.library import Bindings
from mqstandin.server import StandIn, stand_in
from test_living_agent import Agent, cycles

from mqsamples.pairs import alone
from mqsamples.patience import PATIENCE_S, awaited

IBMMQ = pytest.mark.parametrize("pair", alone("ibmmq", "pymqi"), indirect=True)


@pytest.fixture
def group() -> Iterator[StandIn]:
    """Queue managers that both agents reach."""
    with stand_in("quiet") as running:
        yield running


@pytest.fixture
def pair(
    request: pytest.FixtureRequest, bindings: Bindings, group: StandIn, tmp_path: Path
) -> Iterator[Callable[[str], Agent]]:
    """Starts agents for QM01 and QM02, each with a store of its own."""
    binding: str = request.param
    bindings.require(binding)
    agents: list[Agent] = []

    def start(name: str) -> Agent:
        settings = {
            "name": "PRDQSG",
            "standby": {},
            "connection": {"channel": "MQVITALS.SVRCONN", "binding": binding, "reply_queue": "MQVITALS.REPLY"},
            "polling": {"interval": "2s", "wait": "2s"},
            "store": {"path": str(tmp_path / f"{name}.db")},
            "log": {"format": "json"},
            "queue_managers": [
                {"name": each, "connection": {"connection_names": [group.address(each)]}} for each in ("QM01", "QM02")
            ],
        }
        path = tmp_path / f"{name}.yaml"
        path.write_text(json.dumps(settings))
        environment = bindings.environment(binding)
        environment["PYTHONPATH"] += os.pathsep + os.pathsep.join(sys.path)
        agents.append(Agent(["agent", "--config", str(path)], environment))
        return agents[-1]

    yield start
    for each in agents:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait()
        assert each.process.stderr
        each.process.stderr.close()


@IBMMQ
def test_the_other_takes_over(pair: Callable[[str], Agent], tmp_path: Path) -> None:
    """It polls nothing while the first is there, and everything when that is killed; the first then waits for it."""
    first = pair("a")
    first.await_event("standby.taken_over")
    awaited(lambda: cycles(tmp_path / "a.db").get("QM02", 0) > 0)
    second = pair("b")
    second.await_event("standby.waiting", reason="waits")
    awaited(lambda: cycles(tmp_path / "a.db").get("QM02", 0) > 3)
    assert not cycles(tmp_path / "b.db")
    first.process.kill()
    first.process.wait(PATIENCE_S)
    second.await_event("standby.taken_over")
    awaited(lambda: cycles(tmp_path / "b.db").get("QM02", 0) > 0)
    again = pair("a")
    again.await_event("standby.waiting", reason="waits")
    second.end()
    again.await_event("standby.taken_over")


@IBMMQ
def test_one_lost_connection_changes_nothing(pair: Callable[[str], Agent], group: StandIn, tmp_path: Path) -> None:
    """The active agent has it again after a while, though the other one tries for it too."""
    first = pair("a")
    first.await_event("standby.taken_over")
    awaited(lambda: cycles(tmp_path / "a.db").get("QM01", 0) > 0)
    second = pair("b")
    second.await_event("standby.waiting", reason="waits")
    group.at("QM01").break_connections()
    first.await_event("queue_manager.connected", 2, queue_manager="QM01")
    awaited(lambda: cycles(tmp_path / "a.db").get("QM01", 0) > cycles(tmp_path / "a.db").get("QM02", 0) - 2)
    assert not cycles(tmp_path / "b.db")
    assert not [each for each in first.events if each["event"] == "standby.gave_way"]
