"""What settings and packages tell of connecting, beforehand: who connects with what, and what that package cannot do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mqvitals_agent.connection.binding import (
    PACKAGES,
    ConnectionCheck,
    check_connections,
    first_installed,
    unsupported_settings,
)
from mqvitals_agent.connection.route import CommandRoute, Tls
from mqvitals_config.load import load_settings

Foreseen = Callable[..., ConnectionCheck]
TABLE = "https://tables.example/ccdt.json"
EVERYTHING = CommandRoute(
    "QM01",
    ccdt_url=TABLE,
    tls=Tls("ANY_TLS12_OR_HIGHER", "/keys", "CN=QM01", "mqvitals"),
    user="mqmon",
    application_name="vital signs",
)


@pytest.fixture
def foreseen(tmp_path: Path) -> Foreseen:
    """The forecast for a file's text and the packages that are installed."""

    def make(text: str, *installed: str, environ: Mapping[str, str] | None = None) -> ConnectionCheck:
        path = tmp_path / "x.yaml"
        path.write_text(text)
        loaded = load_settings(str(path), {}, {})
        return check_connections(loaded.settings, loaded.origins, environ or {}, lambda name: name in installed)

    return make


@pytest.mark.parametrize(
    ("package", "settings"),
    [
        ("ibmmq", ["tls.cipher", "tls.peer_name"]),
        ("pymqi", ["ccdt_url", "tls.cipher", "tls.peer_name", "application_name"]),
    ],
)
def test_shortcomings(package: str, settings: list[str]) -> None:
    """Of a route that wishes for everything, what has no effect, with its setting."""
    assert [each.setting for each in unsupported_settings(package, EVERYTHING, {})] == settings


@pytest.mark.parametrize("package", PACKAGES)
def test_an_ordinary_route_has_none(package: str) -> None:
    """Channel, addresses, all of TLS, user and password are what both packages can do."""
    route = CommandRoute("QM01", "MQVITALS.SVRCONN", "mvs1.example(1414)", tls=EVERYTHING.tls, user="mqmon")
    assert unsupported_settings(package, route, {}) == ()


def test_a_table_in_the_environment_serves_pymqi() -> None:
    """The same address in MQCCDTURL is the way that pymqi has; another address is another table."""
    route = CommandRoute("QM01", ccdt_url=TABLE)
    assert unsupported_settings("pymqi", route, {"MQCCDTURL": TABLE}) == ()
    assert [each.setting for each in unsupported_settings("pymqi", route, {"MQCCDTURL": "file:///x"})] == ["ccdt_url"]


@pytest.mark.parametrize(
    ("preference", "installed", "package"),
    [
        ("auto", ("ibmmq", "pymqi"), "ibmmq"),
        ("auto", ("pymqi",), "pymqi"),
        ("auto", (), None),
        ("pymqi", ("ibmmq", "pymqi"), "pymqi"),
        ("pymqi", ("ibmmq",), None),
    ],
)
def test_which_package_is_taken(preference: str, installed: tuple[str, ...], package: str | None) -> None:
    """The wish counts; auto prefers IBM's."""
    assert first_installed(preference, lambda name: name in installed) == package


SHARED = """\
connection: {ccdt_url: "file:///a", application_name: vital signs}
queue_managers:
  - name: QM01
  - {name: QM02, connection: {application_name: other}}
  - {name: QM03, connection: {binding: ibmmq}}
"""


def test_a_shared_setting_is_warned_of_once(foreseen: Foreseen) -> None:
    """At its place, with the queue managers that it is without effect for; another's own setting at its own."""
    told = foreseen(SHARED, "pymqi")
    assert [(each.place.line, each.place.column, each.key) for each in told.warnings] == [
        (1, 24, "connection.ccdt_url"),
        (1, 55, "connection.application_name"),
        (4, 49, "queue_managers[1].connection.application_name"),
    ]
    assert all(each.message.startswith("warning: ") for each in told.warnings)
    assert [each.message.rpartition("(")[2] for each in told.warnings] == ["QM01, QM02)", "QM01)", "QM02)"]
    assert told.notes[0].startswith("QM01, QM02: pymqi connects")
    assert told.notes[1].startswith("QM03 cannot be connected to: ibmmq is not installed; install it with")
    assert "taken with 'binding: pymqi' or 'binding: auto'" in told.notes[1]


def test_without_any_package_only_what_none_can_do(foreseen: Foreseen) -> None:
    """Nobody knows which will be installed, so what one of them can do is no warning."""
    text = SHARED.replace("{ccdt_url", "{tls: {cipher: ANY}, ccdt_url")
    told = foreseen(text)
    assert [each.key for each in told.warnings] == ["connection.tls.cipher"]
    assert len(told.notes) == 2


def test_who_has_no_connection_needs_no_package(foreseen: Foreseen) -> None:
    """Nothing to say of a group that is only named."""
    for installed in itertools.chain([()], itertools.permutations(PACKAGES)):
        assert foreseen("queue_managers: [{name: QM01}]\n", *installed) == ConnectionCheck()


def test_no_word_of_a_table_with_a_password(foreseen: Foreseen) -> None:
    """The address of a table may hold a password, and is not quoted."""
    text = SHARED.replace("file:///a", "https://bob:hunter2@tables.example/a?key=hunter2")
    told = foreseen(text, "pymqi")
    assert "hunter2" not in repr(told)
