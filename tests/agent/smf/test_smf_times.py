"""Times that cannot be: such records are refused where they are read, named and counted, and never stored."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.reader import ReadCounts, records
from mqvitals_agent.smf.record import FIRST_YEAR, LAST_YEAR, LONGEST_INTERVAL_US, Record, SmfError, parse
from mqvitals_agent.store.reader import StoreReader

DAY_US = 86_400_000_000
HOUR_US = 3_600_000_000


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def standard_at(data: bytes) -> int:
    return int.from_bytes(data[28:32], "big")


def flipped(data: bytes) -> list[bytes]:
    """The record once for each bit of its header and of its standard section, with that bit changed."""
    places = [*range(28), *range(standard_at(data), len(data))]
    return [patched(data, at, bytes([data[at] ^ 1 << bit])) for at in places for bit in range(8)]


def is_possible(record: Record) -> bool:
    end, interval = record.end_us, record.interval_us
    assert end is not None
    years = (1970 + end / (365.2425 * DAY_US), record.date[0])
    return all(FIRST_YEAR <= year <= LAST_YEAR + 1 for year in years) and (
        interval is None or 0 <= interval <= LONGEST_INTERVAL_US
    )


def test_one_changed_bit(smf: Any) -> None:
    """Whichever bit of a header or a standard section is changed: the record is refused, or its times are possible ones."""
    refused = 0
    for data in flipped(smf.record(115, 215, {1: [smf.pool()]}, local_us=-5 * HOUR_US)):
        try:
            assert is_possible(parse(data))
        except SmfError:
            refused += 1
    assert refused > 100


def test_the_end_of_a_record(smf: Any) -> None:
    """Each bit of the stamp that is worth more than a time zone is found out by the header's time, whatever the year."""
    data = smf.record(115, 215, {1: [smf.pool()]})
    at = standard_at(data) + 16
    for bit in range(64):
        stamp = int.from_bytes(data[at : at + 8], "big") ^ 1 << bit
        if 1 << bit >> 12 > 15 * HOUR_US:
            with pytest.raises(SmfError, match=r"^offset 7: 115/215 of MQ01: QWHSSTCK"):
                parse(patched(data, at, stamp.to_bytes(8, "big")), 7)


@pytest.mark.parametrize(
    ("at", "new", "words"),
    [
        (6, (8_640_100).to_bytes(4, "big"), "SM115TME is 8640100"),
        (10, bytes.fromhex("0088060f"), "SM115DTE is 0088060f, day 60 of 1988: records are of 1990 to 2099"),
        (10, bytes.fromhex("0226060f"), "day 60 of 2126"),
        (10, bytes.fromhex("0126000f"), "day 0 of 2026"),
        (10, bytes.fromhex("0126367f"), "day 367 of 2026"),
        (-36, bytes(8), "QWHSSTCK is 0000000000000000, 1900-01-01T00:00:00.000000Z: records are of 1990 to 2099"),
        (-36, b"\xff" * 8, "QWHSSTCK is FFFFFFFFFFFFFFFF, 2042-09-17"),
        (-8, b"\xff" * 8, "QWHSDURN is 18446744073709551615"),
        (-8, (LONGEST_INTERVAL_US + 1).to_bytes(8, "big"), "QWHSDURN is 90000000001, 25 hours: no interval is so long"),
        (-16, b"\xff" * 8, "QWHSTIME is FFFFFFFFFFFFFFFF"),
    ],
)
def test_what_is_said(smf: Any, at: int, new: bytes, words: str) -> None:
    """The record's place, whose it is, the field and its value."""
    data = smf.record(115, 215, {1: [smf.pool()]})
    with pytest.raises(SmfError) as told:
        parse(patched(data, at % len(data), new), 4711)
    assert str(told.value).startswith("offset 4711: 115/215 of MQ01: ")
    assert words in str(told.value)


def test_a_longest_interval(smf: Any) -> None:
    """A day, as STATIME allows it, and a little more."""
    found = parse(smf.record(115, 215, {1: [smf.pool()]}, length_us=LONGEST_INTERVAL_US))
    assert found.interval_us == LONGEST_INTERVAL_US


def test_accounting_of_threads(smf: Any) -> None:
    """Their short standard section has an end as well."""
    data = smf.record(116, 0, {2: [smf.section(48)]}, t0=smf.thread_standard(3))
    assert parse(data).end_us == smf.NOON_US
    with pytest.raises(SmfError, match="116/0 of MQ01: QWHSSTCK"):
        parse(patched(data, standard_at(data) + 16, bytes([data[standard_at(data) + 16] ^ 0x40])))


def read(now_us: int | None, *data: bytes) -> tuple[list[Record], ReadCounts]:
    tally = ReadCounts()
    return list(records(io.BytesIO(b"".join(data)), tally, now_us)), tally


def test_a_record_of_the_future(smf: Any) -> None:
    """More than a day from now it is damaged, unless its system's clock is ahead from the first record on."""
    today, tomorrow, later = (
        smf.record(115, 215, {1: [smf.pool()]}, start_us=smf.NOON_US + days * DAY_US) for days in (0, 1, 3)
    )
    found, tally = read(smf.NOON_US + HOUR_US, today, tomorrow, later, today)
    assert len(found) == 3
    (error,) = tally.damage
    assert "115/215 of MQ01: it ended at 2026-03-04T12:30:00.000000Z, more than a day from now" in str(error)
    assert error.offset == len(today) + len(tomorrow)
    found, tally = read(smf.NOON_US, later, later, today)
    assert len(found) == 3
    assert not tally.lost
    found, tally = read(None, today, later)
    assert len(found) == 2


def test_systems_have_their_own_clocks(smf: Any) -> None:
    """That one is ahead says nothing of another."""
    today, later = (smf.record(115, 215, {1: [smf.pool()]}, start_us=smf.NOON_US + days * DAY_US) for days in (0, 3))
    elsewhere = later.replace(smf.ebcdic("MV01", 4), smf.ebcdic("MV02", 4))
    found, tally = read(smf.NOON_US, today, elsewhere, later)
    assert [each.sysid for each in found] == ["MV01", "MV02"]
    assert tally.lost == 1


def test_a_store_survives_any_changed_bit(smf: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Records with each bit of their times changed are imported: whatever is asked of the store afterwards is answered."""
    data = smf.record(115, 215, {1: [smf.pool(3)]})
    file, store = tmp_path / "changed.smf", str(tmp_path / "s.db")
    at = standard_at(data)
    times = [*range(6, 14), *range(at + 16, at + 24), *range(at + 36, at + 52)]
    file.write_bytes(
        data + b"".join(patched(data, each, bytes([data[each] ^ 1 << bit])) for each in times for bit in range(8))
    )
    assert main(["smf", "import", str(file), "--store", store]) == 1
    assert "damaged: " in capsys.readouterr().err
    for words in (
        ["status"],
        ["review"],
        ["alerts", "list", "--all"],
        ["trend", "low_pct", "MQ01/buffer_pool/3", "--from", "1990-01-01T00:00:00Z"],
    ):
        assert main([*words, "--store", store]) in (0, 1, 2, 3), words
    with StoreReader.open(store) as reader:
        (owner,) = reader.owners()
    assert (
        smf.NOON_US // 1000 - 15 * HOUR_US // 1000
        < owner.first_ts
        <= owner.last_ts
        < smf.NOON_US // 1000 + DAY_US // 1000
    )
