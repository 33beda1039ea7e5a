"""Formulas are arithmetic alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import mqvitals_rules.plan

OWN = "mqvitals_rules.plan"
MODULES = sorted(Path(mqvitals_rules.plan.__file__).parent.glob("*.py"))
_WITH_THE_WORLD = {
    "os",
    "socket",
    "subprocess",
    "sqlite3",
    "asyncio",
    "time",
    "random",
    "pathlib",
    "urllib",
    "threading",
}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written out"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_only_the_standard_library_and_each_other(path: Path) -> None:
    """No module here needs anything else, nor anything that has to do with the world outside."""
    for name in imported(path):
        top = name.split(".")[0]
        assert name == OWN or name.startswith(f"{OWN}.") or top in sys.stdlib_module_names, f"{path.name}: {name}"
        assert top not in _WITH_THE_WORLD, f"{path.name}: {name}"
