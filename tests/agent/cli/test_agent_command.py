"""``mqvitals agent`` and ``record`` on a small scripted group: what they log, store and record, and how they end."""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import signal
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from mqsamples.printed import printed
from mqvitals_agent.cli.recordings.record import Recorder
from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.commandline import runner as command_line
from mqvitals_agent.commandline.simulation_arguments import speed, speed_word
from mqvitals_agent.commandline.time_arguments import duration
from mqvitals_agent.connection.recording import open_recording
from mqvitals_agent.log import LineHandler, logging_to
from mqvitals_agent.notify.delivery import Notifier
from mqvitals_agent.service.agent_config import AgentConfig, read_agent_config, with_webhooks
from mqvitals_agent.service.monitored_group import MonitoredGroup, PollTargets, SimulationOptions, simulated_group
from mqvitals_agent.service.process import Deadline, ServiceManager
from mqvitals_agent.service.run import AgentRun, RunOptions, claim_store
from mqvitals_agent.service.run_log import INTERRUPTED
from mqvitals_agent.simulator.connector import connectors
from mqvitals_agent.simulator.state import BufferPoolState, GroupState, MemberState, PageSetState
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.screens.status import status_screen
from mqvitals_agent.view.status import read_status_data, status_of
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.receivers.http import webhook_of

BEGIN = 1_763_640_000_000


class SmallWorld:
    """Two queue managers; buffer pool 3 of the first is short of buffers for a while."""

    def __init__(self, begin: int) -> None:
        self._begin = begin
        members = {}
        for number, name in ((1, "QM01"), (2, "QM02")):
            member = MemberState(name, number, started=begin - 86_400_000)
            member.pools[3] = BufferPoolState(3, 50_000, 40_000)
            member.page_sets[4] = PageSetState(4, 3, 100_000, 1000, 10)
            members[name] = member
        self._group = GroupState("PRDQSG", "PRDQ", begin, members)

    def advance(self, now: int) -> GroupState:
        """The group as of ``now``."""
        pool = self._group.members["QM01"].pools[3]
        short = 60_000 < now - self._begin < 180_000
        pool.free, pool.writing = (1000, 2) if short else (40_000, 0)
        self._group.now = now
        return self._group


def simulation(pace: float | None = None) -> MonitoredGroup:
    """The small group; settings files and people are looked for by its clock too."""
    clock = VirtualClock(BEGIN, pace=pace)
    world = SmallWorld(BEGIN)
    roll = PollTargets(connectors(world, clock))
    return MonitoredGroup(clock, BEGIN, "PRDQSG", roll, "scenario small, seed 1", Random(1).uniform, 0, machine=clock)


def in_force(interval: str = "10s") -> AgentConfig:
    """The defaults, at an interval."""
    return read_agent_config(None, {"interval": interval})


class Script:
    """A run on the small group, and its log."""

    def __init__(self, path: Path, for_ms: int | None, pace: float | None = None) -> None:
        self.log = io.StringIO()
        self.path = path
        self.simulation = simulation(pace)
        assert isinstance(self.simulation.clock, VirtualClock)
        self.clock = self.simulation.clock
        self.recorder: Recorder | None = None
        self.manager: ServiceManager | None = None
        self.for_ms = for_ms
        self.reread: AgentConfig | ConfigError | None = None
        self.run: AgentRun | None = None
        self.reread_s = 30.0

    def again(self) -> AgentConfig:
        """What reading the settings again gives."""
        if isinstance(self.reread, ConfigError):
            raise self.reread
        assert self.reread is not None
        return self.reread

    async def live(self, interval: str = "10s", config: str | None = None) -> int:
        """Run to the end; returns the exit code."""
        settings = read_agent_config(config, {"interval": interval})
        claim_store(self.path, settings.settings, self.simulation)
        handler = LineHandler(self.log, self.simulation.clock)
        options = RunOptions(
            settings,
            self.simulation,
            self.path,
            for_ms=self.for_ms,
            reread=self.again,
            record=None if self.recorder is None else self.recorder.write,
            manager=self.manager,
            reread_s=self.reread_s,
        )
        with logging_to(handler):
            self.run = AgentRun(options, handler)
            return await self.run.run()

    def lines(self) -> list[list[str]]:
        """The log: level, event and text of each line."""
        return [line.split(" ", 3)[1:] for line in self.log.getvalue().splitlines()]

    async def until(self, event: str, run: asyncio.Task[int], times: int = 1) -> None:
        """Wait until the log holds an event so many times, and the run goes on."""
        while self.log.getvalue().count(event) < times:
            assert not run.done(), self.log.getvalue()
            await self.clock.advance(100)


def told_by(path: Path) -> list[tuple[object, ...]]:
    """Rule, object and the moments of the operational alerts in a store."""
    import sqlite3

    connection = sqlite3.connect(path)
    try:
        return connection.execute(
            "SELECT rule, owner, kind, name, state, started, ended FROM alert WHERE kind_of_rule = 'operational'"
            " ORDER BY 1, 2, 4"
        ).fetchall()
    finally:
        connection.close()


async def test_a_run_of_some_minutes(tmp_path: Path) -> None:
    """It begins and ends with a line, stores what it was told, and the incident comes and goes."""
    script = Script(tmp_path / "x.db", 300_000)
    assert await script.live() == 0
    lines = script.lines()
    assert lines[0][1] == "agent.begins"
    assert lines[0][2].startswith("mqvitals 0.1.0 monitors PRDQSG, 2 queue managers, every 10s, ")
    assert lines[-1][:2] == ["INFO", "agent.ended"]
    assert lines[-1][2].startswith("the 5m are over: ")
    assert [(rule, name, state) for rule, _, _, name, state, *_ in told_by(script.path)] == [("BP-03", "3", "resolved")]
    with StoreReader.open(script.path) as reader:
        meta = reader.meta()
        assert (meta.group, meta.source) == ("PRDQSG", "scenario small, seed 1")
        assert meta.created == "2025-11-20T12:00:00.000Z"


async def test_cycles_that_are_missing_are_told(tmp_path: Path) -> None:
    """A run of five minutes in which the machine was away for one has fewer cycles than it should: it says so and is no success."""
    script = Script(tmp_path / "x.db", 300_000)
    task = asyncio.create_task(script.live())
    await script.clock.advance(65_000)
    script.clock.suspend(60_000)
    assert await task == 1
    last, before = script.lines()[-1], script.lines()[-2]
    assert before[:2] == ["ERROR", "agent.cycles_missing"]
    assert "of the cycles of 5m, 6 did not start" in before[2]
    assert last[1] == "agent.ended"


async def test_a_recording_replays_to_the_same_alerts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Same rule, same object, same moments; the lines stand in their order."""
    script = Script(tmp_path / "x.db", 300_000)
    file = tmp_path / "x.jsonl"
    with Recorder(file) as script.recorder:
        assert await script.live() == 0
    with open_recording(file) as recording:
        assert recording.header.queue_managers == ("QM01", "QM02")
        assert (recording.header.name, recording.header.interval_s) == ("PRDQSG", 10)
        moments = [exchange.at for exchange in recording]
    assert moments == sorted(moments)
    replayed = tmp_path / "replayed.db"
    assert command_line.main(["replay", str(file), "--store", str(replayed), "--speed", "max"]) == 0
    assert told_by(replayed) == told_by(script.path)
    assert len(told_by(replayed)) == 1


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGTERM, 0, "SIGTERM"), (signal.SIGINT, INTERRUPTED, "Ctrl-C")]
)
async def test_a_signal_stops_it_in_order(tmp_path: Path, number: int, code: int, word: str) -> None:
    """What was collected is stored; the last line says why it ended."""
    script = Script(tmp_path / "x.db", None)
    task = asyncio.create_task(script.live("1s"))
    await script.until("QM02 is connected", task)
    await script.clock.advance(100)
    os.kill(os.getpid(), number)
    assert await task == code
    assert script.lines()[-1][2].startswith(f"stopped by {word}: ")
    with StoreReader.open(script.path) as reader:
        assert [owner.name for owner in reader.owners()][:2] == ["QM01", "QM02"]


async def test_settings_are_read_again(tmp_path: Path) -> None:
    """Good ones are taken over, bad ones are told with their place and change nothing."""
    script = Script(tmp_path / "x.db", None)
    task = asyncio.create_task(script.live("1s"))
    await script.until("QM02 is connected", task)
    script.reread = in_force("2s")
    os.kill(os.getpid(), signal.SIGHUP)
    await script.until("agent.reloaded", task)
    (tmp_path / "x.yaml").write_text("polling: {intervall: 2s}\n")
    with pytest.raises(ConfigError) as raised:
        read_agent_config(str(tmp_path / "x.yaml"), {})
    script.reread = raised.value
    os.kill(os.getpid(), signal.SIGHUP)
    await script.until("agent.reload_refused", task)
    assert script.run is not None
    script.run.stop("enough")
    assert await task == 0
    told = {event: text for _, event, text in script.lines()}
    assert "every 2s" in told["agent.reloaded"]
    assert f"{tmp_path}/x.yaml:1:11: polling.intervall: unknown key" in told["config.problem"]


async def test_settings_that_do_not_answer_hold_nothing_up(tmp_path: Path) -> None:
    """As on a network file system that hangs: cycles go on, it is told, and SIGTERM ends the agent in time."""
    script = Script(tmp_path / "x.db", None)
    release = threading.Event()
    script.again = lambda: release.wait(60) and None  # type: ignore[assignment, return-value, method-assign]
    script.reread_s = 0.05
    task = asyncio.create_task(script.live("1s"))
    try:
        await script.until("QM02 is connected", task)
        for count in (1, 2):
            os.kill(os.getpid(), signal.SIGHUP)
            await script.until("agent.reload_refused", task, count)
        before = cycles(script.path)
        await script.clock.advance(2_000)
        assert cycles(script.path) >= before + 2
        assert "a file that they name could not be read within 0.05 s" in shown(script.path)[0]
        os.kill(os.getpid(), signal.SIGTERM)
        assert await task == 0
    finally:
        release.set()


async def test_a_token_in_a_pipe_holds_nothing_up(tmp_path: Path) -> None:
    """The receiver fails with a sentence, cycles go on, and SIGTERM ends the agent."""
    settings = tmp_path / "x.yaml"
    os.mkfifo(tmp_path / "token")
    settings.write_text("receivers: [{name: ops, url: 'http://127.0.0.1:1/', token_file: token}]\n")
    script = Script(tmp_path / "x.db", None)
    task = asyncio.create_task(script.live("10s", str(settings)))
    await script.until("receiver.failing", task)
    before = cycles(script.path)
    await script.clock.advance(20_000)
    assert cycles(script.path) >= before + 2
    os.kill(os.getpid(), signal.SIGTERM)
    assert await task == 0
    assert "it is a named pipe, not a regular file" in script.log.getvalue()


async def test_an_empty_file_is_no_configuration(tmp_path: Path) -> None:
    """Settings that said something stay in force, and with them the receivers and what they are owed."""
    settings = tmp_path / "x.yaml"
    settings.write_text("receivers: [{name: ops, url: 'http://127.0.0.1:1/'}]\n")
    script = Script(tmp_path / "x.db", None)
    script.again = lambda: read_agent_config(str(settings), {"interval": "10s"})  # type: ignore[method-assign]
    task = asyncio.create_task(script.live("10s", str(settings)))
    await script.until("QM02 is connected", task)
    settings.write_text("# receivers: ...\n")
    await script.until("agent.reload_refused", task)
    assert (
        "x.yaml is empty, or all of it is commented out: the settings from before stay in force"
        in script.log.getvalue()
    )
    assert "receiver.dropped" not in script.log.getvalue()
    script.run.stop("enough")  # type: ignore[union-attr]
    assert await asyncio.wait_for(task, 5) == 0


def cycles(path: Path) -> int:
    """How many cycles of QM01 are stored."""
    with StoreReader.open(path) as reader:
        return max((owner.last_cycle for owner in reader.owners() if owner.name == "QM01"), default=0)


def test_a_process_that_does_not_end_in_order_is_ended() -> None:
    """After the first signal late, after the second sooner, and not at all once it ends in order."""
    left: list[int] = []
    gone = threading.Event()

    def leave(code: int) -> None:
        left.append(code)
        gone.set()

    deadline = Deadline(60, 0.01, leave)
    deadline.on_signal(signal.SIGTERM, None)
    assert not left
    deadline.on_signal(signal.SIGTERM, None)
    assert gone.wait(10)
    deadline.on_signal(signal.SIGTERM, None)
    deadline.over()
    assert left == [143]
    orderly = Deadline(0.05, 0.05, leave)
    orderly.on_signal(signal.SIGTERM, None)
    orderly.over()
    time.sleep(0.1)
    assert left == [143]


async def test_rules_are_read_again(tmp_path: Path) -> None:
    """A rule file with a mistake, or none, leaves the rules as they were, and says so; a mended one is taken over."""
    settings, rules = tmp_path / "x.yaml", tmp_path / "own.yaml"
    settings.write_text("rules: {files: [own.yaml]}\n")
    script = Script(tmp_path / "x.db", None)
    script.again = lambda: read_agent_config(str(settings), {"interval": "1s"})  # type: ignore[method-assign]
    task = asyncio.create_task(script.live("1s"))
    await script.until("QM02 is connected", task)
    for number, text in enumerate(("rules: [{id: OWN-01}]\n", None, "rules: []\n"), 1):
        if text is None:
            rules.unlink()
        else:
            rules.write_text(text)
        os.kill(os.getpid(), signal.SIGHUP)
        await script.until("agent.reload", task, number)
    assert script.run is not None
    script.run.stop("enough")
    assert await task == 0
    told = [(event, text) for _, event, text in script.lines() if event in ("config.problem", "agent.reload_refused")]
    assert [event for event, _ in told].count("agent.reload_refused") == 2
    assert told[0][0] == "config.problem"
    assert f"{rules}:1:" in told[0][1]
    assert any("own.yaml" in text for event, text in told[2:] if event == "config.problem")


async def test_changed_files_are_read_without_a_signal(tmp_path: Path) -> None:
    """A rule file that changes is read when it stays as it is; a mistake is told once, and shown until it is mended."""
    settings, rules = tmp_path / "x.yaml", tmp_path / "own.yaml"
    rules.write_text("rules: []\n")
    settings.write_text("rules: {files: [own.yaml]}\n")
    script = Script(tmp_path / "x.db", None)
    script.again = lambda: read_agent_config(str(settings), {"interval": "10s"})  # type: ignore[method-assign]
    task = asyncio.create_task(script.live("10s", str(settings)))
    await script.until("QM02 is connected", task)
    rules.write_text("rules: [{id: OWN-01}]\n")
    await script.until("agent.reload_refused", task)
    await script.clock.advance(0)
    refused = shown(script.path)[0]
    assert f"{rules}:1:9: rules[0]" in refused
    assert "more)" in refused
    assert (
        f"The settings and rules from before are in force, for those of now cannot be used: {rules}"
        in shown(script.path)[1]
    )
    # Ten more looks: nothing has changed, so nothing is said.
    await script.simulation.clock.sleep(50_000)
    assert script.log.getvalue().count("agent.reload") == 1
    rules.write_text("rules: []  # mended\n")
    await script.until("agent.reloaded", task)
    await script.clock.advance(0)
    assert shown(script.path)[0] == ""
    assert "from before are in force" not in shown(script.path)[1]
    assert script.run is not None
    script.run.stop("enough")
    assert await task == 0


def shown(path: Path) -> tuple[str, str]:
    """What the store says was refused, and the status screen, on one line."""
    with StoreReader.open(path) as reader:
        view = status_of(read_status_data(reader, BEGIN))
        return reader.meta().refused, " ".join(" ".join(printed(status_screen(view, 200))).split())


@pytest.mark.parametrize("path", ["other.db", "no/such/folder/x.db"])
async def test_another_store_is_for_the_next_start(tmp_path: Path, path: str) -> None:
    """One that the settings name meanwhile, be it usable or not, is told of; the agent stays with its own."""
    settings = tmp_path / "x.yaml"
    settings.write_text(f"store: {{path: {path}}}\n")
    script = Script(tmp_path / "x.db", None)
    script.again = lambda: read_agent_config(str(settings), {"interval": "1s"})  # type: ignore[method-assign]
    task = asyncio.create_task(script.live("1s"))
    await script.until("QM02 is connected", task)
    os.kill(os.getpid(), signal.SIGHUP)
    await script.until("settings.later", task)
    assert script.run is not None
    script.run.stop("enough")
    assert await task == 0
    assert "store: what has changed there takes effect at the next start" in script.log.getvalue()
    assert sorted(await asyncio.to_thread(os.listdir, tmp_path)) == ["x.db", "x.yaml"]


async def test_a_mistake_in_telling_does_not_go_unnoticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent ends with it: one that seems well and tells nobody is worse than none."""

    async def mistaken(_: Notifier) -> None:
        raise KeyError("a mistake")

    monkeypatch.setattr(Notifier, "run", mistaken)
    script = Script(tmp_path / "x.db", None)
    with pytest.raises(KeyError, match="a mistake"):
        await script.live("1s")
    assert script.lines()[-1][:2] == ["ERROR", "agent.ended"]


def test_one_agent_a_store(tmp_path: Path) -> None:
    """The second one says who has it."""
    path = tmp_path / "x.db"
    with Store.open(path), pytest.raises(StoreError, match=f"process {os.getpid()} is writing the store"):
        claim_store(path, in_force().settings, simulation())


def test_receivers_of_the_command_line() -> None:
    """Beside those of the settings, under names that are free."""
    given = (webhook_of("http://a.example", name="webhook-1"),)
    found = with_webhooks(given, ["http://b.example/x", "http://c.example"])
    assert [str(receiver.name) for receiver in found] == ["webhook-1", "webhook-2", "webhook-3"]


def test_what_polling_asks_for_in_vain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A filter and a question that do not exist are told at their place, by the agent and by config check."""
    path = tmp_path / "x.yaml"
    path.write_text("polling:\n  queues: {where: CURDEPHT GT 0}\n  intervals: {INQUIRE_USAG: 5m}\n")
    with pytest.raises(ConfigError) as raised:
        read_agent_config(str(path), {})
    assert {(problem.place.line, problem.key) for problem in raised.value.problems} == {
        (2, "polling.queues.where"),
        (3, "polling.intervals.INQUIRE_USAG"),
    }
    assert command_line.main(["config", "check", str(path)]) == 1
    assert "did you mean 'CURDEPTH'" in capsys.readouterr().out


def test_the_group_has_a_name() -> None:
    """That of the settings, else that of the simulated site."""
    group = simulated_group(SimulationOptions("quiet", speed=None), in_force().settings, None, BEGIN)
    assert in_force().for_group(group).settings.name == "PRDQSG"
    own = in_force().for_group(replace(group, site="OWN"))
    assert own.for_group(group).settings.name == "OWN"
    assert in_force().for_group(replace(group, site="")).settings.name is None


def test_words_of_the_command_line() -> None:
    """Lengths and speeds are refused with a sentence."""
    assert (duration("10m"), speed("60"), speed("max")) == (600_000, 60, None)
    assert [speed_word(speed(word)) for word in ("60", "0.5", "max")] == ["60", "0.5", "max"]
    for function, word in ((duration, "10"), (duration, "0s"), (speed, "most"), (speed, "0")):
        with pytest.raises(argparse.ArgumentTypeError):
            function(word)


async def test_the_service_manager_hears_of_its_life(tmp_path: Path) -> None:
    """Ready once the first cycle is stored, reloading at SIGHUP, stopping at the end; a hung worker is no sign of life."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        script = Script(tmp_path / "x.db", None, pace=1)
        script.manager = ServiceManager(str(tmp_path / "notify"), 200_000)
        messages: list[str] = []

        async def until(wanted: str) -> None:
            async with asyncio.timeout(60):
                while not any(wanted in each for each in messages):
                    messages.append((await asyncio.get_running_loop().sock_recv(listening, 65_536)).decode())

        task = asyncio.create_task(script.live("1s"))
        await until("READY=1")
        with StoreReader.open(script.path) as reader:
            assert reader.owners()
        await until("WATCHDOG=1")
        script.reread = in_force("1s")
        os.kill(os.getpid(), signal.SIGHUP)
        await until("RELOADING=1\nMONOTONIC_USEC=")
        messages.clear()
        await until("READY=1")

        assert script.run is not None
        hangs = threading.Event()
        job = asyncio.create_task(script.run._worker.run(hangs.wait))
        await asyncio.sleep(0.01)
        answered = asyncio.create_task(script.run._await_worker())
        await asyncio.sleep(0.05)
        assert not answered.done()
        hangs.set()
        await job
        await answered
        script.run.stop("enough")
        assert await task == 0
        await until("STOPPING=1\nSTATUS=enough")


@pytest.mark.parametrize(
    ("scenario", "browsed"), [("quiet", set()), ("dead-letters", {"dead_letters"}), ("events-read", {"events"})]
)
def test_what_a_scenario_is_about_is_browsed(scenario: str, browsed: set[str], tmp_path: Path) -> None:
    """Dead letters and events are off by default; a scenario with some shows them, and a named file still decides."""
    group = simulated_group(SimulationOptions(scenario, speed=None), in_force().settings, None, BEGIN)
    polling = in_force().for_group(group).settings.polling
    assert {name for name in ("dead_letters", "events") if getattr(polling, name)} == browsed
    path = tmp_path / "x.yaml"
    path.write_text("polling: {events: {queues: [MY.EVENTS]}}\n")
    events = read_agent_config(str(path), {"scenario": scenario}).for_group(group).settings.polling.events
    assert events is not None
    assert [str(each) for each in events.queues] == ["MY.EVENTS"]
