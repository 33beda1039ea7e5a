"""A notification in words: what, where, since when, how bad, what to do, the MQSC command, the source.

Receivers for people lay these texts out in their own way. Nothing here is escaped: text from MQ is data, and each receiver
knows what its service takes for markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mqvitals_agent.notify.notification import Notification, NotifiedAlert, webhook_payload
from mqvitals_agent.text.figure import age, clock, counted, day, zone_name
from mqvitals_rules.lifecycle.alert import Severity

LinkOf = Callable[[NotifiedAlert], str]
"""The site's own page about an alert; empty without one."""

MOST_TITLE: Final = 250
MOST_TEXT: Final = 30_000
"""Characters of a text: more is cut."""

_RESOLVED = "RESOLVED"


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """An alert in words. Texts that the alert does not have are empty.

    ``how_bad`` is CRITICAL, WARNING, INFO or RESOLVED; ``since`` has the time of the start in the zone of the screens, and how long it is or
    was; ``figures`` is the rule's figure at its worst, and as it is since the condition no longer holds.
    """

    alert: NotifiedAlert
    how_bad: str
    what: str
    where: str
    since: str
    figures: str
    advice: str
    mqsc: str
    source: str
    rule: str
    link: str

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """What there is, each with a word for it, in the order in which a person asks; without ``what`` itself."""
        found = (
            ("where", self.where),
            ("since", self.since),
            ("figures", self.figures),
            ("rule", self.rule),
            ("to do", self.advice),
            ("MQSC", self.mqsc),
            ("source", self.source),
            ("see", self.link),
        )
        return [(word, text) for word, text in found if text]


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """A notification in words: ``alerts`` are the news, those that fire and then those that have ended, and what fires on.

    ``text`` is what a template of the site made; None: lay out ``alerts``. ``more`` counts alerts that are left out.
    """

    title: str
    severity: Severity
    resolved: bool
    alerts: tuple[AlertMessage, ...]
    more: int = 0
    text: str | None = None

    @property
    def plain(self) -> str:
        """All of it but the title as plain text: that of the template, else each alert with its facts."""
        if self.text is not None:
            return self.text
        blocks = []
        for each in self.alerts:
            width = max((len(word) for word, _ in each.facts), default=0)
            lines = [f"  {word:<{width}}  {_indented(text, width + 4)}" for word, text in each.facts]
            blocks.append("\n".join([f"{each.how_bad} {each.what}", *lines]))
        if self.more:
            blocks.append(more_words(self.more))
        return cut_text("\n\n".join(blocks), MOST_TEXT)


def message_of(notification: Notification, now: int, link_of: LinkOf = lambda _: "") -> NotificationMessage:
    """A notification in words at ``now`` (ms UTC)."""
    return NotificationMessage(
        title_of(notification),
        notification.severity,
        not notification.firing,
        tuple(alert_message(each, now, link_of(each)) for each in notification.by_news),
        notification.truncated,
    )


WriteMessage = Callable[[Notification, int], NotificationMessage]
"""Writes a notification in words at a time (ms UTC), as ``message_of`` does."""


def messages_of_each(notification: Notification, write: WriteMessage, now: int) -> list[NotificationMessage]:
    """A message for each alert that is news, for receivers that keep each by itself: those that fire, then the ended."""
    return [write(replace(notification, alerts=(each,), truncated=0, known=0), now) for each in notification.news]


def posted_text(notification: Notification, message: NotificationMessage) -> str:
    """What is posted to a program: JSON as a webhook of Alertmanager's has it, or what a template makes."""
    if message.text is not None:
        return message.text
    return webhook_payload(notification, {each.alert.fingerprint: each.link for each in message.alerts})


def title_of(notification: Notification) -> str:
    """How bad it is, and what: of several alerts their number and the worst."""
    firing = notification.firing
    alerts = firing or notification.resolved
    if not alerts:
        return ""
    word = alerts[0].severity.name if firing else _RESOLVED
    what = _what(alerts[0])
    count = len(alerts) + (notification.truncated if firing else 0)
    if count > 1:
        others = counted(count - 1, "other")
        what = f"{what} (and {others})"
    still = "still: " if notification.repeated else ""
    return cut_text(f"{word} {still}{what}", MOST_TITLE)


def alert_message(alert: NotifiedAlert, now: int, link: str = "") -> AlertMessage:
    """An alert in words at ``now`` (ms UTC)."""
    labels, annotations = alert.labels, alert.annotations
    worst, value = annotations.get("worst_value", ""), annotations.get("value_now", "")
    figures = ", ".join(filter(None, (worst and f"{worst} at worst", value and f"{value} now")))
    source = ", ".join(filter(None, (annotations.get("document", ""), annotations.get("section", ""))))
    return AlertMessage(
        alert,
        how_bad(alert),
        _what(alert),
        labels.get("object", "") or labels.get("owner", ""),
        since_words(alert, now),
        figures,
        annotations.get("advice", ""),
        annotations.get("mqsc", ""),
        source,
        labels.get("rule", "") or labels.get("alertname", ""),
        link,
    )


def how_bad(alert: NotifiedAlert) -> str:
    """The severity in capitals while an alert fires, and RESOLVED once it has ended."""
    return alert.severity.name if alert.ends is None else _RESOLVED


def since_words(alert: NotifiedAlert, now: int) -> str:
    """``2026-11-20 12:00:10 UTC (for 4m12s)``; of an ended alert also its end."""
    begin = f"{day(alert.starts)} {clock(alert.starts)}"
    if alert.ends is None:
        return f"{begin} {zone_name(alert.starts)} (for {age(now - alert.starts)})"
    end = clock(alert.ends) if day(alert.ends) == day(alert.starts) else f"{day(alert.ends)} {clock(alert.ends)}"
    return f"{begin} to {end} {zone_name(alert.ends)} ({age(alert.ends - alert.starts)})"


def more_words(count: int) -> str:
    """What stands for ``count`` alerts that are left out."""
    return f"and {counted(count, 'more alert')}: 'mqvitals alerts list' shows them"


def _what(alert: NotifiedAlert) -> str:
    return alert.annotations.get("summary", "") or alert.labels.get("alertname", "") or "an alert"


def _indented(text: str, columns: int) -> str:
    return text.replace("\n", "\n" + " " * columns)


def cut_text(text: str, most: int) -> str:
    """``text`` in at most ``most`` characters, with an ellipsis where it is cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
