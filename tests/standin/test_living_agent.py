"""The agent as a process on living connections: both real bindings, over the stand-in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mqstandin.library import Bindings
from mqstandin.server import StandIn, stand_in

from mqsamples.pairs import alone
from mqsamples.patience import PATIENCE_S, awaited
from mqsamples.warm import WarmProcess
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader

SOON_S = 8.0
"""A second, and what a busy machine adds; a hung call is left behind after ten. What the end waits for is bounded in test_service_life."""
SECRET = "hunter2-and-more"
BOTH = pytest.mark.parametrize("started", ["ibmmq", "pymqi"], indirect=True)
IBMMQ = pytest.mark.parametrize("started", alone("ibmmq", "pymqi"), indirect=True)
PYMQI = pytest.mark.parametrize("started", alone("pymqi", "ibmmq"), indirect=True)
"""With one binding in ``make test``: what differs between the two lies below what these tests look at."""


class Agent:
    """An agent process, its log as it comes."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.events: list[dict[str, Any]] = []
        self._news = threading.Condition()
        self.process = WarmProcess(words, env=environment, stderr=subprocess.PIPE, text=True)
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            with self._news:
                self.events.append(json.loads(line))
                self._news.notify_all()

    def await_event(self, event: str, count: int = 1, **facts: object) -> dict[str, Any]:
        """The so many-th event of this name with these facts."""

        def found() -> list[dict[str, Any]]:
            return [each for each in self.events if each["event"] == event and facts.items() <= each.items()]

        with self._news:
            assert self._news.wait_for(lambda: len(found()) >= count, PATIENCE_S), self.events
            return found()[count - 1]

    def end(self) -> float:
        """SIGTERM; returns how long it takes, s."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0
        self._reading.join(PATIENCE_S)
        return time.monotonic() - began


@pytest.fixture
def group() -> Iterator[StandIn]:
    """Stand-in queue managers with no more queues than the site has: how many there are is nothing to these tests."""
    with stand_in("quiet") as running:
        yield running


@pytest.fixture
def started(
    request: pytest.FixtureRequest, bindings: Bindings, group: StandIn, tmp_path: Path
) -> Iterator[Callable[..., Agent]]:
    """Starts an agent for QM01 and QM02, and QM03 which is asked through another."""
    binding: str = request.param
    bindings.require(binding)
    agents: list[Agent] = []

    def start(**connection: Any) -> Agent:
        way = {"channel": "MQVITALS.SVRCONN", "binding": binding, "user": "mqmon", **connection}
        settings = {
            "name": "PRDQSG",
            "connection": way,
            "polling": {"interval": "1s", "wait": "2s"},
            "store": {"path": str(tmp_path / "s.db")},
            "log": {"format": "json"},
            "queue_managers": [
                {"name": name, "connection": {"connection_names": [group.address(name)]}} for name in ("QM01", "QM02")
            ]
            + [{"name": "QM03"}],
        }
        path = tmp_path / "mqvitals.yaml"
        path.write_text(json.dumps(settings))
        environment = bindings.environment(binding, MQVITALS_PASSWORD=SECRET)
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


def alerts(path: Path) -> set[tuple[str, str, str]]:
    """Rule, object and state of every alert of the connection."""
    with StoreReader.open(path) as reader:
        return {
            (each.alert.key.rule, each.alert.scope.owner, each.alert.state.value)
            for each in reader.alerts(include_ended=True)
            if each.alert.key.rule == "AGENT-01"
        }


def cycles(path: Path) -> dict[str, int]:
    """The number of each owner's last cycle; none as long as there is no store."""
    try:
        with StoreReader.open(path) as reader:
            return {owner.name: owner.last_cycle for owner in reader.owners()}
    except StoreError:
        return {}


def missing(path: Path, *patterns: str) -> list[str]:
    """The patterns that no object of the store has."""
    with StoreReader.open(path) as reader:
        return [pattern for pattern in patterns if not reader.objects(pattern)]


@BOTH
def test_a_group_is_watched(started: Callable[..., Agent], group: StandIn, tmp_path: Path) -> None:
    """Queues of all three stand in the store; the password came to the queue manager and nowhere else; the end is quick."""
    agent = started(reply_queue="MQVITALS.REPLY", application_name="mqvitals test")
    agent.await_event("queue_manager.connected", 1, queue_manager="QM02")
    store = tmp_path / "s.db"
    awaited(lambda: cycles(store).get("QM03", 0) >= 3)
    awaited(
        lambda: not missing(store, *(f"{name}/queue/*" for name in ("QM01", "QM02", "QM03")), "PRDQSG/cf_structure/*")
    )
    assert agent.end() < SOON_S
    said = group.at("QM01").state()["connected"][0]
    assert (said["channel"], said["user"], said["has_password"]) == ("MQVITALS.SVRCONN", "mqmon", True)
    everything = json.dumps(agent.events).encode() + b"".join(each.read_bytes() for each in tmp_path.glob("s.db*"))
    assert SECRET.encode() not in everything
    for name in ("QM01", "QM02"):
        state = group.at(name).state()
        assert state["violations"] == []
        assert (state["connections"], state["handles"]) == (0, 0)


@IBMMQ
def test_a_broken_connection_comes_back(started: Callable[..., Agent], group: StandIn, tmp_path: Path) -> None:
    """A queue manager that stops is unreachable within two intervals, the others go on, and all recovers by itself."""
    agent = started()
    store = tmp_path / "s.db"
    awaited(lambda: cycles(store).get("QM02", 0) >= 2)
    group.at("QM02").stop()
    with StoreReader.open(store) as reader:
        (stopped,) = reader.snapshot_times("QM01", 1)
    agent.await_event("queue_manager.unreachable", 1, queue_manager="QM02")
    awaited(lambda: ("AGENT-01", "QM02", "firing") in alerts(store))
    with StoreReader.open(store) as reader:
        (lost,) = (each.alert for each in reader.alerts() if each.alert.key.rule == "AGENT-01")
        others = [ts for ts in reader.snapshot_times("QM01", 50) if stopped < ts <= lost.updated]
    assert len(others) <= 3
    group.at("QM02").start()
    agent.await_event("queue_manager.connected", 2, queue_manager="QM02")
    awaited(lambda: ("AGENT-01", "QM02", "resolved") in alerts(store))
    assert len([each for each in agent.events if each["event"] == "queue_manager.connected"]) == 3
    agent.end()


@PYMQI
def test_a_break_in_the_middle_of_an_answer(started: Callable[..., Agent], group: StandIn, tmp_path: Path) -> None:
    """What came before is kept, the connection is made anew."""
    agent = started()
    agent.await_event("queue_manager.connected", 1, queue_manager="QM01")
    group.at("QM01").break_after(40)
    agent.await_event("queue_manager.unreachable", 1, queue_manager="QM01", reason=2009)
    agent.await_event("queue_manager.connected", 2, queue_manager="QM01")
    agent.end()


@PYMQI
def test_a_hung_call_keeps_nobody(started: Callable[..., Agent], group: StandIn, tmp_path: Path) -> None:
    """With a call of MQ that never comes back the others go on, and the agent ends within a second."""
    agent = started()
    store = tmp_path / "s.db"
    awaited(lambda: cycles(store).get("QM01", 0) >= 2)
    group.at("QM01").hang("put")
    awaited(lambda: group.at("QM01").state()["hung"] > 0)
    before = cycles(store)["QM02"]
    awaited(lambda: cycles(store)["QM02"] >= before + 3)
    assert agent.end() < SOON_S
    group.at("QM01").release()


@IBMMQ
def test_a_stopped_command_server(started: Callable[..., Agent], group: StandIn, tmp_path: Path) -> None:
    """Requests wait and are not answered: that is no lost connection, and is told as what it is."""
    agent = started()
    store = tmp_path / "s.db"
    awaited(lambda: cycles(store).get("QM02", 0) >= 2)
    group.at("QM02").stop_command_server()

    def firing() -> set[str]:
        with StoreReader.open(store) as reader:
            return {each.alert.key.rule for each in reader.alerts() if each.alert.scope.owner == "QM02"}

    awaited(lambda: "AGENT-02" in firing())
    assert "AGENT-01" not in firing()
    group.at("QM02").start_command_server()
    awaited(lambda: not firing() & {"AGENT-01", "AGENT-02"})
    assert not [each for each in agent.events if each["event"] == "queue_manager.unreachable"]
    agent.end()


@IBMMQ
def test_a_reply_queue_that_another_holds(started: Callable[..., Agent], group: StandIn) -> None:
    """The log names the queue, and says whose it should be."""
    group.at("QM01").refuse("open", 2042, object="MQVITALS.REPLY")
    agent = started(reply_queue="MQVITALS.REPLY")
    event = agent.await_event("queue_manager.unreachable", 1, queue_manager="QM01", reason=2042)
    assert "the reply queue MQVITALS.REPLY is open elsewhere" in event["text"]
    agent.end()
