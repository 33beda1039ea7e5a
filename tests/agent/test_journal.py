"""The agent's log lines."""

from __future__ import annotations

import io
import json

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.journal import Journal
from mqvitals_rules.timestamps import parse_iso

AT = parse_iso("2026-11-21T06:00:00.123Z")


@pytest.fixture
def stream() -> io.StringIO:
    """Where the lines go."""
    return io.StringIO()


def test_a_line_for_people(stream: io.StringIO) -> None:
    """Time, level, event, text, facts."""
    journal = Journal(stream, VirtualClock(AT))
    journal.say("queue_manager.unreachable", "QM02: no", level="warning", queue_manager="QM02", reason=2059, share=0.25)
    assert stream.getvalue() == (
        "2026-11-21T06:00:00.123Z WARNING queue_manager.unreachable QM02: no"
        " (queue_manager=QM02 reason=2059 share=0.25)\n"
    )


def test_a_line_for_programs(stream: io.StringIO) -> None:
    """The same as an object a line; a fact cannot pass for the line's own keys, and no number is without a value."""
    journal = Journal(stream, VirtualClock(AT), form="json")
    journal.say("notice.failed", "no answer", receiver="ops", note="", level="error", at="x", share=float("nan"))
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line) == {
        "at": "2026-11-21T06:00:00.123Z",
        "level": "error",
        "event": "notice.failed",
        "text": "no answer",
        "receiver": "ops",
        "note": "",
        "fact_at": "x",
        "share": "nan",
    }


def test_what_comes_from_mq_is_harmless(stream: io.StringIO) -> None:
    """An event stays one line, a fact cannot look like two, and nothing steers the terminal."""
    for form in ("text", "json"):
        Journal(stream, VirtualClock(AT), form=form).say("x", "A\n\x1b[2J[/b]", name='a b="c"\r\u202e')
    first, second = stream.getvalue().split("\n")[:2]
    assert first == '2026-11-21T06:00:00.123Z INFO x A␊␛[2J[/b] (name="a b=\\"c\\"␍\\\\u202e")'
    assert "\x1b" not in second
    assert json.loads(second)["text"] == "A␊␛[2J[/b]"


def test_levels(stream: io.StringIO) -> None:
    """What is below the level is left out, until the level changes."""
    journal = Journal(stream, VirtualClock(AT), level="warning")
    journal.say("a", "a")
    journal.say("b", "b", level="error")
    journal.set(form="text", level="debug")
    journal.say("c", "c", level="debug")
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["b", "c"]


def test_an_error_is_told_when_it_changes(stream: io.StringIO) -> None:
    """The same again is silent and counted; another one tells the count; an empty one forgets."""
    journal = Journal(stream, VirtualClock(AT))
    assert journal.changed("QM02", "e", "refused", level="warning")
    assert not journal.changed("QM02", "e", "refused", level="warning")
    assert not journal.changed("QM02", "e", "refused", level="warning")
    assert journal.changed("QM03", "e", "refused")
    assert journal.changed("QM02", "e", "broken")
    assert journal.changed("QM02", "e", "")
    assert not journal.changed("QM02", "e", "")
    assert journal.changed("QM02", "e", "broken")
    assert [line.split(" e ")[1] for line in stream.getvalue().splitlines()] == [
        "refused",
        "refused",
        "broken (before_repeated=2)",
        "broken",
    ]


def test_what_is_remembered_has_a_limit(stream: io.StringIO) -> None:
    """A key that was not used for ten thousand others is told again."""
    journal = Journal(stream, VirtualClock(AT), level="error")
    journal.changed("first", "e", "x")
    for number in range(10_000):
        journal.changed(str(number), "e", "x")
    assert journal.changed("first", "e", "x")
    assert not journal.changed("9999", "e", "x")


class FullDisk(io.StringIO):
    """A stream that takes nothing."""

    def write(self, _: str) -> int:
        """Refuse."""
        raise OSError(28, "No space left on device")


def test_writing_never_fails(stream: io.StringIO) -> None:
    """A closed stream and a full disk cost nobody anything."""
    stream.close()
    Journal(stream, VirtualClock(AT)).say("a", "a")
    Journal(FullDisk(), VirtualClock(AT)).say("a", "a")
