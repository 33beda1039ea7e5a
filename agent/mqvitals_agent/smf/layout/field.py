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
_SIZES: Final = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i16": 2, "tod": 8, "dur": 8, "hfp": 8}
_UNUSED: Final = " \0"


class Field(NamedTuple):
    """A field of a section: bytes ``offset`` and following, from the section's beginning.

    ``form``: u8 u16 u32 u64 i16 numbers, ``tod`` a time stamp (STCK, 2**-12 microseconds since 1900 UTC), ``dur`` a
    duration on that scale, ``hfp`` a hexadecimal floating-point count (``whole``), ``ebc`` text and ``hex`` bytes of
    ``size``. ``kind``: D counted in the interval, P now, HW
    and LW highest and lowest of the interval, C a limit, ID an identity, TS a time. ``column`` is its name in the files
    of mqsmfcsv; empty: none of its own. ``times`` and ``step``: an array, so many bytes from one to the next.
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
        """The number of bytes of one element."""
        return self.size or _SIZES[self.form]


class FieldElement(NamedTuple):
    """One value of a section: a field, or one element of an array (``number``; None: no array)."""

    name: str
    offset: int
    field: Field
    number: int | None


@dataclass(frozen=True, slots=True, eq=False)
class SectionShape:
    """A section in one of its lengths.

    ``elements`` in the order of their offsets. ``unpack`` gives their raw values, ``read`` the same with texts and
    hexadecimal digits in place of bytes.
    """

    elements: tuple[FieldElement, ...]
    names: tuple[str, ...]
    unpack: Callable[[bytes | memoryview, int], tuple[Any, ...]]
    read: Callable[[bytes | memoryview, int], tuple[Value, ...]]

    def fields(self, data: bytes | memoryview, offset: int) -> dict[str, Value]:
        """The values by name. Raises ``struct.error`` when the section does not lie within ``data``."""
        return dict(zip(self.names, self.read(data, offset), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class SectionLayout:
    """The layout of one section: ``name`` as in the documents (QPST)."""

    name: str
    fields: tuple[Field, ...]

    def shape(self, length: int) -> SectionShape:
        """The shape of a section of ``length`` bytes: the fields that are within it."""
        return _shape(self, length)


def struct_of(elements: Iterable[FieldElement], begin: int = 0) -> Struct:
    """The ``struct`` of elements in the order of their offsets, from the byte ``begin`` on."""
    code, at = [">"], begin
    for element in elements:
        if element.offset > at:
            code.append(f"{element.offset - at}x")
        code.append(_CODES.get(element.field.form) or f"{element.field.length}s")
        at = element.offset + element.field.length
    return Struct("".join(code))


@lru_cache(256)  # a damaged file may hold any length
def _shape(layout: SectionLayout, length: int) -> SectionShape:
    elements = tuple(sorted(_elements(layout, length), key=lambda element: element.offset))
    unpack = struct_of(elements).unpack_from
    texts: dict[int, Callable[[bytes], Value]] = {
        index: _DECODED[element.field.form] for index, element in enumerate(elements) if element.field.form in _DECODED
    }
    if not texts:
        return SectionShape(elements, tuple(element.name for element in elements), unpack, unpack)

    def read(data: bytes | memoryview, offset: int) -> tuple[Value, ...]:
        values = list(unpack(data, offset))
        for index, decode in texts.items():
            values[index] = decode(values[index])
        return tuple(values)

    return SectionShape(elements, tuple(element.name for element in elements), unpack, read)


def _elements(layout: SectionLayout, length: int) -> Iterator[FieldElement]:
    for field in layout.fields:
        for index in range(field.times):
            offset = field.offset + index * field.step
            if offset + field.length <= length:
                name = field.name if field.times == 1 else f"{field.name}.{index}"
                yield FieldElement(name, offset, field, None if field.times == 1 else index)


@lru_cache(8192)
def text(data: bytes) -> str:
    """EBCDIC text (code page 037; names are the same in 1047) without trailing blanks and zeros."""
    return data.decode("cp037").rstrip(_UNUSED)


def digits(data: bytes) -> str:
    """Bytes as hexadecimal digits."""
    return data.hex()


NO_COUNT: Final = -1
"""What ``whole`` returns for bytes that are no count."""


def whole(data: bytes) -> int:
    """The count in a long hexadecimal floating-point number; ``NO_COUNT`` where it is negative or no whole number.

    A count is always whole, so bytes that lie elsewhere than a layout says are hardly ever taken for one.
    """
    mantissa, exponent = int.from_bytes(data[1:], "big"), (data[0] & 0x7F) - 64 - 14
    if not mantissa:
        return 0
    if data[0] & 0x80 or exponent > 2:
        return NO_COUNT
    shift = -4 * exponent
    if shift <= 0:
        return mantissa << -shift
    return NO_COUNT if mantissa & ((1 << shift) - 1) else mantissa >> shift


_DECODED: Final[dict[str, Callable[[bytes], Value]]] = {"ebc": text, "hex": digits, "hfp": whole}

_PIECE: Final = 16
"""The number of values that are compared with zero together."""
_SMALL: Final = 24
"""Sections of at most this many values are not divided."""


class FormatPart(NamedTuple):
    """One value as text: ``form`` takes the raw value, or the result of ``write``. Without an element ``form`` is the
    text.
    """

    form: str
    element: FieldElement | None = None
    write: Callable[[Any], str] | None = None


class _FormatPiece(NamedTuple):
    """Adjacent values: ``begin`` and ``end`` of their bytes, and their text when all of these are zero."""

    begin: int
    end: int
    zeros: bytes
    nothing: str
    struct: Struct
    form: str
    written: tuple[tuple[int, Callable[[Any], str], str], ...]
    """Index, function and text of zero of the values that a function writes."""


class SectionFormatter:
    """Formats all ``parts``, whose elements are in the order of their offsets, with commas between them."""

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
    """Groups of adjacent values, small enough to be often all zero."""
    if len(parts) <= _SMALL:
        yield list(parts)
        return
    piece: list[FormatPart] = []
    end = 0
    for part in parts:
        element = part.element
        if (
            piece
            and element is not None
            and (len(piece) >= _PIECE or (element.offset != end and len(piece) >= _PIECE // 2))
        ):
            yield piece
            piece = []
        piece.append(part)
        end = end if element is None else element.offset + element.field.length
    if piece:
        yield piece


def _piece(parts: Sequence[FormatPart]) -> _FormatPiece:
    elements = [part.element for part in parts if part.element is not None]
    written = [part.write for part in parts if part.element is not None]
    form = ",".join(part.form if part.element is not None else part.form.replace("%", "%%") for part in parts)
    begin = elements[0].offset if elements else 0
    end = elements[-1].offset + elements[-1].field.length if elements else 0
    struct = struct_of(elements, begin)
    zeros = bytes(end - begin)
    values = [
        value if write is None else write(value) for value, write in zip(struct.unpack(zeros), written, strict=True)
    ]
    return _FormatPiece(
        begin,
        end,
        zeros,
        form % tuple(values),
        struct,
        form,
        tuple((index, write, values[index]) for index, write in enumerate(written) if write is not None),
    )
