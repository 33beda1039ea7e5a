"""How the agent's log is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from mqvitals_config.doc import Doc

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The lines that the agent writes about itself to standard error."""

    format: Annotated[
        LogFormat,
        Doc("Lines for people, or one JSON object a line.", "MQVITALS_LOG_FORMAT", "--log-format"),
    ] = "text"
    level: Annotated[
        LogLevel,
        Doc("The least that is written.", "MQVITALS_LOG_LEVEL"),
    ] = "info"
