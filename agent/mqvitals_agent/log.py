"""The agent's log lines: records of Python's ``logging`` as text for people or JSON for programs, one line each.

Modules log with ``logging.getLogger(__name__)`` and ``extra=as_event(...)``. Nothing logged is a secret, and writing
never fails.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, TextIO

from mqvitals_agent.clock import Clock
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.timestamps import iso

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["text", "json"]
Fact = str | int | float

LEVELS: Final[Mapping[Level, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

_OWN: Final = "mqvitals_agent"
_KEYS_KEPT: Final = 10_000
"""More keys than any group has things with problems; the ones not used for longest are forgotten first."""


def as_event(name: str, /, **facts: Fact) -> dict[str, Any]:
    """``extra`` of a record: the fixed name of its event and its facts."""
    return {"event": name, "facts": facts}


def as_change(key: str, name: str, /, **facts: Fact) -> dict[str, Any]:
    """``extra`` of a record that is written when its text differs from the last one with this key: a problem.

    When the text before came several times, the new line has their number as the fact ``before_repeated``.
    """
    return {"event": name, "facts": facts, "change": key}


def as_recovery(key: str, name: str, /, **facts: Fact) -> dict[str, Any]:
    """``extra`` of a record that ends the problem with this key: written when there was one."""
    return {"event": name, "facts": facts, "recovery": key}


def forget(log: logging.Logger, key: str) -> None:
    """End the problem with this key without a line: the same text is written again when it comes back."""
    log.debug("", extra=as_recovery(key, ""))


class RepeatFilter(logging.Filter):
    """Passes a change when its text differs, and a recovery when there was a problem; everything else passes."""

    def __init__(self) -> None:
        super().__init__()
        self._last: OrderedDict[str, tuple[str, int]] = OrderedDict()  # key -> text, how often it was repeated

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written. Called under the handler's lock."""
        if ended := getattr(record, "recovery", ""):
            return self._last.pop(ended, None) is not None and bool(record.__dict__["event"])
        key = getattr(record, "change", "")
        if not key:
            return True
        text, last = record.getMessage(), self._last.pop(key, None)
        if last is not None and last[0] == text:
            self._last[key] = (text, last[1] + 1)
            return False
        self._last[key] = (text, 0)
        if len(self._last) > _KEYS_KEPT:
            self._last.popitem(last=False)
        if last is not None and last[1]:
            record.__dict__["facts"] = {**record.__dict__["facts"], "before_repeated": last[1]}
        return True


class LineFormatter(logging.Formatter):
    """Formats records with the time of ``clock``. A record of another package has its logger's name as its event.

    A line of text is ``2026-11-21T06:00:00.123Z WARNING queue_manager.unreachable QM02: ... (reason=2059)``. As JSON
    a line is an object with ``at``, ``level``, ``event``, ``text`` and the facts; a fact named ``at`` has the key
    ``fact_at``. Texts are made harmless to a terminal.
    """

    def __init__(self, clock: Clock, form: Form) -> None:
        super().__init__()
        self._clock = clock
        self._line = json_line if form == "json" else text_line

    def format(self, record: logging.LogRecord) -> str:
        """The line without its end."""
        level = next((name for name, number in reversed(tuple(LEVELS.items())) if record.levelno >= number), "debug")
        facts: Mapping[str, Fact] = getattr(record, "facts", {})
        if record.exc_info and record.exc_info[0] is not None:
            facts = {**facts, "exception": self.formatException(record.exc_info)}
        name = getattr(record, "event", record.name)
        return self._line(self._clock.now(), level, name, record.getMessage(), facts)


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes records to a stream. A closed stream or a full disk loses lines and raises nothing."""

    def __init__(self, stream: TextIO, clock: Clock, *, form: Form = "text", level: Level = "info") -> None:
        """Write records of at least ``level``, with the time of ``clock``."""
        super().__init__(stream)
        self._clock = clock
        self._least = logging.NOTSET
        # A change below the level counts for its key, so the level is checked last.
        self.addFilter(RepeatFilter())
        self.addFilter(lambda record: record.levelno >= self._least)
        self.configure(form=form, level=level)

    def configure(self, *, form: Form, level: Level) -> None:
        """Write in another form, or from another level on, from the next line on."""
        self._least = LEVELS[level]
        self.setFormatter(LineFormatter(self._clock, form))

    def handle(self, record: logging.LogRecord) -> bool:
        """Filter and write a record, both under the lock: the repetition filter keeps state."""
        self.acquire()
        try:
            return super().handle(record)
        finally:
            self.release()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name of the base class's method
        """Lose the line when the stream cannot be written; report other errors as ``logging`` does."""
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handleError(record)


@contextmanager
def logging_to(handler: LineHandler) -> Iterator[None]:
    """Within, all records of the agent, and warnings and errors of other packages, go to the handler."""
    root, own = logging.getLogger(), logging.getLogger(_OWN)
    before = own.level
    root.addHandler(handler)
    own.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        own.setLevel(before)
        root.removeHandler(handler)


def text_line(ts: int, level: str, event: str, text: str, facts: Mapping[str, Fact]) -> str:
    """A record as a line for people, without its end. ``ts`` is ms UTC."""
    words = " ".join(f"{name}={_word(value)}" for name, value in facts.items())
    return safe(f"{iso(ts)} {level.upper()} {event} {text}{f' ({words})' if words else ''}")


def json_line(ts: int, level: str, event: str, text: str, facts: Mapping[str, Fact]) -> str:
    """A record as a line for programs, without its end: a JSON object in ASCII, harmless to a terminal."""
    keys: dict[str, Fact] = {"at": iso(ts), "level": level, "event": event, "text": safe(text)}
    for name, value in facts.items():
        keys[f"fact_{name}" if name in keys else name] = safe(value) if isinstance(value, str) else _finite(value)
    return json.dumps(keys, allow_nan=False)


def _word(value: Fact) -> str:
    """A fact as one word: in quotes when it is empty or holds a blank, a quote or similar."""
    if isinstance(value, float):
        return f"{value:g}"
    word = str(value)
    if word and not any(char in word for char in ' "()=') and word.isprintable():
        return word
    return json.dumps(safe(word), ensure_ascii=False)


def _finite(value: float) -> Fact:
    """The number, or its word: JSON has no infinity and no not-a-number."""
    return value if isinstance(value, int) or value - value == 0 else str(value)
