"""The end of a screen that cannot end in order: its terminal takes no more output, or is gone.

The toolkit writes through a queue of its own. When the terminal takes nothing, the event loop waits for room in that queue and
sees neither signals nor keys; when a write fails, nobody empties the queue any more. Then only this ends the process, and with
it the agent that it brought along.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

ORDERLY_S: Final = 2.0
"""Screen and agent may take so long to end in order."""
WRITER: Final = "textual-output"
"""The name of the toolkit's thread that writes to the terminal."""


class ForcedEnd:
    """In a ``with`` statement around screen and agent: after ``begin`` both end in order, or by force after ``after_s`` seconds."""

    def __init__(self, after_s: float = ORDERLY_S, leave: Callable[[int], object] = os._exit) -> None:
        """``leave`` ends the process with an exit code."""
        self._after_s = after_s
        self._leave = leave
        self._over = threading.Event()
        self._begun = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._terminal: list[Any] | None = None

    def take_along(self, child: subprocess.Popen[bytes], folder: Path | None) -> None:
        """The agent ends too, and the ``folder``, if it is temporary, is removed."""
        self._child, self._folder = child, folder

    def begin(self, number: int) -> None:
        """The end is asked for, by this signal; a second call does nothing. From any thread, and from a signal's handler."""
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
        """A failed write ends the toolkit's thread: the terminal is gone, whether or not a signal says so."""
        if found.thread is not None and found.thread.name == WRITER and isinstance(found.exc_value, OSError):
            # As a terminal that goes sends it.
            os.kill(os.getpid(), signal.SIGHUP)
            self.begin(signal.SIGHUP)
            return
        self._excepthook(found)

    def _wait(self, code: int) -> None:
        if self._child is not None:
            # What the agent still does is done while the screen ends.
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
