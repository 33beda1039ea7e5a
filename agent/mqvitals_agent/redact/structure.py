"""The structures of a message, rewritten where they stand: nothing moves, and no length or count changes."""

from __future__ import annotations

from struct import unpack_from
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.pcf.walk import PARAMETER_STRUCTURES, SMALLEST, Order, byte_order
from mqvitals_agent.redact.text import Texts

_NOTHING: Final[frozenset[int]] = frozenset()
_WHOLE: Final = frozenset({mq.MQCFT_INTEGER, mq.MQCFT_INTEGER64, mq.MQCFT_INTEGER_FILTER, mq.MQCFT_GROUP})
"""Structures of numbers alone. The members of a group follow it as structures of their own."""

_FILLERS: Final = b"\0 \x40"  # NUL, and the blank of ASCII and of EBCDIC


def rewritten(data: bytes, ccsid: int, texts: Texts, decoder: Decoder) -> bytes | None:
    """A message with what ``texts`` makes of its values; None when it cannot be decoded. ``ccsid`` is that of its descriptor."""
    try:
        # All lengths and counts are sound after this.
        decoder.decode_values(data, ccsid, _NOTHING)
    except PcfError:
        return None
    order = byte_order(data)
    made = bytearray(data)
    at, end = mq.MQCFH_STRUC_LENGTH, len(data)
    layout = order + "2i"
    while at < end:
        kind, length = unpack_from(layout, data, at)
        if kind not in _WHOLE:
            _rewrite(made, data, order, at, kind, length, ccsid, texts)
        at += length
    return bytes(made)


def _rewrite(
    made: bytearray, data: bytes, order: Order, at: int, kind: int, length: int, ccsid: int, texts: Texts
) -> None:
    match kind:
        case mq.MQCFT_STRING:
            number, own, size = unpack_from(order + "3i", data, at + 8)
            used = 20 + size
            made[at + 20 : at + used] = texts.text(number, data[at + 20 : at + used], own or ccsid)
        case mq.MQCFT_STRING_FILTER:
            number, _, own, size = unpack_from(order + "4i", data, at + 8)
            used = 24 + size
            made[at + 24 : at + used] = texts.text(number, data[at + 24 : at + used], own or ccsid)
        case mq.MQCFT_STRING_LIST:
            number, own, count, size = unpack_from(order + "4i", data, at + 8)
            used = 24 + count * size
            for start in range(at + 24, at + used, size or 1):
                made[start : start + size] = texts.text(number, data[start : start + size], own or ccsid)
        case mq.MQCFT_BYTE_STRING:
            (size,) = unpack_from(order + "i", data, at + 12)
            used = 16 + size
            made[at + 16 : at + used] = texts.octets(data[at + 16 : at + used])
        case mq.MQCFT_BYTE_STRING_FILTER:
            (size,) = unpack_from(order + "i", data, at + 16)
            used = 20 + size
            made[at + 20 : at + used] = texts.octets(data[at + 20 : at + used])
        case mq.MQCFT_INTEGER_LIST | mq.MQCFT_INTEGER64_LIST:
            (count,) = unpack_from(order + "i", data, at + 12)
            used = 16 + count * (4 if kind == mq.MQCFT_INTEGER_LIST else 8)
        case _ if kind not in PARAMETER_STRUCTURES:
            used = SMALLEST
        case _:
            raise AssertionError(f"structure type {kind} is one of a parameter and has no layout here")
    # What fills a structure up means nothing, and may be left over from another message.
    if data[at + used : at + length].strip(_FILLERS):
        made[at + used : at + length] = bytes(length - used)
