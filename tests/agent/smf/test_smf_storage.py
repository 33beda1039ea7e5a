"""Records of storage (115 subtypes 5, 6, 7): pools, storage got directly, and the whole address space."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.smf import readings
from mqvitals_agent.smf.csv_files import CsvFiles
from mqvitals_agent.smf.json_lines import json_lines
from mqvitals_agent.smf.record import SmfError, parse
from mqvitals_agent.smf.section import sections
from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence

HOUR_US = 3_600_000_000
WORD, HALF, BYTE = (st.integers(0, (1 << bits) - 1) for bits in (32, 16, 8))
LETTERS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=/.", max_size=48)
POOL = st.fixed_dictionaries(
    {
        **dict.fromkeys(("stor", "ostor", "xstor"), WORD),
        **dict.fromkeys(("bsize", "bcnt"), HALF),
        "count": WORD,
        "dspnm": LETTERS.map(lambda text: text[:8]),
        "name": LETTERS,
        "flags": BYTE,
    }
)
GOT = st.fixed_dictionaries(
    {
        **dict.fromkeys(("lvtot", "lvnew", "lvmax", "lvmin", "count"), WORD),
        "scls": BYTE,
        "csect": LETTERS.map(lambda text: text[:8]),
        "offset": WORD,
    }
)
REGION = {
    "memlim": (112, 8),
    "abytes": (120, 8),
    "gbytes": (128, 8),
    "fmct": (144, 4),
    "aval": (152, 4),
    "sos": (164, 4),
}


def text(value: str, size: int) -> bytes:
    return value.encode("cp037").ljust(size, b"\x40")


def pool(of: dict[str, Any]) -> bytes:
    """A QSPH of 88 bytes, written by its own table."""
    numbers = [of[name] for name in ("stor", "ostor", "xstor", "bsize", "bcnt", "count")]
    return struct.pack(
        ">HH4s3I2HI8s48sB3x",
        0xE20E,
        88,
        text("QSPH", 4),
        *numbers,
        text(of["dspnm"], 8),
        text(of["name"], 48),
        of["flags"],
    )


def got(of: dict[str, Any]) -> bytes:
    """A QSGM of 48 bytes, written by its own table."""
    numbers = [of[name] for name in ("lvtot", "lvnew", "lvmax", "lvmin", "count", "scls")]
    return struct.pack(">HH4s5IB3x8sI4x", 0xE20D, 48, text("QSGM", 4), *numbers, text(of["csect"], 8), of["offset"])


def region(smf: Any, **values: int) -> bytes:
    """A QSRS of 232 bytes."""
    data: bytes = smf.section(232, {REGION[name][0]: (REGION[name][1], value) for name, value in values.items()})
    return data


@given(found=st.lists(POOL, min_size=1, max_size=5))
def test_pools_come_back(smf: Any, found: list[dict[str, Any]]) -> None:
    """Whatever a pool's values, they are read as they were written."""
    record = parse(smf.record(115, 5, {1: [pool(each) for each in found]}, t0=smf.STORAGE_STANDARD))
    assert [each.fields() for each in sections(record)] == found
    assert [json.loads(line)["fields"] for line in json_lines(record)] == found


@given(found=st.lists(GOT, min_size=1, max_size=5))
def test_direct_storage_comes_back(smf: Any, found: list[dict[str, Any]]) -> None:
    """Likewise what was got without a pool."""
    record = parse(smf.record(115, 6, {1: [got(each) for each in found]}, t0=smf.STORAGE_STANDARD))
    assert [each.fields() for each in sections(record)] == found
    assert [json.loads(line)["section"] for line in json_lines(record)] == ["QSGM"] * len(found)


@given(
    found=POOL, subtype=st.sampled_from([5, 6, 7]), size=st.integers(1, 300), cut=st.integers(0, 200), data=st.data()
)
def test_damaged_ones(smf: Any, found: dict[str, Any], subtype: int, size: int, cut: int, data: st.DataObject) -> None:
    """Sections of any length, records cut short or with a changed byte: refused, or read within their bounds."""
    section = (pool(found) * 4)[:size]
    record = bytearray(smf.record(115, subtype, {1: [section]}, t0=smf.STORAGE_STANDARD))
    at = data.draw(st.integers(0, len(record) - 1))
    record[at] = data.draw(st.integers(0, 255))
    try:
        parsed = parse(bytes(record[: len(record) - cut]))
    except SmfError:
        return
    for line in json_lines(parsed):
        json.loads(line)
    list(readings([parsed]))


def test_columns(smf: Any, tmp_path: Path) -> None:
    """Files of their own, with words for the bits."""
    one = {
        "stor": 8,
        "ostor": 7,
        "xstor": 4,
        "bsize": 392,
        "bcnt": 10,
        "count": 1,
        "dspnm": "",
        "name": "POOL RMID=026",
        "flags": 0xC8,
    }
    other = {
        "lvtot": 720,
        "lvnew": 1,
        "lvmax": 700,
        "lvmin": 20,
        "count": 3,
        "scls": 12,
        "csect": "CSQISTRT",
        "offset": 1000,
    }
    with CsvFiles(tmp_path) as files:
        for subtype, section in ((5, pool(one)), (6, got(other))):
            files.write(parse(smf.record(115, subtype, {1: [section]}, t0=smf.STORAGE_STANDARD)))
    told = {path.name: path.read_text("utf-8").splitlines() for path in tmp_path.iterdir()}
    assert told["SMF-QSPH.csv"][0].endswith(
        "Current_Size,Previous_Size,Expansion_Size,Record_Size,Records_per_Segment,PHB_Count,Dataspace_Name,Name,"
        "Attr_Fixed,Attr_Glob,Attr_DSP,Attr_IVSA,Attr_64BIT"
    )
    assert told["SMF-QSPH.csv"][1].endswith('8,7,4,392,10,1,"","POOL RMID=026","Yes","Yes","No","No","Yes"')
    assert told["SMF-QSGM.csv"][1].endswith('720,1,700,20,3,12,"CSQISTRT",1000')


def of_storage(smf: Any, *records: bytes) -> list[Reading]:
    found = [each for snapshot in readings(map(parse, records)) for each in snapshot.readings]
    return [each for each in found if each.probe == "SMF 115-7"]


def storage(smf: Any, start_us: int, **values: int) -> bytes:
    data: bytes = smf.record(
        115, 7, {1: [region(smf, **values)]}, start_us=start_us, local_us=HOUR_US, t0=smf.STORAGE_STANDARD
    )
    return data


def test_the_address_space_of_a_queue_manager(smf: Any) -> None:
    """Its header's local time becomes UTC by the zone of the system's records before it; its interval is theirs."""
    end = smf.NOON_US + 1_800_000_000
    before = smf.record(115, 2, {5: [smf.section(672)]}, number=9, local_us=HOUR_US)
    values = {"memlim": 2048, "abytes": 5 << 30, "gbytes": 6 << 30, "fmct": 77, "aval": 1 << 30, "sos": 100 << 20}
    (found,) = of_storage(smf, before, storage(smf, end, **values))
    assert (str(found.object), found.ts, found.interval_ms) == ("MQ01/queue_manager", end // 1000, 1_800_000)
    told = {
        "memlimit_in_force_mb": 2048,
        "storage64_bytes": 5 << 30,
        "storage64_max_bytes": 6 << 30,
        "real_frames": 77,
        "storage31_free_bytes": 1 << 30,
        "storage31_cushion_bytes": 100 << 20,
        "storage_latch_waits": 0,
    }
    assert {name: found.values[name] for name in told} == told
    assert "db2_max_us" not in found.values
    assert of_storage(smf, storage(smf, end, **values)) == []


def test_pools_and_direct_storage_in_sum(smf: Any) -> None:
    """Of the many pools the largest and the one that grew most are named, of programs the one that got most."""
    end = smf.NOON_US + 1_800_000_000
    before = smf.record(115, 2, {5: [smf.section(672)]}, number=9, local_us=HOUR_US)
    blank = {"xstor": 0, "bsize": 0, "bcnt": 0, "count": 1, "dspnm": "", "flags": 0}
    pools = [
        blank | {"stor": stor, "ostor": ostor, "name": name}
        for stor, ostor, name in ((9000, 9500, "HANDLES"), (4000, 1000, "MSGS"), (100, 100, ""))
    ]
    got_by = [
        {"lvtot": total, "lvnew": 0, "lvmax": 0, "lvmin": 0, "count": 2, "scls": 0, "csect": program, "offset": 8}
        for total, program in ((700, "CSQIDMPS"), (500, "CSQVXDPS"), (400, "CSQVXDPS"))
    ]
    records = [
        smf.record(115, number, {1: sections}, start_us=end, local_us=HOUR_US, t0=smf.STORAGE_STANDARD)
        for number, sections in ((5, [pool(each) for each in pools]), (6, [got(each) for each in got_by]))
    ]
    snapshots = readings(map(parse, [before, *records]))
    found = {each.probe: each.values for snapshot in snapshots for each in snapshot.readings}
    assert found["SMF 115-5"] == {
        "storage_pool_count": 3,
        "storage_pools_grown_bytes": 2500,
        "storage_pool_largest": "HANDLES: 9000 bytes",
        "storage_pool_growing": "MSGS: 3000 bytes",
    }
    assert found["SMF 115-6"] == {"storage_direct_requests": 6, "storage_direct_largest": "CSQVXDPS: 900 bytes"}


@pytest.mark.parametrize("free", [5, (1 << 64) - 1])
def test_no_limit(smf: Any, free: int) -> None:
    """Without MEMLIMIT there is nothing to tell of it, nor of what is left: both would be greater than any store can hold."""
    before = smf.record(115, 2, {5: [smf.section(672)]}, number=9, local_us=HOUR_US)
    record = bytearray(storage(smf, smf.NOON_US + 1_800_000_000, memlim=17_592_186_040_320))
    at = int.from_bytes(record[36:40], "big") + 168
    record[at : at + 8] = free.to_bytes(8, "big")
    (found,) = of_storage(smf, before, bytes(record))
    assert found.values["memlimit_in_force_mb"] is Absence.NOTHING_TO_TELL
    assert found.values["storage64_free_bytes"] is Absence.NOTHING_TO_TELL
