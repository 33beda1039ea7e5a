"""RMF's workload activity (72-3): the processor time of the classes that hold MSTR and CHIN of a queue manager."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.rmf import QUARTER_US, Period, rmf_record, workload
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.smf.measured import AddressSpaces, Systems, measured_samples
from mqvitals_agent.smf.partial_sample import PartialSample
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import SmfError
from mqvitals_agent.smf.rmf import parse_rmf
from mqvitals_agent.smf.snapshots import merge_into, reading
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.ruleset.facts import Fact, Facts
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

NOON_US = 1_772_366_400_000_000
MSTR = "QM01/queue_manager mstr"
CHIN = "QM01/queue_manager chin"


def known() -> Systems:
    """Two queue managers on MV01, one on MV02."""
    systems = Systems()
    for name, on in (("QM01", "MV01"), ("QM02", "MV01"), ("QM03", "MV02")):
        systems.recall(name, on)
    return systems


def declared(*facts: tuple[str, str, str]) -> AddressSpaces:
    """Queue manager, fact and class of each."""
    return AddressSpaces(
        Facts(KINDS, [Fact(ObjectPattern.parse(f"{name}/queue_manager"), fact, value) for name, fact, value in facts])
    )


BOTH = (("QM01", "mstr_class", "RQM01M"), ("QM01", "chin_class", "rqm01c"))


def of_class(name: str, *periods: Period, system: str = "MV01", **more: Any) -> bytes:
    """A record of a class."""
    return rmf_record(72, 3, workload(name, periods, **more), start_us=NOON_US, system=system)


def measured(*data: bytes, spaces: AddressSpaces | None = None) -> dict[str, Any]:
    """Object and metric -> value, of records together."""
    spaces = spaces or declared(*BOTH)
    merged: dict[Any, PartialSample] = {}
    for each in data:
        for sample in measured_samples(parse_rmf(each), known(), spaces):
            merge_into(merged, sample)
    found = [reading(sample) for sample in merged.values()]
    return {f"{each.object} {metric}": value for each in found for metric, value in each.values.items()}


def test_what_a_class_used() -> None:
    """Times of all periods add up; zIIPs count by themselves, at their own speed; samples are of all periods."""
    mstr = of_class(
        "RQM01M",
        Period(90, 45, ziip_s=18, other_us=300_000, delayed=30, samples=500, spaces=3600),
        Period(9, samples=100),
        ziip_speed=2.0,
    )
    chin = of_class("RQM01C", Period(1800, 450, samples=9000, delayed=900, spaces=3600))
    other = of_class("STCHI", Period(5000))
    found = measured(mstr, chin, other)
    assert found == {
        "QM01/queue_manager smf_system": "MV01",
        f"{MSTR}_cpu_pct": 12.1,
        f"{MSTR}_ziip_pct": 2.0,
        f"{MSTR}_cpu_delay_pct": 5.0,
        f"{MSTR}_cpu_measured": "by RMF, 2026-03-01 12.15, report class RQM01M",
        f"{CHIN}_cpu_pct": 250.0,
        f"{CHIN}_ziip_pct": 0.0,
        f"{CHIN}_cpu_delay_pct": 10.0,
        f"{CHIN}_cpu_measured": "by RMF, 2026-03-01 12.15, report class RQM01C",
    }


@given(
    cpu_s=st.integers(0, 90_000),
    srb_s=st.integers(0, 90_000),
    percent=st.integers(0, 100),
    coefficients=st.tuples(st.sampled_from((0.1, 0.7, 1.0, 10.0)), st.sampled_from((0.3, 1.0, 10.0))),
    adjustment=st.integers(50, 16_000),
    speed=st.sampled_from((1.0, 1.5, 710 / 256)),
)
def test_times_are_read_as_they_were_written(
    cpu_s: int, srb_s: int, percent: int, coefficients: tuple[float, float], adjustment: int, speed: float
) -> None:
    """Whatever coefficients and speeds of processors a system has."""
    ziip_s = cpu_s * percent / 100 / speed
    cpu, srb = coefficients
    record = of_class(
        "RQM01M",
        Period(cpu_s, srb_s, ziip_s),
        cpu=cpu,
        srb=srb,
        units_per_s=16_000_000 / adjustment,
        ziip_speed=speed,
    )
    found = measured(record)
    assert found[f"{MSTR}_cpu_pct"] == pytest.approx((cpu_s + srb_s - ziip_s * speed) / 9, abs=0.02)
    assert found[f"{MSTR}_ziip_pct"] == pytest.approx(ziip_s / 9, abs=0.02)


def test_of_which_address_spaces() -> None:
    """A class may be declared for several queue managers, and only those on the system of the record get its figures."""
    spaces = declared(("*", "mstr_class", "RMSTR"))
    record = of_class("RMSTR", Period(90, spaces=7200))
    found = measured(record, spaces=spaces)
    assert found["QM01/queue_manager mstr_cpu_pct"] == found["QM02/queue_manager mstr_cpu_pct"] == 10.0
    assert found[f"{MSTR}_cpu_measured"] == "by RMF, 2026-03-01 12.15, report class RMSTR, about 2 address spaces"
    assert not any(name.startswith("QM03") for name in found)
    elsewhere = measured(of_class("RMSTR", Period(1), system="MV02"), spaces=spaces)
    assert elsewhere["QM03/queue_manager mstr_cpu_pct"] == 0.11
    assert all(name.startswith("QM03/queue_manager ") for name in elsewhere)


@pytest.mark.parametrize("report_last", [False, True])
def test_a_report_class_before_a_service_class(*, report_last: bool) -> None:
    """Where both have the name, in any order."""
    both = [of_class("RQM01M", Period(9)), of_class("RQM01M", Period(90), report=False)]
    found = measured(*(reversed(both) if report_last else both))
    assert found[f"{MSTR}_cpu_pct"] == 1.0
    assert measured(both[1])[f"{MSTR}_cpu_measured"] == "by RMF, 2026-03-01 12.15, service class RQM01M"


def test_what_is_not_there_is_absent() -> None:
    """And never 0: data that the flags call missing, coefficients of 0, sections of older releases."""
    for record in (
        of_class("RQM01M", Period(9), flags=0x40),
        of_class("RQM01M", Period(9, valid=0x60)),
        of_class("RQM01M"),
        of_class("RQM01M", Period(9), cpu=0),
        of_class("RQM01M", Period(9), srb=0),
    ):
        found = measured(record)
        assert found[f"{MSTR}_cpu_pct"] is Absence.NOT_RETURNED
        assert found[f"{MSTR}_ziip_pct"] is Absence.NOT_RETURNED
        assert found[f"{MSTR}_cpu_measured"] == "by RMF, 2026-03-01 12.15, report class RQM01M"
    old = measured(of_class("RQM01M", Period(9, delayed=1, samples=10), sizes=(176, 176)))
    assert old[f"{MSTR}_cpu_pct"] == 1.0
    assert old[f"{MSTR}_ziip_pct"] is old[f"{MSTR}_cpu_delay_pct"] is Absence.NOT_RETURNED
    before_ziip = measured(of_class("RQM01M", Period(9, delayed=1, samples=10), sizes=(240, 396)))
    assert before_ziip[f"{MSTR}_cpu_delay_pct"] == 10.0
    assert before_ziip[f"{MSTR}_ziip_pct"] is Absence.NOT_RETURNED
    assert measured(of_class("RQM01M", Period(9)))[f"{MSTR}_cpu_delay_pct"] is Absence.NOTHING_TO_TELL
    more = measured(of_class("RQM01M", Period(9, delayed=11, samples=10)))
    assert more[f"{MSTR}_cpu_delay_pct"] is Absence.OUT_OF_RANGE


def test_one_period_without_data() -> None:
    """The others count."""
    found = measured(of_class("RQM01M", Period(900, valid=0, samples=5, delayed=5), Period(9, samples=4)))
    assert (found[f"{MSTR}_cpu_pct"], found[f"{MSTR}_cpu_delay_pct"]) == (1.0, 0.0)


def test_what_is_refused() -> None:
    """With a sentence that names type, subtype and system."""
    for reason, record in {
        "72/3 of MV01: its sections R723WMS have 175 bytes, of at least 176": of_class(
            "RQM01M", Period(1), sizes=(175, 816)
        ),
        "72/3 of MV01: its sections R723SCS have 175 bytes": of_class("RQM01M", Period(1), sizes=(280, 175)),
        r"72/3 of MV01: class RQM01M used 9e\+05 s of processors": of_class("RQM01M", Period(900_000)),
        "class RQM01M used 9 s of processors, 10 s of zIIPs": of_class("RQM01M", Period(9, ziip_s=10)),
    }.items():
        with pytest.raises(SmfError, match=reason):
            measured(record)
    negative = bytearray(of_class("RQM01M", Period(9)))
    negative[-816 + 32] |= 0x80
    with pytest.raises(SmfError, match="R723CCPU is below 0"):
        measured(bytes(negative))


def test_any_bytes_are_refused_in_order(soak: bool) -> None:
    """Whatever a few changed bytes do, nothing but SmfError is raised, and figures stay possible."""
    chance = random.Random(72)
    source = of_class("RQM01M", Period(90, 9, 3, 5, 7, 900, 3600), Period(1, samples=3), ziip_speed=1.5)
    assert measured(source)[f"{MSTR}_cpu_pct"] > 0
    refused = 0
    for _ in range(60_000 if soak else 1_500):
        data = bytearray(source)
        for _ in range(chance.choice((1, 1, 2, 5, 30))):
            data[chance.randrange(len(data))] = chance.choice((0, 0xFF, 0x80, chance.randrange(256)))
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        try:
            found = measured(bytes(data))
        except SmfError:
            refused += 1
            continue
        for name, value in found.items():
            if name.endswith("_pct") and not isinstance(value, Absence):
                assert 0 <= value <= (100 if name.endswith("delay_pct") else 25_600)
    assert refused


def imported(tmp_path: Path, dump: Path, facts: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What an import into the store of ``tmp_path`` reports."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text(facts, "utf-8")
    assert main(["smf", "import", str(dump), "--store", str(tmp_path / "s.db"), "--config", str(config)]) == 0
    return capsys.readouterr().err


def test_a_dump_with_both(simulated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The classes before MQ's records: first none is declared, then one, then both; a second import adds nothing."""
    with open_smf(simulated) as stream:
        first = next(records(stream, ReadCounts()))
    assert first.start_us is not None
    start_us = first.start_us // 60_000_000 * 60_000_000
    name = ObjectName(first.ssid, "queue_manager")
    classes = {"RMSTR": Period(90, 9, samples=50, delayed=1), "RCHIN": Period(450), "SYSSTC": Period(2000)}
    dump, store = tmp_path / "both.smf", tmp_path / "s.db"
    dump.write_bytes(
        b"".join(
            rmf_record(72, 3, workload(each, [used]), start_us=start_us, system=first.sysid)
            for each, used in classes.items()
        )
        + simulated.read_bytes()
    )

    def current() -> dict[str, Any]:
        with StoreReader.open(store) as reader:
            return {metric: each.value for metric, each in reader.current(name).items()}

    told = imported(tmp_path, dump, "", capsys)
    assert "RMF's: 72/3 3" in told
    assert "belong to no known" not in told
    assert current()["mstr_cpu_pct"] is current()["chin_cpu_measured"] is Absence.NOT_DECLARED
    assert main(["review", "--store", str(store), "--first-day", "--json"]) in (0, 1)
    remedies = {each["subject"]: each for each in json.loads(capsys.readouterr().out)["remedies"]}
    remedy = remedies["queue_managers: mstr_class, chin_class"]
    assert first.ssid in remedy["queue_managers"]
    assert remedy["figures"][:2] == ["mstr_cpu_pct", "mstr_ziip_pct"]
    assert any("mstr_class: ..." in each for each in remedy["lines"])
    main(["review", "--store", str(store), "--first-day"])
    text = " ".join(capsys.readouterr().out.split())
    assert "Figures that imported records have" in text
    assert "Declare mstr_class, chin_class under facts.queue_managers (" in text
    assert "): shows mstr_cpu_pct, mstr_ziip_pct, mstr_cpu_delay_pct, chin_cpu_pct" in text
    assert re.search(r"imported: 0 new records, .* 0 samples", imported(tmp_path, dump, "", capsys))

    one = f"facts: {{queue_managers: [{{objects: {name}, mstr_class: RMSTR, chin_class: RCHIM}}]}}\n"
    told = imported(tmp_path, dump, one, capsys)
    assert "imported: 1 new record, " in told
    assert f"{first.ssid}: RMF's records of {first.sysid} have no class RCHIM, which is declared as chin_class" in told
    assert (current()["mstr_cpu_pct"], current()["mstr_cpu_delay_pct"]) == (11.0, 2.0)
    assert current()["mstr_cpu_measured"].endswith("report class RMSTR")

    told = imported(tmp_path, dump, one.replace("RCHIM", "RCHIN"), capsys)
    assert "imported: 1 new record, " in told
    assert "have no class" not in told
    assert (current()["chin_cpu_pct"], current()["mstr_cpu_pct"]) == (50.0, 11.0)
    assert "imported: 0 new records" in imported(tmp_path, dump, one.replace("RCHIM", "RCHIN"), capsys)

    later = rmf_record(72, 3, workload("RMSTR", [Period(9)]), start_us=start_us + QUARTER_US, system=first.sysid)
    dump.write_bytes(later)
    assert "imported: 1 new record, " in imported(tmp_path, dump, one, capsys)
    assert (current()["mstr_cpu_pct"], current()["smf_system"]) == (1.0, first.sysid)
