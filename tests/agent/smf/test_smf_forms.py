"""Whatever a transfer made of a dump, its records come out of it; damage costs what it touches."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.smf.framing import Framing, framing_of, raw_records
from mqvitals_agent.smf.reader import MOST_DAMAGE, ReadCounts, open_smf, records
from mqvitals_agent.smf.record import SmfError


def read(data: bytes) -> tuple[list[int], ReadCounts]:
    """The numbers of the pools, record by record, and the tally."""
    tally = ReadCounts()
    found = []
    for each in records(io.BytesIO(data), tally):
        offset = each.triplets[1].offset
        found.append(int.from_bytes(each.data[offset + 8 : offset + 12], "big"))
    return found, tally


@pytest.fixture
def four(smf: Any) -> list[bytes]:
    """A dump of four records, of pools 1 to 4."""
    return [smf.record(115, 215, {1: [smf.pool(number)]}) for number in (1, 2, 3, 4)]


def test_every_form_gives_the_same_records(smf: Any, four: list[bytes]) -> None:
    """With descriptor words, in blocks of either kind, spanned, and end to end."""
    head, tail = smf.dump_record(2), smf.dump_record(3)
    one, two, three, last = four
    forms = {
        Framing.RDW: [head + b"".join(four) + tail, one + smf.spanned(two, 60, 50) + smf.spanned(three, 30) + last],
        Framing.BDW: [
            smf.blocks(head, one + two, three, last + tail),
            smf.blocks(one + two, three + last, extended=True),
            smf.blocks(head + smf.spanned(one, 40), two + three, last + tail),
        ],
        Framing.BARE: [b"".join(each[4:] for each in (head, *four, tail))],
    }
    for form, files in forms.items():
        for data in files:
            assert framing_of(data) is form
            found, tally = read(data)
            assert (found, tally.damage) == ([1, 2, 3, 4], []), form


def test_a_spanned_record_across_blocks(smf: Any, four: list[bytes]) -> None:
    """Segments of one record lie in several blocks."""
    first, second = (four[1][4:80], four[1][80:])
    parts = [
        (len(first) + 4).to_bytes(2, "big") + b"\1\0" + first,
        (len(second) + 4).to_bytes(2, "big") + b"\2\0" + second,
    ]
    found, tally = read(smf.blocks(four[0] + parts[0], parts[1] + four[2]))
    assert (found, tally.damage) == ([1, 2, 3], [])


def test_compressed(smf: Any, four: list[bytes], tmp_path: Path) -> None:
    """Gzip is seen by its first bytes; where it is cut, what came before is kept and the rest is told of."""
    path = tmp_path / "smf.dat"
    data = gzip.compress(b"".join(four * 500))
    path.write_bytes(data)
    tally = ReadCounts()
    with open_smf(path) as stream:
        assert len(list(records(stream, tally))) == 2000
    assert not tally.damage
    path.write_bytes(data[: len(data) // 2])
    with open_smf(path) as stream:
        some = len(list(records(stream, tally)))
    assert some < 2000
    assert "cannot be decompressed" in str(tally.damage[-1])


@pytest.mark.parametrize("kind", ["rdw", "bare"])
def test_compressed_and_cut(smf: Any, tmp_path: Path, kind: str) -> None:
    """All that can be decompressed is read, in a small file too; where nothing can, that is what is said."""
    whole = [smf.record(115, 215, {1: [smf.pool(number)]}, sequence=number) for number in range(200)]
    data = b"".join(each if kind == "rdw" else each[4:] for each in whole)
    packed = gzip.compress(data, 0)  # stored as it is, so that the cut is where it seems
    path = tmp_path / "smf.dat"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    tally = ReadCounts()
    with open_smf(path) as stream:
        found = [each.sequence[1] for each in records(stream, tally)]
    assert found == list(range(len(found)))
    assert 145 <= len(found) <= 150
    assert [error.reason.split(":")[0] for error in tally.damage][-1].startswith("what follows cannot be decompressed")
    path.write_bytes(packed[:12])
    tally = ReadCounts()
    with open_smf(path) as stream:
        assert not list(records(stream, tally))
    assert [error.offset for error in tally.damage] == [0]
    assert "cannot be decompressed" in str(tally.damage[0])


def test_much_damage_is_counted(four: list[bytes]) -> None:
    """The first are told one by one; of the rest there is a number, so that memory does not grow with the file."""
    wrong = bytearray(four[1])
    wrong[10:14] = b"\xaa\xbb\xcc\xdd"  # its date is none
    found, tally = read(four[0] + bytes(wrong) * (MOST_DAMAGE + 5) + four[2])
    assert (found, tally.lost, len(tally.damage)) == ([1, 3], MOST_DAMAGE + 5, MOST_DAMAGE)
    assert f"damaged: {MOST_DAMAGE + 5:,}" in tally.lines()
    assert tally.lines()[-1] == "  and 5 more"


def test_a_zip_archive_is_refused(tmp_path: Path) -> None:
    """With what to do."""
    path = tmp_path / "smf.zip"
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(SmfError, match="unpack it first"), open_smf(path):
        pass


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\0\0\0\0" * 100, "no SMF records"),
        (b"Date,Time,LPAR,QMgr\n" * 50, "no SMF records"),
        (b"\0\x50" + "INMR01".encode("cp037") + bytes(72), "TSO TRANSMIT"),
        (b"\0\x60\0\0;s" + b"  " * 300, "transferred as text"),
        (b";s" + b"  " * 300, "transferred as text"),
    ],
)
def test_what_is_no_dump_is_refused(data: bytes, words: str) -> None:
    """One sentence says what it looks like."""
    with pytest.raises(SmfError, match=words):
        list(raw_records(io.BytesIO(data), lambda error: None))


def test_other_records_are_passed_over(smf: Any, four: list[bytes]) -> None:
    """Of other types, also such with the extended header and ones without subtypes."""
    other = b"\0\x40\0\0\x5e\x1e" + bytes(58)
    extended = b"\0\x40\0\0\x5e\x7e" + bytes(58)
    found, tally = read(four[0] + other + extended + four[1])
    assert found == [1, 2]
    assert tally.skipped == {30: 1, 126: 1}


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("wrong", [b"\xff\xff", b"\0\0", b"\0\x05", b"\0\x90", b"\1\0", b"\x7f\0"])
def test_a_wrong_length_costs_one_record(smf: Any, four: list[bytes], place: int, wrong: bytes) -> None:
    """The records behind it are found again, and the damage is told with its place."""
    four = four * 3
    at = 3 + place
    data = b"".join(four[:at]) + wrong + b"".join(four[at:])[2:]
    found, tally = read(data)
    kept = [1, 2, 3, 4] * 3
    lost = kept.pop(at)
    assert found in (kept, [*kept[:at], lost, *kept[at:]])
    assert tally.damage
    assert all(error.offset is not None for error in tally.damage)


def test_rubbish_between_records(smf: Any, four: list[bytes]) -> None:
    """Is passed over, once told of."""
    rubbish = bytes(range(1, 250)) * 9
    found, tally = read(four[0] + four[1] + rubbish + four[2] + four[3])
    assert found[:2] == [1, 2]
    assert found[-1] == 4
    assert tally.damage


def test_rubbish_between_bare_records(smf: Any, four: list[bytes]) -> None:
    """Without descriptor words the next record is found by what records begin with."""
    bare = [each[4:] for each in four]
    found, tally = read(bare[0] + bytes([0x5E, 30]) + bytes(range(256)) + bare[1] + bare[2])
    assert found == [1, 2, 3]
    assert len(tally.damage) == 1


@pytest.mark.parametrize("form", ["rdw", "bdw", "bare"])
def test_a_file_that_ends_early(smf: Any, four: list[bytes], form: str) -> None:
    """What is whole is kept, and the rest told of, wherever the cut is."""
    whole = {
        "rdw": b"".join(four),
        "bdw": smf.blocks(four[0] + four[1], four[2] + four[3]),
        "bare": b"".join(each[4:] for each in four),
    }[form]
    for cut in range(len(whole) - len(four[3]) + 8, len(whole)):
        found, tally = read(whole[:cut])
        assert (found, len(tally.damage)) == ([1, 2, 3], 1), cut


def test_zeros_behind_the_last_record_are_no_damage(four: list[bytes]) -> None:
    """They fill up a block."""
    found, tally = read(b"".join(four) + bytes(5000))
    assert (found, tally.damage) == ([1, 2, 3, 4], [])


@pytest.mark.parametrize("foreign", [False, True])
def test_a_first_block_that_is_damaged(smf: Any, four: list[bytes], foreign: bool) -> None:
    """A wrong length within it does not make the blocks records of other types: it costs what it touches, and is told."""
    other = b"\0\x40\0\0\x5e\x1e" + bytes(58)
    first = other * 3 if foreign else four[0] + four[1] + four[2]
    size = len(other) if foreign else len(four[0])
    data = bytearray(smf.blocks(first, four[3] + four[0], four[1] + four[2], four[3]))
    for place in (4 + size, 6, 7, 8):
        spoilt = bytearray(data)
        spoilt[place] ^= 0x10
        assert framing_of(bytes(spoilt)) is Framing.BDW, place
        found, tally = read(bytes(spoilt))
        assert found[-5:] == [4, 1, 2, 3, 4], place
        assert tally.damage or place == 8


def test_segments_that_are_missing(smf: Any, four: list[bytes]) -> None:
    """A first one without a last one, and a last one without a first one, cost their record."""
    parts = smf.spanned(four[1], 60)
    first, last = parts[:64], parts[64:]
    found, tally = read(four[0] + first + four[2] + last + four[3])
    assert found == [1, 3, 4]
    assert [str(error) for error in tally.damage] == [
        f"offset {len(four[0])}: the record's last segment is missing",
        f"offset {len(four[0]) + 64 + len(four[2])}: a segment without its first one",
    ]


def test_reading_in_small_pieces(smf: Any, four: list[bytes]) -> None:
    """Streams give what they have: where a piece ends changes nothing."""

    class Trickle(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(7, size or 7))

    tally = ReadCounts()
    assert len(list(records(Trickle(b"".join(four * 9)), tally))) == 36
    assert not tally.damage
