"""``mqvitals status``."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.text.terminal import cells

MakeStore = Callable[..., Path]
LAST = 1795176050000  # the small store's last snapshot


def test_exit_code_is_the_severity(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A firing critical alert is exit code 2, and the screen names it, its object and what to type next."""
    store = make_store()
    assert main(["status", "--store", str(store)]) == 2
    out = capsys.readouterr().out
    assert "● CRITICAL" in out
    assert "BP-03     QM01 buffer pool 3" in out
    assert "The past: replay of recording.jsonl.gz" in out
    assert "12 verdicts need SMF records, 2 need declarations" in out
    typed = " ".join(out.replace("\\\n", " ").split())
    assert f"mqvitals rules explain BP-03 QM01/buffer_pool/3 --store {store}" in typed
    assert "\x1b" not in out
    assert all(cells(line) <= 80 or line.startswith("    --store ") for line in out.splitlines())


def test_quiet_store_is_ok(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an alert the exit code is 0, however many verdicts are unknown for want of SMF or of a declaration."""
    assert main(["status", "--store", str(make_store(transitions=()))]) == 0
    assert "✓ OK  no alert is firing" in capsys.readouterr().out


def test_json(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON is one object with the promised keys; a replay's last time is now."""
    assert main(["status", "--store", str(make_store()), "--json"]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert {key: shown[key] for key in ("at", "source", "group", "severity")} == {
        "at": "2026-11-20T12:00:50.000Z",
        "source": "replay of recording.jsonl.gz",
        "group": "PRDQSG",
        "severity": "critical",
    }
    assert shown["queue_managers"] == [
        {
            "name": "QM01",
            "severity": "critical",
            "reachable": True,
            "age_s": 0.0,
            "interval_s": 10.0,
            "stale": False,
            "alerts": {"critical": 1, "warning": 3, "info": 0},
        }
    ]
    assert [alert["rule"] for alert in shown["alerts"]] == ["BP-03", "Q-03", "AGENT-03", "AGENT-03"]


def test_live_store_ages(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live store is judged by the clock: fresh for three intervals, unknown after that."""
    store = str(make_store(replay=False, transitions=()))
    monkeypatch.setattr("mqvitals_agent.cli.group.status.now_ms", lambda: LAST + 30_000)
    assert main(["status", "--store", store]) == 0
    assert "(30 s ago)" in capsys.readouterr().out
    monkeypatch.setattr("mqvitals_agent.cli.group.status.now_ms", lambda: LAST + 31_000)
    assert main(["status", "--store", store]) == 3
    out = capsys.readouterr().out
    assert "Stale: no new data for 31 s" in out
    assert "✓ OK" not in out


def test_store_from_environment_and_file(
    make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flag beats the environment, which beats the file."""
    store = make_store(transitions=())
    config = tmp_path / "mqvitals.yaml"
    config.write_text("store: {path: small.db}\n")
    assert main(["status", "--config", str(config)]) == 0
    monkeypatch.setenv("MQVITALS_STORE", str(tmp_path / "other.db"))
    assert main(["status", "--config", str(config)]) == 3
    assert "other.db" in capsys.readouterr().err
    assert main(["status", "--config", str(config), "--store", str(store)]) == 0


def test_cannot_tell(
    make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No store named, absent, no store at all, or broken settings: one sentence and exit code 3."""
    make_store()
    text, broken, empty = tmp_path / "notes.db", tmp_path / "bad.yaml", tmp_path / "empty.db"
    text.write_text("hello, this is no database\n" * 100)
    broken.write_text("store: {paht: x}\n")
    sqlite3.connect(empty).close()
    absent = tmp_path / "absent.db"
    for arguments in ([], ["--store", absent], ["--store", text], ["--store", empty], ["--config", broken]):
        assert main(["status", *map(str, arguments)]) == 3
        captured = capsys.readouterr()
        assert captured.err.startswith("mqvitals: ")
        assert "Traceback" not in captured.err
        assert captured.out == ""
    assert not absent.exists()


def test_unreadable_store(
    make_store: MakeStore,
    open_folder: Path,
    capsys: pytest.CaptureFixture[str],
    ordinary_user: Callable[[], AbstractContextManager[None]],
) -> None:
    """A store that may not be read is exit code 3, whatever stands in it."""
    store = Path(shutil.copy(make_store(), open_folder / "x.db"))
    assert main(["status", "--store", str(store)]) == 2
    capsys.readouterr()
    store.chmod(0)
    with ordinary_user():
        code = main(["status", "--store", str(store)])
    assert code == 3
    assert "permission" in capsys.readouterr().err


def test_broken_rule_files_do_not_hide_the_status(
    make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The status stands though the advice cannot be read."""
    rules, config = tmp_path / "own.yaml", tmp_path / "mqvitals.yaml"
    rules.write_text("rules: [\n")
    config.write_text("rules: {files: [own.yaml]}\n")
    assert main(["status", "--config", str(config), "--store", str(make_store())]) == 2
    assert "BP-03     QM01 buffer pool 3" in capsys.readouterr().out


def test_advice(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The worst alert comes with its rule's advice and MQSC command."""
    assert main(["status", "--store", str(make_store())]) == 2
    out = capsys.readouterr().out
    assert "What to do about BP-03 QM01/buffer_pool/3" in out
    assert "MQSC: DISPLAY USAGE" in out


def test_an_empty_store_is_unknown(tmp_path: Path, make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A store into which nothing was written yet cannot tell."""
    from mqvitals_agent.store.writer import Store

    del make_store
    Store.open(tmp_path / "new.db").close()
    assert main(["status", "--store", str(tmp_path / "new.db")]) == 3
    assert "No queue manager has reported yet" in capsys.readouterr().out


def test_what_it_suggests_carries_the_options(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The lists that the screen points to are those of the same store."""
    store = make_store()
    assert main(["status", "--store", str(store), "--full"]) == 2
    out = " ".join(capsys.readouterr().out.replace("\\\n", " ").split())
    assert f"mqvitals alerts list --review --store {store}" in out
    assert main(["status", "--store", str(store), "--lines", "10"]) == 2
    out = " ".join(capsys.readouterr().out.replace("\\\n", " ").split())
    assert f"and 1 more: mqvitals alerts list --store {store}" in out
