"""Settings of services that alerts are sent to over HTTP: Slack, Microsoft Teams, PagerDuty, ServiceNow and Splunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from mqvitals_config.receivers.http import AddressSettings, HttpSettings
from mqvitals_config.schema import Convert, Doc, SecretFile, matching
from mqvitals_config.secret import WEB_ADDRESS_FORM, Secret, WebAddress

PAGERDUTY_ADDRESS: Final = "https://events.pagerduty.com/v2/enqueue"
_PAGERDUTY: Final = WebAddress(PAGERDUTY_ADDRESS)


@dataclass(frozen=True, slots=True)
class SlackSettings(AddressSettings):
    """A channel of Slack, by the address of an incoming webhook."""


@dataclass(frozen=True, slots=True)
class TeamsSettings(AddressSettings):
    """A channel or chat of Microsoft Teams, by the address of a workflow that posts what it receives."""


@dataclass(frozen=True, slots=True)
class PagerDutySettings(HttpSettings):
    """A service of PagerDuty."""

    routing_key_file: Annotated[
        SecretFile,
        Doc("A file that holds the integration key of PagerDuty's service (Events API v2), and nothing else."),
    ] = field(kw_only=True)
    url: Annotated[
        Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)],
        Doc(
            "Where events are posted to; in Europe https://events.eu.pagerduty.com/v2/enqueue.",
            default=PAGERDUTY_ADDRESS,
        ),
    ] = _PAGERDUTY

    @property
    def address(self) -> Secret:
        """Where events are posted to."""
        return self.url


@dataclass(frozen=True, slots=True)
class ServiceNowSettings(AddressSettings):
    """Event management of ServiceNow. An address without a path is completed by that of its API."""

    credentials_file: Annotated[
        SecretFile | None,
        Doc("A file that holds `user:password` of a user with the role evt_mgmt_integration, and nothing else."),
    ] = None

    def __post_init__(self) -> None:
        AddressSettings.__post_init__(self)
        if self.credentials_file is not None and any(name.lower() == "authorization" for name in self.headers_files):
            raise ValueError("credentials_file and headers_files both give the header Authorization")


_SplunkWord = Annotated[
    str,
    matching(
        r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}",
        "expected letters, digits, underscores, points, colons, slashes and hyphens",
    ),
]


@dataclass(frozen=True, slots=True)
class SplunkSettings(AddressSettings):
    """The HTTP Event Collector of Splunk. An address without a path is completed by that of its API."""

    hec_token_file: Annotated[SecretFile, Doc("A file that holds the token of the collector, and nothing else.")] = (
        field(kw_only=True)
    )
    index: Annotated[_SplunkWord | None, Doc("The index of the events.", default="that of the token")] = None
    sourcetype: Annotated[_SplunkWord, Doc("The source type of the events.")] = "mqvitals:alert"

    def __post_init__(self) -> None:
        AddressSettings.__post_init__(self)
        if any(name.lower() == "authorization" for name in self.headers_files):
            raise ValueError("hec_token_file and headers_files both give the header Authorization")
