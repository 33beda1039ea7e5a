"""What ``mqvitals top`` says when there is nothing to show, and how it ends."""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.app import App

from mqvitals_agent.errors import Failure
from mqvitals_agent.store.file.store_file import writer_of
from mqvitals_agent.store.writer import Store
from mqvitals_tui import terminal, top
from mqvitals_tui.app import MqvitalsApp


def arguments(store: Path, *more: str) -> argparse.Namespace:
    """The arguments of ``top`` for this store."""
    return parsed("--store", str(store), *more)


def parsed(*words: str) -> argparse.Namespace:
    """The arguments of ``top``."""
    parser = argparse.ArgumentParser()
    top.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with nothing in it."""
    path = tmp_path / "new.db"
    Store.open(path, source="test", group="PRDQSG").close()
    return path


def test_without_a_store(tmp_path: Path) -> None:
    """A store that is not there is one sentence, with the commands that make one."""
    with pytest.raises(Failure, match="there is no store") as caught:
        top.run(arguments(tmp_path / "none.db"))
    assert "mqvitals top --scenario" in caught.value.hint
    assert "mqvitals demo" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_with_a_file_that_is_no_store(tmp_path: Path) -> None:
    """Another file is refused before the screen is touched."""
    (tmp_path / "text.db").write_text("no store\n" * 100, "utf-8")
    with pytest.raises(Failure):
        top.run(arguments(tmp_path / "text.db"))


def test_without_a_terminal(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be drawn, the way to the same as text is named."""
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(Failure, match="needs a terminal") as caught:
        top.run(arguments(store))
    assert "mqvitals status" in caught.value.hint


def test_a_writer_is_not_disturbed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking takes no lock: an agent can have the store, before and after."""
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(Failure, match="needs a terminal"):
        top.run(arguments(store))
    assert not store.with_name(store.name + ".lock").exists()


def test_a_scenario_without_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent is started for a screen that cannot be drawn."""
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(Failure, match="needs a terminal"):
        top.run(arguments(tmp_path / "x.db", "--scenario", "quiet"))
    assert not list(tmp_path.iterdir())


def test_a_scenario_on_a_store_that_is_written(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent that has it is shown, no second one is started, and that is said in the end."""
    monkeypatch.setattr(top, "has_terminal", lambda: True)
    monkeypatch.setattr(top, "run_app", lambda *_: 0)
    monkeypatch.setattr(top, "run_child_agent", lambda *_: pytest.fail("an agent was started"))
    with Store.open(store):
        assert top.run(arguments(store, "--scenario", "quiet")) == 0
    said = capsys.readouterr().err
    assert f"process {os.getpid()}" in said
    assert "no scenario quiet was started" in said


def test_a_scenario_brings_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes the store while the screen is there, and has ended afterwards."""
    path = tmp_path / "x.db"
    seen: list[str | None] = []

    def look(*_: object) -> int:
        seen.append(writer_of(path))
        return 0

    monkeypatch.setattr(top, "has_terminal", lambda: True)
    monkeypatch.setattr(top, "run_app", look)
    assert top.run(arguments(path, "--scenario", "quiet", "--interval", "1s")) == 0
    assert seen[0] is not None
    assert seen[0] != str(os.getpid())
    assert writer_of(path) is None
    assert path.exists()


def test_a_scenario_needs_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the help says: the agent's store is a temporary one, which is gone with the screen."""
    shown: list[Path] = []

    def agentless(folder: Path, *_: object, **__: object) -> AbstractContextManager[object]:
        shown.append(folder)
        raise Failure("no agent in this test")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(Failure, match="needs a terminal") as caught:
        top.run(parsed("--scenario", "quiet"))
    assert "mqvitals agent --scenario quiet --store FILE" in caught.value.hint
    monkeypatch.setattr(top, "has_terminal", lambda: True)
    monkeypatch.setattr(top, "run_child_agent", agentless)
    with pytest.raises(Failure, match="no agent in this test"):
        top.run(parsed("--scenario", "quiet"))
    assert shown[0].parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_an_unknown_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the agent says against its arguments is said here."""
    monkeypatch.setattr(top, "has_terminal", lambda: True)
    with pytest.raises(Failure, match=r"the agent could not start: .*there is no scenario 'nix'"):
        top.run(arguments(tmp_path / "x.db", "--scenario", "nix"))


def test_the_options_go_on_to_the_agent(tmp_path: Path) -> None:
    """Scenario, size, seed, pace and settings are the agent's."""
    words = ["--scenario", "quiet", "--seed", "4", "--queues", "5", "--channels", "6", "--speed", "2"]
    words += ["--members", "20", "--qsg", "PRDB", "--prefix", "QB"]
    command = top.agent_command(tmp_path / "x.db", arguments(tmp_path / "x.db", *words), "f.yaml")
    given = dict(zip(command[command.index("agent") + 1 :: 2], command[command.index("agent") + 2 :: 2], strict=True))
    assert given == {
        "--scenario": "quiet",
        "--store": str(tmp_path / "x.db"),
        "--seed": "4",
        "--queues": "5",
        "--channels": "6",
        "--members": "20",
        "--qsg": "PRDB",
        "--prefix": "QB",
        "--speed": "2",
        "--config": "f.yaml",
    }


LIVING = """\
connection: {channel: MQVITALS.SVRCONN, binding: pymqi}
queue_managers: [{name: QM01, connection: {connection_names: ["127.0.0.1(1)"]}}]
"""
RECEIVER = "receivers: [{name: pager, url: 'http://127.0.0.1:9/hook'}]\n"


@pytest.fixture
def living(tmp_path: Path) -> str:
    """A configuration that leads to a queue manager."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(LIVING, "utf-8")
    return str(path)


@pytest.fixture
def screens(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done, in place of a screen and of an agent that a configuration brings."""
    done: list[str] = []

    def look(*_: object) -> int:
        done.append("screen")
        return 0

    @contextmanager
    def agent(_folder: Path, command: Sequence[str], *_: object, **_named: object) -> Iterator[SimpleNamespace]:
        done.append(" ".join(command[command.index("agent") :]))
        store = Path(command[command.index("--store") + 1])
        with Store.open(store, source="test", group="PRDQSG"):
            yield SimpleNamespace(pid=os.getpid(), poll=lambda: None)

    monkeypatch.setattr(top, "has_terminal", lambda: True)
    monkeypatch.setattr(top, "run_app", look)
    monkeypatch.setattr(top, "run_child_agent", agent)
    return done


def test_a_configuration_brings_an_agent(tmp_path: Path, living: str, screens: list[str]) -> None:
    """One that leads to queue managers: the agent gets the file and the store, and nothing that is for simulations."""
    store = tmp_path / "x.db"
    assert top.run(arguments(store, "--config", living, "--interval", "5s")) == 0
    assert screens == [f"agent --store {store} --interval 5s --config {living}", "screen"]


def test_an_agent_that_runs_is_only_watched(store: Path, living: str, screens: list[str]) -> None:
    """No second one is started."""
    with Store.open(store):
        assert top.run(arguments(store, "--config", living)) == 0
    assert screens == ["screen"]


def test_no_agent_where_none_is_wanted(store: Path, living: str, screens: list[str]) -> None:
    """With --no-agent a store is shown as it is, and with a scenario it is a contradiction."""
    assert top.run(arguments(store, "--config", living, "--no-agent")) == 0
    assert screens == ["screen"]
    with pytest.raises(Failure, match="--no-agent forbids one"):
        top.run(arguments(store, "--scenario", "quiet", "--no-agent"))


def test_a_mistake_in_the_rules_keeps_nobody_from_looking(
    store: Path, living: str, screens: list[str], tmp_path: Path
) -> None:
    """Who only watches sees the store; an agent of its own could not begin, and says why."""
    (tmp_path / "ours.yaml").write_text("rules:\n  - {id: MY-01}\n", "utf-8")
    Path(living).write_text(LIVING + "rules: {files: [ours.yaml]}\n", "utf-8")
    assert top.run(arguments(store, "--config", living, "--no-agent")) == 0
    with Store.open(store):
        assert top.run(arguments(store, "--config", living)) == 0
    assert screens == ["screen", "screen"]
    with pytest.raises(Failure, match=r"ours.yaml:2:5: rules\[0\].title: this key is missing"):
        top.run(arguments(store, "--config", living))


def test_a_configuration_without_connections(store: Path, tmp_path: Path, living: str, screens: list[str]) -> None:
    """It shows the store that is there."""
    Path(living).write_text("name: PRDQSG\nqueue_managers: [{name: QM01}]\n", "utf-8")
    assert top.run(arguments(store, "--config", living)) == 0
    assert screens == ["screen"]


def test_whose_store_may_only_be_read(
    store: Path, living: str, screens: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is another's, whose agent may well run: no agent is started."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert top.run(arguments(store, "--config", living)) == 0
    assert screens == ["screen"]


def test_without_a_store_there_is_a_temporary_one(
    living: str, screens: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes with the screen, and that is said."""
    assert top.run(parsed("--config", living)) == 0
    assert screens[1:] == ["screen"]
    assert not Path(screens[0].split()[2]).parent.exists()
    assert "the temporary store is deleted; --store FILE" in capsys.readouterr().err


def test_receivers_need_a_store_that_stays(living: str, screens: list[str]) -> None:
    """They would be told of the same alerts each time, and of no end."""
    Path(living).write_text(LIVING + RECEIVER, "utf-8")
    with pytest.raises(Failure, match="an agent with receivers needs a permanent store"):
        top.run(parsed("--config", living))
    assert not screens


def test_options_of_a_simulation_need_a_scenario(tmp_path: Path, living: str, screens: list[str]) -> None:
    """They would do nothing."""
    with pytest.raises(Failure, match="--seed is for a simulated group"):
        top.run(arguments(tmp_path / "x.db", "--config", living, "--seed", "4"))
    assert not screens


def test_without_a_package_that_connects(store: Path, living: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the agent says about it is said before any screen, with what to do; so is the way to look all the same."""
    monkeypatch.setattr(top, "has_terminal", lambda: True)
    monkeypatch.setattr(top, "run_app", lambda *_: pytest.fail("there is a screen"))
    hidden = store.parent / "hidden" / "pymqi"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('no client library')\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent))
    with pytest.raises(Failure, match=r"the agent could not start: no connection .*no client library") as caught:
        top.run(arguments(store, "--config", living))
    assert caught.value.code is None
    assert "hint:" not in caught.value.message
    assert "mqvitals doctor" in caught.value.hint
    assert "--no-agent shows the store" in caught.value.hint


class _Ending(App[None]):
    """Tells the process to end as soon as it is there."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def on_mount(self) -> None:
        """Be told."""
        os.kill(os.getpid(), self._number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM and SIGHUP end the interface as its own key does, and the exit code tells which came."""
    assert threading.current_thread() is threading.main_thread()
    app = _Ending(number)
    whole = app.run_async
    monkeypatch.setattr(app, "run_async", lambda: whole(headless=True))
    before = signal.getsignal(number)
    assert terminal.run_app(app) == 128 + number
    assert signal.getsignal(number) == before


@pytest.mark.parametrize(
    ("flags", "environment", "setting", "locale", "symbols"),
    [
        ((), "", "", "C.UTF-8", "braille"),
        ((), "", "", "C", "ascii"),
        ((), "", "block", "C", "block"),
        ((), "braille", "block", "C", "braille"),
        (("--symbols", "ascii"), "braille", "block", "C.UTF-8", "ascii"),
    ],
)
def test_who_chooses_the_symbols(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    environment: str,
    setting: str,
    locale: str,
    symbols: str,
) -> None:
    """The flag, else the environment, else the file, else the terminal's locale."""
    seen: list[MqvitalsApp] = []

    def look(app: MqvitalsApp, *_: object) -> int:
        seen.append(app)
        return 0

    monkeypatch.setattr(top, "has_terminal", lambda: True)
    monkeypatch.setattr(top, "run_app", look)
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv("MQVITALS_SYMBOLS", environment)
    config = tmp_path / "site.yaml"
    section = f"tui: {{symbols: {setting}}}\n" if setting else ""
    config.write_text(f"name: PRDQSG\n{section}", "utf-8")
    assert top.run(arguments(store, "--config", str(config), "--no-agent", *flags)) == 0
    assert seen[0].symbols.value == symbols
