"""Settings of the agent's small server: where it listens, who may ask it, and how much it serves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Final, NamedTuple

from mqvitals_config.decoding.problem import LocatedText, Place, Problem
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile

LISTEN_FORM: Final = "an address with a port such as 127.0.0.1:9157, or off"
OFF: Final = "off"

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[A-Za-z0-9._-]*)):(?P<port>[0-9]{1,5})")
_LOCAL_NAME = "localhost"
_MOST_SERIES = 50_000_000
_NOWHERE = Place("")


class ListenAddress(NamedTuple):
    """Where the server listens: a host, empty for all addresses of the machine, and a port, 0 for any that is free.

    Written ``off``, there is no server.
    """

    host: str = "127.0.0.1"
    port: int = 9157
    off: bool = False

    def __str__(self) -> str:
        if self.off:
            return OFF
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but programs of this machine can reach it."""
        if self.host == _LOCAL_NAME:
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


_DEFAULT: Final = ListenAddress()


def listen_address(text: LocatedText) -> ListenAddress:
    """The address that ``text`` says; raises ValueError."""
    if text.strip().lower() == OFF:
        return ListenAddress(off=True)
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or int(found["port"]) > 65_535:
        raise ValueError(f"expected {LISTEN_FORM}")
    if found["six"]:
        try:
            ip_address(found["six"])
        except ValueError:
            raise ValueError(f"expected {LISTEN_FORM}") from None
    return ListenAddress(found["six"] or found["host"], int(found["port"]))


def series_limit(number: int) -> int:
    """``number`` itself, a limit of series; raises ValueError."""
    if not 1 <= number <= _MOST_SERIES:
        raise ValueError(f"the limit is from 1 to {_MOST_SERIES:,} series")
    return number


_FilePath = Annotated[LocatedText, Convert(resolved_path, "the path of a file")]


@dataclass(frozen=True, slots=True)
class ServeTlsSettings:
    """The certificate of the server."""

    certificate: Annotated[
        _FilePath, Doc("Its certificate (PEM, with those between it and the authority). Read again on reload.")
    ]
    key: Annotated[
        _FilePath | None,
        Doc("The private key (PEM, without a password) of `certificate`.", default="in `certificate`"),
    ] = None


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What the agent serves over HTTP, read-only: `/metrics`, `/-/healthy`, `/-/ready`, `/api/v1/status`."""

    listen: Annotated[
        Annotated[ListenAddress, Convert(listen_address, LISTEN_FORM, raw=True)],
        Doc(
            "Where it listens: an address with a port, `:9157` for all addresses of the machine, or `off`. Another address than"
            " one of the machine itself (loopback) needs `tls`, or `unencrypted: true`.",
            "MQVITALS_LISTEN",
            "--listen",
            default="127.0.0.1:9157",
        ),
    ] = _DEFAULT
    token_file: Annotated[
        SecretFile | None,
        Doc(
            "A file that holds a token and nothing else: who asks must send it as `Authorization: Bearer`, except for"
            " `/-/healthy` and `/-/ready`.",
            default="none: who reaches the address may ask",
        ),
    ] = None
    tls: Annotated[ServeTlsSettings | None, Doc("The certificate, with which it speaks HTTPS.", default="HTTP")] = None
    unencrypted: Annotated[
        bool,
        Doc(
            "Whether it may listen on other addresses than loopback without `tls`: names of objects, and the token, are sent in clear."
        ),
    ] = False
    limit: Annotated[
        Annotated[int, series_limit],
        Doc(
            "The most series of `/metrics`. Whole metrics are left out beyond it, those of definitions first;"
            " `mqvitals_agent_series_left_out` and the log tell.",
            default="1000000",
        ),
    ] = 1_000_000
    definitions: Annotated[
        bool,
        Doc(
            "Whether `/metrics` has what definitions say too, such as `queue.trigger_depth`. What `mq_prometheus` has is there"
            " in any case.",
            default="true",
        ),
    ] = True


def serve_contradictions(serve: ServeSettings, places: Mapping[str, Place]) -> Iterator[Problem]:
    """What is wrong with an address that is well-formed. ``places`` says where each key stands, a flag or variable too."""
    listen = serve.listen
    if not (listen.off or listen.is_loopback or serve.tls or serve.unencrypted):
        message = f"{listen} can be reached from other machines; give tls, or unencrypted: true to do without"
        yield Problem(places.get("serve.listen", _NOWHERE), "serve.listen", message)
