"""Texts of HTTP, whatever library speaks it: values of headers, what a status says of the settings, what may be a secret."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import unquote

from mqvitals_config.decoding.secret import Secret

_SECRET_PART = re.compile(r"[^/?&=#:@]{6,}")
WRONG_TOKEN: Final = frozenset({401, 403, 407})
"""Statuses that refuse whoever asks."""
WRONG_ADDRESS: Final = frozenset({404, 405, 410})
"""Statuses that know no such address."""
_LONGEST_RETRY_S = 86_400


def header_text(text: str, secret: Secret, what: str = "value") -> str:
    """``text`` of ``secret`` as the value of a header. Raises ValueError, without the text, when it cannot be one."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError(f"the {what} in {secret.origin} holds characters that a header cannot")
    return text


def settings_hint(status: int) -> str:
    """The setting to check after an HTTP status; empty when the status says nothing about the settings."""
    if status == 407:
        return "check proxy and proxy_credentials_file: the proxy refuses the token or password"
    if status in WRONG_TOKEN:
        return "check its token, or the name and password in its address"
    if status in WRONG_ADDRESS or 300 <= status < 400:
        return "check its address"
    return ""


def retry_after_ms(header: str | None, now: int) -> int | None:
    """``Retry-After`` as ms from ``now`` (ms UTC): seconds or a date; None when it is missing or unreadable."""
    if not header:
        return None
    header = header.strip()
    if header.isascii() and header.isdigit():
        return min(int(header[:9]), _LONGEST_RETRY_S) * 1000
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return min(max(int(when.timestamp() * 1000) - now, 0), _LONGEST_RETRY_S * 1000)


def secret_parts(address: str, texts: Iterable[str]) -> set[str]:
    """Every text that may be a secret and that an answer may repeat: ``texts``, and what an address holds."""
    tail = address.partition("://")[2].partition("/")[2]
    userinfo = address.partition("://")[2].rpartition("@")[0]
    found = {address, *texts, *_SECRET_PART.findall(tail), *_SECRET_PART.findall(userinfo)}
    found |= {unquote(part) for part in found}
    # The form of the Authorization header, of an address and of a user with a password.
    found |= {b64encode(unquote(text).encode()).decode() for text in (userinfo, *texts) if ":" in text}
    return {part for part in found if part}
