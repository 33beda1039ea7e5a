"""How far a command is that takes long: a bar on a terminal, plain lines elsewhere, nothing where it is quick.

All of it goes to standard error; standard output is as without it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, TextIO, TypeVar

from mqvitals_agent.commandline.output import NARROWEST, USUAL, erase_with, say

if TYPE_CHECKING:
    from tqdm.std import tqdm

    from mqvitals_agent.store.file.long_work import LongWork

_T = TypeVar("_T")

QUICK_S: Final = 2.0
"""What takes no longer shows nothing."""
_REDRAW_S: Final = 0.1
_LINE_S, _RARE_LINE_S, _LONG_S = 10.0, 60.0, 600.0
"""Where there is no terminal: a line as often; once it has taken long, more rarely."""
_MANY: Final = 100_000
"""As many are shown as 100k."""
_LEAST: Final = 0.001
"""Less than this of a unit is nothing."""
_LOOK_S: Final = 0.2
"""How often it is looked how far work in another thread is."""

steady_s = time.monotonic
"""The clock of commands, in seconds."""


class Progress(AbstractContextManager["Progress"]):
    """Shows how far something is, in steps of ``begin``; what it shows is gone when the ``with`` block ends.

    ``quiet``: nothing is ever shown. ``stream`` is where to show it (standard error), ``clock`` gives seconds that only
    grow. Use it from one thread.
    """

    def __init__(
        self, *, quiet: bool = False, stream: TextIO | None = None, clock: Callable[[], float] | None = None
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._bar = self._stream.isatty()
        self._clock = steady_s if clock is None else clock
        self._began = self._step_began = self._clock()
        self._next = self._began + (QUICK_S if self._bar else _LINE_S)
        self._what, self._unit = "", "B"
        self._total: float | None = None
        self._width = 0

    @property
    def bar(self) -> bool:
        """Whether a bar may be shown, not lines."""
        return self._bar and not self._quiet

    def begin(self, what: str, total: float | None = None, unit: str = "B") -> None:
        """What comes now, in a few words; its end in ``unit`` (``B``: bytes), None: nobody knows."""
        self._what, self._total, self._unit = what, total or None, unit
        self._step_began = self._clock()

    def at(self, done: float, note: str = "") -> None:
        """So much of the total is done, in the unit of ``begin``. May be called often: it costs a look at the clock."""
        now = self._clock()
        if now < self._next or self._quiet:
            return
        # What grows while it is read is done once all is read that there was.
        done = min(done, self._total) if self._total is not None else done
        # Of next to nothing the remaining time has no bounds.
        done = done if done >= _LEAST else 0
        if self._bar:
            self._next = now + _REDRAW_S
            self._draw(done, now, note)
        else:
            self._next = now + (_LINE_S if now - self._began < _LONG_S else _RARE_LINE_S)
            say(self._line(done, now, note))

    @property
    def _scaled(self) -> bool:
        return self._unit == "B" or (self._total or 0) >= _MANY

    def erase(self) -> None:
        """Take the bar off the terminal; the next ``at`` draws it again. Never fails."""
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0
            erase_with(None)

    def __exit__(self, *_: object) -> None:
        self.erase()

    def _draw(self, done: float, now: float, note: str) -> None:
        # The last cell stays free: some terminals begin a new line when it is filled.
        cells = max(_width_of(self._stream), NARROWEST) - 1
        ascii_only = not _shows(self._stream, "█▏")
        text = _meter().format_meter(
            done,
            self._total,  # type: ignore[arg-type]  # None is documented: no total is known
            now - self._step_began,
            ncols=cells,
            prefix=self._what,
            ascii=ascii_only,
            unit=self._unit,
            unit_scale=self._scaled,
            postfix=note,
            bar_format=None if self._total is not None or done else "{desc}: {elapsed} so far",
        )[:cells]
        self._write("\r" + text + " " * (self._width - len(text)))
        self._width = len(text)
        erase_with(self.erase)

    def _line(self, done: float, now: float, note: str) -> str:
        form = (
            "{n_fmt}{unit}, {rate_fmt}, {elapsed} so far"
            if self._total is None
            else "{percentage:.0f} %, {n_fmt}{unit} of {total_fmt}{unit}, {rate_fmt}, {remaining} left"
        )
        if self._total is None and not done:
            form = "{elapsed} so far"
        text = _meter().format_meter(
            done,
            self._total or 0,
            now - self._step_began,
            unit=self._unit,
            unit_scale=self._scaled,
            bar_format=form,
        )
        return f"{self._what}: {text}{', ' if note else ''}{note}"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._quiet = True


def _meter() -> type[tqdm[None]]:
    """Loaded with the first bar: 50 ms."""
    from tqdm.std import tqdm

    return tqdm


def _width_of(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except (OSError, ValueError):
        return USUAL


def _shows(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def watched(progress: Progress, work: Callable[[LongWork], _T]) -> _T:
    """What ``work`` returns or raises, which runs in a thread of its own while this one shows how far it is.

    SQLite may be busy for minutes within one call. An interrupt stops the work, waits for its end, and is raised.
    """
    from concurrent.futures import ThreadPoolExecutor

    from mqvitals_agent.store.file.long_work import LongWork

    long = LongWork()
    shown = 0
    with ThreadPoolExecutor(1, "work") as threads:
        future = threads.submit(work, long)
        try:
            while not future.done():
                try:
                    future.exception(_LOOK_S)
                except TimeoutError:
                    step = long.step
                    if step.number != shown:
                        shown = step.number
                        progress.begin(step.what, step.total, step.unit)
                    progress.at(step.done())
        except BaseException:  # raised again, once nothing of the work goes on
            long.stop()
            raise
    return future.result()
