"""A joined message understood: its id, whose it is, and the object that it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.console.joining import Joined
from mqvitals_agent.console.template import OBJECTS, OF_EVERYBODY, OF_ZOS, inserts

MOST_PREFIX: Final = 8
_ID = re.compile(
    r"\+?(?P<id>CSQ[0-9A-Z]\d{3}[IEWDAS]|\$HASP\d{3}|I[A-Z]{2}\d{3,4}[A-Z])(?:\s+(?P<rest>.*))?", re.DOTALL
)
_MODULE = re.compile(r"CSQ[0-9A-Z][0-9A-Z$#@]{3,4}\s+(?:-\s+)?", re.IGNORECASE)
_UNPREFIXED = frozenset({"CSQN205I"})
_ADDRESS_SPACES = ("MSTR", "CHIN", "AMSM")
_MOST_REMEMBERED = 100
_NUMBERED = frozenset({"buffer_pool", "page_set"})
_GROUP_NAME = 4
"""Characters of a group's name in the name that a structure has for z/OS."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A message: its id, the queue manager that wrote it, and the object named in it, where it names one (else empty).

    ``queue_manager`` is empty for a message of z/OS that may be about any. ``ts`` is ms UTC.
    """

    id: str
    ts: int
    queue_manager: str
    text: str
    kind: str = ""
    name: str = ""
    job: str = ""
    system: str = ""


def wanted(text: str) -> bool:
    """Whether the first line of a message is that of one that is kept."""
    found = _ID.match(text)
    return found is not None and (found["id"].startswith("CSQ") or found["id"] in OF_ZOS)


@dataclass(slots=True)
class Recogniser:
    """Understands the messages of one file, in the order of its lines.

    ``watched`` are the queue managers whose messages are kept, ``own`` the one that the file is of, where it is said. ``jobs``
    is what was learnt of jobs: their numbers, by which a job log calls them, and their names.
    """

    watched: Collection[str]
    own: str = ""
    jobs: dict[str, str] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def recognise(self, joined: Joined) -> Recognised | None:
        """The message; None for one that is not kept: of another product, or of a queue manager that is not watched."""
        found = _ID.fullmatch(joined.text)
        if found is None or not wanted(joined.text):
            return None
        code, rest = found["id"], found["rest"] or ""
        ours = code.startswith("CSQ")
        prefix, text = _split(code, rest) if ours else ("", rest)
        told = inserts(code, text) or {}
        job = joined.job
        if code in ("$HASP373", "$HASP395") and "job" in told:
            self._learn(job, told["job"])
        job = self.jobs.get(job, job)
        if ours:
            owner = self._owner(prefix, job)
        elif code in OF_EVERYBODY:
            owner = self.own
        else:
            owner = self._named(told)
        if owner not in self.watched and (owner or code not in OF_EVERYBODY):
            return None
        kind = name = ""
        for insert, of_kind in OBJECTS.items():
            if insert in told:
                kind, name = of_kind, told[insert]
                name = str(int(name)) if kind in _NUMBERED else name[_GROUP_NAME:] if insert == "xes" else name
                break
        return Recognised(code, joined.ts, owner, joined.text, kind, name, job, joined.system)

    def _owner(self, prefix: str, job: str) -> str:
        """Whose it is: by the command prefix, by the job's name, by what was declared; empty when nothing tells."""
        bare = prefix.lstrip("".join(char for char in prefix if not char.isalnum()))
        of_job = _of_job(job)
        for each in (prefix, bare, of_job):
            if each in self.watched:
                return each
        # The log of one queue manager: what cannot be told is its own, whatever its prefix.
        if self.own:
            return self.own
        for each in (bare, of_job):
            # Subsystems of z/OS have names of at most four characters.
            if each and len(each) <= 4 and len(self.left_out) < _MOST_REMEMBERED:
                self.left_out.add(each)
        return ""

    def _named(self, told: Mapping[str, str]) -> str:
        """Whose a message of z/OS is that is about one job or one profile; those of others are none of ours."""
        return _of_job(told.get("job", "").upper()) or told.get("profile", "").partition(".")[0]

    def _learn(self, number: str, name: str) -> None:
        if number and number != name and name.endswith(_ADDRESS_SPACES):
            if len(self.jobs) >= _MOST_REMEMBERED:
                self.jobs.pop(next(iter(self.jobs)))
            self.jobs[number] = name


def _of_job(job: str) -> str:
    """The queue manager whose address space it is; empty for any other job."""
    return job[:-4] if job.endswith(_ADDRESS_SPACES) else ""


def _split(code: str, rest: str) -> tuple[str, str]:
    """Command prefix and text of a message without its id.

    The first word may be the prefix or the text's own first word: what the id's expression fits decides, else whether it looks
    like one.
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
