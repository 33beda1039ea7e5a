"""The keys of a recording's lines, checked one by one: a value of the right type and in range, or a sentence why not.

What passes here can be carried by MQ and kept by the store: numbers fit MQLONG, times lie in 1970 to 9999, texts can be
written as UTF-8 and hold no NUL, names can begin the whole name of an object. A key that may be left out may also be null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from mqvitals_agent.errors import MqvitalsError
from mqvitals_rules.snapshot import LONGEST_OWNER, is_owner_name
from mqvitals_rules.timestamps import parse_iso

Found = Mapping[str, Any]

MQLONG_MAX: Final = 2**31 - 1
MQLONG_MIN: Final = -(2**31)

LARGE_LINE: Final = 1 << 20
MOST_LISTS: Final = 400_000
"""Objects and lists in a line of more than 1 MiB: a reply is one, and each takes much more memory than its characters."""
MOST_VALUES: Final = 2_000_000

_MISSING: Final = object()
_LATEST: Final = (
    253_402_300_799_999  # 9999-12-31T23:59:59.999Z: later moments have no ISO 8601 form of four digits a year
)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_SHOWN: Final = 40  # characters of a value in a message


class LineError(MqvitalsError):
    """A line cannot be used. The text is a clause that names the key, what is right and what was found."""


def parsed(text: bytes, longest: int | None = None) -> Found:
    """The object that a line is, of at most ``longest`` bytes. Raises LineError."""
    if longest is not None and len(text) > longest:
        raise LineError(f"it is longer than {longest >> 20} MiB")
    if len(text) > LARGE_LINE and (text.count(b"[") + text.count(b"{") > MOST_LISTS or text.count(b",") > MOST_VALUES):
        raise LineError(f"it holds more than {MOST_LISTS:,} objects and lists, or {MOST_VALUES:,} values")
    try:
        value = json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LineError(f"it is not UTF-8 text from byte {error.start + 1} on") from None
    except json.JSONDecodeError as error:
        raise LineError(f"it is not JSON from column {error.colno} on") from None
    except ValueError:
        # The only other complaint of the JSON reader: thousands of digits in a row.
        raise LineError("it holds a number of too many digits") from None
    except RecursionError:
        raise LineError("it is nested too deep") from None
    if not isinstance(value, dict):
        raise LineError(f"it is not a JSON object but {shown(value)}")
    return value


def whole(found: Found, key: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``."""
    value = found.get(key, _MISSING)
    if type(value) is int and low <= value <= high:
        return value
    raise wrong(key, value, f"a whole number from {low:,} to {high:,}")


def octets(found: Found, key: str) -> bytes:
    """Bytes, written as hex."""
    value = found.get(key, _MISSING)
    if type(value) is str:
        try:
            data = bytes.fromhex(value)
        except ValueError:
            pass
        else:
            if 2 * len(data) == len(value):  # Python would take blanks between the digits
                return data
    raise wrong(key, value, "hex, two digits a byte and nothing between them")


def moment(found: Found, key: str) -> int:
    """A moment, in ms since 1970 UTC."""
    value = found.get(key, _MISSING)
    if type(value) is str and _MOMENT.fullmatch(value):
        try:
            at = parse_iso(value)
        except (ValueError, OverflowError):
            pass
        else:
            if 0 <= at <= _LATEST:
                return at
    raise wrong(key, value, "a moment from 1970 to 9999 such as 2026-11-20T12:00:00.007Z")


def name(found: Found, key: str) -> str:
    """The name of a queue manager or of the group."""
    value = found.get(key, _MISSING)
    if is_owner_name(value):
        return str(value)
    raise wrong(key, value, NAME)


NAME: Final = f"a name of 1 to {LONGEST_OWNER} characters without '/', control characters and blanks around it"


def is_text(value: object) -> bool:
    """True for a text that can be written as UTF-8 and holds no NUL."""
    if type(value) is not str or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


def wrong(key: str, value: object, right: str) -> LineError:
    """The error for a key: what should be there, and what is."""
    if value is _MISSING:
        return LineError(f"{key} is missing; it should be {right}")
    return LineError(f"{key} should be {right}, not {shown(value)}")


def shown(value: object) -> str:
    """A JSON value as a message shows it: short, and as JSON writes it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        text = json.dumps(value if len(value) <= _SHOWN else value[:_SHOWN] + "…", ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode()
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
