"""The header of a record, its interval and its sections."""

from __future__ import annotations

import io
from typing import Any

import pytest

from mqvitals_agent.smf.layout.log_and_storage import QJST
from mqvitals_agent.smf.layout.statistics import QPST
from mqvitals_agent.smf.reader import ReadCounts, records
from mqvitals_agent.smf.record import SmfError, parse
from mqvitals_agent.smf.section import LAYOUTS, sections


@pytest.mark.parametrize(("kind", "subtype"), [(115, 215), (115, 231), (116, 10)])
@pytest.mark.parametrize("hours", [-6, 0, 1, 5.75])
def test_interval_in_utc(smf: Any, kind: int, subtype: int, hours: float) -> None:
    """Start, end and length are the same whichever unit the record uses and wherever the system stands."""
    ahead = int(hours * 3_600_000_000)
    data = smf.record(kind, subtype, {1: [smf.section(340)]}, local_us=ahead, length_us=1_799_999_911)
    found = parse(data, 99)
    assert (found.type, found.subtype, found.sysid, found.ssid, found.release) == (kind, subtype, "MV01", "MQ01", 940)
    assert (found.start_us, found.interval_us) == (smf.NOON_US, 1_799_999_911)
    assert found.end_us == smf.NOON_US + 1_799_999_911
    assert found.utc_offset_us == ahead
    assert (found.offset, found.sequence, found.more, found.qsg) == (99, (0, 7), False, None)
    assert found.date == (2026, 60)


def test_release_and_group_of_mq_10(smf: Any) -> None:
    """They stand in the extension behind the standard section, whatever the header says."""
    data = bytearray(smf.record(115, 215, {1: [smf.pool()]}, release="946"))
    data += b"\0\x10\x10\0" + smf.ebcdic("PRDQ", 4) + smf.ebcdic("100000", 6) + b"\0\0"
    data[32:34] = (68).to_bytes(2, "big")
    data[0:2] = len(data).to_bytes(2, "big")
    found = parse(bytes(data))
    assert (found.qsg, found.release) == ("PRDQ", 100_000)


def test_dns_task_that_the_count_leaves_out(smf: Any) -> None:
    """At V8 a sixth triplet follows, which the record's number does not count."""
    task = smf.section(48, {0: (4, 1), 4: (4, 17)})
    data = smf.record(115, 231, {1: [smf.section(48)], 5: [task]}, number=6)
    at = len(data) - 52 + 6
    data = data[:at] + b"\5" + data[at + 1 :]
    (dns,) = [each for each in sections(parse(data)) if each.layout.name == "QCTDNS"]
    assert dns.fields()["reqn"] == 17
    short = smf.record(115, 231, {1: [smf.section(48)], 5: [smf.section(40)]})
    assert "QCTDNS" not in {each.layout.name for each in sections(parse(short))}


@pytest.mark.parametrize("garbage", [b"\xff" * 8, b"\0\0\0\x50\0\x28\0\2", b"\0\0\0\0\0\0\0\1"])
def test_garbage_in_place_of_the_dns_task(smf: Any, garbage: bytes) -> None:
    """At V8 the place that the count leaves out may hold anything: the rest of the record is read, and nothing counted for it."""
    data = bytearray(smf.record(115, 231, {1: [smf.section(48)], 3: [smf.section(32)] * 2}, number=6))
    data[len(data) - 52 + 6] = 5
    data[28 + 5 * 8 : 28 + 6 * 8] = garbage
    tally = ReadCounts()
    (found,) = records(io.BytesIO(bytes(data)), tally)
    assert [each.layout.name for each in sections(found)] == ["QCCT", "QCTADP", "QCTADP"]
    assert tally.sections == {"QCCT": 1, "QCTADP": 2}
    assert not tally.damage


def test_several_instances(smf: Any) -> None:
    """One after another, numbered from 0, by the length that the triplet names even where it is longer than is known."""
    pools = [smf.pool(number) + bytes(20) for number in (0, 1, 77)]
    found = list(sections(parse(smf.record(115, 215, {1: pools}))))
    assert [(each.number, each.fields()["pool"]) for each in found] == [(0, 0), (1, 1), (2, 77)]


def test_sections_of_earlier_releases() -> None:
    """A field is read when it lies within the section's length, by whatever release."""
    assert QPST.shape(72).names[-1] == "sos"
    assert QPST.shape(76).names[-1] == "flags"
    assert "cp1n" not in QJST.shape(576).names
    assert QJST.shape(592).names[-1] == "hwe"
    assert QJST.shape(8).names == ()


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_fields_do_not_overlap(name: str) -> None:
    """In any table, arrays and their steps included; names are unique."""
    cells = LAYOUTS[name].shape(8192).elements
    ends = [cell.offset + cell.field.length for cell in cells]
    assert all(end <= cell.offset for end, cell in zip(ends, cells[1:], strict=False))
    assert len({cell.name for cell in cells}) == len(cells)


def test_numbers_and_texts(smf: Any) -> None:
    """Counters are unsigned up to their last bit; QQST's page set and pool may be -1; text has no blanks behind it."""
    queue = bytearray(smf.section(672, {60: (2, 0xFFFF), 62: (2, 0xFFFE), 80: (4, 0xFFFFFFFF)}))
    queue[8:56] = smf.ebcdic("PAY.IN", 48)
    (found,) = sections(parse(smf.record(115, 216, {1: [bytes(queue)]})))
    fields = found.fields()
    assert (fields["qnam"], fields["psid"], fields["bpid"], fields["dpth"]) == ("PAY.IN", -1, -2, 0xFFFFFFFF)


def test_what_cannot_be(smf: Any) -> None:
    """Each names the place in the file."""
    data = smf.record(115, 215, {1: [smf.pool()]})

    def spoilt(at: int, new: bytes) -> bytes:
        return bytes(data[:at] + new + data[at + len(new) :])

    cases = {
        "too short": data[:40],
        "is none of MQ's": spoilt(5, b"\x1e"),
        "no standard section": spoilt(28, bytes(8)),
        "outside a record": spoilt(36, b"\0\0\xff\0"),
        "says it has 0 sections": spoilt(len(data) - 52 + 6, b"\0"),
        "says it has 200 sections": spoilt(len(data) - 52 + 6, b"\xc8"),
        "which is none": spoilt(10, b"\xaa\xbb\xcc\xdd"),
        "too few": spoilt(32, b"\0\x10"),
    }
    for words, wrong in cases.items():
        with pytest.raises(SmfError, match=words) as told:
            parse(wrong, 4711)
        assert told.value.offset == 4711
