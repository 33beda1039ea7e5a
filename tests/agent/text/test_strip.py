"""Heat strips: one cell a stretch of time, each state by its own height and tone, a hole where nothing is known."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.strip import strip
from mqvitals_agent.text.styled import Tone


@given(st.lists(st.sampled_from([*Health, None]), max_size=80), st.booleans())
def test_each_state_can_be_read_back(states: list[Health | None], ascii_only: bool) -> None:
    """One cell for each, and another one for each state: also without colours."""
    spans = strip(states, ascii_only=ascii_only)
    shown = "".join(span.text for span in spans)
    assert len(shown) == len(states)
    alone = {strip([each], ascii_only=ascii_only)[0].text: each for each in (*Health, None)}
    assert len(alone) == len(Health) + 1
    assert [alone[glyph] for glyph in shown] == states
    assert shown.isascii() or not ascii_only
    assert all(one.tone is not other.tone for one, other in itertools.pairwise(spans))


@pytest.mark.parametrize("ascii_only", [False, True])
def test_only_what_is_bad_is_loud(ascii_only: bool) -> None:
    """Health is calm, and no data has no colour."""
    tones = {state: strip([state], ascii_only=ascii_only)[0].tone for state in (*Health, None)}
    assert tones[Health.OK] is Tone.CALM
    assert tones[None] is Tone.PLAIN
    assert (tones[Health.WARNING], tones[Health.CRITICAL]) == (Tone.WARNING, Tone.CRITICAL)
