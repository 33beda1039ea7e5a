"""Servers with a protocol of their own as receivers: their form in the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError, Problem
from mqvitals_config.load import load_settings
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.receivers.servers import EmailSettings, SyslogSettings, mail_parts


def receiver_of(folder: Path, text: str) -> ReceiverSettings:
    path = folder / "mqvitals.yaml"
    path.write_text(f"receivers:\n  - {{name: a, {text}}}\n", "utf-8")
    (found,) = load_settings(str(path), {}, {}).settings.receivers
    return found


def problem_of(folder: Path, text: str) -> Problem:
    with pytest.raises(ConfigError) as raised:
        receiver_of(folder, text)
    (problem,) = raised.value.problems
    return problem


def test_syslog_by_default(tmp_path: Path) -> None:
    """The socket of this machine."""
    found = receiver_of(tmp_path, "type: syslog")
    assert isinstance(found, SyslogSettings)
    assert (found.transport, found.socket, found.facility, found.app_name) == ("unix", None, "daemon", "mqvitals")


@pytest.mark.parametrize("host", ["logs.example.com", "10.1.2.3", "'2001:db8::7'", "logs_1"])
def test_hosts(tmp_path: Path, host: str) -> None:
    """Names and addresses."""
    found = receiver_of(tmp_path, f"type: syslog, transport: tcp, host: {host}")
    assert isinstance(found, SyslogSettings)
    assert found.host == host.strip("'")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("transport: smoke", "2:40", "receivers[0].transport: 'smoke' is not one of unix, udp, tcp and tls"),
        ("transport: tcp", "2:5", "receivers[0]: transport tcp needs the host of the server"),
        ("host: h", "2:5", "receivers[0]: host and port are of a server on the network"),
        ("transport: udp, host: h, socket: /dev/log", "2:5", "receivers[0]: socket is for transport unix, not for udp"),
        (
            "transport: tcp, host: h, ca_file: x",
            "2:5",
            "receivers[0]: ca_file and client_certificate are for transport tls",
        ),
        (
            "transport: tcp, host: 'h:514'",
            "2:51",
            "receivers[0].host: expected the name or the IP address of a host; its port",
        ),
        ("transport: tcp, host: 'tcp://h'", "2:51", "receivers[0].host: expected the name or the IP address of a host"),
        ("transport: tcp, host: h, port: 0", "2:60", "receivers[0].port: a port is from 1 to 65535"),
        ("facility: local9", "2:39", "receivers[0].facility: 'local9' is not one of kern, user"),
        ("app_name: a b", "2:39", "receivers[0].app_name: expected 1 to 48 printable characters"),
        ("max_length: 480", "2:5", "receivers[0]: max_length must be from 1024 to 60000"),
        ("token: x", "2:29", "receivers[0].token: unknown key"),
    ],
)
def test_mistakes_of_syslog(tmp_path: Path, text: str, place: str, said: str) -> None:
    """Each with its line and column."""
    problem = problem_of(tmp_path, f"type: syslog, {text}")
    assert f"{problem.key}: {problem.message}".startswith(said)
    assert str(problem.place) == f"{tmp_path}/mqvitals.yaml:{place}"


MAIL = "type: email, host: h, from: mq@example.com, to: [ops@example.com]"


def test_mail_in_full(tmp_path: Path) -> None:
    """Addresses with and without names."""
    found = receiver_of(
        tmp_path,
        "type: email, host: h, from: MQ alerts <mq@example.com>, to: [ops@example.com, 'Ä. B. <a.b+c@x-y.example>'],"
        " tls: implicit, user: mq, password_file: p",
    )
    assert isinstance(found, EmailSettings)
    assert mail_parts(found.sender) == ("MQ alerts", "mq@example.com")
    assert [mail_parts(each) for each in found.to] == [("", "ops@example.com"), ("Ä. B.", "a.b+c@x-y.example")]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("type: email, host: h, from: a@b", "2:5", "receivers[0].to: this key is missing"),
        ("type: email, from: a@b, to: [a@b]", "2:5", "receivers[0]: this receiver needs the host of the mail server"),
        ("type: email, host: h, from: a@b, to: []", "2:5", "receivers[0]: to names no address"),
        ("type: email, host: h, from: ab, to: [a@b]", "2:43", "receivers[0].from: expected an address such as"),
        ("type: email, host: h, from: a@b, to: a@b", "2:52", "receivers[0].to: expected a list, got"),
        (
            "type: email, host: h, from: a@b, to: ['a@b, c@d']",
            "2:53",
            "receivers[0].to[0]: expected an address such as",
        ),
        (
            'type: email, host: h, from: a@b, to: ["a\\n <c@d>"]',
            "2:53",
            "receivers[0].to[0]: expected an address such as",
        ),
        (f"{MAIL}, user: mq", "2:5", "receivers[0]: user and password_file go together"),
        (f"{MAIL}, password: x", "2:82", "receivers[0].password: a secret is never written in this file"),
        (
            f"{MAIL}, tls: none, user: u, password_file: p",
            "2:5",
            "receivers[0]: a password is not sent over a connection",
        ),
        (f"{MAIL}, tls: none, ca_file: p", "2:5", "receivers[0]: ca_file and client_certificate are for TLS"),
        (f"{MAIL}, tls: yes", "2:87", "receivers[0].tls: 'yes' is not one of starttls, implicit and none"),
    ],
)
def test_mistakes_of_mail(tmp_path: Path, text: str, place: str, said: str) -> None:
    """Each with its line and column."""
    problem = problem_of(tmp_path, text)
    assert f"{problem.key}: {problem.message}".startswith(said)
    assert str(problem.place) == f"{tmp_path}/mqvitals.yaml:{place}"
