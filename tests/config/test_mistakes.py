"""One file for each mistake in ``bad/``, and beside it exactly what a person gets to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.source import explained
from mqvitals_config.load import load_settings

BAD = Path(__file__).parent / "bad"


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_mistake_is_explained(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mistake gives its sentences, lines and carets, and no other exception."""
    monkeypatch.chdir(BAD)
    with pytest.raises(ConfigError) as raised:
        load_settings(path.name, {}, {})
    assert explained(raised.value.problems) + "\n" == path.with_suffix(".txt").read_text("utf-8")


def test_every_mistake_has_its_words() -> None:
    """No file of the folder stands alone."""
    assert {path.stem for path in BAD.glob("*.yaml")} == {path.stem for path in BAD.glob("*.txt")}
