"""Settings of remote write: the engines that samples are sent to. Keys are those of Prometheus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText, Problem, repeated
from mqvitals_config.decoding.scalars import display_name, resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, SecretFile, duration_within
from mqvitals_config.decoding.secret import WEB_ADDRESS_FORM, WebAddress
from mqvitals_config.receivers.http import header_value, open_header_name
from mqvitals_config.receivers.receiver import label_value

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_SAMPLES: Final = 50_000

_FilePath = Annotated[LocatedText, Convert(resolved_path, "the path of a file")]


def external_label(text: str) -> str:
    """The name of a label that all samples to an engine have; raises ValueError."""
    if not _LABEL.fullmatch(text):
        raise ValueError("a label's name has letters, digits and underscores, and does not begin with a digit")
    if text.startswith("__"):
        raise ValueError("names of labels that begin with two underscores are Prometheus' own")
    return text


def samples_at_once(number: int) -> int:
    """``number`` itself, of samples in a request; raises ValueError."""
    if not 1 <= number <= _MOST_SAMPLES:
        raise ValueError(f"a request has from 1 to {_MOST_SAMPLES} samples")
    return number


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
class RemoteTlsSettings:
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


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """How much is sent at once, and the pauses after failures."""

    max_samples_per_send: Annotated[
        Annotated[int, samples_at_once], Doc("About how many samples a request has at most.")
    ] = 5_000
    batch_send_deadline: Annotated[
        Annotated[int, duration_within(0, 600_000, "must be at most 10m")],
        Doc("How long fewer samples than those of one request wait for more.", default="1s"),
    ] = 1_000
    min_backoff: Annotated[
        Annotated[int, duration_within(1, 600_000, "must be longer than 0 and at most 10m")],
        Doc("The pause after a first failure, which doubles with each further one.", default="1s"),
    ] = 1_000
    max_backoff: Annotated[
        Annotated[int, duration_within(1, 600_000, "must be longer than 0 and at most 10m")],
        Doc("The longest pause.", default="1m"),
    ] = 60_000

    def __post_init__(self) -> None:
        if self.max_backoff < self.min_backoff:
            raise ValueError("max_backoff is shorter than min_backoff")


@dataclass(frozen=True, slots=True)
class RemoteWriteSettings:
    """An engine that samples are sent to by Prometheus' remote write protocol."""

    url: Annotated[
        Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)],
        Doc(
            "Where samples are posted to, such as `https://metrics.example.com/api/v1/write`. Shown nowhere but for its host."
        ),
    ]
    name: Annotated[
        Annotated[LocatedText, Convert(display_name)],
        Doc("Its name. How far it has been sent is remembered under it."),
    ]
    remote_timeout: Annotated[
        Annotated[int, duration_within(1, 300_000, "must be longer than 0 and at most 5m")],
        Doc("How long an answer may take before the request is sent again.", default="30s"),
    ] = 30_000
    headers: Annotated[
        Mapping[Annotated[str, open_header_name], Annotated[str, header_value]],
        Doc("Headers of your own that every request has, such as `X-Scope-OrgID`."),
    ] = field(default_factory=dict)
    basic_auth: Annotated[BasicAuthSettings | None, Doc("Name and password for the engine.", default="none")] = None
    authorization: Annotated[
        AuthorizationSettings | None, Doc("A header Authorization of another type.", default="none")
    ] = None
    bearer_token_file: Annotated[
        SecretFile | None, Doc("A file that holds the token that is sent as `Authorization: Bearer`, and nothing else.")
    ] = None
    tls_config: Annotated[RemoteTlsSettings, Doc("How the engine is known, and the agent to it.")] = field(
        default_factory=RemoteTlsSettings
    )
    queue_config: Annotated[QueueSettings, Doc("How much is sent at once, and the pauses after failures.")] = field(
        default_factory=QueueSettings
    )
    external_labels: Annotated[
        Mapping[Annotated[str, external_label], Annotated[str, label_value]],
        Doc("Labels that every sample to this engine has, where it has none of that name itself."),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = [key for key in ("basic_auth", "authorization", "bearer_token_file") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} each give the header Authorization; one of them is enough")


def remote_write_contradictions(engines: Sequence[RemoteWriteSettings]) -> Iterator[Problem]:
    """What is wrong with engines that are each well-formed."""
    for index, name, first in repeated(each.name for each in engines):
        message = f"{name} occurs twice, first on line {first.place.line}"
        yield Problem(name.place, f"remote_write[{index}].name", message)
