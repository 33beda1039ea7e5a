"""Time zones, file modes and paths: the values with a form of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.scalars import FileMode, parse_file_mode, resolved_path, time_zone

NOON = datetime(2026, 1, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("UTC", 0),
        ("Z", 0),
        ("+01:00", 1),
        ("-0530", -5.5),
        ("+14:00", 14),
        ("+00:45", 0.75),
        ("Europe/Berlin", 1),
        ("America/New_York", -5),
    ],
)
def test_time_zones(text: str, hours: float) -> None:
    """IANA names and offsets give zones."""
    assert time_zone(text).utcoffset(NOON) == timedelta(hours=hours)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+1",
        "+25:00",
        "+01:60",
        "Berlin/Europe",
        "../../etc/passwd",
        "/etc/localtime",
        "Europe",
        "a\0b",
        "a" * 1000,
        "europe /berlin",
    ],
)
def test_what_is_no_time_zone(text: str) -> None:
    """Anything else, paths and folders of the zone files included, is refused with the form."""
    with pytest.raises(ValueError, match="write a time zone such as"):
        time_zone(text)


@pytest.mark.parametrize(("text", "mode"), [("0600", 0o600), ("0660", 0o660), ("640", 0o640), ("0644", 0o644)])
def test_file_modes(text: str, mode: int) -> None:
    """Octal, with or without the zero, shown with it."""
    assert parse_file_mode(text) == mode
    assert str(parse_file_mode(text)) == f"0{mode:o}"
    assert isinstance(parse_file_mode(text), FileMode)


@pytest.mark.parametrize("text", ["", "0666", "0700", "0060", "0400", "0o600", "888", "00600", "rw", "384 "])
def test_modes_a_store_must_not_have(text: str) -> None:
    """No execution, no writing by others, and never less than its owner needs."""
    with pytest.raises(ValueError, match="mode"):
        parse_file_mode(text)


def test_paths_are_beside_the_file_that_names_them() -> None:
    """Relative paths, absolute ones and those in the home directory, from a file and from a flag."""
    place = Place("/etc/mqvitals/mqvitals.yaml", 3, 1)
    assert resolved_path(LocatedText("rules/own.yaml", place)) == "/etc/mqvitals/rules/own.yaml"
    assert resolved_path(LocatedText("/srv/x.db", place)) == "/srv/x.db"
    assert resolved_path(LocatedText("~/x.db", place)) == str(Path.home() / "x.db")
    assert resolved_path(LocatedText("x.db", Place("flag --store"))) == "x.db"
    assert resolved_path(LocatedText("x.db", place)).place == place
