"""Styled lines as they are printed: when and what is coloured."""

from __future__ import annotations

import pytest

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Span, Tone, ansi, line, signed_line, tone_of, wants_colour


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


def test_without_colour_a_line_is_its_text() -> None:
    """Without colour every tone gives its text back as it is."""
    shown = Line(tuple(Span(f"{tone.value} ", tone) for tone in Tone))
    assert ansi(shown, colour=False) == " ".join(tone.value for tone in Tone)


def test_only_the_sign_is_coloured() -> None:
    """A line's sign is coloured and its text is not; what does not begin with the sign stays plain."""
    assert ansi(signed_line("● CRITICAL  x", Health.CRITICAL), colour=True) == "\x1b[1;31m● CRITICAL\x1b[0m  x"
    assert ansi(signed_line("x", Health.CRITICAL), colour=True) == "x"
    assert ansi(line("", Tone.OK), colour=True) == ""


@pytest.mark.parametrize("health", Health)
def test_every_health_has_a_colour_of_its_own(health: Health) -> None:
    """The five states differ by colour too, and headings and fainter text by weight."""
    codes = {tone: ansi(line("x", tone), colour=True) for tone in (*map(tone_of, Health), Tone.STRONG, Tone.FAINT)}
    assert len(set(codes.values())) == len(codes)
    assert codes[tone_of(health)] != "x"
