"""What the settings of all receivers of alert notifications have in common.

A new type is a subclass of ReceiverSettings in ``receivers/``, a word in ReceiverType and a line in
``receivers.types.RECEIVER_TYPES``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from mqvitals_config.decoding.problem import LocatedText
from mqvitals_config.decoding.scalars import display_name, resolved_path
from mqvitals_config.decoding.schema import Convert, Doc, duration_within
from mqvitals_config.receivers.template import MessageTemplate

OWN_LABELS = (
    "alertname", "rule", "family", "severity", "owner", "queue_manager", "kind", "object", "name", "instance", "group",
)  # fmt: skip
"""The labels of every alert."""

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def label_name(text: str) -> str:
    """The name of a label that a site adds; raises ValueError."""
    if not _LABEL.fullmatch(text):
        raise ValueError("a label's name has letters, digits and underscores, and does not begin with a digit")
    if text in OWN_LABELS:
        raise ValueError(f"{text} is a label that every alert has of itself")
    return text


def label_value(text: str) -> str:
    """The value of a label; raises ValueError."""
    if not text or not text.isprintable():
        raise ValueError("a label's value is not empty and holds no control characters")
    return text


ReceiverType = Literal[
    "webhook",
    "alertmanager",
    "slack",
    "teams",
    "pagerduty",
    "servicenow",
    "splunk",
    "command",
    "syslog",
    "email",
    "apprise",
    "heartbeat",
]
LeastSeverity = Literal["critical", "warning", "info"]


@dataclass(frozen=True, slots=True)
class ReceiverSettings:
    """The settings of every receiver of alert notifications.

    ``resends``: all that fires is sent to it again and again, past groups and the outbox. ``takes_alerts``: it is not only told
    that the agent works.
    """

    resends: ClassVar[bool] = False
    takes_alerts: ClassVar[bool] = True

    name: Annotated[
        Annotated[LocatedText, Convert(display_name)],
        Doc("Its name, for `mqvitals alerts test`, for messages, and for the receiver itself."),
    ]
    type: Annotated[ReceiverType, Doc("How it is notified.")] = "webhook"
    timeout: Annotated[
        Annotated[int, duration_within(1, 300_000, "must be longer than 0 and at most 5m")],
        Doc("How long an answer may take before the alert is sent again.", default="10s"),
    ] = 10_000
    send_resolved: Annotated[bool, Doc("Whether it is also notified when an alert has ended.", default="true")] = True
    min_severity: Annotated[
        LeastSeverity,
        Doc(
            "The least severity of the alerts that it is notified about; that of the route holds too, so the higher of both"
            " counts. Only with `info` it is also notified about advice, whatever its severity.",
            default="warning",
        ),
    ] = "warning"
    labels: Annotated[
        Mapping[Annotated[str, label_name], Annotated[str, label_value]],
        Doc("Labels of your own that every alert to this receiver carries."),
    ] = field(default_factory=dict)
    template: Annotated[
        MessageTemplate | None,
        Doc("Words of your own instead of those that mqvitals writes; see `mqvitals help templates`.", default="none"),
    ] = None


_FilePath = Annotated[LocatedText, Convert(resolved_path, "the path of a file")]


@dataclass(frozen=True, slots=True)
class TlsReceiverSettings(ReceiverSettings):
    """What receivers have in common that are reached over TLS."""

    ca_file: Annotated[
        _FilePath | None,
        Doc(
            "The certificates (PEM) of the authorities that may have signed the receiver's.",
            default="those of the operating system",
        ),
    ] = None
    client_certificate: Annotated[
        _FilePath | None,
        Doc("The certificate (PEM, with those between it and the authority) by which the receiver knows the agent."),
    ] = None
    client_key_file: Annotated[
        _FilePath | None,
        Doc("The private key (PEM, without a password) of `client_certificate`.", default="in `client_certificate`"),
    ] = None

    def __post_init__(self) -> None:
        if self.client_key_file is not None and self.client_certificate is None:
            raise ValueError("client_key_file is the key of a client_certificate, which is missing")
