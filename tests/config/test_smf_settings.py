"""Where SMF records come to the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import load_settings


def written(folder: Path, text: str) -> str:
    path = folder / "mqvitals.yaml"
    path.write_text(text)
    return str(path)


def test_a_folder_stands_beside_the_file(tmp_path: Path) -> None:
    """A relative one; the environment comes before the file, and without either none is watched."""
    path = written(tmp_path, "smf:\n  watch: dumps\n")
    assert load_settings(path, {}, {}).settings.smf.watch == str(tmp_path / "dumps")
    assert load_settings(path, {"MQVITALS_SMF_WATCH": "/data/smf"}, {}).settings.smf.watch == "/data/smf"
    assert load_settings(None, {}, {}).settings.smf.watch is None


@pytest.mark.parametrize("text", ["smf:\n  watch: ''\n", "smf:\n  watch: [a, b]\n", "smf:\n  folder: a\n", "smf: a\n"])
def test_what_is_no_folder_is_told(tmp_path: Path, text: str) -> None:
    """With its place."""
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as told:
        load_settings(path, {}, {})
    assert f"{path}:" in str(told.value)
    assert "smf" in str(told.value)
