"""Recordings with messages that no queue manager would send: structures with other values, bytes changed, lines mangled."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Sequence
from typing import Any

HOSTILE = (
    "", "/", "//", "a/b", "-x", "=1+2", "..", "a\nb", "\0", "\t", "\x1b[2J", "[/x]", "%s", "{0}", "$x", "'\";", "*", "?",
    "*" * 40, "x" * 48, " lead", "trail ", "ä", "QM01", "QM01/queue/X", "SYSTEM.", "日本", "\ufffe", "-1", "1e400", "NaN",
)  # fmt: skip
"""Texts that name things."""

NUMBERS = (0, 1, -1, -2, -3, 2**31 - 1, -(2**31), 999_999_999, 1_000_000_000, 2, 7, 100, 65535)
LONG_NUMBERS = (0, -1, 2**63 - 1, -(2**63), 2**62, 2**53 + 1, 10**18)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 1.5, 1e308, [], {}, [[]],
    {"a": 1}, "00", "0", "zz", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2026-02-30T00:00:00Z", *HOSTILE,
)  # fmt: skip

CFH = 36
_INTEGER, _STRING, _INTEGER_LIST, _STRING_LIST = 3, 4, 5, 6
_BYTES, _GROUP, _INTEGER64, _INTEGER64_LIST = 9, 20, 23, 25


class Mutator:
    """Mutations drawn from one seed; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def recording(self, lines: Sequence[str], messages: int) -> bytes:
        """A recording of ``lines``, whole but for its header, with at least so many mutated messages."""
        out = [lines[0].encode()]
        count = 0
        while count < messages:
            for line in lines[1:]:
                exchange = json.loads(line)
                for reply in exchange.get("replies") or ():
                    if self.chance.random() < 0.7:
                        reply["data"] = self.message(bytes.fromhex(reply["data"])).hex()
                        count += 1
                data = json.dumps(exchange).encode()
                out.append(self.line(exchange, data) if self.chance.random() < 0.05 else data)
        return b"\n".join(out) + b"\n"

    def line(self, exchange: dict[str, Any], data: bytes) -> bytes:
        """A line with one key or byte changed, or cut."""
        how = self.chance.random()
        if how < 0.7:
            where = exchange
            if exchange.get("replies") and self.chance.random() < 0.3:
                where = self.chance.choice(exchange["replies"])
            where[self.chance.choice(list(where))] = self.chance.choice(VALUES)
            return json.dumps(where if how < 0.05 else exchange).encode()
        if how < 0.9:
            place = self.chance.randrange(len(data))
            return data[:place] + bytes([self.chance.randrange(256)]) + data[place + 1 :]
        return data[: self.chance.randrange(len(data))]

    def message(self, data: bytes) -> bytes:
        """A message with a few structures changed, and sometimes bytes or the length."""
        found = bytearray(data)
        for _ in range(self.chance.choice((1, 1, 2, 5))):
            places = structures(found)
            if places:
                self._structure(found, *self.chance.choice(places))
        how = self.chance.random()
        if how < 0.06 and found:
            for _ in range(self.chance.choice((1, 3, 20))):
                found[self.chance.randrange(len(found))] = self.chance.choice(
                    (0, 0xFF, 0x7F, 0x80, self.chance.randrange(256))
                )
        elif how < 0.08:
            del found[self.chance.randrange(len(found) + 1) :]
        elif how < 0.1:
            found += bytes(self.chance.randrange(40))
        return bytes(found)

    def _structure(self, data: bytearray, offset: int, kind: int, length: int) -> None:
        """Another value of the same length; of a number sometimes one of 64 bits."""
        if kind == _INTEGER and length == 16:
            if self.chance.random() < 0.2:
                number = struct.unpack_from(">i", data, offset + 8)[0]
                wide = struct.pack(">4iq", _INTEGER64, 24, number, 0, self.chance.choice(LONG_NUMBERS))
                data[offset : offset + length] = wide
            else:
                struct.pack_into(">i", data, offset + 12, self.chance.choice(NUMBERS))
        elif kind == _INTEGER_LIST and length > 16:
            place = offset + 16 + 4 * self.chance.randrange((length - 16) // 4)
            struct.pack_into(">i", data, place, self.chance.choice(NUMBERS))
        elif kind in (_INTEGER64, _INTEGER64_LIST) and length >= 24:
            struct.pack_into(">q", data, offset + 16, self.chance.choice(LONG_NUMBERS))
        elif kind == _STRING and length > 20:
            self._text(data, offset + 20, length - 20)
        elif kind == _STRING_LIST and length > 24:
            self._text(data, offset + 24, length - 24)
        elif kind == _BYTES and length > 16:
            data[offset + 16 : offset + length] = self.chance.randbytes(length - 16)

    def _text(self, data: bytearray, place: int, length: int) -> None:
        if self.chance.random() < 0.3:
            data[place : place + length] = bytes(
                self.chance.choice((0, 0x40, 0x61, 0x15, 0x27, 0xFF)) for _ in range(length)
            )
            return
        text = self.chance.choice(HOSTILE).encode("cp500", "replace").ljust(length, b"\x40")
        data[place : place + length] = text[:length]


def structures(data: bytes | bytearray) -> list[tuple[int, int, int]]:
    """The place, type and length of each structure of a message whose numbers are in z/OS's order."""
    found = []
    offset = CFH
    while offset + 8 <= len(data):
        kind, length = struct.unpack_from(">2i", data, offset)
        if length < 8 or offset + length > len(data):
            break
        found.append((offset, kind, length))
        # A group has its members behind it.
        offset += length
    return found
