"""The agent's log lines."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator

import pytest

from mqvitals_agent.clock import VirtualClock
from mqvitals_agent.log import LineHandler, as_change, as_event, as_recovery, forget, logging_to
from mqvitals_agent.threads import run_in_loop
from mqvitals_rules.timestamps import parse_iso

AT = parse_iso("2026-11-21T06:00:00.123Z")
LOG = logging.getLogger("mqvitals_agent.test")


@pytest.fixture
def stream() -> io.StringIO:
    """Where the lines go."""
    return io.StringIO()


@pytest.fixture
def handler(stream: io.StringIO) -> Iterator[LineHandler]:
    """A handler that is installed."""
    found = LineHandler(stream, VirtualClock(AT))
    with logging_to(found):
        yield found


@pytest.mark.usefixtures("handler")
def test_a_line_for_people(stream: io.StringIO) -> None:
    """Time, level, event, text, facts."""
    facts = as_event("queue_manager.unreachable", queue_manager="QM02", reason=2059, share=0.25)
    LOG.warning("QM02: no", extra=facts)
    assert stream.getvalue() == (
        "2026-11-21T06:00:00.123Z WARNING queue_manager.unreachable QM02: no"
        " (queue_manager=QM02 reason=2059 share=0.25)\n"
    )


def test_a_line_for_programs(stream: io.StringIO, handler: LineHandler) -> None:
    """The same as an object a line; a fact cannot pass for the line's own keys, and no number is without a value."""
    handler.configure(form="json", level="info")
    facts = as_event("notice.failed", receiver="ops", note="", at="x", share=float("nan"))
    LOG.error("no answer", extra=facts)
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


def test_what_comes_from_mq_is_harmless(stream: io.StringIO, handler: LineHandler) -> None:
    """An event stays one line, a fact cannot look like two, a per cent sign is no format, and nothing steers the terminal."""
    LOG.info("A\n\x1b[2J[/b] 5 %s", extra=as_event("x", name='a b="c"\r\u202e'))
    handler.configure(form="json", level="info")
    LOG.info("A\n\x1b[2J[/b] 5 %s", extra=as_event("x", name='a b="c"\r\u202e'))
    first, second = stream.getvalue().split("\n")[:2]
    assert first == '2026-11-21T06:00:00.123Z INFO x A␊␛[2J[/b] 5 %s (name="a b=\\"c\\"␍\\\\u202e")'
    assert "\x1b" not in second
    assert json.loads(second)["text"] == "A␊␛[2J[/b] 5 %s"


def test_levels(stream: io.StringIO, handler: LineHandler) -> None:
    """What is below the level is left out, until the level changes."""
    handler.configure(form="text", level="warning")
    LOG.info("a", extra=as_event("a"))
    LOG.error("b", extra=as_event("b"))
    handler.configure(form="text", level="debug")
    LOG.debug("c", extra=as_event("c"))
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["b", "c"]


@pytest.mark.usefixtures("handler")
def test_a_problem_is_written_when_it_changes(stream: io.StringIO) -> None:
    """The same again is silent and counted; another one has the count; a recovery ends it, with a line or without."""
    for text in ("refused", "refused", "refused"):
        LOG.warning(text, extra=as_change("QM02", "e"))
    LOG.warning("refused", extra=as_change("QM03", "e"))
    LOG.warning("broken", extra=as_change("QM02", "e"))
    LOG.info("back", extra=as_recovery("QM02", "f"))
    LOG.info("back", extra=as_recovery("QM02", "f"))
    LOG.warning("broken", extra=as_change("QM02", "e"))
    forget(LOG, "QM02")
    LOG.warning("broken", extra=as_change("QM02", "e"))
    assert [line.split(" ", 2)[2] for line in stream.getvalue().splitlines()] == [
        "e refused",
        "e refused",
        "e broken (before_repeated=2)",
        "f back",
        "e broken",
        "e broken",
    ]


def test_a_problem_below_the_level_counts(stream: io.StringIO, handler: LineHandler) -> None:
    """Its end has a line when the level has been lowered meanwhile, and its repetition has none."""
    handler.configure(form="text", level="error")
    LOG.warning("refused", extra=as_change("QM02", "e"))
    handler.configure(form="text", level="info")
    LOG.warning("refused", extra=as_change("QM02", "e"))
    LOG.info("back", extra=as_recovery("QM02", "f"))
    assert [line.split(" ", 2)[2] for line in stream.getvalue().splitlines()] == ["f back"]


@pytest.mark.usefixtures("handler")
def test_what_is_remembered_has_a_limit(stream: io.StringIO) -> None:
    """A key that was not used for ten thousand others is written again."""
    LOG.warning("x", extra=as_change("first", "e"))
    for number in range(10_000):
        LOG.warning("x", extra=as_change(str(number), "e"))
    stream.truncate(0)
    LOG.warning("x", extra=as_change("first", "again"))
    LOG.warning("x", extra=as_change("9999", "again"))
    assert stream.getvalue().count("again") == 1


def test_lines_of_other_packages(stream: io.StringIO, handler: LineHandler) -> None:
    """They have the same form: the logger's name is the event; what is less than a warning is left out."""
    logging.getLogger("aiohttp.client").info("a connection is made")
    logging.getLogger("aiohttp.client").warning("Can not load %s", "response cookies")
    handler.configure(form="json", level="info")
    logging.getLogger("aiohttp.client").critical("Unclosed\nsession")
    first, second = stream.getvalue().splitlines()
    assert first == "2026-11-21T06:00:00.123Z WARNING aiohttp.client Can not load response cookies"
    assert json.loads(second) == {
        "at": "2026-11-21T06:00:00.123Z",
        "level": "error",
        "event": "aiohttp.client",
        "text": "Unclosed␊session",
    }


def test_an_exception_that_asyncio_logs_is_one_line(stream: io.StringIO, handler: LineHandler) -> None:
    """What a callback of the loop raises, with the traceback as a fact."""
    handler.configure(form="json", level="info")

    def broken() -> None:
        raise RuntimeError("as a callback may")

    async def main() -> None:
        asyncio.get_running_loop().call_soon(broken)
        await asyncio.sleep(0)

    run_in_loop(main())
    (line,) = stream.getvalue().splitlines()
    found = json.loads(line)
    assert (found["event"], found["level"]) == ("asyncio", "error")
    assert "broken" in found["text"]
    assert found["exception"].startswith("Traceback (most recent call last):␊")
    assert found["exception"].endswith("RuntimeError: as a callback may")


def test_a_handler_that_is_gone(stream: io.StringIO) -> None:
    """Afterwards nothing is written, and the levels are as they were."""
    before = LOG.getEffectiveLevel()
    with logging_to(LineHandler(stream, VirtualClock(AT))):
        assert LOG.getEffectiveLevel() == logging.DEBUG
    LOG.error("a", extra=as_event("a"))
    assert stream.getvalue() == ""
    assert LOG.getEffectiveLevel() == before


class FullDisk(io.StringIO):
    """A stream that takes nothing."""

    def write(self, _: str) -> int:
        """Refuse."""
        raise OSError(28, "No space left on device")


def test_writing_never_fails(stream: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    """A closed stream and a full disk lose lines, and say nothing elsewhere."""
    stream.close()
    for broken in (stream, FullDisk()):
        with logging_to(LineHandler(broken, VirtualClock(AT))):
            LOG.error("a", extra=as_event("a"))
    assert capsys.readouterr().err == ""
