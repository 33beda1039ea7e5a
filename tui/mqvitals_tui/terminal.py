"""Running a Textual app on a terminal: signals, its exit code, and a forced exit where it cannot end in order.

Textual writes through a queue of its own. When the terminal takes no output, the event loop waits for room in that
queue and sees neither signals nor keys; after a failed write nothing empties the queue. Then only ``ForcedExit`` ends
the process and its child agent.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from mqvitals_agent.errors import ExitCode
from mqvitals_agent.text.symbols import SYMBOL_SETS, Symbols, symbols_of_locale
from mqvitals_agent.threads import run_in_loop

if TYPE_CHECKING:
    from textual.app import App


ORDERLY_S: Final = 2.0
"""The time for an orderly end of screen and agent, s."""
WRITER_THREAD: Final = "textual-output"
"""The name of the toolkit's thread that writes to the terminal."""


class ForcedExit:
    """A context around screen and agent: after ``begin`` both end in order, or by force after ``after_s`` seconds."""

    def __init__(self, after_s: float = ORDERLY_S, leave: Callable[[int], object] = os._exit) -> None:
        """``leave`` ends the process with an exit code."""
        self._after_s = after_s
        self._leave = leave
        self._over = threading.Event()
        self._begun = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._terminal: list[Any] | None = None

    def include_child(self, child: subprocess.Popen[bytes], folder: Path | None) -> None:
        """End the agent too, and remove the ``folder``, if it is temporary."""
        self._child, self._folder = child, folder

    def begin(self, number: int) -> None:
        """Begin the end because of this signal; a second call does nothing.

        Safe in any thread and in a signal handler.
        """
        if self._begun.acquire(blocking=False):
            threading.Thread(target=self._wait, args=(128 + number,), name="mqvitals-end", daemon=True).start()

    def __enter__(self) -> Self:
        with suppress(OSError, termios.error, ValueError, AttributeError):
            self._terminal = termios.tcgetattr(sys.stdin.fileno())
        self._excepthook, threading.excepthook = threading.excepthook, self._on_exception
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        threading.excepthook = self._excepthook

    def _on_exception(self, found: threading.ExceptHookArgs) -> None:
        """A failed write ends Textual's output thread: the terminal is gone, with or without a signal."""
        if found.thread is not None and found.thread.name == WRITER_THREAD and isinstance(found.exc_value, OSError):
            # As a terminal sends it when it is closed.
            os.kill(os.getpid(), signal.SIGHUP)
            self.begin(signal.SIGHUP)
            return
        self._excepthook(found)

    def _wait(self, code: int) -> None:
        if self._child is not None:
            # The agent ends while the screen does.
            self._child.terminate()
        if self._over.wait(self._after_s):
            return
        if self._child is not None:
            self._child.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._terminal is not None:
            with suppress(OSError, termios.error, ValueError, AttributeError):
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._terminal)
        self._leave(code)


THEME_NAMES = ("dark", "light", "contrast", "colour-blind")


def add_theme_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--theme``."""
    parser.add_argument(
        "--theme", choices=THEME_NAMES, default=THEME_NAMES[0], help="the colours (default: %(default)s)"
    )


def add_symbols_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--symbols``."""
    parser.add_argument(
        "--symbols",
        choices=SYMBOL_SETS,
        help="what charts, meters, frames and signs are drawn with (default: by the locale, ascii unless it is UTF-8)",
    )


def symbols_for(chosen: str | None) -> Symbols:
    """The symbols of this terminal: those that flag, environment or settings choose, None: by its locale."""
    if chosen is None:
        return symbols_of_locale(os.environ, utf8_mode=bool(sys.flags.utf8_mode))
    return Symbols(chosen)


def has_terminal() -> bool:
    """Whether standard streams are a terminal that Textual can use. It draws on standard error."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return os.environ.get("TERM", "dumb") != "dumb" and all(
        stream is not None and stream.isatty() for stream in streams
    )


def run_app(app: App[Any], forced: ForcedExit | None = None) -> int:
    """Run ``app`` until it ends, or SIGTERM or SIGHUP ends it, and restore the terminal; returns the exit code.

    ``forced``, which is entered already, ends it when it cannot end in order.
    """

    if forced is None:
        with ForcedExit() as forced:
            return run_app(app, forced)
    with short_switch_interval(), as_utf8(sys.__stderr__):
        return run_in_loop(_run_app(app, forced))


@contextmanager
def as_utf8(stream: TextIO | None) -> Iterator[None]:
    """A block in which a stream that Textual paints on takes any symbol: which ones are painted is chosen elsewhere."""
    if not isinstance(stream, io.TextIOWrapper):
        yield
        return
    encoding, errors = stream.encoding, stream.errors
    stream.reconfigure(encoding="utf-8", errors=errors)
    try:
        yield
    finally:
        stream.reconfigure(encoding=encoding, errors=errors)


async def _run_app(app: App[Any], forced: ForcedExit) -> int:
    loop = asyncio.get_running_loop()
    came: list[int] = []

    def end(number: int) -> None:
        # An exception from a handler could interrupt drawing and leave the terminal in disorder.
        came.append(number)
        app.exit()

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in taken:
        loop.add_signal_handler(number, end, number)
        # The loop gets the signal by its file descriptor; this handler runs also while the loop is blocked by the terminal.
        signal.signal(number, lambda number, _: forced.begin(number))
    try:
        # After SIGHUP there is no terminal to restore.
        with suppress(OSError):
            await app.run_async()
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
    if came:
        return 128 + came[0]
    # Textual shows an exception of the app itself, and sets its return code.
    return app.return_code or ExitCode.DONE


SWITCH_INTERVAL_S = 0.0005
"""Python's default: 0.005."""


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Within, threads of this process take turns of ``SWITCH_INTERVAL_S``."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
