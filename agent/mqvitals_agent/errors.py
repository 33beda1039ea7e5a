"""The base of the agent's errors, the failure of a command, and exit codes."""

from __future__ import annotations

from enum import IntEnum


class MqvitalsError(Exception):
    """Something outside the program is wrong: a file, a queue manager, a network, an argument.

    ``message`` says what happened and where, ``hint`` what to do next (may be empty). A command that raises one ends
    with both on stderr and no traceback. Mistakes in settings and rules are ``mqvitals_config.decoding.problem.ConfigError``,
    which lies below.
    """

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint


class ExitCode(IntEnum):
    """Exit codes of every command but ``status``, which has its own."""

    DONE = 0
    """The command did its work."""
    FOUND = 1
    """It did its work, and found a problem in its input."""
    FAILED = 2
    """It could not do its work: bad arguments, an unreadable file."""
    BUG = 70
    """The program itself is at fault (EX_SOFTWARE). Of every command, ``status`` too, where 1 means WARNING."""


class Failure(MqvitalsError):  # noqa: N818 - a command fails; nothing here is an error of the program
    """A command cannot go on, and ends with exit code ``code``, None: its own for what it cannot do.

    The text of the exception is ``message`` alone.
    """

    def __init__(self, message: str, *, hint: str = "", code: int | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code
