"""Records made by hand, in every form in which a file may hold them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from mqsamples.group import BEGIN, EVERYTHING
from mqsamples.once import Once
from mqvitals_agent.simulator.model import SimulatedGroup
from mqvitals_agent.simulator.scenario import Scenario, load_scenario
from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.smf.section import LAYOUTS

EPOCH_US = 2_208_988_800_000_000
NOON_US = 1_772_366_400_000_000
"""2026-03-01 12:00 UTC."""


def tod(us: int) -> int:
    """A TOD stamp of microseconds since 1970."""
    return (us + EPOCH_US) << 12


def ebcdic(text: str, size: int) -> bytes:
    """Text of a fixed length."""
    return text.encode("cp037").ljust(size, b"\x40")


def standard(
    number: int, *, start_us: int, local_us: int, length_us: int, chinit: bool, flags: int = 0, sequence: int = 7
) -> bytes:
    """A standard section in its long form; ``local_us`` is what local time is ahead of UTC."""
    head = bytes([0, 52, 1, 0xE7 if chinit else 0x1A, 0, 1, number, 0])
    end = tod(start_us + length_us).to_bytes(8, "big")
    middle = bytes(4) + ebcdic("MQ01", 4) + end + bytes(4) + sequence.to_bytes(4, "big") + bytes([flags, 0, 0, 0])
    duration = length_us << 12 if chinit else length_us
    return head + middle + tod(start_us + local_us).to_bytes(8, "big") + duration.to_bytes(8, "big")


def thread_standard(number: int, *, end_us: int = NOON_US, user: str = "PAYUSER") -> bytes:
    """A standard section in its short form, with the identity of a CICS thread behind it; it tells no interval."""
    head = bytes([0, 36, 1, 0x1A, 0, 3, number, 0, 0, 0, 0, 0]) + ebcdic("MQ01", 4) + tod(end_us).to_bytes(8, "big")
    context = bytes([0, 92, 0, 0]) + ebcdic(user, 8) + bytes(range(12)) + ebcdic("CICSA", 8) + bytes(8)
    context += ebcdic("OPER", 8) + bytes([0, 0, 0, 1]) + bytes(22) + bytes(16) + bytes(2)
    return head + bytes(12) + context


STORAGE_STANDARD = bytes([0, 1, 1, 0x80])
"""What stands for the standard section in records of storage: they tell no time but the header's."""


def taken_at(local_us: int) -> bytes:
    """Time and date of a record's header: 1/100 s since midnight, then ``0cyydddF``."""
    at = datetime.fromtimestamp(local_us // 1_000_000, UTC)
    hundredths = (at.hour * 3600 + at.minute * 60 + at.second) * 100 + local_us % 1_000_000 // 10_000
    return hundredths.to_bytes(4, "big") + bytes.fromhex(f"0{at.year // 100 - 19}{at:%y%j}f")


def record(
    kind: int,
    subtype: int,
    sections: Mapping[int, Iterable[bytes]],
    *,
    number: int = 0,
    start_us: int = NOON_US,
    local_us: int = 0,
    length_us: int = 1_800_000_000,
    release: str = "940",
    flags: int = 0,
    sequence: int | None = None,
    t0: bytes | None = None,
) -> bytes:
    """A whole record with its descriptor word: ``sections`` by the number of their triplet; ``t0``: its standard section.

    Its number among its queue manager's is ``sequence``; by default it rises by one a second, and is 7 at noon.
    """
    slots = max([number - 1, *sections, 0]) + 1
    chinit = (kind, subtype) in ((115, 231), (116, 10))
    head = bytes([0x5E, kind]) + taken_at(start_us + (length_us if t0 is None else 0) + local_us)
    t0 = t0 or standard(
        number or slots,
        start_us=start_us,
        local_us=local_us,
        length_us=length_us,
        chinit=chinit,
        flags=flags,
        sequence=max(7 + (start_us - NOON_US) // 1_000_000, 1) if sequence is None else sequence,
    )
    at = 28 + 8 * slots
    triplets, body = [b""] * slots, b""
    for index in range(1, slots):
        instances = list(sections.get(index, ()))
        length = len(instances[0]) if instances else 0
        place = at + len(body) if instances else 0
        triplets[index] = place.to_bytes(4, "big") + length.to_bytes(2, "big") + len(instances).to_bytes(2, "big")
        body += b"".join(instances)
    triplets[0] = (at + len(body)).to_bytes(4, "big") + len(t0).to_bytes(2, "big") + b"\0\1"
    head += ebcdic("MV01", 4) + ebcdic("MQ01", 4) + subtype.to_bytes(2, "big") + ebcdic(release, 3) + b"\0"
    data = head + b"".join(triplets) + body + t0
    return (len(data) + 4).to_bytes(2, "big") + b"\0\0" + data


def section(size: int, values: Mapping[int, tuple[int, int]] | None = None) -> bytes:
    """A section of zeros but for ``values``: offset to (bytes, number)."""
    data = bytearray(size)
    for offset, (length, value) in (values or {}).items():
        data[offset : offset + length] = value.to_bytes(length, "big")
    return bytes(data)


def pool(number: int = 3, buffers: int = 50_000, low: int = 600, free: int = 9_000, **more: int) -> bytes:
    """A QPST of 104 bytes; ``more`` by offset: ``at52=3``."""
    values = {8: (4, number), 12: (4, buffers), 16: (4, low), 20: (4, free)}
    values |= {int(name[2:]): (4, value) for name, value in more.items()}
    return section(104, values)


def dump_record(kind: int) -> bytes:
    """The header (2) or trailer (3) of a dump."""
    return b"\0\x12\0\0\x1e" + bytes([kind]) + bytes(12)


def spanned(data: bytes, *sizes: int) -> bytes:
    """A record in segments: ``sizes`` of all but the last one, descriptor words not counted."""
    body, parts = data[4:], []
    for size in sizes:
        parts.append(body[:size])
        body = body[size:]
    parts.append(body)
    found = b""
    for index, part in enumerate(parts):
        code = 1 if index == 0 else 2 if index == len(parts) - 1 else 3
        found += (len(part) + 4).to_bytes(2, "big") + bytes([code, 0]) + part
    return found


def blocks(*contents: bytes, extended: bool = False) -> bytes:
    """Each of ``contents`` (records with descriptor words) as a block."""
    found = b""
    for each in contents:
        size = len(each) + 4
        found += ((1 << 31) | size).to_bytes(4, "big") if extended else size.to_bytes(2, "big") + b"\0\0"
        found += each
    return found


@pytest.fixture(scope="session")
def simulated(built_once: Once) -> Path:
    """Four minutes of a simulated group full of trouble: all that its queue managers and channel initiators write."""
    return built_once.built("simulated.smf", lambda path: path.write_bytes(written(EVERYTHING)))


@pytest.fixture(scope="session")
def quiet(built_once: Once) -> Path:
    """The same of minutes in which nothing is wrong."""
    return built_once.built("quiet.smf", lambda path: path.write_bytes(written(load_scenario("quiet"))))


@pytest.fixture(scope="session")
def every_section(built_once: Once, simulated: Path) -> Path:
    """The simulated records, and records of the sections that a simulated group does not write, with any numbers."""
    chance = Random(115)

    def filled(layout: str) -> bytes:
        size = max(field.offset + field.length + (field.times - 1) * field.step for field in LAYOUTS[layout].fields)
        data = bytearray(size)
        for field in LAYOUTS[layout].fields:
            for number in range(field.times):
                at = field.offset + number * field.step
                if field.form in ("ebc", "hex"):
                    data[at : at + field.length] = ebcdic(field.name.upper(), field.length)[: field.length]
                elif field.form == "tod":
                    data[at : at + 8] = tod(NOON_US + chance.randrange(10**9)).to_bytes(8, "big")
                else:
                    length = min(field.length, 4)
                    data[at + field.length - length : at + field.length] = chance.randbytes(length)
        return bytes(data)

    def build(path: Path) -> None:
        more = [
            record(115, 216, {1: [filled("QQST"), filled("QQST")]}),
            record(115, 5, {1: [filled("QSPH"), filled("QSPH")]}, t0=STORAGE_STANDARD),
            record(115, 6, {1: [filled("QSGM"), filled("QSGM")]}, t0=STORAGE_STANDARD),
            record(115, 7, {1: [filled("QSRS")]}, t0=STORAGE_STANDARD),
            record(116, 0, {2: [filled("QMAC")]}, t0=thread_standard(3)),
            record(116, 1, {1: [filled("WTID")], 2: [filled("WTAS")], 3: [filled("WQST")]}, t0=thread_standard(4)),
        ]
        path.write_bytes(simulated.read_bytes() + b"".join(more))

    return built_once.built("every-section.smf", build)


def written(scenario: Scenario) -> bytes:
    """What a simulated group writes in four intervals of a minute."""
    stream = io.BytesIO()
    writer = SmfWriter(SimulatedGroup(scenario, BEGIN, seed=1), stream, 60_000)
    writer.write_due(BEGIN + 4 * 60_000)
    return stream.getvalue()


@pytest.fixture
def smf() -> Any:
    """What makes records."""
    return SimpleNamespace(
        record=record,
        section=section,
        pool=pool,
        thread_standard=thread_standard,
        STORAGE_STANDARD=STORAGE_STANDARD,
        dump_record=dump_record,
        spanned=spanned,
        blocks=blocks,
        tod=tod,
        taken_at=taken_at,
        ebcdic=ebcdic,
        NOON_US=NOON_US,
    )
