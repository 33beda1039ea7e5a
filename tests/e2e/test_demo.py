"""The demonstration, which needs nothing but the product, and what a first use of the commands meets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_an_unknown_speed(mqvitals: Run) -> None:
    """The demonstration says which speeds there are."""
    assert "--speed nan is neither a number above 0 nor max" in mqvitals("demo", "--speed", "nan", code=2).stderr
