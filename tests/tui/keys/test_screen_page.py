"""The page about the full-screen interface names its keys."""

from __future__ import annotations

import re
from pathlib import Path

from mqvitals_tui.keys import ACTIONS, APP, BEFORE, DETAIL, EXTEND, MAIN, SEEN, WHO, key_names
from mqvitals_tui.tabs import EVERYWHERE

PAGE = Path(__file__).parents[3] / "docs" / "screen.md"
ABRIDGED = {"2", "3", "4", "5", "6", "7", "8", ".", ",", "="}
"""Digits between those that are named, and keys that need no Shift on some keyboards."""


def test_the_page_names_every_key() -> None:
    """Who reads the page learns every key, and none that there is not."""
    table = "\n".join(line.split("|")[1] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `"))
    told = {re.sub(r"\\", "", key) for key in re.findall(r"`([^`]+)`", table)}
    keys = {
        key
        for binding in (*APP, *EVERYWHERE, *MAIN, *DETAIL, WHO, *ACTIONS, BEFORE, EXTEND, SEEN)
        for key in key_names(binding).split()
    }
    assert keys - ABRIDGED - {"d"} <= told
    assert told - keys <= {"↑", "↓", "k", "j", "F7", "F8", "Space", "Enter"}
