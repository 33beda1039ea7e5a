"""The names of what is asked: forms of commands as the readings of kind ``agent`` have them, and as MQSC has them."""

from __future__ import annotations

from collections.abc import Mapping

from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, READ_EVENTS
from mqvitals_agent.pcf.names import command_name
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTERS

_QUESTIONS: Mapping[int, str] = {BROWSE_DEAD_LETTERS: DEAD_LETTERS, READ_EVENTS: "EVENTS"}
"""Questions that are no commands of MQ."""


def command_form(command: int, scope: str = "") -> str:
    """``INQUIRE_ARCHIVE``, ``INQUIRE_CHANNEL_STATUS CMDSCOPE(*)``; the number where the command has no known name."""
    name = _QUESTIONS.get(command) or command_name(command) or f"COMMAND {command}"
    return f"{name} CMDSCOPE({scope})" if scope else name


_DISPLAY: Mapping[str, str] = {
    "INQUIRE_Q_MGR": "QMGR",
    "INQUIRE_Q_MGR_STATUS": "QMSTATUS",
    "INQUIRE_Q": "QUEUE",
    "INQUIRE_Q_STATUS": "QSTATUS",
    "INQUIRE_CHANNEL": "CHANNEL",
    "INQUIRE_CHANNEL_STATUS": "CHSTATUS",
    "INQUIRE_CLUSTER_Q_MGR": "CLUSQMGR",
    "INQUIRE_CONNECTION": "CONN",
    "INQUIRE_CF_STRUC": "CFSTRUCT",
    "INQUIRE_CF_STRUC_STATUS": "CFSTATUS",
    "INQUIRE_SMDS": "SMDS",
    "INQUIRE_SMDSCONN": "SMDSCONN",
    "INQUIRE_USAGE": "USAGE",
    "INQUIRE_CHANNEL_INIT": "CHINIT",
    "INQUIRE_LOG": "LOG",
    "INQUIRE_ARCHIVE": "ARCHIVE",
    "INQUIRE_SYSTEM": "SYSTEM",
    "INQUIRE_QSG": "GROUP",
    "INQUIRE_STG_CLASS": "STGCLASS",
    "INQUIRE_SECURITY": "SECURITY",
    "INQUIRE_PUBSUB_STATUS": "PUBSUB",
    "INQUIRE_SUBSCRIPTION": "SUB",
    "INQUIRE_THREAD": "THREAD",
    "INQUIRE_TRACE": "TRACE",
}
"""What each command displays in MQSC; the profile in class MQCMDS that protects it has the same keyword."""


def display_command(form_name: str) -> str:
    """``DISPLAY CHSTATUS`` for ``INQUIRE_CHANNEL_STATUS`` in any form; the command itself where MQSC has none."""
    command = form_name.partition(" CMDSCOPE(")[0]
    keyword = _DISPLAY.get(command)
    return f"DISPLAY {keyword}" if keyword else command
