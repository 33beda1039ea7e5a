"""Grafana's own schema judges the dashboards, by the types that its SDK for Go makes of it. Opt-in: ``make tools``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mqsamples.tools import needed

JUDGE = needed("grafana-schema")
DASHBOARDS = sorted((Path(__file__).resolve().parents[3] / "dashboards").glob("*.json"))


def judged(*paths: Path) -> subprocess.CompletedProcess[str]:
    """What the schema finds: exit code 1 and a line for each fault."""
    return subprocess.run([str(JUDGE), *map(str, paths)], capture_output=True, text=True, check=False)


def test_the_schema_takes_every_dashboard() -> None:
    assert len(DASHBOARDS) == 3
    found = judged(*DASHBOARDS)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def misspelt(panel: dict[str, Any]) -> None:
    panel["options"]["legendd"] = panel["options"].pop("legend")


def without_a_tooltip(panel: dict[str, Any]) -> None:
    del panel["options"]["tooltip"]


def of_another_type(panel: dict[str, Any]) -> None:
    panel["fieldConfig"]["defaults"]["unit"] = 5


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (misspelt, "unexpected field 'legendd'"),
        (without_a_tooltip, "tooltip: required field is missing"),
        (of_another_type, "unit of type string"),
    ],
)
def test_it_refuses_a_damaged_one(damage: Callable[[dict[str, Any]], None], words: str, tmp_path: Path) -> None:
    dashboard = json.loads(next(path for path in DASHBOARDS if path.stem == "channels").read_text("utf-8"))
    damage(dashboard["panels"][1])
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps(dashboard), encoding="utf-8")
    found = judged(damaged)
    assert found.returncode == 1
    assert words in found.stdout
