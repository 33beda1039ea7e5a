"""An engine that takes remote write: it reads the real bytes by a decoder of its own, and keeps what it took.

As Prometheus it takes a request as a whole or nothing of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

STALE = 0x7FF0000000000002
"""The bits of the value that ends a series."""

Key = tuple[tuple[str, str], ...]
"""The labels of a series, its name among them."""

Refuses = Callable[[Key, int], str]
"""(labels, ms UTC) -> why this sample is refused; empty: it is taken."""


def unsnap(data: bytes) -> bytes:
    """What a block of snappy holds, by the description of its format. Raises ValueError."""
    size, place = _varint(data, 0)
    out = bytearray()
    while place < len(data):
        tag = data[place]
        place += 1
        kind, length = tag & 3, tag >> 2
        if kind == 0:
            if length >= 60:
                more = length - 59
                length = int.from_bytes(data[place : place + more], "little")
                place += more
            out += data[place : place + length + 1]
            place += length + 1
            continue
        if kind == 1:
            count, back = (length & 7) + 4, (tag >> 5) << 8 | data[place]
            place += 1
        else:
            bytes_ = 2 if kind == 2 else 4
            count, back = length + 1, int.from_bytes(data[place : place + bytes_], "little")
            place += bytes_
        if not 0 < back <= len(out):
            raise ValueError("a copy of what is not there")
        for _ in range(count):
            out.append(out[-back])
    if len(out) != size:
        raise ValueError(f"{len(out)} bytes instead of {size}")
    return bytes(out)


def fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a protobuf message: number and content, of eight bytes or more as bytes. Raises ValueError."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        match tag & 7:
            case 0:
                value, place = _varint(data, place)
                yield tag >> 3, value
            case 1:
                yield tag >> 3, data[place : place + 8]
                place += 8
            case 2:
                size, place = _varint(data, place)
                if place + size > len(data):
                    raise ValueError("a field is longer than its message")
                yield tag >> 3, data[place : place + size]
                place += size
            case other:
                raise ValueError(f"wire type {other}")


def series_in(data: bytes) -> list[tuple[Key, list[tuple[int, int]]]]:
    """The series of a WriteRequest: labels, and samples as (ms UTC, bits of the value). Raises ValueError."""
    found = []
    for number, content in fields(data):
        assert number == 1
        assert isinstance(content, bytes)
        labels: list[tuple[str, str]] = []
        samples: list[tuple[int, int]] = []
        for part, inside in fields(content):
            assert isinstance(inside, bytes)
            if part == 1:
                texts = {each: text.decode() for each, text in fields(inside) if isinstance(text, bytes)}
                labels.append((texts.get(1, ""), texts.get(2, "")))
            else:
                parts = dict(fields(inside))
                value = parts.get(1, bytes(8))
                ts = parts.get(2, 0)
                assert isinstance(value, bytes)
                assert isinstance(ts, int)
                samples.append((ts - (1 << 64) if ts >> 63 else ts, int.from_bytes(value, "little")))
        found.append((tuple(labels), samples))
    return found


def value_of(bits: int) -> float:
    """The value that these bits are."""
    return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return number, place
        shift += 7


@dataclass
class Engine:
    """What it took, by series and time (bits of the values), and all that it was offered first, in that order.

    ``conflicts`` are samples that came with another value before, ``repeats`` counts those that came again as they were.
    ``strict``: as Prometheus without a window, a series takes no sample from before its newest one.
    """

    strict: bool = False
    refuses: Refuses = lambda _, __: ""
    taken: dict[Key, dict[int, int]] = field(default_factory=dict)
    offered: dict[Key, dict[int, int]] = field(default_factory=dict)
    conflicts: list[tuple[Key, int]] = field(default_factory=list)
    repeats: int = 0
    requests: int = 0
    refusals: int = 0

    def take(self, body: bytes) -> tuple[int, str]:
        """The status and the text of the answer to a request."""
        self.requests += 1
        series = series_in(unsnap(body))
        for key, samples in series:
            names = [name for name, _ in key]
            assert names == sorted(set(names)), "labels stand in the order of their names, each once"
            assert all(name and value for name, value in key)
            times = [ts for ts, _ in samples]
            assert times
            assert times == sorted(set(times)), "the samples of a series rise in time"
            for ts, bits in samples:
                self.offered.setdefault(key, {}).setdefault(ts, bits)
        for key, samples in series:
            for ts, bits in samples:
                if why := self._refusal(key, ts, bits):
                    self.refusals += 1
                    return 400, why
        for key, samples in series:
            own = self.taken.setdefault(key, {})
            for ts, bits in samples:
                if own.get(ts, bits) != bits:
                    self.conflicts.append((key, ts))
                self.repeats += ts in own
                own[ts] = bits
        return 204, ""

    def _refusal(self, key: Key, ts: int, bits: int) -> str:
        if why := self.refuses(key, ts):
            return why
        if not self.strict:
            return ""
        own = self.taken.get(key, {})
        newest = max(own, default=ts)
        if ts < newest:
            return "out of order sample"
        return "duplicate sample for timestamp" if own.get(ts, bits) != bits else ""

    def values(self, key: Key) -> dict[int, float]:
        """The samples of a series by time, without the markers of its end."""
        return {ts: value_of(bits) for ts, bits in self.taken.get(key, {}).items() if bits != STALE}

    def ends(self, key: Key) -> list[int]:
        """When a series ended."""
        return sorted(ts for ts, bits in self.taken.get(key, {}).items() if bits == STALE)

    def named(self, name: str) -> list[Key]:
        """The series of a name."""
        return [key for key in self.taken if dict(key)["__name__"] == name]
