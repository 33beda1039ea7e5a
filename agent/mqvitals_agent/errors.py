"""How a command says that it could not do its work."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command but ``status``, which has its own."""

    DONE = 0
    """The command did what it was asked."""
    FOUND = 1
    """It worked, and found something wrong in what it looked at."""
    FAILED = 2
    """It could not do its work: bad arguments, an unreadable file."""
    BUG = 70
    """The program itself is at fault (EX_SOFTWARE). Of every command, ``status`` too, where 1 means WARNING."""


class Failure(Exception):  # noqa: N818 - a command fails; nothing here is an error of the program
    """A command cannot go on. ``message`` says what happened and where, ``hint`` what to do next."""

    def __init__(self, message: str, *, hint: str = "", code: int = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
