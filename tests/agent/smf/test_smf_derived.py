"""Figures derived from a section and its interval, with the units of each side."""

from __future__ import annotations

from typing import Any

import pytest

from mqvitals_agent.smf.json_lines import Figures, figures, interval_tod
from mqvitals_agent.smf.record import parse
from mqvitals_agent.smf.section import Section, sections

SECOND = 4096 * 1_000_000
"""In TOD units."""


def derived(section: Section) -> Figures | dict[str, Figures] | None:
    """The figures of a section; None where its record has no interval."""
    interval = interval_tod(section.record)
    return None if interval is None else figures(section.layout.name, section.fields(), interval)


@pytest.mark.parametrize(
    ("section", "fields", "expected"),
    [
        (
            "QPST",
            {"nbuf": 50_000, "cbsl": 600, "cbs": 9_000, "tpw": 84, "wio": 21},
            {"low_free_pct": 1.2, "free_pct": 18.0, "pages_per_write": 4.0},
        ),
        (
            "QJST",
            {"ciwr": 25_600, "logw": 12_800, "slptu": 7_500_000, "cmpuncmp": 1_000, "cmpcomp": 250},
            {"log_mb_per_s": 10.0, "compression_pct": 75.0, "writer_busy_pct": 25.0, "ci_per_write": 2.0},
        ),
        ("QMST", {"put": 90, "put1": 10, "get": 250}, {"put_per_s": 10.0, "get_per_s": 25.0}),
        (
            "QCTADP",
            {"reqn": 1_000, "eltm": 5 * SECOND, "cptm": SECOND},
            {"busy_pct": 50.0, "cpu_pct": 10.0, "avg_cpu_us": 1_000.0, "avg_elapsed_us": 5_000.0},
        ),
        ("QCST", {"nmsg": 500, "batc": 20, "fuba": 5}, {"msgs_per_batch": 25.0, "full_batch_pct": 25.0}),
        (
            "QEST",
            {"str.3": "APPL1", "csec.3": 10, "sstc.3": 4096 * 50, "cmec.3": 0, "mstc.3": 0, "str.4": "", "csec.4": 1},
            {"APPL1": {"avg_single_us": 5.0, "avg_multiple_us": None}},
        ),
        ("QSST", {"gplf": 3}, {}),
    ],
)
def test_formulas(section: str, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Each figure is what its formula gives for ten seconds."""
    found = figures(section, fields, 10 * SECOND)
    assert found == pytest.approx(expected) if section != "QEST" else found == expected


@pytest.mark.parametrize("section", ["QPST", "QJST", "QMST", "QCTADP", "QCTDSP", "QCTSSL", "QCTDNS", "QCST"])
def test_nothing_to_divide_by(section: str) -> None:
    """Without a divisor, without an interval's length and without the fields a figure is None: neither zero nor an error."""
    zeros = dict.fromkeys(
        [
            "nbuf",
            "cbsl",
            "cbs",
            "tpw",
            "wio",
            "ciwr",
            "logw",
            "slptu",
            "cmpuncmp",
            "cmpcomp",
            "put",
            "put1",
            "get",
            "reqn",
            "eltm",
            "cptm",
            "nmsg",
            "batc",
            "fuba",
        ],
        0,
    )
    assert set(figures(section, zeros, 0).values()) == {None}
    assert set(figures(section, {}, SECOND).values()) == {None}


def test_both_units_of_intervals(smf: Any) -> None:
    """The queue manager tells intervals in microseconds, the channel initiator in TOD units: both come out alike, to the unit."""
    manager = parse(smf.record(115, 215, {1: [smf.pool()]}, length_us=1_800_000_001))
    initiator = parse(smf.record(115, 231, {3: [smf.section(32)]}, length_us=1_800_000_001))
    assert interval_tod(manager) == interval_tod(initiator) == 1_800_000_001 * 4096


def test_a_task_that_never_rests_is_busy_throughout(smf: Any) -> None:
    """Elapsed time equal to the interval is exactly 100 %: the interval's fractions of a microsecond count."""
    data = bytearray(smf.record(115, 231, {3: [smf.section(32, {16: (8, 7_372_799_999)})]}))
    data[-8:] = (7_372_799_999).to_bytes(8, "big")
    (section,) = sections(parse(bytes(data)))
    found = derived(section)
    assert found is not None
    assert found["busy_pct"] == 100.0


def test_threads_have_no_interval_and_so_no_figures(smf: Any) -> None:
    """Where the record tells no interval there is nothing derived at all."""
    data = smf.record(116, 10, {1: [smf.section(324)]}, length_us=0)
    assert [set(derived(each).values()) for each in sections(parse(data))] == [{None}]  # type: ignore[union-attr]
    thread = smf.record(116, 0, {2: [smf.section(48)]}, t0=smf.thread_standard(3))
    assert [derived(each) for each in sections(parse(thread))] == [None]
