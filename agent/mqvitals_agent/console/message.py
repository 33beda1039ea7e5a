"""Console messages: lines joined into messages, the ids that are kept, their inserts, their queue manager and object.

z/OS splits a long message, and lines of others may stand between its parts. ``template`` knows what the texts say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mqvitals_agent.console.line import ConsoleLine, LineTime, cut_number
from mqvitals_agent.console.template import SYSTEM_WIDE_IDS, ZOS_IDS, inserts, named_object
from mqvitals_rules.vocabulary.event import is_event

MOST_TEXT: Final = 4_000
"""Characters of a message that are kept."""
_MOST_OPEN: Final = 8
_IDLE_LINES: Final = 32
"""A numbered message ends when this many lines have come after its last."""


_NUMBER: Final = 16
"""Characters at the end of a first line that may hold its number."""
_GAP = re.compile(r"(?:,\s+|\s{2,})\d{3}\s*$")


@dataclass(frozen=True, slots=True)
class JoinedMessage:
    """A complete message: its text with single blanks, and what the columns of its first line say.

    ``ts`` is the time of the first line, ms UTC.
    """

    text: str
    ts: int
    job: str = ""
    system: str = ""


@dataclass(slots=True)
class _OpenMessage:
    """A message that may continue. ``number`` may be its number; ``sure``: a line with that number came.

    ``cut``: the number at the end of the first line is not part of the text.
    """

    parts: list[str]
    ts: int
    stamp: tuple[int, int | None] | None
    job: str
    system: str
    number: str
    sure: bool = False
    cut: bool = False
    idle: int = 0
    size: int = 0

    def add(self, text: str) -> None:
        self.idle = 0
        if text and self.size < MOST_TEXT:
            self.parts.append(text[:MOST_TEXT])
            self.size += len(text) + 1

    def joined(self) -> JoinedMessage:
        first, *rest = self.parts
        if self.sure or self.cut:
            first = cut_number(first)[0]
        return JoinedMessage(" ".join(" ".join((first, *rest)).split())[:MOST_TEXT], self.ts, self.job, self.system)


@dataclass(slots=True)
class MessageJoiner:
    """Joins the lines of one file, in their order, into messages, which it returns in the order they end.

    ``wanted`` decides by the first line whether a message is kept.
    """

    wanted: Callable[[str], bool]
    _open: list[_OpenMessage] = field(default_factory=list)
    _last: _OpenMessage | None = None

    def add(self, line: ConsoleLine, ts: int) -> Iterator[JoinedMessage]:
        """Add a line written at ``ts``, ms UTC."""
        if line.begins:
            yield from self._begin(line, ts)
            return
        if line.number:
            message = next((each for each in reversed(self._open) if each.number == line.number), None)
            if message is not None:
                message.sure = True
                message.add(line.text)
            yield from self._age(message)
            return
        message = self._last
        if message is not None and not message.sure and message.stamp == _mark(line.stamp, message.stamp):
            # Carriers without a column for the number have it at the end of the first line, after a gap or a comma.
            message.cut = message.cut or (
                len(message.parts) == 1 and _GAP.search(message.parts[0][-_NUMBER:]) is not None
            )
            message.add(line.text)

    def flush(self) -> Iterator[JoinedMessage]:
        """No line comes for now: every message is complete."""
        done, self._open, self._last = self._open, [], None
        for message in done:
            yield message.joined()

    def state(self) -> Sequence[Mapping[str, Any]]:
        """The open messages in plain values."""
        return [
            {name: getattr(each, name) for name in _OpenMessage.__slots__} | {"last": each is self._last}
            for each in self._open
        ]

    def restore(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Continue from a ``state``. Raises KeyError, TypeError or ValueError for anything else."""
        opened = []
        last = None
        for each in state:
            stamp = each["stamp"]
            message = _OpenMessage(
                [str(part) for part in each["parts"]],
                int(each["ts"]),
                None if stamp is None else (int(stamp[0]), None if stamp[1] is None else int(stamp[1])),
                str(each["job"]),
                str(each["system"]),
                str(each["number"]),
                bool(each["sure"]),
                bool(each["cut"]),
                int(each["idle"]),
                int(each["size"]),
            )
            if not message.parts:
                raise ValueError("a message without a first line")
            opened.append(message)
            last = message if each["last"] else last
        self._open, self._last = opened[-_MOST_OPEN:], last

    def _begin(self, line: ConsoleLine, ts: int) -> Iterator[JoinedMessage]:
        number = cut_number(line.text)[1]
        # The same number again is another message; a message without a number ends where the next begins.
        for each in [each for each in self._open if not each.number or each.number == number]:
            self._open.remove(each)
            yield each.joined()
        yield from self._age(None)
        self._last = None
        if not self.wanted(line.text):
            return
        text = line.text[:MOST_TEXT]
        message = _OpenMessage([text], ts, _mark(line.stamp, None), line.job, line.system, number, size=len(text))
        self._open.append(message)
        self._last = message
        if len(self._open) > _MOST_OPEN:
            yield self._open.pop(0).joined()

    def _age(self, spoken: _OpenMessage | None) -> Iterator[JoinedMessage]:
        for each in list(self._open):
            if each is spoken:
                continue
            each.idle += 1
            if each.idle > _IDLE_LINES:
                self._open.remove(each)
                self._last = None if self._last is each else self._last
                yield each.joined()


def _mark(stamp: LineTime | None, else_: tuple[int, int | None] | None) -> tuple[int, int | None] | None:
    return else_ if stamp is None else (stamp.ms, stamp.day)


MOST_PREFIX: Final = 8
_ID = re.compile(
    r"\+?(?P<id>CSQ[0-9A-Z]\d{3}[IEWDAS]|\$HASP\d{3}|I[A-Z]{2}\d{3,4}[A-Z])(?:\s+(?P<rest>.*))?", re.DOTALL
)
_MODULE = re.compile(r"CSQ[0-9A-Z][0-9A-Z$#@]{3,4}\s+(?:-\s+)?", re.IGNORECASE)
_UNPREFIXED = frozenset({"CSQN205I"})
_ADDRESS_SPACES = ("MSTR", "CHIN", "AMSM")
_MOST_REMEMBERED = 100


@dataclass(frozen=True, slots=True)
class ConsoleMessage:
    """A message: its id, the queue manager that wrote it, and the object that it names (empty without one).

    ``queue_manager`` is empty for a message of z/OS that may concern any. ``ts`` is ms UTC.
    """

    id: str
    ts: int
    queue_manager: str
    text: str
    kind: str = ""
    name: str = ""
    job: str = ""
    system: str = ""


def message_inserts(words: str) -> Mapping[str, str]:
    """The inserts by name of a whole message, as it is stored; empty where its words are not as expected."""
    if is_event(words):
        return _event_inserts(words)
    found = _ID.fullmatch(words)
    if found is None:
        return {}
    code, rest = found["id"], found["rest"] or ""
    return inserts(code, _split(code, rest)[1] if code.startswith("CSQ") else rest) or {}


_EVENT_INSERT: Final = re.compile(r"(?:^|, )(?:(command|changed)=(.*)|([a-z][a-z0-9_]*)=(.*?)(?=, |$))", re.DOTALL)
"""An insert of an event, as ``console.event.Event.text`` has it; the last one may hold what looks like another."""


def _event_inserts(words: str) -> Mapping[str, str]:
    _, _, named = words.partition("; ")
    return {found[1] or found[3]: found[2] or found[4] for found in _EVENT_INSERT.finditer(named)}


def wanted(text: str) -> bool:
    """Whether a message with this first line is kept."""
    found = _ID.match(text)
    return found is not None and (found["id"].startswith("CSQ") or found["id"] in ZOS_IDS)


@dataclass(slots=True)
class MessageReader:
    """Reads the messages of one file, in the order of its lines.

    Messages of the queue managers ``watched`` are kept; ``own`` is the one that the settings name for the file.
    ``jobs`` maps job numbers, which a job log shows, to job names.
    """

    watched: Collection[str]
    own: str = ""
    jobs: dict[str, str] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def read(self, joined: JoinedMessage) -> ConsoleMessage | None:
        """The message; None for another product's, or one of a queue manager that is not monitored."""
        found = _ID.fullmatch(joined.text)
        if found is None or not wanted(joined.text):
            return None
        code, rest = found["id"], found["rest"] or ""
        ours = code.startswith("CSQ")
        prefix, text = _split(code, rest) if ours else ("", rest)
        named = inserts(code, text) or {}
        job = joined.job
        if code in ("$HASP373", "$HASP395") and "job" in named:
            self._learn(job, named["job"])
        job = self.jobs.get(job, job)
        if ours:
            owner = self._queue_manager(prefix, job)
        elif code in SYSTEM_WIDE_IDS:
            owner = self.own
        else:
            owner = self._named(named)
        if owner not in self.watched and (owner or code not in SYSTEM_WIDE_IDS):
            return None
        kind, name = named_object(named)
        return ConsoleMessage(code, joined.ts, owner, joined.text, kind, name, job, joined.system)

    def _queue_manager(self, prefix: str, job: str) -> str:
        """The queue manager, by command prefix, by the job's name, or by the settings; empty when unknown."""
        bare = prefix.lstrip("".join(char for char in prefix if not char.isalnum()))
        of_job = _of_job(job)
        for each in (prefix, bare, of_job):
            if each in self.watched:
                return each
        # The log of one queue manager: messages that nothing else assigns are its own.
        if self.own:
            return self.own
        for each in (bare, of_job):
            # Subsystems of z/OS have names of at most four characters.
            if each and len(each) <= 4 and len(self.left_out) < _MOST_REMEMBERED:
                self.left_out.add(each)
        return ""

    def _named(self, named: Mapping[str, str]) -> str:
        """The queue manager that a message of z/OS names by its job or a profile."""
        return _of_job(named.get("job", "").upper()) or named.get("profile", "").partition(".")[0]

    def _learn(self, number: str, name: str) -> None:
        if number and number != name and name.endswith(_ADDRESS_SPACES):
            if len(self.jobs) >= _MOST_REMEMBERED:
                self.jobs.pop(next(iter(self.jobs)))
            self.jobs[number] = name


def _of_job(job: str) -> str:
    """The queue manager of an address space; empty for any other job."""
    return job[:-4] if job.endswith(_ADDRESS_SPACES) else ""


def _split(code: str, rest: str) -> tuple[str, str]:
    """Command prefix and text of a message without its id.

    The first word may be the prefix or the first word of the text: the id's template decides, else the form of the
    word.
    """
    if code in _UNPREFIXED or code.startswith("CSQU"):
        return "", rest
    first, _, after = rest.partition(" ")
    if _MODULE.match(rest):
        return "", _MODULE.sub("", rest, count=1)
    # The letters of a command prefix are upper case.
    if len(first) > MOST_PREFIX or not after or first != first.upper():
        return "", rest
    text = _MODULE.sub("", after, count=1) if _MODULE.match(after) else after
    if text is after and inserts(code, rest) is not None and inserts(code, text) is None:
        return "", rest
    return first, text.removeprefix("- ") if text is after else text
