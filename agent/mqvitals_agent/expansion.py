"""Limits for compressed data: a small file that expands beyond them is no recording and no dump."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.errors import MqvitalsError

HIGHEST_RATIO: Final = 300
"""Recordings and SMF data shrink to a tenth or a hundredth; gzip to a thousandth at most."""
FREE_BYTES: Final = 16 << 20
"""Allowed at any ratio: short texts of one kind of line shrink very much."""
MOST_BYTES: Final = 1 << 36
"""64 GiB: weeks of a large group."""


class ExpansionError(MqvitalsError):
    """Compressed data expand beyond the limits. The text is a clause."""


class Expansion:
    """Counts the bytes into a decompressor and out of it."""

    def __init__(self, *, ratio: int = HIGHEST_RATIO, free: int = FREE_BYTES, most: int = MOST_BYTES) -> None:
        self._ratio = ratio
        self._free = free
        self._most = most
        self._packed = self._unpacked = 0

    def read(self, packed: int) -> None:
        """Count compressed bytes."""
        self._packed += packed

    def gave(self, unpacked: int) -> None:
        """Count decompressed bytes. Raises ExpansionError."""
        self._unpacked += unpacked
        if self._unpacked > self._most:
            raise ExpansionError(f"the compressed data hold more than {self._most >> 30} GiB")
        if self._unpacked > self._free and self._unpacked > self._ratio * self._packed:
            raise ExpansionError(f"the compressed data grow to more than {self._ratio} times their size")
