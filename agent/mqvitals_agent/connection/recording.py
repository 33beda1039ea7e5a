"""Recordings: JSON lines of exchanges, byte for byte, plain or gzip, read and written.

The first line is the header, every other line one exchange. Keys that are not known are ignored, so that later versions
can add some; a greater version number is refused. Every value is checked when it is read (``key``): a line that cannot be
used is told with its number and left out, and nothing of it reaches the probes.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

from mqvitals_agent.connection.exchange import Exchange, MqiFailure, Reply
from mqvitals_agent.connection.header import (
    FORMAT,
    LONGEST_HEADER,
    MOST_QUEUE_MANAGERS,
    VERSION,
    Header,
    RecordingError,
    header,
)
from mqvitals_agent.connection.key import (
    MQLONG_MAX,
    MQLONG_MIN,
    Found,
    LineError,
    moment,
    name,
    octets,
    parsed,
    shown,
    whole,
    wrong,
)
from mqvitals_agent.connection.lines import lines
from mqvitals_agent.connection.writer import Writer

_WARNINGS_KEPT = 50
MOST_LEFT_OUT = 10_000
"""After so many lines that cannot be used the rest is not looked at: the file is something else."""
MOST_BLANK = 100_000


class Recording:
    """A recording that is being read: iterate over it once for its exchanges, in a ``with`` statement, or ``close`` it.

    ``warnings`` grows while reading: lines left out, a cut or damaged end. ``damaged`` is true when something was lost
    other than a cut last line; ``left_out`` counts the lines that could not be used.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """For ``read``. Raises RecordingError when the first line is no header that can be used."""
        self.path = path
        self.warnings: list[str] = []
        self.damaged = False
        self.left_out = 0
        self._broken = ""
        self._named: set[str] = set()
        self._lines = self._read(file)
        try:
            self.header = self._begin()
        except RecordingError:
            self.close()
            raise

    def __iter__(self) -> Iterator[Exchange]:
        number, blank = 1, 0
        self._named.update(self.header.queue_managers)
        for text, ended in self._lines:
            number += 1
            if not text.strip():
                blank += 1
                if blank > MOST_BLANK:
                    self._break(f"more than {MOST_BLANK:,} lines are blank")
                    break
                continue
            if self.left_out >= MOST_LEFT_OUT:
                self._break(f"{MOST_LEFT_OUT:,} lines cannot be used")
                break
            try:
                found = parsed(text)
            except LineError as error:
                if ended:
                    self._leave_out(number, error)
                else:
                    self._cut(number)
                continue
            try:
                exchange = _exchange(number, found)
                self._count(exchange.queue_manager)
            except LineError as error:
                self._leave_out(number, error)
            else:
                yield exchange

    def _count(self, queue_manager: str) -> None:
        """Raises LineError for one queue manager more than a recording has."""
        if queue_manager in self._named:
            return
        if len(self._named) >= MOST_QUEUE_MANAGERS:
            raise LineError(
                f"queue_manager is a new name after {MOST_QUEUE_MANAGERS:,} others, the most of a recording"
            )
        self._named.add(queue_manager)

    def close(self) -> None:
        """Let go of the file. A second call does nothing."""
        self._lines.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, file: IO[bytes]) -> Generator[tuple[bytes, bool], None, None]:
        with file:
            try:
                yield from lines(file, self._break)
            except OSError as error:
                self._break(f"the file could not be read on ({error.strerror or error})")

    def _begin(self) -> Header:
        first = next(self._lines, None)
        if first is None:
            if not self._broken:
                raise RecordingError(f"{self.path} is empty")
            raise RecordingError(f"{self.path} cannot be used: {self._broken}, and no line stands before that place")
        text, ended = first
        try:
            found = parsed(text, LONGEST_HEADER)
        except LineError as error:
            if not ended and text.lstrip()[:1] == b"{":
                what = self._broken or "it is cut off"
                raise RecordingError(f"{self.path} cannot be used: {what} within its first line") from None
            raise RecordingError(
                f"{self.path} is not a recording: its first line should be a header, but {error}", foreign=True
            ) from None
        _recognise(self.path, found)
        try:
            return header(found)
        except LineError as error:
            raise RecordingError(f"{self.path}: the header (line 1) is wrong: {error}") from None

    def _break(self, what: str) -> None:
        """The rest of the file is lost: that is told however many lines were complained of before."""
        self.damaged = True
        self._broken = what
        self.warnings.append(f"{what}: the lines before that place were used, the rest is lost")

    def _cut(self, number: int) -> None:
        if self._broken:
            self._warn(f"line {number} is cut at that place and left out")
        else:
            self._warn(f"line {number}, the last, is cut: the recorder was interrupted; the lines before it are used")

    def _leave_out(self, number: int, error: LineError) -> None:
        self.damaged = True
        self.left_out += 1
        self._warn(f"line {number} is left out: {error}")

    def _warn(self, text: str) -> None:
        if len(self.warnings) < _WARNINGS_KEPT:
            self.warnings.append(text)
        elif len(self.warnings) == _WARNINGS_KEPT:
            self.warnings.append("more lines are left out")


def read(path: str | os.PathLike[str]) -> Recording:
    """Open a recording and read its header.

    Raises RecordingError when there is no such file, it cannot be read, it is no recording, or its version is newer.
    """
    path = Path(path)
    try:
        # To open a device may do something. A pipe, such as a shell's <(...), is read as it comes.
        if path.is_char_device() or path.is_block_device():
            raise RecordingError(f"{path} is a device, not a recording")
        file = path.open("rb")
    except OSError as error:
        raise RecordingError(_cannot_open(path, error)) from error
    return Recording(path, file)


def _cannot_open(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    if isinstance(error, IsADirectoryError):
        return f"{path} is a directory, not a recording"
    return f"{path} cannot be read: {error.strerror or error}"


def _recognise(path: Path, found: Found) -> None:
    """Raises RecordingError unless the first line says that this is a recording, of a version that is known here."""
    if found.get("format") != FORMAT:
        raise RecordingError(
            f'{path} is not a recording: its first line does not say "format": "{FORMAT}"', foreign=True
        )
    version = found.get("version")
    if type(version) is not int or version < 1:
        what = f"is missing; it should be {VERSION}" if version is None else f"should be a number, not {shown(version)}"
        raise RecordingError(f"{path}: the header's version {what}")
    if version > VERSION:
        raise RecordingError(
            f"{path} is a recording of version {shown(version)}; this program reads up to version {VERSION}: "
            "use a newer mqvitals"
        )


def _exchange(line: int, found: Found) -> Exchange:
    command = found.get("command")
    request = found.get("request")
    error = found.get("error")
    replies = found.get("replies")
    if command is None:
        if request is not None or replies is not None:
            # Without a command it would pass for a connection that failed.
            raise LineError(f"it has {'replies' if request is None else 'a request'} and no command")
        if error is None:
            raise LineError("it has neither a command nor an error")
    elif error is None and replies is None:
        raise LineError("it has a command, and neither replies nor an error")
    return Exchange(
        line,
        moment(found, "at"),
        whole(found, "elapsed_ms", 0, MQLONG_MAX),
        name(found, "queue_manager"),
        None if command is None else whole(found, "command", 0, MQLONG_MAX),
        None if request is None else octets(found, "request"),
        () if replies is None else _replies(replies),
        None if error is None else _failure(error),
    )


def _replies(found: object) -> tuple[Reply, ...]:
    if not isinstance(found, list):
        raise wrong("replies", found, "a list of messages")
    replies = []
    for place, each in enumerate(found):
        if not isinstance(each, dict):
            raise wrong(f"replies[{place}]", each, "an object")
        try:
            replies.append(_reply(each))
        except LineError as error:
            raise LineError(f"replies[{place}].{error}") from None
    return tuple(replies)


def _reply(found: Found) -> Reply:
    return Reply(
        whole(found, "encoding", MQLONG_MIN, MQLONG_MAX),
        whole(found, "ccsid", MQLONG_MIN, MQLONG_MAX),
        octets(found, "data"),
        None if found.get("put") is None else moment(found, "put"),
    )


def _failure(found: object) -> MqiFailure:
    if not isinstance(found, dict):
        raise wrong("error", found, "an object with comp and reason")
    try:
        return MqiFailure(whole(found, "comp", 0, 2), whole(found, "reason", 1, MQLONG_MAX))
    except LineError as error:
        raise LineError(f"error.{error}") from None


__all__ = [
    "Exchange",
    "Header",
    "MqiFailure",
    "Recording",
    "RecordingError",
    "Reply",
    "Writer",
    "read",
]
