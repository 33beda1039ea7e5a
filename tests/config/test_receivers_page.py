"""docs/receivers.md: every type has its line and its section, and every example is in force as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mqvitals_config.load import load_settings
from mqvitals_config.receivers.types import RECEIVER_TYPES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "receivers.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}


def test_every_type_has_its_section_and_its_line() -> None:
    """In the order of the settings."""
    assert list(SECTIONS) == list(RECEIVER_TYPES)
    assert re.findall(
        r"^\| `(?!type)(\w+)` \| [^|]+ \| [^|]+ \|$", PAGE.partition("\n    mqvitals")[0], re.MULTILINE
    ) == list(RECEIVER_TYPES)


@pytest.mark.parametrize("kind", RECEIVER_TYPES)
def test_every_example_is_in_force_as_written(tmp_path: Path, kind: str) -> None:
    """It has one receiver of the type at least."""
    (example, *_) = re.findall(r"```yaml\n(.*?)```", SECTIONS[kind], re.DOTALL)
    path = tmp_path / "mqvitals.yaml"
    path.write_text(example)
    receivers = load_settings(str(path), {}, {}).settings.receivers
    assert {each.type for each in receivers} == {kind}
