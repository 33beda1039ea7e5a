"""Settings of remote write: the engines that samples are sent to. Keys are those of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText, Problem, repeated
from mqvitals_config.decoding.scalars import display_name
from mqvitals_config.decoding.schema import Convert, Doc, duration_within
from mqvitals_config.decoding.secret import WEB_ADDRESS_FORM, WebAddress
from mqvitals_config.sections.engine_access import (
    Authorization,
    BasicAuth,
    BearerTokenFile,
    EngineTlsSettings,
    ExternalLabels,
    Headers,
    TlsConfig,
    check_authorization,
)

_MOST_SAMPLES: Final = 50_000


def samples_at_once(number: int) -> int:
    """``number`` itself, of samples in a request; raises ValueError."""
    if not 1 <= number <= _MOST_SAMPLES:
        raise ValueError(f"a request has from 1 to {_MOST_SAMPLES} samples")
    return number


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
    headers: Headers = field(default_factory=dict)
    basic_auth: BasicAuth = None
    authorization: Authorization = None
    bearer_token_file: BearerTokenFile = None
    tls_config: TlsConfig = field(default_factory=EngineTlsSettings)
    queue_config: Annotated[QueueSettings, Doc("How much is sent at once, and the pauses after failures.")] = field(
        default_factory=QueueSettings
    )
    external_labels: Annotated[
        ExternalLabels,
        Doc("Labels that every sample to this engine has, where it has none of that name itself."),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_authorization(self)


def remote_write_contradictions(engines: Sequence[RemoteWriteSettings]) -> Iterator[Problem]:
    """What is wrong with engines that are each well-formed."""
    for index, name, first in repeated(each.name for each in engines):
        message = f"{name} occurs twice, first on line {first.place.line}"
        yield Problem(name.place, f"remote_write[{index}].name", message)
