"""What is asked of the queue managers, and how often.

Only shapes are judged here. Which questions there are, and which keywords a filter may name, the agent knows; it says
what is wrong at the place that the texts keep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from mqvitals_config.doc import Doc
from mqvitals_config.duration import FORM, parse_duration
from mqvitals_config.problem import LocatedText
from mqvitals_config.shape import Convert

SHORTEST_MS = 1000
"""No question is asked more often than this."""

LONGEST_WAIT_MS = 300_000
"""An answer that did not come in so long does not come."""

FILTER_FORM = "keyword, operator and value, such as CURDEPTH GT 0"
OPERATORS = ("LT", "GT", "EQ", "NE", "LE", "GE", "LK", "NL")
"""The operators of MQSC's WHERE that compare one value; LK and NL take a generic name."""

_NAME = re.compile(r"[A-Za-z0-9._/%]{1,48}|[A-Za-z0-9._/%]{0,47}\*")
_QUESTION = re.compile("[A-Z][A-Z0-9_]{0,47}")
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


def generic_name(text: LocatedText) -> LocatedText:
    """``text`` itself, a name or a generic name of MQ; raises ValueError."""
    if not _NAME.fullmatch(text):
        raise ValueError("expected a name of MQ, at most 48 letters, digits and . _ / %, or its beginning and a *")
    return text


def question_name(text: LocatedText) -> LocatedText:
    """``text`` itself, shaped as the name of a command; raises ValueError."""
    if not _QUESTION.fullmatch(text):
        raise ValueError("expected the name of a command in upper case, such as INQUIRE_USAGE")
    return text


def interval(text: str) -> int:
    """A duration of a second or more, ms; raises ValueError."""
    duration = parse_duration(text)
    if duration < SHORTEST_MS:
        raise ValueError("the shortest interval is 1s")
    return duration


def wait(text: str) -> int:
    """A duration from a second to five minutes, ms; raises ValueError."""
    duration = parse_duration(text)
    if not SHORTEST_MS <= duration <= LONGEST_WAIT_MS:
        raise ValueError("must be from 1s to 5m")
    return duration


Interval = Annotated[int, Convert(interval, FORM, raw=True)]
"""A duration, ms."""
Wait = Annotated[int, Convert(wait, FORM, raw=True)]
GenericName = Annotated[LocatedText, Convert(generic_name, "a name, or the beginning of names and a *")]
FilterText = Annotated[LocatedText, Convert(filter_text, FILTER_FORM)]
QuestionName = Annotated[LocatedText, Convert(question_name, "the name of a command")]


@dataclass(frozen=True, slots=True)
class QueueSelection:
    """Which queues are asked about."""

    names: Annotated[
        tuple[GenericName, ...],
        Doc("Their names. A `*` at the end stands for any rest; each entry is a question of its own.", default="all"),
    ] = ("*",)  # type: ignore[assignment]
    where: Annotated[
        FilterText | None,
        Doc(
            "Only queues that this holds for: keyword, operator and value as in MQSC's WHERE, such as `CURDEPTH GT 0`."
            " The others are not asked about, so rules cannot tell of them."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ChannelSelection:
    """Which channels are asked about."""

    names: Annotated[
        tuple[GenericName, ...],
        Doc("Their names. A `*` at the end stands for any rest; each entry is a question of its own.", default="all"),
    ] = ("*",)  # type: ignore[assignment]
    where: Annotated[
        FilterText | None,
        Doc("Only channels whose status this holds for, such as `STATUS NE RUNNING`, written as for queues."),
    ] = None


@dataclass(frozen=True, slots=True)
class PollingSettings:
    """What is asked, and how often."""

    interval: Annotated[
        Interval,
        Doc(
            "The time from one cycle to the next, at least 1s. What changes slowly is asked less often.",
            "MQVITALS_INTERVAL",
            "--interval",
            default="30s",
        ),
    ] = 30_000
    wait: Annotated[
        Wait, Doc("How long to wait for an answer, from 1s to 5m, until it counts as none.", default="30s")
    ] = 30_000
    usage: Annotated[
        bool,
        Doc(
            "Whether buffer pools and page sets are asked about. The question makes a queue manager look at all its page"
            " sets.",
            default="true",
        ),
    ] = True
    queues: Annotated[QueueSelection, Doc("Which queues are asked about.")] = field(default_factory=QueueSelection)
    channels: Annotated[ChannelSelection, Doc("Which channels are asked about.")] = field(
        default_factory=ChannelSelection
    )
    intervals: Annotated[
        Mapping[QuestionName, Interval],
        Doc("Other intervals, by the name of the command that asks, such as `INQUIRE_USAGE: 5m`."),
    ] = field(default_factory=dict)
