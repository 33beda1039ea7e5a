"""A report on its way to a receiver: what is sent, what a receiver of reports implements, and the JSON of a webhook."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol

from mqvitals_agent.handover.blocks import brief_blocks, handover_blocks, title_of
from mqvitals_agent.handover.report import Handover
from mqvitals_agent.notify.message import NotificationMessage
from mqvitals_agent.notify.receiver import DeliveryOutcome
from mqvitals_agent.text.document import plain_lines
from mqvitals_agent.text.html import html_page
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.timestamps import iso

_WIDTH = 100
"""Cells of a line of the whole text."""
_BRIEF_WIDTH = 10_000
"""Chats break lines themselves."""


@dataclass(frozen=True, slots=True)
class ReportMessage:
    """A report in words. ``name`` is that of the settings, ``at`` the moment for which it is sent (ms UTC).

    ``brief`` is for a chat, ``text`` and ``page`` (HTML) are the whole. ``severity`` is the worst of what is open, None:
    nothing is. ``counts`` are open alerts by severity, and those that ended. ``late``: it comes after its moment.
    """

    name: str
    at: int
    title: str
    severity: Severity | None
    counts: dict[str, int]
    brief: str
    text: str
    page: str
    late: bool = False

    @property
    def key(self) -> str:
        """The same for each attempt to send it, and no other's."""
        return f"{self.name} {iso(self.at)}"


class ReportReceiver(Protocol):
    """A receiver that takes reports beside notifications."""

    async def send_report(self, report: ReportMessage, /) -> DeliveryOutcome:
        """Make one attempt. Raises nothing that the receiver or the network can cause."""
        ...


def report_message(name: str, at: int, report: Handover, remark: str = "") -> ReportMessage:
    """The message of a report; times are in the zone that is shown. ``remark`` is why it comes late, if it does."""
    severities = [each.alert.severity for each in report.opened]
    counts = {each.name.lower(): report.open_count(each) for each in sorted(Severity, reverse=True)}
    title = title_of(report)
    brief = list(brief_blocks(report, remark))[1:]
    return ReportMessage(
        name,
        at,
        title,
        max(severities, default=None),
        {**counts, "ended": sum(each.times for each in report.ended)},
        "\n".join(plain_lines(brief, _BRIEF_WIDTH)),
        "\n".join(plain_lines(handover_blocks(report, remark), _WIDTH)),
        html_page(handover_blocks(report, remark), title),
        bool(remark),
    )


def chat_message(report: ReportMessage) -> NotificationMessage:
    """A report as chats show it: its title, and in short what is open and what is ahead."""
    severity = report.severity
    return NotificationMessage(
        report.title, Severity.INFO if severity is None else severity, severity is None, (), text=report.brief
    )


def posted_report(report: ReportMessage) -> str:
    """The JSON that is posted to a webhook, in ASCII."""
    return json.dumps(
        {
            "type": "report",
            "key": report.key,
            "report": report.name,
            "at": iso(report.at),
            "late": report.late,
            "title": report.title,
            "severity": None if report.severity is None else report.severity.name.lower(),
            "counts": report.counts,
            "text": report.brief,
        }
    )
