"""PCF messages put together byte by byte from the layouts in IBM's documentation, without the product's encoder."""

from __future__ import annotations

import struct
from collections.abc import Sequence

CFIN, CFST, CFIL, CFSL, CFGR, CFBS, CFIF, CFIN64, CFIL64 = 3, 4, 5, 6, 20, 9, 13, 23, 25
_CODECS = {500: "cp500", 1208: "utf-8", 819: "latin-1"}


class Pcf:
    """Writes structures in one byte order (``>`` as z/OS does, ``<``) and one character set."""

    def __init__(self, order: str = ">", ccsid: int = 500) -> None:
        self._order = order
        self._ccsid = ccsid

    def _longs(self, *values: int) -> bytes:
        return struct.pack(f"{self._order}{len(values)}i", *values)

    def _text(self, text: str, length: int) -> bytes:
        return text.ljust(length).encode(_CODECS[self._ccsid])

    def message(
        self,
        kind: int,
        command: int,
        *structures: bytes,
        sequence: int = 1,
        last: bool = True,
        comp_code: int = 0,
        reason: int = 0,
        version: int = 3,
    ) -> bytes:
        """A header (MQCFH, 36 bytes) and its structures, of which those within groups do not count."""
        head = (kind, 36, version, command, sequence, int(last), comp_code, reason, len(structures))
        return self._longs(*head) + b"".join(structures)

    def integer(self, number: int, value: int) -> bytes:
        """An MQCFIN."""
        return self._longs(CFIN, 16, number, value)

    def integer64(self, number: int, value: int) -> bytes:
        """An MQCFIN64: 8 bytes in alignment, the value as its last."""
        return self._longs(CFIN64, 24, number, 0) + struct.pack(f"{self._order}q", value)

    def integers(self, number: int, *values: int) -> bytes:
        """An MQCFIL."""
        return self._longs(CFIL, 16 + 4 * len(values), number, len(values), *values)

    def integers64(self, number: int, *values: int) -> bytes:
        """An MQCFIL64."""
        head = self._longs(CFIL64, 16 + 8 * len(values), number, len(values))
        return head + struct.pack(f"{self._order}{len(values)}q", *values)

    def string(self, number: int, text: str, length: int = 0) -> bytes:
        """An MQCFST of a text filled with blanks to ``length``, and with zeros to a multiple of four."""
        data = self._text(text, length)
        size = -(-len(data) // 4) * 4
        return self._longs(CFST, 20 + size, number, self._ccsid, len(data)) + data.ljust(size, b"\0")

    def strings(self, number: int, texts: Sequence[str], length: int) -> bytes:
        """An MQCFSL of texts of one length."""
        data = b"".join(self._text(text, length) for text in texts)
        size = -(-len(data) // 4) * 4
        return self._longs(CFSL, 24 + size, number, self._ccsid, len(texts), length) + data.ljust(size, b"\0")

    def octets(self, number: int, data: bytes) -> bytes:
        """An MQCFBS."""
        size = -(-len(data) // 4) * 4
        return self._longs(CFBS, 16 + size, number, len(data)) + data.ljust(size, b"\0")

    def integer_filter(self, number: int, operator: int, value: int) -> bytes:
        """An MQCFIF."""
        return self._longs(CFIF, 20, number, operator, value)

    def group(self, number: int, *members: bytes) -> bytes:
        """An MQCFGR: it tells how many structures follow that belong to it."""
        return self._longs(CFGR, 16, number, len(members)) + b"".join(members)
