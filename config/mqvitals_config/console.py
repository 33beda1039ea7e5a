"""Files with lines of a z/OS console or of a job's log, and how they are read."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from mqvitals_config.doc import Doc
from mqvitals_config.duration import FORM as DURATION
from mqvitals_config.duration import parse_duration
from mqvitals_config.file_path import beside
from mqvitals_config.problem import LocatedText, Problem
from mqvitals_config.shape import Convert
from mqvitals_config.time_zone import FORM as TIME_ZONE
from mqvitals_config.time_zone import checked

Carrier = Literal["auto", "syslog", "joblog", "plain", "forwarded"]
Begin = Literal["end", "start"]

ENCODING = "an encoding such as utf-8, latin-1, cp1252 or ibm-1047"
EBCDIC_PAGES = frozenset(
    {37, 273, 277, 278, 280, 284, 285, 290, 297, 420, 424, 500, 833, 838, 870, 871, 875, 1025, 1026, 1047, 1097, 1112}
    | {1122, 1123, *range(1140, 1150), *range(1153, 1159), 1160, 4971, 9030, 12712, 16804}
    | {930, 933, 935, 937, 939, 1364, 1371, 1388, 1390, 1399, 5026, 5035}
)
"""What may stand behind ``ibm-``."""


def encoding(text: LocatedText) -> str:
    """The usual name of an encoding in which a line end is one byte. Raises ValueError with a sentence."""
    name = text.strip().lower()
    page = name.removeprefix("ibm-")
    if page != name and page.isdecimal() and int(page) in EBCDIC_PAGES:
        return f"ibm-{int(page)}"
    try:
        found = codecs.lookup(name)
        # The check that keeps out what is no text at all, such as base64, and what writes a line end as two bytes.
        plain = "\n A1".encode(found.name) == b"\n A1"
    except (LookupError, ValueError, TypeError, AttributeError):
        plain = False
    if not plain:
        raise ValueError(f"there is no encoding {text!r} here that lines can be read in; write {ENCODING}")
    return found.name


def member(text: LocatedText) -> LocatedText:
    """The name of a queue manager; raises ValueError."""
    if not text or not text.isprintable() or len(text) > 48 or any(char in text for char in "/ "):
        raise ValueError("the name of a queue manager has 1 to 48 characters, no blank and no '/'")
    return text


def time_to_keep(text: LocatedText) -> int:
    """A duration, ms; raises ValueError when it is less than an hour."""
    ms = parse_duration(text)
    if ms < 3_600_000:
        raise ValueError("must be 1h at least")
    return ms


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """One file that is followed as it grows."""

    path: Annotated[
        Annotated[LocatedText, Convert(beside, "the path of a file")],
        Doc(
            "The file. It need not be there yet, and may be renamed, replaced or emptied while it is followed. A relative path is"
            " beside this file."
        ),
    ]
    carrier: Annotated[
        Carrier,
        Doc(
            "What the lines look like: syslog (SYSLOG or OPERLOG, also an extract of it), joblog (JES), plain (a time and the"
            " message, or the message alone), forwarded (with the head of a Unix syslog server). auto tells them apart line by line."
        ),
    ] = "auto"
    queue_manager: Annotated[
        Annotated[LocatedText, Convert(member)] | None,
        Doc(
            "Whose messages these are, where the command prefix in them does not name a queue manager that is watched. Give it"
            " for the job log of one queue manager.",
            default="told by the command prefix or the job's name",
        ),
    ] = None
    time_zone: Annotated[
        Annotated[str, Convert(checked, TIME_ZONE, raw=True)] | None,
        Doc(
            "The zone of the times in it. Without one it is derived from new lines that name their date; lines whose time cannot be"
            " told are dated when they are read.",
            default="that of the queue manager, or of the group",
        ),
    ] = None
    encoding: Annotated[
        Annotated[str, Convert(encoding, ENCODING, raw=True)],
        Doc("How its characters are written. EBCDIC is read only when it is named, such as ibm-1047."),
    ] = "utf-8"
    begin: Annotated[
        Begin,
        Doc(
            "Where reading begins in a file that is there when it is followed for the very first time. After that the agent goes"
            " on where it was."
        ),
    ] = "end"


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Console messages of z/OS."""

    follow: Annotated[
        tuple[FollowedFile, ...],
        Doc("Files with lines of a console or a job log, in which CSQ messages are recognised."),
    ] = ()
    keep: Annotated[
        Annotated[int, Convert(time_to_keep, DURATION, raw=True)],
        Doc("How long messages stay in the store.", default="30d"),
    ] = 30 * 86_400_000


def console_contradictions(console: ConsoleSettings) -> Iterator[Problem]:
    """What is well formed by itself and wrong together."""
    seen: dict[str, LocatedText] = {}
    for index, entry in enumerate(console.follow):
        if entry.path in seen:
            message = f"{entry.path} is followed already, by the entry on line {seen[entry.path].place.line}"
            yield Problem(entry.path.place, f"console.follow[{index}].path", message)
        seen.setdefault(entry.path, entry.path)
