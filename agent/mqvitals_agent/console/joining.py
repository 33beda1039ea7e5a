"""Lines joined to messages: z/OS splits a long one, and lines of others may stand between its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mqvitals_agent.console.line import Line, cut_number
from mqvitals_agent.console.stamp import Stamp

MOST_TEXT: Final = 4_000
"""Characters of a message that are kept."""
_MOST_OPEN: Final = 8
_PATIENCE: Final = 32
"""A numbered message is over when so many lines have come after its last."""


_NUMBER: Final = 16
"""Characters at the end of a first line in which its number stands."""
_GAP = re.compile(r"(?:,\s+|\s{2,})\d{3}\s*$")


@dataclass(frozen=True, slots=True)
class Joined:
    """A whole message: its text with single blanks, and what the carrier said of its first line.

    ``ts`` is the moment of the first line, ms UTC.
    """

    text: str
    ts: int
    job: str = ""
    system: str = ""


@dataclass(slots=True)
class _Open:
    """A message that may go on. ``number`` is what may be its number; ``sure``: a line with that number came.

    ``cut``: the number at the end of the first line is no word of the message.
    """

    parts: list[str]
    ts: int
    stamp: tuple[int, int | None] | None
    job: str
    system: str
    number: str
    sure: bool = False
    cut: bool = False
    idle: int = 0
    size: int = 0

    def add(self, text: str) -> None:
        self.idle = 0
        if text and self.size < MOST_TEXT:
            self.parts.append(text[:MOST_TEXT])
            self.size += len(text) + 1

    def joined(self) -> Joined:
        first, *rest = self.parts
        if self.sure or self.cut:
            first = cut_number(first)[0]
        return Joined(" ".join(" ".join((first, *rest)).split())[:MOST_TEXT], self.ts, self.job, self.system)


@dataclass(slots=True)
class Joiner:
    """Give it the lines of one file in their order; it gives back the messages that are over, in the order they ended.

    ``wanted`` tells from the first line whether a message is kept: the others cost nothing.
    """

    wanted: Callable[[str], bool]
    _open: list[_Open] = field(default_factory=list)
    _last: _Open | None = None

    def add(self, line: Line, ts: int) -> Iterator[Joined]:
        """Take a line in that was written at ``ts``, ms UTC."""
        if line.begins:
            yield from self._begin(line, ts)
            return
        if line.number:
            message = next((each for each in reversed(self._open) if each.number == line.number), None)
            if message is not None:
                message.sure = True
                message.add(line.text)
            yield from self._age(message)
            return
        message = self._last
        if message is not None and not message.sure and message.stamp == _mark(line.stamp, message.stamp):
            # Carriers without a column for the number leave it at the end of the first line, behind a gap or a comma.
            message.cut = message.cut or (
                len(message.parts) == 1 and _GAP.search(message.parts[0][-_NUMBER:]) is not None
            )
            message.add(line.text)

    def flush(self) -> Iterator[Joined]:
        """Nothing more comes for now: every message is over."""
        done, self._open, self._last = self._open, [], None
        for message in done:
            yield message.joined()

    @property
    def waiting(self) -> bool:
        """Whether a message may still go on."""
        return bool(self._open)

    def state(self) -> Sequence[Mapping[str, Any]]:
        """What is not over, in plain values."""
        return [
            {name: getattr(each, name) for name in _Open.__slots__} | {"last": each is self._last}
            for each in self._open
        ]

    def restore(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Go on from what ``state`` told. Raises KeyError, TypeError or ValueError for anything else."""
        opened = []
        last = None
        for each in state:
            stamp = each["stamp"]
            message = _Open(
                [str(part) for part in each["parts"]],
                int(each["ts"]),
                None if stamp is None else (int(stamp[0]), None if stamp[1] is None else int(stamp[1])),
                str(each["job"]),
                str(each["system"]),
                str(each["number"]),
                bool(each["sure"]),
                bool(each["cut"]),
                int(each["idle"]),
                int(each["size"]),
            )
            if not message.parts:
                raise ValueError("a message without a first line")
            opened.append(message)
            last = message if each["last"] else last
        self._open, self._last = opened[-_MOST_OPEN:], last

    def _begin(self, line: Line, ts: int) -> Iterator[Joined]:
        number = cut_number(line.text)[1]
        # The same number again is another message; one without a number ends where the next begins.
        for each in [each for each in self._open if not each.number or each.number == number]:
            self._open.remove(each)
            yield each.joined()
        yield from self._age(None)
        self._last = None
        if not self.wanted(line.text):
            return
        text = line.text[:MOST_TEXT]
        message = _Open([text], ts, _mark(line.stamp, None), line.job, line.system, number, size=len(text))
        self._open.append(message)
        self._last = message
        if len(self._open) > _MOST_OPEN:
            yield self._open.pop(0).joined()

    def _age(self, spoken: _Open | None) -> Iterator[Joined]:
        for each in list(self._open):
            if each is spoken:
                continue
            each.idle += 1
            if each.idle > _PATIENCE:
                self._open.remove(each)
                self._last = None if self._last is each else self._last
                yield each.joined()


def _mark(stamp: Stamp | None, else_: tuple[int, int | None] | None) -> tuple[int, int | None] | None:
    return else_ if stamp is None else (stamp.ms, stamp.day)
