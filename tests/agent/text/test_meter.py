"""Meters: a share in exactly the cells that there are, never empty above nothing, full only when it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.text.meter import LEAST_WIDTH, METER_GLYPHS, Bound, meter, meter_tone, progress
from mqvitals_agent.text.styled import Span, Tone
from mqvitals_agent.text.symbols import Symbols, drawn
from mqvitals_agent.text.terminal import cells
from mqvitals_rules.lifecycle.alert import Severity

SHARES = st.floats(-10, 110) | st.floats(0, 100) | st.sampled_from([0.0, 1e-9, 0.1, 50.0, 99.9, 99.999999, 100.0])
WIDTHS = st.integers(LEAST_WIDTH, 60)
BOUNDS = st.lists(
    st.builds(Bound, st.floats(0, 100), st.sampled_from([Severity.WARNING, Severity.CRITICAL])), max_size=4
)
ORDER = (Tone.CALM, Tone.RISING, Tone.NEAR, Tone.WARNING, Tone.CRITICAL)


def text(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


IN_ASCII = dict(zip("|=+#", (0.25, 0.5, 0.75, 1.0), strict=True))
IN_BLOCKS = dict(zip("▏▎▍▌▋▊▉█", (n / 8 for n in range(1, 9)), strict=True))


def ink(spans: tuple[Span, ...], symbols: Symbols) -> float:
    """How many cells of a meter without ticks are filled."""
    weights = IN_ASCII if symbols is Symbols.ASCII else IN_BLOCKS
    return sum(weights[glyph] for glyph in drawn(spans[1].text, symbols))


@given(SHARES | st.none(), st.integers(0, 60), BOUNDS, st.booleans())
def test_takes_the_cells_that_it_is_given(share: float | None, width: int, bounds: list[Bound], low: bool) -> None:
    """Whatever is drawn, at every width; in ASCII too, with no glyph that has no likeness there."""
    shown = text(meter(share, width, bounds, low_is_bad=low))
    assert cells(shown) == width
    assert set(shown) <= METER_GLYPHS | {" "}
    plain = drawn(shown, Symbols.ASCII)
    assert len(plain) == width
    assert plain.isascii()
    assert "?" not in plain


@given(SHARES, SHARES, WIDTHS, st.sampled_from(Symbols))
def test_more_is_never_drawn_as_less(one: float, other: float, width: int, symbols: Symbols) -> None:
    """Of two shares the greater one fills at least as much."""
    low, high = sorted((one, other))
    less, more = (ink(meter(each, width), symbols) for each in (low, high))
    assert less <= more


@given(SHARES, WIDTHS, BOUNDS)
def test_empty_only_at_nothing_and_full_only_at_all(share: float, width: int, bounds: list[Bound]) -> None:
    """A little is seen, and so is a little that is left; ticks hide neither."""
    _, filled, rest = meter(share, width, bounds)
    assert (filled.text == "") == (share <= 0)
    plain = meter(share, width)[1].text
    assert (plain == "█" * (width - 2)) == (share >= 100)
    assert (drawn(plain, Symbols.ASCII) == "#" * (width - 2)) == (share >= 100)
    assert cells(filled.text) == cells(plain)
    assert cells(rest.text) == width - 1 - cells(filled.text)


@given(WIDTHS, BOUNDS, st.sampled_from(Symbols))
def test_absent_looks_like_no_share(width: int, bounds: list[Bound], symbols: Symbols) -> None:
    """What is not known is neither empty nor full nor in between."""
    absent = meter(None, width, bounds)
    assert absent[1].tone is Tone.ABSENT
    assert meter(float("nan"), width, bounds) == absent
    for share in range(101):
        assert drawn(text(meter(share, width, bounds)), symbols) != drawn(text(absent), symbols)


@given(SHARES, SHARES, BOUNDS, st.booleans())
def test_the_gradient_only_rises(one: float, other: float, bounds: list[Bound], low: bool) -> None:
    """Nearer to a bound a meter is never calmer, and beyond one it has the tone of the worst that is reached."""
    better, worse = sorted((one, other), reverse=low)
    tones = [ORDER.index(meter_tone(each, bounds, low_is_bad=low)) for each in (better, worse)]
    assert tones[0] <= tones[1]
    reached = [each.severity for each in bounds if (worse <= each.value if low else worse >= each.value)]
    assert (tones[1] >= ORDER.index(Tone.WARNING)) == bool(reached)
    assert (tones[1] == ORDER.index(Tone.CRITICAL)) == (Severity.CRITICAL in reached)


def test_the_steps_of_the_gradient() -> None:
    """Calm for half of the way to the first bound, near from four fifths of it; without a bound always calm."""
    bounds = (Bound(80, Severity.WARNING), Bound(95, Severity.CRITICAL))
    seen = {share: meter_tone(share, bounds) for share in (0, 39, 40, 63, 64, 79, 80, 94, 95, 100)}
    assert list(seen.values()) == [
        *(Tone.CALM, Tone.CALM, Tone.RISING, Tone.RISING, Tone.NEAR, Tone.NEAR),
        *(Tone.WARNING, Tone.WARNING, Tone.CRITICAL, Tone.CRITICAL),
    ]
    free = (Bound(20, Severity.WARNING), Bound(5, Severity.CRITICAL))
    assert [meter_tone(share, free, low_is_bad=True) for share in (90, 50, 30, 20, 6, 5, 0)] == [
        *(Tone.CALM, Tone.RISING, Tone.NEAR, Tone.WARNING, Tone.WARNING, Tone.CRITICAL, Tone.CRITICAL)
    ]
    assert meter_tone(100, ()) is Tone.CALM
    assert progress(50, 100) == progress(50, 0, low_is_bad=True) == 0.5


def test_as_it_looks() -> None:
    """Ends, ticks in what is empty, notches in what is filled, and the same in ASCII."""
    bounds = (Bound(80, Severity.WARNING), Bound(90, Severity.CRITICAL))
    assert text(meter(62, 12, bounds)) == "▕██████▏ ▏▏▏"
    assert text(meter(95, 12, bounds)) == "▕███████▉▉▌▏"
    assert drawn(text(meter(62, 12, bounds)), Symbols.ASCII) == "|######| |||"
    assert drawn(text(meter(85, 12, bounds)), Symbols.ASCII) == "|#######+=||"
    assert text(meter(None, 12, bounds)) == "▕╌╌╌╌╌╌╌╌╌╌▏"
    assert meter(62, 12, bounds, tone=Tone.STALE)[1].tone is Tone.STALE
