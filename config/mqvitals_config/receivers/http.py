"""Settings of receivers that are notified over HTTP: headers, proxy and certificates; and of plain webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile
from mqvitals_config.decoding.secret import WEB_ADDRESS_FORM, Secret, WebAddress, checked_address
from mqvitals_config.receivers.receiver import TlsReceiverSettings

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_OF_THE_PROTOCOL = frozenset(
    {"connection", "content-length", "content-type", "host", "proxy-authorization", "transfer-encoding"}
)
_SECRET_HEADERS = frozenset({"authorization", "cookie", "x-api-key", "x-auth-token"})
PROXY_FORM = "an address such as http://proxy.example.com:3128"


def header_name(text: str) -> str:
    """The name of a header; raises ValueError."""
    if not _HEADER.fullmatch(text):
        raise ValueError("a header's name has letters, digits and hyphens")
    if text.lower() in _OF_THE_PROTOCOL:
        raise ValueError(f"{text} is a header that mqvitals sets itself")
    return text


def open_header_name(text: str) -> str:
    """The name of a header whose value is no secret; raises ValueError."""
    if text.lower() in _SECRET_HEADERS:
        raise ValueError(f"{text} is a secret, which is never written in this file; name a file of it in headers_files")
    return header_name(text)


def header_value(text: str) -> str:
    """The value of a header; raises ValueError."""
    if not text or not (text.isascii() and text.isprintable()):
        raise ValueError("a header's value is not empty and holds no control characters and no letters beyond ASCII")
    return text


def proxy_address(text: str) -> str:
    """The address of a proxy; raises ValueError, with a sentence that shows nothing of it."""
    parts = urlsplit(checked_address(text))
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            "a password is never written in this file; name a file of user:password in proxy_credentials_file"
        )
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f"expected {PROXY_FORM}: it has no path")
    return text


@dataclass(frozen=True, slots=True)
class HttpSettings(TlsReceiverSettings):
    """What all receivers over HTTP have in common."""

    headers: Annotated[
        Mapping[Annotated[str, open_header_name], Annotated[str, header_value]],
        Doc("Headers of your own that every request to this receiver has."),
    ] = field(default_factory=dict)
    headers_files: Annotated[
        Mapping[Annotated[str, header_name], SecretFile],
        Doc("The same for values that are secrets, each in a file that holds the value and nothing else."),
    ] = field(default_factory=dict)
    proxy: Annotated[
        Annotated[str, Convert(proxy_address, PROXY_FORM)] | None,
        Doc("The proxy through which it is reached. Variables such as `https_proxy` are not looked at."),
    ] = None
    proxy_credentials_file: Annotated[
        SecretFile | None, Doc("A file that holds `user:password` for the proxy, and nothing else.")
    ] = None

    def __post_init__(self) -> None:
        # A class with slots is made anew by the decorator, so super() without arguments would not find it.
        TlsReceiverSettings.__post_init__(self)
        if self.proxy_credentials_file is not None and self.proxy is None:
            raise ValueError("proxy_credentials_file is for a proxy, which is missing")
        twice = {name.lower() for name in self.headers} & {name.lower() for name in self.headers_files}
        if twice:
            raise ValueError(f"the header {min(twice)} stands in headers and in headers_files")


@dataclass(frozen=True, slots=True)
class AddressSettings(HttpSettings):
    """A receiver at an address of the site's own, written in the file or in a file of its own."""

    url: Annotated[
        Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)] | None,
        Doc("Where alerts are posted to. Shown nowhere but for its host.", default="the address in `url_file`"),
    ] = None
    url_file: Annotated[
        SecretFile | None,
        Doc(
            "A file that holds the address and nothing else, for an address that is a secret. Either this or `url` is"
            " required."
        ),
    ] = None

    def __post_init__(self) -> None:
        HttpSettings.__post_init__(self)
        if self.url is None and self.url_file is None:
            raise ValueError("this receiver has no address; give url, or url_file when the address is a secret")
        if self.url is not None and self.url_file is not None:
            raise ValueError("this receiver has two addresses; give either url or url_file")

    @property
    def address(self) -> Secret:
        """Where alerts are posted to. The form of an address in a file is only checked when it is revealed."""
        address = self.url or self.url_file
        assert address is not None
        return address


@dataclass(frozen=True, slots=True)
class WebhookSettings(AddressSettings):
    """A webhook, which takes Alertmanager's payload, or what a template makes."""

    token_file: Annotated[
        SecretFile | None,
        Doc("A file that holds the token that is sent as `Authorization: Bearer`, and nothing else."),
    ] = None
    hmac_secret_file: Annotated[
        SecretFile | None,
        Doc(
            "A file that holds the secret with which every request is signed, in the header `X-Mqvitals-Signature`, and"
            " nothing else."
        ),
    ] = None
    content_type: Annotated[Annotated[str, header_value], Doc("What the body is, where `template.text` makes it.")] = (
        "application/json"
    )

    def __post_init__(self) -> None:
        AddressSettings.__post_init__(self)
        if self.template is not None:
            self.template.refuse_title()
        if self.token_file is not None and any(name.lower() == "authorization" for name in self.headers_files):
            raise ValueError("token_file and headers_files both give the header Authorization")


def webhook_of(url: str | Secret, *, name: str = "webhook") -> WebhookSettings:
    """A webhook from the command line, with every other setting at its default.

    ``url`` is its address, or the file that holds it. Raises ValueError when it is no http or https address.
    """
    located = LocatedText(name, Place("flag --webhook"))
    if isinstance(url, Secret):
        return WebhookSettings(located, url_file=url)
    return WebhookSettings(located, url=WebAddress(url))
