"""The screens on real terminals: what they show at their size, and that what they suggest can be typed."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import struct
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mqsamples.group import batches, write_recording
from mqsamples.once import Once
from mqsamples.warm import WarmProcess
from mqvitals_agent.simulator.scenario import IncidentKind, Scenario, ScenarioIncident, load_scenario
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.screens.status import suggestions
from mqvitals_tui.main import main

Run = Callable[..., Any]

SIZES = [
    (80, 24),
    (200, 60),
    pytest.param(60, 30, marks=pytest.mark.soak),
    pytest.param(120, 40, marks=pytest.mark.soak),
]
INCIDENT = Scenario(
    "Three troubles",
    600_000,
    (
        ScenarioIncident(30_000, 600_000, IncidentKind.CONSUMER_GONE, "QM02/PAYMENTS.IN"),
        ScenarioIncident(20_000, 600_000, IncidentKind.SLOW_CONSUMER, "QM02/ORDERS.REQUEST", 0.1),
        ScenarioIncident(60_000, 600_000, IncidentKind.PARTNER_DOWN, "QM03/TO.PARTNER"),
    ),
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the environment decides on the size."""
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def critical(built_once: Once, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A replayed store of an incident: a queue without a consumer, another that is too slow, a partner that is away."""

    def build(path: Path) -> None:
        recording = tmp_path_factory.mktemp("critical") / "recording-incident.jsonl.gz"
        write_recording(recording, INCIDENT, batches(INCIDENT, 200_000, 5_000, connected=True), 5_000)
        assert main(["replay", str(recording), "--speed", "max", "--store", str(path)]) == 0

    return Path(
        shutil.copy(built_once.built("critical.db", build), tmp_path_factory.mktemp("critical") / "incident.db")
    )


def on_a_terminal(folder: Path, width: int, height: int, *arguments: str) -> str:
    """What a command that is typed in a folder shows on a terminal of this size, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1"}
    with WarmProcess(list(arguments), stdout=theirs, stderr=theirs, env=environment, cwd=folder) as program:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        program.wait(timeout=60)
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""  # the other side has gone


def commands(shown: str) -> Iterator[list[str]]:
    """The commands that a screen suggests, as a shell would read them."""
    for line in shown.replace("\\\n", " ").splitlines():
        found = re.search(r"(?:^  |: )(mqvitals .*)", line)
        if found:
            yield shlex.split(found[1])


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_incident_fits_a_terminal(critical: Path, width: int, height: int) -> None:
    """Nothing scrolls off: group, how bad and since when, who is not well, the three worst alerts."""
    shown = on_a_terminal(critical.parent, width, height, "status", "--store", critical.name)
    lines = shown.splitlines()
    assert sum(max(-(-cells(line) // width), 1) for line in lines) < height
    head = " ".join(lines[:2])
    assert "PRDQSG" in head
    assert re.search(r"● CRITICAL (for )?\d+m\d\ds", head)
    assert re.search(r"^● CRITICAL +QM02", shown, re.MULTILINE)
    assert sum(" since 12:" in line and line[0] in "●▲" for line in lines[2:]) >= 3


def test_full_shows_everything(critical: Path) -> None:
    """With --full a terminal gets what a pipe gets."""
    full = on_a_terminal(critical.parent, 80, 24, "status", "--full", "--store", critical.name)
    assert len(full.splitlines()) > 24
    assert "What to do about" in full
    assert "CSQ_ADMIN" in full


def test_a_pipe_gets_everything(mqvitals: Run, critical: Path) -> None:
    """What is not a terminal has no height; --lines gives it one."""
    piped = mqvitals("status", "--store", critical, code=2).stdout
    assert "CSQ_ADMIN" in piped
    assert "What to do about" in piped
    assert len(mqvitals("status", "--store", critical, "--lines", "23", code=2).stdout.splitlines()) <= 23


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("size", [["--full"], ["--lines", "40"]])
def test_suggested_commands_work(
    critical: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    size: list[str],
) -> None:
    """Each command that the status suggests runs as it stands there, wherever the store is."""
    monkeypatch.setenv("COLUMNS", str(width))
    odd = tmp_path / "a store's.db"
    odd.symlink_to(critical)
    assert main(["status", "--store", str(odd), *size]) == 2
    found = list(commands(capsys.readouterr().out))
    assert found
    for program, *arguments in found:
        assert program == "mqvitals"
        assert main(arguments) == 0, arguments
        assert capsys.readouterr().out


def test_every_alert_has_suggestions_that_work(critical: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that would be suggested were another alert the worst."""
    with StoreReader.open(critical) as reader:
        alerts = [stored.alert for stored in reader.alerts(include_ended=True)]
    for line in sorted({line for alert in alerts for line in suggestions(alert)}):
        assert main([*shlex.split(line)[1:], "--store", str(critical)]) == 0, line
        assert capsys.readouterr().out


@pytest.mark.parametrize("width", [40, 60, 120])
def test_narrow_and_wide(
    critical: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """No line is wider than asked, but for what must not be broken."""
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (
        ["status"],
        ["alerts", "list", "--all"],
        ["trend", "status", "QM02/channel/TO.QM03"],
        ["trend", "depth", "QM02/queue/PAYMENTS.IN"],
        ["trend", "bytes_sent", "QM01/channel/TO.QM02"],
    ):
        main([*arguments, "--store", str(critical)])
        lines = capsys.readouterr().out.splitlines()
        assert max(map(cells, lines)) > width - 15
        assert all(cells(line) <= width or re.match(r"  mqvitals |    --store ", line) for line in lines)


def test_one_of_a_family(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """While BP-03 fires for a pool, its BP-02 is listed as covered, and the status leaves it out."""
    store, recording = tmp_path / "part.db", tmp_path / "part.jsonl"
    pool = "QM01/buffer_pool/3"
    scenario = load_scenario("buffer-pool-thrash")
    write_recording(recording, scenario, batches(scenario, 120_000, 2_000, connected=True), 2_000)

    def said(*words: str, code: int = 0) -> str:
        assert main([*words, "--store", str(store)]) == code
        return capsys.readouterr().out

    said("replay", str(recording), "--speed", "max")
    text = said("alerts", "list")
    assert "BP-02  QM01 buffer pool 3 (covered by BP-03)" in " ".join(text.split()).replace("BP-02 ", "BP-02  ")
    every = json.loads(said("alerts", "list", "--json"))
    assert {alert["rule"] for alert in every if alert["object"] == pool} == {"BP-02", "BP-03"}
    assert all({"rule", "severity", "labels", "id"} <= alert.keys() for alert in every)
    status = json.loads(said("status", "--json", code=2))
    assert [alert["rule"] for alert in status["alerts"] if alert["object"] == pool] == ["BP-03"]
    shown = said("status", code=2)
    assert "BP-03" in shown
    assert "BP-02" not in shown
