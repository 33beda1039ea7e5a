"""Microsoft Teams: an Adaptive Card to the address of a workflow that posts what it receives.

A message has at most 28 KB. Texts stand in TextRuns, which know no Markdown, so text from MQ is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from mqvitals_agent.notify.message import AlertMessage, NotificationMessage, cut_text, more_words
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import HttpRequest, ReportingHttpReceiver, Revealed, revealed_address
from mqvitals_agent.notify.report import ReportMessage, chat_message
from mqvitals_config.receivers.services import TeamsSettings
from mqvitals_rules.lifecycle.alert import Severity

MOST_BYTES: Final = 28_000
MOST_TEXT: Final = 2_000
VERSION: Final = "1.4"
"""Of Adaptive Cards: the newest that Teams shows on every device."""

_STYLES = {Severity.CRITICAL: "attention", Severity.WARNING: "warning", Severity.INFO: "accent"}
_GOOD = "good"


class TeamsReceiver(ReportingHttpReceiver[TeamsSettings]):
    """Posts cards to the address of a workflow."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when the address cannot be used."""
        body = teams_body(self._write(notification, self._now()))
        return HttpRequest(revealed_address(self._settings.address, revealed), body)

    def report_request(self, report: ReportMessage, revealed: Revealed) -> HttpRequest:
        """The request for a report. Raises ValueError when the address cannot be used."""
        body = teams_body(chat_message(report))
        return HttpRequest(revealed_address(self._settings.address, revealed), body)


def teams_body(message: NotificationMessage) -> str:
    """A message as JSON of at most 28 KB: as many alerts as fit, and how many are left out."""
    most = len(message.alerts)
    while True:
        body = json.dumps(teams_payload(message, most))
        if len(body) <= MOST_BYTES or most == 0:
            return body
        most = most // 2 if most > 20 else most - 1


def teams_payload(message: NotificationMessage, most: int) -> dict[str, Any]:
    """A message as a workflow takes it, with at most ``most`` alerts."""
    return {
        "type": "message",
        "summary": message.title,
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": None,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": VERSION,
                    "fallbackText": message.title,
                    "body": list(_body(message, most)),
                    "msteams": {"width": "Full"},
                },
            }
        ],
    }


def _body(message: NotificationMessage, most: int) -> Iterator[dict[str, Any]]:
    style = _GOOD if message.resolved else _STYLES[message.severity]
    title = _run(message.title, weight="Bolder", size="Medium")
    yield {"type": "Container", "style": style, "bleed": True, "items": [_block(title)]}
    if message.text is not None:
        for line in message.text[: MOST_TEXT * 3].splitlines():
            yield _block(_run(line), spacing="None")
        return
    for each in message.alerts[:most]:
        yield {"type": "Container", "separator": True, "items": list(_alert_items(each))}
        if each.link:
            yield {"type": "ActionSet", "actions": [{"type": "Action.OpenUrl", "title": "See", "url": each.link}]}
    if more := message.more + len(message.alerts[most:]):
        yield _block(_run(more_words(more)), separator=True)


def _alert_items(alert: AlertMessage) -> Iterator[dict[str, Any]]:
    colour = "Good" if alert.alert.ends is not None else _STYLES[alert.alert.severity].capitalize()
    yield _block(_run(f"{alert.how_bad} ", weight="Bolder", color=colour), _run(alert.what, weight="Bolder"))
    for word, text in (
        ("Where", alert.where),
        ("Since", alert.since),
        ("Figures", alert.figures),
        ("Rule", alert.rule),
        ("To do", alert.advice),
    ):
        if text:
            yield _block(_run(f"{word}: ", isSubtle=True), _run(text), spacing="None")
    if alert.mqsc:
        yield _block(_run(alert.mqsc, fontType="Monospace"), spacing="Small")
    if alert.source:
        yield _block(_run(alert.source, isSubtle=True, size="Small"), spacing="Small")


def _block(*runs: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": list(runs), **others}


def _run(text: str, **others: Any) -> dict[str, Any]:
    return {"type": "TextRun", "text": cut_text(text, MOST_TEXT) or " ", **others}
