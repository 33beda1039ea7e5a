"""A command that ends with the process that started it, even when that one is killed and can tell nobody.

The starter holds the writing end of a pipe and writes nothing. When the reading end tells the end of the file there is no
starter any more, on every Unix.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from types import FrameType

HELD, FOLDER = "MQVITALS_LEASH", "MQVITALS_LEASH_FOLDER"
"""In the environment: the number of the pipe's reading end, and the folder to remove when the starter is gone."""
GRACE_S = 5.0
"""The command may take so long to end in order when the starter is gone."""


def main() -> int:
    """Run the whole command line on the leash that the environment describes; returns the exit code."""
    held, folder = os.environ.pop(HELD, None), os.environ.pop(FOLDER, None)
    gone, ended = threading.Event(), threading.Event()
    if held is not None:
        # Before the agent listens itself: what is to be removed is removed even now.
        signal.signal(signal.SIGTERM, _end)
        threading.Thread(target=_watch, args=(int(held), folder, gone, ended), daemon=True).start()
    try:
        from mqvitals_tui.main import main as command_line

        return command_line()
    finally:
        ended.set()
        if gone.is_set():
            _remove(folder)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def _watch(held: int, folder: str | None, gone: threading.Event, ended: threading.Event) -> None:
    while os.read(held, 1):
        pass
    gone.set()
    os.kill(os.getpid(), signal.SIGTERM)
    if not ended.wait(GRACE_S):
        _remove(folder)
        os._exit(1)


def _remove(folder: str | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
