"""``mqvitals config check`` and ``show``, from the command line on."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from mqvitals_agent.cli.config.show import settings_rows
from mqvitals_agent.commandline import runner as command_line
from mqvitals_agent.commandline.settings import settings_in_force
from mqvitals_agent.errors import Failure
from mqvitals_config.decoding.secret import Secret

TOKEN = Secret.in_environment("MQVITALS_TOKEN", {"MQVITALS_TOKEN": "hunter2"})


@dataclass(frozen=True, slots=True)
class Inner:
    """A section with a secret."""

    token_file: Secret


@dataclass(frozen=True, slots=True)
class Outer:
    """A file's worth of settings."""

    inner: Inner


@pytest.fixture
def example(tmp_path: Path, example_settings: str) -> Path:
    """The example configuration with every setting live."""
    path = tmp_path / "example.yaml"
    path.write_text(example_settings, "utf-8")
    return path


@pytest.fixture(autouse=True)
def _no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own MQ stays out."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def run(*words: str) -> int:
    """Run ``mqvitals-agent config`` and return its exit code."""
    return command_line.main(["config", *words])


def test_check_of_a_good_file(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0; the example holds what the rules and the vocabulary know. What would have to be installed is a note."""
    assert run("check", str(example), "--no-files") == 0
    note, report, last = capsys.readouterr().out.splitlines()
    assert report.startswith("note: report night is sent next at ")
    assert note.startswith("note: QM01, QM04")
    assert " cannot be connected to: ibmmq or pymqi is not installed; install it with 'pip " in note
    assert last == f"{example}: no problems found"


def test_check_of_a_file_without_connections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence: no package is needed."""
    path = tmp_path / "x.yaml"
    path.write_text("name: PRDQSG\nqueue_managers: [{name: QM01}]\n")
    assert run("check", str(path)) == 0
    assert capsys.readouterr() == (f"{path}: no problems found\n", "")


def test_check_warns_of_what_the_package_cannot_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the setting's place with line and caret; a warning alone is exit code 0, and nothing is imported."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name == "pymqi" else None)
    path = tmp_path / "x.yaml"
    path.write_text(
        "connection: {channel: X, application_name: vital signs}\n"
        'queue_managers: [{name: QM01, connection: {connection_names: ["mvs1(1414)"]}}]\n'
    )
    assert run("check", str(path)) == 0
    out, err = capsys.readouterr()
    assert out == (
        f"{path}:1:44: connection.application_name: warning: pymqi cannot give the connection an application name,"
        " so 'vital signs' is not shown by DISPLAY CONN; ibmmq can (QM01)\n"
        "    1 | connection: {channel: X, application_name: vital signs}\n"
        "                                                   ^\n"
        "note: QM01: pymqi connects; it is installed, and 'mqvitals doctor' shows whether it can be used\n"
        f"{path}: no problems found, 1 warning\n"
    )
    assert err == ""
    assert "pymqi" not in sys.modules


def test_check_tells_every_problem_of_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output with line and caret, exit code 1."""
    path = tmp_path / "x.yaml"
    path.write_text("nmae: PRDQSG\nstore:\n  mode: 0777\n")
    assert run("check", str(path)) == 1
    out, err = capsys.readouterr()
    assert out == (
        f"{path}:1:1: nmae: unknown key; did you mean 'name'?\n"
        "    1 | nmae: PRDQSG\n"
        "        ^\n"
        f"{path}:3:9: store.mode: mode 0777 lets others write or execute the file; write 0600, 0640 or 0660\n"
        "    3 |   mode: 0777\n"
        "                ^\n"
    )
    assert err == ""


def test_check_tells_what_rules_and_vocabulary_do_not_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule, a parameter, a kind of object and a state that do not exist, each at its place."""
    path = tmp_path / "x.yaml"
    path.write_text(
        "rules:\n"
        "  disabled: [XX-99]\n"
        "  thresholds:\n"
        "    - {rule: PS-01, parameter: used_limit, value: 80}\n"
        "facts:\n"
        "  buffer_pools:\n"
        '    - {objects: "*/buffer_pol/3", purpose: short_lived}\n'
        '    - {objects: "*/buffer_pool/3", purpose: shortlived}\n'
    )
    assert run("check", str(path)) == 1
    lines = capsys.readouterr().out.splitlines()
    places = [line.removeprefix(f"{path}:").split(": ")[:2] for line in lines if line.startswith(str(path))]
    assert places == [
        ["2:14", "rules.disabled[0]"],
        ["4:32", "rules.thresholds[0].parameter"],
        ["7:20", "facts.buffer_pools[0].objects"],
        ["8:45", "facts.buffer_pools[1].purpose"],
    ]


def test_check_of_a_rule_file_that_the_settings_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its problems are told with its own path and line."""
    (tmp_path / "own.yaml").write_text("rules:\n  - idd: X\n")
    path = tmp_path / "x.yaml"
    path.write_text("rules: {files: [own.yaml]}\n")
    assert run("check", str(path)) == 1
    assert f"{tmp_path / 'own.yaml'}:2:5: rules[0].idd: unknown key" in capsys.readouterr().out


def test_check_of_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and the sentence on standard error."""
    assert run("check", str(tmp_path / "absent.yaml")) == 2
    assert capsys.readouterr() == (
        "",
        f"mqvitals: {tmp_path / 'absent.yaml'}: cannot be read: No such file or directory\n",
    )


def test_check_of_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name the variable's file is checked, else one of the search path; without any a hint says what to do."""
    missing, found = tmp_path / "missing.yaml", tmp_path / "found.yaml"
    assert run("check") == 2
    hint = "hint: name one, set MQVITALS_CONFIG, or write one with 'mqvitals config init'\n"
    assert capsys.readouterr().err == f"mqvitals: there is no file to check\n{hint}"
    monkeypatch.setenv("MQVITALS_CONFIG_PATH", f"{missing}:{found}")
    assert run("check") == 2
    assert capsys.readouterr().err == f"mqvitals: there is no file to check: looked for {missing} and {found}\n{hint}"
    found.write_text("name: PRDQSG\n")
    assert run("check") == 0
    assert capsys.readouterr().out == f"{found}: no problems found\n"
    monkeypatch.setenv("MQVITALS_CONFIG", str(missing))
    assert run("check") == 2


def test_files_that_the_settings_name_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Secrets, folders, a group: each at its place, none with its text; without --no-files that is exit code 1."""
    secret, bad_address, folder = tmp_path / "token", tmp_path / "address", tmp_path / "smf"
    secret.write_text("hunter2\n")
    secret.chmod(0o644)
    bad_address.write_text("ftp://hunter2.example\n")
    bad_address.chmod(0o600)
    path = tmp_path / "x.yaml"
    path.write_text(
        "connection: {user: mqmon, password_file: absent}\n"
        "queue_managers: [{name: QM01}]\n"
        "receivers:\n"
        "  - {name: one, url: 'https://alerts.example', token_file: token}\n"
        "  - {name: two, url_file: address}\n"
        "store: {path: nowhere/x.db, mode: '0660', group: no-such-group}\n"
        f"smf: {{watch: {folder}}}\n"
        "console: {follow: [{path: later.log}, {path: .}]}\n"
    )
    assert run("check", str(path)) == 1
    shown = capsys.readouterr().out
    assert "hunter2" not in shown
    told = [line.removeprefix(f"{path}:") for line in shown.splitlines() if line.startswith(str(path))]
    assert [line.split(": ", 2)[:2] for line in told] == [
        ["1:42", "connection.password_file"],
        ["5:27", "receivers[1].url_file"],
        ["6:15", "store.path"],
        ["6:50", "store.group"],
        ["7:14", "smf.watch"],
        ["8:46", "console.follow[1].path"],
        ["4:60", "receivers[0].token_file"],
        ["8:27", "console.follow[0].path"],
    ]
    assert [": warning: " in line for line in told] == [False] * 6 + [True] * 2
    assert run("check", str(path), "--no-files") == 0

    secret.chmod(0o600)
    (tmp_path / "absent").write_text("hunter2")
    (tmp_path / "absent").chmod(0o600)
    bad_address.write_text("https://alerts.example/hunter2")
    (tmp_path / "nowhere").mkdir()
    folder.mkdir()
    path.write_text(path.read_text().replace(", group: no-such-group", "").replace("{path: .}", "{path: x.yaml}"))
    capsys.readouterr()
    assert run("check", str(path)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{path}: no problems found, 1 warning"


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting in force with the origin of its value."""
    path = tmp_path / "x.yaml"
    path.write_text("name: PRDQSG\nrules: {disabled: [BP-01]}\n")
    monkeypatch.setenv("MQVITALS_STORE", "x.db")
    assert run("show", str(path)) == 0
    rows = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert ["name", "PRDQSG", f"{path}:1:7"] in rows
    assert ["store.path", "x.db", "environment MQVITALS_STORE"] in rows
    assert ["store.mode", "0600", "default"] in rows
    assert ["rules.disabled[0]", "BP-01", f"{path}:2:20"] in rows
    assert ["rules.files", "[]", "default"] in rows
    assert ["time_zone", "(none)", "default"] in rows


def test_show_as_json(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for programs."""
    assert run("show", str(example), "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["file"] == str(example)
    assert shown["settings"]["store.mode"]["value"] == "0660"
    assert shown["settings"]["rules.thresholds[0].value"]["value"] == 80
    line = example.read_text("utf-8").splitlines().index("  files: []") + 1
    assert shown["settings"]["rules.files"] == {"value": [], "origin": f"{example}:{line}:10"}
    assert shown["settings"]["queue_managers[0].time_zone"] == {"value": None, "origin": "default"}


def test_show_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    """The defaults."""
    assert run("show", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["file"] is None
    assert {row["origin"] for row in shown["settings"].values()} == {"default"}


def test_show_of_a_bad_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing on standard output, every problem on standard error, exit code 2."""
    path = tmp_path / "x.yaml"
    path.write_text("name: no\nstoer: 1\n")
    assert run("show", str(path)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        f"{path}:1:7: name: expected a string, got the boolean no; quote it\n    1 | name: no\n              ^\n" in err
    )
    assert "stoer: unknown key" in err
    assert err.splitlines()[-1].startswith("hint: ")


def test_show_never_shows_a_secret() -> None:
    """Of a secret only where it is kept, as text and as JSON."""
    rows = settings_rows(Outer(Inner(TOKEN)), {"inner.token_file": "x.yaml:2:3"})
    assert rows == [("inner.token_file", "<secret in environment MQVITALS_TOKEN>", "x.yaml:2:3")]
    assert "hunter2" not in json.dumps(rows)


def test_show_keeps_every_secret_of_a_connection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what a password's file or variable holds, nor who asks for a table with which password and signature."""
    (tmp_path / "password").write_text("hunter2-in-a-file\n")
    monkeypatch.setenv("QM02_PASSWORD", "hunter2-in-a-variable")
    path = tmp_path / "x.yaml"
    path.write_text(
        "connection: {user: mqmon, password_file: password}\n"
        "queue_managers:\n"
        '  - {name: QM01, connection: {ccdt_url: "https://bob:hunter2@tables.example/t.json?signature=hunter2"}}\n'
        "  - {name: QM02, connection: {password_variable: QM02_PASSWORD, ccdt_url: file:///etc/mq/ccdt.json}}\n"
    )
    for words in ([], ["--json"]):
        assert run("show", str(path), *words) == 0
        out = capsys.readouterr().out
        assert "hunter2" not in out
        assert "bob" not in out
        assert "https://***@tables.example/t.json?***" in out
        assert "file:///etc/mq/ccdt.json" in out
        assert f"<secret in file {tmp_path / 'password'}>" in out
    assert run("check", str(path)) == 0
    path.write_text(path.read_text().replace("name: QM02", "nmae: QM02").replace("ccdt_url: file", "ccdt_rul: file"))
    assert run("check", str(path)) == 1
    assert "hunter2" not in capsys.readouterr().out


def test_settings_for_other_commands(tmp_path: Path) -> None:
    """A command gets its settings, or a Failure that holds every problem."""
    assert settings_in_force(None, {"store": "x.db"}).settings.store.path == "x.db"
    path = tmp_path / "x.yaml"
    path.write_text("name: no\n")
    with pytest.raises(Failure, match="the settings cannot be used"):
        settings_in_force(str(path), {})
    with pytest.raises(Failure, match="cannot be read"):
        settings_in_force(str(tmp_path / "absent.yaml"), {})


def test_help_does_not_load_the_decoder() -> None:
    """Starting up stays quick: YAML is read only when there is a file to read."""
    code = "import sys, mqvitals_agent.cli.config; sys.exit('yaml' in sys.modules or 'mqvitals_rules' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_check_warns_of_tuning_without_effect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What later entries hide, and what certainly selects nothing: warnings, with their place."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(
        "name: PRDQSG\nqueue_managers: [{name: QM01}]\nrules:\n  tuning:\n"
        "    - {rule: PS-01, objects: QM01/page_set/4, hold: 1m, reason: a}\n"
        "    - {rule: PS-01, hold: 2m, reason: b}\n"
        "    - {rule: PS-02, objects: QM09/page_set/4, hold: 2m, reason: c}\n",
        "utf-8",
    )
    assert run("check", str(path)) == 0
    out = capsys.readouterr().out
    assert f"{path}:5:14: rules.tuning[0]: warning: this never counts: {path}:6:14 says something else" in out
    assert f"{path}:7:30: rules.tuning[2].objects: warning: this selects nothing" in out
    assert "no problems found, 2 warnings" in out


def test_the_next_time_of_a_report_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own zone, so that a person sees what the fields of cron mean."""
    monkeypatch.setattr(
        "mqvitals_agent.commandline.time_arguments.now_ms", lambda: 1_795_176_000_000
    )  # Friday, 12:00 UTC
    path = tmp_path / "mqvitals.yaml"
    path.write_text(
        "receivers: [{name: ops, url: https://ops.example.com/hook}]\n"
        "reports: [{name: week, at: 0 6 * * MON, time_zone: Europe/Berlin, receivers: [ops]}]\n",
        "utf-8",
    )
    assert command_line.main(["config", "check", "--no-files", str(path)]) == 0
    assert "note: report week is sent next at 2026-11-23 06:00:00 CET, to ops\n" in capsys.readouterr().out
