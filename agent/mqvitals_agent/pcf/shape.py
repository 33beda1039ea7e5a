"""The shape of a message: where everything in it stands, compiled into one struct.

Replies to one command repeat their structures: same parameters, same lengths, other values. A shape unpacks such a
message in one step, after comparing all the bytes that must be equal (types, lengths, identifiers, character sets,
string lengths, counts) with those of the message that it was made from, in one operation on two large integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from struct import Struct, unpack_from
from typing import Any, Final, NamedTuple

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Layout, Value
from mqvitals_agent.pcf.text import TextPool, Texts
from mqvitals_agent.pcf.walk import PARAMETER_STRUCTURES, Order

# How many bytes at the beginning of a structure must be the same for its value to be the bytes after them.
_FIXED: Final = {
    mq.MQCFT_INTEGER: 12,
    mq.MQCFT_STRING: mq.MQCFST_STRUC_LENGTH_FIXED,
    mq.MQCFT_INTEGER_LIST: mq.MQCFIL_STRUC_LENGTH_FIXED,
    mq.MQCFT_STRING_LIST: mq.MQCFSL_STRUC_LENGTH_FIXED,
    mq.MQCFT_BYTE_STRING: mq.MQCFBS_STRUC_LENGTH_FIXED,
    mq.MQCFT_INTEGER64: 12,
    mq.MQCFT_INTEGER64_LIST: mq.MQCFIL64_STRUC_LENGTH_FIXED,
}
_UNKNOWN_FIXED: Final = 8
_ANY: Final = 819  # the character set of an empty text does not matter
# Type, sequence, control, completion code and reason of the header; its other fields are compared.
_HEADER: Final = "i12x4i4x"
_HEADER_COMPARED: Final = ((4, 16), (32, 36))


class Shape:
    """One shape, for all parameters or for the wanted ones.

    Values are unpacked by kind, each kind in one step: ``plain`` gives five fields of the header, then numbers, byte
    strings and what ``converters`` make into values; ``raw_texts`` the bytes of the texts, to be looked up in ``texts``
    one by one; ``pairs`` the numbers of all lists of two, which are nearly all lists there are. A column is these
    three in turn; ``layout`` knows where in the message each of its values stood.
    """

    __slots__ = ("command", "compared", "converters", "layout", "mask", "pairs", "plain", "raw_texts", "texts")

    def __init__(self, data: bytes, order: Order, command: int, mask: int, fields: Sequence[_Field]) -> None:
        size = len(data)
        self.command = command
        self.mask = mask
        self.compared = int.from_bytes(data, "little") & mask
        plain = [field for field in fields if field.texts is None and not field.pair]
        texts = [field for field in fields if field.texts is not None]
        pairs = [field for field in fields if field.pair]
        self.plain = _unpacker(order + _HEADER, mq.MQCFH_STRUC_LENGTH, plain, size)
        self.raw_texts = _unpacker(order, 0, texts, size)
        self.texts = tuple(field.texts for field in texts if field.texts is not None)
        self.pairs = _unpacker(order, 0, pairs, size) if pairs else None
        self.converters = tuple(
            (place, field.convert) for place, field in enumerate(plain) if field.convert is not None
        )
        column = [*plain, *texts, *pairs]
        # Where each parameter, in the order of the message, stands in the column.
        places = sorted(range(len(column)), key=lambda place: column[place].at)
        self.layout = Layout(
            tuple(column[place].id for place in places),
            tuple(column[place].type for place in places),
            tuple(field.id for field in column),
            itemgetter(*places) if len(places) > 1 else None,
        )


class _Field(NamedTuple):
    """A parameter whose value is taken: where, as what, and what makes the unpacked thing its value."""

    at: int
    id: int
    type: int
    start: int  # of the value
    code: str  # of the struct
    size: int
    texts: Texts | None = None
    pair: bool = False
    convert: Callable[[bytes], Value] | None = None


def _unpacker(layout: str, start: int, fields: Sequence[_Field], size: int) -> Callable[[bytes], tuple[Any, ...]]:
    """A struct of the whole message that yields these fields and skips all between them."""
    codes = [layout]
    for field in fields:
        codes.append(f"{field.start - start}x{field.code}")
        start = field.start + field.size
    codes.append(f"{size - start}x")
    return Struct("".join(codes)).unpack


def compile_shape(data: bytes, order: Order, ccsid: int, wanted: frozenset[int] | None, pool: TextPool) -> Shape | None:
    """The shape of a message that a walk has found sound; None when it holds groups or filters, which are rare."""
    command, _, _, _, _, count = unpack_from(order + "6i", data, 12)
    mask = bytearray(len(data))
    for start, stop in _HEADER_COMPARED:
        mask[start:stop] = b"\xff" * (stop - start)
    fields: list[_Field] = []
    at = mq.MQCFH_STRUC_LENGTH
    for _ in range(count):
        kind, length = unpack_from(order + "2i", data, at)
        if kind in PARAMETER_STRUCTURES and kind not in _FIXED:
            return None
        fixed = _FIXED.get(kind, _UNKNOWN_FIXED)
        mask[at : at + fixed] = b"\xff" * fixed
        if kind in _FIXED and (wanted is None or unpack_from(order + "i", data, at + 8)[0] in wanted):
            fields.append(_field(data, order, at, ccsid, pool))
        at += length
    return Shape(data, order, command, int.from_bytes(mask, "little"), fields)


def _field(data: bytes, order: Order, at: int, ccsid: int, pool: TextPool) -> _Field:
    kind, _, number, word = unpack_from(order + "4i", data, at)
    start = at + _FIXED[kind]
    if kind == mq.MQCFT_INTEGER:
        return _Field(at, number, kind, start, "i", 4)
    if kind == mq.MQCFT_INTEGER64:
        return _Field(at, number, kind, at + 16, "q", 8)
    if kind == mq.MQCFT_BYTE_STRING:
        return _Field(at, number, kind, start, f"{word}s", word)
    if kind == mq.MQCFT_STRING:
        size = unpack_from(order + "i", data, at + 16)[0]
        texts = pool.of((word or ccsid) if size else _ANY, at + 12)
        return _Field(at, number, kind, start, f"{size}s", size, texts=texts)
    if kind == mq.MQCFT_STRING_LIST:
        count, size = unpack_from(order + "2i", data, at + 16)
        texts = pool.of((word or ccsid) if size else _ANY, at + 12)
        return _Field(at, number, kind, start, f"{count * size}s", count * size, convert=_splitter(texts, count, size))
    if kind == mq.MQCFT_INTEGER_LIST and word == 2:
        return _Field(at, number, kind, start, "2i", 8, pair=True)
    letter, width = ("i", 4) if kind == mq.MQCFT_INTEGER_LIST else ("q", 8)
    unpack = Struct(f"{order}{word}{letter}").unpack
    return _Field(at, number, kind, start, f"{word * width}s", word * width, convert=unpack)


def _splitter(texts: Texts, count: int, size: int) -> Callable[[bytes], tuple[str, ...]]:
    def split(raw: bytes) -> tuple[str, ...]:
        if not size:
            return ("",) * count
        return tuple(texts[raw[item : item + size]] for item in range(0, count * size, size))

    return split
