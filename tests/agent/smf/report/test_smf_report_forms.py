"""The report as text and as Markdown, with names that mean harm, and of real records."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqsamples.examples import COSTLY
from mqvitals_agent.review.smf_report import health_check
from mqvitals_agent.text.document import (
    Block,
    Heading,
    Items,
    Listing,
    Paragraph,
    ReportTable,
    ascii_blocks,
    column_lines,
    escaped,
    markdown_lines,
    plain_lines,
)
from mqvitals_agent.text.symbols import to_ascii
from mqvitals_agent.text.terminal import ELLIPSIS, cells, safe
from mqvitals_config.load import load_settings
from mqvitals_rules.ruleset.config import RuleConfig, load_rule_config

Run = Callable[..., tuple[int, str]]
Make = Callable[..., Any]

CELL = re.compile(r"(?<!\\)(?:\\\\)*\|")


def rows_of(text: str) -> list[list[str]]:
    """The tables' rows, each as the number of its bars by table."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [each for each in found if each]


def test_markdown_is_well_formed(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """One title; every table has a line of dashes below its titles and as many cells in each row."""
    code, text = report("--markdown", file(pools(0, smf.pool(at56=3), smf.pool(number=4))))
    assert code == 1
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    tables = rows_of(text)
    assert len(tables) >= 4
    for table in tables:
        assert re.fullmatch(r"\|( -{3}:? \|)+", table[1])
        assert len({len(CELL.findall(row)) for row in table}) == 1
    assert "### WARNING BP-05" in text or "### CRITICAL BP-05" in text


@pytest.mark.parametrize("form", ["--text", "--markdown"])
def test_names_that_mean_harm(report: Run, file: Make, smf: Any, channel: Make, form: str) -> None:
    """Bars and links in a channel's name do nothing to a table; one with escape sequences is left out, and named as harmlessly."""
    fields = {112: (4, 50), 116: (4, 18_000), 124: (4, 900), 204: (4, 400), 208: (4, 300), 212: (4, 90_000)}
    evil = channel("A|B]<b>*x*", fields)
    data = bytearray(evil)
    data[26:30] = bytes([0x27, 0x0D, 0x25, 0x27])  # escape, return, line feed in EBCDIC
    _, text = report(form, file(smf.record(116, 10, {1: [evil, bytes(data)]})))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "Objects with invalid names: 1." in " ".join(text.split())
    assert "x1b" in text
    if form == "--markdown":
        assert "\\|B" in text
        assert "\\<b>" in text
        for table in rows_of(text):
            assert len({len(CELL.findall(row)) for row in table}) == 1


def test_ascii(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Nothing of ours lies beyond ASCII; a sparkline has digits."""
    _, text = report("--ascii", file(pools(0, smf.pool(low=1)), pools(1, smf.pool(low=49_000))))
    assert text.isascii()
    assert "11111118888888" in text


@given(st.text(max_size=80), st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=4))
def test_blocks_in_ascii(text: str, rows: list[tuple[str, str]]) -> None:
    """Whatever names there are in any block, every character is ASCII and prints; a cut one is cut in ASCII in the end."""
    blocks: list[Block] = [
        Heading(1, text),
        Paragraph(text),
        Items((text, "ok")),
        Listing((text,), "yaml"),
        ReportTable(("Name", "Größe"), tuple(rows)),
    ]
    for line in [*markdown_lines(ascii_blocks(blocks)), *plain_lines(ascii_blocks(blocks), 60)]:
        assert to_ascii(line).isascii()
        assert line.replace(ELLIPSIS, "").isascii()
        assert to_ascii(line).isprintable()


@given(st.text())
def test_any_text_in_ascii(text: str) -> None:
    """Every character has an equivalent, and ASCII stays as it is."""
    assert to_ascii(text).isascii()
    ascii_part = text.encode("ascii", "ignore").decode()
    assert to_ascii(ascii_part) == ascii_part


def test_lines_fit(report: Run, file: Make, pools: Make, smf: Any) -> None:
    """Every line fits into 80 cells, with the greatest counts too."""
    most = {f"at{offset}": 0xFFFFFFFF for offset in (32, 48, 52, 56, 68)}
    _, text = report(file(pools(0, smf.pool(number=99, buffers=0xFFFFFFFF, **most))))
    assert max(map(cells, text.splitlines())) <= 80
    assert "4.3 G" in text


def test_figures(report: Run, simulated: Path, golden: Callable[[Path, str], str]) -> None:
    """The figures of four minutes of a queue manager, to the letter; they do not depend on the rules."""
    _, text = report(str(simulated))
    part = text[text.index("Buffer pools\n") :]
    difference = golden(Path(__file__).with_name("figures.txt"), part[: part.index("QM02")])
    assert not difference, difference


def test_quiet_minutes_are_judged(report: Run, quiet: Path) -> None:
    """Nothing is wrong with any queue manager, and their group is judged too."""
    code, text = report(str(quiet))
    for member in ("QM01", "QM02", "QM03", "QM04"):
        assert f" {member}: 0 critical, 0 warning" in text
    assert "OK PRDQ: 0 critical, 0 warning" in text
    assert code == 1  # there is advice


@cache
def shipped() -> RuleConfig:
    """The shipped rules."""
    return load_rule_config(load_settings(None, {}, {}).settings)


TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=5), st.integers(40, 120))
def test_columns_fit_whatever_they_hold(rows: list[tuple[str, str, str]], width: int) -> None:
    """No line of a table is longer than the width, and no letter of a text is lost."""
    shown = [tuple(safe(cell) for cell in row) for row in rows]
    lines = list(column_lines([("one", "two words", "three"), *shown], width, {2}))
    assert all(cells(line) <= width for line in lines)
    for column in (0, 1):
        wanted = sorted("".join("".join(row[column].split()) for row in shown))
        told = list("".join("".join(line.split()) for line in lines))
        if "…" not in told:
            for letter in wanted:
                assert letter in told


@given(TEXT)
def test_escaped_text_has_no_markup(text: str) -> None:
    """No bar, backquote, bracket or tag of a text stands without a backslash, and a paragraph stays one line."""
    bare = re.sub(r"\\.", "", escaped(text))
    assert not set("|`<[*#&") & set(bare)
    lines = list(markdown_lines([Paragraph(text), Items((text,)), ReportTable((text,), ((text,),))]))
    assert len(lines) == 7
    assert not re.match(r"[-+>=]|\d+[.)]\s", lines[0])


@COSTLY
@given(st.lists(st.tuples(st.integers(4, 239), st.integers(0, 255)), max_size=12))
def test_changed_bytes_do_no_harm(smf: Any, tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    """Whatever a record holds, the report is written, and no line is too long."""
    data = bytearray(smf.record(115, 215, {1: [smf.pool()]}))
    for place, value in changes:
        data[place % len(data)] = value
    data[0:4] = len(data).to_bytes(2, "big") + b"\0\0"
    path = tmp_path / "changed.smf"
    path.write_bytes(smf.record(115, 215, {1: [smf.pool(number=4)]}) + bytes(data))
    report = health_check([str(path)], shipped())
    assert report.records + report.damaged >= 1
    assert all(cells(line) <= 80 for line in plain_lines(report.blocks, 80))
