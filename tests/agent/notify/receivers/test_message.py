"""A notification in words."""

from __future__ import annotations

from collections.abc import Callable

from mqvitals_agent.notify.message import MOST_TITLE, message_of, title_of
from mqvitals_agent.notify.notification import Notification, NotifiedAlert

Told = Callable[..., NotifiedAlert]
Group = Callable[..., Notification]
NOW = 1_795_176_000_000


def test_what_an_operator_reads_at_night(told: Told, group: Group) -> None:
    """What, where, since when, how bad, what to do, the command, the source and the site's own page."""
    message = message_of(group(told()), NOW, lambda alert: f"https://wiki.example.com/{alert.labels['rule']}")
    assert message.title == "CRITICAL QM01: buffer pool 3: 4 % free"
    assert message.plain == (
        "CRITICAL QM01: buffer pool 3: 4 % free\n"
        "  where    QM01/buffer_pool/3\n"
        "  since    2026-11-20 11:55:48 UTC (for 4m12s)\n"
        "  figures  3 % at worst\n"
        "  rule     BP-03\n"
        "  to do    Find what fills it. Move the queue <APP.*> & co.\n"
        "  MQSC     DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)\n"
        "  source   MP16, Buffer pools\n"
        "  see      https://wiki.example.com/BP-03"
    )


def test_an_alert_that_has_ended(told: Told, group: Group) -> None:
    """From when to when, and how long."""
    message = message_of(group(told(ended=True, value_now="40 %")), NOW)
    assert message.resolved
    assert message.title == "RESOLVED QM01: buffer pool 3: 4 % free"
    assert message.alerts[0].since == "2026-11-20 11:55:48 to 12:00:00 UTC (4m12s)"
    assert message.alerts[0].figures == "3 % at worst, 40 % now"


def test_several_alerts(told: Told, group: Group) -> None:
    """The worst is named, those that fire come first, and what is left out is counted."""
    message = message_of(
        group(told(1, severity="warning"), told(2, ended=True), told(3), truncated=4, repeated=True), NOW
    )
    assert message.title == "CRITICAL still: QM01: buffer pool 3: 4 % free (and 5 others)"
    assert [(each.how_bad, each.where) for each in message.alerts] == [
        ("CRITICAL", "QM01/buffer_pool/3"),
        ("WARNING", "QM01/buffer_pool/1"),
        ("RESOLVED", "QM01/buffer_pool/2"),
    ]
    assert message.plain.endswith("\n\nand 4 more alerts: 'mqvitals alerts list' shows them")


def test_what_is_absent_is_left_out(group: Group) -> None:
    """An alert with nothing but a start still says something."""
    message = message_of(group(NotifiedAlert({"alertname": "X"}, {}, "f", NOW)), NOW)
    assert message.title == "INFO X"
    assert [word for word, _ in message.alerts[0].facts] == ["since", "rule"]
    assert title_of(group()) == ""


def test_a_title_is_bounded(told: Told, group: Group) -> None:
    """However long a summary is."""
    assert len(title_of(group(told(summary="x" * 5000)))) == MOST_TITLE
