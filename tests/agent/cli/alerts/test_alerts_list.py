"""``mqvitals alerts list``."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import ObjectName

MakeStore = Callable[..., Path]
KEYS = ["rule", "severity", "state", "queue_manager", "kind", "object", "started", "ended", "summary", "labels"]
HANDLING = ["id", "acknowledged", "silence", "maintenance", "notes"]


def fired(rule: str, severity: Severity, worst: Severity, family: str = "") -> Transition:
    """QM01's pool 3 has had an alert since 12:00:50."""
    pool = ObjectName("QM01", "buffer_pool", "3")
    at = 1795176050000
    return Transition(
        Alert(
            AlertKey(rule, pool),
            pool,
            "operational",
            family,
            AlertState.FIRING,
            severity,
            worst,
            at,
            at,
            "4 % free",
            at,
        ),
        None,
        Why.HELD,
    )


def listed(capsys: pytest.CaptureFixture[str], store: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["alerts", "list", "--store", str(store), "--json", *options]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_what_receivers_get(make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each alert with each receiver and the reason; advice in one line."""
    config = tmp_path / "own.yaml"
    receivers = [
        f"{{name: {least}, url: 'http://h.example/', min_severity: {least}}}" for least in ("critical", "info")
    ]
    config.write_text(f"queue_managers: [{{name: QM01}}]\nreceivers: [{', '.join(receivers)}]\n")
    store = make_store(transitions=(fired("BP-02", Severity.WARNING, Severity.WARNING),))
    chosen = ["alerts", "list", "--store", str(store), "--config", str(config), "--receivers"]
    assert main(chosen) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "BP-02 warning QM01/buffer_pool/3 -> info: to be sent, it waits for its group" in lines
    assert (
        "BP-02 warning QM01/buffer_pool/3 -> critical: not sent, it is milder than the receiver's min_severity" in lines
    )
    assert main([*chosen, "--severity", "critical"]) == 0
    assert "BP-02" not in capsys.readouterr().out
    assert main([*chosen, "--json"]) == 2
    config.write_text("queue_managers: [{name: QM01}]\n")
    assert main(chosen) == 2
    assert "names no receiver" in capsys.readouterr().err


def test_the_labels_of_an_alert(
    make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that routes and silences see, the site's with them, in 'status' as in 'alerts list'; the severity is that of now."""
    config = tmp_path / "own.yaml"
    config.write_text("name: MYQSG\nlabels: [{objects: 'QM01/*', set: {team: mq}}]\n")
    store = make_store(transitions=(fired("BP-02", Severity.WARNING, Severity.CRITICAL, "bp_free"),))
    (alert,) = listed(capsys, store, "--config", str(config))
    assert alert["labels"] == {
        "alertname": "BP-02",
        "rule": "BP-02",
        "family": "bp_free",
        "severity": "warning",
        "owner": "QM01",
        "queue_manager": "QM01",
        "kind": "buffer_pool",
        "object": "QM01/buffer_pool/3",
        "name": "3",
        "group": "MYQSG",
        "team": "mq",
    }
    main(["status", "--store", str(store), "--config", str(config), "--json"])
    assert json.loads(capsys.readouterr().out)["alerts"] == [{key: alert[key] for key in (*KEYS, *HANDLING)}]
    # A mistake in the settings keeps no one from looking at alerts.
    config.write_text("labels: broken")
    monkeypatch.setenv("MQVITALS_CONFIG", str(config))
    (same,) = listed(capsys, store)
    assert same["labels"]["group"] == "PRDQSG"


def test_json(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Open operational alerts that fired, each with ten keys, and what people did; those that wait for their hold are not listed."""
    alerts = listed(capsys, make_store())
    assert all(list(alert) == KEYS + HANDLING for alert in alerts)
    assert [(alert["rule"], alert["object"]) for alert in alerts] == [
        ("AGENT-03", "QM01/queue_manager"),
        ("AGENT-03", "QM01/queue_manager"),
        ("Q-03", "QM01/queue/\x1b[2J[/x]"),
        ("BP-03", "QM01/buffer_pool/3"),
    ]
    assert all(alert["ended"] is None and alert["state"] == "firing" for alert in alerts)
    assert alerts[-1]["started"] == "2026-11-20T12:00:50.000Z"


def test_told_apart(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Two refused commands of one queue manager differ in their summaries."""
    first, second, *_ = listed(capsys, make_store())
    assert "INQUIRE_ARCHIVE" in first["summary"]
    assert "INQUIRE_LOG" in second["summary"]


def test_all_and_review(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--all adds those that ended, --review shows advice alone, --all-kinds both."""
    store = make_store()
    assert {alert["rule"] for alert in listed(capsys, store, "--all")} == {"AGENT-03", "Q-03", "BP-03", "PS-01"}
    (ended,) = (alert for alert in listed(capsys, store, "--all") if alert["ended"])
    assert (ended["ended"], ended["state"]) == ("2026-11-20T12:00:30.000Z", "resolved")
    assert [alert["rule"] for alert in listed(capsys, store, "--review")] == ["CHIN-10"]
    assert len(listed(capsys, store, "--all", "--all-kinds")) == 6


def test_severity(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--severity keeps what is as severe or worse."""
    store = make_store()
    assert [alert["rule"] for alert in listed(capsys, store, "--severity", "critical")] == ["BP-03"]
    assert len(listed(capsys, store, "--severity", "info")) == 4


def test_severity_goes_by_the_worst(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--severity filters by what --json prints: the worst while open, which the text tells beside what it is now."""
    store = make_store(transitions=(fired("BP-03", Severity.WARNING, Severity.CRITICAL),))
    (found,) = listed(capsys, store, "--severity", "critical")
    assert found["severity"] == "critical"
    assert main(["alerts", "list", "--store", str(store), "--severity", "critical"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("▲ WARNING ")
    assert "(was critical)" in out


def test_covered_by_another_of_its_family(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The list keeps every alert of a family, says which one stands for the others, and ranks equals as their rules do."""
    family = tuple(fired(rule, Severity.INFO, Severity.INFO, "bp_free") for rule in ("BP-01", "BP-02"))
    store = make_store(transitions=family)
    assert main(["alerts", "list", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert "BP-01 QM01 buffer pool 3 (covered by BP-02)" in " ".join(out.split())
    assert out.count("covered") == 1
    assert [list(alert) for alert in listed(capsys, store)] == [KEYS + HANDLING] * 2
    assert main(["status", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert "◆ 1 info" in out
    assert "BP-01" not in out


def test_text(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The list is worst first, fits 80 columns, and steers no terminal."""
    assert main(["alerts", "list", "--store", str(make_store()), "--all"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "QM01 ␛[2J[/x]" in out
    assert all(cells(line) <= 80 for line in out.splitlines())
    assert out.index("BP-03") < out.index("Q-03") < out.index("PS-01")


def test_nothing(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty list is [] in JSON and a sentence for people; both are exit code 0."""
    store = make_store(transitions=())
    assert listed(capsys, store) == []
    assert main(["alerts", "list", "--store", str(store)]) == 0
    assert capsys.readouterr().out == "✓ OK  no alerts\n"


def test_no_store(make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store that is not there is one sentence and exit code 2."""
    make_store()
    assert main(["alerts", "list", "--store", str(tmp_path / "absent.db")]) == 2
    assert "absent.db" in capsys.readouterr().err
    assert main(["alerts", "list"]) == 2
    assert "hint: name one with --store FILE" in capsys.readouterr().err


def test_colour_only_when_wanted(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not a terminal is not coloured unless it is told to be, and never against NO_COLOR."""
    store = str(make_store())
    monkeypatch.setenv("MQVITALS_COLOR", "always")
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["alerts", "list", "--store", store])
    assert "\x1b[1;31m● CRITICAL\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["alerts", "list", "--store", store])
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("replay", [True, False])
def test_the_ages_are_those_of_status(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], *, replay: bool
) -> None:
    """An alert has the same age in both, also in a store into which nothing has come for long."""
    store = make_store(replay=replay)
    main(["status", "--full", "--store", str(store)])
    shown = capsys.readouterr().out
    assert main(["alerts", "list", "--store", str(store)]) == 0
    ages = re.findall(r"^(. [A-Z]+ +[0-9].*?)  since .*?(BP-03|Q-03)", capsys.readouterr().out, re.MULTILINE)
    assert {rule for _, rule in ages} == {"BP-03", "Q-03"}
    assert re.findall(r"^(. [A-Z]+ +[0-9].*?)  since .*?(BP-03|Q-03)", shown, re.MULTILINE) == ages


def test_full_json_has_the_figures(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """At its worst, and as it is since the condition no longer holds; nothing where there is none."""
    plain, worst = (
        fired("BP-03", Severity.CRITICAL, Severity.CRITICAL, ""),
        fired("BP-01", Severity.INFO, Severity.CRITICAL, ""),
    )
    worst = replace(worst, after=replace(worst.after, worst_value="1 %", worst_number=1.0, value_now="7 %"))
    shown = {each["rule"]: each for each in listed(capsys, make_store(transitions=(plain, worst)), "--full")}
    assert (shown["BP-01"]["worst_value"], shown["BP-01"]["value_now"]) == ("1 %", "7 %")
    assert (shown["BP-03"]["worst_value"], shown["BP-03"]["value_now"]) == (None, None)


def test_what_is_no_longer_kept(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--all says from when on ended alerts are there; the alerts that are open are not asked for what is gone."""
    store = make_store()
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("INSERT INTO meta VALUES('alerts_kept_from', '1795176000000')")
    assert main(["alerts", "list", "--store", str(store), "--all"]) == 0
    assert "Alerts that ended before 2026-11-20 12:00:00 UTC are no longer kept\n" in capsys.readouterr().out
    assert main(["alerts", "list", "--store", str(store)]) == 0
    assert "no longer kept" not in capsys.readouterr().out
    listed(capsys, store, "--all")
