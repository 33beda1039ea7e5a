"""The base of the errors of mqvitals."""

from __future__ import annotations


class MqvitalsError(Exception):
    """Something outside the program is wrong: a file, a queue manager, a network, an argument.

    ``message`` says what happened and where, ``hint`` what to do next (may be empty). A command that raises one ends with both
    on stderr and no traceback.
    """

    def __init__(self, message: str = "", hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint
