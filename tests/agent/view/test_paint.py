"""When and what is coloured."""

from __future__ import annotations

import pytest

from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.paint import Painter, wants_colour


@pytest.mark.parametrize(
    ("environ", "terminal", "colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"MQVITALS_COLOR": "always"}, False, True),
        ({"MQVITALS_COLOR": "never"}, True, False),
        ({"MQVITALS_COLOR": "always", "NO_COLOR": "1"}, True, False),
    ],
)
def test_wants_colour(environ: dict[str, str], terminal: bool, colour: bool) -> None:
    """Colour is for terminals that want it; NO_COLOR beats everything."""
    assert wants_colour(environ, terminal=terminal) is colour


def test_plain_by_default() -> None:
    """A painter without colour gives every text back as it is."""
    painter = Painter()
    assert painter.sign("x", Health.CRITICAL) == painter.title("x") == painter.faint("x") == "x"
    assert painter.line("● CRITICAL  x", Health.CRITICAL) == "● CRITICAL  x"


def test_only_the_sign_is_coloured() -> None:
    """A line's sign is coloured and its text is not; what does not begin with the sign stays plain."""
    painter = Painter(colour=True)
    assert painter.line("● CRITICAL  x", Health.CRITICAL) == "\x1b[1;31m● CRITICAL\x1b[0m  x"
    assert painter.line("x", Health.CRITICAL) == "x"
    assert painter.sign("", Health.OK) == ""
