"""What may be said of polling, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place
from mqvitals_config.load import load_settings
from mqvitals_config.sections.collection import Filter, parse_filter
from mqvitals_config.settings import Settings


def problems_of(text: str) -> list[tuple[int, str, str]]:
    """The line, key and message of every problem."""
    with pytest.raises(ConfigError) as raised:
        decode("x.yaml", text, Settings)
    return [(problem.place.line, problem.key, problem.message) for problem in raised.value.problems]


def test_defaults() -> None:
    """Without a word everything is asked, every 30 seconds."""
    polling = Settings().polling
    assert (polling.interval, polling.wait, polling.usage) == (30_000, 30_000, True)
    assert polling.queues.names == polling.channels.names == ("*",)
    assert polling.queues.where is None
    assert polling.intervals == {}


def test_everything_said() -> None:
    """Names and filters keep their places for those who know what they mean."""
    polling = decode(
        "x.yaml",
        "polling:\n"
        "  interval: 2s\n"
        "  wait: 5s\n"
        "  usage: false\n"
        '  queues: {names: ["APPL1.*", "Q%/_"], where: curdepth gt 0}\n'
        "  intervals: {INQUIRE_USAGE: 5m}\n",
        Settings,
    ).polling
    assert (polling.interval, polling.wait, polling.usage) == (2000, 5000, False)
    assert polling.queues.names == ("APPL1.*", "Q%/_")
    assert polling.queues.where is not None
    assert parse_filter(polling.queues.where) == Filter("CURDEPTH", "GT", 0)
    assert polling.queues.where.place.line == 5
    ((question, every),) = polling.intervals.items()
    assert (question, every) == ("INQUIRE_USAGE", 300_000)
    assert isinstance(question, LocatedText)
    assert question.place == Place("x.yaml", 6, 15)


def test_flag_and_environment() -> None:
    """The interval and the log can be set for one run."""
    environ = {"MQVITALS_INTERVAL": "10s", "MQVITALS_LOG_LEVEL": "debug", "MQVITALS_LOG_FORMAT": "json"}
    loaded = load_settings(None, environ, {"interval": "2s", "log_format": None})
    assert loaded.settings.polling.interval == 2000
    assert (loaded.settings.log.format, loaded.settings.log.level) == ("json", "debug")
    with pytest.raises(ConfigError, match=r"flag --interval: polling.interval: the shortest interval is 1s"):
        load_settings(None, {}, {"interval": "999ms"})


def test_mistakes() -> None:
    """Each at its place and in its words."""
    found = problems_of(
        "polling:\n"
        "  interval: 10\n"
        "  wait: 6m\n"
        '  queues: {names: ["A*B"], where: CURDEPTH OVER 9}\n'
        '  channels: {where: "STATUS"}\n'
        "  intervals: {usage: 5m, INQUIRE_LOG: 0s}\n"
        "log: {format: xml, level: warn}\n"
    )
    assert [(line, key) for line, key, _ in found] == [
        (2, "polling.interval"),
        (3, "polling.wait"),
        (4, "polling.queues.names[0]"),
        (4, "polling.queues.where"),
        (5, "polling.channels.where"),
        (6, "polling.intervals.usage"),
        (6, "polling.intervals.INQUIRE_LOG"),
        (7, "log.format"),
        (7, "log.level"),
    ]
    words = [message for _, _, message in found]
    assert words[0] == "a duration needs a unit: 10s, 10m or 10h"
    assert words[4] == "expected keyword, operator and value, such as CURDEPTH GT 0"
    assert words[8] == "'warn' is not one of debug, info, warning and error; did you mean 'warning'?"


def test_event_queues() -> None:
    """None is read unless it is named; messages stay on it, and it is looked at every 30 seconds."""
    assert Settings().polling.events is None
    events = decode("x.yaml", "polling: {events: {queues: [SYSTEM.ADMIN.QMGR.EVENT]}}", Settings).polling.events
    assert events is not None
    assert (events.queues, events.read, events.every) == (("SYSTEM.ADMIN.QMGR.EVENT",), "browse", 30_000)


def test_mistakes_about_event_queues(tmp_path: Path) -> None:
    """Each entry is one queue, named once; a look is at least a second after the one before."""
    found = problems_of("polling: {events: {queues: [SYSTEM.ADMIN.*, 'a b'], read: take, every: 10ms}}")
    assert [key for _, key, _ in found] == [
        "polling.events.queues[0]",
        "polling.events.queues[1]",
        "polling.events.read",
        "polling.events.every",
    ]
    file = tmp_path / "mqvitals.yaml"
    file.write_text("polling:\n  events:\n    queues:\n      - MY.EVENTS\n      - MY.EVENTS\n")
    with pytest.raises(ConfigError) as raised:
        load_settings(str(file), {}, {})
    (problem,) = raised.value.problems
    assert (problem.place.line, problem.key) == (5, "polling.events.queues[1]")
    assert problem.message == "MY.EVENTS is read already, by the entry on line 4"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CURDEPTH GT 0", Filter("CURDEPTH", "GT", 0)),
        ("  status  ne  running ", Filter("STATUS", "NE", "running")),
        ("DESCR EQ 'two words'", Filter("DESCR", "EQ", "two words")),
        ("X EQ '12'", Filter("X", "EQ", "12")),
        ("JOBNAME LK CSQ*", Filter("JOBNAME", "LK", "CSQ*")),
        ("X GT -1", Filter("X", "GT", -1)),
    ],
)
def test_filters(text: str, expected: Filter) -> None:
    """As MQSC writes them; what stands in quotes is a text."""
    assert parse_filter(text) == expected


@pytest.mark.parametrize(
    "text", ["", "CURDEPTH", "CURDEPTH GT", "CURDEPTH > 0", "CURDEPTH ZZ 0", "D EQ two words", "D EQ 'x", "D EQ ''"]
)
def test_what_is_no_filter(text: str) -> None:
    """Refused with a sentence."""
    with pytest.raises(ValueError, match=r"expected|operator"):
        parse_filter(text)


@pytest.mark.parametrize("name", ["", "A*B", "**", "a b", "X" * 49, "X" * 48 + "*", "Ä"])
def test_what_is_no_name(name: str) -> None:
    """MQ allows a star only at the end, and few characters."""
    with pytest.raises(ConfigError, match="expected a name of MQ"):
        decode("x", f"polling: {{queues: {{names: ['{name}']}}}}", Settings)
