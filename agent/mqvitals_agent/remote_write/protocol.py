"""The bytes of remote write 1.0: a WriteRequest as protobuf, compressed as a block of snappy.

The descriptor is built at import, so no generated module and no compiler is needed. Labels are encoded by the protobuf
package, once for each metric and once for each object: messages may be cut between fields, so a series is the bytes of both
one after another, and of its samples. That takes a tenth of the time in which the package makes a message for each series.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import cramjam
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

HEADERS: Final[Mapping[str, str]] = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
"""What every request says of its body."""

STALE: Final = struct.pack("<Q", 0x7FF0000000000002)
"""The value that ends a series, eight bytes as they are sent: one NaN of many, which no calculation gives."""

_PACKAGE: Final = "prometheus"
_TEXT, _DOUBLE, _INT64, _MESSAGE = (
    FieldDescriptorProto.TYPE_STRING,
    FieldDescriptorProto.TYPE_DOUBLE,
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_MESSAGE,
)
_FIELDS: Final[Mapping[str, Sequence[tuple[str, int, Any, str]]]] = {
    "Label": (("name", 1, _TEXT, ""), ("value", 2, _TEXT, "")),
    "Sample": (("value", 1, _DOUBLE, ""), ("timestamp", 2, _INT64, "")),
    "TimeSeries": (("labels", 1, _MESSAGE, "Label"), ("samples", 2, _MESSAGE, "Sample")),
    "WriteRequest": (("timeseries", 1, _MESSAGE, "TimeSeries"),),
}
"""Message -> its fields: name, number, type, and the message that it holds, any number of times."""

_SERIES, _SAMPLE, _VALUE, _TIMESTAMP = b"\x0a", b"\x12", b"\x09", b"\x10"
"""The tags of WriteRequest.timeseries, TimeSeries.samples, Sample.value and Sample.timestamp."""

Labels = Iterable[tuple[str, str]]
pack = struct.Struct("<d").pack
"""The eight bytes of a value."""


def _messages() -> Mapping[str, Any]:
    described = FileDescriptorProto(name="remote_write.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _FIELDS.items():
        message = described.message_type.add(name=name)
        for field, number, kind, held in fields:
            message.field.add(
                name=field,
                number=number,
                type=kind,
                label=FieldDescriptorProto.LABEL_REPEATED if held else FieldDescriptorProto.LABEL_OPTIONAL,
                type_name=f".{_PACKAGE}.{held}" if held else None,
            )
    pool = DescriptorPool()
    pool.Add(described)
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _FIELDS}


_MESSAGES: Final = _messages()


def message(name: str) -> Any:
    """An empty message of the protocol: ``WriteRequest``, ``TimeSeries``, ``Label``, ``Sample``."""
    return _MESSAGES[name]()


class Series(NamedTuple):
    """One or several series, as they stand in a request; how many samples, and the times of the first and the last (ms UTC)."""

    data: bytes
    samples: int
    first: int
    last: int


def encode_labels(labels: Labels) -> bytes:
    """Labels as a part of a series, in the order given. What is no Unicode is replaced."""
    series = message("TimeSeries")
    for name, value in labels:
        series.labels.add(name=name, value=value.encode("utf-8", "replace").decode())
    return bytes(series.SerializeToString())


@lru_cache(maxsize=4096)
def varint(number: int) -> bytes:
    """A whole number of up to 64 bits as protobuf writes it."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


@lru_cache(maxsize=4096)
def frame_of(ts: int) -> tuple[bytes, bytes]:
    """What stands before and after the eight bytes of the value of a sample at ``ts``, ms UTC."""
    after = _TIMESTAMP + varint(ts)
    return _SAMPLE + varint(len(_VALUE) + 8 + len(after)) + _VALUE, after


def encode_sample(ts: int, value: float) -> bytes:
    """A sample as a part of a series."""
    before, after = frame_of(ts)
    return before + pack(value) + after


def encode_stale(ts: int) -> bytes:
    """The marker that a series ends at ``ts``, ms UTC."""
    before, after = frame_of(ts)
    return before + STALE + after


def series_of(labels: bytes, samples: bytes) -> bytes:
    """A series of encoded labels and samples, as it stands in a request."""
    return _SERIES + varint(len(labels) + len(samples)) + labels + samples


def compress(series: Iterable[bytes]) -> bytes:
    """The body of a request with these series."""
    return bytes(cramjam.snappy.compress_raw(b"".join(series)))


class DecodedSeries(NamedTuple):
    """A series as it was decoded: its labels, and its samples as (ms UTC, the eight bytes of the value)."""

    labels: tuple[tuple[str, str], ...]
    samples: tuple[tuple[int, bytes], ...]

    @property
    def name(self) -> str:
        """Name and labels, as PromQL writes them."""
        labels = dict(self.labels)
        name = labels.pop("__name__", "")
        listed = ", ".join(f'{key}="{value}"' for key, value in labels.items())
        return f"{name}{{{listed}}}"


def decode_request(data: bytes) -> list[DecodedSeries]:
    """The series of a request that is not compressed. Raises google.protobuf.message.DecodeError."""
    request = _MESSAGES["WriteRequest"].FromString(data)
    return [
        DecodedSeries(
            tuple((label.name, label.value) for label in each.labels),
            # Read by the package as a number, a NaN keeps its bits.
            tuple((sample.timestamp, pack(sample.value)) for sample in each.samples),
        )
        for each in request.timeseries
    ]


def halves_of(series: Series) -> tuple[Series, Series]:
    """Series of several samples as two parts, the earlier samples first, or the first series. Raises ValueError for a single
    sample.
    """
    if series.samples < 2:
        raise ValueError("a single sample has no halves")
    decoded = decode_request(series.data)
    times = sorted({ts for each in decoded for ts, _ in each.samples})
    if len(times) > 1:
        middle = times[len(times) // 2]
        first = [each._replace(samples=tuple(one for one in each.samples if one[0] < middle)) for each in decoded]
        second = [each._replace(samples=tuple(one for one in each.samples if one[0] >= middle)) for each in decoded]
        return _encoded(first), _encoded(second)
    # All of one time, and therefore each of another series.
    half = len(decoded) // 2
    return _encoded(decoded[:half]), _encoded(decoded[half:])


def _encoded(decoded: Sequence[DecodedSeries]) -> Series:
    """Series that were decoded, without those that have no sample."""
    data = b"".join(
        series_of(
            encode_labels(each.labels),
            b"".join(before + value + after for ts, value in each.samples for before, after in (frame_of(ts),)),
        )
        for each in decoded
        if each.samples
    )
    times = [ts for each in decoded for ts, _ in each.samples]
    return Series(data, len(times), min(times), max(times))
