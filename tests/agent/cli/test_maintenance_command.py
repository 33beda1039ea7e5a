"""``mqvitals maintenance``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agent.cli.alerts.test_alerts_list import fired

from mqvitals_agent.cli import maintenance as command
from mqvitals_agent.commandline.runner import main
from mqvitals_rules.lifecycle.alert import Severity

MakeStore = Callable[..., Path]
NOW = 1_795_176_000_000  # Friday 2026-11-20 13:00 in Berlin
SETTINGS = """\
time_zone: Europe/Berlin
receivers: [{name: ops, url: "http://127.0.0.1:9/"}, {name: chat, url: "http://127.0.0.1:9/"}]
route:
  receiver: ops
  routes: [{matchers: [kind=queue], receiver: chat, mute_time_intervals: [nights]}]
time_intervals:
  - {name: nights, time_intervals: [{times: [{start_time: "00:00", end_time: "06:00"}], location: Europe/Berlin}]}
maintenance:
  - name: weekly IPL
    reason: IPL of SYS1
    queue_managers: [QM01]
    planned_down: true
    weekdays: [friday, sunday]
    times: [{start_time: "12:00", end_time: "15:00"}]
  - {name: batch, reason: it is late, objects: ["*/queue/BATCH.*"], from: 2026-11-21 02:00, to: 2026-11-21 04:00}
"""


@pytest.fixture(autouse=True)
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a Friday."""
    monkeypatch.setattr(command, "now_ms", lambda: NOW)
    monkeypatch.setattr(command, "line_width", lambda: 80)


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A configuration with two windows and a time interval."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(SETTINGS)
    return str(path)


def test_windows_that_are_on_and_the_next_ones(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By the wall clock of their zone, with what they are about and why."""
    assert main(["maintenance", "list", "--config", config, "--days", "3"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "on    weekly IPL: until Fri 2026-11-20 15:00 CET, for 2 h 0 m",
        "      QM01 (planned down): IPL of SYS1",
        "next  batch: Sat 2026-11-21 02:00 CET to Sat 2026-11-21 04:00 CET, in 13 h 0 m",
        "      */queue/BATCH.*: it is late",
        "next  weekly IPL: Sun 2026-11-22 12:00 CET to Sun 2026-11-22 15:00 CET, in 1 d",
        "        23 h",
        "      QM01 (planned down): IPL of SYS1",
    ]
    assert main(["maintenance", "list", "--config", config, "--json"]) == 0
    first, *others = json.loads(capsys.readouterr().out)
    assert (first["on"], first["local_ends"], len(others)) == (True, "2026-11-20T15:00:00+01:00", 5)
    assert main(["maintenance", "list", "--config", config, "--days", "0"]) == 2


def test_what_is_muted_at_a_time(config: str, make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Windows, routes, and the alerts that fire now; without a store the latter are not known."""
    store = str(make_store(transitions=[fired("BP-03", Severity.CRITICAL, Severity.CRITICAL)]))
    assert main(["maintenance", "test", "14:30", "--config", config, "--store", store]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Fri 2026-11-20 14:30 CET",
        "on    weekly IPL: until Fri 2026-11-20 15:00 CET, for 30m00s",
        "      QM01 (planned down): IPL of SYS1",
        "alerts that fire now: 1; of these maintenance would mute 1",
        "  #1 BP-03 CRITICAL QM01/buffer_pool/3: maintenance 'weekly IPL' until 15:00",
        "    CET: QM01 is planned down; IPL of SYS1",
    ]
    assert main(["maintenance", "test", "tomorrow", "02:30", "--config", config]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Sat 2026-11-21 02:30 CET",
        "on    batch: until Sat 2026-11-21 04:00 CET, for 1 h 30 m",
        "      */queue/BATCH.*: it is late",
        "route.routes[0] is muted during nights, until 06:00 CET: chat is not notified",
        "  from there",
        "(No store is named, so the alerts that fire now are not looked at.)",
    ]
    assert main(["maintenance", "test", "2h", "--config", config, "--store", store, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["at"], found["windows"], found["routes"]) == ("2026-11-20T14:00:00.000Z", [], [])
    assert [(each["id"], each["muted_by"]) for each in found["alerts"]] == [(1, None)]
    assert main(["maintenance", "test", "soon", "--config", config]) == 2
    assert "write it as 2h, 06:00, tomorrow 06:00" in capsys.readouterr().err


def test_the_list_of_alerts_says_why(config: str, make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The stage names the window, its end and its reason."""
    store = str(make_store(transitions=[fired("BP-03", Severity.CRITICAL, Severity.CRITICAL)]))
    assert main(["alerts", "list", "--why", "--config", config, "--store", store, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["excluded"] == "maintenance"
    text = "maintenance 'weekly IPL' until 15:00 CET: QM01 is planned down; IPL of SYS1"
    assert found["stages"][-1] == {"stage": "maintenance", "passes": False, "text": text}
    assert main(["alerts", "list", "--config", config, "--store", store]) == 0
    assert text in " ".join(capsys.readouterr().out.split())
    assert main(["alerts", "list", "--config", config, "--store", store, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    why = "QM01 is planned down; IPL of SYS1"
    assert found["maintenance"] == {"name": "weekly IPL", "until": "2026-11-20T14:00:00.000Z", "why": why}


def test_mistakes_are_named_in_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also in patterns, whose kinds only the rules know."""
    path = tmp_path / "bad.yaml"
    path.write_text('maintenance: [{name: a, reason: b, objects: ["*/queu/X"], weekdays: [sunday]}]\n')
    assert main(["maintenance", "list", "--config", str(path)]) == 2
    assert "bad.yaml:1:49: maintenance[0].objects[0]: there is no kind of object 'queu'" in capsys.readouterr().err
    assert main(["config", "check", str(path)]) == 1
    path.write_text("name: PRDQSG\n")
    capsys.readouterr()
    assert main(["maintenance", "list", "--config", str(path)]) == 0
    assert "has no maintenance window" in capsys.readouterr().out
