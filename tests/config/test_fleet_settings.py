"""The groups of a fleet: stores and agents, and what cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import load_settings
from mqvitals_config.sections.fleet import FleetGroupSettings
from mqvitals_config.settings import Settings


def read(tmp_path: Path, text: str) -> Settings:
    """The settings of a file with this text."""
    file = tmp_path / "mqvitals.yaml"
    file.write_text(text, encoding="utf-8")
    return load_settings(str(file), {}, {}).settings


def refused(tmp_path: Path, text: str) -> str:
    """Why a file with this text is refused."""
    with pytest.raises(ConfigError) as error:
        read(tmp_path, text)
    return str(error.value)


def test_stores_and_agents(tmp_path: Path) -> None:
    """Paths are beside the file; of an address only the host is shown; two agents may have one name."""
    (tmp_path / "token").write_text("t0ken\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("name: PRDB\n", encoding="utf-8")
    settings = read(
        tmp_path,
        """\
tui: {fleet_interval: 30s}
fleet:
  - store: a.db
  - {store: b.db, config: b.yaml, name: payments}
  - {url: "https://mq1.example.com:9157/hidden-path/", token_file: token, name: orders, timeout: 2s}
  - {url: "https://mq2.example.com:9157", name: orders}
""",
    )
    first, second, third, fourth = settings.fleet
    assert (first.store, first.name, first.timeout) == (str(tmp_path / "a.db"), None, 5_000)
    assert (second.config, second.name) == (str(tmp_path / "b.yaml"), "payments")
    assert third.url is not None
    assert third.token_file is not None
    assert (third.url.origin, third.token_file.reveal(), third.timeout) == (
        "https://mq1.example.com:9157",
        "t0ken",
        2_000,
    )
    assert "hidden-path" not in repr(third)
    assert fourth.name == third.name
    assert settings.tui.fleet_interval == 30_000
    assert Settings().fleet == ()


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("name: payments", "give store, the file of a store on this machine, or url"),
        ("{store: a.db, url: 'http://a:1'}", "give one of them"),
        ("{store: a.db, token_file: t}", "token_file and tls are for the address of an agent"),
        ("{store: a.db, tls: {ca_file: c}}", "token_file and tls are for the address of an agent"),
        ("{url: 'http://a:1', config: c.yaml}", "config is for a store of this machine"),
        ("{url: 'ftp://a:1'}", "expected an address"),
        ("{url: 'https://u:p4ss@a:1'}", "a password is never written in this file"),
        ("{url: 'https://a:1/?t0ken=1'}", "it has no query"),
        ("{store: a.db, timeout: 5m}", "must be from 100ms to 1m"),
        ("{stor: a.db}", "unknown key"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(tmp_path: Path, group: str, words: str) -> None:
    """The sentence has the line, and nothing of a secret."""
    message = refused(tmp_path, f"name: PRDQSG\nfleet:\n  - {group}\n")
    assert "mqvitals.yaml:3" in message
    assert words in message
    assert "p4ss" not in message
    assert "t0ken" not in message


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("store: a.db", "store: ./a.db", "a.db occurs twice, first on line 2"),
        ("url: 'https://a:1/x'", "{url: 'https://a:1/x/', name: other}", "https://a:1 occurs twice, first on line 2"),
    ],
)
def test_the_same_group_twice(tmp_path: Path, first: str, second: str, shown: str) -> None:
    """The second one is refused at its place; what differs in the path of an address is another agent."""
    message = refused(tmp_path, f"fleet:\n  - {first}\n  - {second}\n")
    assert "mqvitals.yaml:3" in message
    assert shown in message
    other = "url: 'https://a:1/y'" if "url" in first else "store: b.db"
    assert len(read(tmp_path, f"fleet:\n  - {first}\n  - {other}\n").fleet) == 2


def test_a_group_needs_a_way() -> None:
    """Also where it is made by a program."""
    with pytest.raises(ValueError, match="give store"):
        FleetGroupSettings()
