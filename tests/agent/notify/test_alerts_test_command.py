"""``mqvitals alerts test``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main


async def run(*arguments: str) -> int:
    """The command in a thread of its own, as it has a loop of its own."""
    return await asyncio.to_thread(main, ["alerts", "test", *arguments])


@pytest.fixture
def config(tmp_path: Path, hook: Any) -> str:
    """Two receivers: ops at the hook."""
    (tmp_path / "token").write_text("Btoken-secret\n")
    (tmp_path / "address").write_text(f"{hook.url}\n")
    path = tmp_path / "mqvitals.yaml"
    path.write_text(
        "receivers:\n  - {name: ops, url_file: address, token_file: token, labels: {site: north}}\n"
        "  - {name: chat, url: 'http://127.0.0.1:1/Tsecretpath'}\n"
    )
    return str(path)


async def test_a_receiver_that_works(config: str, hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Firing and resolved arrive, marked as a test, with token and labels."""
    assert await run("ops", "--config", config) == 0
    assert hook.received == [("firing", "info"), ("resolved", "info")]
    assert hook.requests[0]["receiver"] == "ops"
    assert hook.requests[0]["commonLabels"] == {
        "alertname": "MQVITALS-TEST",
        "severity": "info",
        "kind": "agent",
        "test": "true",
        "site": "north",
    }
    assert hook.headers[0]["Authorization"] == "Bearer Btoken-secret"
    out, err = capsys.readouterr()
    host = hook.url.partition("/hook")[0]
    assert out == f"firing    accepted  {host} answered 200\nresolved  accepted  {host} answered 200\n"
    assert err == ""


async def test_what_would_be_sent(config: str, hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Shown firing and resolved, without secrets; nothing is sent."""
    assert await run("ops", "--show", "--config", config) == 0
    out, err = capsys.readouterr()
    assert hook.requests == []
    assert out.count("POST (hidden) address in file ") == 2
    assert out.count("Authorization: (hidden)\n") == 2
    assert '\n  "status": "firing",\n' in out
    assert '\n  "status": "resolved",\n' in out
    assert "Btoken-secret" not in out + err


@pytest.mark.parametrize(
    ("status", "hint"), [(400, "for a day"), (404, "would go on trying"), (500, "would go on trying")]
)
async def test_a_receiver_that_does_not(
    config: str, hook: Any, capsys: pytest.CaptureFixture[str], status: int, hint: str
) -> None:
    """Exit code 2, what came back, and nothing of the address."""
    hook.answers = [status]
    assert await run("ops", "--config", config) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"did not accept the test alert, firing: {hook.url.partition('/hook')[0]} answered {status}" in err
    assert hint in err
    assert "Tsecretpath" not in err
    assert len(hook.requests) == 1


async def test_nobody_listens(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said with the host alone."""
    assert await run("chat", "--config", config) == 2
    err = capsys.readouterr().err
    assert "receiver chat did not accept the test alert, firing: http://127.0.0.1:1 cannot be reached" in err
    assert "Tsecretpath" not in err


async def test_an_address_on_the_command_line(hook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Without any configuration."""
    assert await run("--webhook", hook.url) == 0
    assert hook.requests[0]["receiver"] == "webhook"
    assert await run("--webhook", "ftp://h/Tsecretpath") == 2
    err = capsys.readouterr().err
    assert "--webhook: expected an address such as" in err
    assert "Tsecretpath" not in err


async def test_which_receivers_there_are(config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Said when none is named, when it is another, and when there are none."""
    assert await run("pager", "--config", config) == 2
    assert "there is ops, chat" in capsys.readouterr().err
    assert await run("--config", config) == 2
    assert "no receiver is named" in capsys.readouterr().err
    assert await run("pager") == 2
    assert "the configuration names none" in capsys.readouterr().err


async def test_config_show_hides_addresses(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In text and as JSON only the host is shown, and of a file its name."""
    for form in ((), ("--json",)):
        assert await asyncio.to_thread(main, ["config", "show", config, *form]) == 0
        out = capsys.readouterr().out
        assert "http://127.0.0.1:1" in out
        assert "secret in file" in out
        assert "Tsecretpath" not in out
        assert "Btoken-secret" not in out


async def test_an_address_in_a_file(hook: Any, tmp_path: Path) -> None:
    """It stands in no process list."""
    (tmp_path / "address").write_text(hook.url + "\n")
    assert await run("--webhook-file", str(tmp_path / "address")) == 0
    assert len(hook.requests) == 2
