"""How long a test waits for real processes, threads and servers, and the waiting itself.

The time only ends a hang: a machine that runs much else beside the tests must not turn one red.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

PATIENCE_S: Final = 240
_LOOK_S: Final = 0.05
_T = TypeVar("_T")


class Polled(Protocol):
    """A process that is waited for."""

    def poll(self) -> int | None:
        """Its exit code; None: it runs."""


def awaited(
    find: Callable[[], _T],
    process: Polled | None = None,
    *,
    said: Callable[[], object] = lambda: "",
    look_s: float = _LOOK_S,
) -> _T:
    """What ``find`` returns once that is true, while the process runs. ``said`` is shown where it never is."""
    end = time.monotonic() + PATIENCE_S
    while not (found := find()):
        assert time.monotonic() < end, f"not seen within {PATIENCE_S} s: {said()}"
        assert process is None or process.poll() is None, f"the process ended with {process.poll() if process else ''}"
        time.sleep(look_s)
    return found
