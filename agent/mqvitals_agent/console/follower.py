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
from mqvitals_config.collection import Carrier

_PATIENCE = 5
"""Looks without anything new after which also half a line ends a message."""


@dataclass(frozen=True, slots=True)
class FollowProgress:
    """Where reading stands: in the file, and what of it is not yet a message (JSON)."""

    position: FilePosition
    state: str


@dataclass(frozen=True, slots=True)
class FollowStep:
    """What one look brought. ``progress`` is None while the file has never been there.

    ``problem`` says why nothing can be read. ``more``: there is more to be read at once.
    """

    messages: tuple[ConsoleMessage, ...] = ()
    progress: FollowProgress | None = None
    problem: str = ""
    lost: bool = False
    more: bool = False


class FileFollower:
    """Follows one file. Use it in one thread at a time."""

    def __init__(
        self,
        path: Path,
        recogniser: MessageReader,
        *,
        carrier: Carrier = "auto",
        encoding: str = "utf-8",
        zone: tzinfo | None = None,
        from_start: bool = False,
        progress: FollowProgress | None = None,
    ) -> None:
        """``progress`` is where an earlier follower of the same file stood."""
        self._tail = Tail(path, None if progress is None else progress.position, from_start=from_start)
        self._recogniser = recogniser
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
        """Read a piece at ``now``, ms UTC, or find that nothing new has come: then what has come before is whole."""
        try:
            piece = self._tail.read()
        except FileNotFoundError:
            return FollowStep(problem="it is not there")
        except OSError as error:
            self._tail.close()
            return FollowStep(problem=error.strerror or str(error))
        messages: list[ConsoleMessage] = []
        if piece.anew:
            self._change_file()
        if piece.data:
            self._quiet = 0
            messages += self._take(piece.data, now)
        else:
            self._quiet += 1
            # The half of a line may go on with the last message; but not for ever.
            if self._quiet >= (_PATIENCE if self._splitter.rest else 1):
                messages += self._recognised(self._joiner.flush())
        self._live = piece.caught_up
        lost, self._tail.lost = self._tail.lost, False
        position = self._tail.position
        progress = None if position is None else FollowProgress(position, self._state())
        return FollowStep(tuple(messages), progress, self._bad, lost, not piece.caught_up)

    def close(self) -> None:
        """Let go of the file."""
        self._tail.close()

    def _take(self, data: bytes, now: int) -> Iterator[ConsoleMessage]:
        if len(data) >= 64:
            self._bad = unreadable(data, self._encoding)
        if self._bad:
            self._splitter.rest = b""
            return
        for line in self._splitter.split(data):
            for whole in self._whole(line):
                yield from self._line(whole, now)

    def _whole(self, line: bytes) -> Iterator[bytes]:
        """The line, with the half before it where another file began in the middle of it."""
        half, self._cut_off = self._cut_off, b""
        if half and begins_message(self._decode(line), self._carrier):
            # It is a line of its own: then the half was all that was written of the one before.
            yield half
            yield line
        else:
            yield (half + line)[:LONGEST]

    def _change_file(self) -> None:
        """Another file begins. What stands without an end may go on in it."""
        self._cut_off = (self._cut_off + self._splitter.rest)[:LONGEST]
        self._splitter.rest = b""
        self._calendar.restart()

    def _line(self, line: bytes, now: int) -> Iterator[ConsoleMessage]:
        parsed = parse_line(self._decode(line), self._carrier)
        if parsed.day is not None:
            self._calendar.turn(parsed.day)
        ts = self._calendar.moment(parsed.stamp, now, live=self._live)
        yield from self._recognised(self._joiner.add(parsed, ts))

    def _recognised(self, joined: Iterator[JoinedMessage]) -> Iterator[ConsoleMessage]:
        for each in joined:
            found = self._recogniser.recognise(each)
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
                "jobs": self._recogniser.jobs,
            }
        )

    def _restore(self, state: str) -> None:
        # A state of another version is no reason to stop: at most one message is lost.
        with suppress(ValueError, KeyError, TypeError):
            told = json.loads(state)
            self._splitter.rest = base64.b64decode(told["rest"])[:LONGEST]
            self._cut_off = base64.b64decode(told["cut_off"])[:LONGEST]
            self._joiner.restore(told["open"])
            self._calendar.day = None if told["day"] is None else int(told["day"])
            self._calendar.last = int(told["last"])
            self._recogniser.jobs.update({str(name): str(job) for name, job in told["jobs"].items()})
