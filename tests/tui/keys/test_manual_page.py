"""The manual page, which ``make docs`` writes from the arguments of all commands."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_manual_page_is_up_to_date() -> None:
    """It is the one made from the present commands, and no line of it is a request to troff by accident."""
    written = (DOCS / "mqvitals.1").read_text("utf-8")
    assert written == runpy.run_path(str(DOCS / "manual_page.py"))["manual_page"](), "write it again: make docs"
    assert not [line for line in written.splitlines() if line.startswith("'")]
