"""The types of receivers by the word that stands in the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from mqvitals_config.decoding.schema import ByType
from mqvitals_config.receivers.command import CommandSettings
from mqvitals_config.receivers.http import WebhookSettings
from mqvitals_config.receivers.receiver import ReceiverSettings, ReceiverType
from mqvitals_config.receivers.servers import EmailSettings, SyslogSettings
from mqvitals_config.receivers.services import (
    AlertmanagerSettings,
    AppriseSettings,
    HeartbeatSettings,
    PagerDutySettings,
    ServiceNowSettings,
    SlackSettings,
    SplunkSettings,
    TeamsSettings,
)

RECEIVER_TYPES: Mapping[ReceiverType, type[ReceiverSettings]] = {
    "webhook": WebhookSettings,
    "alertmanager": AlertmanagerSettings,
    "slack": SlackSettings,
    "teams": TeamsSettings,
    "pagerduty": PagerDutySettings,
    "servicenow": ServiceNowSettings,
    "splunk": SplunkSettings,
    "command": CommandSettings,
    "syslog": SyslogSettings,
    "email": EmailSettings,
    "apprise": AppriseSettings,
    "heartbeat": HeartbeatSettings,
}
AnyReceiver = Annotated[ReceiverSettings, ByType(RECEIVER_TYPES)]
"""A receiver of any type. Without the key ``type`` it is a webhook."""
