"""Heat strips: one cell a stretch of time, each state by its own height and tone, a hole where nothing is known."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.strip import strip
from mqvitals_agent.text.styled import Tone
from mqvitals_agent.text.symbols import Symbols, drawn


@given(st.lists(st.sampled_from([*Health, None]), max_size=80), st.sampled_from(Symbols))
def test_each_state_can_be_read_back(states: list[Health | None], symbols: Symbols) -> None:
    """One cell for each, and another one for each state: also without colours, and in ASCII."""
    spans = strip(states)
    shown = drawn("".join(span.text for span in spans), symbols)
    assert len(shown) == len(states)
    alone = {drawn(strip([each])[0].text, symbols): each for each in (*Health, None)}
    assert len(alone) == len(Health) + 1
    assert [alone[glyph] for glyph in shown] == states
    assert all(one.tone is not other.tone for one, other in itertools.pairwise(spans))


def test_only_what_is_bad_is_loud() -> None:
    """Health is calm, and no data has no colour."""
    tones = {state: strip([state])[0].tone for state in (*Health, None)}
    assert tones[Health.OK] is Tone.CALM
    assert tones[None] is Tone.PLAIN
    assert (tones[Health.WARNING], tones[Health.CRITICAL]) == (Tone.WARNING, Tone.CRITICAL)
