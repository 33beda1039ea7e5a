"""Settings of what the agent collects: commands it polls, files of console lines, SMF data.

Only the form is checked here. The agent knows which commands and filter keywords exist; it reports unknown ones at the
place that each text keeps.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from mqvitals_config.decoding.problem import LocatedText, Problem, repeated
from mqvitals_config.decoding.scalars import TIME_ZONE_FORM, resolved_path, time_zone_name
from mqvitals_config.decoding.schema import LONGEST_DURATION_MS, Convert, Doc, duration_within, matching

SHORTEST_MS = 1000
"""No command is sent more often than this."""

LONGEST_WAIT_MS = 300_000
"""The longest wait for a reply that can be configured."""

FILTER_FORM = "keyword, operator and value, such as CURDEPTH GT 0"
OPERATORS = ("LT", "GT", "EQ", "NE", "LE", "GE", "LK", "NL")
"""The operators of MQSC's WHERE that compare one value; LK and NL take a generic name."""

_FILTER = re.compile(r"\s*([A-Za-z][A-Za-z0-9]{0,11})\s+([A-Za-z]{2})\s+(\S|\S.*\S)\s*")
_NUMBER = re.compile("-?[0-9]{1,9}")


class Filter(NamedTuple):
    """A filter of objects: ``CURDEPTH GT 0``. ``value`` is a number, or a text without its quotes."""

    keyword: str
    operator: str
    value: int | str


def parse_filter(text: str) -> Filter:
    """The filter that ``text`` writes as MQSC does, keyword and operator in upper case.

    Raises ValueError with a sentence that names the form.
    """
    found = _FILTER.fullmatch(text)
    if not found:
        raise ValueError(f"expected {FILTER_FORM}")
    keyword, operator, word = found.groups()
    if operator.upper() not in OPERATORS:
        raise ValueError(f"{operator!r} is no operator; there are {', '.join(OPERATORS)}")
    if word.startswith("'") or word.endswith("'"):
        inner = word[1:-1]
        if len(word) < 2 or not word.startswith("'") or not word.endswith("'") or "'" in inner or not inner:
            raise ValueError(f"the quotes do not fit; expected {FILTER_FORM}")
        return Filter(keyword.upper(), operator.upper(), inner)
    if _NUMBER.fullmatch(word):
        return Filter(keyword.upper(), operator.upper(), int(word))
    if " " in word:
        raise ValueError(f"a value with blanks stands in single quotes; expected {FILTER_FORM}")
    return Filter(keyword.upper(), operator.upper(), word)


def filter_text(text: LocatedText) -> LocatedText:
    """``text`` itself, the characters of a filter; raises ValueError when it is none."""
    parse_filter(text)
    if len(text) > 100:
        raise ValueError("a filter has at most 100 characters")
    return text


Interval = Annotated[int, duration_within(SHORTEST_MS, LONGEST_DURATION_MS, "the shortest interval is 1s")]
"""A duration, ms."""
Wait = Annotated[int, duration_within(SHORTEST_MS, LONGEST_WAIT_MS, "must be from 1s to 5m")]
GenericName = Annotated[
    LocatedText,
    matching(
        r"[A-Za-z0-9._/%]{1,48}|[A-Za-z0-9._/%]{0,47}\*",
        "expected a name of MQ, at most 48 letters, digits and . _ / %, or its beginning and a *",
        "a name, or the beginning of names and a *",
    ),
]
GenericNames = Annotated[
    tuple[GenericName, ...],
    Doc("Their names. A `*` at the end stands for any rest; each entry is a command of its own.", default="all"),
]
FilterText = Annotated[LocatedText, Convert(filter_text, FILTER_FORM)]
CommandName = Annotated[
    LocatedText,
    matching(
        "[A-Z][A-Z0-9_]{0,47}",
        "expected the name of a command in upper case, such as INQUIRE_USAGE",
        "the name of a command",
    ),
]


@dataclass(frozen=True, slots=True)
class QueueSelection:
    """Which queues are polled."""

    names: GenericNames = ("*",)  # type: ignore[assignment]
    where: Annotated[
        FilterText | None,
        Doc(
            "Only queues that this holds for: keyword, operator and value as in MQSC's WHERE, such as `CURDEPTH GT 0`."
            " The others are not polled, so rules cannot evaluate them."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ChannelSelection:
    """Which channels are polled."""

    names: GenericNames = ("*",)  # type: ignore[assignment]
    where: Annotated[
        FilterText | None,
        Doc("Only channels whose status this holds for, such as `STATUS NE RUNNING`, written as for queues."),
    ] = None


EventRead = Literal["browse", "get"]
QueueName = Annotated[
    LocatedText,
    matching(
        "[A-Za-z0-9._/%]{1,48}",
        "expected the name of a queue, at most 48 letters, digits and . _ / %",
        "the name of a queue",
    ),
]


@dataclass(frozen=True, slots=True)
class EventSettings:
    """Which event queues of each queue manager are read, and how."""

    queues: Annotated[
        tuple[QueueName, ...],
        Doc(
            "The queues, such as SYSTEM.ADMIN.QMGR.EVENT, SYSTEM.ADMIN.CHANNEL.EVENT, SYSTEM.ADMIN.PERFM.EVENT,"
            " SYSTEM.ADMIN.CONFIG.EVENT and SYSTEM.ADMIN.COMMAND.EVENT, or another name for one. Needs READ to browse, UPDATE to get."
        ),
    ]
    read: Annotated[
        EventRead,
        Doc(
            "browse leaves the messages on the queue, for other programs or to be removed by the site. get removes them, after"
            " they are stored: no other program gets them."
        ),
    ] = "browse"
    every: Annotated[Interval, Doc("The time from one look to the next, at least 1s.", default="30s")] = 30_000


def event_contradictions(events: EventSettings | None) -> Iterator[Problem]:
    """Entries that are valid by themselves and contradict each other."""
    for index, queue, first in repeated(events.queues if events else ()):
        message = f"{queue} is read already, by the entry on line {first.place.line}"
        yield Problem(queue.place, f"polling.events.queues[{index}]", message)


@dataclass(frozen=True, slots=True)
class PollingSettings:
    """What is polled, and how often."""

    interval: Annotated[
        Interval,
        Doc(
            "The time from one cycle to the next, at least 1s. What changes slowly is polled less often.",
            "MQVITALS_INTERVAL",
            "--interval",
            default="30s",
        ),
    ] = 30_000
    wait: Annotated[
        Wait, Doc("How long to wait for a reply, from 1s to 5m; then the command counts as unanswered.", default="30s")
    ] = 30_000
    usage: Annotated[
        bool,
        Doc(
            "Whether buffer pools and page sets are polled. The command makes a queue manager look at all its page"
            " sets.",
            default="true",
        ),
    ] = True
    dead_letters: Annotated[
        bool,
        Doc(
            "Whether the headers of messages on dead-letter queues are browsed: why each is there, and for which queue it"
            " was. No message is removed, and no body is read. Needs READ on the queue.",
            default="false",
        ),
    ] = False
    events: Annotated[
        EventSettings | None,
        Doc("Event queues, whose messages are kept and judged as console messages are."),
    ] = None
    queues: Annotated[QueueSelection, Doc("Which queues are polled.")] = field(default_factory=QueueSelection)
    channels: Annotated[ChannelSelection, Doc("Which channels are polled.")] = field(default_factory=ChannelSelection)
    intervals: Annotated[
        Mapping[CommandName, Interval],
        Doc(
            "Other intervals, by the name of the command, such as `INQUIRE_USAGE: 5m`. The usage of shared message data sets"
            " (`INQUIRE_USAGE_SMDS`) is asked for as often as their state (`INQUIRE_CF_STRUC_STATUS_SMDS`), with which their"
            " rules are evaluated: every 5m."
        ),
    ] = field(default_factory=dict)


Carrier = Literal["auto", "syslog", "joblog", "plain", "forwarded"]
Begin = Literal["end", "start"]

ENCODING = "an encoding such as utf-8, latin-1, cp1252 or ibm-1047"
EBCDIC_PAGES = frozenset(
    {37, 273, 277, 278, 280, 284, 285, 290, 297, 420, 424, 500, 833, 838, 870, 871, 875, 1025, 1026, 1047, 1097, 1112}
    | {1122, 1123, *range(1140, 1150), *range(1153, 1159), 1160, 4971, 9030, 12712, 16804}
    | {930, 933, 935, 937, 939, 1364, 1371, 1388, 1390, 1399, 5026, 5035}
)
"""What may stand behind ``ibm-``."""


def encoding_name(text: LocatedText) -> str:
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


def member_name(text: LocatedText) -> LocatedText:
    """The name of a queue manager; raises ValueError."""
    if not text or not text.isprintable() or len(text) > 48 or any(char in text for char in "/ "):
        raise ValueError("the name of a queue manager has 1 to 48 characters, no blank and no '/'")
    return text


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """One file that is followed as it grows."""

    path: Annotated[
        Annotated[LocatedText, Convert(resolved_path, "the path of a file")],
        Doc(
            "The file. It need not be there yet, and may be renamed, replaced or emptied while it is followed. A relative path is"
            " beside this file."
        ),
    ]
    carrier: Annotated[
        Carrier,
        Doc(
            "What the lines look like: syslog (SYSLOG or OPERLOG, also an extract of it), joblog (JES), plain (a time and the"
            " message, or the message alone), forwarded (with the head of a Unix syslog server). auto distinguishes them line by line."
        ),
    ] = "auto"
    queue_manager: Annotated[
        Annotated[LocatedText, Convert(member_name)] | None,
        Doc(
            "Whose messages these are, where the command prefix in them does not name a queue manager that is watched. Give it"
            " for the job log of one queue manager.",
            default="derived from the command prefix or the job's name",
        ),
    ] = None
    time_zone: Annotated[
        Annotated[str, Convert(time_zone_name, TIME_ZONE_FORM, raw=True)] | None,
        Doc(
            "The zone of the times in it. Without one it is derived from new lines that name their date; lines whose time is not"
            " known are dated when they are read.",
            default="that of the queue manager, or of the group",
        ),
    ] = None
    encoding: Annotated[
        Annotated[str, Convert(encoding_name, ENCODING, raw=True)],
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
        Annotated[int, duration_within(3_600_000, LONGEST_DURATION_MS, "must be 1h at least")],
        Doc("How long messages stay in the store.", default="30d"),
    ] = 30 * 86_400_000


def console_contradictions(console: ConsoleSettings) -> Iterator[Problem]:
    """Entries that are valid by themselves and contradict each other."""
    for index, path, first in repeated(entry.path for entry in console.follow):
        message = f"{path} is followed already, by the entry on line {first.place.line}"
        yield Problem(path.place, f"console.follow[{index}].path", message)


@dataclass(frozen=True, slots=True)
class SmfSettings:
    """SMF records 115 and 116 of z/OS, and how they come to the agent."""

    watch: Annotated[
        Annotated[LocatedText, Convert(resolved_path, "the path of a folder")] | None,
        Doc(
            "A folder in which the agent looks for files of SMF data every 10 seconds. A file is read once its size and time"
            " have not changed from one look to the next; it is neither changed nor deleted. Names that begin with a dot are"
            " left alone. A relative path is beside this file.",
            "MQVITALS_SMF_WATCH",
            "--smf",
            default="none is watched",
        ),
    ] = None
