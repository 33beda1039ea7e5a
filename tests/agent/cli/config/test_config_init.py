"""``mqvitals config init``: a short file from flags or from questions, always one that the check passes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from mqvitals_agent.cli.config.init import Ask, add_arguments, run
from mqvitals_agent.commandline import runner as command_line
from mqvitals_agent.errors import Failure
from mqvitals_config.load import load_settings
from mqvitals_config.receivers.http import WebhookSettings


def init(*words: str, ask: Ask | None = None) -> int:
    """Run ``config init`` as from a script, or with ``ask`` as in a terminal."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(words), ask)


def test_flags_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What they say is in force, what they leave out has its default, and the next commands are named."""
    path = tmp_path / "mqvitals.yaml"
    flags = (
        "--name",
        "PRDQSG",
        "--queue-manager",
        "QM01=mvs1.example(1414)",
        "--queue-manager",
        "QM02",
        "--user",
        "mqmon",
    )
    assert command_line.main(["config", "init", str(path), *flags]) == 0
    settings = load_settings(str(path), {}, {}).settings
    assert (settings.name, settings.store.path) == ("PRDQSG", str(tmp_path / "prdqsg.db"))
    assert [str(each.name) for each in settings.queue_managers] == ["QM01", "QM02"]
    first, second = (settings.connection_of(each) for each in settings.queue_managers)
    assert (first.channel, first.connection_names, first.user) == ("MQVITALS.SVRCONN", ("mvs1.example(1414)",), "mqmon")
    assert (first.tls, second.is_reachable) == (None, False)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"mqvitals doctor --config {path}" in err
    assert command_line.main(["config", "check", str(path)]) == 0


def test_a_file_that_reaches_no_queue_manager(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first step is then to add a queue manager: the doctor would have none to examine."""
    assert init(str(tmp_path / "x.yaml"), "--queue-manager", "QM02") == 0
    _, first, *_ = capsys.readouterr().err.splitlines()
    assert "add a queue manager and where it listens" in first
    assert init(str(tmp_path / "y.yaml"), "--queue-manager", "QM01=mvs1.example(1414)") == 0
    assert "add a queue manager" not in capsys.readouterr().err


def test_questions(tmp_path: Path) -> None:
    """What no flag says is asked for; Enter takes the usual; a queue manager that cannot be read is asked for again."""
    answers = {
        "Your name": "PRD QSG",
        "CipherSpec": "ANY_TLS12_OR_HIGHER",
        "Key repository": "keys/mqvitals",
        "User id": "mqmon",
        "File that holds the password": "secrets/mqmon",
        "File that holds the address": "secrets/hook",
    }
    queue_managers = iter(["QM01=", "QM01=mvs1.example(1414)", "QM02 = mvs2.example(1415)", ""])
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        if question.startswith("A queue manager"):
            return next(queue_managers)
        return next((answer for begin, answer in answers.items() if question.startswith(begin)), "")

    path = tmp_path / "x.yaml"
    assert init(str(path), ask=ask) == 0
    settings = load_settings(str(path), {}, {}).settings
    assert settings.name == "PRD QSG"
    assert [settings.connection_of(each).connection_names for each in settings.queue_managers] == [
        ("mvs1.example(1414)",),
        ("mvs2.example(1415)",),
    ]
    assert settings.connection.tls is not None
    assert settings.connection.tls.cipher == "ANY_TLS12_OR_HIGHER"
    (receiver,) = settings.receivers
    assert isinstance(receiver, WebhookSettings)
    assert receiver.address.origin == f"file {tmp_path}/secrets/hook"
    assert sum(question.startswith("A queue manager") for question in asked) == 4


def test_nothing_is_overwritten_or_half_written(tmp_path: Path, ordinary_user: object) -> None:
    """A file that is there stays; answers that are no settings, and a folder that is not there, leave nothing behind."""
    path = tmp_path / "x.yaml"
    path.write_text("name: MINE\n")
    with pytest.raises(Failure, match="is there already"):
        init(str(path))
    assert init(str(path), "--name", "PRDQSG", "--force") == 0
    with pytest.raises(Failure, match=r"connection_names\[0\]: expected a host and its port"):
        init(str(tmp_path / "y.yaml"), "--queue-manager", "QM01=mvs1 example")
    with pytest.raises(Failure, match="cannot be written: No such file or directory"):
        init(str(tmp_path / "nowhere" / "z.yaml"))
    assert [each.name for each in tmp_path.iterdir()] == ["x.yaml"]


@pytest.mark.parametrize("word", ["=host(1414)", "QM01=", ""])
def test_queue_managers_that_cannot_be_read(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence says how one is written."""
    with pytest.raises(SystemExit):
        init("-", "--queue-manager", word)
    assert "NAME=HOST(PORT)" in capsys.readouterr().err


def test_end_of_input_is_no_answer(tmp_path: Path) -> None:
    """Whoever leaves in the middle gets no file."""

    def ask(_: str) -> str:
        raise EOFError

    with pytest.raises(Failure, match="no answers were given"):
        init(str(tmp_path / "x.yaml"), ask=ask)
    assert list(tmp_path.iterdir()) == []


def test_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A dash prints the file; texts of any characters are quoted so that YAML gives them back."""
    assert init("-", "--name", "Küste: #1", "--store", "a'b\"c.db") == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        'name: "Küste: #1"',
        "",
        "# Where samples and alerts are kept.",
        "store:",
        '  path: "a\'b\\"c.db"',
    ]
