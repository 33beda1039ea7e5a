"""What became of our own commands: one object of kind ``agent`` for each queue manager and form of command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqvitals_agent.pcf.names import command_name
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Absence, Reported

NO_INTERVAL: Mapping[str, Reported] = {"every_ms": Absence.NOT_RETURNED, "stretched": Absence.NOT_RETURNED}
"""The interval in force, where nobody tells it: a recording does not."""


def form(command: int, scope: str = "") -> str:
    """``INQUIRE_ARCHIVE``, ``INQUIRE_CHANNEL_STATUS CMDSCOPE(*)``; the number where the command has no known name."""
    name = command_name(command) or f"COMMAND {command}"
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
    "INQUIRE_THREAD": "THREAD",
    "INQUIRE_TRACE": "TRACE",
}
"""What each command displays in MQSC; the profile in class MQCMDS that protects it has the same keyword."""


def mqsc(form_name: str) -> str:
    """``DISPLAY CHSTATUS`` for ``INQUIRE_CHANNEL_STATUS`` in any of its forms; the command itself where MQSC has none."""
    command = form_name.partition(" CMDSCOPE(")[0]
    keyword = _DISPLAY.get(command)
    return f"DISPLAY {keyword}" if keyword else command


@dataclass(slots=True)
class Tally:
    """What one queue manager did with one form of command in a cycle.

    ``outcome`` is the worst (the greatest number), ``reason`` belongs to it; the rest are sums.
    """

    outcome: Outcome = Outcome.OK
    reason: int = 0
    commands: int = 0
    replies: int = 0
    bytes: int = 0
    elapsed_ms: int = 0

    def judge(self, outcome: Outcome, reason: int) -> None:
        """Take one more outcome into account."""
        if outcome.value > self.outcome.value:
            self.outcome, self.reason = outcome, reason

    def values(self) -> dict[str, Reported]:
        """The metrics of kind ``agent`` that count something."""
        return {
            "outcome": self.outcome.value,
            "reason": self.reason,
            "commands": self.commands,
            "replies": self.replies,
            "bytes": self.bytes,
            "elapsed_ms": self.elapsed_ms,
        }
