"""The demonstration, which needs nothing but the product, and what a first use of the commands meets."""

from __future__ import annotations

import argparse
import errno
import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.cli.failure import Failure
from mqvitals_tui import demo

from .conftest import PROGRAM

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def demonstration(mqvitals: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demonstration that has been played."""
    folder = tmp_path_factory.mktemp("demo")
    played = mqvitals("demo", "--speed", "max", "--keep", folder)
    assert "BP-03" in played.stdout
    assert "Coupling facility" in played.stdout
    return folder


def test_the_story_is_alerted(mqvitals: Run, demonstration: Path) -> None:
    """What the story does to the group is what the alerts say, and nothing else."""
    listed = mqvitals("alerts", "list", "--all", "--json", "--store", demonstration / "demonstration.db").stdout
    alerts = {(alert["rule"], alert["object"]): alert["ended"] is not None for alert in json.loads(listed)}
    assert alerts == {
        ("BP-02", "QM01/buffer_pool/3"): True,
        ("BP-03", "QM01/buffer_pool/3"): True,
        ("Q-03", "QM01/queue/ORDERS.REQUEST"): True,
        ("CHL-16", "QM01/channel/TO.PARTNER"): True,
        ("CHL-01", "QM01/channel/TO.QM02"): False,
        ("Q-02", "DEMOQSG/queue/APPL1.ORDERS.SHARED"): False,
        ("CF-03", "DEMOQSG/cf_structure/APPL1"): False,
        ("PS-01", "QM02/page_set/4"): False,
    }


def test_the_recording_decodes(mqvitals: Run, demonstration: Path) -> None:
    """The recording holds sound PCF, one line of JSON a message."""
    lines = mqvitals("pcf", "decode", demonstration / "demonstration.jsonl.gz").stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    assert len(messages) > 2_000
    assert all("error" not in message for message in messages)
    assert {"line", "reply", "type", "command", "seq", "control", "compCode", "reason", "params"} == set(messages[0])


def test_times_are_known(mqvitals: Run, demonstration: Path) -> None:
    """The zone is derived from the answers, so that ages are told; before three polls agree they are absent."""
    store = demonstration / "demonstration.db"
    trend = json.loads(
        mqvitals("trend", "last_put_age_s", "QM01/queue/ORDERS.REQUEST", "--store", store, "--json").stdout
    )
    values = [value for _, value in trend["points"]]
    assert values[0] is None
    assert values[-1] is not None
    assert 0 <= values[-1] <= 5


def test_review_is_not_an_alert(mqvitals: Run, demonstration: Path) -> None:
    """Status counts operational alerts; the exit code is theirs."""
    status = mqvitals("status", "--json", "--store", demonstration / "demonstration.db", code=1)
    assert json.loads(status.stdout)["severity"] == "warning"


@pytest.mark.parametrize(
    "command", ["status", "trend", "alerts", "replay", "rules", "metrics", "config", "pcf", "demo"]
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


def test_a_folder_that_cannot_be_used(mqvitals: Run, tmp_path: Path) -> None:
    """Where the recording cannot be written there is a sentence, whatever is in the way."""
    (tmp_path / "demonstration.jsonl.gz").mkdir()
    assert "cannot be written" in mqvitals("demo", "--keep", tmp_path, code=2).stderr
    (tmp_path / "file").touch()
    assert "cannot use the folder" in mqvitals("demo", "--keep", tmp_path / "file", code=2).stderr


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A disk that fills while the recording is made is a sentence with a way out."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    arguments = argparse.Namespace(speed=None, keep=str(tmp_path))
    monkeypatch.setattr("mqvitals_agent.connection.writer.os.write", full)
    with pytest.raises(Failure, match="No space left") as caught:
        demo.run(arguments)
    assert "--keep" in caught.value.hint


def test_the_screen_is_drawn_in_place(tmp_path: Path) -> None:
    """In a terminal every picture goes over the one before, on a screen of its own that is left at Ctrl-C."""
    master, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "TMPDIR": str(tmp_path)}
    player = subprocess.Popen([*PROGRAM, "demo", "--speed", "40"], stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    seen = b""
    with suppress(OSError):
        while data := os.read(master, 65536):
            seen += data
            if seen.count(b"\x1b[H") == 2:
                player.send_signal(signal.SIGINT)
    os.close(master)
    assert player.wait(30) in (0, 130)
    assert seen.startswith(b"\x1b[?1049h")
    assert seen.endswith(b"\x1b[?25h\x1b[?1049l")
    assert seen.count(b"\x1b[H") >= 2
    assert b"Traceback" not in seen
    assert not list(tmp_path.iterdir())


def test_no_picture_is_higher_than_the_screen() -> None:
    """What does not fit is cut: a line too many would push the rest up and out."""
    picture = demo.redrawn("\n".join("abcdef"), 4)
    assert picture.count("\n") == 3
    assert "d" not in picture
    assert picture.startswith("\x1b[H")
    assert picture.endswith("\x1b[J")
