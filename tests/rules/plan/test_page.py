"""The reference page of the formulas."""

from __future__ import annotations

from pathlib import Path

from mqvitals_rules.plan.catalogue import FORMULAS, formulas_page

WRITTEN = Path(__file__).resolve().parents[3] / "docs" / "plan.md"


def test_the_page_is_up_to_date() -> None:
    """docs/plan.md is what `mqvitals plan list --markdown` prints now."""
    assert WRITTEN.read_text("utf-8") == formulas_page(FORMULAS.values()), "make docs"


def test_every_formula_has_its_section() -> None:
    """Each section has options, an example with its answer, and the source; no table has a row of another width."""
    sections = formulas_page(FORMULAS.values()).split("\n## ")[1:]
    assert [section.split("\n")[0] for section in sections] == list(FORMULAS)
    for formula, section in zip(FORMULAS.values(), sections, strict=True):
        assert all(f"| `--{each.option}` |" in section for each in formula.inputs)
        assert f"    mqvitals plan {formula.name}" in section
        assert "\nSource: " in section
        for table in section.split("\n\n"):
            rows = [line for line in table.split("\n") if line.startswith("|")]
            assert len({row.replace("\\|", "").count("|") for row in rows}) <= 1
