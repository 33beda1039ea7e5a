"""A configuration file's text, or a clear sentence why there is none."""

from __future__ import annotations

from mqvitals_config.problem import ConfigError, Place, Problem
from mqvitals_config.regular_file import read_regular

LARGEST_BYTES = 4 * 1024 * 1024
"""A file larger than this is not one that a person wrote for us."""


class UnreadableError(ConfigError):
    """The file cannot be read at all, so nothing is known about what it holds."""


def read(path: str) -> str:
    """The whole text of the file at ``path``.

    Raises UnreadableError when there is no such file, it is no regular file, may not be read, or is too large; ConfigError
    when it is not UTF-8.
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
