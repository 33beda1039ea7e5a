"""What a receiver's answer means for the notice that was posted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import Enum

from mqvitals_agent.text.terminal import cut, safe

_SHOWN_CELLS = 160
_TRY_AGAIN = frozenset({408, 425, 429})
_WRONG_TOKEN = frozenset({401, 403, 407})
_WRONG_ADDRESS = frozenset({404, 405, 410})
_LONGEST_S = 86_400


class Verdict(Enum):
    """Whether the notice is delivered."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # this notice is a bad one, says the receiver; others may not be
    AGAIN = "try again"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an attempt. ``text`` says it to people, on one line; ``retry_after_ms`` is what the receiver asked for."""

    verdict: Verdict
    text: str
    retry_after_ms: int | None = None


def verdict_of(status: int) -> Verdict:
    """The meaning of an HTTP status.

    A redirect is not followed: the notice would go where nobody said it should. It says nothing about the notice itself,
    and neither does a wrong token or address, which a person mends.
    """
    if 200 <= status < 300:
        return Verdict.ACCEPTED
    if 400 <= status < 500 and status not in _TRY_AGAIN | _WRONG_TOKEN | _WRONG_ADDRESS:
        return Verdict.REFUSED
    return Verdict.AGAIN


def to_be_mended(status: int) -> str:
    """What a person is to look at after an HTTP status; empty when it says nothing about the settings."""
    if status in _WRONG_TOKEN:
        return "look at its token, or the name and password in its address"
    if status in _WRONG_ADDRESS or 300 <= status < 400:
        return "look at its address"
    return ""


def retry_after_ms(header: str | None, now: int) -> int | None:
    """``Retry-After`` as ms from ``now`` (ms UTC): seconds or a date; None when there is none that can be read."""
    if not header:
        return None
    header = header.strip()
    if header.isascii() and header.isdigit():
        return min(int(header[:9]), _LONGEST_S) * 1000
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return min(max(int(when.timestamp() * 1000) - now, 0), _LONGEST_S * 1000)


def shown_body(body: bytes, secrets: Iterable[str]) -> str:
    """The beginning of an answer's body as one line for people, without what of ``secrets`` it repeats."""
    text = body.decode("utf-8", "replace")
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "(hidden)")
    return cut(safe(" ".join(text.split())), _SHOWN_CELLS)
