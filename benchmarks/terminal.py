"""A terminal for programs under measurement: a pseudo-terminal, and what a terminal would show of what comes out of it.

It understands what Textual writes: moves, colours of the ground, text, and synchronised updates, which it asks for. The
end of such an update is the moment at which a terminal paints, so that is the moment that counts.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

_TOKEN = re.compile(
    r"\x1b\[(?P<private>[?<=>]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x1a\x1c-\x1f]|(?P<text>[^\x00-\x1f]+)"
)
_ASKED, _ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
_END = "\x1b[?2026l"
_PALETTE, _TRUE = 2, 4
_WAIT_S = 5.0


class Screen:
    """What the terminal shows: of each cell its character and the colour of its ground."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._text = [[" "] * width for _ in range(height)]
        self._ground = [[""] * width for _ in range(height)]
        self._x = self._y = 0
        self._colour = ""

    def line(self, y: int) -> str:
        """The text of a line."""
        return "".join(self._text[y])

    def text(self) -> str:
        """All lines."""
        return "\n".join(map(self.line, range(self.height)))

    def marked(self, top: int, bottom: int, x: int = 1) -> str:
        """Of the lines from ``top`` to before ``bottom`` the one on another ground than most, at ``x``; empty without one."""
        grounds = [self._ground[y][x] for y in range(top, bottom)]
        usual = Counter(grounds).most_common(1)[0][0]
        return next((self.line(top + place) for place, ground in enumerate(grounds) if ground != usual), "")

    def feed(self, output: str) -> None:
        """Show some output; it does not end within a sequence."""
        for found in _TOKEN.finditer(output):
            text = found["text"]
            if text is not None:
                self._put(text)
            elif found["final"] == "m" and not found["private"]:
                self._paint(found["numbers"])
            elif found["final"] == "H":
                y, _, x = found["numbers"].partition(";")
                self._y, self._x = int(y or 1) - 1, int(x or 1) - 1
            elif found[0] == "\n":
                self._x, self._y = 0, min(self._y + 1, self.height - 1)
            elif found[0] == "\r":
                self._x = 0

    def _put(self, text: str) -> None:
        row, ground, x = self._text[self._y], self._ground[self._y], self._x
        for character in text:
            wide = unicodedata.east_asian_width(character) in "WF"
            if x < self.width:
                row[x], ground[x] = character, self._colour
            if wide and x + 1 < self.width:
                row[x + 1], ground[x + 1] = "", self._colour
            x += 2 if wide else 1
        self._x = x

    def _paint(self, numbers: str) -> None:
        codes = [int(each or 0) for each in numbers.replace(":", ";").split(";")]
        place = 0
        while place < len(codes):
            code = codes[place]
            if code in (0, 49):
                self._colour = ""
            elif code == 7:
                self._colour = "reverse"
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self._colour = str(code)
            elif code in (38, 48):
                length = _TRUE if codes[place + 1] == 2 else _PALETTE
                if code == 48:
                    self._colour = str(codes[place : place + length + 1])
                place += length
            place += 1


class Terminal:
    """A program in a pseudo-terminal of its own; it ends with the block."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        width: int = 120,
        height: int = 40,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = Screen(width, height)
        self._pending = ""
        self.painted = 0.0
        """When the newest update was complete, by ``time.perf_counter``."""
        self.bytes = 0
        """How much the program has written."""
        variables = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environment or {})}
        variables.pop("NO_COLOR", None)
        self.pid, self._file = pty.fork()
        if not self.pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", height, width, 0, 0))
            os.execvpe(command[0], list(command), variables)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("4H", height, width, 0, 0))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, keys: str) -> None:
        """Type."""
        os.write(self._file, keys.encode())

    def watch(self, seconds: float, seen: Callable[[Screen], bool] = lambda _: False) -> bool:
        """Take in updates until ``seen`` is true of what is shown after one, or for so long; returns which of the two."""
        end = time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            if not select.select([self._file], [], [], rest)[0]:
                break
            data = os.read(self._file, 1 << 16)
            self.bytes += len(data)
            at = time.perf_counter()
            if _ASKED in data:
                os.write(self._file, _ANSWER)
            self._pending += data.decode("utf-8", "surrogateescape")
            whole, mark, self._pending = self._pending.rpartition(_END)
            if mark:
                self.painted = at
                self.screen.feed(whole.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
                if seen(self.screen):
                    return True
        return False

    def watch_for(self, seconds: float) -> None:
        """Take in updates for so long, also where there are none for a while."""
        end = time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            self.watch(rest)

    def press(self, key: str, seen: Callable[[Screen], bool], limit_s: float = 30.0) -> float:
        """Milliseconds from typing ``key`` to the end of the first update after which ``seen`` is true. Raises TimeoutError."""
        begin = time.perf_counter()
        self.write(key)
        if not self.watch(limit_s, seen):
            raise TimeoutError(f"nothing came of {key!r} within {limit_s:g} s; the screen shows:\n{self.screen.text()}")
        return (self.painted - begin) * 1000

    def close(self) -> None:
        """End the program."""
        os.kill(self.pid, 15)
        end = time.monotonic() + _WAIT_S
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(self.pid, 9)
            # A program whose terminal is not read never ends.
            try:
                self.watch(0.05)
            except OSError:
                time.sleep(0.05)
        os.close(self._file)
