"""Sections as lines of JSON, one line an instance.

What a line looks like is worked out once for each section and length.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from mqvitals_agent.smf.derived import WITH_FIGURES, figures, interval_tod
from mqvitals_agent.smf.layout.field import Cell, Shape, digits, struct_of, text
from mqvitals_agent.smf.layout.qest import QEST
from mqvitals_agent.smf.moment import iso
from mqvitals_agent.smf.record import Record
from mqvitals_agent.smf.section import Section, sections
from mqvitals_agent.smf.slot import slots, used
from mqvitals_agent.smf.stencil import Part, Stencil

_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
_NULL: Final = "null"
_LINE: Final = '{"section":"%s","index":%d,%s,"fields":{%s},"derived":%s}\n'


def lines(record: Record, wanted: Collection[str] = ()) -> Iterator[str]:
    """A line of JSON, with its end, for each section of a record, in their order; ``wanted``: only sections of these names."""
    head = _head(record)
    interval = interval_tod(record)
    for section in sections(record):
        if not wanted or section.layout.name in wanted:
            line = _structures if section.layout is QEST else _line
            yield line(section, head, interval)


def _head(record: Record) -> str:
    """The part of a line that all sections of a record share."""
    qsg = _NULL if record.qsg is None else _quoted(record.qsg)
    interval = _NULL if record.interval_us is None else record.interval_us
    return (
        f'"type":{record.type},"subtype":{record.subtype},"sysid":{_quoted(record.sysid)},"ssid":{_quoted(record.ssid)},'
        f'"release":{record.release},"qsg":{qsg},"start":{_moment(record.start_us)},"end":{_moment(record.end_us)},'
        f'"interval_us":{interval}'
    )


def _line(section: Section, head: str, interval: int | None) -> str:
    name = section.layout.name
    if interval is None:
        told = _NULL
    elif name in WITH_FIGURES:
        told = _ENCODE(figures(name, section.fields(), interval))
    else:
        told = "{}"
    values = _stencil(section.shape).text(section.record.data, section.offset)
    return _LINE % (name, section.number, head, values, told)


@lru_cache(256)
def _stencil(shape: Shape) -> Stencil:
    return Stencil(tuple(map(_part, shape.cells)))


def _part(cell: Cell) -> Part:
    match cell.field.form:
        case "ebc":
            return Part(f'"{cell.name}":%s', cell, _text)
        case "hex":
            return Part(f'"{cell.name}":"%s"', cell, digits)
    return Part(f'"{cell.name}":%d', cell)


def _structures(section: Section, head: str, interval: int | None) -> str:
    """The line of QEST: only the slots in use."""
    data, at = section.record.data, section.offset
    stencils = _slots(section.shape)
    values = []
    told: dict[str, object] = {}
    for index in used(section):
        values.append(stencils[index].text(data, at))
        if interval is not None:
            cells = slots(section.shape)[index]
            raw = dict(zip((cell.name for cell in cells), struct_of(cells).unpack_from(data, at), strict=True))
            told |= figures("QEST", raw | {cells[0].name: text(raw[cells[0].name])}, interval)
    return _LINE % ("QEST", section.number, head, ",".join(values), _NULL if interval is None else _ENCODE(told))


@lru_cache(8)
def _slots(shape: Shape) -> tuple[Stencil, ...]:
    return tuple(Stencil(tuple(map(_part, cells))) for cells in slots(shape))


@lru_cache(8192)
def _text(data: bytes) -> str:
    return _quoted(text(data))


@lru_cache(1024)
def _quoted(value: str) -> str:
    # JSON leaves this control character as it is, and a terminal would not.
    return _ENCODE(value).replace("\x7f", "\\u007f")


def _moment(us: int | None) -> str:
    return _NULL if us is None else _ENCODE(iso(us))
