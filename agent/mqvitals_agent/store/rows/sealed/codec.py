"""Columns of numbers as one compressed blob, and back.

A column is written as the narrowest array that holds the differences from one value to the next, or the values
themselves; one that goes on in equal steps needs no array, one without values nothing at all. Fractions with few
digits are written as whole numbers. Absent values are a mask beside the values that are there. All columns are then
compressed together. What was given is what comes back, to the type: 5 stays 5 and 5.0 stays 5.0.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, compress, repeat
from math import copysign, isfinite
from operator import sub
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class, whatever it is called
from types import NoneType
from typing import Any, Final, NamedTuple

Number = int | float
Cells = Sequence[Number | None]
"""Values of one metric, None: absent."""

FORMAT: Final = 1
"""The first byte of a blob; a reader refuses others."""
LONGEST: Final = 1 << 16
"""Values of a column. A blob that claims more is damaged."""
_MOST_COLUMNS: Final = 1 << 10
_MOST_BYTES: Final = LONGEST * 64
"""Unpacked. More than any chunk of the writer takes."""
_LEVEL: Final = 6
_NOISY: Final = 5
"""What takes more than this part (a fifth) when it is compressed is compressed in another way too."""
_OPEN_BYTES: Final = 250
"""What an open column takes beside its numbers."""
_NONE: Final = frozenset({NoneType})
_NUMBERS: Final = frozenset({int, float})

_HEAD: Final = Struct("<BHI")
"""Format, number of columns, number of values of each."""
_COLUMN: Final = Struct("<BBIqq")
"""Code, digits behind the point (``_WHOLE``: a whole number), bytes of the body, first value, step."""

_ABSENT: Final = 0
_STEPS: Final = 1
"""Equal steps from the first value; no body."""
_DELTAS: Final = 2
"""The steps from the first value, as an array."""
_VALUES: Final = 3
"""What is above the first number, as an array."""
_REALS: Final = 4
_ANYTHING: Final = 5
"""JSON."""
_CODES: Final = 0x0F
_WIDTH: Final = 4
"""How far the type of the array is shifted to the left in a code."""
_MASKED: Final = 0x40
"""Added to a code: the body begins with a bit for each value, set where it is there."""
_WHOLE: Final = 0xFF

ARRAYS: Final = "bhiq"
"""By width, the type of an array of whole numbers."""
_LIMITS: Final = (0x7F, 0x7FFF, 0x7FFF_FFFF, 0x7FFF_FFFF_FFFF_FFFF)
_FEW_ABSENT: Final = 16
"""So many absences are put in between the values; more are taken from their mask one by one."""
_MOST_DIGITS: Final = 3
_EXACT: Final = float(1 << 52)
"""Up to here whole numbers are exact as reals, and scaled ones can be compared."""


class _Encoded(NamedTuple):
    code: int
    first: int = 0
    step: int = 0
    body: bytes = b""
    digits: int = _WHOLE


_NOTHING: Final = _Encoded(_ABSENT)


class SparseCells(list[Number | None]):
    """A column of ``count`` cells that has ``present`` values at some ``places``, which rise, and is absent elsewhere.

    A column as any other, which is encoded without a look at its cells.
    """

    __slots__ = ("places", "present")

    def __init__(self, count: int, places: tuple[int, ...], present: Sequence[Number]) -> None:
        super().__init__([None] * count)
        for place, value in zip(places, present, strict=True):
            self[place] = value
        self.places = places
        self.present = present


class DamagedChunkError(ValueError):
    """Bytes that are no blob of this codec."""


def encode(columns: Sequence[Cells]) -> bytes:
    """A blob of columns of equal length, at most ``LONGEST``.

    Numbers are whole ones of 64 bits, or reals. Raises ValueError for unequal lengths, or too many, TypeError for what is
    no number.
    """
    count = len(columns[0]) if columns else 0
    if count > LONGEST or len(columns) > _MOST_COLUMNS or any(len(column) != count for column in columns):
        raise ValueError("columns must have equal lengths, and not too many values")
    heads, bodies = [_HEAD.pack(FORMAT, len(columns), count)], []
    masks: dict[bytes | tuple[int, ...], bytes] = {}
    for column in columns:
        code, first, step, body, digits = _encoded(column, masks)
        heads.append(_COLUMN.pack(code, digits, len(body), first, step))
        bodies.append(body)
    return _packed(b"".join(heads) + b"".join(bodies))


def _packed(raw: bytes) -> bytes:
    """The bytes compressed. Differences are small and seldom repeat: short matches of a few bytes take more than they save,
    and of values that change nearly always any match does.
    """
    packed = _deflated(raw, zlib.Z_FILTERED)
    if len(packed) * _NOISY < len(raw):
        return packed
    return min(packed, _deflated(raw, zlib.Z_HUFFMAN_ONLY), key=len)


def _deflated(raw: bytes, strategy: int) -> bytes:
    packer = zlib.compressobj(_LEVEL, strategy=strategy)
    return packer.compress(raw) + packer.flush()


def decode(blob: bytes, wanted: Collection[int] | None = None) -> dict[int, Cells]:
    """The ``wanted`` columns (None: all) of a blob by their places. Places that it does not have are left out.

    Raises DamagedChunkError.
    """
    raw = _unpacked(blob)
    with _refusing_damage():
        _, _, count = _HEAD.unpack_from(raw)
        return {place: _column(encoded, count) for place, encoded in _bodies(raw, wanted)}


class OpenColumn:
    """A column of which single cells are read, where few are wanted of many blobs.

    ``there`` has a bit for each of its ``count`` cells, set where it is not absent.
    """

    __slots__ = ("_cursor", "_deltas", "_first", "_full", "_numbers", "_plain", "_scale", "_step", "there")

    def __init__(self, found: _Encoded, count: int) -> None:
        """For ``open_columns``. Raises what ``decode`` turns into DamagedChunkError."""
        code, first, step, body, digits = found
        self.there = _there(found, count)
        self._full = not code & _MASKED
        if not self._full:
            code, body = code & ~_MASKED, body[-(-count // 8) :]
        present = self.there.bit_count()
        form = code & _CODES
        self._first, self._step, self._deltas = first, step, form == _DELTAS
        self._scale = None if digits == _WHOLE else 10**digits
        self._numbers: Sequence[Any] | None = None
        self._cursor = 0, first
        if form in (_DELTAS, _VALUES):
            numbers = unpacked(ARRAYS[code >> _WIDTH], body)
            if len(numbers) + self._deltas != present:
                raise DamagedChunkError("a column of a chunk has another length than the others")
            self._numbers = numbers
        self._plain = form not in (_ABSENT, _STEPS, _DELTAS, _VALUES)
        if self._plain:
            self._numbers = _values(_Encoded(code, first, step, body, digits), present)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return _OPEN_BYTES + (
            0 if self._numbers is None else len(self._numbers) * getattr(self._numbers, "itemsize", 8)
        )

    def nonzero(self, count: int) -> int:
        """With a bit for each of the ``count`` cells, which are not 0 and not absent."""
        if self._numbers is None and not self._step:
            return self.there if self._first else 0
        return sum(1 << place for place in range(count) if self.at(place))

    def at(self, place: int) -> Number | None:
        """The cell at a ``place``, which is one of the column."""
        rank = place
        if not self._full:
            if not self.there >> place & 1:
                return None
            rank = (self.there & ((1 << place) - 1)).bit_count()
        numbers = self._numbers
        whole: int
        if numbers is None:
            whole = self._first + rank * self._step
        elif self._plain:
            number: Number = numbers[rank]
            return number
        elif self._deltas:
            # Who reads one cell often reads the next one then: the sum goes on from the one read last.
            before, whole = self._cursor
            if rank >= before:
                whole += sum(numbers[before:rank])
            else:
                whole -= sum(numbers[rank:before])
            self._cursor = rank, whole
        else:
            whole = self._first + numbers[rank]
        return whole if self._scale is None else whole / self._scale


def open_columns(
    blob: bytes, wanted: Collection[int], marked: Collection[int] = ()
) -> tuple[int, dict[int, OpenColumn], int]:
    """How many values the columns of a blob have; the ``wanted`` ones that are not wholly absent, by their places; and
    with a bit for each value, where any of the ``marked`` ones is not absent.

    Raises DamagedChunkError.
    """
    raw = _unpacked(blob)
    with _refusing_damage():
        _, _, count = _HEAD.unpack_from(raw)
        found: dict[int, OpenColumn] = {}
        marks = 0
        for place, encoded in _bodies(raw):
            if place in marked:
                marks |= _there(encoded, count)
            if place in wanted and encoded.code != _ABSENT:
                found[place] = OpenColumn(encoded, count)
    return count, found, marks


def _there(found: _Encoded, count: int) -> int:
    """A bit for each value of a column, set where it is not absent."""
    if found.code == _ABSENT:
        return 0
    every = (1 << count) - 1
    return int.from_bytes(found.body[: -(-count // 8)], "little") & every if found.code & _MASKED else every


@contextmanager
def _refusing_damage() -> Iterator[None]:
    try:
        yield
    except DamagedChunkError:
        raise
    except (StructError, ValueError, TypeError, IndexError, OverflowError, RecursionError, StopIteration) as error:
        raise DamagedChunkError("a chunk is damaged") from error


def _unpacked(blob: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(blob, _MOST_BYTES)
    except zlib.error as error:
        raise DamagedChunkError("a chunk cannot be decompressed") from error
    if not unpacker.eof:
        raise DamagedChunkError("a chunk is cut, or longer than any that is written")
    return raw


def _bodies(raw: bytes, wanted: Collection[int] | None = None) -> Iterator[tuple[int, _Encoded]]:
    """The ``wanted`` columns (None: all) of an unpacked blob, with their places. Raises DamagedChunkError, struct.error."""
    version, columns, count = _HEAD.unpack_from(raw)
    if version != FORMAT:
        raise DamagedChunkError(f"a chunk has format {version}, which this version does not know")
    if count > LONGEST or columns > _MOST_COLUMNS:
        raise DamagedChunkError("a chunk claims more values than are ever written")
    begin = _HEAD.size + columns * _COLUMN.size
    for place, (code, digits, length, first, step) in enumerate(_COLUMN.iter_unpack(raw[_HEAD.size : begin])):
        if wanted is None or place in wanted:
            yield place, _Encoded(code, first, step, raw[begin : begin + length], digits)
        begin += length
    if begin != len(raw):
        raise DamagedChunkError("the lengths in a chunk do not fit")


def _encoded(column: Cells, masks: dict[bytes | tuple[int, ...], bytes]) -> _Encoded:
    """A column; ``masks`` has the bits of flags that were seen before: the metrics of one probe are absent together."""
    if type(column) is SparseCells:
        return _sparse(column, masks)
    types = set(map(type, column))
    if types <= _NONE:
        return _NOTHING
    if NoneType not in types:
        return _present(column, types)
    there = bytes([value is not None for value in column])
    mask = masks.get(there)
    if mask is None:
        mask = masks[there] = _bits(there)
    code, first, step, body, digits = _present(list(compress(column, there)), types - _NONE)
    return _Encoded(code | _MASKED, first, step, mask + body, digits)


def _sparse(column: SparseCells, masks: dict[bytes | tuple[int, ...], bytes]) -> _Encoded:
    if not column.places:
        return _NOTHING
    code, first, step, body, digits = _present(column.present, set(map(type, column.present)))
    if len(column.places) == len(column):
        return _Encoded(code, first, step, body, digits)
    mask = masks.get(column.places)
    if mask is None:
        there = bytearray(len(column))
        for place in column.places:
            there[place] = 1
        mask = masks[column.places] = _bits(bytes(there))
    return _Encoded(code | _MASKED, first, step, mask + body, digits)


def _present(values: Sequence[Any], types: set[type]) -> _Encoded:
    if types == {int}:
        return _whole(values)
    if types == {float}:
        return _real(values)
    if not types <= _NUMBERS:
        raise TypeError("a column holds what is no number")
    return _Encoded(_ANYTHING, body=json.dumps(values).encode())


def _whole(values: Sequence[int]) -> _Encoded:
    first = values[0]
    if first == values[-1] and values.count(first) == len(values):
        return _Encoded(_STEPS, first, 0)
    steps = list(map(sub, values[1:], values))
    highest, lowest = (max(steps), min(steps)) if steps else (0, 0)
    if highest == lowest and abs(lowest) <= _LIMITS[-1]:
        return _Encoded(_STEPS, first, lowest)
    by_steps = narrowest(lowest, highest)
    least = 0 if by_steps == 0 else min(values)
    # Nothing is narrower than the narrowest array.
    by_values = None if by_steps == 0 else narrowest(0, max(values) - least)
    if by_values is not None and (by_steps is None or by_values < by_steps):
        above = array(ARRAYS[by_values], [value - least for value in values])
        return _Encoded(_VALUES | by_values << _WIDTH, least, body=above.tobytes())
    if by_steps is not None:
        return _Encoded(_DELTAS | by_steps << _WIDTH, first, body=array(ARRAYS[by_steps], steps).tobytes())
    return _Encoded(_ANYTHING, body=json.dumps(values).encode())


def narrowest(lowest: int, highest: int) -> int | None:
    """The width of the narrowest array that holds both, as in ``ARRAYS``; None: there is none."""
    needed = max(highest, -lowest - 1)
    return next((place for place, limit in enumerate(_LIMITS) if needed <= limit), None)


def _real(values: Sequence[float]) -> _Encoded:
    if all(map(isfinite, values)):
        greatest = max(map(abs, values))
        for digits in range(_MOST_DIGITS + 1):
            scale = 10**digits
            if greatest * scale >= _EXACT:
                break
            scaled = [round(value * scale) for value in values]
            # Minus zero is equal to zero, and would come back as that.
            if all(map(_same, scaled, repeat(scale), values)):
                return _whole(scaled)._replace(digits=digits)
    planes = array("d", values).tobytes()
    # Bytes of equal weight stand together: signs and exponents hardly change.
    return _Encoded(_REALS, body=b"".join(planes[weight::8] for weight in range(8)), digits=0)


def _same(scaled: int, scale: int, value: float) -> bool:
    return scaled / scale == value and (scaled != 0 or copysign(1.0, value) > 0)


def _column(found: _Encoded, count: int) -> Cells:
    code, first, step, body, digits = found
    if code == _ABSENT:
        return [None] * count
    if not code & _MASKED:
        return _values(found, count)
    length = -(-count // 8)
    there = _flags(body[:length], count)
    values = _values(_Encoded(code & ~_MASKED, first, step, body[length:], digits), sum(there))
    if count - len(values) > _FEW_ABSENT:
        return SparseCells(count, tuple(compress(range(count), there)), values)
    cells: list[Number | None] = [*values]
    place = there.find(0)
    while place >= 0:
        cells.insert(place, None)
        place = there.find(0, place + 1)
    return cells


def _values(found: _Encoded, count: int) -> Sequence[Number]:
    code, first, step, body, digits = found
    form = code & _CODES
    whole: Sequence[int]
    if form == _STEPS:
        whole = [first] * count if not step else range(first, first + step * count, step)
    elif form in (_DELTAS, _VALUES):
        numbers = unpacked(ARRAYS[code >> _WIDTH], body)
        whole = list(accumulate(numbers, initial=first)) if form == _DELTAS else list(map(first.__add__, numbers))
    elif form == _REALS:
        reals = bytearray(8 * count)
        for weight in range(8):
            reals[weight::8] = body[weight * count : (weight + 1) * count]
        return array("d", bytes(reals))
    elif form == _ANYTHING:
        return numbers_of(body, count)
    else:
        raise DamagedChunkError(f"a chunk has a column of form {form}, which this version does not know")
    if len(whole) != count:
        raise DamagedChunkError("a column of a chunk has another length than the others")
    if digits == _WHOLE:
        return whole
    scale = 10**digits
    return [number / scale for number in whole]


def unpacked(form: str, body: bytes) -> array[Any]:
    """An array of the type ``form``. Raises ValueError for bytes that are not whole numbers of it."""
    numbers: array[Any] = array(form)
    numbers.frombytes(body)
    return numbers


def numbers_of(text: bytes, count: int) -> Sequence[Number]:
    """``count`` numbers of any size, as JSON. Raises ValueError, DamagedChunkError among them, where it is not that."""
    values = json.loads(text)
    if type(values) is not list or len(values) != count or not set(map(type, values)) <= {int, float}:
        raise DamagedChunkError("a column holds what is no number")
    return values


_DIGITS: Final = bytes.maketrans(b"\0\1", b"01")
_FLAGS: Final = bytes.maketrans(b"01", b"\0\1")


def _bits(flags: bytes) -> bytes:
    """Flags, a byte each, as a bit each."""
    return int(flags[::-1].translate(_DIGITS), 2).to_bytes(-(-len(flags) // 8), "little")


def _flags(bits: bytes, count: int) -> bytes:
    """Bits as flags, a byte each."""
    text = bin(int.from_bytes(bits, "little") | 1 << count)[3:]
    return text[-count:].encode()[::-1].translate(_FLAGS)
