"""What answers mean, and how long to wait after them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.notify.receiver import DeliveryStatus
from mqvitals_agent.notify.receivers.attempt import excerpt
from mqvitals_agent.notify.receivers.http import delivery_status
from mqvitals_agent.notify.receivers.http_text import retry_after_ms, settings_hint
from mqvitals_agent.notify.retry import pause_ms
from mqvitals_agent.store.rows.alerts.notification_rows import LONGEST_PAUSE_MS

NOW = 1_795_176_000_000  # 2026-11-20 12:00:00 UTC


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_accepted(status: int) -> None:
    """Any success."""
    assert delivery_status(status) is DeliveryStatus.ACCEPTED


@pytest.mark.parametrize("status", [400, 406, 409, 413, 415, 422, 499])
def test_refused(status: int) -> None:
    """What blames the notice."""
    assert delivery_status(status) is DeliveryStatus.REFUSED
    assert settings_hint(status) == ""


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599, 600])
def test_again(status: int) -> None:
    """What may be better another time."""
    assert delivery_status(status) is DeliveryStatus.AGAIN
    assert settings_hint(status) == ""


@pytest.mark.parametrize(
    ("status", "word"),
    [(401, "token"), (403, "token"), (407, "token"), *((each, "address") for each in (301, 302, 307, 404, 405, 410))],
)
def test_a_mistake_in_the_settings(status: int, word: str) -> None:
    """A person mends it, so the notification waits; what to look at is said."""
    assert delivery_status(status) is DeliveryStatus.AGAIN
    assert word in settings_hint(status)


@pytest.mark.parametrize(
    ("header", "ms"),
    [
        (None, None),
        ("", None),
        ("7", 7000),
        (" 0 ", 0),
        ("99999999999999999999", 86_400_000),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30_000),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("Fri, 20 Nov 2026 12:00:30 -0000", 30_000),
        ("soon", None),
        ("-5", None),
        ("²", None),
    ],
)
def test_retry_after(header: str | None, ms: int | None) -> None:
    """Seconds or a date; nonsense is none."""
    assert retry_after_ms(header, NOW) == ms


@given(st.text())
def test_any_retry_after_is_read_or_not(header: str) -> None:
    """A header is the other side's text."""
    found = retry_after_ms(header, NOW)
    assert found is None or 0 <= found <= 86_400_000


@given(st.integers(1, 10_000), st.floats(0, 1), st.none() | st.integers(0, 10**9))
def test_pauses_are_between_a_second_and_five_minutes(failures: int, chance: float, asked: int | None) -> None:
    """However often, whatever chance, whatever the receiver asks for; and never shorter than asked, but for the cap."""
    pause = pause_ms(failures, chance, asked)
    assert 1000 <= pause <= LONGEST_PAUSE_MS
    assert pause >= min(asked or 0, LONGEST_PAUSE_MS)


def test_pauses_double() -> None:
    """With the greatest chance: 2, 4, 8 seconds and so on."""
    assert [pause_ms(failures, 1.0) for failures in (1, 2, 3, 8, 9, 10)] == [
        2000,
        4000,
        8000,
        256_000,
        300_000,
        300_000,
    ]
    assert pause_ms(5, 0.0) == 1000


def test_a_body_is_harmless_and_short() -> None:
    """One line, nothing that steers a terminal, no secret that it repeats, however long it is."""
    body = b"no\x1b[2J\r\n such hook /services/T0123/verysecret \xff" + b"x" * 5000
    shown = excerpt(body, {"verysecret", "T0123/verysecret"})
    assert shown.startswith("no␛[2J such hook /services/(hidden) \ufffdx")
    assert len(shown) <= 160
    assert shown.endswith("…")
