"""How long the store keeps, and how large it may become."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.load import load_settings
from mqvitals_config.settings import Settings, parse_keep, parse_size

GB = 1024**3


def test_retention_is_on_by_default() -> None:
    """Who says nothing keeps a month and five gigabytes."""
    store = Settings().store
    assert (store.keep, store.max_size) == (30 * 86_400_000, 5 * GB)


@pytest.mark.parametrize(
    ("text", "ms"), [("1h", 3_600_000), ("90d", 90 * 86_400_000), ("1d12h", 129_600_000), ("forever", None)]
)
def test_how_long(text: str, ms: int | None) -> None:
    """A duration, or forever."""
    assert parse_keep(text) == ms


@pytest.mark.parametrize(("text", "why"), [("59m59s", "1h at least"), ("7", "needs a unit"), ("ever", "or forever")])
def test_not_so_long(text: str, why: str) -> None:
    """Too short, or no duration."""
    with pytest.raises(ValueError, match=why):
        parse_keep(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("16MB", 16 * 1024**2), ("5GB", 5 * GB), ("1.5 tb", 3 * GB * 512), ("65536KB", 64 * 1024**2), ("none", None)],
)
def test_how_large(text: str, size: int | None) -> None:
    """Powers of 1024, whatever the case of the unit."""
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "why"),
    [("15.9MB", "16MB at least"), ("5", "5MB or 5GB"), ("5G", "or none"), ("-5GB", "or none"), ("999999999TB", "none")],
)
def test_not_so_large(text: str, why: str) -> None:
    """Too small, too large, or no size."""
    with pytest.raises(ValueError, match=why):
        parse_size(text)


def test_from_file_and_environment(tmp_path: Path) -> None:
    """The environment beats the file."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text("store: {keep: forever, max_size: 500MB}\n")
    store = load_settings(str(path), {"MQVITALS_STORE_KEEP": "7d"}, {}).settings.store
    assert (store.keep, store.max_size) == (7 * 86_400_000, 500 * 1024**2)
