"""Recordings: JSON lines of exchanges, byte for byte, plain or gzip, read and written.

The first line is the header, every other line one exchange. Keys that are not known are ignored, so that later versions
can add some; a greater version number is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from mqvitals_agent.connection.exchange import Exchange, MqiFailure, Reply
from mqvitals_agent.connection.header import FORMAT, VERSION, Header, RecordingError
from mqvitals_agent.connection.lines import lines
from mqvitals_agent.connection.writer import Writer
from mqvitals_rules.moment import parse

_WARNINGS_KEPT = 50


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
        self._lines = self._read(file)
        try:
            self.header = self._begin()
        except RecordingError:
            self.close()
            raise

    def __iter__(self) -> Iterator[Exchange]:
        number = 1
        for text, ended in self._lines:
            number += 1
            if not text.strip():
                continue
            try:
                yield _exchange(number, _object(text))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                self._leave_out(number, error, ended=ended)

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
                self._break(f"reading stopped: {error.strerror or error}")

    def _begin(self) -> Header:
        first = next(self._lines, None)
        if first is None:
            what = f"cannot be read: {self.warnings[0]}" if self.warnings else "is empty"
            raise RecordingError(f"{self.path} {what}")
        return _header(self.path, first[0])

    def _break(self, text: str) -> None:
        """The rest of the file is lost: that is told however many lines were complained of before."""
        self.damaged = True
        self.warnings.append(text)

    def _leave_out(self, number: int, error: Exception, *, ended: bool) -> None:
        if not ended:
            self._warn(f"line {number}, the last, is cut: the recorder was interrupted; the lines before it are used")
            return
        self.damaged = True
        self.left_out += 1
        what = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        self._warn(f"line {number} is left out: {what}")

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


def _object(text: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON (column {error.colno}: {error.msg})") from error
    if not isinstance(value, dict):
        raise TypeError("it is not a JSON object")
    return value


def _header(path: Path, text: bytes) -> Header:
    try:
        found = _object(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordingError(f"{path} is not a recording: its first line should be a header, but {error}") from error
    if found.get("format") != FORMAT:
        raise RecordingError(f'{path} is not a recording: its first line does not say "format": "{FORMAT}"')
    version = found.get("version")
    if type(version) is not int:
        raise RecordingError(f"{path}: the header's version should be a number, not {version!r}")
    if version > VERSION:
        raise RecordingError(
            f"{path} is a recording of version {version}; this program reads up to version {VERSION}: "
            "use a newer mqvitals"
        )
    try:
        return Header(
            version=version,
            created=parse(found["created"]) if "created" in found else None,
            source=_text(found, "source"),
            name=_text(found, "name"),
            queue_managers=_names(found),
            interval_s=_interval(found),
            comment=_text(found, "comment"),
        )
    except (ValueError, TypeError) as error:
        raise RecordingError(f"{path}: the header is wrong: {error}") from error


def _text(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key, "")
    if not isinstance(value, str):
        raise TypeError(f"{key} should be a text, not {value!r}")
    return value


def _names(found: Mapping[str, Any]) -> tuple[str, ...]:
    names = found.get("queue_managers", [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise TypeError("queue_managers should be a list of names")
    return tuple(dict.fromkeys(names))


def _interval(found: Mapping[str, Any]) -> float | None:
    value = found.get("interval_s")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.001 <= value <= 1e6:
        raise TypeError(f"interval_s should be a number of seconds, not {value!r}")
    return float(value)


def _exchange(line: int, found: Mapping[str, Any]) -> Exchange:
    command = found.get("command")
    request = found.get("request")
    error = found.get("error")
    replies = tuple(map(_reply, found.get("replies", ())))
    if command is None and error is None:
        raise ValueError("it has neither a command nor an error")
    queue_manager = found["queue_manager"]
    if not isinstance(queue_manager, str) or not queue_manager:
        raise TypeError("queue_manager should be a name")
    return Exchange(
        line,
        parse(found["at"]),
        _whole(found, "elapsed_ms"),
        queue_manager,
        None if command is None else _whole(found, "command"),
        None if request is None else bytes.fromhex(request),
        replies,
        None if error is None else MqiFailure(_whole(error, "comp"), _whole(error, "reason")),
    )


def _reply(found: Mapping[str, Any]) -> Reply:
    put = found.get("put")
    return Reply(
        _whole(found, "encoding"),
        _whole(found, "ccsid"),
        bytes.fromhex(found["data"]),
        None if put is None else parse(put),
    )


def _whole(found: Mapping[str, Any], key: str) -> int:
    value = found[key]
    if type(value) is not int:
        raise TypeError(f"{key} should be a whole number, not {value!r}")
    return value


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
