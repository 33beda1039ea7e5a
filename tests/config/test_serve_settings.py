"""Where the agent's server listens, and who may ask it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place
from mqvitals_config.load import check_files, load_settings
from mqvitals_config.sections.serve import LISTEN_FORM, ListenAddress, ServeSettings, listen_address


def located(text: str) -> LocatedText:
    """A text as it stands in a file."""
    return LocatedText(text, Place("mqvitals.yaml"))


def read(tmp_path: Path, text: str, environ: dict[str, str] | None = None) -> ServeSettings:
    """The settings of a file with this text."""
    file = tmp_path / "mqvitals.yaml"
    file.write_text(text, encoding="utf-8")
    return load_settings(str(file), environ or {}, {}).settings.serve


def test_it_listens_on_loopback_unless_told_otherwise(tmp_path: Path) -> None:
    """Nobody but this machine can reach it by default."""
    serve = read(tmp_path, "name: PRDQSG\n")
    assert str(serve.listen) == "127.0.0.1:9157"
    assert serve.listen.is_loopback
    assert (serve.token_file, serve.tls, serve.limit, serve.definitions) == (None, None, 1_000_000, True)


@pytest.mark.parametrize("text", ["localhost:9157", "127.0.0.2:80", "'[::1]:9157'", "127.0.0.1:0"])
def test_addresses_of_the_machine_itself_need_nothing_more(tmp_path: Path, text: str) -> None:
    """Loopback is loopback, whatever its name."""
    assert read(tmp_path, f"serve: {{listen: {text}}}").listen.is_loopback


@pytest.mark.parametrize("text", ["0.0.0.0:9157", "':9157'", "'[::]:9157'", "mq.example.com:9157", "10.0.0.1:9157"])
def test_others_need_tls_or_an_explicit_word(tmp_path: Path, text: str) -> None:
    """An address that other machines reach is refused with a place and what to do."""
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, f"serve:\n  listen: {text}\n")
    message = str(refused.value)
    assert "mqvitals.yaml:2" in message
    assert "give tls, or unencrypted: true" in message
    assert read(tmp_path, f"serve: {{listen: {text}, unencrypted: true}}").listen.port == 9157
    (tmp_path / "cert.pem").touch()
    assert read(tmp_path, f"serve: {{listen: {text}, tls: {{certificate: cert.pem}}}}").tls is not None


@pytest.mark.parametrize("origin", ["flag --listen", "environment MQVITALS_LISTEN"])
def test_a_flag_and_the_environment_are_refused_as_well(tmp_path: Path, origin: str) -> None:
    """The message names them; with TLS in the file they are right, and a file that is overridden by them is no mistake."""
    file = tmp_path / "mqvitals.yaml"
    by_flag = origin.startswith("flag")

    def load(text: str, listen: str) -> ServeSettings:
        file.write_text(text, encoding="utf-8")
        environ, flags = ({}, {"listen": listen}) if by_flag else ({"MQVITALS_LISTEN": listen}, {})
        return load_settings(str(file), environ, flags).settings.serve

    with pytest.raises(ConfigError) as refused:
        load("name: PRDQSG", "0.0.0.0:9157")
    assert str(refused.value).startswith(f"{origin}: serve.listen: 0.0.0.0:9157 can be reached from other machines")
    (tmp_path / "cert.pem").touch()
    assert load("serve: {tls: {certificate: cert.pem}}", "0.0.0.0:1").listen.port == 1
    assert load("serve: {listen: 0.0.0.0:9157}", "127.0.0.1:2").listen.port == 2


def test_off_is_off_and_the_environment_beats_the_file(tmp_path: Path) -> None:
    """``off`` needs no quotes, though YAML takes it for false."""
    assert read(tmp_path, "serve: {listen: off}").listen.off
    assert read(tmp_path, "serve: {listen: 127.0.0.1:1}", {"MQVITALS_LISTEN": "off"}).listen.off


@pytest.mark.parametrize(
    "text", ["9157", "127.0.0.1", "127.0.0.1:65536", "'[zz]:1'", "'http://127.0.0.1:9157'", "'a b:1'"]
)
def test_what_is_no_address_is_refused(tmp_path: Path, text: str) -> None:
    """The message names the form."""
    with pytest.raises(ConfigError, match=re.escape(LISTEN_FORM)):
        read(tmp_path, f"serve: {{listen: {text}}}")


@pytest.mark.parametrize("limit", [0, -1, 50_000_001])
def test_a_limit_has_limits(tmp_path: Path, limit: int) -> None:
    """A page without series is no page."""
    with pytest.raises(ConfigError, match="the limit is from 1 to 50,000,000 series"):
        read(tmp_path, f"serve: {{limit: {limit}}}")


def test_files_of_the_certificate_are_looked_at(tmp_path: Path) -> None:
    """One that is not there, and a key that everybody can read."""
    file = tmp_path / "mqvitals.yaml"
    file.write_text("serve: {tls: {certificate: cert.pem, key: key.pem}}", encoding="utf-8")
    (tmp_path / "key.pem").touch()
    (tmp_path / "key.pem").chmod(0o644)
    loaded = load_settings(str(file), {}, {})
    checked = check_files(loaded.settings, loaded.origins)
    assert [problem.key for problem in checked.problems] == ["serve.tls.certificate"]
    assert "serve.tls.key" in [problem.key for problem in (*checked.problems, *checked.warnings)]
    (tmp_path / "cert.pem").touch()
    (tmp_path / "key.pem").chmod(0o600)
    assert check_files(loaded.settings, loaded.origins).problems == ()


def test_a_token_stands_in_a_file_and_is_shown_nowhere(tmp_path: Path) -> None:
    """The settings hold the file, not what is in it."""
    (tmp_path / "token").write_text("swordfish\n", encoding="utf-8")
    serve = read(tmp_path, "serve: {token_file: token}")
    assert serve.token_file is not None
    assert serve.token_file.reveal() == "swordfish"
    assert "swordfish" not in repr(serve)


@given(st.ip_addresses(), st.integers(0, 65_535))
def test_an_address_is_what_it_is_written_as(address: object, port: int) -> None:
    """What is shown can be read again."""
    written = ListenAddress(str(address), port)
    assert listen_address(located(str(written))) == written


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    """Never another error than the one that says what is expected."""
    with suppress(ValueError):
        found = listen_address(located(text))
        assert found.off or 0 <= found.port <= 65_535
