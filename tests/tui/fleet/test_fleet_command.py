"""``mqvitals fleet`` over stores that simulated groups filled, and over agents that serve their status."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mqsamples.fleet import FREE, sent_raw, served_status
from mqvitals_agent.cli.group import fleet as command
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.text.terminal import cells
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.sections.serve import ServeSettings

Lives = Callable[[str], Any]
Capture = pytest.CaptureFixture[str]

TOKEN = "s3cret-t0ken"


@pytest.fixture
def stores(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Three stores, at the moment after the last snapshot of the first two: one ill, one well, one that nothing was stored in."""
    found = {name: lives(name) for name in ("incident", "quiet", "empty")}
    monkeypatch.setattr(command, "now_ms", lambda: found["incident"].now)
    return {name: life.store for name, life in found.items()}


@contextmanager
def agents(folder: Path) -> Iterator[dict[str, str]]:
    """The addresses of agents, in a thread of their own: one that is open, one that wants a token, one that hangs, one that
    sends garbage, and one that is away."""
    loop, ready, end = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    (folder / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    secret = Secret.in_file(LocatedText(str(folder / "token"), Place("")))
    found: dict[str, str] = {}

    async def serve() -> None:
        async with AsyncExitStack() as stack:
            found["open"], _ = await stack.enter_async_context(served_status())
            guarded = served_status(settings=ServeSettings(FREE, token_file=secret))
            found["guarded"], _ = await stack.enter_async_context(guarded)
            found["hanging"] = await stack.enter_async_context(sent_raw(None))
            found["garbage"] = await stack.enter_async_context(sent_raw(b"\xff\x00 no HTTP at all\r\n\r\n"))
            async with sent_raw(b"") as gone:
                found["gone"] = gone
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(120)
    try:
        yield found
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(120)
        loop.close()


def shown(capsys: Capture, *words: str) -> tuple[int, str]:
    """Exit code and output of the command."""
    code = main(["fleet", *words])
    out, err = capsys.readouterr()
    assert not err
    assert TOKEN not in out
    return code, out


def test_three_stores(stores: dict[str, Path], capsys: Capture) -> None:
    """The worst first, each on one line with its queue managers, its worst alert and its age; the exit code is the worst one's."""
    code, out = shown(capsys, *map(str, stores.values()))
    lines = out.splitlines()
    assert code == 2
    assert all(cells(line) <= 80 for line in lines)
    assert [line.split()[1] for line in lines[2:5]] == ["CRITICAL", "UNKNOWN", "OK"]
    assert "no queue manager has reported" in lines[3]
    assert "✓✓✓✓ 4" in lines[4]
    assert "0/0" in lines[4]
    assert "nothing is wrong" in lines[4]
    assert "to do: " in out
    assert "MQSC: DISPLAY" in out
    assert shown(capsys, str(stores["quiet"]))[0] == 0
    assert shown(capsys, str(stores["empty"]), str(stores["quiet"]))[0] == 3


def test_stores_and_agents_of_the_configuration(stores: dict[str, Path], tmp_path: Path, capsys: Capture) -> None:
    """Whatever one of them does, the others are shown; the one with a token is asked with it."""
    with agents(tmp_path) as urls:
        config = tmp_path / "mqvitals.yaml"
        config.write_text(
            f"""\
fleet:
  - {{store: {stores["quiet"]}, name: WELL}}
  - {{store: {tmp_path / "none.db"}, name: NONE}}
  - {{url: "{urls["open"]}", name: OPEN}}
  - {{url: "{urls["guarded"]}", name: GUARDED, token_file: token}}
  - {{url: "{urls["hanging"]}", name: HANGING, timeout: 300ms}}
  - {{url: "{urls["garbage"]}", name: GARBAGE}}
  - {{url: "{urls["gone"]}", name: GONE}}
""",
            encoding="utf-8",
        )
        code, out = shown(capsys, "--config", str(config))
        named = {line.split()[2]: line for line in out.splitlines()[2:9]}
        assert code == 3
        assert {name: line.split()[1] for name, line in named.items()} == {
            **dict.fromkeys(("WELL", "OPEN", "GUARDED"), "OK"),
            **dict.fromkeys(("NONE", "HANGING", "GARBAGE", "GONE"), "UNKNOWN"),
        }
        for name, words in (
            ("NONE", "there is no store"),
            ("HANGING", "did not answer within 300ms"),
            ("GARBAGE", "sent what is no answer"),
            ("GONE", "cannot be reached"),
        ):
            assert words in named[name]
        code, out = shown(capsys, "--config", str(config), "--json")
        found = json.loads(out)
        assert code == 3
        assert found["severity"] == "unknown"
        of = {each["name"]: each for each in found["groups"]}
        assert [each["severity"] for each in found["groups"]] == ["unknown"] * 4 + ["ok"] * 3
        assert (of["WELL"]["problem"], of["WELL"]["alerts"]) == (None, {"info": 0, "warning": 0, "critical": 0})
        assert [each["name"] for each in of["WELL"]["queue_managers"]] == ["QM01", "QM02", "QM03", "QM04"]
        assert of["GONE"]["problem"] == f"{urls['gone']} cannot be reached (Connection refused)"
        assert (of["GONE"]["alerts"], of["GONE"]["age_s"], of["GONE"]["queue_managers"]) == (None, None, [])
        assert of["GUARDED"]["agents"] == [{"source": urls["guarded"], "role": None, "problem": None}]
        # An argument that the configuration knows has its token; another one has none.
        assert shown(capsys, urls["guarded"], "--config", str(config))[0] == 0
        code, out = shown(capsys, urls["guarded"])
        assert code == 3
        assert "answered 401" in out


def test_the_json_of_an_ill_group(stores: dict[str, Path], capsys: Capture) -> None:
    """It has why the group stands where it stands, and its worst alert."""
    code, out = shown(capsys, str(stores["incident"]), "--json")
    (group,) = json.loads(out)["groups"]
    assert code == 2
    assert (group["name"], group["severity"], group["stale"]) == ("PRDQSG", "critical", False)
    assert "critical alert" in group["reason"]
    assert group["worst"][0]["severity"] == "critical"
    assert group["worst"][0]["started"].startswith("2026-11-20T12:0")
    assert group["age_s"] < 10


def test_nothing_to_show(tmp_path: Path, capsys: Capture) -> None:
    """Without a group, or with what is none, it says what to name, and the exit code is that of UNKNOWN."""
    assert main(["fleet"]) == 3
    assert "list them under fleet" in capsys.readouterr().err
    assert main(["fleet", "ftp://a:1"]) == 3
    assert "neither the file of a store nor the address of an agent" in capsys.readouterr().err
    assert main(["fleet", "https://user:p4ss@a:1"]) == 3
    assert "p4ss" not in capsys.readouterr().err
    assert main(["fleet", str(tmp_path / "none.db")]) == 3
    assert "there is no store" in capsys.readouterr().out


def test_top_with_a_fleet_needs_groups_and_a_terminal(tmp_path: Path, capsys: Capture) -> None:
    """Each refusal says what to do next."""
    from mqvitals_tui.main import main as whole

    assert whole(["top", "--fleet"]) == 2
    assert "list groups under fleet" in capsys.readouterr().err
    config = tmp_path / "mqvitals.yaml"
    config.write_text("fleet: [{store: a.db}]\n", encoding="utf-8")
    assert whole(["top", "--fleet", "--config", str(config)]) == 2
    assert "'mqvitals fleet' shows the same as text" in capsys.readouterr().err
    assert whole(["top", "--fleet", "--config", str(config), "--scenario", "quiet"]) == 2
    assert "--fleet starts none" in capsys.readouterr().err
