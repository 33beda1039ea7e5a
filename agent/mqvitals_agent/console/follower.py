"""Follows one file: from its bytes to console messages, with the progress that a restart needs."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from mqvitals_agent.console.line import LineCalendar, begins_message, parse_line
from mqvitals_agent.console.message import ConsoleMessage, JoinedMessage, MessageJoiner, MessageReader, wanted
from mqvitals_agent.console.tail import LONGEST, FilePosition, LineSplitter, Tail, line_decoder, line_ends, unreadable
from mqvitals_config.sections.collection import Carrier

_IDLE_LOOKS = 5
"""After this many looks without new bytes an unfinished line ends a message too."""


@dataclass(frozen=True, slots=True)
class FollowProgress:
    """How far a file was read: the position, and what is not yet a message (JSON)."""

    position: FilePosition
    state: str


@dataclass(frozen=True, slots=True)
class FollowStep:
    """The result of one look. ``progress`` is None until the file has existed.

    ``problem`` says why nothing can be read. ``more``: more can be read at once.
    """

    messages: tuple[ConsoleMessage, ...] = ()
    progress: FollowProgress | None = None
    problem: str = ""
    lost: bool = False
    more: bool = False


class FileFollower:
    """Follows one file. Use it on one thread at a time."""

    def __init__(
        self,
        path: Path,
        reader: MessageReader,
        *,
        carrier: Carrier = "auto",
        encoding: str = "utf-8",
        zone: tzinfo | None = None,
        from_start: bool = False,
        progress: FollowProgress | None = None,
    ) -> None:
        """``progress`` is that of an earlier follower of the same file."""
        self._tail = Tail(path, None if progress is None else progress.position, from_start=from_start)
        self._reader = reader
        self._carrier = carrier
        self._encoding = encoding
        self._decode = line_decoder(encoding)
        self._splitter = LineSplitter(line_ends(encoding))
        self._joiner = MessageJoiner(wanted)
        self._calendar = LineCalendar(zone)
        self._cut_off = b""
        self._bad = ""
        self._live = False
        self._quiet = 0
        if progress is not None:
            self._restore(progress.state)

    def step(self, now: int) -> FollowStep:
        """Read a piece at ``now``, ms UTC. When nothing new has come, messages read before are complete."""
        try:
            piece = self._tail.read()
        except FileNotFoundError:
            return FollowStep(problem="it is not there")
        except OSError as error:
            self._tail.close()
            return FollowStep(problem=error.strerror or str(error))
        messages: list[ConsoleMessage] = []
        if piece.new_file:
            self._change_file()
        if piece.data:
            self._quiet = 0
            messages += self._take(piece.data, now)
        else:
            self._quiet += 1
            # An unfinished line may continue the last message, but not for ever.
            if self._quiet >= (_IDLE_LOOKS if self._splitter.rest else 1):
                messages += self._messages(self._joiner.flush())
        self._live = piece.caught_up
        lost, self._tail.lost = self._tail.lost, False
        position = self._tail.position
        progress = None if position is None else FollowProgress(position, self._state())
        return FollowStep(tuple(messages), progress, self._bad, lost, not piece.caught_up)

    def close(self) -> None:
        """Close the file."""
        self._tail.close()

    def _take(self, data: bytes, now: int) -> Iterator[ConsoleMessage]:
        if len(data) >= 64:
            self._bad = unreadable(data, self._encoding)
        if self._bad:
            self._splitter.rest = b""
            return
        for line in self._splitter.split(data):
            for whole in self._complete(line):
                yield from self._line(whole, now)

    def _complete(self, line: bytes) -> Iterator[bytes]:
        """The line, joined with the half before it when another file began in the middle of it."""
        half, self._cut_off = self._cut_off, b""
        if half and begins_message(self._decode(line), self._carrier):
            # A complete line: the half before it was never finished.
            yield half
            yield line
        else:
            yield (half + line)[:LONGEST]

    def _change_file(self) -> None:
        """Another file begins. An unfinished line may continue in it."""
        self._cut_off = (self._cut_off + self._splitter.rest)[:LONGEST]
        self._splitter.rest = b""
        self._calendar.restart()

    def _line(self, line: bytes, now: int) -> Iterator[ConsoleMessage]:
        parsed = parse_line(self._decode(line), self._carrier)
        if parsed.day is not None:
            self._calendar.turn(parsed.day)
        ts = self._calendar.moment(parsed.stamp, now, live=self._live)
        yield from self._messages(self._joiner.add(parsed, ts))

    def _messages(self, joined: Iterator[JoinedMessage]) -> Iterator[ConsoleMessage]:
        for each in joined:
            found = self._reader.read(each)
            if found is not None:
                yield found

    def _state(self) -> str:
        return json.dumps(
            {
                "rest": base64.b64encode(self._splitter.rest).decode(),
                "cut_off": base64.b64encode(self._cut_off).decode(),
                "open": list(self._joiner.state()),
                "day": self._calendar.day,
                "last": self._calendar.last,
                "jobs": self._reader.jobs,
            }
        )

    def _restore(self, state: str) -> None:
        # A state of another version costs at most one message.
        with suppress(ValueError, KeyError, TypeError):
            saved = json.loads(state)
            self._splitter.rest = base64.b64decode(saved["rest"])[:LONGEST]
            self._cut_off = base64.b64decode(saved["cut_off"])[:LONGEST]
            self._joiner.restore(saved["open"])
            self._calendar.day = None if saved["day"] is None else int(saved["day"])
            self._calendar.last = int(saved["last"])
            self._reader.jobs.update({str(name): str(job) for name, job in saved["jobs"].items()})
