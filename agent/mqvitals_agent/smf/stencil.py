"""The text of a section's values, made by as few steps as possible.

Most of what a section counts did not happen in its interval: pieces of it that are nothing but zeros have their text ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, Final, NamedTuple

from mqvitals_agent.smf.layout.field import Cell, struct_of

_PIECE: Final = 16
"""So many values are looked at together."""
_SMALL: Final = 24
"""So many values or fewer are not worth a division."""


class Part(NamedTuple):
    """One value's text: ``form`` takes the raw value, or what ``write`` makes of it. Without a cell ``form`` is the text."""

    form: str
    cell: Cell | None = None
    write: Callable[[Any], str] | None = None


class _Piece(NamedTuple):
    """Values that lie together: ``begin`` and ``end`` of their bytes, and their text when all of these are zero."""

    begin: int
    end: int
    zeros: bytes
    nothing: str
    struct: Struct
    form: str
    written: tuple[tuple[int, Callable[[Any], str], str], ...]
    """Which values are written by which function, and what that makes of zero."""


class Stencil:
    """The text of all ``parts``, whose cells are in the order of their offsets, with commas between them."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._pieces = tuple(map(_piece, _together(parts)))

    def text(self, data: bytes, at: int) -> str:
        """The text of the section at ``at``. Raises ``struct.error`` when it does not lie within ``data``."""
        found = []
        for begin, end, zeros, nothing, struct, form, written in self._pieces:
            raw = data[at + begin : at + end]
            if raw == zeros:
                found.append(nothing)
                continue
            values: Any = struct.unpack(raw)
            if written:
                values = list(values)
                for index, write, zero in written:
                    value = values[index]
                    values[index] = write(value) if value else zero
                values = tuple(values)
            found.append(form % values)
        return found[0] if len(found) == 1 else ",".join(found)


def _together(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Parts whose values lie side by side, at most so many that they often are all zero."""
    if len(parts) <= _SMALL:
        yield list(parts)
        return
    piece: list[Part] = []
    end = 0
    for part in parts:
        cell = part.cell
        if piece and cell is not None and (len(piece) >= _PIECE or (cell.offset != end and len(piece) >= _PIECE // 2)):
            yield piece
            piece = []
        piece.append(part)
        end = end if cell is None else cell.offset + cell.field.length
    if piece:
        yield piece


def _piece(parts: Sequence[Part]) -> _Piece:
    cells = [part.cell for part in parts if part.cell is not None]
    written = [part.write for part in parts if part.cell is not None]
    form = ",".join(part.form if part.cell is not None else part.form.replace("%", "%%") for part in parts)
    begin = cells[0].offset if cells else 0
    end = cells[-1].offset + cells[-1].field.length if cells else 0
    struct = struct_of(cells, begin)
    zeros = bytes(end - begin)
    values = [
        value if write is None else write(value) for value, write in zip(struct.unpack(zeros), written, strict=True)
    ]
    return _Piece(
        begin,
        end,
        zeros,
        form % tuple(values),
        struct,
        form,
        tuple((index, write, values[index]) for index, write in enumerate(written) if write is not None),
    )
