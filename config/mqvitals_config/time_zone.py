"""Time zones as people write them: an IANA name or an offset from UTC."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from mqvitals_config.suggestion import shown

FORM = "a time zone such as Europe/Berlin, UTC or +01:00"

_OFFSET = re.compile(r"([+-])([01][0-9]):?([0-5][0-9])")
_NAME = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,3}")


def time_zone(text: str) -> tzinfo:
    """The zone that ``text`` names.

    Raises ValueError with a sentence that names the form, also when this machine's time zone data lack the name.
    """
    offset = _OFFSET.fullmatch(text)
    if offset:
        distance = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-distance if offset[1] == "-" else distance)
    if text in ("UTC", "Z"):
        return UTC
    # The pattern keeps paths and odd characters away from the search through the time zone files.
    if _NAME.fullmatch(text):
        try:
            return ZoneInfo(text)
        except (KeyError, ValueError, OSError):
            pass
    raise ValueError(f"there is no time zone {shown(text)} here; write {FORM}")


def checked(text: str) -> str:
    """``text`` itself when it names a zone; raises ValueError as ``time_zone`` does."""
    time_zone(text)
    return text
