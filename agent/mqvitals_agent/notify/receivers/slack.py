"""Slack: a message of Block Kit to an incoming webhook, with a coloured bar for the severity.

Limits are those of Slack's reference: 50 blocks in a message, 150 characters in a header, 3,000 in a text and 2,000 in a
field. What stands in a ``plain_text`` is shown as it is; in ``mrkdwn`` the characters & < > are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from mqvitals_agent.notify.message import AlertMessage, NotificationMessage, cut_text, more_words
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.receivers.http import HttpRequest, ReportingHttpReceiver, Revealed, revealed_address
from mqvitals_agent.notify.report import ReportMessage, chat_message
from mqvitals_config.receivers.services import SlackSettings
from mqvitals_rules.lifecycle.alert import Severity

MOST_BLOCKS: Final = 50
MOST_HEADER: Final = 150
MOST_TEXT: Final = 3_000
MOST_FIELD: Final = 2_000
MOST_ALERTS: Final = 15
"""Alerts that are laid out in one message; each takes at most three blocks."""

_COLOURS = {Severity.CRITICAL: "#d72b3f", Severity.WARNING: "#e8a723", Severity.INFO: "#3f6ec6"}
_GOOD = "#2eb67d"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class SlackReceiver(ReportingHttpReceiver[SlackSettings]):
    """Posts messages to the address of an incoming webhook."""

    def request(self, notification: Notification, revealed: Revealed) -> HttpRequest:
        """The request for a notification. Raises ValueError when the address cannot be used."""
        message = self._write(notification, self._now())
        return HttpRequest(revealed_address(self._settings.address, revealed), json.dumps(slack_payload(message)))

    def report_request(self, report: ReportMessage, revealed: Revealed) -> HttpRequest:
        """The request for a report. Raises ValueError when the address cannot be used."""
        body = json.dumps(slack_payload(chat_message(report)))
        return HttpRequest(revealed_address(self._settings.address, revealed), body)


def slack_payload(message: NotificationMessage) -> dict[str, Any]:
    """A message as Slack's webhooks take it. ``text`` is what a phone shows of it."""
    colour = _GOOD if message.resolved else _COLOURS[message.severity]
    blocks = list(_blocks(message))
    return {
        "text": escaped(message.title, MOST_TEXT),
        "blocks": [{"type": "header", "text": _plain(message.title, MOST_HEADER)}],
        "attachments": [{"color": colour, "fallback": escaped(message.title, MOST_TEXT), "blocks": blocks}],
    }


def _blocks(message: NotificationMessage) -> Iterator[dict[str, Any]]:
    if message.text is not None:
        yield {"type": "section", "text": _plain(message.text, MOST_TEXT)}
        return
    for each in message.alerts[:MOST_ALERTS]:
        yield from _alert_blocks(each)
    if more := message.more + len(message.alerts[MOST_ALERTS:]):
        yield {"type": "context", "elements": [_plain(more_words(more), MOST_TEXT)]}


def _alert_blocks(alert: AlertMessage) -> Iterator[dict[str, Any]]:
    """What and where, since when and at which figures; what to do, with the command; the source."""
    fields = [
        field
        for word, text in (
            ("Where", alert.where),
            ("Since", alert.since),
            ("Figures", alert.figures),
            ("Rule", alert.rule),
        )
        if text
        for field in ({"type": "mrkdwn", "text": f"*{word}*"}, _plain(text, MOST_FIELD))
    ]
    yield {
        "type": "section",
        "text": _plain(f"{alert.how_bad} {alert.what}", MOST_TEXT),
        **({"fields": fields} if fields else {}),
    }
    steps = [escaped(alert.advice, MOST_TEXT // 2)] if alert.advice else []
    if alert.mqsc:
        # A back quote would end the block of code.
        steps.append(f"```{escaped(alert.mqsc.replace('`', chr(39)), MOST_TEXT // 3)}```")
    if steps:
        yield {"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(steps)}}
    sources = [_plain(text, MOST_FIELD) for text in (alert.source, alert.link) if text]
    if sources:
        yield {"type": "context", "elements": sources}


def escaped(text: str, most: int) -> str:
    """``text`` for ``mrkdwn``, in at most ``most`` characters: it names no one and links nowhere."""
    found = text.translate(_ESCAPES)
    while len(found) > most:
        text = text[: len(text) - max((len(found) - most) // 5, 2)].rstrip("…") + "…"
        found = text.translate(_ESCAPES)
    return found


def _plain(text: str, most: int) -> dict[str, Any]:
    return {"type": "plain_text", "text": cut_text(text, most) or " ", "emoji": False}
