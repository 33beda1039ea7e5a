"""A program of the site's own: each notification starts it once, with the JSON of a webhook on its standard input.

It runs in a thread, in a session of its own, without a shell and with an environment of few variables. Its exit code says
what became of the notification. At the time limit it is killed with all that it has started.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.notify.message import posted_text
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receiver import DeliveryOutcome
from mqvitals_agent.notify.receivers.attempt import (
    HIDDEN,
    AttemptError,
    MessageReceiver,
    accepted,
    again,
    excerpt,
    readable,
    refused,
)
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.decoding.secret import Secret
from mqvitals_config.receivers.command import CommandSettings, program_trouble

TRY_AGAIN: Final = os.EX_TEMPFAIL
"""The exit code 75 of sysexits.h."""
_NOT_RUN: Final = frozenset({126, 127})
"""What a shell or ``env`` returns when it could not start a program."""

_INHERITED: Final = ("PATH", "HOME", "TZ")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_KEPT_BYTES: Final = 4096
_CHUNK: Final = 65_536
_TICK_S: Final = 0.05
_GRACE_S: Final = 2.0
"""How much longer than its time limit a program may take until the kernel has ended it."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program has ended: its exit code, minus the number of the signal that ended it, None: killed at its time limit.

    ``said`` is the beginning of its standard error.
    """

    code: int | None
    said: bytes


class Program:
    """Runs a program once. ``run`` is for a thread, ``kill`` for any."""

    def __init__(self, command: tuple[str, ...], environment: Mapping[str, str], limit_s: float) -> None:
        self._command = command
        self._environment = environment
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    def run(self, text: bytes) -> ProgramEnd:
        """Run it with ``text`` on its standard input. Raises OSError and ValueError when it cannot be started."""
        end = time.monotonic() + self._limit_s
        if self._killed:
            return ProgramEnd(None, b"")
        with subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            env=self._environment,
            start_new_session=True,
            bufsize=0,
        ) as process:
            self._process = process
            said = self._serve(process, memoryview(text), end)
            code = process.poll()
            if code is None:
                self.kill()
        return ProgramEnd(code, said)

    def kill(self) -> None:
        """Kill it and what it has started, unless it has ended."""
        self._killed = True
        process = self._process
        if process is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _serve(self, process: subprocess.Popen[bytes], left: memoryview, end: float) -> bytes:
        """Write its input and read its standard error until it ends, or until ``end``. Returns the beginning of the latter.

        What it leaves running may keep its standard error open: its own end is what counts.
        """
        stdin, stderr = process.stdin, process.stderr
        assert stdin is not None
        assert stderr is not None
        said = b""
        for stream in (stdin, stderr):
            os.set_blocking(stream.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stderr, selectors.EVENT_READ)
            while not self._killed and (wait := end - time.monotonic()) > 0:
                ended = process.poll() is not None
                ready = [key.fileobj for key, _ in selector.select(0 if ended else min(wait, _TICK_S))]
                if stderr in ready:
                    chunk = os.read(stderr.fileno(), _CHUNK)
                    said += chunk[: _KEPT_BYTES - len(said)]
                    if not chunk:
                        selector.unregister(stderr)
                elif ended:
                    break
                if stdin in ready:
                    try:
                        left = left[os.write(stdin.fileno(), left[:_CHUNK]) :]
                    except BrokenPipeError:
                        left = left[:0]  # it does not read what it gets
                    if not left:
                        selector.unregister(stdin)
                        stdin.close()
                if not selector.get_map() and not ended:
                    time.sleep(min(wait, _TICK_S))
        return said


class CommandReceiver(MessageReceiver[CommandSettings]):
    """Starts a program for each notification."""

    def _begin(self) -> None:
        self._running = BoundedCall()
        self._program: Program | None = None

    async def send(self, notification: Notification, /) -> DeliveryOutcome:
        """Run the program once."""
        settings = self._settings
        command = tuple(map(str, settings.command))
        try:
            texts, _ = await self._credentials.read()
            environment = self._environment(notification, lambda secret: texts[secret])
        except AttemptError as error:
            return error.outcome
        program = self._program = Program(command, environment, settings.timeout / 1000)
        text = self._text(notification).encode()

        def run() -> ProgramEnd:
            if trouble := program_trouble(command[0]):
                raise AttemptError(trouble)
            return program.run(text)

        try:
            end = await self._running.run(run, settings.timeout / 1000 + _GRACE_S)
        except AttemptError as error:
            return error.outcome
        except NoAnswerError:
            return again(f"{command[0]} could not be started or ended within {format_duration(settings.timeout)}")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "its arguments or variables cannot be passed"
            return again(f"{command[0]} cannot be started: {why}")
        finally:
            # Also when this attempt is cancelled: the next run makes it again.
            program.kill()
        return program_outcome(command[0], end, settings.timeout, texts.values())

    def shown(self, notification: Notification, /) -> str:
        """Command line, environment and standard input."""
        environment = self._environment(notification, lambda _: HIDDEN)
        lines = [f"command: {shlex.join(map(str, self._settings.command))}"]
        lines += [f"{name}={value}" for name, value in environment.items()]
        return "\n".join([*lines, "", readable(self._text(notification))])

    def _text(self, notification: Notification) -> str:
        return posted_text(notification, self._write(notification, self._now()))

    async def aclose(self) -> None:
        """Kill a program that still runs."""
        if self._program is not None:
            self._program.kill()

    def _environment(self, notification: Notification, revealed: Callable[[Secret], str]) -> dict[str, str]:
        """All variables of the program. Nothing in them is text from MQ. Raises AttemptError."""
        found = {"PATH": _PATH, "LANG": "C.UTF-8"}
        found |= {name: os.environ[name] for name in _INHERITED if os.environ.get(name)}
        found |= {name: str(value) for name, value in self._settings.env.items()}
        for name, secret in self._settings.env_files.items():
            found[name] = revealed(secret)
            if "\0" in found[name]:
                raise AttemptError(f"the value in {secret.origin} holds characters that a variable cannot")
        return found | {
            "MQVITALS_RECEIVER": notification.receiver,
            "MQVITALS_STATUS": notification.status.value,
            "MQVITALS_SEVERITY": notification.severity.name.lower(),
            "MQVITALS_NOTIFICATION": str(notification.number),
        }


def program_outcome(program: str, end: ProgramEnd, timeout_ms: int, secrets: Iterable[str]) -> DeliveryOutcome:
    """The meaning of an exit code.

    75 asks for another attempt. A signal, and what a shell says when it cannot start a program, say nothing about the
    notification: it is tried again too. Any other code refuses it, so others go on while it is tried again for a day.
    """
    lines = end.said.decode("utf-8", "replace").splitlines()
    said = excerpt(next((line for line in lines if line.strip()), ""), secrets)
    details = f": {said}" if said else ""
    match end.code:
        case None:
            return again(f"{program} did not end within {format_duration(timeout_ms)} and was killed{details}")
        case 0:
            return accepted(f"{program} ended with exit code 0")
        case code if code < 0:
            return again(f"{program} was ended by {_signal_name(-code)}{details}")
        case code if code == TRY_AGAIN or code in _NOT_RUN:
            return again(f"{program} ended with exit code {code}{details}")
        case code:
            return refused(f"{program} ended with exit code {code}{details}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
