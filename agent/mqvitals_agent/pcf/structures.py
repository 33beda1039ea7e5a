"""The careful reading of a message, structure by structure, that believes no length and no count before it is verified.

Every length is compared with what is left of the data before anything is read or kept, so the work and the memory are
bounded by the size of the data whatever stands in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct, unpack_from
from typing import Final, Literal, NamedTuple, TypeAlias

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import DecodedTexts, TextPool
from mqvitals_agent.pcf.message import FilterValue, Parameter, PcfError, Value

Order: TypeAlias = Literal[">", "<"]
"""The byte order of the integers, as the struct module writes it."""

DEEPEST: Final = 16
"""How deep groups may nest. IBM's messages nest two or three deep."""

PARAMETER_STRUCTURES: Final = frozenset(
    {
        mq.MQCFT_INTEGER,
        mq.MQCFT_INTEGER64,
        mq.MQCFT_INTEGER_LIST,
        mq.MQCFT_INTEGER64_LIST,
        mq.MQCFT_STRING,
        mq.MQCFT_STRING_LIST,
        mq.MQCFT_BYTE_STRING,
        mq.MQCFT_INTEGER_FILTER,
        mq.MQCFT_STRING_FILTER,
        mq.MQCFT_BYTE_STRING_FILTER,
        mq.MQCFT_GROUP,
    }
)
HEADERS: Final = (
    frozenset(number for name, number in vars(mq).items() if name.startswith("MQCFT_")) - PARAMETER_STRUCTURES
)
"""The types of message headers: they share their numbering with the structures, so none can be a parameter."""

SMALLEST: Final = 8  # type and length: all that is known of a structure of an unknown type
_COMMON: Final = 16  # what every structure of a known type has at least
_NOTHING: Final[frozenset[int]] = frozenset()

_FOUR: Final = {order: Struct(order + "4i").unpack_from for order in "><"}
_TWO: Final = {order: Struct(order + "2i").unpack_from for order in "><"}
_ONE: Final = {order: Struct(order + "i").unpack_from for order in "><"}
_LONG: Final = {order: Struct(order + "q").unpack_from for order in "><"}


class MessageHeader(NamedTuple):
    """The fields of an MQCFH that matter, and the byte order that they were read in.

    Those from ``type`` to ``reason`` are in the order that messages take them.
    """

    order: Order
    type: int
    command: int
    sequence: int
    control: int
    comp_code: int
    reason: int
    parameter_count: int


class ParameterColumns(NamedTuple):
    """Parameters side by side: identifiers, structure types, values."""

    ids: list[int]
    types: list[int]
    column: list[Value]


def read_header(data: bytes, start: int = 0) -> MessageHeader:
    """The message header at ``start``; PcfError when there is none."""
    room = len(data) - start
    if room < mq.MQCFH_STRUC_LENGTH:
        raise PcfError(start, f"a message header of 36 bytes, not the end of the data after {room}")
    order = byte_order(data, start)
    fields = unpack_from(order + "9i", data, start)
    kind, _, version, command, sequence, control, comp_code, reason, count = fields
    if not mq.MQCFH_VERSION_1 <= version <= mq.MQCFH_VERSION_3:
        raise PcfError(start + 8, f"a header version from 1 to 3, not {version}")
    most = (room - mq.MQCFH_STRUC_LENGTH) // SMALLEST
    if not 0 <= count <= most:
        raise PcfError(start + 32, f"a parameter count from 0 to {most}, which is all that fits, not {count}")
    return MessageHeader(order, kind, command, sequence, control, comp_code, reason, count)


def byte_order(data: bytes, start: int = 0) -> Order:
    """The byte order of a message, from the length of its header, which is always 36."""
    word = data[start + 4 : start + 8]
    if word == b"\0\0\0\x24":
        return ">"
    if word == b"\x24\0\0\0":
        return "<"
    raise PcfError(start + 4, f"36, the length of a message header, in either byte order, not X'{word.hex().upper()}'")


class StructureReader:
    """One walk over the structures of a message; ``at`` is where it stands."""

    __slots__ = ("at", "ccsid", "data", "order", "pool")

    def __init__(self, data: bytes, order: Order, at: int, ccsid: int, pool: TextPool) -> None:
        self.data = data
        self.order: Order = order
        self.at = at
        self.ccsid = ccsid
        self.pool = pool

    def structures(self, count: int, wanted: frozenset[int] | None, depth: int = 0) -> ParameterColumns:
        """The wanted ones (None: all) of the next ``count`` structures, without those of unknown types.

        PcfError when any of them, wanted or not, is not sound.
        """
        data = self.data
        end = len(data)
        four = _FOUR[self.order]
        at = self.at
        ids: list[int] = []
        types: list[int] = []
        column: list[Value] = []
        for _ in range(count):
            if end - at < _COMMON:
                at += self._short(at, end)
                continue
            kind, length, number, word = four(data, at)
            if length > end - at or length < SMALLEST or length & 3:
                raise wrong_length(at, length, f"from 8 to {end - at}, a multiple of 4")
            take = wanted is None or number in wanted
            value: Value
            if kind == mq.MQCFT_INTEGER:
                if length != mq.MQCFIN_STRUC_LENGTH:
                    raise wrong_length(at, length, "of 16")
                value = word
            elif kind == mq.MQCFT_GROUP:
                self.at = at
                value = self._group(length, word, None if take else _NOTHING, depth)
                at = self.at - length
            elif kind in _CHECKS:
                _CHECKS[kind](self, at, length, word)
                if take:
                    value = _VALUES[kind](self, at, word)
            elif kind in HEADERS:
                raise PcfError(at, f"a parameter structure, not a message header (type {kind})")
            else:
                take = False
            at += length
            if take:
                ids.append(number)
                types.append(kind)
                column.append(value)
        self.at = at
        return ParameterColumns(ids, types, column)

    def _group(self, length: int, count: int, wanted: frozenset[int] | None, depth: int) -> Value:
        start = self.at
        if length != mq.MQCFGR_STRUC_LENGTH:
            raise wrong_length(start, length, "of 16")
        most = (len(self.data) - start - length) // SMALLEST
        if not 0 <= count <= most:
            raise PcfError(start + 12, f"a group of 0 to {most} parameters, which is all that fits, not {count}")
        if depth >= DEEPEST:
            raise PcfError(start, f"groups nested at most {DEEPEST} deep")
        self.at = start + length
        members = self.structures(count, wanted, depth + 1)
        return tuple(map(Parameter, *members))

    def _short(self, at: int, end: int) -> int:
        """The length of a structure in the last bytes of the data, which can only be of an unknown type."""
        room = end - at
        if room < SMALLEST:
            raise PcfError(at, f"a parameter structure, not the end of the data after {room} bytes")
        kind, length = _TWO[self.order](self.data, at)
        if kind in HEADERS or kind in PARAMETER_STRUCTURES:
            raise PcfError(at, f"a structure of type {kind}, not the end of the data after {room} bytes")
        if not SMALLEST <= length <= room or length & 3:
            raise wrong_length(at, length, f"from 8 to {room}, a multiple of 4")
        return int(length)

    def texts(self, ccsid: int, at: int) -> DecodedTexts:
        """The texts of a structure's character set; 0 is that of the message."""
        return self.pool.of(ccsid or self.ccsid, at)

    def one(self, at: int) -> int:
        """The integer at that offset."""
        value: int = _ONE[self.order](self.data, at)[0]
        return value


def wrong_length(at: int, length: int, right: str) -> PcfError:
    """The error of a structure at ``at`` whose length cannot be."""
    return PcfError(at + 4, f"a structure length {right}, not {length}")


# What the lengths and counts of a structure must be, and where its value stands. A check runs before its value is read.


def _check_length(right: int, _walk: StructureReader, at: int, length: int, _word: int) -> None:
    if length != right:
        raise wrong_length(at, length, f"of {right}")


def _check_tail(size_at: int, fixed: int, walk: StructureReader, at: int, length: int, _word: int) -> None:
    """A structure of a fixed part and as many bytes as the field at ``size_at`` states, padded."""
    if length < fixed:
        raise wrong_length(at, length, f"of at least {fixed}")
    size = walk.one(at + size_at)
    if not 0 <= size <= length - fixed:
        raise PcfError(at + size_at, f"a string length from 0 to {length - fixed}, not {size}")


def _check_list(width: int, _walk: StructureReader, at: int, length: int, count: int) -> None:
    if length < mq.MQCFIL_STRUC_LENGTH_FIXED:
        raise wrong_length(at, length, "of at least 16")
    most = (length - mq.MQCFIL_STRUC_LENGTH_FIXED) // width
    if not 0 <= count <= most:
        raise PcfError(at + 12, f"a count from 0 to {most}, not {count}")


def _check_strings(walk: StructureReader, at: int, length: int, _ccsid: int) -> None:
    if length < mq.MQCFSL_STRUC_LENGTH_FIXED:
        raise wrong_length(at, length, "of at least 24")
    room = length - mq.MQCFSL_STRUC_LENGTH_FIXED
    count = walk.one(at + 16)
    size = walk.one(at + 20)
    if not 0 <= size <= room:
        raise PcfError(at + 20, f"a string length from 0 to {room}, not {size}")
    # Empty strings take no room, so the size of the structure bounds their number.
    most = room // size if size else length
    if not 0 <= count <= most:
        raise PcfError(at + 16, f"a count from 0 to {most}, not {count}")


def _string(walk: StructureReader, at: int, ccsid: int) -> Value:
    size = walk.one(at + 16)
    return walk.texts(ccsid, at + 12)[walk.data[at + 20 : at + 20 + size]] if size else ""


def _strings(walk: StructureReader, at: int, ccsid: int) -> Value:
    count = walk.one(at + 16)
    size = walk.one(at + 20)
    if not size:
        return ("",) * count
    texts = walk.texts(ccsid, at + 12)
    first = at + 24
    return tuple(texts[walk.data[item : item + size]] for item in range(first, first + count * size, size))


def _integer64(walk: StructureReader, at: int, _reserved: int) -> Value:
    value: int = _LONG[walk.order](walk.data, at + 16)[0]
    return value


def _string_filter(walk: StructureReader, at: int, operator: int) -> Value:
    size = walk.one(at + 20)
    text = walk.texts(walk.one(at + 16), at + 16)[walk.data[at + 24 : at + 24 + size]] if size else ""
    return FilterValue(operator, text)


def _bytes_filter(walk: StructureReader, at: int, operator: int) -> Value:
    size = walk.one(at + 16)
    return FilterValue(operator, walk.data[at + 20 : at + 20 + size])


_CHECKS: Final[Mapping[int, Callable[[StructureReader, int, int, int], None]]] = {
    mq.MQCFT_STRING: partial(_check_tail, 16, mq.MQCFST_STRUC_LENGTH_FIXED),
    mq.MQCFT_STRING_LIST: _check_strings,
    mq.MQCFT_BYTE_STRING: partial(_check_tail, 12, mq.MQCFBS_STRUC_LENGTH_FIXED),
    mq.MQCFT_INTEGER_LIST: partial(_check_list, 4),
    mq.MQCFT_INTEGER64: partial(_check_length, mq.MQCFIN64_STRUC_LENGTH),
    mq.MQCFT_INTEGER64_LIST: partial(_check_list, 8),
    mq.MQCFT_INTEGER_FILTER: partial(_check_length, mq.MQCFIF_STRUC_LENGTH),
    mq.MQCFT_STRING_FILTER: partial(_check_tail, 20, mq.MQCFSF_STRUC_LENGTH_FIXED),
    mq.MQCFT_BYTE_STRING_FILTER: partial(_check_tail, 16, mq.MQCFBF_STRUC_LENGTH_FIXED),
}
_VALUES: Final[Mapping[int, Callable[[StructureReader, int, int], Value]]] = {
    mq.MQCFT_STRING: _string,
    mq.MQCFT_STRING_LIST: _strings,
    mq.MQCFT_BYTE_STRING: lambda walk, at, size: walk.data[at + 16 : at + 16 + size],
    mq.MQCFT_INTEGER_LIST: lambda walk, at, count: unpack_from(f"{walk.order}{count}i", walk.data, at + 16),
    mq.MQCFT_INTEGER64: _integer64,
    mq.MQCFT_INTEGER64_LIST: lambda walk, at, count: unpack_from(f"{walk.order}{count}q", walk.data, at + 16),
    mq.MQCFT_INTEGER_FILTER: lambda walk, at, operator: FilterValue(operator, walk.one(at + 16)),
    mq.MQCFT_STRING_FILTER: _string_filter,
    mq.MQCFT_BYTE_STRING_FILTER: _bytes_filter,
}
