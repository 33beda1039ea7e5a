"""Bytes cut into lines, whatever the pieces they come in; text made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from mqvitals_agent.pcf.codepage import codec

LONGEST: Final = 16_384
"""Bytes of a line that are kept; the rest of it is passed over."""

_EBCDIC_ENDS: Final = bytes((0x15, 0x25))
_JUDGED: Final = 64
"""Bytes that it takes to tell that they are no text of this encoding."""


class Splitter:
    """Give it pieces of one file in their order; it gives back whole lines, without their ends."""

    def __init__(self, ends: bytes = b"\n") -> None:
        """``ends`` are the bytes of which each ends a line."""
        self._ends = ends
        self.rest = b""
        """The beginning of a line whose end has not come."""

    def split(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in the piece."""
        if len(self._ends) > 1:
            piece = piece.replace(self._ends[1:2], self._ends[:1])
        first, *others = piece.split(self._ends[:1])
        if not others:
            self._keep(first)
            return
        self._keep(first)
        *whole, last = others
        yield self.rest
        for line in whole:
            yield line[:LONGEST]
        self.rest = last[:LONGEST]

    def _keep(self, part: bytes) -> None:
        room = LONGEST - len(self.rest)
        if room > 0:
            self.rest += part[:room]


def ends_of(encoding: str) -> bytes:
    """The bytes that end lines in an encoding."""
    return _EBCDIC_ENDS if is_ebcdic(encoding) else b"\n"


def is_ebcdic(encoding: str) -> bool:
    """Whether an encoding, as settings name it, is one of EBCDIC."""
    return encoding.startswith("ibm-")


def decoder_of(encoding: str) -> Callable[[bytes], str]:
    """Makes text of the bytes of a line in an encoding, as settings name it. It raises nothing."""
    if is_ebcdic(encoding):
        return codec(int(encoding.removeprefix("ibm-"))).decode
    # Some encodings can write half of a pair of surrogates, which is no text that can be stored.
    return lambda line: line.decode(encoding, "replace").encode("utf-8", "replace").decode("utf-8")


def unreadable(piece: bytes, encoding: str) -> str:
    """Why the bytes are no lines in this encoding, and what to do; empty where they may be, or are too few to tell."""
    if len(piece) < _JUDGED:
        return ""
    if piece[:2] == b"\x1f\x8b":
        return "it is compressed: follow the file as it is written"
    if is_ebcdic(encoding):
        if _share(piece, b" etaoinETAOIN0123456789") > 0.4:
            return f"its bytes are no EBCDIC: set console.follow's encoding to utf-8 instead of {encoding}"
        return ""
    blanks, zeros = piece.count(0x40), piece.count(0)
    # Of EBCDIC, blanks are X'40' and letters and digits above X'80'; the blanks and line ends of ASCII are missing.
    if blanks * 20 > len(piece) and _ebcdic(piece) > 0.5 and _share(piece, b" \n") < 0.05:
        return "it is EBCDIC: transfer it as text (ASCII), or set console.follow's encoding to its code page, such as ibm-1047"
    if 0.3 < zeros / len(piece) < 0.7 and _ordinary(piece.replace(b"\0", b"")) > 0.8:
        return "it is UTF-16: write it in UTF-8"
    return ""


def _share(piece: bytes, of: bytes) -> float:
    return sum(map(piece.count, of)) / len(piece)


def _ebcdic(piece: bytes) -> float:
    letters = sum(1 for byte in piece if 0x81 <= byte <= 0xA9 or 0xC1 <= byte <= 0xF9)
    return (letters + piece.count(0x40)) / len(piece)


def _ordinary(piece: bytes) -> float:
    return sum(1 for byte in piece if 0x20 <= byte < 0x7F or byte in b"\r\n\t") / max(len(piece), 1)
