"""Fills in the templates of a site: the words of the messages to a receiver, and the link to its own page about an alert.

A template that fails costs no notification: the words are then those that mqvitals writes, and the log says why.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mqvitals_agent.log import as_change, forget
from mqvitals_agent.notify.message import (
    MOST_TEXT,
    MOST_TITLE,
    AlertMessage,
    NotificationMessage,
    WriteMessage,
    alert_message,
    cut_text,
    message_of,
)
from mqvitals_agent.notify.notification import Notification, NotifiedAlert, notification_of_one
from mqvitals_agent.notify.receiver import trial_alerts, trial_notifications
from mqvitals_config.decoding.problem import LocatedText, Problem
from mqvitals_config.receivers.template import MessageTemplate, template_environment
from mqvitals_config.settings import Settings

if TYPE_CHECKING:
    from jinja2 import Template

_LOG = logging.getLogger(__name__)

Filler = Callable[[Mapping[str, Any]], str]


class TemplateFailedError(Exception):
    """A template cannot be filled in; the message says which and why."""


def message_writer(template: MessageTemplate | None, link: str | None) -> WriteMessage:
    """How messages are written by these settings, neither of which need exist."""
    if template is None and link is None:
        return message_of
    return _TemplateWriter(template, link)


class _TemplateWriter:
    def __init__(self, template: MessageTemplate | None, link: str | None) -> None:
        self._title = _filled("template.title", template.title) if template and template.title else None
        self._text = _filled("template.text", template.text) if template and template.text else None
        self._link = _filled("link", link, finalize=_quoted) if link else None

    def __call__(self, notification: Notification, now: int) -> NotificationMessage:
        """In the site's words; in those of mqvitals where a template fails."""
        key = f"template {notification.receiver}"
        try:
            message = self.message(notification, now)
        except TemplateFailedError as error:
            text = f"receiver {notification.receiver}: {error}; notifications have the words of mqvitals instead"
            _LOG.error(text, extra=as_change(key, "template.failing", receiver=notification.receiver))
            return message_of(notification, now)
        forget(_LOG, key)
        return message

    def message(self, notification: Notification, now: int) -> NotificationMessage:
        """In the site's words. Raises TemplateFailedError."""
        message = message_of(notification, now, self._link_of)
        if self._title is None and self._text is None:
            return message
        names = _message_names(notification, message)
        title = message.title if self._title is None else " ".join(self._title(names).split())
        text = None if self._text is None else self._text(names)
        return replace(
            message,
            title=cut_text(title, MOST_TITLE) or message.title,
            text=None if text is None else cut_text(text, MOST_TEXT),
        )

    def _link_of(self, alert: NotifiedAlert) -> str:
        return "" if self._link is None else self._link(_link_names(alert))


def template_problems(settings: Settings) -> Iterator[Problem]:
    """Templates that cannot be filled in for the test alert, which has neither every label nor every annotation."""
    for index, receiver in enumerate(settings.receivers):
        trials = trial_notifications(receiver, 0)
        if (template := receiver.template) is None:
            continue
        key = f"receivers[{index}].template"
        if template.title is not None:
            yield from _tried(
                _TemplateWriter(replace(template, text=None), None), trials, template.title, f"{key}.title"
            )
        if template.text is not None:
            yield from _tried(
                _TemplateWriter(replace(template, title=None), None), trials, template.text, f"{key}.text"
            )
    if (link := settings.link) is not None:
        yield from _tried(_TemplateWriter(None, link), [notification_of_one(trial_alerts(0)[0], "")], link, "link")


def _tried(
    writer: _TemplateWriter, notifications: Iterable[Notification], text: LocatedText, key: str
) -> Iterator[Problem]:
    try:
        for each in notifications:
            writer.message(each, 0)
    except TemplateFailedError as error:
        yield Problem(text.place, key, str(error))


def _filled(key: str, text: str, **options: Any) -> Filler:
    compiled: list[Template] = []

    def fill(names: Mapping[str, Any]) -> str:
        try:
            if not compiled:
                compiled.append(template_environment(**options).from_string(text))
            return compiled[0].render(names).strip()
        except Exception as error:  # noqa: BLE001 - whatever a template calls may raise
            raise TemplateFailedError(f"{key} cannot be filled in: {error} ({_line_of(error)})") from None

    return fill


def _line_of(error: BaseException) -> str:
    """Where in the template an error arose; its type where that is unknown."""
    found, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            found = f"line {trace.tb_lineno} of the template"
        trace = trace.tb_next
    return found or type(error).__name__


def _quoted(value: object) -> str:
    """A value as a part of an address: it can add no other part."""
    return quote(str(value), safe="")


class _Labels(dict[str, str]):
    """Labels, of which one that an alert does not have is empty."""

    def __missing__(self, name: str) -> str:
        return ""


def _message_names(notification: Notification, message: NotificationMessage) -> Mapping[str, Any]:
    alerts = [_alert_names(each) for each in message.alerts]
    return {
        "title": message.title,
        "plain": message.plain,
        "status": notification.status.value,
        "severity": message.severity.name.lower(),
        "receiver": notification.receiver,
        "repeated": notification.repeated,
        "more": message.more,
        "alerts": alerts,
        "firing": [each for each in alerts if each["ends"] is None],
        "resolved": [each for each in alerts if each["ends"] is not None],
        "labels": _Labels(notification.labels),
        "common_labels": _Labels(notification.common_labels),
    }


def _alert_names(message: AlertMessage) -> Mapping[str, Any]:
    """The words of an alert, and what it has of itself. Times are datetimes in UTC."""
    alert = message.alert
    words = {item.name: getattr(message, item.name) for item in fields(message) if item.name != "alert"}
    return {
        **words,
        "severity": alert.severity.name.lower(),
        "status": alert.status.value,
        "fingerprint": alert.fingerprint,
        "starts": _moment(alert.starts),
        "ends": None if alert.ends is None else _moment(alert.ends),
        "labels": _Labels(alert.labels),
        "annotations": _Labels(alert.annotations),
    }


def _link_names(alert: NotifiedAlert) -> Mapping[str, Any]:
    labels = alert.labels
    rule = alert_message(alert, alert.starts).rule
    of_labels = {name: labels.get(name, "") for name in ("object", "owner", "kind", "name")}
    return {
        **of_labels,
        "rule": rule,
        "severity": alert.severity.name.lower(),
        "fingerprint": alert.fingerprint,
        "labels": _Labels(labels),
    }


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
