"""What the settings of all engines have in common: who the agent is to them, how they are known, and the site's labels.

Keys are those of Prometheus.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from mqvitals_config.decoding.problem import LocatedText
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile
from mqvitals_config.receivers.http import header_value, open_header_name
from mqvitals_config.receivers.receiver import label_value

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_FilePath = Annotated[LocatedText, Convert(resolved_path, "the path of a file")]


def external_label(text: str) -> str:
    """The name of a label that all samples to an engine have; raises ValueError."""
    if not _LABEL.fullmatch(text):
        raise ValueError("a label's name has letters, digits and underscores, and does not begin with a digit")
    if text.startswith("__"):
        raise ValueError("names of labels that begin with two underscores are Prometheus' own")
    return text


@dataclass(frozen=True, slots=True)
class BasicAuthSettings:
    """Name and password."""

    username: Annotated[Annotated[str, header_value], Doc("The name.")]
    password_file: Annotated[SecretFile, Doc("A file that holds the password and nothing else.")]


@dataclass(frozen=True, slots=True)
class AuthorizationSettings:
    """A header Authorization of another type."""

    credentials_file: Annotated[SecretFile, Doc("A file that holds the credentials and nothing else.")]
    type: Annotated[Annotated[str, header_value], Doc("The word before the credentials.")] = "Bearer"


@dataclass(frozen=True, slots=True)
class EngineTlsSettings:
    """How an engine is known, and the agent to it."""

    ca_file: Annotated[
        _FilePath | None,
        Doc(
            "The certificates (PEM) of the authorities that may have signed the engine's.",
            default="those of the operating system",
        ),
    ] = None
    cert_file: Annotated[_FilePath | None, Doc("The certificate (PEM) by which the engine knows the agent.")] = None
    key_file: Annotated[
        _FilePath | None,
        Doc("The private key (PEM, without a password) of `cert_file`.", default="in `cert_file`"),
    ] = None
    insecure_skip_verify: Annotated[
        bool, Doc("Whether any certificate will do: whoever is between can then read and change all that is sent.")
    ] = False

    def __post_init__(self) -> None:
        if self.key_file is not None and self.cert_file is None:
            raise ValueError("key_file is the key of a cert_file, which is missing")


Headers = Annotated[
    Mapping[Annotated[str, open_header_name], Annotated[str, header_value]],
    Doc("Headers of your own that every request has, such as `X-Scope-OrgID`."),
]
BasicAuth = Annotated[BasicAuthSettings | None, Doc("Name and password for the engine.", default="none")]
Authorization = Annotated[AuthorizationSettings | None, Doc("A header Authorization of another type.", default="none")]
BearerTokenFile = Annotated[
    SecretFile | None, Doc("A file that holds the token that is sent as `Authorization: Bearer`, and nothing else.")
]
TlsConfig = Annotated[EngineTlsSettings, Doc("How the engine is known, and the agent to it.")]
ExternalLabels = Mapping[Annotated[str, external_label], Annotated[str, label_value]]


class EngineAccess(Protocol):
    """The settings of an engine, whatever it is for, by which it is reached."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that every request has."""
        ...

    @property
    def basic_auth(self) -> BasicAuthSettings | None:
        """Name and password."""
        ...

    @property
    def authorization(self) -> AuthorizationSettings | None:
        """A header Authorization of another type."""
        ...

    @property
    def bearer_token_file(self) -> SecretFile | None:
        """The file of a token."""
        ...

    @property
    def tls_config(self) -> EngineTlsSettings:
        """How the engine is known, and the agent to it."""
        ...


def check_authorization(settings: EngineAccess) -> None:
    """Raises ValueError where several keys give the header Authorization."""
    given = [key for key in ("basic_auth", "authorization", "bearer_token_file") if getattr(settings, key) is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} each give the header Authorization; one of them is enough")
