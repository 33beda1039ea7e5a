"""The page for those who change the code names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = ("agent/mqvitals_agent", "rules/mqvitals_rules", "config/mqvitals_config", "tui/mqvitals_tui", ".")


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_paths_exist(page: str) -> None:
    """Every path to a module or a folder with a slash in it is one of the sources."""
    text = (ROOT / page).read_text("utf-8")
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text)) | set(re.findall(r"`(\w+(?:/\w+)*\.py)`", text))
    assert named
    folders = [ROOT / folder for folder in CODE]
    deep = {path.name for folder in folders[:-1] for path in folder.rglob("*.py")}
    missing = [name for name in named if name not in deep and not any((folder / name).exists() for folder in folders)]
    assert not missing
