"""What is wrong with bytes that should have been PCF."""

from __future__ import annotations


class PcfError(Exception):
    """The bytes are not the PCF they should be.

    ``offset`` counts bytes from the beginning of the data, ``expected`` says in words what should have stood there and,
    where it helps, what did. It is the only exception that decoding raises.
    """

    def __init__(self, offset: int, expected: str) -> None:
        super().__init__(offset, expected)
        self.offset = offset
        self.expected = expected

    def __str__(self) -> str:
        return f"at byte {self.offset}: expected {self.expected}"
