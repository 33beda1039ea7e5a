"""Sections as lines of JSON: exact lines of records made by hand, and every number of whole files."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.smf.csv_files import CsvFiles
from mqvitals_agent.smf.json_lines import json_lines
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import parse
from mqvitals_agent.smf.section import LAYOUTS, SECTIONS, sections

KEYS = [
    "section",
    "index",
    "type",
    "subtype",
    "sysid",
    "ssid",
    "release",
    "qsg",
    "start",
    "end",
    "interval_us",
    "fields",
    "derived",
]


def test_a_line_as_it_is_written(smf: Any) -> None:
    """Keys, their order and the writing of every value, with times to the microsecond."""
    half, quarter = 899_999_952 << 12, 449_999_976 << 12
    tasks = [smf.section(32, {0: (4, 9), 4: (4, 2), 8: (8, quarter), 16: (8, half)}), smf.section(32)]
    found = list(json_lines(parse(smf.record(115, 231, {3: tasks}, length_us=1_799_999_904))))
    head = (
        '"type":115,"subtype":231,"sysid":"MV01","ssid":"MQ01","release":940,"qsg":null,'
        '"start":"2026-03-01T12:00:00.000000Z","end":"2026-03-01T12:29:59.999904Z","interval_us":1799999904'
    )
    assert found == [
        (
            f'{{"section":"QCTADP","index":0,{head},'
            f'"fields":{{"tskn":9,"reqn":2,"cptm":{quarter},"eltm":{half},"wttm":0}},'
            '"derived":{"busy_pct":50.0,"cpu_pct":25.0,"avg_cpu_us":224999988.0,"avg_elapsed_us":449999976.0}}\n'
        ),
        (
            f'{{"section":"QCTADP","index":1,{head},"fields":{{"tskn":0,"reqn":0,"cptm":0,"eltm":0,"wttm":0}},'
            '"derived":{"busy_pct":0.0,"cpu_pct":0.0,"avg_cpu_us":null,"avg_elapsed_us":null}}\n'
        ),
    ]


def test_a_section_without_figures(smf: Any) -> None:
    """It has an empty object of them, for it has an interval."""
    (line,) = json_lines(parse(smf.record(115, 2, {4: [smf.section(32, {8: (4, 0xFFFFFFFF)})]})))
    found = json.loads(line)
    assert list(found) == KEYS
    assert (found["fields"], found["derived"]) == ({"getl": 0xFFFFFFFF, "hldl": 0, "rell": 0}, {})


def test_accounting_of_threads_has_an_end_alone(smf: Any) -> None:
    """Start, interval and figures are null; the end is not."""
    (line,) = json_lines(parse(smf.record(116, 0, {2: [smf.section(48)]}, t0=smf.thread_standard(3))))
    found = json.loads(line)
    assert list(found) == KEYS
    assert (found["start"], found["interval_us"], found["derived"]) == (None, None, None)
    assert found["end"] == "2026-03-01T12:00:00.000000Z"


def test_storage_has_no_time(smf: Any) -> None:
    """Its records tell none but the header's."""
    (line,) = json_lines(parse(smf.record(115, 7, {1: [smf.section(232)]}, t0=smf.STORAGE_STANDARD)))
    found = json.loads(line)
    assert (found["section"], found["start"], found["end"], found["interval_us"], found["derived"]) == (
        "QSRS",
        None,
        None,
        None,
        None,
    )


def test_group_and_release_of_mq_10(smf: Any) -> None:
    """Both come from the extension; without a group its name is empty, not null."""
    for group in ("PRDQ", ""):
        data = bytearray(smf.record(115, 215, {1: [smf.pool()]}, release="946"))
        data += b"\0\x10\x10\0" + smf.ebcdic(group, 4) + smf.ebcdic("100000", 6) + b"\0\0"
        data[32:34] = (68).to_bytes(2, "big")
        data[0:2] = len(data).to_bytes(2, "big")
        (line,) = json_lines(parse(bytes(data)))
        assert f'"release":100000,"qsg":"{group}",' in line


def structures(smf: Any, **names: str) -> bytes:
    """A QEST with these slots in use: ``s3="APPL1"``."""
    data = bytearray(smf.section(4104))
    for key, name in names.items():
        at = 8 + 64 * int(key[1:])
        data[at : at + 12] = smf.ebcdic(name, 12)
        data[at + 16 : at + 20] = (4).to_bytes(4, "big")
        data[at + 24 : at + 32] = (4096 * 10).to_bytes(8, "big")
    return bytes(data)


def test_structures_in_use_alone(smf: Any) -> None:
    """Each slot with a name stands under its own number, the last one too; the others are left out; figures go by name."""
    (line,) = json_lines(parse(smf.record(115, 2, {6: [structures(smf, s0="CSQ_ADMIN", s3="APPL1", s63="LAST")]})))
    found = json.loads(line)
    names = ["str", "strn", "csec", "cmec", "sstc", "mstc", "rsec", "rmec", "sful", "mnus", "mlus"]
    assert list(found["fields"]) == [f"{name}.{slot}" for slot in (0, 3, 63) for name in names]
    assert found["fields"]["str.3"] == "APPL1"
    assert found["derived"] == {
        name: {"avg_single_us": 2.5, "avg_multiple_us": None} for name in ("CSQ_ADMIN", "APPL1", "LAST")
    }
    (line,) = json_lines(parse(smf.record(115, 2, {6: [structures(smf)]})))
    assert '"fields":{},"derived":{}}' in line


def test_text_is_harmless(smf: Any) -> None:
    """Control characters and quotes in names are escaped, also those that JSON would leave as they are; trailing blanks go."""
    name = 'A"\\\x1b[2J\x7f\x9bé'
    data = bytearray(smf.section(324))
    data[16:36] = smf.ebcdic(name, 20)
    (line,) = json_lines(parse(smf.record(116, 10, {1: [bytes(data)]})))
    assert line.isascii()
    assert line.rstrip("\n").isprintable()
    assert json.loads(line)["fields"]["chnm"] == name


@given(data=st.data(), key=st.sampled_from(sorted(SECTIONS)))
def test_every_value_of_any_section(smf: Any, data: st.DataObject, key: tuple[int, int]) -> None:
    """Whatever bytes a section holds and however short it is, its line tells what its table says, in the same order."""
    number, layout = data.draw(st.sampled_from(sorted(SECTIONS[key].items(), key=lambda item: item[0])))
    length = data.draw(st.integers(1, 700)) if layout.name != "QCTDNS" else 48
    raw = data.draw(st.one_of(st.binary(min_size=length, max_size=length), st.just(bytes(length))))
    t0 = smf.thread_standard(number + 1) if key in ((116, 0), (116, 1), (116, 2)) else None
    if key in ((115, 5), (115, 6), (115, 7)):
        t0 = smf.STORAGE_STANDARD
    record = parse(smf.record(*key, {number: [raw]}, t0=t0))
    found = [json.loads(line) for line in json_lines(record)]
    told = [each.fields() for each in sections(record)]
    if layout.name == "QEST":
        told = [{name: value for name, value in each.items() if name in found[0]["fields"]} for each in told]
    assert [list(each["fields"].items()) for each in found] == [list(each.items()) for each in told]


def test_every_section_of_a_file(every_section: Path) -> None:
    """As many lines as sections, with the numbers of their fields; slots of structures that are not used are left out."""
    dumped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    expected: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with open_smf(every_section) as stream:
        for record in records(stream, ReadCounts()):
            for line in json_lines(record):
                found = json.loads(line)
                dumped[found["section"]].append(found["fields"])
            for section in sections(record):
                expected[section.layout.name].append(dict(section.fields()))
    assert dumped.keys() == expected.keys() == LAYOUTS.keys()
    for name, told in dumped.items():
        if name == "QEST":
            expected[name] = [
                {field: value for field, value in other.items() if field in one}
                for one, other in zip(told, expected[name], strict=True)
            ]
        assert told == expected[name], name


def test_only_wanted_sections(smf: Any) -> None:
    """Others are left out, and the numbers stay those of the record."""
    data = smf.record(115, 2, {1: [smf.section(72)], 4: [smf.section(32)]})
    assert [json.loads(line)["section"] for line in json_lines(parse(data), {"QLST"})] == ["QLST"]


@given(where=st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), min_size=1, max_size=12))
def test_damaged_records_that_can_be_read_can_be_written(
    simulated: Path, tmp_path: Path, where: list[tuple[int, bytes]]
) -> None:
    """Whatever bytes of a header, a standard section or a section are wrong: each line is still JSON, and CSV is made of it."""
    data = bytearray(simulated.read_bytes()[:7046])
    for place, change in where:
        # Descriptor words stay, so that records are found.
        at = place % (len(data) - 64) + 24
        data[at : at + len(change)] = change
    tally = ReadCounts()
    with CsvFiles(tmp_path) as files:
        for record in records(io.BytesIO(bytes(data)), tally):
            files.write(record)
            for line in json_lines(record):
                assert list(json.loads(line)) == KEYS
                assert line.isascii()
    assert tally.records or tally.damage or tally.skipped
