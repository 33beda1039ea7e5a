"""A notification as a mail: text for every reader, the same as HTML, and headers by which mails of a group stand together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from hashlib import blake2b
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from mqvitals_agent.notify.message import AlertMessage, NotificationMessage, more_words
from mqvitals_agent.notify.notification import Notification
from mqvitals_agent.notify.report import ReportMessage
from mqvitals_agent.text.terminal import safe
from mqvitals_config.receivers.servers import mail_parts
from mqvitals_rules.lifecycle.alert import Severity

MOST_ALERTS: Final = 60
"""Alerts that are laid out as HTML: about as many as the text has room for."""
_POLICY: Final = SMTP.clone(cte_type="7bit")
"""Every server takes 7 bits."""
_COLOURS: Final = {Severity.CRITICAL: "#b3261e", Severity.WARNING: "#8a5a00", Severity.INFO: "#1f5fbf"}
_GOOD: Final = "#1a7f37"
_FONT: Final = "font-family: sans-serif; font-size: 14px;"


def mail_of(
    notification: Notification, message: NotificationMessage, sender: str, to: Sequence[str], now: int
) -> EmailMessage:
    """The mail of a notification at ``now`` (ms UTC). Its Message-ID is the same for each attempt to send it.

    Mails of one group have the same References, so that mail programs show the end of an alert below its beginning.
    """
    thread = _hash(notification.receiver, notification.key)
    mail = _headed_mail(message.title, sender, to, now, _digest(notification), f"{thread}.group")
    mail["X-Mqvitals-Status"] = notification.status.value
    mail["X-Mqvitals-Severity"] = message.severity.name.lower()
    if message.severity is Severity.CRITICAL and not message.resolved:
        mail["Importance"] = "high"
    mail.set_content(_lines(message.plain) + "\n")
    mail.add_alternative(html_of(message), subtype="html")
    return mail


def report_mail(report: ReportMessage, receiver: str, sender: str, to: Sequence[str], now: int) -> EmailMessage:
    """The mail of a report at ``now`` (ms UTC): text, and the page, which is attached too, since many mail programs show
    no charts. Its Message-ID is the same for each attempt to send it; the mails of one report have the same References.
    """
    thread = f"{_hash(receiver, report.name)}.report"
    mail = _headed_mail(report.title, sender, to, now, _hash(receiver, report.key), thread)
    mail.set_content(report.text + "\n")
    mail.add_alternative(report.page, subtype="html")
    mail.add_attachment(report.page, subtype="html", filename="handover.html")
    return mail


def _headed_mail(title: str, sender: str, to: Sequence[str], now: int, identity: str, thread: str) -> EmailMessage:
    """A mail without text; ``identity`` and ``thread`` are the parts before the domain of its Message-ID and References."""
    mail = EmailMessage(_POLICY)
    domain = mail_parts(sender)[1].rpartition("@")[2]
    # The library's own way of encoding a subject loses blanks between words beyond ASCII.
    subject = one_line(title)
    mail.set_raw("Subject", Header(subject, None if subject.isascii() else "utf-8", 76, "Subject").encode())
    mail["From"] = _address(sender)
    mail["To"] = [_address(each) for each in to]
    mail["Date"] = datetime.fromtimestamp(now / 1000, UTC)
    mail["Message-ID"] = f"<mqvitals.{identity}@{domain}>"
    mail["In-Reply-To"] = mail["References"] = f"<mqvitals.{thread}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    # Exchange sends out-of-office replies else.
    mail["X-Auto-Response-Suppress"] = "All"
    return mail


def one_line(text: str) -> str:
    """``text`` as a header can hold it: no line ends and no control characters."""
    return safe(" ".join(text.split()))


def _lines(text: str) -> str:
    return "\n".join(map(safe, text.splitlines()))


def _address(text: str) -> Address:
    name, mailbox = mail_parts(text)
    return Address(name, addr_spec=mailbox)


def _digest(notification: Notification) -> str:
    """What identifies a notification: its number alone would not, as a new store begins anew."""
    alerts = (f"{each.fingerprint} {each.status.value} {each.severity.name}" for each in notification.alerts)
    return _hash(notification.receiver, notification.key, str(notification.number), *alerts)


def _hash(*texts: str) -> str:
    return blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def html_of(message: NotificationMessage) -> str:
    """A message as a page of HTML that loads nothing. Texts are never markup."""
    page = Element("html")
    body = SubElement(page, "body", {"style": _FONT})
    if message.text is not None:
        SubElement(body, "pre", {"style": "white-space: pre-wrap;"}).text = _lines(message.text)
    else:
        for each in message.alerts[:MOST_ALERTS]:
            _add_alert(body, each)
        if more := message.more + len(message.alerts[MOST_ALERTS:]):
            SubElement(body, "p").text = more_words(more)
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


def _add_alert(body: Element, alert: AlertMessage) -> None:
    colour = _GOOD if alert.alert.ends is not None else _COLOURS[alert.alert.severity]
    box = SubElement(
        body, "div", {"style": f"border-left: 4px solid {colour}; padding-left: 10px; margin-bottom: 16px;"}
    )
    heading = SubElement(box, "p", {"style": "margin: 0 0 6px;"})
    SubElement(heading, "b", {"style": f"color: {colour};"}).text = alert.how_bad
    SubElement(heading, "b").text = f" {safe(alert.what)}"
    table = SubElement(box, "table", {"style": f"{_FONT} border-collapse: collapse;"})
    for word, text in alert.facts:
        row = SubElement(table, "tr", {"style": "vertical-align: top;"})
        SubElement(row, "td", {"style": "color: #666; padding-right: 12px; white-space: nowrap;"}).text = word
        cell = SubElement(row, "td", {"style": "white-space: pre-wrap;"})
        if text == alert.link and text.startswith(("https://", "http://")):
            cell = SubElement(cell, "a", {"href": text})
        elif text == alert.mqsc:
            cell = SubElement(cell, "code")
        cell.text = _lines(text)
