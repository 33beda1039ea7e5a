"""The columns of a section in CSV: which there are, and how a value of the record is written in them.

Names are those that users of mqsmfcsv know. Their values are right where those of that program are not: counters have no sign and all
their bits, flags are taken from their own word, and gets and browses of persistent messages are under their own names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from mqvitals_agent.smf.label import LABELS, NOTHING
from mqvitals_agent.smf.layout.field import Cell, Layout, text
from mqvitals_agent.smf.layout.qest import QEST
from mqvitals_agent.smf.moment import calendar
from mqvitals_agent.smf.record import EPOCH_US
from mqvitals_agent.smf.slot import slots
from mqvitals_agent.text.terminal import csv_cell

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
"""The columns of mqsmfcsv whose names are the wrong way round, by what is in them."""


class Column(NamedTuple):
    """One or several columns beside each other that are made of one value.

    ``cell``: the value's name in its section; ``write`` makes the text of all the columns of the raw value, None: a number, as it is.
    """

    headings: tuple[str, ...]
    cell: str
    write: Callable[[Any], str] | None = None


@cache
def columns(layout: Layout) -> tuple[Column, ...]:
    """The columns of a section of the longest form, in the order of their places in it."""
    longest = max(field.offset + (field.times - 1) * field.step + field.length for field in layout.fields)
    shape = layout.shape(longest)
    # Of QEST each structure has a line of its own.
    cells = slots(shape)[0] if layout is QEST else shape.cells
    return tuple(column for cell in cells if (column := _column(layout.name, cell)) is not None)


def hexed(data: bytes) -> str:
    """Bytes as hexadecimal digits, in quotes."""
    return f'"{data.hex().upper()}"'


def stamp(us: int) -> str:
    """Date and time in UTC of microseconds since 1970, as two columns: ``"2026/03/01","12:00:00,000000"``."""
    second, fraction = divmod(us, 1_000_000)
    told = _second(second)
    return f'{told}{fraction:06}"' if told else ","


@lru_cache(4096)
def _second(seconds: int) -> str:
    moment = calendar(seconds * 1_000_000)
    if moment is None:
        return ""
    told = moment.isoformat()
    return f'"{told[:4]}/{told[5:7]}/{told[8:10]}","{told[11:]},'


def _column(section: str, cell: Cell) -> Column | None:
    key = section, cell.field.name
    if key in _FLAGS:
        flags = _FLAGS[key]
        return Column(tuple(flag.heading for flag in flags), cell.name, _bits(flags))
    if key == ("WTID", "cori"):
        return Column(("Correl(HEX)", "Correl(CHAR)"), cell.name, lambda data: f"{hexed(data)},{_text(data)}")
    name = _name(section, cell)
    if name is None:
        return None
    if key in LABELS:
        return Column((name,), cell.name, _label(LABELS[key]))
    if key in NOTHING:
        return Column((name,), cell.name, _unless(NOTHING[key]))
    match cell.field.form:
        case "dur":
            return Column((f"{name}(S)", f"{name}(US)"), cell.name, _duration)
        case "tod":
            return Column((f"{name} (DATE)", f"{name} (TIME)"), cell.name, _stamp)
        case "ebc":
            return Column((name,), cell.name, _text)
        case "hex":
            return Column((name,), cell.name, hexed)
    return Column((name,), cell.name)


def _name(section: str, cell: Cell) -> str | None:
    """The column's name with what its braces stand for; None where the value has no column."""
    field, element = cell.field, cell.element or 0
    if field.name in ("iosqu", "hliosqu"):
        return f"{'ZHL_' if field.name == 'hliosqu' else ''}IO_Time_Sum_Squares_{element + 1}"
    name = _SWAPPED.get((section, field.name), field.column)
    if "{verb_kind" in name:
        verbs = _VERBS.get(section) or _VERBS[f"{section}.{field.name[:2]}"]
        verb, kind = divmod(element, _KIND_SLOTS)
        if kind >= len(_KINDS) or (section == "WTAS" and kind == _READ_LIST):
            return None
        return name.replace("verb_kind", f"{verbs[verb]}_{_KINDS[kind]}")
    if section == "QEST":
        return name
    return name.replace("{c.t}", f"{{{_COPIES[element % 4]}}}").replace("{n}", f"{{{element + 1}}}") or None


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
