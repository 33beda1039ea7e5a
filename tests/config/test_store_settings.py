"""How long the store keeps, and how large it may become."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import LoadedSettings, load_settings
from mqvitals_config.sections.store import KeepSettings, RawKeep, format_keep, parse_keep, parse_size
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import check_settings

GB = 1024**3
DAY = 86_400_000
YEAR = 365 * DAY


def test_retention_is_on_by_default() -> None:
    """Who says nothing keeps a month of samples, two years of hours and alerts, and five gigabytes."""
    store = Settings().store
    assert (dict(store.keep.raw), store.keep.hours, store.keep.alerts) == ({"default": 30 * DAY}, 2 * YEAR, 2 * YEAR)
    assert store.limit == 5 * GB


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1h", 3_600_000),
        ("90d", 90 * 86_400_000),
        ("1d12h", 129_600_000),
        ("2y", 2 * YEAR),
        ("1y30d", YEAR + 30 * DAY),
        ("forever", None),
    ],
)
def test_how_long(text: str, ms: int | None) -> None:
    """A duration, or forever."""
    assert parse_keep(text) == ms


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("59m59s", "1h at least"),
        ("7", "needs a unit"),
        ("ever", "or forever"),
        ("y", "or forever"),
        ("1y3", "needs a unit"),
    ],
)
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


@given(st.integers(3_600_000, 10**14))
def test_what_is_shown_is_read_again(ms: int) -> None:
    """A time in the form of a setting is the same time."""
    assert parse_keep(format_keep(ms)) == ms
    assert parse_keep(format_keep(None)) is None


def loaded(folder: Path, text: str, **environ: str) -> LoadedSettings:
    path = folder / "mqvitals.yaml"
    path.write_text(text)
    return load_settings(str(path), {f"MQVITALS_STORE_{name}": word for name, word in environ.items()}, {})


def test_from_file_and_environment(tmp_path: Path) -> None:
    """The environment beats the file; names of former versions are read in both."""
    found = loaded(tmp_path, "store: {keep: forever, max_size: 500MB}\n", KEEP="7d")
    assert (found.settings.store.keep.raw.default, found.settings.store.limit) == (7 * DAY, 500 * 1024**2)
    assert (
        found.origins["store.keep.raw.default"]
        == found.origins["store.keep.alerts"]
        == "environment MQVITALS_STORE_KEEP"
    )
    assert found.origins["store.limit"].endswith("mqvitals.yaml:1:34")
    assert loaded(tmp_path, "store: {limit: 1GB}\n", MAX_SIZE="2GB").settings.store.limit == 2 * GB
    assert loaded(tmp_path, "store: {limit: 1GB}\n", MAX_SIZE="2GB", LIMIT="3GB").settings.store.limit == 3 * GB


@pytest.mark.parametrize(
    ("text", "raw", "hours", "alerts"),
    [
        ("30d", {"default": 30 * DAY}, 2 * YEAR, 30 * DAY),
        ("3y", {"default": 3 * YEAR}, 3 * YEAR, 3 * YEAR),
        ("forever", {"default": None}, None, None),
        ("{raw: 7d, hours: 1y}", {"default": 7 * DAY}, YEAR, 2 * YEAR),
        (
            "{raw: {queue: 14d, log: forever}}",
            {"queue": 14 * DAY, "log": None, "default": 30 * DAY},
            2 * YEAR,
            2 * YEAR,
        ),
        ("{raw: {queue: 14d, default: 90d}}", {"queue": 14 * DAY, "default": 90 * DAY}, 2 * YEAR, 2 * YEAR),
        ("", {"default": 30 * DAY}, 2 * YEAR, 2 * YEAR),
    ],
)
def test_forms_of_keep(
    tmp_path: Path, text: str, raw: dict[str, int | None], hours: int | None, alerts: int | None
) -> None:
    """One time for samples and alerts, or each apart, samples by kind."""
    found = loaded(tmp_path, f"store: {{keep: {text}}}\n")
    assert found.settings.store.keep == KeepSettings(RawKeep(raw.pop("default"), raw), hours, alerts)
    assert check_settings(found.settings) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keep: {raw: 14}", "1:21: store.keep.raw: a duration needs a unit: 14s, 14m or 14h"),
        ("keep: {raw: {queue: 5m}}", "1:29: store.keep.raw.queue: must be 1h at least; rules look back that far"),
        ("keep: {hour: 2y}", "1:16: store.keep.hour: unknown key; did you mean 'hours'?"),
        (
            "keep: [30d]",
            "1:15: store.keep: expected a duration such as 30d, 12h or 2y, or forever or a mapping, got a list",
        ),
        ("limit: 1GB, max_size: 2GB", "1:21: store.max_size: max_size is the former name of limit: write limit alone"),
    ],
)
def test_mistakes_have_their_places(tmp_path: Path, text: str, said: str) -> None:
    """Each is told with line and column."""
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, f"store: {{{text}}}\n")
    assert str(caught.value).endswith(said)


def test_a_kind_that_is_none(tmp_path: Path) -> None:
    """The vocabulary knows the kinds; the mistake is told at its place."""
    (problem,) = check_settings(loaded(tmp_path, "store: {keep: {raw: {queues: 14d}}}\n").settings)
    assert str(problem).endswith(
        "1:22: store.keep.raw.queues: there is no kind of object 'queues'; did you mean 'queue'?"
    )
