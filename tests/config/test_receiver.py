"""Receivers of webhooks in the settings: their form, and that nothing secret in them is ever shown."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import get_args

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.secret import Secret, WebAddress, checked_address
from mqvitals_config.decoding.source import explained
from mqvitals_config.load import load_settings
from mqvitals_config.receivers.http import WebhookSettings, webhook_of
from mqvitals_config.receivers.receiver import OWN_LABELS, ReceiverSettings, ReceiverType
from mqvitals_config.receivers.types import RECEIVER_TYPES


def receivers(folder: Path, text: str) -> tuple[WebhookSettings, ...]:
    """The receivers of a file with such a list."""
    path = folder / "mqvitals.yaml"
    path.write_text(f"receivers: [{text}]\n", "utf-8")
    found = load_settings(str(path), {}, {}).settings.receivers
    return tuple(each for each in found if isinstance(each, WebhookSettings))


def problems(folder: Path, text: str) -> list[str]:
    """What is wrong with it: key and sentence."""
    with pytest.raises(ConfigError) as raised:
        receivers(folder, text)
    return [f"{problem.key}: {problem.message}" for problem in raised.value.problems]


def test_a_receiver_in_full(tmp_path: Path) -> None:
    """Every key of one, and files beside the configuration."""
    (tmp_path / "token").write_text("t0ken\n")
    (receiver,) = receivers(
        tmp_path,
        "{name: ops, type: webhook, url: 'https://h.example/hook?k=1', token_file: token, timeout: 5s, send_resolved: no,"
        " min_severity: info, labels: {site: north}}",
    )
    assert receiver.name == "ops"
    assert receiver.address.reveal() == "https://h.example/hook?k=1"
    assert receiver.token_file is not None
    assert receiver.token_file.reveal() == "t0ken"
    assert receiver.timeout == 5000
    assert not receiver.send_resolved
    assert receiver.labels == {"site": "north"}
    assert receiver.min_severity == "info"


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    """An address in a file of its own, and nothing else said."""
    (tmp_path / "address").write_text("https://h.example/secret\n")
    (receiver,) = receivers(tmp_path, "{name: chat, url_file: address}")
    assert receiver.address.reveal() == "https://h.example/secret"
    assert (receiver.token_file, receiver.timeout, receiver.send_resolved, receiver.labels) == (None, 10_000, True, {})
    assert receiver.min_severity == "warning"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{url: 'http://h/'}", "receivers[0].name: this key is missing"),
        ("{name: a, type: pager, url: 'http://h/', to: x}", "receivers[0].type: 'pager' is not one of webhook"),
        ("{name: a, type: , url: 'http://h/'}", "receivers[0].type: expected one of webhook"),
        ("{name: a, type: [], url: 'http://h/'}", "receivers[0].type: expected one of webhook"),
        ("[a]", "receivers[0]: expected a mapping, got a list"),
        (
            "{name: a, min_severity: review, url: 'http://h/'}",
            "receivers[0].min_severity: 'review' is not one of critical, warning and info",
        ),
        ("{name: a}", "receivers[0]: this receiver has no address; give url, or url_file when the address is a secret"),
        (
            "{name: a, url: 'http://h/', url_file: f}",
            "receivers[0]: this receiver has two addresses; give either url or url_file",
        ),
        ("{name: ' a', url: 'http://h/'}", "receivers[0].name: a name has 1 to 48 characters"),
        ("{name: a, url: 'ftp://h/'}", "receivers[0].url: expected an address such as"),
        ("{name: a, url: 'http:///x'}", "receivers[0].url: expected an address such as"),
        ("{name: a, url: 'http://h:99999/x'}", "receivers[0].url: expected an address such as"),
        ("{name: a, url: 'http://[h/x'}", "receivers[0].url: expected an address such as"),
        ("{name: a, url: 'http://h/a b'}", "receivers[0].url: an address holds no blanks"),
        ("{name: a, url: [x]}", "receivers[0].url: expected an address such as"),
        ("{name: a, url: 'http://h/', token: x}", "receivers[0].token: a secret is never written in this file"),
        ("{name: a, url_file: 'http://h/Tpath'}", "receivers[0].url_file: expected the path of a file that holds"),
        ("{name: a, url: 'http://h/', headers: {a b: x}}", "receivers[0].headers.a b: a header's name has letters"),
        (
            "{name: a, url: 'http://h/', headers: {Host: x}}",
            "receivers[0].headers.Host: Host is a header that mqvitals",
        ),
        ("{name: a, url: 'http://h/', headers: {X-A: ''}}", "receivers[0].headers.X-A: a header's value is not empty"),
        (
            "{name: a, url: 'http://h/', headers: {Authorization: x}}",
            "receivers[0].headers.Authorization: Authorization is a secret, which is never written in this file",
        ),
        (
            "{name: a, url: 'http://h/', headers: {X-A: x}, headers_files: {x-a: f}}",
            "receivers[0]: the header x-a stands in headers and in headers_files",
        ),
        (
            "{name: a, url: 'http://h/', token_file: f, headers_files: {Authorization: f}}",
            "receivers[0]: token_file and headers_files both give the header Authorization",
        ),
        ("{name: a, url: 'http://h/', proxy: 'http://u:p@h/'}", "receivers[0].proxy: a password is never written"),
        ("{name: a, url: 'http://h/', proxy: 'http://h/x'}", "receivers[0].proxy: expected an address such as"),
        ("{name: a, url: 'http://h/', proxy: 'socks://h'}", "receivers[0].proxy: expected an address such as"),
        (
            "{name: a, url: 'http://h/', proxy_credentials_file: f}",
            "receivers[0]: proxy_credentials_file is for a proxy, which is missing",
        ),
        (
            "{name: a, url: 'http://h/', client_key_file: f}",
            "receivers[0]: client_key_file is the key of a client_certificate, which is missing",
        ),
        ("{name: a, url: 'http://h/', timeout: 0s}", "receivers[0].timeout: must be longer than 0"),
        ("{name: a, url: 'http://h/', timeout: 6m}", "receivers[0].timeout: must be longer than 0"),
        ("{name: a, url: 'http://h/', timeout: 10}", "receivers[0].timeout: a duration needs a unit"),
        ("{name: a, url: 'http://h/', labels: {a-b: x}}", "receivers[0].labels.a-b: a label's name has letters"),
        ("{name: a, url: 'http://h/', labels: {site: ''}}", "receivers[0].labels.site: a label's value is not empty"),
        ("{name: a, url: 'http://h/'}, {name: a, url: 'http://g/'}", "receivers[1].name: a occurs twice"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, said: str) -> None:
    """Each is said at its key."""
    (found,) = problems(tmp_path, text)
    assert found.startswith(said)


@pytest.mark.parametrize("label", OWN_LABELS)
def test_labels_of_the_alert_itself_are_not_to_be_had(tmp_path: Path, label: str) -> None:
    """They would hide what the alert says."""
    (found,) = problems(tmp_path, f"{{name: a, url: 'http://h/', labels: {{{label}: x}}}}")
    assert "every alert has of itself" in found


SECRET = "https://user:Ppassword@hooks.example.com:8443/services/Tpath?k=Qquery#Ffragment"


def test_an_address_shows_only_its_host() -> None:
    """Whatever is done with it."""
    address = WebAddress(SECRET)
    receiver = webhook_of(SECRET)
    shown = [repr(address), str(address), f"{address}", address.origin, repr(receiver), str(receiver), repr([receiver])]
    for text in shown:
        assert "https://hooks.example.com:8443" in text
        assert not any(word in text for word in ("Ppassword", "user", "Tpath", "Qquery", "Ffragment"))
    assert address.reveal() == SECRET
    assert isinstance(address, Secret)
    with pytest.raises(TypeError):
        pickle.dumps(address)
    with pytest.raises(TypeError):
        copy.copy(address)


def test_a_wrong_address_is_not_told() -> None:
    """The sentence says what is wrong, not what was written."""
    for wrong in (
        "htp://h/Tpath",
        "http://h:x/Tpath",
        "http:///Tpath",
        "http://h/Tpath\n",
        "Tpath",
        "http://h:0/Tpath",
    ):
        with pytest.raises(ValueError, match="address") as raised:
            checked_address(wrong)
        assert "Tpath" not in str(raised.value)


def test_the_excerpt_of_a_mistake_hides_addresses(tmp_path: Path) -> None:
    """A mistake beside an address, or in it, shows the line with the host alone, and the caret where it belongs."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(
        f"receivers:\n  - {{timeout: 3, name: a, url: '{SECRET}'}}\n  - name: b\n    url: htp://h.example/Tpath\n"
    )
    with pytest.raises(ConfigError) as raised:
        load_settings(str(path), {}, {})
    text = explained(raised.value.problems)
    assert "hooks.example.com:8443***" in text
    assert "    4 |     url: htp://h.example******\n                 ^" in text
    for secret in ("Ppassword", "Tpath", "Qquery", "Ffragment"):
        assert secret not in text


def test_addresses_are_compared_as_a_whole() -> None:
    """Two of one host are two."""
    assert WebAddress("http://h/a") == WebAddress("http://h/a")
    assert WebAddress("http://h/a") != WebAddress("http://h/b")
    assert len({WebAddress("http://h/a"), WebAddress("http://h/a"), WebAddress("http://h/b")}) == 2
    assert str(WebAddress("http://[::1]:80/a")) == "http://[::1]:80"


def test_the_first_of_two_names_is_named(tmp_path: Path) -> None:
    """With its line."""
    found = problems(tmp_path, "{name: a, url: 'http://h/'}, {name: b, url: 'http://h/'}, {name: a, url: 'http://h/'}")
    assert found == ["receivers[2].name: a occurs twice, first on line 1"]


def test_every_type_has_its_settings() -> None:
    """And what is meant without one is a webhook."""
    assert tuple(RECEIVER_TYPES) == get_args(ReceiverType)
    assert next(iter(RECEIVER_TYPES.values())) is WebhookSettings
    assert all(issubclass(shape, ReceiverSettings) for shape in RECEIVER_TYPES.values())
