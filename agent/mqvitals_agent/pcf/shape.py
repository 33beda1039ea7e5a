"""The shape of a message: where everything in it stands, compiled into one struct.

Replies to one command repeat their structures: same parameters, same lengths, other values. A shape unpacks such a
message in one step, after comparing all the bytes that must be equal (types, lengths, identifiers, character sets,
string lengths, counts) with those of the message that it was made from, in one operation on two large integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from struct import Struct, unpack_from
from typing import Any, Final, NamedTuple, TypeVar

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.message import Value, layout
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
# Texts that are new with every batch or log record: remembering them would cost more than decoding them.
_PASSING: Final = frozenset({mq.MQCACH_CURRENT_LUWID, mq.MQCACH_LAST_LUWID, mq.MQCACF_SYSP_LOG_RBA})
# Type, sequence, control, completion code and reason of the header; its other fields are compared.
_HEADER: Final = "i12x4i4x"
_HEADER_COMPARED: Final = ((4, 16), (32, 36))

_Thing = TypeVar("_Thing")


class Shape:
    """One shape, for all parameters or for the wanted ones.

    ``unpack`` gives type, sequence, control, completion code and reason of the header, then a column of values in the
    order of the message; ``texts`` and ``converters`` say at which places still stand bytes, and where to look them up
    or what converts them. ``size`` is about what it takes, in bytes.
    """

    __slots__ = ("command", "compared", "converters", "layout", "mask", "size", "texts", "unpack")

    def __init__(self, data: bytes, order: Order, command: int, mask: int, fields: Sequence[_Field]) -> None:
        self.command = command
        self.mask = mask
        self.compared = int.from_bytes(data, "little") & mask
        codes = [order, _HEADER]
        at = mq.MQCFH_STRUC_LENGTH
        for field in fields:
            codes.append(f"{field.start - at}x{field.code}")
            at = field.start + field.size
        codes.append(f"{len(data) - at}x")
        self.unpack: Callable[[bytes], tuple[Any, ...]] = Struct("".join(codes)).unpack
        self.layout = layout(tuple(field.id for field in fields), tuple(field.type for field in fields))
        self.texts = _places(field.texts for field in fields)
        self.converters = _places(field.convert for field in fields)
        self.size = 3 * len(data) + 200 * len(fields) + 1000

    def read(self, data: bytes) -> tuple[int, int, int, int, int, list[Value]]:
        """Type, sequence, control, completion code and reason, and the column of values, of a message of this shape."""
        kind, sequence, control, comp_code, reason, *column = self.unpack(data)
        for texts, places in self.texts:
            for place in places:
                column[place] = texts[column[place]]
        for convert, places in self.converters:
            for place in places:
                column[place] = convert(column[place])
        return kind, sequence, control, comp_code, reason, column


def _places(things: Iterable[_Thing | None]) -> tuple[tuple[_Thing, tuple[int, ...]], ...]:
    """Every thing, once, with all places where it stands."""
    found: dict[int, tuple[_Thing, list[int]]] = {}
    for place, thing in enumerate(things):
        if thing is not None:
            found.setdefault(id(thing), (thing, []))[1].append(place)
    return tuple((thing, tuple(places)) for thing, places in found.values())


class _Field(NamedTuple):
    """A parameter whose value is taken: where it starts, how it is unpacked, and what makes it the value it is."""

    id: int
    type: int
    start: int
    code: str
    size: int
    texts: Texts | None = None
    convert: Callable[[bytes], Value] | None = None


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
        return _Field(number, kind, start, "i", 4)
    if kind == mq.MQCFT_INTEGER64:
        return _Field(number, kind, at + 16, "q", 8)
    if kind == mq.MQCFT_BYTE_STRING:
        return _Field(number, kind, start, f"{word}s", word)
    if kind == mq.MQCFT_STRING:
        size = unpack_from(order + "i", data, at + 16)[0]
        texts = pool.of((word or ccsid) if size else _ANY, at + 12)
        if number in _PASSING:
            return _Field(number, kind, start, f"{size}s", size, convert=texts.decode)
        return _Field(number, kind, start, f"{size}s", size, texts=texts)
    if kind == mq.MQCFT_STRING_LIST:
        count, size = unpack_from(order + "2i", data, at + 16)
        texts = pool.of((word or ccsid) if size else _ANY, at + 12)
        return _Field(number, kind, start, f"{count * size}s", count * size, convert=_splitter(texts, count, size))
    letter, width = ("i", 4) if kind == mq.MQCFT_INTEGER_LIST else ("q", 8)
    unpack = _list_unpacker(f"{order}{word}{letter}")
    return _Field(number, kind, start, f"{word * width}s", word * width, convert=unpack)


@lru_cache(maxsize=256)
def _list_unpacker(layout: str) -> Callable[[bytes], tuple[int, ...]]:
    """One function for all lists of a length, so that a shape has them together."""
    return Struct(layout).unpack


def _splitter(texts: Texts, count: int, size: int) -> Callable[[bytes], tuple[str, ...]]:
    def split(raw: bytes) -> tuple[str, ...]:
        if not size:
            return ("",) * count
        return tuple(texts[raw[item : item + size]] for item in range(0, count * size, size))

    return split
