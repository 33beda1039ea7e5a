"""Records of RMF, made by hand after the tables of IBM's SMF manual."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

EPOCH_US = 2_208_988_800_000_000
QUARTER_US = 900_000_000


def ebcdic(text: str, size: int) -> bytes:
    """Text of a fixed length."""
    return text.encode("cp037").ljust(size, b"\x40")


def hexfloat(value: float) -> bytes:
    """A number that is not negative as a long hexadecimal floating-point number."""
    exponent = 64
    while value >= 1:
        value, exponent = value / 16, exponent + 1
    while value and value < 1 / 16:
        value, exponent = value * 16, exponent - 1
    return bytes([exponent if value else 0]) + round(value * 16**14).to_bytes(7, "big")


def packed_date(us: int) -> bytes:
    """``0cyydddF``."""
    at = datetime.fromtimestamp(us // 1_000_000, UTC)
    return bytes.fromhex(f"0{at.year // 100 - 19}{at:%y%j}f")


def product(start_us: int, length_us: int, local_us: int, *, projected: bool = True) -> bytes:
    """The product section of an interval that began at ``start_us``, UTC."""
    local = start_us + local_us
    at = datetime.fromtimestamp(local // 1_000_000, UTC)
    minutes, rest = divmod(length_us // 1000, 60_000)
    data = bytearray(104)
    data[2:10] = ebcdic("RMF", 8)
    data[10:14] = bytes.fromhex(f"0{at:%H%M%S}f")
    data[14:18] = packed_date(local)
    data[18:22] = bytes.fromhex(f"{minutes:02d}{rest:05d}f")
    data[60:68] = (local_us << 12).to_bytes(8, "big", signed=True)
    if projected:
        data[80:88] = ((start_us + length_us + EPOCH_US) << 12).to_bytes(8, "big")
    data[88:96] = ebcdic("PLEX1", 8)
    return bytes(data)


def rmf_record(
    kind: int,
    subtype: int,
    sections: Mapping[int, Iterable[bytes]],
    *,
    start_us: int,
    length_us: int = QUARTER_US,
    local_us: int = 0,
    system: str = "MV01",
    triplets: int = 10,
    projected: bool = True,
) -> bytes:
    """A whole record with its descriptor word: ``sections`` by the number of their triplet behind the product section's."""
    taken = start_us + length_us + local_us
    at = datetime.fromtimestamp(taken // 1_000_000, UTC)
    hundredths = (at.hour * 3600 + at.minute * 60 + at.second) * 100
    head = (
        bytes([0x5E, kind]) + hundredths.to_bytes(4, "big") + packed_date(taken) + ebcdic(system, 4) + ebcdic("RMF", 4)
    )
    head += subtype.to_bytes(2, "big") + (triplets + 1).to_bytes(2, "big") + bytes(2)
    place = 36 + 8 * triplets
    first = product(start_us, length_us, local_us, projected=projected)
    where = place.to_bytes(4, "big") + len(first).to_bytes(2, "big") + b"\0\1"
    body = first
    for number in range(triplets):
        found = list(sections.get(number, ()))
        begin = place + len(body) if found else 0
        size = len(found[0]) if found else 0
        where += begin.to_bytes(4, "big") + size.to_bytes(2, "big") + len(found).to_bytes(2, "big")
        body += b"".join(found)
    data = head + where + body
    return (len(data) + 4).to_bytes(2, "big") + b"\0\0" + data


def processor(number: int, *, waited_us: int = 0, parked_us: int = 0, state: int = 0x09, type_: int = 0) -> bytes:
    """SMF70CPU."""
    data = bytearray(100)
    data[0:8] = (waited_us << 12).to_bytes(8, "big")
    data[8:10] = number.to_bytes(2, "big")
    data[10], data[15] = state, type_
    data[32:40] = (parked_us << 12).to_bytes(8, "big")
    return bytes(data)


def card(number: int, *, seconds: float, operations: float = 1000, scope: int | None = 0, valid: int = 0x80) -> bytes:
    """R702TYP3; ``scope`` None: of a release that does not tell it."""
    data = bytearray(48 if scope is None else 52)
    data[0], data[2] = number, valid
    data[8:16], data[16:24], data[24:32] = hexfloat(1 / 256), hexfloat(seconds * 256), hexfloat(operations)
    if scope is not None:
        data[48] = scope
    return bytes(data)


class Requests(NamedTuple):
    """The requests of a system to a structure, with the times of each sort in all (us)."""

    structure: str
    sync: float = 0
    sync_us: int = 0
    asynchronous: float = 0
    async_us: int = 0
    changed: float = 0
    delayed: float = 0
    delayed_us: int = 0

    def section(self) -> bytes:
        """R744SREQ."""
        data = bytearray(200)
        data[0:16] = ebcdic(self.structure, 16)
        data[24] = 1
        for at, count in (
            (44, self.changed),
            (52, self.sync + self.asynchronous),
            (68, self.asynchronous),
            (92, self.sync),
            (116, self.delayed),
        ):
            data[at : at + 8] = hexfloat(count)
        for at, time in ((76, self.async_us), (100, self.sync_us), (124, self.delayed_us)):
            data[at : at + 8] = time.to_bytes(8, "big")
        return bytes(data)


def facility(
    name: str, requests: Iterable[Requests], *, engines: Iterable[tuple[int, int]] = (), free: int | None = None
) -> Mapping[int, list[bytes]]:
    """The sections of a 74-4 record: busy and waiting time of each processor, ``free`` of 1,000 blocks of storage."""
    storage = [] if free is None else [bytes(8) + (1000).to_bytes(4, "big") + free.to_bytes(4, "big") + bytes(34)]
    return {
        0: [ebcdic(name, 8) + ebcdic("SYSA", 8) + bytes(100)],
        2: storage,
        4: [each.section() for each in requests],
        5: [bytes(4) + busy.to_bytes(4, "big") + waits.to_bytes(4, "big") + bytes(56) for busy, waits in engines],
    }


class Period(NamedTuple):
    """What a period of a class used: CPU and SRB time in all (s, at the speed of a general processor) and the part on zIIPs
    (s, at theirs), other times (us) and samples.
    """

    cpu_s: float = 0
    srb_s: float = 0
    ziip_s: float = 0
    other_us: float = 0
    delayed: int = 0
    samples: int = 0
    spaces: int = 0
    valid: int = 0xE0


def workload(
    name: str,
    periods: Iterable[Period],
    *,
    report: bool = True,
    flags: int = 0,
    cpu: float = 1.0,
    srb: float = 1.0,
    units_per_s: float = 50_000,
    ziip_speed: float = 1.0,
    taken: int = 3600,
    sizes: tuple[int, int] = (280, 816),
) -> Mapping[int, list[bytes]]:
    """The sections of a 72-3 record: the class, with its coefficients, and its periods, in their lengths ``sizes``."""
    rate = 16_000_000 / units_per_s
    head = bytearray(280)
    head[0] = (0x80 if report else 0) | flags
    for at, number in (
        (52, cpu * 10_000),
        (64, srb * 10_000),
        (72, taken),
        (172, rate),
        (240, 256),
        (244, ziip_speed * 256),
    ):
        head[at : at + 4] = round(number).to_bytes(4, "big")
    head[120:128] = ebcdic(name, 8)
    found = []
    for each in periods:
        data = bytearray(816)
        data[7] = each.valid
        for at, value in (
            (32, each.cpu_s * cpu * units_per_s),
            (56, each.srb_s * srb * units_per_s),
            (152, each.other_us),
            (160, each.other_us),
            (168, each.other_us),
            (388, each.samples),
            (544, each.ziip_s * cpu * units_per_s),
        ):
            data[at : at + 8] = hexfloat(value)
        for at, count in ((232, each.delayed), (288, each.spaces)):
            data[at : at + 4] = count.to_bytes(4, "big")
        found.append(bytes(data[: sizes[1]]))
    return {0: [bytes(head[: sizes[0]])], 3: found}
