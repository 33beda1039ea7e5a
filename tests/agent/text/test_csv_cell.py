"""Cells of CSV files: no text of MQ is computed by a spreadsheet, breaks a line or leaves its cell."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.terminal import csv_cell


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
        ("+1+2", "'+1+2"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),
        ("-", "'-"),
        ("-1.5", "-1.5"),
        ("+7", "+7"),
        ("-1e9", "-1e9"),
        ("\t=1", ".=1"),
        ("\r=1", ".=1"),
        ("a\nb\x1b[2J", "a.b.[2J"),
        ("QM01", "QM01"),
        ("A=B", "A=B"),
        ("", ""),
    ],
)  # fmt: skip
def test_cells(text: str, cell: str) -> None:
    assert next(csv.reader([csv_cell(text)])) == [cell]


@given(st.lists(st.text(), min_size=2, max_size=4))
def test_a_row_stays_a_row(texts: list[str]) -> None:
    """However many commas, quotes and line ends there are; and no cell begins as a formula does."""
    (row,) = csv.reader(io.StringIO(",".join(map(csv_cell, texts)) + "\n"))
    assert len(row) == len(texts)
    for cell in row:
        assert cell.isprintable()
        assert cell[:1] not in {"=", "@"}
        if cell[:1] in {"+", "-"}:
            float(cell)
