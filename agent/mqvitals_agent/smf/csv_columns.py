"""The CSV columns of a section: which there are, and how a value of the record is written in them.

Names and codes are those of mqsmfcsv. The values are right where those of that program are not: counters have no sign
and all their bits, flags come from their own word, and gets and browses of persistent messages are under their own
names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from mqvitals_agent.smf.layout.field import FieldElement, SectionLayout, text
from mqvitals_agent.smf.layout.statistics import QEST
from mqvitals_agent.smf.record import EPOCH_US, utc_datetime
from mqvitals_agent.smf.section import slots
from mqvitals_agent.text.terminal import csv_cell

CONNECTION: Final[Mapping[int, str]] = {
    1: "CICS",
    2: "TSO",
    3: "IMS Ctl",
    4: "IMS MPP/BMP",
    5: "Cmd Svr",
    6: "CHIN",
    7: "RRS",
    8: "IGQ",
}
"""WTIDATYP and QWHCATYP: the type of a thread."""

_INDEX: Final[Mapping[int, str]] = {0: "None", 1: "MsgId", 2: "CorrelId", 4: "MsgToken", 5: "GroupId"}
_QUEUE: Final[Mapping[int, str]] = {
    1: "Local",
    2: "Model",
    3: "Alias",
    6: "Remote",
    7: "Cluster",
    8: "Topic",
    1001: "All",
}
_SCOPE: Final[Mapping[int, str]] = {
    0: "QMgr",
    1: "Copy",
    2: "Shared",
    3: "Group",
    4: "Private",
    6: "Live",
    0xFFFFFFFF: "All",
}
_DISPOSITION: Final[Mapping[int, str]] = {1: "Default", 2: "Shared", 4: "Private", 5: "Fixshared"}
_CHANNEL: Final[Mapping[int, str]] = {
    1: "Sender",
    2: "Server",
    3: "Receiver",
    4: "Requester",
    5: "All",
    6: "ClntConn",
    7: "SvrConn",
    8: "ClusRcvr",
    9: "ClusSdr",
    10: "MQTT",
    11: "AMQP",
}
_STATUS: Final[Mapping[int, str]] = {
    0: "Inactive",
    1: "Binding",
    2: "Starting",
    3: "Running",
    4: "Stopping",
    5: "Retrying",
    6: "Stopped",
    7: "Requesting",
    8: "Paused",
    9: "Disconnected",
    13: "Initializing",
    14: "Switching",
}
_MONITORING: Final[Mapping[int, str]] = {0: "Off", 1: "On", 17: "Low", 33: "Medium", 65: "High"}

LABELS: Final[Mapping[tuple[str, str], Mapping[int, str]]] = {
    ("WTID", "atyp"): CONNECTION,
    ("WQST", "qtype"): _QUEUE,
    ("WQST", "indxtype"): _INDEX,
    ("WQST", "qsgdisp"): _SCOPE,
    ("QCST", "chdp"): _DISPOSITION,
    ("QCST", "chty"): _CHANNEL,
    ("QCST", "chst"): _STATUS,
    ("QCST", "stcl"): _MONITORING,
}
"""By section and field."""

NOTHING: Final[Mapping[tuple[str, str], int]] = {
    ("QCST", "etmn"): 0x8FFFFFFF,
    ("QCST", "ntmn"): 0x8FFFFFFF,
    ("QSRS", "smfl"): 0xFFFFFFFF,
    ("QSRS", "smfr"): 0xFFFFFFFF,
    ("QSRS", "smfel"): 0xFFFFFFFF,
    ("QSRS", "smfer"): 0xFFFFFFFF,
    ("WQST", "getminms"): 0x0FFFFFFF,
    ("WQST", "putminms"): 0x0FFFFFFF,
}
"""By section and field: the number that stands for no value."""


_COPIES: Final = ("1.1", "1.2", "2.1", "2.2")
_KINDS: Final = (
    "Lock",
    "Unlock",
    "WrLCCtl",
    "SigXCF",
    "SigCF",
    "Read",
    "Write",
    "StartMon",
    "StopMon",
    "ReadList",
    "New",
    "Move",
    "MoveEntry",
    "Delete",
)
_KIND_SLOTS: Final = 20
_READ_LIST: Final = 9
_VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "WQST": ("Open", "Close", "Get", "Put", "Put1"),
    "WTAS.cm": ("Cmit",),
    "WTAS.pr": ("Prep",),
}
_SWAPPED: Final[Mapping[tuple[str, str], str]] = {
    ("QQST", "npdg"): "Get_NP",
    ("QQST", "pdg"): "Get_P",
    ("QQST", "npbr"): "Browse_NP",
    ("QQST", "pbr"): "Browse_P",
}
"""Columns that have each other's name in mqsmfcsv, by the field that they hold."""


class CsvColumn(NamedTuple):
    """One or several adjacent columns that are made of one value.

    ``element``: the value's name in its section; ``write`` makes the text of all the columns of the raw value, None: a
    number, as it is.
    """

    headings: tuple[str, ...]
    element: str
    write: Callable[[Any], str] | None = None


@cache
def columns(layout: SectionLayout) -> tuple[CsvColumn, ...]:
    """The columns of a section in its longest form, in the order of its values."""
    longest = max(field.offset + (field.times - 1) * field.step + field.length for field in layout.fields)
    shape = layout.shape(longest)
    # Of QEST each structure has a line of its own.
    elements = slots(shape)[0] if layout is QEST else shape.elements
    return tuple(column for element in elements if (column := _column(layout.name, element)) is not None)


def hexed(data: bytes) -> str:
    """Bytes as hexadecimal digits, in quotes."""
    return f'"{data.hex().upper()}"'


def stamp(us: int) -> str:
    """Date and time in UTC of microseconds since 1970, as two columns: ``"2026/03/01","12:00:00,000000"``."""
    second, fraction = divmod(us, 1_000_000)
    written = _second(second)
    return f'{written}{fraction:06}"' if written else ","


@lru_cache(4096)
def _second(seconds: int) -> str:
    moment = utc_datetime(seconds * 1_000_000)
    if moment is None:
        return ""
    written = moment.isoformat()
    return f'"{written[:4]}/{written[5:7]}/{written[8:10]}","{written[11:]},'


def _column(section: str, element: FieldElement) -> CsvColumn | None:
    key = section, element.field.name
    if key in _FLAGS:
        flags = _FLAGS[key]
        return CsvColumn(tuple(flag.heading for flag in flags), element.name, _bits(flags))
    if key == ("WTID", "cori"):
        return CsvColumn(("Correl(HEX)", "Correl(CHAR)"), element.name, lambda data: f"{hexed(data)},{_text(data)}")
    name = _name(section, element)
    if name is None:
        return None
    if key in LABELS:
        return CsvColumn((name,), element.name, _label(LABELS[key]))
    if key in NOTHING:
        return CsvColumn((name,), element.name, _unless(NOTHING[key]))
    match element.field.form:
        case "dur":
            return CsvColumn((f"{name}(S)", f"{name}(US)"), element.name, _duration)
        case "tod":
            return CsvColumn((f"{name} (DATE)", f"{name} (TIME)"), element.name, _stamp)
        case "ebc":
            return CsvColumn((name,), element.name, _text)
        case "hex":
            return CsvColumn((name,), element.name, hexed)
    return CsvColumn((name,), element.name)


def _name(section: str, element: FieldElement) -> str | None:
    """The column's name with its braces replaced; None where the value has no column."""
    field, index = element.field, element.number or 0
    if field.name in ("iosqu", "hliosqu"):
        return f"{'ZHL_' if field.name == 'hliosqu' else ''}IO_Time_Sum_Squares_{index + 1}"
    name = _SWAPPED.get((section, field.name), field.column)
    if "{verb_kind" in name:
        verbs = _VERBS.get(section) or _VERBS[f"{section}.{field.name[:2]}"]
        verb, kind = divmod(index, _KIND_SLOTS)
        if kind >= len(_KINDS) or (section == "WTAS" and kind == _READ_LIST):
            return None
        return name.replace("verb_kind", f"{verbs[verb]}_{_KINDS[kind]}")
    if section == "QEST":
        return name
    return name.replace("{c.t}", f"{{{_COPIES[index % 4]}}}").replace("{n}", f"{{{index + 1}}}") or None


@lru_cache(8192)
def _text(data: bytes) -> str:
    return csv_cell(text(data))


def _duration(value: int) -> str:
    if not value:
        return "0,0"
    seconds, us = divmod(value >> 12, 1_000_000)
    return f"{seconds},{us}"


def _stamp(value: int) -> str:
    return stamp((value >> 12) - EPOCH_US) if value else ","


def _label(labels: Mapping[int, str]) -> Callable[[int], str]:
    texts = {code: f'"{label}"' for code, label in labels.items()}
    return lambda value: texts.get(value) or str(value)


def _unless(nothing: int) -> Callable[[int], str]:
    return lambda value: "" if value == nothing else str(value)


class _Flag(NamedTuple):
    heading: str
    bit: int
    set: str
    unset: str


_FLAGS: Final[Mapping[tuple[str, str], tuple[_Flag, ...]]] = {
    ("QPST", "flags"): (
        _Flag("LOC", 0x80000000, "Above", "Below"),
        _Flag("FIX", 0x40000000, "Fixed", "Paged"),
    ),
    ("QIS1", "flag"): (
        _Flag("Expand", 0x80000000, "Yes", "No"),
        _Flag("Encrypted", 0x40000000, "Yes", "No"),
    ),
    ("QSPH", "flags"): (
        _Flag("Attr_Fixed", 0x80, "Yes", "No"),
        _Flag("Attr_Glob", 0x40, "Yes", "No"),
        _Flag("Attr_DSP", 0x20, "Yes", "No"),
        _Flag("Attr_IVSA", 0x10, "Yes", "No"),
        _Flag("Attr_64BIT", 0x08, "Yes", "No"),
    ),
    ("QESD", "flag"): (_Flag("Encrypted", 0x80000000, "Yes", "No"),),
    ("QQST", "flag"): (
        _Flag("Queue_Disp", 0x80000000, "SHARED", "PRIVATE"),
        _Flag("Record", 0x40000000, "PARTIAL", "FULL"),
        _Flag("Uncommitted", 0x20000000, "YES", "NO"),
    ),
}


def _bits(flags: tuple[_Flag, ...]) -> Callable[[int], str]:
    return lambda value: ",".join(f'"{flag.set if value & flag.bit else flag.unset}"' for flag in flags)
