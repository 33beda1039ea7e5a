"""The page about console messages: its tables are those of the templates and of the shipped rules."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_tables_are_up_to_date() -> None:
    written = (DOCS / "console.md").read_text("utf-8")
    page = runpy.run_path(str(DOCS / "console_tables.py"))["with_tables"](written)
    assert page == written, "write it again: make docs"
    assert "| CSQJ111A | log | CSQJ-111 | critical |" in page
