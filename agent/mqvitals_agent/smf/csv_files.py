"""A folder of CSV files, one a kind of section, with the columns that users of mqsmfcsv know.

Absent values are empty cells: those the record or an older section does not have, and stamps of zero. The first
columns are of the record: ``Date`` and ``Time`` as SMF took it, in the system's local time; all other times are UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Self

from mqvitals_agent.smf.csv_columns import CONNECTION, CsvColumn, columns, hexed, stamp
from mqvitals_agent.smf.layout.field import (
    FieldElement,
    FormatPart,
    SectionFormatter,
    SectionLayout,
    SectionShape,
    text,
)
from mqvitals_agent.smf.layout.statistics import QEST
from mqvitals_agent.smf.record import STATISTICS, Record
from mqvitals_agent.smf.section import Section, sections, slots, used_slots
from mqvitals_agent.text.terminal import csv_cell

_NAMES: Final[Mapping[str, str]] = {"WQST": "WQ"}
_RECORD: Final = ("Date", "Time", "LPAR", "QMgr", "QSG", "MQ_Version")
_INTERVAL: Final = ("Interval_Start (DATE)", "Interval_Start (TIME)", "Interval_Duration")
_ACCOUNTING: Final = frozenset({"QCST", "QMAC", "WTID", "WTAS", "WQST"})
_BATCH: Final = 200
"""The number of lines after which a file is written."""
_JOINED: Final = 2
"""In accounting of threads the triplet of WTAS, in continuations that of WQST."""
_WTAS_KEY: Final = 8
_WQST_KEY: Final = 16


class CsvFiles:
    """The files of ``folder``, which is created if it is missing; existing files are overwritten.

    A context manager: the files are complete at its end. All methods raise OSError.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._files: dict[str, _File] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.flush()
            self._stack.close()
        else:
            # The error that is under way says why.
            with suppress(OSError):
                self._stack.close()

    def write(self, record: Record, wanted: Collection[str] = ()) -> None:
        """Write the lines of a record's sections; ``wanted``: only of sections of these names."""
        common = _common(record)
        shape: SectionShape | None = None
        for section in sections(record):
            if section.shape is not shape:
                layout, shape = section.layout, section.shape
                is_wanted = not wanted or layout.name in wanted
                if is_wanted:
                    file = self._files.get(layout.name) or self._begin(layout)
                    file.make_room()
                    line = _row(layout, shape)
            if is_wanted:
                file.lines.append(line(section, common))

    def flush(self) -> None:
        """Write all waiting lines to the files."""
        for file in self._files.values():
            file.flush()

    def _begin(self, layout: SectionLayout) -> _File:
        path = self._folder / file_name(layout.name)
        stream = self._stack.enter_context(path.open("wb"))
        file = self._files[layout.name] = _File(stream, [",".join(map(_heading_cell, headings(layout))) + "\n"])
        return file


@dataclass(frozen=True, slots=True)
class _File:
    """A file and its waiting ``lines``: one write for many lines costs less."""

    stream: BinaryIO
    lines: list[str]

    def make_room(self) -> None:
        """Write the waiting lines when there are many."""
        if len(self.lines) >= _BATCH:
            self._write()

    def flush(self) -> None:
        """Write the waiting lines."""
        self._write()
        self.stream.flush()

    def _write(self) -> None:
        data = "".join(self.lines).encode()
        self.lines.clear()
        self.stream.write(data)


def file_name(section: str) -> str:
    """The name of a section's file: ``SMF-QPST.csv``, of WQST ``SMF-WQ.csv``."""
    return f"SMF-{_NAMES.get(section, section)}.csv"


def headings(layout: SectionLayout) -> tuple[str, ...]:
    """The names of all columns of a file."""
    found = [*_RECORD, *(() if layout.name in _ACCOUNTING else _INTERVAL)]
    lead = _LEADS.get(layout.name)
    for index, column in enumerate(columns(layout)):
        if lead is not None and index == lead.at:
            found += lead.headings
        found += column.headings
    return tuple(found)


def _heading_cell(heading: str) -> str:
    return csv_cell(heading) if "," in heading else heading


def _common(record: Record) -> str:
    whole, hundredths = divmod(record.time_cs, 100)
    minutes, second = divmod(whole, 60)
    hour, minute = divmod(minutes, 60)
    names = _names(record.sysid, record.ssid, record.qsg or "", record.release)
    return (
        f'{_date(*record.date)},"{hour:02}:{minute:02}:{second:02},{hundredths:02}0000",{names}'
        f"{_interval(record) if record.type == STATISTICS else ''}"
    )


@lru_cache(64)
def _date(year: int, day: int) -> str:
    return f'"{date(year, 1, 1) + timedelta(days=day - 1):%Y/%m/%d}"'


@lru_cache(256)
def _names(sysid: str, ssid: str, qsg: str, release: int) -> str:
    return f"{csv_cell(sysid)},{csv_cell(ssid)},{csv_cell(qsg)},{release or ''}"


def _interval(record: Record) -> str:
    if record.start_us is None or record.interval_us is None:
        return ",,,"
    whole, fraction = divmod(record.interval_us, 1_000_000)
    # Without the fraction a short interval would be zero, and rates would be wrong.
    duration = f"{whole}.{fraction:06}".rstrip("0").rstrip(".")
    return f",{stamp(record.start_us)},{duration}"


_FormatLine = Callable[[Section, str], str]
"""Makes the line of a section (the lines of QEST), which begins with the columns of the record."""


@lru_cache(256)
def _row(layout: SectionLayout, shape: SectionShape) -> _FormatLine:
    if layout is QEST:
        return _structures
    parts, lead = _parts(columns(layout), shape.elements), _LEADS.get(layout.name)
    behind = SectionFormatter(parts).text
    if lead is None:
        return lambda section, common: f"{common},{behind(section.record.data, section.offset)}\n"
    write = lead.write
    if not lead.at:
        return lambda section, common: f"{common},{write(section)},{behind(section.record.data, section.offset)}\n"
    return partial(_between, SectionFormatter(parts[: lead.at]), write, SectionFormatter(parts[lead.at :]))


def _between(
    before: SectionFormatter, write: Callable[[Section], str], behind: SectionFormatter, section: Section, common: str
) -> str:
    """The line of a section with leading columns that are not the first."""
    data, at = section.record.data, section.offset
    return f"{common},{before.text(data, at)},{write(section)},{behind.text(data, at)}\n"


def _parts(made: Sequence[CsvColumn], elements: Iterable[FieldElement]) -> tuple[FormatPart, ...]:
    """The columns with the values that are there; the others are empty."""
    present = {element.name: element for element in elements}
    return tuple(
        FormatPart("%d" if column.write is None else "%s", element, column.write)
        if (element := present.get(column.element)) is not None
        else FormatPart("," * (len(column.headings) - 1))
        for column in made
    )


def _structures(section: Section, common: str) -> str:
    """A line for each slot in use."""
    data, at, stencils = section.record.data, section.offset, _slots(section.shape)
    return "".join(f"{common},{stencils[index].text(data, at)}\n" for index in used_slots(section))


@lru_cache(8)
def _slots(shape: SectionShape) -> tuple[SectionFormatter, ...]:
    return tuple(map(_slot, slots(shape)))


def _slot(elements: tuple[FieldElement, ...]) -> SectionFormatter:
    # The columns are those of the first slot, and a slot's values are in the same order.
    made = [column._replace(element=element.name) for column, element in zip(columns(QEST), elements, strict=False)]
    return SectionFormatter(_parts([*made, *columns(QEST)[len(made) :]], elements))


class _Lead(NamedTuple):
    """Columns that are made from other data than the section's values; they stand before the column ``at``."""

    headings: tuple[str, ...]
    write: Callable[[Section], str]
    at: int = 0


def _index(section: Section) -> str:
    return str(section.number)


def _key(section: Section) -> str:
    """The key of WTAS: WTASSTRT and the eight bytes after it."""
    return hexed(section.record.data[section.offset + _WTAS_KEY : section.offset + _WTAS_KEY + 16])


def _correlator(section: Section) -> str:
    """The key of the section's record: of its WTAS, else of its first queue."""
    record = section.record
    if len(record.triplets) <= _JOINED or not record.triplets[_JOINED].instances:
        return ""
    at = record.triplets[_JOINED].offset + (_WTAS_KEY if record.subtype == 1 else _WQST_KEY)
    return hexed(record.data[at : at + 16])


def _thread(section: Section) -> str:
    """The thread's identity, QWHC."""
    at, data = section.record.context, section.record.data
    if at is None:
        return "," * (len(_THREAD) - 1)
    kind = int.from_bytes(data[at + 48 : at + 52], "big")
    label = CONNECTION.get(kind)
    return ",".join(
        (
            csv_cell(text(data[at + 4 : at + 12])),
            hexed(data[at + 12 : at + 24]),
            csv_cell(text(data[at + 24 : at + 32])),
            csv_cell(text(data[at + 40 : at + 48])),
            str(kind) if label is None else csv_cell(label),
            hexed(data[at + 52 : at + 74]),
            hexed(data[at + 74 : at + 90]),
        )
    )


_THREAD: Final = (
    "Authorisation_ID",
    "Correl_ID",
    "Connection_Name",
    "Operator_ID",
    "Application_Type",
    "Accounting_Token",
    "Network_ID",
)
_TASK: Final = _Lead(("Task_Index",), _index, 1)
_LEADS: Final[Mapping[str, _Lead]] = {
    "QCTADP": _TASK,
    "QCTDSP": _TASK,
    "QCTSSL": _TASK,
    "QCTDNS": _TASK,
    "QMAC": _Lead(_THREAD, _thread),
    "WTAS": _Lead(("Correl",), _key),
    "WTID": _Lead(("WTAS_Correlator",), _correlator),
}
