"""RMF's records: how busy processors, cryptographic cards and coupling facilities are, and requests to structures."""

from __future__ import annotations

import io
import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.rmf import QUARTER_US, Requests, card, facility, hexfloat, processor, rmf_record
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.layout.field import NO_COUNT, whole
from mqvitals_agent.smf.measured import Systems, measured_samples
from mqvitals_agent.smf.partial_sample import PartialSample
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import SmfError
from mqvitals_agent.smf.rmf import parse_rmf
from mqvitals_agent.smf.snapshots import merge_into, reading
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

NOON_US = 1_772_366_400_000_000
HOUR_US = 3_600_000_000


def known() -> Systems:
    """Two queue managers on MV01, one on MV02, in the group PRDQ, which is called PRDQSG here."""
    systems = Systems()
    for name, on in (("QM01", "MV01"), ("QM02", "MV01"), ("QM03", "MV02")):
        systems.recall(name, on)
    systems.name_group("PRDQ", "PRDQSG")
    return systems


def values(samples: list[PartialSample]) -> dict[str, Any]:
    """Object and metric -> value."""
    found = [reading(sample) for sample in samples]
    return {f"{each.object} {metric}": value for each in found for metric, value in each.values.items()}


def measured(*data: bytes) -> dict[str, Any]:
    """The values of records together."""
    merged: dict[Any, PartialSample] = {}
    for each in data:
        for sample in measured_samples(parse_rmf(each), known()):
            merge_into(merged, sample)
    return values(list(merged.values()))


def test_processors() -> None:
    """Busy is the time not in wait state, of the time not parked; of general processors that were there all the time."""
    sections = {
        1: [
            processor(0, waited_us=QUARTER_US // 10),
            processor(1, waited_us=QUARTER_US // 2),
            processor(2, parked_us=QUARTER_US),
            processor(3, state=0x0A),
            processor(4, state=0x08),
            processor(5, type_=2),
        ]
    }
    found = measured(rmf_record(70, 1, sections, start_us=NOON_US, local_us=HOUR_US))
    assert found["QM01/queue_manager cpu_busy_pct"] == found["QM02/queue_manager cpu_busy_pct"] == 70.0
    assert found["QM01/queue_manager cpu_busy_measured"] == "by RMF, 2026-03-01 13.15"
    assert found["QM01/queue_manager smf_system"] == "MV01"
    assert not any(name.startswith("QM03") for name in found)


def test_cards() -> None:
    """The busiest card counts, of the sections that are about the card as a whole."""
    cards = [
        card(3, seconds=225.0),
        card(4, seconds=675.0),
        card(4, seconds=800.0, scope=1),
        card(5, seconds=9.0, valid=0),
    ]
    found = measured(rmf_record(70, 2, {0: cards}, start_us=NOON_US))
    assert found["QM01/queue_manager crypto_busy_pct"] == 75.0
    assert found["QM01/queue_manager crypto_busy_measured"] == "by RMF, 2026-03-01 12.15, card 4"
    before_scope = measured(rmf_record(70, 2, {0: [card(1, seconds=90.0, scope=None)]}, start_us=NOON_US))
    assert before_scope["QM01/queue_manager crypto_busy_pct"] == 10.0


def test_structures_of_several_systems() -> None:
    """Requests of the systems add up, times are means; other products' structures are left out."""
    one = facility(
        "CF01",
        [Requests("PRDQAPPL1", 100, 1000, 20, 2000, 5, 10, 300), Requests("DSNA_LOCK1", 7, 7), Requests("PRDQ", 1, 1)],
        engines=[(300_000_000, 300_000_000), (150_000_000, 450_000_000)],
        free=250,
    )
    other = facility("CF01", [Requests("PRDQAPPL1", 300, 9000, 0, 0)])
    second = facility("CF02", [Requests("PRDQCSQ_ADMIN")], engines=[(60, 40)], free=700)
    found = measured(
        rmf_record(74, 4, one, start_us=NOON_US),
        rmf_record(74, 4, other, start_us=NOON_US, system="MV02"),
        rmf_record(74, 4, second, start_us=NOON_US),
    )
    name = "PRDQSG/cf_structure/APPL1"
    assert {
        metric: found[f"{name} {metric}"] for metric in ("cf_name", "cf_requests", "sync_requests", "sync_avg_us")
    } == {
        "cf_name": "CF01",
        "cf_requests": 420,
        "sync_requests": 400,
        "sync_avg_us": 25.0,
    }
    assert (found[f"{name} async_avg_us"], found[f"{name} changed_requests"]) == (100.0, 5)
    assert (found[f"{name} delayed_requests"], found[f"{name} delayed_avg_us"]) == (10, 30.0)
    idle = "PRDQSG/cf_structure/CSQ_ADMIN"
    assert found[f"{idle} sync_requests"] == 0
    assert isinstance(found[f"{idle} sync_avg_us"], Absence)
    assert found["PRDQSG/qsg cf_busy_pct"] == 60.0
    assert found["PRDQSG/qsg cf_busy_measured"] == "by RMF, 2026-03-01 12.15, CF02"
    assert found["PRDQSG/qsg cf_free_pct"] == 25.0
    assert {each.partition(" ")[0] for each in found} == {name, idle, "PRDQSG/qsg"}


@pytest.mark.parametrize(("ahead_h", "projected"), [(0, True), (9, True), (-5, True), (-5, False), (5.5, False)])
def test_the_time_zone(ahead_h: float, *, projected: bool) -> None:
    """Local time is as far from UTC as the record says."""
    local_us = round(ahead_h * HOUR_US)
    found = parse_rmf(rmf_record(70, 1, {}, start_us=NOON_US, local_us=local_us, projected=projected))
    assert (found.start_us, found.end_us, found.interval_us) == (NOON_US, NOON_US + QUARTER_US, QUARTER_US)


def test_a_zone_that_contradicts_the_end_in_utc() -> None:
    """Then the end in UTC counts."""
    data = bytearray(rmf_record(70, 1, {}, start_us=NOON_US, local_us=HOUR_US))
    data[4 + 112 + 60 : 4 + 112 + 68] = (-HOUR_US << 12).to_bytes(8, "big", signed=True)
    assert parse_rmf(bytes(data)).end_us == NOON_US + QUARTER_US


def test_what_is_refused() -> None:
    """With a sentence that names type, subtype and system."""
    whole_record = rmf_record(74, 4, facility("CF01", [Requests("PRDQAPPL1", 1, 1)]), start_us=NOON_US)
    short = rmf_record(74, 4, {0: [bytes(8)]}, start_us=NOON_US)
    late = bytearray(whole_record)
    late[10:14] = bytes.fromhex("0126070f")
    cases = {
        "74/4 of MV01: its sections R744FLCF have 8 bytes, of at least 16": short,
        "74/4 of MV01: a section would lie at": whole_record[:200],
        "one of them is wrong": bytes(late),
        "too short for its header": whole_record[:30],
    }
    for reason, data in cases.items():
        with pytest.raises(SmfError, match=reason):
            parse_rmf(data, 77)
    figures = {
        "R744SARC of structure PRDQAPPL1 is no whole number": Requests("PRDQAPPL1", 1.5, 1, 0.5),
        "9,000,000,000 us in R744SSTM for 2 requests": Requests("PRDQAPPL1", 2, 9_000_000_000),
    }
    for reason, requests in figures.items():
        with pytest.raises(SmfError, match=reason):
            measured(rmf_record(74, 4, facility("CF01", [requests]), start_us=NOON_US))
    with pytest.raises(SmfError, match="processor 1 waited"):
        measured(rmf_record(70, 1, {1: [processor(1, waited_us=2 * QUARTER_US)]}, start_us=NOON_US))
    with pytest.raises(SmfError, match="card 1 was busy 200 %"):
        measured(rmf_record(70, 2, {0: [card(1, seconds=1800)]}, start_us=NOON_US))


@given(count=st.integers(0, 1 << 52))
def test_counts(count: int) -> None:
    """A count is read as it was written, and what is no whole number is none."""
    assert whole(hexfloat(count)) == count
    assert whole(hexfloat(count % 1000 + 0.5)) == NO_COUNT
    assert whole(b"\xc1\x10" + bytes(6)) == NO_COUNT


def test_any_bytes_are_refused_in_order(soak: bool) -> None:
    """Whatever a few changed bytes do, nothing but SmfError is raised, and shares stay shares."""
    chance = random.Random(74)
    sources = [
        rmf_record(70, 1, {1: [processor(0), processor(1)]}, start_us=NOON_US),
        rmf_record(70, 2, {0: [card(1, seconds=9.0)]}, start_us=NOON_US),
        rmf_record(
            74, 4, facility("CF01", [Requests("PRDQAPPL1", 9, 9)] * 3, engines=[(1, 2)], free=3), start_us=NOON_US
        ),
    ]
    refused = 0
    for _ in range(60_000 if soak else 1_500):
        data = bytearray(chance.choice(sources))
        for _ in range(chance.choice((1, 1, 2, 5, 30))):
            data[chance.randrange(len(data))] = chance.choice((0, 0xFF, 0x80, chance.randrange(256)))
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        try:
            found = values(measured_samples(parse_rmf(bytes(data)), known()))
        except SmfError:
            refused += 1
            continue
        shares = [value for name, value in found.items() if name.endswith("_pct") and not isinstance(value, Absence)]
        assert all(0 <= share <= 100 for share in shares)
    assert refused


def test_a_dump_with_both(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RMF's records before MQ's, in the same file: the import finds out whose they are; a second one adds nothing."""
    with open_smf(simulated) as stream:
        first = next(records(stream, ReadCounts()))
    assert first.start_us is not None
    start_us = first.start_us // 60_000_000 * 60_000_000
    busy = {1: [processor(0, waited_us=QUARTER_US // 20)]}
    data = [
        rmf_record(70, 1, busy, start_us=start_us, system=first.sysid),
        rmf_record(
            74,
            4,
            facility("CF01", [Requests("PRDQAPPL1", 8, 80)], engines=[(55, 45)]),
            start_us=start_us,
            system=first.sysid,
        ),
        rmf_record(70, 1, busy, start_us=start_us, system="XX99"),
        rmf_record(74, 1, {}, start_us=start_us),
    ]
    dump, store = tmp_path / "both.smf", tmp_path / "s.db"
    dump.write_bytes(b"".join(data) + simulated.read_bytes())
    assert main(["smf", "import", str(dump), "--store", str(store)]) == 0
    told = capsys.readouterr().err
    assert "RMF's: 70/1 2, 74/4 1" in told
    assert "RMF's records of XX99 belong to no known queue manager or structure: 1" in told
    assert "not MQ's, passed over: type 74 1" in told
    with StoreReader.open(store) as reader:
        group = reader.current(ObjectName("PRDQ", "qsg"))
        assert (group["cf_busy_pct"].value, group["cf_busy_pct"].probe) == (55.0, "SMF 74-4")
        assert reader.current(ObjectName("PRDQ", "cf_structure", "APPL1"))["sync_avg_us"].value == 10.0
        assert reader.current(ObjectName(first.ssid, "queue_manager"))["cpu_busy_pct"].value == 95.0
    main(["alerts", "list", "--store", str(store), "--json"])
    fired = {each["rule"] for each in json.loads(capsys.readouterr().out)}
    assert "CF-14" in fired
    assert main(["smf", "import", str(dump), "--store", str(store)]) == 0
    assert "imported: 0 new records" in capsys.readouterr().err


def test_the_store_knows_who_runs_where(simulated: Path, tmp_path: Path) -> None:
    """RMF's records may come in a file of their own, after MQ's."""
    with open_smf(simulated) as stream:
        first = next(records(stream, ReadCounts()))
    assert first.start_us is not None
    store, dump = tmp_path / "s.db", tmp_path / "rmf.smf"
    start_us = first.start_us // 60_000_000 * 60_000_000
    here = partial(rmf_record, start_us=start_us, system=first.sysid)
    dump.write_bytes(here(70, 1, {1: [processor(0, waited_us=QUARTER_US // 20)]}))
    assert main(["smf", "import", str(simulated), str(dump), "--store", str(store)]) == 0
    dump.write_bytes(here(70, 2, {0: [card(1, seconds=90.0)]}))
    assert main(["smf", "import", str(dump), "--store", str(store)]) == 0
    with StoreReader.open(store) as reader:
        assert reader.current(ObjectName(first.ssid, "queue_manager"))["crypto_busy_pct"].value == 10.0


def test_a_report_reads_none(simulated: Path) -> None:
    """What only reads MQ's records passes RMF's over, as before."""
    counts = ReadCounts()
    with open_smf(simulated) as stream:
        data = rmf_record(70, 1, {}, start_us=NOON_US) + stream.read()
    assert not [each for each in records(io.BytesIO(data), counts) if each.type == 70]
    assert counts.skipped[70] == 1
