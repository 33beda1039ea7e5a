"""Reads files that a person names: regular files of limited size in UTF-8. Shows problems with their line and a caret.

A pipe, device or socket is refused before it is opened: to open one may wait for ever, or act.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from unicodedata import combining, east_asian_width

from mqvitals_config.decoding.problem import LINE_BREAK, ConfigError, Place, Problem

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class NotRegularError(OSError):
    """The path names a pipe, device or socket; ``strerror`` says which."""

    def __init__(self, kind: str) -> None:
        super().__init__(None, f"it is {kind}, not a regular file")


def open_regular(path: str | os.PathLike[str]) -> int:
    """A descriptor for reading the regular file at ``path``, to be closed by the caller.

    Anything else is refused before it is opened: to open a device may do something, to open a pipe may wait for ever.
    Raises OSError: NotRegularError, IsADirectoryError, and what the operating system says; ValueError for a NUL in
    the path.
    """
    _refuse(Path(path).stat().st_mode, path)
    descriptor = os.open(path, _FLAGS)
    try:
        # Another file may have taken its place meanwhile.
        _refuse(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: str | os.PathLike[str], limit: int) -> bytes:
    """The first ``limit`` bytes of the regular file at ``path``. Raises as ``open_regular``, and OSError on reading."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read(limit)


def _refuse(mode: int, path: str | os.PathLike[str]) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        # As an attempt to read it would say.
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise NotRegularError(next((kind for test, kind in _KINDS if test(mode)), "something else"))


LARGEST_BYTES = 4 * 1024 * 1024
"""No file of settings or rules is larger."""


class UnreadableError(ConfigError):
    """The file cannot be read at all, so nothing is known about what it holds."""


def read(path: str) -> str:
    """The whole text of the file at ``path``.

    Raises UnreadableError when there is no such file, it is no regular file, may not be read, or is too large;
    ConfigError when it is not UTF-8.
    """
    try:
        data = read_regular(path, LARGEST_BYTES + 1)
    except OSError as error:
        # strerror, not str(error): the path is already the problem's place.
        raise UnreadableError([Problem(Place(path), "", f"cannot be read: {error.strerror}")]) from error
    except ValueError as error:
        # The only thing that no path can hold; Python words it differently from version to version.
        raise UnreadableError([Problem(Place(path), "", "cannot be read: a path cannot hold a null byte")]) from error
    if len(data) > LARGEST_BYTES:
        raise UnreadableError([Problem(Place(path), "", f"is larger than {LARGEST_BYTES // 1024 // 1024} MiB")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        begin = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[begin : error.start].decode("utf-8", "replace")) + 1
        message = f"is not UTF-8: byte 0x{data[error.start]:02x} starts no character; save the file as UTF-8"
        raise ConfigError([Problem(Place(path, line, column), "", message)]) from error


_WIDTH = 100

_SECRET_KEY = re.compile(
    r"""(?i)(?:password|passwd|passphrase|pwd|token|secret|credential|api_?key)[\w-]*(?<!_file)(?<!_variable)["']?\s*:(?!//)\s*"""
)
_NOT_BLANK = re.compile(r"\S")
_ADDRESS = re.compile(r"""(?<=://)(?P<user>[^\s'"/?#]*@)?(?P<host>[^\s'"/?#]*)(?P<rest>[^\s'"]*)""")


def excerpt_source(path: str) -> str | None:
    """The text of a file for excerpts, None when it cannot be read now."""
    try:
        return read(path)
    except ConfigError:
        return None


def explained(problems: Iterable[Problem], source: Callable[[str], str | None] = excerpt_source) -> str:
    """Every problem with its line and a caret, in the order given. ``source`` gives the text of a path.

    A problem without a line, or whose file cannot be had, is its sentence alone. The text is safe for a terminal.
    """
    lines: dict[str, list[str]] = {}
    parts = []
    for problem in problems:
        path = problem.place.path
        if path not in lines:
            text = source(path) if problem.place.line else None
            if text is not None:
                lines[path] = LINE_BREAK.split(text.removeprefix("\ufeff"))
        parts.append(_explained(problem, lines.get(path, [])))
    return "\n".join(parts)


def _explained(problem: Problem, lines: list[str]) -> str:
    sentence = _safe(str(problem))
    number = problem.place.line
    if not 0 < number <= len(lines):
        return sentence
    before_it = lines[number - 2] if number > 1 else ""
    line, column = _without_secrets(lines[number - 1], before_it), max(problem.place.column, 1) - 1
    # A very long line is shown from a little before the spot.
    begin = max(column - _WIDTH // 2, 0) if len(line) > _WIDTH else 0
    before = _safe(line[begin : min(column, len(line))].replace("\t", " "))
    after = _safe(line[column : begin + _WIDTH].replace("\t", " ")).rstrip()
    margin = f"{number:>5} | "
    return f"{sentence}\n{margin}{before}{after}\n{' ' * (len(margin) + _cells(before))}^"


def _without_secrets(line: str, before: str = "") -> str:
    """``line``, of the same length, without passwords, tokens and anything but the host of an address.

    A webhook's address alone allows to post to it. ``before`` is the line before: a value may begin on the next line.
    """
    if (key := _SECRET_KEY.search(line)) is not None:
        return line[: key.end()] + _NOT_BLANK.sub("*", line[key.end() :])
    if (key := _SECRET_KEY.search(before)) is not None and before[key.end() :].strip(" |>+-0123456789") == "":
        return _NOT_BLANK.sub("*", line)

    def starred(match: re.Match[str]) -> str:
        return "*" * len(match["user"] or "") + match["host"] + "*" * len(match["rest"])

    return _ADDRESS.sub(starred, line)


def _safe(text: str) -> str:
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
