"""The format of recordings: the header line, and checks of each key, which return its value or raise LineError.

What passes here can be carried by MQ and kept by the store: numbers fit MQLONG, times lie in 1970 to 9999, texts can
be written as UTF-8 and hold no NUL, names can begin the whole name of an object. A key that may be left out may also
be null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mqvitals_agent.errors import MqvitalsError
from mqvitals_rules.snapshot import LONGEST_OWNER, is_owner_name
from mqvitals_rules.timestamps import parse_iso

LineObject = Mapping[str, Any]

MQLONG_MAX: Final = 2**31 - 1
MQLONG_MIN: Final = -(2**31)

LARGE_LINE: Final = 1 << 20
MOST_LISTS: Final = 400_000
"""Objects and lists in a line of more than 1 MiB: each takes much more memory than its characters."""
MOST_VALUES: Final = 2_000_000

_MISSING: Final = object()
_LATEST: Final = (
    253_402_300_799_999  # 9999-12-31T23:59:59.999Z: later moments have no ISO 8601 form of four digits a year
)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_SHOWN: Final = 40  # characters of a value in a message


class LineError(MqvitalsError):
    """A line cannot be used. The text is a clause that names the key, what is right and what was found."""


def parse_line(text: bytes, longest: int | None = None) -> LineObject:
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
        raise LineError(f"it is not a JSON object but {json_excerpt(value)}")
    return value


def int_field(found: LineObject, key: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``."""
    value = found.get(key, _MISSING)
    if type(value) is int and low <= value <= high:
        return value
    raise field_error(key, value, f"a whole number from {low:,} to {high:,}")


def bytes_field(found: LineObject, key: str) -> bytes:
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
    raise field_error(key, value, "hex, two digits a byte and nothing between them")


def time_field(found: LineObject, key: str) -> int:
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
    raise field_error(key, value, "a moment from 1970 to 9999 such as 2026-11-20T12:00:00.007Z")


def name_field(found: LineObject, key: str) -> str:
    """The name of a queue manager or of the group."""
    value = found.get(key, _MISSING)
    if is_owner_name(value):
        return str(value)
    raise field_error(key, value, NAME_RULE)


NAME_RULE: Final = f"a name of 1 to {LONGEST_OWNER} characters without '/', control characters and blanks around it"


def is_text(value: object) -> bool:
    """True for a text that can be written as UTF-8 and holds no NUL."""
    if type(value) is not str or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


def field_error(key: str, value: object, right: str) -> LineError:
    """The error for a key: what should be there, and what is."""
    if value is _MISSING:
        return LineError(f"{key} is missing; it should be {right}")
    return LineError(f"{key} should be {right}, not {json_excerpt(value)}")


def json_excerpt(value: object) -> str:
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


FORMAT = "mqvitals-recording"
VERSION = 1
MOST_QUEUE_MANAGERS = 1_000
"""Of a queue-sharing group there are 32 at most; a recording may hold several groups, and distributed ones."""
LONGEST_HEADER = 1 << 20
_SHORTEST_S, _LONGEST_S = 0.001, 1_000_000


class RecordingError(MqvitalsError):
    """The file cannot be used as a recording; the text is a sentence for a person.

    ``foreign`` is true when the file seems to be something else altogether.
    """

    def __init__(self, text: str, *, foreign: bool = False) -> None:
        super().__init__(text)
        self.foreign = foreign


@dataclass(frozen=True, slots=True)
class RecordingHeader:
    """The first line.

    ``name`` is the site's name for the group, ``interval_s`` the usual seconds between two cycles.
    """

    version: int = VERSION
    created: int | None = None
    source: str = ""
    name: str = ""
    queue_managers: tuple[str, ...] = ()
    interval_s: float | None = None
    comment: str = ""


def parse_header(found: LineObject) -> RecordingHeader:
    """The header that a first line holds, whose ``format`` and ``version`` are right. Raises LineError."""
    return RecordingHeader(
        version=VERSION,
        created=None if found.get("created") is None else time_field(found, "created"),
        source=_text(found, "source"),
        name=name_field(found, "name") if found.get("name") else _text(found, "name"),
        queue_managers=_names(found),
        interval_s=_interval(found),
        comment=_text(found, "comment"),
    )


def _text(found: LineObject, key: str) -> str:
    value = found.get(key)
    if value is None:
        return ""
    if not is_text(value):
        raise field_error(key, value, "a text of whole characters without NUL")
    return str(value)


def _names(found: LineObject) -> tuple[str, ...]:
    names = found.get("queue_managers")
    if names is None:
        return ()
    if not isinstance(names, list):
        raise field_error("queue_managers", names, "a list of names")
    if len(names) > MOST_QUEUE_MANAGERS:
        raise LineError(f"queue_managers has {len(names):,} names; a recording has at most {MOST_QUEUE_MANAGERS:,}")
    for place, each in enumerate(names):
        if not is_owner_name(each):
            raise LineError(f"queue_managers[{place}] should be {NAME_RULE}, not {json_excerpt(each)}")
    return tuple(dict.fromkeys(names))


def _interval(found: LineObject) -> float | None:
    value = found.get("interval_s")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _SHORTEST_S <= value <= _LONGEST_S:
        raise field_error("interval_s", value, f"a number of seconds from {_SHORTEST_S} to {_LONGEST_S:,}")
    return float(value)
