"""How the layout of a section is declared, and how its values are unpacked or formatted as text.

A layout becomes one ``struct`` for each length in which the section occurs. Most counters of an interval are zero, so
the text of pieces that hold nothing but zeros is prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import Any, Final, NamedTuple

Value = int | str
"""A number (counts, bits, TOD stamps and durations as they are), or a text; byte strings as hexadecimal digits."""

_CODES: Final = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i16": "h", "tod": "Q", "dur": "Q"}
_SIZES: Final = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i16": 2, "tod": 8, "dur": 8}
_UNUSED: Final = " \0"


class Field(NamedTuple):
    """A field of a section: bytes ``offset`` and following, from the section's beginning.

    ``form``: u8 u16 u32 u64 i16 numbers, ``tod`` a time stamp (STCK, 2**-12 microseconds since 1900 UTC), ``dur`` a
    duration on that scale, ``ebc`` text and ``hex`` bytes of ``size``. ``kind``: D counted in the interval, P now, HW and
    LW highest and lowest of the interval, C a limit, ID an identity, TS a time. ``column`` is its name in the files of
    mqsmfcsv; empty: none of its own. ``times`` and ``step``: an array, so many bytes from one to the next.
    """

    offset: int
    form: str
    name: str
    kind: str
    column: str = ""
    size: int = 0
    times: int = 1
    step: int = 0

    @property
    def length(self) -> int:
        """Bytes of one of it."""
        return self.size or _SIZES[self.form]


class FieldElement(NamedTuple):
    """One value of a section: a field, or one element of an array (``element``, None: no array)."""

    name: str
    offset: int
    field: Field
    element: int | None


@dataclass(frozen=True, slots=True, eq=False)
class SectionShape:
    """A section in one of the lengths it comes in.

    ``cells`` in the order of their offsets. ``unpack`` gives their raw values, ``read`` the same with texts and hexadecimal
    digits in place of bytes.
    """

    cells: tuple[FieldElement, ...]
    names: tuple[str, ...]
    unpack: Callable[[bytes | memoryview, int], tuple[Any, ...]]
    read: Callable[[bytes | memoryview, int], tuple[Value, ...]]

    def fields(self, data: bytes | memoryview, offset: int) -> dict[str, Value]:
        """The values by name. Raises ``struct.error`` when the section does not lie within ``data``."""
        return dict(zip(self.names, self.read(data, offset), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class SectionLayout:
    """The table of one section: ``name`` as the documents call it (QPST)."""

    name: str
    fields: tuple[Field, ...]

    def shape(self, length: int) -> SectionShape:
        """How a section of so many bytes is read: all fields that lie within it; what came later is left out."""
        return _shape(self, length)


def struct_of(cells: Iterable[FieldElement], begin: int = 0) -> Struct:
    """What unpacks the raw values of cells, which are in the order of their offsets, from bytes that begin at ``begin``."""
    code, at = [">"], begin
    for cell in cells:
        if cell.offset > at:
            code.append(f"{cell.offset - at}x")
        code.append(_CODES.get(cell.field.form) or f"{cell.field.size}s")
        at = cell.offset + cell.field.length
    return Struct("".join(code))


@lru_cache(256)  # a damaged file may hold any length
def _shape(layout: SectionLayout, length: int) -> SectionShape:
    cells = tuple(sorted(_cells(layout, length), key=lambda cell: cell.offset))
    unpack = struct_of(cells).unpack_from
    texts = {
        index: text if cell.field.form == "ebc" else digits
        for index, cell in enumerate(cells)
        if cell.field.form in ("ebc", "hex")
    }
    if not texts:
        return SectionShape(cells, tuple(cell.name for cell in cells), unpack, unpack)

    def read(data: bytes | memoryview, offset: int) -> tuple[Value, ...]:
        values = list(unpack(data, offset))
        for index, decode in texts.items():
            values[index] = decode(values[index])
        return tuple(values)

    return SectionShape(cells, tuple(cell.name for cell in cells), unpack, read)


def _cells(layout: SectionLayout, length: int) -> Iterator[FieldElement]:
    for field in layout.fields:
        for index in range(field.times):
            offset = field.offset + index * field.step
            if offset + field.length <= length:
                name = field.name if field.times == 1 else f"{field.name}.{index}"
                yield FieldElement(name, offset, field, None if field.times == 1 else index)


@lru_cache(8192)
def text(data: bytes) -> str:
    """EBCDIC text (code page 037; names are the same in 1047) without the blanks or zeros behind it."""
    return data.decode("cp037").rstrip(_UNUSED)


def digits(data: bytes) -> str:
    """Bytes as hexadecimal digits."""
    return data.hex()


_PIECE: Final = 16
"""So many values are looked at together."""
_SMALL: Final = 24
"""So many values or fewer are not worth a division."""


class FormatPart(NamedTuple):
    """One value's text: ``form`` takes the raw value, or what ``write`` makes of it. Without a cell ``form`` is the text."""

    form: str
    cell: FieldElement | None = None
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


class SectionFormatter:
    """The text of all ``parts``, whose cells are in the order of their offsets, with commas between them."""

    def __init__(self, parts: Sequence[FormatPart]) -> None:
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


def _together(parts: Sequence[FormatPart]) -> Iterator[list[FormatPart]]:
    """Parts whose values lie side by side, at most so many that they often are all zero."""
    if len(parts) <= _SMALL:
        yield list(parts)
        return
    piece: list[FormatPart] = []
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


def _piece(parts: Sequence[FormatPart]) -> _Piece:
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
