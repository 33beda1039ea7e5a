"""A program of the site's own: what it gets, what its exit code means, and that it can neither hang nor flood the agent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.notify.notification import Notification, NotifiedAlert, webhook_payload
from mqvitals_agent.notify.receiver import DeliveryOutcome, DeliveryStatus
from mqvitals_agent.notify.receivers.command import CommandReceiver, ProgramEnd, program_outcome
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.command import CommandSettings

ACCEPTED, REFUSED, AGAIN = DeliveryStatus.ACCEPTED, DeliveryStatus.REFUSED, DeliveryStatus.AGAIN
NOW = 1_795_176_000_000
LONG_MS = 300_000
Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]


def located(text: str) -> LocatedText:
    return LocatedText(text, Place("mqvitals.yaml", 1, 1))


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., CommandSettings]:
    """The settings of a receiver that runs a script of the shell, in a folder of its own."""

    def make(
        script: str, *arguments: str, head: str = "#!/bin/sh\n", mode: int = 0o755, **others: Any
    ) -> CommandSettings:
        path = tmp_path / "page"
        path.write_text(f"{head}cd {tmp_path}\n{script}\n")
        path.chmod(mode)
        words = tuple(map(located, (str(path), *arguments)))
        return CommandSettings(located("ops"), "command", **{"timeout": LONG_MS, "command": words, **others})

    return make


async def sent(settings: CommandSettings, notification: Notification) -> DeliveryOutcome:
    receiver = CommandReceiver(settings, lambda: NOW)
    try:
        return await receiver.send(notification)
    finally:
        await receiver.aclose()


@pytest.mark.parametrize(
    ("script", "status", "text"),
    [
        ("exit 0", ACCEPTED, "ended with exit code 0"),
        ("exit 75", AGAIN, "ended with exit code 75"),
        ("echo no such team >&2; exit 1", REFUSED, "ended with exit code 1: no such team"),
        ("exec absent-program 2>/dev/null", AGAIN, "ended with exit code 127"),
        ("kill -9 $$", AGAIN, "was ended by SIGKILL"),
    ],
)
async def test_what_an_exit_code_means(
    program: Any, told: Told, group: Group, tmp_path: Path, script: str, status: DeliveryStatus, text: str
) -> None:
    """Accepted, to be tried again, or refused; with the beginning of what it says."""
    outcome = await sent(program(script), group(told()))
    assert outcome == DeliveryOutcome(status, f"{tmp_path}/page {text}")


async def test_what_the_program_gets(
    program: Any, secret: Any, told: Told, group: Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its arguments as they are, the JSON of a webhook, and of the agent's environment next to nothing."""
    monkeypatch.setenv("MQVITALS_TOKEN", "inherited")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "inherited")
    monkeypatch.setenv("HOME", "/home/mq")
    settings = program(
        'printf "%s|" "$@" > arguments; cat > input; env -0 > env; pwd > pwd',
        "$HOME; rm -rf x",
        "*",
        env={"SITE": located("north"), "LANG": located("de_DE.UTF-8")},
        env_files={"PAGE_KEY": secret("key", "Ksecret")},
    )
    notification = group(told(), told(4, ended=True))
    assert (await sent(settings, notification)).status is ACCEPTED
    assert (tmp_path / "arguments").read_text() == "$HOME; rm -rf x|*|"
    assert json.loads((tmp_path / "input").read_text()) == json.loads(webhook_payload(notification))
    found = dict(pair.split("=", 1) for pair in (tmp_path / "env").read_text().rstrip("\0").split("\0"))
    own_of_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert {name: value for name, value in found.items() if name not in own_of_the_shell} == {
        "PATH": os.environ["PATH"],
        "HOME": "/home/mq",
        "TZ": "UTC",
        "LANG": "de_DE.UTF-8",
        "SITE": "north",
        "PAGE_KEY": "Ksecret",
        "MQVITALS_RECEIVER": "ops",
        "MQVITALS_STATUS": "firing",
        "MQVITALS_SEVERITY": "critical",
        "MQVITALS_NOTIFICATION": "7",
    }


async def test_a_program_that_does_not_end(program: Any, told: Told, group: Group, tmp_path: Path) -> None:
    """It is killed at the receiver's timeout."""
    outcome = await sent(program("sleep 600", timeout=1), group(told()))
    assert outcome == DeliveryOutcome(AGAIN, f"{tmp_path}/page did not end within 1ms and was killed")


async def test_an_attempt_that_is_cancelled(program: Any, told: Told, group: Group, tmp_path: Path) -> None:
    """The program and what it has started are killed: when the last of them is gone, nobody holds the pipe."""
    os.mkfifo(tmp_path / "alive")
    # Open for writing too: reading begins before the program has it open.
    pipe = os.open(tmp_path / "alive", os.O_RDWR)
    settings = program("exec 3> alive; (sleep 600; echo) & echo begun >&3; wait")
    attempt = asyncio.create_task(sent(settings, group(told())))
    assert await asyncio.to_thread(os.read, pipe, 100) == b"begun\n"
    reading = os.open(tmp_path / "alive", os.O_RDONLY)
    os.close(pipe)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert await asyncio.to_thread(os.read, reading, 100) == b""
    os.close(reading)


async def test_a_program_that_floods(program: Any, secret: Any, told: Told, group: Group, tmp_path: Path) -> None:
    """Of millions of lines the first is said, on one line, without secrets and escape sequences."""
    script = 'cat > /dev/null; printf "\\n\\033[2J%s was refused\\n" "$KEY" >&2; head -c 5000000 /dev/zero >&2; exit 3'
    outcome = await sent(program(script, env_files={"KEY": secret("key", "Ksecret")}), group(told()))
    assert outcome == DeliveryOutcome(REFUSED, f"{tmp_path}/page ended with exit code 3: ␛[2J(hidden) was refused")


async def test_a_program_that_reads_nothing(program: Any, told: Told, group: Group) -> None:
    """More than a pipe holds waits for nobody."""
    notification = group(*(told(number) for number in range(400)))
    assert len(webhook_payload(notification)) > 100_000
    assert (await sent(program("exit 0"), notification)).status is ACCEPTED
    assert (await sent(program("exec <&-; exit 0"), notification)).status is ACCEPTED


async def test_what_a_program_leaves_running(program: Any, told: Told, group: Group, tmp_path: Path) -> None:
    """Its own end counts, also while another process holds its standard error."""
    outcome = await sent(program("sleep 600 & echo $! > child"), group(told()))
    assert outcome.status is ACCEPTED
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": 0o757}, "every user can write {0}, so it is not started; take that right away: chmod o-w {0}"),
        ({"head": "\x7fELF"}, "{0} cannot be started: Exec format error"),
        ({"head": "#!/absent/interpreter\n"}, "{0} cannot be started: No such file or directory"),
    ],
)
async def test_a_program_that_cannot_be_started(
    program: Any, told: Told, group: Group, tmp_path: Path, options: Any, text: str
) -> None:
    """Said with its path; tried again, because a person must put it right."""
    assert await sent(program("", **options), group(told())) == DeliveryOutcome(AGAIN, text.format(tmp_path / "page"))


async def test_a_program_that_is_not_there(told: Told, group: Group, tmp_path: Path) -> None:
    """Nor is a folder one."""
    for path, text in (
        (tmp_path / "absent", "cannot be started: No such file or directory"),
        (tmp_path, "is not a regular file"),
    ):
        settings = CommandSettings(located("ops"), "command", command=(located(str(path)),))
        assert await sent(settings, group(told())) == DeliveryOutcome(AGAIN, f"{path} {text}")


async def test_a_secret_that_cannot_be_read(program: Any, told: Told, group: Group, tmp_path: Path) -> None:
    """The program is not started without it."""
    absent = Secret.in_file(LocatedText("absent", Place(str(tmp_path / "mqvitals.yaml"))))
    outcome = await sent(program("touch begun", env_files={"KEY": absent}), group(told()))
    assert outcome.status is AGAIN
    assert f"the secret in file {tmp_path}/absent" in outcome.text
    assert not (tmp_path / "begun").exists()


def test_what_is_shown(program: Any, secret: Any, told: Told, group: Group, tmp_path: Path) -> None:
    """Command line, environment and input; no secret."""
    settings = program("", "two words", env_files={"KEY": secret("key", "Ksecret")})
    shown = CommandReceiver(settings, lambda: NOW).shown(group(told()))
    assert shown.startswith(f"command: {tmp_path}/page 'two words'\nPATH=")
    assert "\nKEY=(hidden)\n" in shown
    assert '\n  "receiver": "ops",\n' in shown
    assert "Ksecret" not in shown


def test_what_is_said_of_an_unknown_signal() -> None:
    """Its number."""
    outcome = program_outcome("/bin/page", ProgramEnd(-250, b"\xff\xfe"), 1000, ())
    assert outcome == DeliveryOutcome(AGAIN, "/bin/page was ended by signal 250: \ufffd\ufffd")
