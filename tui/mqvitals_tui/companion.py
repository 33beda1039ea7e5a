"""The agent that a screen brings along: a process of its own that ends with the screen, however that ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from mqvitals_agent.commandline.arguments import now_ms
from mqvitals_agent.commandline.failure import Failure
from mqvitals_tui.leash import FOLDER, HELD

LOG = "agent.log"
START_S = 30.0
"""The agent must have a store after so long."""
GRACE_S = 5.0
"""The agent may take so long to end in order."""
PROGRAM = (sys.executable, "-P", "-m", "mqvitals_tui.leash")

_HINT = " / hint: "
_LOOK_S = 0.05
_LAST_LINES = 3


@contextmanager
def companion(
    folder: Path, command: Sequence[str], environment: Mapping[str, str], *, temporary: bool, what: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The agent, running, its log in the folder; whatever happens, it has ended afterwards. Raises Failure.

    When this process is killed the agent sees the end of a pipe, ends, and removes a ``temporary`` folder. ``what`` names
    it in messages.
    """
    held, ours = os.pipe()
    more = {HELD: str(held), **({FOLDER: str(folder)} if temporary else {})}
    try:
        try:
            with (folder / LOG).open("wb") as log:
                # Of another session: what the terminal sends to all that run on it is for this process alone.
                living = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**environment, **more},
                    pass_fds=(held,),
                    start_new_session=True,
                )
        except OSError as error:
            raise Failure(f"{what} cannot begin: {error.strerror or error}") from error
        finally:
            os.close(held)
        try:
            yield living
        finally:
            living.terminate()
            try:
                living.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                living.kill()
                living.wait()
    finally:
        os.close(ours)


def await_store(
    living: subprocess.Popen[bytes],
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
        if living.poll() is not None:
            words, _, hint = last_words(folder).partition(_HINT)
            raise Failure(f"{what} could not begin: {words}", hint=hint)
        if time_s() > end:
            raise Failure(f"{what} has no store after {START_S:g} s", hint=last_words(folder))
        sleep(_LOOK_S)


def ended_words(living: subprocess.Popen[bytes], folder: Path, *, what: str) -> Callable[[], str]:
    """What says that the agent has ended and how its log ends; it says nothing while the agent runs."""
    said: list[str] = []

    def words() -> str:
        if not said and living.poll() is not None:
            last = last_words(folder, 1)
            said.append(f"{what[0].upper()}{what[1:]} has ended; its log ends: {last or 'it is empty'}")
        return said[0] if said else ""

    return words


def time_of(
    store: Path,
    speed: float | None,
    *,
    machine: Callable[[], int] = now_ms,
    time_s: Callable[[], float] = time.monotonic,
) -> Callable[[], int]:
    """What tells the moment, ms since 1970 UTC, that an agent has reached which goes ``speed`` times as fast as life (None: max).

    It is that of the store's newest snapshot and what has passed since that was seen first, and never after now.
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


def last_words(folder: Path, lines: int = _LAST_LINES) -> str:
    """The last lines of the agent's log, in one."""
    try:
        text = (folder / LOG).read_text("utf-8", "replace")
    except OSError:
        return ""
    return " / ".join(line.strip().removeprefix("mqvitals: ") for line in text.splitlines()[-lines:])
