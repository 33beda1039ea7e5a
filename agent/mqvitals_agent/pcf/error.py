"""What is wrong with bytes that should have been PCF."""

from __future__ import annotations

from mqvitals_agent.errors import MqvitalsError


class PcfError(MqvitalsError):
    """The bytes are not the PCF they should be.

    ``offset`` counts bytes from the beginning of the data, ``expected`` says in words what should have stood there and,
    where it helps, what did. It is the only exception that decoding raises.
    """

    def __init__(self, offset: int, expected: str) -> None:
        super().__init__(f"at byte {offset}: expected {expected}")
        self.offset = offset
        self.expected = expected
