"""The agent as a child process that ends with the process that started it, even when that one is killed.

The parent holds the writing end of a pipe and writes nothing. At the end of file on the reading end the child knows
that there is no parent any more, on every Unix. The child runs this module.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from mqvitals_agent.commandline.time_arguments import now_ms
from mqvitals_agent.errors import Failure

PIPE_VARIABLE, FOLDER_VARIABLE = "MQVITALS_PARENT_PIPE", "MQVITALS_PARENT_FOLDER"
"""Environment variables: the number of the pipe's reading end, and the folder to remove when the parent is gone."""
PARENT_GONE_GRACE_S = 5.0
"""The time for an orderly end when the parent is gone, s."""


def main() -> int:
    """Run the command line, bound to the parent by the pipe in the environment; returns the exit code."""
    held, folder = os.environ.pop(PIPE_VARIABLE, None), os.environ.pop(FOLDER_VARIABLE, None)
    gone, ended = threading.Event(), threading.Event()
    if held is not None:
        # Before the agent handles signals itself: the folder is removed even then.
        signal.signal(signal.SIGTERM, _exit_on_signal)
        threading.Thread(target=_watch_parent, args=(int(held), folder, gone, ended), daemon=True).start()
    try:
        from mqvitals_tui.main import main as command_line

        return command_line()
    finally:
        ended.set()
        if gone.is_set():
            _remove(folder)


def _exit_on_signal(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _watch_parent(held: int, folder: str | None, gone: threading.Event, ended: threading.Event) -> None:
    while os.read(held, 1):
        pass
    gone.set()
    os.kill(os.getpid(), signal.SIGTERM)
    if not ended.wait(PARENT_GONE_GRACE_S):
        _remove(folder)
        os._exit(1)


def _remove(folder: str | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


LOG = "agent.log"
START_S = 30.0
"""The agent must have a store within this time, s."""
GRACE_S = 5.0
"""The time for an orderly end, s."""
PROGRAM = (sys.executable, "-P", "-m", "mqvitals_tui.child_agent")

_HINT = " / hint: "
_LOOK_S = 0.05
_LAST_LINES = 3


@contextmanager
def run_child_agent(
    folder: Path, command: Sequence[str], environment: Mapping[str, str], *, temporary: bool, what: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The running agent, its log in the folder; it has ended when the context is left. Raises Failure.

    When this process is killed the agent sees the end of a pipe, ends, and removes a ``temporary`` folder. ``what``
    names it in messages.
    """
    held, ours = os.pipe()
    more = {PIPE_VARIABLE: str(held), **({FOLDER_VARIABLE: str(folder)} if temporary else {})}
    try:
        try:
            with (folder / LOG).open("wb") as log:
                # In another session: signals of the terminal are for this process alone.
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**environment, **more},
                    pass_fds=(held,),
                    start_new_session=True,
                )
        except OSError as error:
            raise Failure(f"{what} cannot start: {error.strerror or error}") from error
        finally:
            os.close(held)
        try:
            yield child
        finally:
            child.terminate()
            try:
                child.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
    finally:
        os.close(ours)


def wait_for_store(
    child: subprocess.Popen[bytes],
    folder: Path,
    ready: Callable[[], bool],
    *,
    what: str,
    time_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the agent's store is ``ready``. Raises Failure when it ended before, or after 30 s."""
    end = time_s() + START_S
    while not ready():
        if child.poll() is not None:
            words, _, hint = log_tail(folder).partition(_HINT)
            raise Failure(f"{what} could not start: {words}", hint=hint)
        if time_s() > end:
            raise Failure(f"{what} has no store after {START_S:g} s", hint=log_tail(folder))
        sleep(_LOOK_S)


def exit_message(child: subprocess.Popen[bytes], folder: Path, *, what: str) -> Callable[[], str]:
    """A function that returns a sentence once the agent has ended, with the end of its log; else an empty text."""
    message: list[str] = []

    def words() -> str:
        if not message and child.poll() is not None:
            last = log_tail(folder, 1)
            message.append(f"{what[0].upper()}{what[1:]} has ended; its log ends: {last or 'it is empty'}")
        return message[0] if message else ""

    return words


def agent_clock(
    store: Path,
    speed: float | None,
    *,
    machine: Callable[[], int] = now_ms,
    time_s: Callable[[], float] = time.monotonic,
) -> Callable[[], int]:
    """The clock of an agent that runs ``speed`` times as fast as real time (None: max), ms since 1970 UTC.

    Its time is that of the store's newest snapshot plus the time since that was first seen, and never after now.
    """
    from mqvitals_agent.store.error import StoreError
    from mqvitals_agent.store.reader import StoreReader

    if speed == 1:
        return machine
    rate = speed or 1.0
    newest, seen, looked = 0, time_s(), -_LOOK_S

    def moment() -> int:
        nonlocal newest, seen, looked
        now_s = time_s()
        if now_s - looked >= _LOOK_S:
            looked = now_s
            with suppress(StoreError), StoreReader.open(store) as reader:
                last = reader.last_ts() or 0
                if last != newest:
                    newest, seen = last, now_s
        return min(newest + round((now_s - seen) * 1000 * rate), machine()) if newest else machine()

    return moment


def log_tail(folder: Path, lines: int = _LAST_LINES) -> str:
    """The last lines of the agent's log, joined."""
    try:
        text = (folder / LOG).read_text("utf-8", "replace")
    except OSError:
        return ""
    return " / ".join(line.strip().removeprefix("mqvitals: ") for line in text.splitlines()[-lines:])


if __name__ == "__main__":
    sys.exit(main())
