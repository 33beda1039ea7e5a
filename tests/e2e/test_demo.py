"""The demonstration where nobody watches, and what a first use of the commands meets."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mqsamples.pairs import alone
from mqsamples.patience import PATIENCE_S, awaited
from mqvitals_agent.errors import Failure
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui import child_agent, demo

Run = Callable[..., Any]
"""A process that has done nothing for so long hangs, however busy the machine is."""


@pytest.fixture(scope="module")
def demonstration(mqvitals: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demonstration that has been played."""
    folder = tmp_path_factory.mktemp("demo")
    played = mqvitals("demo", "--keep", folder)
    assert "CRITICAL" in played.stdout
    assert "Coupling facility" in played.stdout
    assert "What happened, worst first" in played.stdout
    return folder


def test_what_only_smf_tells_is_there(demonstration: Path) -> None:
    """The group writes SMF records and the agent reads them: the tasks of channel initiators, the lowest of a pool."""
    with StoreReader.open(demonstration / demo.STORE) as store:
        told = {
            kind: len(store.objects(f"QM01/{kind}/*")) for kind in ("adapter", "dispatcher", "ssl_task", "dns_task")
        }
        lowest = store.trend(ObjectName("QM01", "buffer_pool", "3"), "low")
    assert told == {"adapter": 8, "dispatcher": 5, "ssl_task": 4, "dns_task": 1}
    assert lowest.points
    assert list((demonstration / demo.SMF).glob("SMF-*.dat"))


def test_the_morning_is_alerted(mqvitals: Run, demonstration: Path) -> None:
    """What the busy morning does to the group is what the alerts say."""
    listed = mqvitals("alerts", "list", "--all", "--json", "--store", demonstration / demo.STORE).stdout
    alerts = {(alert["rule"], alert["object"]) for alert in json.loads(listed)}
    assert {
        ("Q-03", "QM02/queue/PAYMENTS.IN"),
        ("CHL-16", "QM03/channel/TO.PARTNER"),
        ("BP-03", "QM01/buffer_pool/3"),
    } <= alerts


def test_the_log_is_kept(demonstration: Path) -> None:
    """Beside the store stands what the agent said; nobody writes any more."""
    assert "agent.ended" in (demonstration / child_agent.LOG).read_text("utf-8")
    assert not (demonstration / f"{demo.STORE}.lock").exists()


def test_nothing_is_left(mqvitals: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --keep the folder goes."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert "--keep FOLDER" in mqvitals("demo", "--scenario", "quiet", "--interval", "60s").stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "trend",
        "alerts",
        "replay",
        "rules",
        "metrics",
        "config",
        "pcf",
        "agent",
        "record",
        "doctor",
        "top",
        "demo",
    ],
)
def test_help(mqvitals: Run, command: str) -> None:
    """Every command explains itself."""
    assert "usage: mqvitals " + command in mqvitals(command, "--help").stdout


def test_a_missing_recording(mqvitals: Run, tmp_path: Path) -> None:
    """A file that is not there is one sentence, and no store is left behind."""
    done = mqvitals("replay", tmp_path / "none.jsonl", "--store", tmp_path / "x.db", code=2)
    assert "none.jsonl" in done.stderr
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("speed", ["nan", "1e9", "0", "fast"])
def test_an_unknown_speed(mqvitals: Run, tmp_path: Path, speed: str) -> None:
    """The demonstration knows the same speeds as a replay, and says which."""
    words = "the speed is a number above 0 or max"
    assert words in mqvitals("demo", "--speed", speed, code=2).stderr
    assert words in mqvitals("replay", "x", "--store", tmp_path / "x.db", "--speed", speed, code=2).stderr


def test_an_unknown_scenario(mqvitals: Run) -> None:
    """What the agent says against its arguments is said by the demonstration."""
    assert "there is no scenario 'nix'; there are" in mqvitals("demo", "--scenario", "nix", code=2).stderr


def test_a_folder_that_cannot_be_used(mqvitals: Run, tmp_path: Path) -> None:
    """Where the store cannot be made there is a sentence, whatever is in the way."""
    (tmp_path / "file").touch()
    assert "cannot use the folder" in mqvitals("demo", "--keep", tmp_path / "file", code=2).stderr
    (tmp_path / child_agent.LOG).mkdir()
    assert "cannot start" in mqvitals("demo", "--keep", tmp_path, code=2).stderr


def test_real_receivers_hear_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The settings of a real group do not reach the agent of the demonstration."""
    monkeypatch.setenv("MQVITALS_CONFIG", "/etc/mqvitals.yaml")
    program = (sys.executable, "-c", "import os; print([key for key in os.environ if key.startswith('MQVITALS_C')])")
    with demo.agent(tmp_path, program) as living:
        living.wait(30)
    assert child_agent.log_tail(tmp_path) == "[]"


def test_an_agent_that_ends_at_once(tmp_path: Path) -> None:
    """Its last words are the demonstration's."""
    program = (sys.executable, "-c", "import sys; sys.exit('mqvitals: no space left')")
    with (
        pytest.raises(Failure, match="could not start: no space left"),
        demo.agent(tmp_path, program) as living,
    ):
        child_agent.wait_for_store(living, tmp_path, lambda: False, what="the agent")


def test_an_agent_that_makes_no_store(tmp_path: Path) -> None:
    """It is not waited for without end, and it does not go on alone."""
    ticks = count(0, 10)
    program = (sys.executable, "-c", "import time; time.sleep(60)")
    with demo.agent(tmp_path, program) as living, pytest.raises(Failure, match="no store after 30 s"):
        child_agent.wait_for_store(
            living,
            tmp_path,
            lambda: False,
            what="the agent",
            time_s=lambda: float(next(ticks)),
            sleep=lambda _: None,
        )
    assert living.returncode == -15


def test_an_agent_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not listen to SIGTERM is killed."""
    monkeypatch.setattr(child_agent, "GRACE_S", 0.2)
    deaf = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    )
    with demo.agent(tmp_path, (sys.executable, "-c", deaf)) as living:
        while not child_agent.log_tail(tmp_path):
            os.sched_yield()
    assert living.returncode == -9


@pytest.mark.parametrize("number", alone(signal.SIGKILL, signal.SIGHUP, signal.SIGINT))
def test_the_agent_ends_with_its_starter(tmp_path: Path, number: int) -> None:
    """However the demonstration ends, even by kill -9, neither its agent nor its folder stays behind."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    words = (sys.executable, "-P", "-m", "mqvitals_tui.main", "demo", "--speed", "1")
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as playing:
        locks = awaited(lambda: list(tmp_path.glob("*/demo.db.lock")))
        agent = int(locks[0].read_text("ascii"))
        assert agent != playing.pid
        os.killpg(playing.pid, number)
        assert playing.wait(PATIENCE_S) != 0
    awaited(lambda: not alive(agent))
    awaited(lambda: not list(tmp_path.iterdir()))


def alive(number: int) -> bool:
    """Whether a process runs; one that only waits to be noticed does not."""
    try:
        return ") Z " not in Path(f"/proc/{number}/stat").read_text("utf-8")
    except OSError:
        return False


def test_the_command_line_of_the_agent(tmp_path: Path) -> None:
    """The options go on to the agent; a speed that was asked for goes before the usual one."""
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    command = demo.agent_command(tmp_path, parser.parse_args([]), None)
    # The port is that of an agent that watches real queue managers.
    assert command[command.index("--listen") + 1] == "off"
    assert command[command.index("--speed") + 1] == "max"
    assert command[command.index("--scenario") + 1] == "busy-morning"
    command = demo.agent_command(tmp_path, parser.parse_args(["--speed", "4", "--seed", "7"]), None, ("--for", "90s"))
    assert command[command.index("--speed") + 1] == "4"
    assert command[command.index("--seed") + 1] == "7"
    assert command[-2:] == ("--for", "90s")
