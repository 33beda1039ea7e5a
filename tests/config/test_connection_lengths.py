"""Texts of a connection: MQ has so much room for each, and a byte more is a mistake of the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.secret import without_credentials
from mqvitals_config.load import load_settings

FIELDS = [
    ("channel", 20),
    ("ccdt_url", 1024),
    ("user", 1024),
    ("application_name", 28),
    ("tls.cipher", 32),
    ("tls.peer_name", 1024),
    ("tls.certificate_label", 64),
    ("tls.key_repository", 256),
]


def problems(key: str, value: str, tmp_path_name: str) -> list[tuple[int, str]]:
    """Line and key of each mistake when the field has this value."""
    section, _, name = key.rpartition(".")
    inner = f"  tls:\n    {name}: {value}\n" if section else f"  {name}: {value}\n"
    Path(tmp_path_name).write_text(f"connection:\n{inner}", "utf-8")
    try:
        load_settings(tmp_path_name, {}, {})
    except ConfigError as error:
        return [(each.place.line, each.key) for each in error.problems]
    return []


@pytest.mark.parametrize(("key", "length"), FIELDS)
def test_what_fits_and_what_does_not(key: str, length: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The last byte that MQ takes is right, one more is told at its place."""
    path = str(tmp_path_factory.mktemp("lengths") / "x.yaml")
    first = "/" if key.endswith("repository") else "k"
    assert problems(key, first + "k" * (length - 1), path) == []
    assert problems(key, first + "k" * length, path) == [(3 if "." in key else 2, f"connection.{key}")]


def test_a_label_is_counted_in_bytes(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Labels and paths go to MQ in UTF-8."""
    path = str(tmp_path_factory.mktemp("bytes") / "x.yaml")
    assert problems("tls.certificate_label", "ä" * 32, path) == []
    assert problems("tls.certificate_label", "ä" * 33, path)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://bob:hunter2@host:8080/t.json", "https://***@host:8080/t.json"),
        ("ftp://bob:hun/ter2@host/t.json", "ftp://***@host/t.json"),
        ("https://host/t.json?signature=hunter2#x", "https://host/t.json?***"),
        ("https://bob:hunter2@host/t@b?c", "https://***@b?***"),
        ("file:///etc/mq/ccdt.json", "file:///etc/mq/ccdt.json"),
        ("CN=bob@example,O=a?b", "CN=bob@example,O=a?b"),
    ],
)
def test_an_address_without_its_credentials(text: str, shown: str) -> None:
    """User, password and query are hidden, rather too much than too little; what is no address stays."""
    assert without_credentials(text) == shown
