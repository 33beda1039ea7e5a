"""Records of the simulated group as the reader of real ones sees them: form, times, releases, division."""

from __future__ import annotations

import io
from collections import Counter
from types import SimpleNamespace

import pytest

from mqvitals_agent.simulator.smf.writer import SmfWriter
from mqvitals_agent.smf.section import sections


def test_each_interval_has_the_records_of_every_member(smf: SimpleNamespace) -> None:
    """Statistics of classes 1 and 4 and channel accounting, one of each, for all four queue managers."""
    found = smf.read(smf.written(smf.simulation(), 3 * smf.MINUTE))
    kinds = Counter((each.ssid, each.type, each.subtype) for each in found)
    expected = {(115, 1), (115, 2), (115, 201), (115, 215), (115, 231), (116, 10)}
    assert kinds == {(f"QM0{number}", *kind): 3 for number in range(1, 5) for kind in expected}


def test_both_time_bases_give_the_interval(smf: SimpleNamespace) -> None:
    """Start, end and length are right in queue manager and channel initiator records, and local time is distinguished."""
    found = smf.read(smf.written(smf.simulation(), 2 * smf.MINUTE))
    for each in found:
        assert each.interval_us == 60_000_000
        assert each.utc_offset_us == 3_600_000_000
        assert each.end_us - each.start_us == each.interval_us
        assert (each.end_us // 1000 - smf.BEGIN) % smf.MINUTE == 0
        assert each.time_cs == (each.end_us // 10_000 + 360_000) % 8_640_000
        assert each.date == (2025, 325)
        assert (each.sysid, each.release, each.qsg) == (f"SY{each.ssid[2:]}", 940, None)


def test_sequence_numbers_rise(smf: SimpleNamespace) -> None:
    """The queue manager numbers its records, one after another; the channel initiator does not."""
    found = smf.read(smf.written(smf.simulation(), 3 * smf.MINUTE))
    for member in ("QM01", "QM04"):
        mine = [each for each in found if each.ssid == member]
        numbers = [each.sequence for each in mine if each.subtype not in (231, 10)]
        assert numbers == sorted(set(numbers))
        assert {each.sequence for each in mine if each.subtype in (231, 10)} == {(0, 0)}


def test_the_release_is_the_command_level(smf: SimpleNamespace) -> None:
    """Version 10 says its release and group in the extension, and has sections of its own lengths; 9.0 has shorter ones."""
    here = smf.simulation()
    here.group.members["QM01"].command_level = 1000
    here.group.members["QM02"].command_level = 900
    found = smf.read(smf.written(here, smf.MINUTE))
    reported = {each.ssid: (each.release, each.qsg, each.data[24:27].decode("cp037")) for each in found}
    assert reported == {
        "QM01": (100_000, "PRDQ", "946"),
        "QM02": (900, None, "900"),
        "QM03": (940, None, "940"),
        "QM04": (940, None, "940"),
    }
    assert {each["rpid"] for each in smf.fields(found, "QCST")[0]} == {"MQMV", "MQJB"}
    assert "rpid" not in smf.fields(found, "QCST", "QM03")[0][0]
    lengths = {
        (each.ssid, section.layout.name): each.triplets[triplet].length
        for each in found
        for triplet, section in ((1, s) for s in sections(each) if s.layout.name in ("QMST", "QCCT", "QCST"))
    }
    assert lengths["QM01", "QMST"] == 104
    assert lengths["QM02", "QMST"] == 72
    assert lengths["QM02", "QCCT"] == 48
    assert lengths["QM03", "QCCT"] == 64


def test_more_channels_than_a_record_holds(smf: SimpleNamespace) -> None:
    """They go to several records, all but the last of which say that more follow; none is lost and none told twice."""
    here = smf.simulation(channels=800)
    found = [each for each in smf.read(smf.written(here, smf.MINUTE)) if each.ssid == "QM01" and each.type == 116]
    assert [each.more for each in found] == [True, True, False]
    assert all(len(each.data) <= 32_756 + 4 for each in found)
    names = [section.fields()["chnm"] for each in found for section in sections(each)]
    expected = [name for name, channel in here.group.members["QM01"].channels.items() for _ in channel.instances]
    assert sorted(names) == sorted(expected)


def test_a_channel_initiator_that_is_down_writes_nothing(smf: SimpleNamespace) -> None:
    """Its queue manager goes on to write its own records."""
    here = smf.simulation()
    here.group.members["QM03"].chinit_running = False
    found = smf.read(smf.written(here, smf.MINUTE))
    assert {each.subtype for each in found if each.ssid == "QM03"} == {1, 2, 201, 215}


@pytest.mark.parametrize("interval_ms", [0, -1000, 1500])
def test_an_interval_is_of_whole_seconds(smf: SimpleNamespace, interval_ms: int) -> None:
    """The group lives in seconds: no interval ends between two of them."""
    with pytest.raises(ValueError, match="whole seconds"):
        SmfWriter(smf.simulation(), io.BytesIO(), interval_ms)
