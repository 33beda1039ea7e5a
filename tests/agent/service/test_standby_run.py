"""One of two agents through its turns: it waits, is active, gives way when another is active, and has it back."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.cli.agent import add_arguments, agent_config, run_options
from mqvitals_agent.connection.connection import ConnectError, Connection, Connector, Exchange, MqiFailure, Query
from mqvitals_agent.log import LineHandler, logging_to
from mqvitals_agent.service.monitored_group import PollTargets
from mqvitals_agent.service.process import ServiceManager
from mqvitals_agent.service.run import RunOptions
from mqvitals_agent.service.standby_run import run_in_turn
from mqvitals_agent.simulator.group_folder import GroupFolder, ReplyQueueLock
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.threads import run_in_loop
from mqvitals_rules.timestamps import MINUTE_MS
from mqvitals_rules.vocabulary.journal import EntryKind

NOW = 1_795_176_000_000
BROKEN, NO_HOST = MqiFailure(2, 2009), MqiFailure(2, 2538)


class Network:
    """The ways to the simulated queue managers, which can be cut; and another program that may have a reply queue open."""

    def __init__(self, folder: Path) -> None:
        self.folder = GroupFolder(folder)
        self.cut = False
        self.locks: list[ReplyQueueLock] = []

    def take(self, *names: str) -> None:
        """Another agent opens these reply queues."""
        for name in names:
            lock = self.folder.open_reply_queue(name)
            assert lock is not None, name
            self.locks.append(lock)

    def give_back(self) -> None:
        while self.locks:
            self.locks.pop().close()


class Way:
    """A connector over the network, and its connections."""

    def __init__(self, inner: Connector, network: Network) -> None:
        self.inner, self.network = inner, network
        self.queue_manager = inner.queue_manager
        self.statistics_queue = ""

    async def connect(self) -> Connection:
        if self.network.cut:
            raise ConnectError(NO_HOST)
        connection = await self.inner.connect()
        network, name = self.network, self.queue_manager

        class Open:
            async def ask(self, query: Query, wait_ms: int) -> Exchange:
                if network.cut:
                    await connection.close()
                    return Exchange(0, NOW, 0, name, query.command, query.request, error=BROKEN)
                return await connection.ask(query, wait_ms)

            async def close(self) -> None:
                await connection.close()

        return Open()


class Manager(ServiceManager):
    """A service manager that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def cycle(self, status: str) -> None:
        self.told.append(status)

    def stopping(self, reason: str) -> None:
        self.told.append(f"stopping: {reason}")


Script = Callable[[Network, Callable[[float], Coroutine[Any, Any, None]]], Coroutine[Any, Any, None]]


def lived(folder: Path, script: Script, minutes: int) -> tuple[int, list[dict[str, Any]], Manager]:
    """Run an agent for so many minutes of virtual time beside a script; returns exit code, events and what it told."""
    config = folder / "mqvitals.yaml"
    config.write_text("standby: {}\n")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = ["--scenario", "quiet", "--interval", "1m", "--speed", "100000", "--for", f"{minutes}m"]
    words += ["--config", str(config), "--group-folder", str(folder / "group"), "--store", str(folder / "s.db")]
    arguments = parser.parse_args(words)
    options: RunOptions = run_options(arguments, agent_config(arguments), folder / "s.db", NOW)
    network, manager = Network(folder / "group"), Manager()
    group = options.group
    ways = [Way(each, network) for each in group.targets.connectors]
    options = replace(options, group=replace(group, targets=PollTargets(ways)), manager=manager, reread=None)
    lines = io.StringIO()
    handler = LineHandler(lines, group.clock, form="json", level="info")

    async def both() -> int:
        playing = asyncio.ensure_future(script(network, lambda m: group.clock.sleep(m * MINUTE_MS)))
        try:
            return await run_in_turn(options, handler)
        finally:
            playing.cancel()
            network.give_back()

    with logging_to(handler):
        code = run_in_loop(both(), group.clock)
    return code, [json.loads(line) for line in lines.getvalue().splitlines()], manager


def turns(events: list[dict[str, Any]]) -> list[str]:
    """What became of the agent, in order."""
    return [
        each["event"].removeprefix("standby.")
        for each in events
        if each["event"] in {"standby.taken_over", "standby.gave_way", "agent.ended"}
    ]


def test_an_agent_that_was_cut_off_gives_way_and_comes_back(tmp_path: Path) -> None:
    """Another had the reply queues meanwhile: it waits until they are free again."""

    async def script(network: Network, sleep: Callable[[float], Coroutine[Any, Any, None]]) -> None:
        await sleep(5)
        network.cut = True
        await sleep(5)
        network.take("QM01", "QM02", "QM03", "QM04")
        network.cut = False
        await sleep(10)
        network.give_back()

    code, events, manager = lived(tmp_path, script, 30)
    assert turns(events) == ["taken_over", "gave_way", "taken_over", "agent.ended"]
    assert code == 0
    (gave_way,) = (each for each in events if each["event"] == "standby.gave_way")
    assert gave_way["reason"] == "lost"
    assert any("standby: another agent holds the reply queue" in each for each in manager.told)
    assert sum(each.startswith("stopping") for each in manager.told) == 1
    with StoreReader.open(tmp_path / "s.db") as reader:
        standing = reader.meta().standing
        entries = [each.metric for each in reader.journal(0, limit=1_000) if each.kind is EntryKind.AGENT]
    assert entries == ["active", "standby", "active"]
    assert standing is not None
    assert standing.role == "active"


def test_one_reply_queue_that_another_keeps_makes_it_give_way(tmp_path: Path) -> None:
    """Not at once: a standby agent has it for a moment only."""

    async def script(network: Network, sleep: Callable[[float], Coroutine[Any, Any, None]]) -> None:
        await sleep(5)
        network.cut = True
        await sleep(2)
        network.take("QM03")
        network.cut = False
        await sleep(12)
        network.give_back()

    code, events, _ = lived(tmp_path, script, 30)
    assert turns(events) == ["taken_over", "gave_way", "taken_over", "agent.ended"]
    assert code == 0
    reasons = [each["reason"] for each in events if each["event"] == "standby.gave_way"]
    assert reasons in (["gives_way"], ["lost"])


def test_the_end_of_one_that_waits(tmp_path: Path) -> None:
    """Its time is over; it has polled nothing, and its store says what it waited for."""
    other = Network(tmp_path / "group")
    other.take("QM01")

    async def script(network: Network, sleep: Callable[[float], Coroutine[Any, Any, None]]) -> None:
        del network
        await sleep(0)

    code, events, manager = lived(tmp_path, script, 5)
    other.give_back()
    assert code == 0
    assert turns(events) == ["agent.ended"]
    assert [each["reason"] for each in events if each["event"] == "standby.waiting"] == ["waits"]
    assert manager.told[-1] == "stopping: the 5m are over"
    with StoreReader.open(tmp_path / "s.db") as reader:
        standing = reader.meta().standing
        assert reader.owners() == ()
    assert standing is not None
    assert standing.waits
    assert standing.reason == "another agent holds the reply queue"


def test_nobody_reached_and_nobody_else_there(tmp_path: Path) -> None:
    """After two intervals it is active, so that somebody says that nothing can be reached."""

    async def script(network: Network, sleep: Callable[[float], Coroutine[Any, Any, None]]) -> None:
        network.cut = True
        await sleep(100)

    code, events, _ = lived(tmp_path, script, 20)
    assert code in (0, 1)
    (taken,) = (each for each in events if each["event"] == "standby.taken_over")
    assert taken["reason"] == "alone"
    with StoreReader.open(tmp_path / "s.db") as reader:
        assert {each.alert.key.rule for each in reader.alerts()} >= {"AGENT-01"}


@pytest.mark.parametrize("text", ["standby:\n", ""])
def test_without_the_setting_there_is_one_agent(tmp_path: Path, text: str) -> None:
    """An empty section is none."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text(f"{text}name: PRDQSG\n")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    found = agent_config(parser.parse_args(["--config", str(config)]))
    assert found.settings.standby is None
