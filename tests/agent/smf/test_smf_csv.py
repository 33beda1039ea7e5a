"""CSV files: the columns that are known, and values that are those of the JSON lines."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.smf.csv_columns import LABELS, NOTHING, columns
from mqvitals_agent.smf.csv_files import CsvFiles, file_name, headings
from mqvitals_agent.smf.json_lines import json_lines
from mqvitals_agent.smf.reader import ReadCounts, open_smf, records
from mqvitals_agent.smf.record import EPOCH_US, Record, parse
from mqvitals_agent.smf.section import LAYOUTS

Rows = Mapping[str, list[dict[str, str]]]


def written(folder: Path, found: Iterable[Record]) -> Rows:
    """The rows of all files by the section's name, read back."""
    with CsvFiles(folder) as files:
        for record in found:
            files.write(record)
    rows: dict[str, list[dict[str, str]]] = {}
    for name in LAYOUTS:
        path = folder / file_name(name)
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                told = csv.reader(file)
                heads = next(told)
                rows[name] = [dict(zip(heads, row, strict=True)) for row in told]
    return rows


@pytest.mark.parametrize(
    ("section", "number"),
    {
        "WQST": 507,
        "WTAS": 402,
        "Q5ST": 172,
        "QJST": 135,
        "QQST": 99,
        "QESD": 88,
        "QMST": 60,
        "QCST": 55,
        "QSRS": 53,
        "QIS1": 36,
        "QTST": 30,
        "QPST": 27,
        "QSST": 25,
        "QIST": 24,
        "QMAC": 23,
        "QEST": 22,
        "QCTSSL": 22,
        "QCTDNS": 22,
        "QCCT": 20,
        "QCTDSP": 19,
        "WTID": 19,
        "QCTADP": 18,
        "QLST": 12,
    }.items(),
)
def test_as_many_columns_as_users_know(section: str, number: int) -> None:
    """No table has more or fewer (of QESD one column is in two parts), and no two have one name."""
    found = headings(LAYOUTS[section])
    assert len(found) == len(set(found)) == number


@pytest.mark.parametrize(
    ("section", "heading"),
    [
        ("QPST", "Interval_Start (DATE)"),
        ("QPST", "FIX"),
        ("QJST", "IO_Count {1.1}"),
        ("QJST", "IO_Total_Time{2.1}(US)"),
        ("QJST", "IO_Max_Time{2.2} (TIME)"),
        ("QJST", "ZHL_IO_Time_Sum_Squares_2"),
        ("QCTADP", "Task_Index"),
        ("QEST", "IXLLSTE_Calls_Time(S)"),
        ("WTAS", "Latch_Wait_Count {32}"),
        ("WTAS", "CFSync {Cmit_Lock_ET}"),
        ("WTAS", "CFAsync {Prep_Delete}"),
        ("WTAS", "Correl"),
        ("WTID", "Correl(CHAR)"),
        ("WQST", "CFCount {Open_Lock}"),
        ("WQST", "CFAsync {Put1_ReadList_ET}"),
        ("QMAC", "Authorisation_ID"),
        ("QQST", "Uncommitted"),
    ],
)
def test_names(section: str, heading: str) -> None:
    """What stands for an element of an array is in braces."""
    assert heading in headings(LAYOUTS[section])


def test_a_file_as_it_is_written(smf: Any, tmp_path: Path) -> None:
    """The heading and a line: texts in quotes, dates and times as they are known, no column too many."""
    task = smf.section(32, {0: (4, 9), 4: (4, 0xFFFFFFFF), 8: (8, 1_500_000 << 12), 16: (8, 0xFFFFFFFFFFFFFFFF)})
    found = parse(smf.record(115, 231, {3: [smf.section(32), task]}, local_us=3_600_000_000, length_us=250_000))
    written(tmp_path, [found])
    assert [path.name for path in tmp_path.iterdir()] == ["SMF-QCTADP.csv"]
    assert (tmp_path / "SMF-QCTADP.csv").read_text("utf-8").split("\n")[::2] == [
        (
            "Date,Time,LPAR,QMgr,QSG,MQ_Version,Interval_Start (DATE),Interval_Start (TIME),Interval_Duration,"
            "Task_Number,Task_Index,Request_Count,Task_CPU_Time(S),Task_CPU_Time(US),"
            "Task_Elapsed_Time(S),Task_Elapsed_Time(US),Task_Wait_Time(S),Task_Wait_Time(US)"
        ),
        (
            '"2026/03/01","13:00:00,250000","MV01","MQ01","",940,"2026/03/01","12:00:00,000000",0.25,'
            "9,1,4294967295,1,500000,4503599627,370495,0,0"
        ),
    ]


def test_what_old_sections_lack_is_empty(smf: Any, tmp_path: Path) -> None:
    """Neither zero nor minus one: a file of mixed releases has all columns, with nothing in those that a record lacks."""
    records = [parse(smf.record(115, 2, {1: [smf.section(size, {8: (4, 7)})]})) for size in (72, 328)]
    old, new = written(tmp_path, records)["QMST"]
    assert (old["Open"], old["Pubs"], old["PersPuts"], old["Otel_CPU_Time(S)"]) == ("7", "0", "", "")
    assert (new["PersPuts"], new["Otel_CPU_Time(S)"], new["Otel_CPU_Time(US)"]) == ("0", "0", "0")


def test_what_says_that_there_is_nothing_is_empty(smf: Any, tmp_path: Path) -> None:
    """Numbers that stand for no value, and stamps of zero."""
    channel = smf.section(324, {184: (4, 0x8FFFFFFF), 208: (4, 0x8FFFFFFF), 212: (4, 5)})
    queue = smf.section(2800, {528: (4, 0x0FFFFFFF), 536: (4, 3)})
    rows = written(
        tmp_path,
        [
            parse(smf.record(116, 10, {1: [channel]})),
            parse(smf.record(116, 2, {2: [queue]}, t0=smf.thread_standard(3))),
            parse(smf.record(115, 7, {1: [smf.section(232, {64: (4, 0xFFFFFFFF)})]}, t0=smf.STORAGE_STANDARD)),
        ],
    )
    (found,) = rows["QCST"]
    assert (found["Exit_Time_Min"], found["Net_Time_Min"], found["Net_Time_Max"]) == ("", "", "5")
    assert (found["Stop (DATE)"], found["Stop (TIME)"]) == ("", "")
    (found,) = rows["WQST"]
    assert (found["Get_Min_Msg_Size"], found["Put_Min_Msg_Size"]) == ("", "3")
    (found,) = rows["QSRS"]
    assert (found["SMF_24_Limit"], found["SMF_24_Average"], found["Interval_Duration"]) == ("", "0", "")


def test_flags_and_codes(smf: Any, tmp_path: Path) -> None:
    """Words for what bits and codes say; a code without a word stays a number."""
    pools = [smf.pool(number, at72=bits) for number, bits in enumerate((0, 0x80000000, 0x40000000))]
    queue = smf.section(672, {56: (4, 0xA0000000), 296: (8, 1), 304: (8, 2), 344: (8, 3), 352: (8, 4)})
    channels = [smf.section(324, {37: (1, kind), 38: (1, 3)}) for kind in (7, 99)]
    shared = [smf.section(336, {192: (8, 1_000_001 << 12), 328: (4, bits)}) for bits in (0x80000000, 0)]
    rows = written(
        tmp_path,
        [
            parse(smf.record(115, 215, {1: pools})),
            parse(smf.record(115, 216, {1: [queue]})),
            parse(smf.record(116, 10, {1: channels})),
            parse(smf.record(115, 2, {8: shared})),
            parse(smf.record(115, 201, {1: [smf.section(104, {100: (4, 0x40000000)})]})),
        ],
    )
    assert [(row["LOC"], row["FIX"]) for row in rows["QPST"]] == [
        ("Below", "Paged"),
        ("Above", "Paged"),
        ("Below", "Fixed"),
    ]
    (found,) = rows["QQST"]
    assert (found["Queue_Disp"], found["Record"], found["Uncommitted"]) == ("SHARED", "FULL", "YES")
    assert [found[name] for name in ("Get_NP", "Get_P", "Browse_NP", "Browse_P")] == ["1", "2", "3", "4"]
    assert [(row["Type"], row["Status"]) for row in rows["QCST"]] == [("SvrConn", "Running"), ("99", "Running")]
    assert [row["Encrypted"] for row in rows["QESD"]] == ["Yes", "No"]
    assert [rows["QESD"][0][f"Buffer_Wait_Time({unit})"] for unit in ("S", "US")] == ["1", "1"]
    assert [(row["Expand"], row["Encrypted"]) for row in rows["QIS1"]] == [("No", "Yes")]


def test_what_joins_the_parts_of_a_thread(smf: Any, tmp_path: Path) -> None:
    """WTAS, its WTID and the queues of a continuation carry the same key; QMAC carries the thread's identity."""
    key = (0x0102030405060708, 0x1112131415161718)
    thread = smf.section(2344, {8: (8, key[0]), 16: (8, key[1])})
    queue = smf.section(2800, {16: (8, key[0]), 24: (8, key[1])})
    rows = written(
        tmp_path,
        [
            parse(smf.record(116, 1, {1: [smf.section(208)], 2: [thread]}, t0=smf.thread_standard(4))),
            parse(smf.record(116, 2, {1: [smf.section(208)], 2: [queue]}, t0=smf.thread_standard(3))),
            parse(smf.record(116, 1, {1: [smf.section(208)]}, t0=smf.thread_standard(2))),
            parse(smf.record(116, 0, {2: [smf.section(48)]}, t0=smf.thread_standard(3))),
        ],
    )
    told = "01020304050607081112131415161718"
    assert rows["WTAS"][0]["Correl"] == rows["WQST"][0]["Correlation"] == told
    assert [row["WTAS_Correlator"] for row in rows["WTID"]] == [told, told, ""]
    (found,) = rows["QMAC"]
    assert (found["Authorisation_ID"], found["Connection_Name"], found["Operator_ID"], found["Application_Type"]) == (
        "PAYUSER",
        "CICSA",
        "OPER",
        "CICS",
    )
    assert found["Correl_ID"] == "000102030405060708090A0B"


def test_text_cannot_break_a_line(smf: Any, tmp_path: Path) -> None:
    """Commas and quotes in a name stay in their cell, and what cannot be printed is a dot."""
    data = bytearray(smf.section(324))
    data[16:36] = smf.ebcdic('A",\n\x1b[2J', 20)
    (found,) = written(tmp_path, [parse(smf.record(116, 10, {1: [bytes(data)]}))])["QCST"]
    assert found["Chl_Name"] == 'A",..[2J'


def test_only_wanted_sections_and_files_begun_anew(smf: Any, tmp_path: Path) -> None:
    """Other sections leave no file; a second writing replaces the first."""
    found = parse(smf.record(115, 2, {1: [smf.section(72)], 4: [smf.section(32)]}))
    for _ in range(2):
        with CsvFiles(tmp_path / "new" / "folder") as files:
            files.write(found, {"QLST"})
    (path,) = (tmp_path / "new" / "folder").iterdir()
    assert path.name == "SMF-QLST.csv"
    assert len(path.read_text("utf-8").splitlines()) == 2


def test_every_section_says_the_same_as_in_json(every_section: Path, tmp_path: Path) -> None:
    """Row by row, each number, duration, stamp, text and byte string is that of the section's line of JSON."""
    with open_smf(every_section) as stream:
        found = list(records(stream, ReadCounts()))
    rows = written(tmp_path, found)
    told: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = defaultdict(list)
    for record in found:
        for line in json_lines(record):
            each = json.loads(line)
            told[each["section"]] += _instances(each)
    assert {section: len(each) for section, each in rows.items()} == {
        section: len(each) for section, each in told.items()
    }
    compared = 0
    for section, instances in told.items():
        for row, (each, fields) in zip(rows[section], instances, strict=True):
            if row.get("Interval_Duration"):
                assert float(row["Interval_Duration"]) == each["interval_us"] / 1e6
                assert _moment(row, "Interval_Start") == datetime.fromisoformat(each["start"])
            compared += _compare(section, row, fields)
    assert rows.keys() == LAYOUTS.keys()
    assert compared > 400


def _instances(line: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A line's fields, of QEST those of each structure."""
    if line["section"] != "QEST":
        return [(line, line["fields"])]
    slots: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in line["fields"].items():
        field, _, slot = name.partition(".")
        slots[slot][f"{field}.0"] = value
    return [(line, fields) for fields in slots.values()]


def _compare(section: str, row: dict[str, str], fields: Mapping[str, Any]) -> int:
    forms = {field.name: field.form for field in LAYOUTS[section].fields}
    compared = 0
    for column in columns(LAYOUTS[section]):
        value = fields.get(column.element)
        field = column.element.partition(".")[0]
        form = forms.get(column.element) or forms[field]
        if (section, field) in LABELS or (section, field) in NOTHING or field == "flags" or field == "flag":
            continue
        compared += 1
        first = row[column.headings[0]]
        if value is None:
            assert {row[heading] for heading in column.headings} == {""}
        elif form == "dur":
            us = int(first) * 1_000_000 + int(row[column.headings[1]])
            assert us == value >> 12
        elif form == "tod":
            expected = value and datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=(value >> 12) - EPOCH_US)
            assert (_moment(row, column.headings[0].removesuffix(" (DATE)")) if first else 0) == expected
        elif form == "hex":
            assert first == value.upper()
        elif form == "ebc":
            assert first == "".join(each if each.isprintable() else "." for each in value)
        else:
            assert first == str(value)
    return compared


def _moment(row: dict[str, str], name: str) -> datetime:
    told = f"{row[f'{name} (DATE)']} {row[f'{name} (TIME)']}+0000"
    return datetime.strptime(told, "%Y/%m/%d %H:%M:%S,%f%z")
