"""Receivers of alert notifications. A new type is a subclass of ReceiverSettings, a word and a line in RECEIVER_TYPES."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from mqvitals_config.problem import LocatedText, Place
from mqvitals_config.scalars import display_name
from mqvitals_config.schema import ByType, Convert, Doc, SecretFile, duration_within
from mqvitals_config.secret import WEB_ADDRESS_FORM, Secret, WebAddress

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


ReceiverType = Literal["webhook"]
LeastSeverity = Literal["critical", "warning", "info"]


@dataclass(frozen=True, slots=True)
class ReceiverSettings:
    """The settings of every receiver of alert notifications."""

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
            "The least severity of the alerts that it is notified about. Only with `info` it is also notified about advice,"
            " whatever its severity.",
            default="warning",
        ),
    ] = "warning"
    labels: Annotated[
        Mapping[Annotated[str, label_name], Annotated[str, label_value]],
        Doc("Labels of your own that every alert to this receiver carries."),
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WebhookSettings(ReceiverSettings):
    """A webhook. Its address is written in the file, or in a file of its own."""

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
    token_file: Annotated[
        SecretFile | None,
        Doc("A file that holds the token that is sent as `Authorization: Bearer`, and nothing else."),
    ] = None

    def __post_init__(self) -> None:
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


RECEIVER_TYPES: Mapping[ReceiverType, type[ReceiverSettings]] = {"webhook": WebhookSettings}
AnyReceiver = Annotated[ReceiverSettings, ByType(RECEIVER_TYPES)]
"""A receiver of any type. Without the key ``type`` it is a webhook."""


def webhook_of(url: str | Secret, *, name: str = "webhook") -> WebhookSettings:
    """A webhook from the command line, with every other setting at its default.

    ``url`` is its address, or the file that holds it. Raises ValueError when it is no http or https address.
    """
    located = LocatedText(name, Place("flag --webhook"))
    if isinstance(url, Secret):
        return WebhookSettings(located, url_file=url)
    return WebhookSettings(located, url=WebAddress(url))
