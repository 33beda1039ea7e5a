"""Messages to bytes, in either byte order and any known character set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import error, pack
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import CodePage, codec
from mqvitals_agent.pcf.message import FilterValue, Message, Parameter, Value
from mqvitals_agent.pcf.structures import Order

REQUEST_CCSID: Final = 1208
"""The character set of our requests: every queue manager can convert from UTF-8."""
_NONE: Final[Mapping[int, int]] = {}


def integer(id: int, value: int) -> Parameter:  # noqa: A002 - IBM calls it the parameter identifier
    """A 32-bit integer (MQCFIN)."""
    return Parameter(id, mq.MQCFT_INTEGER, value)


def integer64(id: int, value: int) -> Parameter:  # noqa: A002
    """A 64-bit integer (MQCFIN64)."""
    return Parameter(id, mq.MQCFT_INTEGER64, value)


def integers(id: int, values: Sequence[int]) -> Parameter:  # noqa: A002
    """A list of 32-bit integers (MQCFIL)."""
    return Parameter(id, mq.MQCFT_INTEGER_LIST, tuple(values))


def integers64(id: int, values: Sequence[int]) -> Parameter:  # noqa: A002
    """A list of 64-bit integers (MQCFIL64)."""
    return Parameter(id, mq.MQCFT_INTEGER64_LIST, tuple(values))


def string(id: int, text: str, width: int = 0) -> Parameter:  # noqa: A002
    """A text (MQCFST), filled with blanks up to ``width`` characters as some queue managers do."""
    return Parameter(id, mq.MQCFT_STRING, text.ljust(width))


def strings(id: int, texts: Sequence[str], width: int = 0) -> Parameter:  # noqa: A002
    """A list of texts (MQCFSL); all take the length of the longest, at least ``width``."""
    return Parameter(id, mq.MQCFT_STRING_LIST, tuple(text.ljust(width) for text in texts))


def byte_string(id: int, data: bytes) -> Parameter:  # noqa: A002
    """Bytes (MQCFBS)."""
    return Parameter(id, mq.MQCFT_BYTE_STRING, bytes(data))


def integer_filter(id: int, operator: int, value: int) -> Parameter:  # noqa: A002
    """A filter on an integer (MQCFIF); ``operator`` is ``MQCFOP_...``."""
    return Parameter(id, mq.MQCFT_INTEGER_FILTER, FilterValue(operator, value))


def string_filter(id: int, operator: int, text: str) -> Parameter:  # noqa: A002
    """A filter on a text (MQCFSF)."""
    return Parameter(id, mq.MQCFT_STRING_FILTER, FilterValue(operator, text))


def byte_string_filter(id: int, operator: int, data: bytes) -> Parameter:  # noqa: A002
    """A filter on bytes (MQCFBF)."""
    return Parameter(id, mq.MQCFT_BYTE_STRING_FILTER, FilterValue(operator, bytes(data)))


def group(id: int, parameters: Sequence[Parameter]) -> Parameter:  # noqa: A002
    """A group (MQCFGR) and its members."""
    return Parameter(id, mq.MQCFT_GROUP, tuple(parameters))


def request(command: int, parameters: Sequence[Parameter] = ()) -> bytes:
    """A request as z/OS wants it: extended responses asked for, big-endian, texts in UTF-8."""
    return encode_message(mq.MQCFT_COMMAND_XR, command, parameters, ccsid=REQUEST_CCSID)


def encode(message: Message, *, order: Order = ">", ccsid: int = 500) -> bytes:
    """A whole message; what was decoded comes out as it was, but for blanks at the ends of texts."""
    return encode_message(
        message.type,
        message.command,
        message.parameters,
        sequence=message.sequence,
        control=message.control,
        comp_code=message.comp_code,
        reason=message.reason,
        order=order,
        ccsid=ccsid,
    )


def encode_message(
    type: int,  # noqa: A002 - IBM's name of the field
    command: int,
    parameters: Sequence[Parameter],
    *,
    version: int = mq.MQCFH_VERSION_3,
    sequence: int = 1,
    control: int = mq.MQCFC_LAST,
    comp_code: int = 0,
    reason: int = 0,
    order: Order = ">",
    ccsid: int = 500,
    ccsids: Mapping[int, int] = _NONE,
    inherit: bool = False,
) -> bytes:
    """A message from its header fields and parameters.

    Texts are encoded in ``ccsid``, or in ``ccsids[id]`` where that has the parameter, and say so in their structure;
    with ``inherit`` those in ``ccsid`` say 0 instead, the character set of the message descriptor. ValueError for a
    value that does not fit its structure, PcfError for an unknown character set.
    """
    writer = StructureWriter(order, ccsid, ccsids, inherit=inherit)
    try:
        header = pack(
            order + "9i",
            type,
            mq.MQCFH_STRUC_LENGTH,
            version,
            command,
            sequence,
            control,
            comp_code,
            reason,
            len(parameters),
        )
    except error as failure:
        raise ValueError(f"a header field of the message does not fit 32 bits: {failure}") from None
    return header + b"".join(map(writer.structure, parameters))


class StructureWriter:
    """Writes parameter structures in one byte order and character set; the arguments are those of ``encode_message``."""

    def __init__(self, order: Order, ccsid: int, ccsids: Mapping[int, int] = _NONE, *, inherit: bool = False) -> None:
        self._order = order
        self._page = codec(ccsid)
        self._ccsids = ccsids
        self._stated = 0 if inherit else ccsid

    def structure(self, parameter: Parameter) -> bytes:
        """The bytes of one parameter; ValueError when its value is not of its type."""
        number, kind, value = parameter
        try:
            return self._structure(number, kind, value)
        except error as failure:
            raise ValueError(f"parameter {number}: {value!r} does not fit structure type {kind}: {failure}") from None

    def _structure(self, number: int, kind: int, value: Value) -> bytes:
        match kind, value:
            case mq.MQCFT_INTEGER, int():
                return pack(self._order + "4i", kind, mq.MQCFIN_STRUC_LENGTH, number, value)
            case mq.MQCFT_INTEGER64, int():
                return self._pack("4iq", kind, mq.MQCFIN64_STRUC_LENGTH, number, 0, value)
            case mq.MQCFT_INTEGER_LIST, tuple():
                length = mq.MQCFIL_STRUC_LENGTH_FIXED + 4 * len(value)
                return self._pack(f"4i{len(value)}i", kind, length, number, len(value), *value)
            case mq.MQCFT_INTEGER64_LIST, tuple():
                length = mq.MQCFIL64_STRUC_LENGTH_FIXED + 8 * len(value)
                return self._pack(f"4i{len(value)}q", kind, length, number, len(value), *value)
            case mq.MQCFT_STRING, str():
                page, stated = self._charset(number)
                return self._tail((kind, number, stated), page.encode(value), page.encode(" "))
            case mq.MQCFT_STRING_LIST, tuple():
                return self._strings(number, value)
            case mq.MQCFT_BYTE_STRING, bytes():
                return self._tail((kind, number), value, b"\0")
            case mq.MQCFT_INTEGER_FILTER, FilterValue(operator=operator, value=int() as wanted):
                return self._pack("5i", kind, mq.MQCFIF_STRUC_LENGTH, number, operator, wanted)
            case mq.MQCFT_STRING_FILTER, FilterValue(operator=operator, value=str() as wanted):
                page, stated = self._charset(number)
                return self._tail((kind, number, operator, stated), page.encode(wanted), page.encode(" "))
            case mq.MQCFT_BYTE_STRING_FILTER, FilterValue(operator=operator, value=bytes() as wanted):
                return self._tail((kind, number, operator), wanted, b"\0")
            case mq.MQCFT_GROUP, tuple():
                members = [member for member in value if isinstance(member, Parameter)]
                if len(members) == len(value):
                    head = self._pack("4i", kind, mq.MQCFGR_STRUC_LENGTH, number, len(members))
                    return head + b"".join(map(self.structure, members))
        raise ValueError(f"parameter {number}: structure type {kind} cannot hold {value!r}")

    def _strings(self, number: int, texts: tuple[object, ...]) -> bytes:
        page, stated = self._charset(number)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"parameter {number}: a string list cannot hold {texts!r}")
        items = [page.encode(str(text)) for text in texts]
        size = max(map(len, items), default=0)
        blank = page.encode(" ")
        body = b"".join(item.ljust(size, blank) for item in items)
        padding = -len(body) % 4
        length = mq.MQCFSL_STRUC_LENGTH_FIXED + len(body) + padding
        head = self._pack("6i", mq.MQCFT_STRING_LIST, length, number, stated, len(items), size)
        return head + body + blank * padding

    def _tail(self, fields: tuple[int, ...], data: bytes, filler: bytes) -> bytes:
        """A structure that ends in bytes and their number: ``fields`` is all before, without the structure length."""
        padding = -len(data) % 4
        kind, *others = fields
        length = 4 * (len(fields) + 2) + len(data) + padding
        return self._pack(f"{len(fields) + 2}i", kind, length, *others, len(data)) + data + filler * padding

    def _charset(self, number: int) -> tuple[CodePage, int]:
        own = self._ccsids.get(number)
        return (self._page, self._stated) if own is None else (codec(own), own)

    def _pack(self, layout: str, *values: object) -> bytes:
        return pack(self._order + layout, *values)
