"""Bytes to messages.

Replies to one command repeat their structures: same parameters, same lengths, other values. A shape unpacks such a
message in one step, after one comparison of all bytes that must be equal (types, lengths, identifiers, character
sets, string lengths, counts). A message without a known shape is read structure by structure (``structures``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from struct import Struct, unpack_from
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import DecodedTexts, TextPool
from mqvitals_agent.pcf.message import (
    DecodedMessage,
    Message,
    MessageValues,
    ParameterLayout,
    PcfError,
    Value,
    first_and_repeated,
    parameter_layout,
)
from mqvitals_agent.pcf.structures import (
    HEADERS,
    PARAMETER_STRUCTURES,
    MessageHeader,
    Order,
    ParameterColumns,
    StructureReader,
    read_header,
)

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


class MessageShape:
    """One shape, for all parameters or for the wanted ones.

    ``unpack`` gives type, sequence, control, completion code and reason of the header, then a column of values in the
    order of the message; ``texts`` and ``converters`` say at which places still stand bytes, and where to look them up
    or what converts them. ``size`` is about what it takes, in bytes.
    """

    __slots__ = ("command", "compared", "converters", "layout", "mask", "size", "texts", "unpack")

    def __init__(self, data: bytes, order: Order, command: int, mask: int, fields: Sequence[_TakenField]) -> None:
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
        self.layout = parameter_layout(tuple(field.id for field in fields), tuple(field.type for field in fields))
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
    """Each distinct value once, with all places where it stands."""
    found: dict[int, tuple[_Thing, list[int]]] = {}
    for place, thing in enumerate(things):
        if thing is not None:
            found.setdefault(id(thing), (thing, []))[1].append(place)
    return tuple((thing, tuple(places)) for thing, places in found.values())


class _TakenField(NamedTuple):
    """A parameter whose value is taken: where it starts, how it is unpacked, and what makes it the value it is."""

    id: int
    type: int
    start: int
    code: str
    size: int
    texts: DecodedTexts | None = None
    convert: Callable[[bytes], Value] | None = None


def compile_shape(
    data: bytes, order: Order, ccsid: int, wanted: frozenset[int] | None, pool: TextPool
) -> MessageShape | None:
    """The shape of a message that a walk has found sound; None when it holds groups or filters, which are rare."""
    command, _, _, _, _, count = unpack_from(order + "6i", data, 12)
    mask = bytearray(len(data))
    for start, stop in _HEADER_COMPARED:
        mask[start:stop] = b"\xff" * (stop - start)
    fields: list[_TakenField] = []
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
    return MessageShape(data, order, command, int.from_bytes(mask, "little"), fields)


def _field(data: bytes, order: Order, at: int, ccsid: int, pool: TextPool) -> _TakenField:
    kind, _, number, word = unpack_from(order + "4i", data, at)
    start = at + _FIXED[kind]
    if kind == mq.MQCFT_INTEGER:
        return _TakenField(number, kind, start, "i", 4)
    if kind == mq.MQCFT_INTEGER64:
        return _TakenField(number, kind, at + 16, "q", 8)
    if kind == mq.MQCFT_BYTE_STRING:
        return _TakenField(number, kind, start, f"{word}s", word)
    if kind == mq.MQCFT_STRING:
        size = unpack_from(order + "i", data, at + 16)[0]
        texts = pool.of((word or ccsid) if size else _ANY, at + 12)
        if number in _PASSING:
            return _TakenField(number, kind, start, f"{size}s", size, convert=texts.decode)
        return _TakenField(number, kind, start, f"{size}s", size, texts=texts)
    if kind == mq.MQCFT_STRING_LIST:
        count, size = unpack_from(order + "2i", data, at + 16)
        texts = pool.of((word or ccsid) if size else _ANY, at + 12)
        return _TakenField(number, kind, start, f"{count * size}s", count * size, convert=_splitter(texts, count, size))
    letter, width = ("i", 4) if kind == mq.MQCFT_INTEGER_LIST else ("q", 8)
    unpack = _list_unpacker(f"{order}{word}{letter}")
    return _TakenField(number, kind, start, f"{word * width}s", word * width, convert=unpack)


@lru_cache(maxsize=256)
def _list_unpacker(layout: str) -> Callable[[bytes], tuple[int, ...]]:
    """One function for all lists of a length, so that a shape has them together."""
    return Struct(layout).unpack


def _splitter(texts: DecodedTexts, count: int, size: int) -> Callable[[bytes], tuple[str, ...]]:
    def split(raw: bytes) -> tuple[str, ...]:
        if not size:
            return ("",) * count
        return tuple(texts[raw[item : item + size]] for item in range(0, count * size, size))

    return split


SHAPES_BYTES: Final = 16_000_000
"""About how many bytes the shapes of one decoder may take: one or two thousand of them."""
LONGEST_MESSAGE: Final = 32_000
"""The longest message whose shape is kept. A description of one object takes 2 or 3 kB."""
SHAPES_OF_A_KEY: Final = 8
"""How many shapes of the same length, command and number of parameters are tried before a message is walked."""
_COMPILATION: Final = 16  # about how many walks take as long as compiling a shape
_PATIENCE: Final = 256  # walks past all shapes of a key, after which those are given up for newer ones

# A header in the midst of other bytes: a known type, 36, and a version, in either byte order.
_TYPES: Final = re.escape(bytes(sorted(HEADERS)))
_A_HEADER: Final = re.compile(
    rb"\0\0\0[%b]\0\0\0\x24\0\0\0[\1-\3]|[%b]\0\0\0\x24\0\0\0[\1-\3]\0\0\0" % (_TYPES, _TYPES), re.DOTALL
)

_DEEPEST_FIELD: Final = 20  # how far inside a structure an error can be

_Key: TypeAlias = tuple[int, int, bytes, bytes, frozenset[int] | None]


class Decoder:
    """Decodes messages, and keeps the shapes of those it has seen.

    The byte order follows from the data. The texts of a structure whose CCSID is 0 are in that of the message
    descriptor, ``ccsid``. All methods raise PcfError and nothing else, whatever the bytes. One decoder serves one
    thread; it is worth keeping, for a fresh one knows no shapes.

    ``lenient``: texts in an unknown character set are decoded for their invariant characters; ``take_unknown`` says
    which it was. Otherwise they are PcfErrors.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        self._pool = TextPool(lenient=lenient)
        self._shapes: dict[_Key, list[MessageShape]] = {}
        self._misses: dict[_Key, int] = {}
        self._size = 0
        # A shape is compiled only when enough messages were walked to pay for it: if shapes never repeat, or there are
        # more of them than fit, decoding is at most twice as slow as walking.
        self._credit = 1000 * _COMPILATION

    def decode(self, data: bytes, ccsid: int) -> Message:
        """The one message that ``data`` holds, with everything in it.

        Bytes after the last parameter are an error: the parameter count of a damaged message may be too low, and a
        parameter that is silently missing is worse than a message that is reported.
        """
        key = (len(data), ccsid, data[4:16], data[32:36], None)
        shape = self._shape(key, data)
        if shape is not None:
            kind, sequence, control, comp_code, reason, column = shape.read(data)
            return DecodedMessage(kind, shape.command, sequence, control, comp_code, reason, shape.layout, column)
        header, (ids, types, column) = self._walk(key, data)
        return DecodedMessage(*header[1:7], ParameterLayout(ids, types), column)

    def decode_values(self, data: bytes, ccsid: int, wanted: frozenset[int]) -> MessageValues:
        """Only the wanted parameters of the one message that ``data`` holds. All of it is verified, as in ``decode``.

        Character sets are looked up only for wanted texts, so an unknown one elsewhere does no harm.
        """
        key = (len(data), ccsid, data[4:16], data[32:36], wanted)
        shape = self._shape(key, data)
        if shape is not None:
            kind, sequence, control, comp_code, reason, column = shape.read(data)
            layout = shape.layout
            if not layout.repeats:
                return MessageValues(
                    kind, shape.command, sequence, control, comp_code, reason, None, (), layout, column
                )
            found = first_and_repeated(layout.ids, column)
            return MessageValues(kind, shape.command, sequence, control, comp_code, reason, *found)
        header, (ids, _, column) = self._walk(key, data)
        return MessageValues(*header[1:7], *first_and_repeated(ids, column))

    def take_unknown(self) -> int:
        """The CCSID of an unknown character set that texts were in since the last call; 0: there was none."""
        found, self._pool.unknown = self._pool.unknown, 0
        return found

    def decode_all(self, data: bytes, ccsid: int) -> Iterator[Message | PcfError]:
        """The messages that stand one after another in ``data``, as in a file of them.

        A damaged message comes as its PcfError, with the offset in ``data``; reading goes on with the next bytes that
        look like a message header.
        """
        at = 0
        while at < len(data):
            try:
                header = read_header(data, at)
                walk = StructureReader(data, header.order, at + mq.MQCFH_STRUC_LENGTH, ccsid, self._pool)
                ids, types, column = walk.structures(header.parameter_count, None)
            except PcfError as error:
                yield error
                # Structures before the one with the error were sound, so they are not looked at again.
                found = _A_HEADER.search(data, max(at + 1, error.offset - _DEEPEST_FIELD))
                at = found.start() if found else len(data)
            else:
                yield DecodedMessage(*header[1:7], ParameterLayout(ids, types), column)
                at = walk.at

    def _shape(self, key: _Key, data: bytes) -> MessageShape | None:
        """The kept shape that this message has."""
        shapes = self._shapes.get(key)
        if shapes is not None:
            number = int.from_bytes(data, "little")
            for shape in shapes:
                if number & shape.mask == shape.compared:
                    return shape
        return None

    def _walk(self, key: _Key, data: bytes) -> tuple[MessageHeader, ParameterColumns]:
        """Read a message carefully, to its end, and learn its shape."""
        _, ccsid, _, _, wanted = key
        header = read_header(data)
        walk = StructureReader(data, header.order, mq.MQCFH_STRUC_LENGTH, ccsid, self._pool)
        columns = walk.structures(header.parameter_count, wanted)
        if walk.at != len(data):
            rest = len(data) - walk.at
            raise PcfError(
                walk.at, f"the end of the message after its {header.parameter_count} parameters, not {rest} more bytes"
            )
        # A kept shape does not look its character sets up again, so an unknown one would not be reported.
        if len(data) <= LONGEST_MESSAGE and not self._pool.unknown:
            self._learn(key, data, header)
        return header, columns

    def _learn(self, key: _Key, data: bytes, header: MessageHeader) -> None:
        """Compile the shape of a message that none of the kept ones fitted, when that is likely to pay."""
        self._credit += 1
        shapes = self._shapes.get(key)
        if shapes is not None and len(shapes) >= SHAPES_OF_A_KEY:
            misses = self._misses[key] = self._misses.get(key, 0) + 1
            if misses < _PATIENCE:
                return
            self._forget(key)
        if self._credit < _COMPILATION:
            return
        self._credit -= _COMPILATION
        _, ccsid, _, _, wanted = key
        shape = compile_shape(data, header.order, ccsid, wanted, self._pool)
        if shape is None:
            return
        while self._size + shape.size > SHAPES_BYTES:
            self._forget(next(iter(self._shapes)))
        self._shapes.setdefault(key, []).append(shape)
        self._size += shape.size

    def _forget(self, key: _Key) -> None:
        self._size -= sum(shape.size for shape in self._shapes.pop(key))
        self._misses.pop(key, None)
