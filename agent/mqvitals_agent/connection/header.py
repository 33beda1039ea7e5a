"""A recording's first line, and the error that says why a file cannot be used as a recording."""

from __future__ import annotations

from dataclasses import dataclass

from mqvitals_agent.connection.key import NAME, Found, LineError, is_text, moment, name, shown, wrong
from mqvitals_agent.errors import MqvitalsError
from mqvitals_rules.snapshot import is_owner_name

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
class Header:
    """The first line. ``name`` is the site's name for the group, ``interval_s`` the usual seconds between two cycles."""

    version: int = VERSION
    created: int | None = None
    source: str = ""
    name: str = ""
    queue_managers: tuple[str, ...] = ()
    interval_s: float | None = None
    comment: str = ""


def header(found: Found) -> Header:
    """The header that a first line holds, whose ``format`` and ``version`` are right. Raises LineError."""
    return Header(
        version=VERSION,
        created=None if found.get("created") is None else moment(found, "created"),
        source=_text(found, "source"),
        name=name(found, "name") if found.get("name") else _text(found, "name"),
        queue_managers=_names(found),
        interval_s=_interval(found),
        comment=_text(found, "comment"),
    )


def _text(found: Found, key: str) -> str:
    value = found.get(key)
    if value is None:
        return ""
    if not is_text(value):
        raise wrong(key, value, "a text of whole characters without NUL")
    return str(value)


def _names(found: Found) -> tuple[str, ...]:
    names = found.get("queue_managers")
    if names is None:
        return ()
    if not isinstance(names, list):
        raise wrong("queue_managers", names, "a list of names")
    if len(names) > MOST_QUEUE_MANAGERS:
        raise LineError(f"queue_managers has {len(names):,} names; a recording has at most {MOST_QUEUE_MANAGERS:,}")
    for place, each in enumerate(names):
        if not is_owner_name(each):
            raise LineError(f"queue_managers[{place}] should be {NAME}, not {shown(each)}")
    return tuple(dict.fromkeys(names))


def _interval(found: Found) -> float | None:
    value = found.get("interval_s")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _SHORTEST_S <= value <= _LONGEST_S:
        raise wrong("interval_s", value, f"a number of seconds from {_SHORTEST_S} to {_LONGEST_S:,}")
    return float(value)
