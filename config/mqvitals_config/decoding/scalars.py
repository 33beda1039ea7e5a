"""Single values as a person writes them: durations, file modes, paths, time zones."""

from __future__ import annotations

import re
from datetime import UTC, date, timedelta, timezone, tzinfo
from pathlib import Path

from mqvitals_config.decoding.problem import LocatedText, shown

DURATION_FORM = "a duration such as 30s, 5m, 1h, 1d, 250ms or 1h30m"

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_DURATION = re.compile("".join(rf"(?:([0-9]{{1,9}}){unit})?" for unit in _UNITS))


def parse_duration(text: str) -> int:
    """``5m`` as milliseconds. Units are d, h, m, s, ms, each at most once, the largest first: ``1h30m``.

    Raises ValueError with a sentence that names the form.
    """
    found = _DURATION.fullmatch(text)
    if not text or not found:
        # The most frequent mistake has one remedy.
        if re.fullmatch("[0-9]{1,9}", text):
            raise ValueError(f"a duration needs a unit: {text}s, {text}m or {text}h")
        raise ValueError(f"expected {DURATION_FORM}")
    return sum(int(count) * size for count, size in zip(found.groups(), _UNITS.values(), strict=True) if count)


def format_duration(duration_ms: int) -> str:
    """Milliseconds in the form that ``parse_duration`` reads, as short as it can be written exactly."""
    parts = []
    for unit, size in _UNITS.items():
        count, duration_ms = divmod(duration_ms, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


DATE_FORM = "a date such as 2027-03-31"


def parse_date(text: str) -> date:
    """``2027-03-31`` as a date. Raises ValueError with a sentence that names the form."""
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise ValueError(f"expected {DATE_FORM}")


def display_name(text: LocatedText) -> LocatedText:
    """``text`` itself, a name of the site's choice; raises ValueError."""
    if not text or text != text.strip() or not text.isprintable() or len(text) > 48:
        raise ValueError("a name has 1 to 48 characters, none of them a control character, and no blanks around it")
    return text


FILE_MODE_FORM = "a file mode such as 0600, 0640 or 0660"


class FileMode(int):
    """The permission bits of a file, shown as people know them: ``0660``."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{int(self):04o}"

    __repr__ = __str__


def parse_file_mode(text: str) -> FileMode:
    """``0660`` as 0o660, with or without the leading zero.

    Raises ValueError when it is no mode, or one that a data file must not have: its owner must be able to read and
    write it, no one may execute it, and only owner and group may write it.
    """
    if not re.fullmatch("0?[0-7]{3}", text):
        raise ValueError(f"expected {FILE_MODE_FORM}")
    mode = int(text, 8)
    if mode & 0o600 != 0o600:
        raise ValueError(f"with mode {text} its owner could not read and write the file; write 0600 or 0660")
    if mode & 0o113:
        raise ValueError(f"mode {text} lets others write or execute the file; write 0600, 0640 or 0660")
    return FileMode(mode)


def resolved_path(path: LocatedText) -> LocatedText:
    """``path`` with ``~`` expanded; a relative one is beside the file that names it.

    Raises ValueError when it is empty, holds control characters, or ``~name`` names no user.
    """
    if not path.strip():
        raise ValueError("the path is empty")
    if not path.isprintable():
        raise ValueError("a path cannot hold control characters")
    try:
        expanded = Path(path).expanduser()
    except RuntimeError as error:
        raise ValueError(f"the home directory of '{path.split('/')[0]}' is not known") from error
    return LocatedText(str(Path(path.place.path).parent / expanded), path.place)


TIME_ZONE_FORM = "a time zone such as Europe/Berlin, UTC or +01:00"

_OFFSET = re.compile(r"([+-])([01][0-9]):?([0-5][0-9])")
_ZONE_NAME = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,3}")


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
    if _ZONE_NAME.fullmatch(text):
        from zoneinfo import ZoneInfo

        try:
            return ZoneInfo(text)
        except (KeyError, ValueError, OSError):
            pass
    raise ValueError(f"there is no time zone {shown(text)} here; write {TIME_ZONE_FORM}")


def time_zone_name(text: str) -> str:
    """``text`` itself when it names a zone; raises ValueError as ``time_zone`` does."""
    time_zone(text)
    return text
