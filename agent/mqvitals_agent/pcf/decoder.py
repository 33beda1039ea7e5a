"""Bytes to messages: fast for what repeats, careful with everything else."""

from __future__ import annotations

from collections.abc import Iterator
from operator import getitem
from typing import Final, Literal, TypeAlias

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.pcf.message import DecodedMessage, Layout, Message, Values, first_and_repeated
from mqvitals_agent.pcf.shape import Shape, compile_shape
from mqvitals_agent.pcf.text import TextPool
from mqvitals_agent.pcf.walk import HEADERS, Walk, read_header

MOST_SHAPES: Final = 1024
"""How many shapes one decoder keeps, some 8 kB each."""
SHAPES_OF_A_KEY: Final = 8
"""How many shapes of the same length, command and number of parameters are tried before a message is walked."""
_COMPILATION: Final = 16  # about how many walks take as long as compiling a shape
_PATIENCE: Final = 256  # walks past all shapes of a key, after which those are given up for newer ones

_Key: TypeAlias = tuple[int, int, bytes, bytes, frozenset[int] | None]


class Decoder:
    """Decodes messages, and keeps the shapes of those it has seen.

    The byte order is told from the data. The texts of a structure whose CCSID is 0 are in that of the message
    descriptor, ``ccsid``. All methods raise PcfError and nothing else, whatever the bytes. One decoder serves one
    thread; it is worth keeping, for a fresh one knows no shapes.
    """

    def __init__(self) -> None:
        self._pool = TextPool()
        self._shapes: dict[_Key, list[Shape]] = {}
        self._misses: dict[_Key, int] = {}
        self._kept = 0
        # A shape is compiled only when enough messages were walked to pay for it: if shapes never repeat, or there are
        # more of them than fit, decoding is at most twice as slow as walking.
        self._credit = _COMPILATION * MOST_SHAPES

    def decode(self, data: bytes, ccsid: int) -> Message:
        """The one message that ``data`` holds, with everything in it.

        Bytes after the last parameter are an error: the parameter count of a damaged message may be too low, and a
        parameter that is silently missing is worse than a message that is reported.
        """
        key = (len(data), ccsid, data[4:16], data[32:36], None)
        shapes = self._shapes.get(key)
        if shapes is not None:
            number = int.from_bytes(data, "little")
            for shape in shapes:
                if number & shape.mask == shape.compared:
                    kind, sequence, control, comp_code, reason, *column = shape.plain(data)
                    for place, convert in shape.converters:
                        column[place] = convert(column[place])
                    column += map(getitem, shape.texts, shape.raw_texts(data))
                    if shape.pairs is not None:
                        numbers = iter(shape.pairs(data))
                        column += zip(numbers, numbers, strict=True)
                    return DecodedMessage(
                        kind, shape.command, sequence, control, comp_code, reason, shape.layout, column
                    )
        header = read_header(data)
        walk = Walk(data, header.order, mq.MQCFH_STRUC_LENGTH, ccsid, self._pool)
        ids, types, values = walk.structures(header.parameter_count, None)
        _check_end(data, walk.at, header.parameter_count)
        self._learn(key, walk, None)
        _, kind, command, sequence, control, comp_code, reason, _ = header
        return DecodedMessage(kind, command, sequence, control, comp_code, reason, Layout(ids, types), values)

    def decode_values(self, data: bytes, ccsid: int, wanted: frozenset[int]) -> Values:
        """Only the wanted parameters of the one message that ``data`` holds. All of it is verified, as in ``decode``.

        Character sets are looked up only for wanted texts, so an unknown one elsewhere does no harm.
        """
        key = (len(data), ccsid, data[4:16], data[32:36], wanted)
        shapes = self._shapes.get(key)
        if shapes is not None:
            number = int.from_bytes(data, "little")
            for shape in shapes:
                if number & shape.mask == shape.compared:
                    kind, sequence, control, comp_code, reason, *column = shape.plain(data)
                    for place, convert in shape.converters:
                        column[place] = convert(column[place])
                    column += map(getitem, shape.texts, shape.raw_texts(data))
                    if shape.pairs is not None:
                        numbers = iter(shape.pairs(data))
                        column += zip(numbers, numbers, strict=True)
                    layout = shape.layout
                    if layout.repeats:
                        values, repeated = first_and_repeated(layout.ids, layout.in_order(column))
                        return Values(kind, shape.command, sequence, control, comp_code, reason, values, repeated)
                    values = dict(zip(layout.ids_of_column, column, strict=True))
                    return Values(kind, shape.command, sequence, control, comp_code, reason, values)
        header = read_header(data)
        walk = Walk(data, header.order, mq.MQCFH_STRUC_LENGTH, ccsid, self._pool)
        ids, _, values_there = walk.structures(header.parameter_count, wanted)
        _check_end(data, walk.at, header.parameter_count)
        self._learn(key, walk, wanted)
        _, kind, command, sequence, control, comp_code, reason, _ = header
        values, repeated = first_and_repeated(ids, values_there)
        return Values(kind, command, sequence, control, comp_code, reason, values, repeated)

    def decode_all(self, data: bytes, ccsid: int) -> Iterator[Message | PcfError]:
        """The messages that stand one after another in ``data``, as in a file of them.

        A damaged message comes as its PcfError, with the offset in ``data``; reading goes on with the next thing that
        looks like a message header.
        """
        at = 0
        while at < len(data):
            try:
                header = read_header(data, at)
                walk = Walk(data, header.order, at + mq.MQCFH_STRUC_LENGTH, ccsid, self._pool)
                ids, types, column = walk.structures(header.parameter_count, None)
            except PcfError as error:
                yield error
                at = _next_header(data, max(at + 4, error.offset))
            else:
                _, kind, command, sequence, control, comp_code, reason, _ = header
                yield DecodedMessage(kind, command, sequence, control, comp_code, reason, Layout(ids, types), column)
                at = walk.at

    def _learn(self, key: _Key, walk: Walk, wanted: frozenset[int] | None) -> None:
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
        shape = compile_shape(walk.data, walk.order, walk.ccsid, wanted, self._pool)
        if shape is None:
            return
        while self._kept >= MOST_SHAPES:
            self._forget(next(iter(self._shapes)))
        self._shapes.setdefault(key, []).append(shape)
        self._kept += 1

    def _forget(self, key: _Key) -> None:
        self._kept -= len(self._shapes.pop(key))
        self._misses.pop(key, None)


def _check_end(data: bytes, at: int, count: int) -> None:
    if at != len(data):
        raise PcfError(at, f"the end of the message after its {count} parameters, not {len(data) - at} more bytes")


def _next_header(data: bytes, at: int) -> int:
    """Where, from ``at`` on, the next message may begin: a known header type, 36, and a version in the same order."""
    while True:
        big = data.find(b"\0\0\0\x24\0\0\0", at + 4)
        little = data.find(b"\x24\0\0\0", at + 4)
        found = min((place for place in (big, little) if place >= 0), default=-1)
        if found < 0:
            return len(data)
        order: Literal["big", "little"] = "big" if found == big else "little"
        kind = int.from_bytes(data[found - 4 : found], order, signed=True)
        if kind in HEADERS and int.from_bytes(data[found + 4 : found + 8], order) in {1, 2, 3}:
            return found - 4
        at = found - 3
