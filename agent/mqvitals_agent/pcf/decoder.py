"""Bytes to messages: fast for what repeats, careful with everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.pcf.message import DecodedMessage, Layout, Message, Values, first_and_repeated
from mqvitals_agent.pcf.shape import Shape, compile_shape
from mqvitals_agent.pcf.text import TextPool
from mqvitals_agent.pcf.walk import HEADERS, Columns, Header, Walk, read_header

MOST_OF_SHAPES: Final = 16_000_000
"""About how many bytes the shapes of one decoder may take: one or two thousand of them."""
LONGEST: Final = 32_000
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

    The byte order is told from the data. The texts of a structure whose CCSID is 0 are in that of the message
    descriptor, ``ccsid``. All methods raise PcfError and nothing else, whatever the bytes. One decoder serves one
    thread; it is worth keeping, for a fresh one knows no shapes.

    ``lenient``: texts in an unknown character set are decoded for their invariant characters; ``take_unknown`` says
    which it was. Otherwise they are PcfErrors.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        self._pool = TextPool(lenient=lenient)
        self._shapes: dict[_Key, list[Shape]] = {}
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
        _, kind, command, sequence, control, comp_code, reason, _ = header
        return DecodedMessage(kind, command, sequence, control, comp_code, reason, Layout(ids, types), column)

    def decode_values(self, data: bytes, ccsid: int, wanted: frozenset[int]) -> Values:
        """Only the wanted parameters of the one message that ``data`` holds. All of it is verified, as in ``decode``.

        Character sets are looked up only for wanted texts, so an unknown one elsewhere does no harm.
        """
        key = (len(data), ccsid, data[4:16], data[32:36], wanted)
        shape = self._shape(key, data)
        if shape is not None:
            kind, sequence, control, comp_code, reason, column = shape.read(data)
            layout = shape.layout
            if not layout.repeats:
                return Values(kind, shape.command, sequence, control, comp_code, reason, None, (), layout, column)
            values, repeated = first_and_repeated(layout.ids, column)
            return Values(kind, shape.command, sequence, control, comp_code, reason, values, repeated)
        header, (ids, _, column) = self._walk(key, data)
        _, kind, command, sequence, control, comp_code, reason, _ = header
        values, repeated = first_and_repeated(ids, column)
        return Values(kind, command, sequence, control, comp_code, reason, values, repeated)

    def take_unknown(self) -> int:
        """The CCSID of an unknown character set that texts were in since the last call; 0: there was none."""
        found, self._pool.unknown = self._pool.unknown, 0
        return found

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
                # Structures before the one with the error were sound, so they are not looked at again.
                found = _A_HEADER.search(data, max(at + 1, error.offset - _DEEPEST_FIELD))
                at = found.start() if found else len(data)
            else:
                _, kind, command, sequence, control, comp_code, reason, _ = header
                yield DecodedMessage(kind, command, sequence, control, comp_code, reason, Layout(ids, types), column)
                at = walk.at

    def _shape(self, key: _Key, data: bytes) -> Shape | None:
        """The kept shape that this message has."""
        shapes = self._shapes.get(key)
        if shapes is not None:
            number = int.from_bytes(data, "little")
            for shape in shapes:
                if number & shape.mask == shape.compared:
                    return shape
        return None

    def _walk(self, key: _Key, data: bytes) -> tuple[Header, Columns]:
        """Read a message carefully, to its end, and learn its shape."""
        _, ccsid, _, _, wanted = key
        header = read_header(data)
        walk = Walk(data, header.order, mq.MQCFH_STRUC_LENGTH, ccsid, self._pool)
        columns = walk.structures(header.parameter_count, wanted)
        if walk.at != len(data):
            rest = len(data) - walk.at
            raise PcfError(
                walk.at, f"the end of the message after its {header.parameter_count} parameters, not {rest} more bytes"
            )
        # A kept shape does not look its character sets up again, and nobody would hear of an unknown one.
        if len(data) <= LONGEST and not self._pool.unknown:
            self._learn(key, data, header)
        return header, columns

    def _learn(self, key: _Key, data: bytes, header: Header) -> None:
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
        while self._size + shape.size > MOST_OF_SHAPES:
            self._forget(next(iter(self._shapes)))
        self._shapes.setdefault(key, []).append(shape)
        self._size += shape.size

    def _forget(self, key: _Key) -> None:
        self._size -= sum(shape.size for shape in self._shapes.pop(key))
        self._misses.pop(key, None)
