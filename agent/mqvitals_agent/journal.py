"""The agent's log: one line for each event, for people or for programs. Nothing in it is a secret, and writing never fails."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Literal, TextIO

from mqvitals_agent.clock import Clock
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.timestamps import iso

Level = Literal["debug", "info", "warning", "error"]
Fact = str | int | float

LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")

_KEYS_KEPT = 10_000
"""More keys than any group has things that can be told of; the ones told longest ago are forgotten first."""


class Journal:
    """Writes events to a stream. Use it from any thread.

    A line of text is ``2026-11-21T06:00:00.123Z WARNING queue_manager.unreachable QM02: ... (reason=2059)``. As JSON a
    line is an object with ``at``, ``level``, ``event``, ``text`` and the facts; a fact that is called ``at`` stands
    under ``fact_at``. Facts must not hold secrets; texts from MQ are made harmless to a terminal here.
    """

    def __init__(
        self, stream: TextIO, clock: Clock, *, form: Literal["text", "json"] = "text", level: Level = "info"
    ) -> None:
        """Write to ``stream`` what is at least of ``level``, with the time of ``clock``."""
        self._stream = stream
        self._clock = clock
        self._form = form
        self._level = level
        self._last: OrderedDict[str, tuple[str, int]] = OrderedDict()  # key -> text, times it came again
        self._lock = threading.Lock()

    def set(self, *, form: Literal["text", "json"], level: Level) -> None:
        """Write in another form or from another level on, from the next line on."""
        self._form, self._level = form, level

    def say(self, event: str, text: str, *, level: Level = "info", **facts: Fact) -> None:
        """Write one line. ``event`` is its fixed name (``agent.begins``), ``text`` says it to a person."""
        if LEVELS.index(level) < LEVELS.index(self._level):
            return
        write = json_line if self._form == "json" else text_line
        line = write(self._clock.now(), level, event, text, facts)
        try:
            with self._lock:
                self._stream.write(line + "\n")
                self._stream.flush()
        except (OSError, ValueError):
            # The reader has gone, the disk is full, or the stream is closed: the agent goes on, it has nobody to tell.
            return

    def changed(self, key: str, event: str, text: str, *, level: Level = "info", **facts: Fact) -> bool:
        """Write a line only when ``text`` differs from the last one for ``key``; returns whether it did.

        An empty text forgets the key without a line, and returns whether there was one. When the text before had come
        several times, the new line tells how often in the fact ``before_repeated``.
        """
        with self._lock:
            last = self._last.pop(key, None)
            if not text:
                return last is not None
            if last is not None and last[0] == text:
                self._last[key] = (text, last[1] + 1)
                return False
            self._last[key] = (text, 0)
            if len(self._last) > _KEYS_KEPT:
                self._last.popitem(last=False)
        if last is not None and last[1]:
            facts = {**facts, "before_repeated": last[1]}
        self.say(event, text, level=level, **facts)
        return True


def text_line(moment: int, level: str, event: str, text: str, facts: Mapping[str, Fact]) -> str:
    """An event as a line for people, without its end."""
    told = " ".join(f"{name}={_word(value)}" for name, value in facts.items())
    return safe(f"{iso(moment)} {level.upper()} {event} {text}{f' ({told})' if told else ''}")


def json_line(moment: int, level: str, event: str, text: str, facts: Mapping[str, Fact]) -> str:
    """An event as a line for programs, without its end: a JSON object in ASCII, so nothing in it can steer a terminal."""
    keys: dict[str, Fact] = {"at": iso(moment), "level": level, "event": event, "text": safe(text)}
    for name, value in facts.items():
        keys[f"fact_{name}" if name in keys else name] = safe(value) if isinstance(value, str) else _finite(value)
    return json.dumps(keys, allow_nan=False)


def _word(value: Fact) -> str:
    """A fact that can be told from the next one: in quotes where it holds a blank, a quote or nothing."""
    if isinstance(value, float):
        return f"{value:g}"
    word = str(value)
    if word and not any(char in word for char in ' "()=') and word.isprintable():
        return word
    return json.dumps(safe(word), ensure_ascii=False)


def _finite(value: float) -> Fact:
    """JSON has no infinity and no not-a-number."""
    return value if isinstance(value, int) or value - value == 0 else str(value)
