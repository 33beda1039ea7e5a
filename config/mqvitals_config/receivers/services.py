"""Settings of services that alerts are sent to over HTTP: Slack, Microsoft Teams, PagerDuty, ServiceNow, Splunk, Alertmanager;
and of those that only hear that the agent works.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Literal

from mqvitals_config.decoding.schema import Convert, Doc, SecretFile, duration_within, matching
from mqvitals_config.decoding.secret import WEB_ADDRESS_FORM, Secret, WebAddress
from mqvitals_config.receivers.http import AddressSettings, HttpSettings
from mqvitals_config.receivers.receiver import ReceiverSettings

PAGERDUTY_ADDRESS: Final = "https://events.pagerduty.com/v2/enqueue"
_CREDENTIALS: Final = (
    "A file that holds `user:password`, and nothing else. ServiceNow's user has the role evt_mgmt_integration."
)
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
        Doc(_CREDENTIALS),
    ] = None

    def __post_init__(self) -> None:
        AddressSettings.__post_init__(self)
        if self.credentials_file is not None and any(name.lower() == "authorization" for name in self.headers_files):
            raise ValueError("credentials_file and headers_files both give the header Authorization")
        if self.template is not None:
            self.template.refuse_title()


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
        if self.template is not None:
            self.template.refuse_title()


LONGEST_RESEND_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class AlertmanagerSettings(HttpSettings):
    """The members of a cluster of Alertmanagers, or a single one. Each gets everything itself."""

    resends: ClassVar[bool] = True

    addresses: Annotated[
        tuple[Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)], ...],
        Doc(
            "Where each member is reached, such as http://am1.example.com:9093; the path of its API is added. Of each only"
            " scheme and host are ever shown."
        ),
    ] = field(kw_only=True)
    resend: Annotated[
        Annotated[int, duration_within(1_000, LONGEST_RESEND_MS, "must be at least 1s and at most 30s")],
        Doc(
            "After what time everything that fires is sent again. An alert ends there when four of them are missed.",
            default="30s",
        ),
    ] = LONGEST_RESEND_MS
    token_file: Annotated[
        SecretFile | None,
        Doc("A file that holds the token that is sent as `Authorization: Bearer`, and nothing else."),
    ] = None
    credentials_file: Annotated[SecretFile | None, Doc(_CREDENTIALS)] = None

    def __post_init__(self) -> None:
        HttpSettings.__post_init__(self)
        if not self.addresses:
            raise ValueError("this receiver has no address; give those of the members of the cluster in addresses")
        if len({each.reveal().rstrip("/") for each in self.addresses}) < len(self.addresses):
            raise ValueError("an address stands twice in addresses")
        if self.template is not None:
            raise ValueError("template is for messages; Alertmanager has templates of its own, for its receivers")
        if not self.send_resolved:
            raise ValueError(
                "an alert that is no longer sent ends in Alertmanager; give send_resolved: false there, to its receivers"
            )
        given = [name for name in ("token_file", "credentials_file") if getattr(self, name) is not None]
        if any(name.lower() == "authorization" for name in self.headers_files):
            given.append("headers_files")
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} both give the header Authorization")


@dataclass(frozen=True, slots=True)
class HeartbeatSettings(AddressSettings):
    """A service that says so when it does not hear from the agent any more."""

    takes_alerts: ClassVar[bool] = False

    every: Annotated[
        Annotated[int, duration_within(1_000, 3_600_000, "must be at least 1s and at most 1h")],
        Doc("How often it hears that cycles go on.", default="1m"),
    ] = 60_000
    method: Annotated[Literal["GET", "POST"], Doc("How it is called.")] = "GET"
    fail_url: Annotated[
        Annotated[WebAddress, Convert(WebAddress, WEB_ADDRESS_FORM)] | None,
        Doc(
            "What is called instead, by POST with the reason, while cycles are late.", default="nothing is called then"
        ),
    ] = None
    fail_url_file: Annotated[SecretFile | None, Doc("A file that holds that address and nothing else.")] = None

    def __post_init__(self) -> None:
        AddressSettings.__post_init__(self)
        if self.fail_url is not None and self.fail_url_file is not None:
            raise ValueError("this receiver has two addresses for failures; give either fail_url or fail_url_file")
        if self.template is not None:
            raise ValueError("template is for messages; a heartbeat has none")

    @property
    def fail_address(self) -> Secret | None:
        """Where it is called while cycles are late; None: nowhere."""
        return self.fail_url or self.fail_url_file


APPRISE_MISSING: Final = (
    "receivers of type apprise need the package apprise, which is not installed: pip install 'mqvitals[apprise]'"
)


@dataclass(frozen=True, slots=True)
class AppriseSettings(ReceiverSettings):
    """Services that the package apprise knows, which is an extra."""

    urls_file: Annotated[
        SecretFile,
        Doc("A file that holds apprise's addresses of the services, one a line; lines that begin with # are comments."),
    ] = field(kw_only=True)
