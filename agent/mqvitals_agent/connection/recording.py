"""Recordings: JSON lines of exchanges, byte for byte, plain or gzip, read and written.

The first line is the header, every other line one exchange. Keys that are not known are ignored, so that later
versions can add some; a greater version number is refused. Every value is checked when it is read
(``recording_format``): a line that cannot be used is left out with a warning that has its number.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Reply
from mqvitals_agent.connection.lines import LONGEST_LINE, read_lines
from mqvitals_agent.connection.recording_format import (
    FORMAT,
    LONGEST_HEADER,
    MOST_QUEUE_MANAGERS,
    MQLONG_MAX,
    MQLONG_MIN,
    VERSION,
    LineError,
    LineObject,
    RecordingError,
    RecordingHeader,
    bytes_field,
    field_error,
    int_field,
    json_excerpt,
    name_field,
    parse_header,
    parse_line,
    time_field,
)
from mqvitals_rules.timestamps import iso


class RecordingWriter(AbstractContextManager["RecordingWriter"]):
    """Writes a recording, one exchange a line and one write a line, so that a crash cuts at most the last one.

    The file is made anew, readable by its owner alone, since answers hold names, addresses and user ids; with
    ``append`` an existing recording is continued. A name that ends in ``.gz`` is compressed; every line is flushed to
    the file. Use it in a ``with`` statement, or call ``close``. Raises RecordingError when the file exists already (and
    ``append`` is false) or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], header: RecordingHeader, *, append: bool = False) -> None:
        self.path = Path(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if append else os.O_EXCL)
        try:
            self._file = os.open(self.path, flags, 0o600)
            new = os.fstat(self._file).st_size == 0
        except FileExistsError as error:
            raise RecordingError(f"{self.path} exists already: choose another name") from error
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror or error}") from error
        self._member = zlib.compressobj(wbits=31) if self.path.name.endswith(".gz") else None
        if new:
            self._write(_header_keys(header))

    def write(self, exchange: Exchange) -> None:
        """Append one exchange that has ended. Raises RecordingError when the disk is full or gone."""
        self._write(_exchange_keys(exchange))

    def close(self) -> None:
        """End the file. A second call does nothing."""
        if self._file < 0:
            return
        try:
            if self._member is not None:
                self._put(self._member.flush())
        finally:
            os.close(self._file)
            self._file = -1

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, keys: Mapping[str, Any]) -> None:
        data = json.dumps(keys, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if len(data) > LONGEST_LINE:
            raise RecordingError(
                f"{self.path}: an exchange of {len(data) >> 20} MiB cannot be recorded, as a line has at most"
                f" {LONGEST_LINE >> 20} MiB: choose fewer queues or channels (polling in 'mqvitals help configuration')"
            )
        if self._member is not None:
            data = self._member.compress(data) + self._member.flush(zlib.Z_SYNC_FLUSH)
        self._put(data)

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror or error}") from error


def _header_keys(header: RecordingHeader) -> dict[str, Any]:
    keys: dict[str, Any] = {"format": FORMAT, "version": header.version}
    if header.created is not None:
        keys["created"] = iso(header.created)
    optional = (
        ("source", header.source),
        ("name", header.name),
        ("queue_managers", list(header.queue_managers)),
        ("interval_s", _plain(header.interval_s)),
        ("comment", header.comment),
    )
    keys.update((key, value) for key, value in optional if value)
    return keys


def _plain(seconds: float | None) -> float | int | None:
    return int(seconds) if seconds is not None and seconds == int(seconds) else seconds


def _exchange_keys(exchange: Exchange) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "at": iso(exchange.at),
        "elapsed_ms": exchange.elapsed_ms,
        "queue_manager": exchange.queue_manager,
    }
    if exchange.command is not None:
        keys["command"] = exchange.command
    if exchange.request is not None:
        keys["request"] = exchange.request.hex()
    if exchange.replies or exchange.error is None:
        keys["replies"] = [_reply_keys(reply) for reply in exchange.replies]
    if exchange.error is not None:
        keys["error"] = {"comp": exchange.error.comp, "reason": exchange.error.reason}
    return keys


def _reply_keys(reply: Reply) -> dict[str, Any]:
    keys: dict[str, Any] = {"encoding": reply.encoding, "ccsid": reply.ccsid}
    if reply.put is not None:
        keys["put"] = f"{iso(reply.put)[:-2]}Z"  # the descriptor holds hundredths
    keys["data"] = reply.data.hex()
    return keys


_WARNINGS_KEPT = 50
MOST_LEFT_OUT = 10_000
"""After this many unusable lines the rest is not read: the file is something else."""
MOST_BLANK = 100_000


def _size(file: IO[bytes]) -> int | None:
    try:
        facts = os.fstat(file.fileno())
    except OSError:
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


class Recording(AbstractContextManager["Recording"]):
    """A recording that is being read: iterate over it once for its exchanges, in a ``with`` statement, or ``close`` it.

    ``warnings`` grows while reading: lines left out, a cut or damaged end. ``damaged`` is true when something was lost
    other than a cut last line; ``left_out`` counts the lines that could not be used.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """For ``open_recording``. Raises RecordingError when the first line is no header that can be used."""
        self.path = path
        self.warnings: list[str] = []
        self.damaged = False
        self.left_out = 0
        self._broken = ""
        self._named: set[str] = set()
        self._file = file
        self.size = _size(file)
        """Bytes of the file as it lies on the disk; None: it is a pipe, or no file of the system."""
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
                found = parse_line(text)
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

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file have been read; 0 of a pipe."""
        if self.size is None:
            return 0
        return self.size if self._file.closed else self._file.tell()

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._lines.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, file: IO[bytes]) -> Generator[tuple[bytes, bool], None, None]:
        with file:
            try:
                yield from read_lines(file, self._break)
            except OSError as error:
                self._break(f"the file could not be read on ({error.strerror or error})")

    def _begin(self) -> RecordingHeader:
        first = next(self._lines, None)
        if first is None:
            if not self._broken:
                raise RecordingError(f"{self.path} is empty")
            raise RecordingError(f"{self.path} cannot be used: {self._broken}, and no line stands before that place")
        text, ended = first
        try:
            found = parse_line(text, LONGEST_HEADER)
        except LineError as error:
            if not ended and text.lstrip()[:1] == b"{":
                what = self._broken or "it is cut off"
                raise RecordingError(f"{self.path} cannot be used: {what} within its first line") from None
            raise RecordingError(
                f"{self.path} is not a recording: its first line should be a header, but {error}", foreign=True
            ) from None
        _recognise(self.path, found)
        try:
            return parse_header(found)
        except LineError as error:
            raise RecordingError(f"{self.path}: the header (line 1) is wrong: {error}") from None

    def _break(self, what: str) -> None:
        """The rest of the file is lost: a warning that is never left out."""
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


def open_recording(path: str | os.PathLike[str]) -> Recording:
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


def _recognise(path: Path, found: LineObject) -> None:
    """Raises RecordingError unless the first line is that of a recording of a known version."""
    if found.get("format") != FORMAT:
        raise RecordingError(
            f'{path} is not a recording: its first line does not say "format": "{FORMAT}"', foreign=True
        )
    version = found.get("version")
    if type(version) is not int or version < 1:
        what = (
            f"is missing; it should be {VERSION}"
            if version is None
            else f"should be a number, not {json_excerpt(version)}"
        )
        raise RecordingError(f"{path}: the header's version {what}")
    if version > VERSION:
        raise RecordingError(
            f"{path} is a recording of version {json_excerpt(version)}; this program reads up to version {VERSION}: "
            "use a newer mqvitals"
        )


def _exchange(line: int, found: LineObject) -> Exchange:
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
        time_field(found, "at"),
        int_field(found, "elapsed_ms", 0, MQLONG_MAX),
        name_field(found, "queue_manager"),
        None if command is None else int_field(found, "command", 0, MQLONG_MAX),
        None if request is None else bytes_field(found, "request"),
        () if replies is None else _replies(replies),
        None if error is None else _failure(error),
    )


def _replies(found: object) -> tuple[Reply, ...]:
    if not isinstance(found, list):
        raise field_error("replies", found, "a list of messages")
    replies = []
    for place, each in enumerate(found):
        if not isinstance(each, dict):
            raise field_error(f"replies[{place}]", each, "an object")
        try:
            replies.append(_reply(each))
        except LineError as error:
            raise LineError(f"replies[{place}].{error}") from None
    return tuple(replies)


def _reply(found: LineObject) -> Reply:
    return Reply(
        int_field(found, "encoding", MQLONG_MIN, MQLONG_MAX),
        int_field(found, "ccsid", MQLONG_MIN, MQLONG_MAX),
        bytes_field(found, "data"),
        None if found.get("put") is None else time_field(found, "put"),
    )


def _failure(found: object) -> MqiFailure:
    if not isinstance(found, dict):
        raise field_error("error", found, "an object with comp and reason")
    try:
        return MqiFailure(int_field(found, "comp", 0, 2), int_field(found, "reason", 1, MQLONG_MAX))
    except LineError as error:
        raise LineError(f"error.{error}") from None
