"""Sections as lines of JSON, one line an instance, with the figures that IBM's documents derive from them.

A derived figure whose divisor is zero, or whose fields an older section lacks, is None, which is not zero.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from mqvitals_agent.smf.layout.field import (
    FieldElement,
    FormatPart,
    SectionFormatter,
    SectionShape,
    Value,
    digits,
    struct_of,
    text,
)
from mqvitals_agent.smf.layout.statistics import QEST
from mqvitals_agent.smf.record import CHANNEL_INITIATOR, Record, utc_text
from mqvitals_agent.smf.section import Section, sections, slots, used_slots

Figures = dict[str, float | None]

_US: Final = 4096
"""TOD units in a microsecond."""
_SECOND: Final = 1_000_000 * _US
_DURATION: Final = 44
"""The offset of QWHSDURN in the standard section."""
_PAGE: Final = 4096
_MB: Final = 1 << 20


def interval_tod(record: Record) -> int | None:
    """The length of the record's interval in TOD units (2**-12 microseconds), exactly; None where it has none."""
    if record.interval_us is None:
        return None
    at = record.triplets[0].offset + _DURATION
    raw = int.from_bytes(record.data[at : at + 8], "big")
    return raw if (record.type, record.subtype) in CHANNEL_INITIATOR else raw * _US


def figures(name: str, fields: Mapping[str, Value], interval: int) -> Figures | dict[str, Figures]:
    """The figures of a section by its name and fields; ``interval`` in TOD units (2**-12 microseconds)."""
    if name == "QEST":
        return _structures(fields)
    formula = _FORMULAS.get(name)
    return {} if formula is None else formula(fields.get, interval)


_Get = Callable[[str], Any]


def _ratio(part: int | None, whole: int | None, factor: float = 1.0) -> float | None:
    return None if part is None or not whole else factor * part / whole


def _rest(part: int | None, whole: int | None) -> float | None:
    """``whole`` less ``part``, in percent of ``whole``."""
    return None if part is None or not whole else 100.0 * (whole - part) / whole


def _buffer_pool(get: _Get, _: int) -> Figures:
    return {
        "low_free_pct": _ratio(get("cbsl"), get("nbuf"), 100.0),
        "free_pct": _ratio(get("cbs"), get("nbuf"), 100.0),
        "pages_per_write": _ratio(get("tpw"), get("wio")),
    }


def _log(get: _Get, interval: int) -> Figures:
    idle = get("slptu")
    return {
        "log_mb_per_s": _ratio(get("ciwr"), interval, _PAGE / _MB * _SECOND),
        "compression_pct": _rest(get("cmpcomp"), get("cmpuncmp")),
        "writer_busy_pct": None if idle is None else _rest(idle * _US, interval),
        "ci_per_write": _ratio(get("ciwr"), get("logw")),
    }


def _calls(get: _Get, interval: int) -> Figures:
    put, put1 = get("put"), get("put1")
    return {
        "put_per_s": _ratio(None if put is None or put1 is None else put + put1, interval, _SECOND),
        "get_per_s": _ratio(get("get"), interval, _SECOND),
    }


def _task(get: _Get, interval: int) -> Figures:
    return {
        "busy_pct": _ratio(get("eltm"), interval, 100.0),
        "cpu_pct": _ratio(get("cptm"), interval, 100.0),
        "avg_cpu_us": _ratio(get("cptm"), get("reqn"), 1 / _US),
        "avg_elapsed_us": _ratio(get("eltm"), get("reqn"), 1 / _US),
    }


def _channel(get: _Get, _: int) -> Figures:
    return {
        "msgs_per_batch": _ratio(get("nmsg"), get("batc")),
        "full_batch_pct": _ratio(get("fuba"), get("batc"), 100.0),
    }


def _structures(fields: Mapping[str, Any]) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for key, name in fields.items():
        field, _, slot = key.partition(".")
        if field == "str" and name and name[0] != "\0":
            found[name] = {
                "avg_single_us": _ratio(fields.get(f"sstc.{slot}"), fields.get(f"csec.{slot}"), 1 / _US),
                "avg_multiple_us": _ratio(fields.get(f"mstc.{slot}"), fields.get(f"cmec.{slot}"), 1 / _US),
            }
    return found


_FORMULAS: Final[Mapping[str, Callable[[_Get, int], Figures]]] = {
    "QPST": _buffer_pool,
    "QJST": _log,
    "QMST": _calls,
    "QCTADP": _task,
    "QCTDSP": _task,
    "QCTSSL": _task,
    "QCTDNS": _task,
    "QCST": _channel,
}

WITH_FIGURES: Final = frozenset({*_FORMULAS, "QEST"})
"""The sections with derived figures."""


_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
_NULL: Final = "null"
_LINE: Final = '{"section":"%s","index":%d,%s,"fields":{%s},"derived":%s}\n'


def json_lines(record: Record, wanted: Collection[str] = ()) -> Iterator[str]:
    """A line of JSON, with its end, for each section of a record, in their order; ``wanted``: only sections of these
    names.
    """
    head = _head(record)
    interval = interval_tod(record)
    for section in sections(record):
        if not wanted or section.layout.name in wanted:
            line = _structure_line if section.layout is QEST else _line
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
        derived = _NULL
    elif name in WITH_FIGURES:
        derived = _ENCODE(figures(name, section.fields(), interval))
    else:
        derived = "{}"
    values = _stencil(section.shape).text(section.record.data, section.offset)
    return _LINE % (name, section.number, head, values, derived)


@lru_cache(256)
def _stencil(shape: SectionShape) -> SectionFormatter:
    return SectionFormatter(tuple(map(_part, shape.elements)))


def _part(element: FieldElement) -> FormatPart:
    match element.field.form:
        case "ebc":
            return FormatPart(f'"{element.name}":%s', element, _text)
        case "hex":
            return FormatPart(f'"{element.name}":"%s"', element, digits)
    return FormatPart(f'"{element.name}":%d', element)


def _structure_line(section: Section, head: str, interval: int | None) -> str:
    """The line of QEST: only the slots in use."""
    data, at = section.record.data, section.offset
    stencils = _slots(section.shape)
    values = []
    derived: dict[str, object] = {}
    for index in used_slots(section):
        values.append(stencils[index].text(data, at))
        if interval is not None:
            elements = slots(section.shape)[index]
            raw = dict(
                zip((element.name for element in elements), struct_of(elements).unpack_from(data, at), strict=True)
            )
            derived |= figures("QEST", raw | {elements[0].name: text(raw[elements[0].name])}, interval)
    return _LINE % ("QEST", section.number, head, ",".join(values), _NULL if interval is None else _ENCODE(derived))


@lru_cache(8)
def _slots(shape: SectionShape) -> tuple[SectionFormatter, ...]:
    return tuple(SectionFormatter(tuple(map(_part, elements))) for elements in slots(shape))


@lru_cache(8192)
def _text(data: bytes) -> str:
    return _quoted(text(data))


@lru_cache(1024)
def _quoted(value: str) -> str:
    # JSON does not escape this control character, and a terminal would act on it.
    return _ENCODE(value).replace("\x7f", "\\u007f")


def _moment(us: int | None) -> str:
    return _NULL if us is None else _ENCODE(utc_text(us))
