"""Settings of reading back: where samples are read from that the store no longer holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from mqvitals_config.decoding.problem import Place, Problem
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
from mqvitals_config.sections.remote_write import RemoteWriteSettings

HistoryBackend = Literal["sqlite", "prometheus"]
PROMETHEUS: Final = "prometheus"
_NOWHERE = Place("the settings")


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """Where the history of samples is read from. Current values and alerts always come from the store."""

    backend: Annotated[
        HistoryBackend,
        Doc(
            "`sqlite`: the store alone. `prometheus`: the engine at `url` too, for the time of which the store holds nothing."
        ),
    ] = "sqlite"
    url: Annotated[
        Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)] | None,
        Doc(
            "The address before `/api/v1/query` of an engine that answers PromQL, such as `http://127.0.0.1:9090`, or"
            " `https://metrics.example.com/select/0/prometheus` of a VictoriaMetrics cluster. Shown nowhere but for its host.",
            default="none; `backend: prometheus` needs it",
        ),
    ] = None
    timeout: Annotated[
        Annotated[int, duration_within(1, 300_000, "must be longer than 0 and at most 5m")],
        Doc("How long an answer may take.", default="10s"),
    ] = 10_000
    headers: Headers = field(default_factory=dict)
    basic_auth: BasicAuth = None
    authorization: Authorization = None
    bearer_token_file: BearerTokenFile = None
    tls_config: TlsConfig = field(default_factory=EngineTlsSettings)
    external_labels: Annotated[
        ExternalLabels | None,
        Doc(
            "Labels that tell this group's series from those of others in the engine; `{}`: none.",
            default="those of `remote_write`, where all its engines have the same",
        ),
    ] = None

    def labels(self, engines: Sequence[RemoteWriteSettings]) -> Mapping[str, str]:
        """The labels by which series are asked for: its own, else those that remote write sends to all its engines alike."""
        if self.external_labels is not None:
            return self.external_labels
        return engines[0].external_labels if _alike(engines) else {}


def _alike(engines: Sequence[RemoteWriteSettings]) -> bool:
    """Whether there are engines, and all are sent the same labels."""
    return len({tuple(sorted(each.external_labels.items())) for each in engines}) == 1


def history_contradictions(
    history: HistorySettings, engines: Sequence[RemoteWriteSettings], places: Mapping[str, Place]
) -> Iterator[Problem]:
    """What is wrong with settings that are each well-formed. ``places`` says where each key stands."""
    if history.backend != PROMETHEUS:
        return
    place = places.get("history.backend", _NOWHERE)
    try:
        check_authorization(history)
    except ValueError as error:
        yield Problem(places.get("history", place), "history", str(error))
    if history.url is None:
        message = "prometheus is read from history.url, which is missing; give it, or backend: sqlite"
        yield Problem(place, "history.backend", message)
    if history.external_labels is None and engines and not _alike(engines):
        message = (
            "remote_write sends different external_labels to its engines; give history those of the one that is read"
        )
        yield Problem(place, "history.external_labels", message)
