"""A section's table: where its values lie, and how they become bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from struct import Struct
from typing import Final

Cells = Mapping[str, tuple[int, str]]
"""By name: the offset from the section's beginning, and ``struct``'s code; text (``12s``) is EBCDIC, padded with blanks."""
Value = int | str
_TODAY: Final = 940
_BLANK: Final = b"\x40"


class Table:
    """One kind of section. What is not given is zero, or blanks in a text.

    ``identifier`` and ``eye`` open the section; tasks of the channel initiator have neither (0 and an empty text). ``lengths``:
    by command level from which on, ascending, how long the section is.
    """

    def __init__(self, identifier: int, eye: str, lengths: Mapping[int, int], cells: Cells) -> None:
        self._identifier = identifier
        self._eye = eye
        self._lengths = dict(lengths)
        self._cells = {name: (offset, Struct(f">{code}"), code.endswith("s")) for name, (offset, code) in cells.items()}

    def length(self, level: int = _TODAY) -> int:
        """Bytes of one section of a queue manager of that command level."""
        fitting = [length for since, length in self._lengths.items() if since <= level]
        return fitting[-1] if fitting else next(iter(self._lengths.values()))

    def pack(self, values: Mapping[str, Value], level: int = _TODAY) -> bytes:
        """The section. What a level does not have yet is left out; a number beyond its field stands at the field's highest."""
        data = bytearray(_blank(self, level))
        for name, value in values.items():
            offset, form, textual = self._cells[name]
            if offset + form.size > len(data):
                continue
            if textual:
                text = str(value).encode("cp037", "replace")[: form.size]
                data[offset : offset + form.size] = text.ljust(form.size, _BLANK)
            else:
                form.pack_into(data, offset, min(int(value), 256**form.size - 1))
        return bytes(data)

    def blank(self, level: int) -> bytes:
        """A section without values."""
        data = bytearray(self.length(level))
        if self._eye:
            data[:2] = self._identifier.to_bytes(2, "big")
            data[2:4] = len(data).to_bytes(2, "big")
            data[4:8] = self._eye.encode("cp037")
        for offset, form, textual in self._cells.values():
            if textual and offset + form.size <= len(data):
                data[offset : offset + form.size] = _BLANK * form.size
        return bytes(data)


@cache
def _blank(table: Table, level: int) -> bytes:
    return table.blank(level)
