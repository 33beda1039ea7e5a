"""A share drawn as a meter, with the values at which rules fire as ticks: ``▕██████▌ ▏ ▏``.

Its colour goes from calm to the tone of the worst value that is reached. Without colours its length and the ticks say
the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from mqvitals_agent.text.severity import health_of
from mqvitals_agent.text.styled import Span, Tone, tone_of
from mqvitals_rules.lifecycle.alert import Severity

LEAST_WIDTH: Final = 4
"""Cells of the smallest meter, its ends included; in less room nothing is drawn."""

_FULL, _NOTCHED, _TICK, _ABSENT = "█", "▉", "▏", "╌"
_PARTS = "▏▎▍▌▋▊▉"
_ENDS = ("▕", "▏")
_EIGHTHS = 8

METER_GLYPHS: Final = frozenset((_FULL, _ABSENT, *_PARTS, *_ENDS))
"""What a meter is drawn with, beside blanks."""

_RISING_FROM, _NEAR_FROM = 0.5, 0.8
"""The share of the way to the first bound from which a meter is no longer calm, and is close to it."""


class Bound(NamedTuple):
    """A value, per cent, from which a rule fires, and how severe that is."""

    value: float
    severity: Severity


class Fill(NamedTuple):
    """What a meter is to show: a share, per cent (None: absent), its bounds, and a ``tone`` instead of that of its value."""

    share: float | None
    bounds: tuple[Bound, ...] = ()
    low_is_bad: bool = False
    tone: Tone | None = None

    def spans(self, width: int) -> tuple[Span, ...]:
        """It as ``meter`` draws it."""
        return meter(self.share, width, self.bounds, low_is_bad=self.low_is_bad, tone=self.tone)


def progress(share: float, bound: float, *, low_is_bad: bool = False) -> float:
    """How far a share (per cent) is on its way to a bound: 0 at the harmless end, 1 at the bound, more beyond it."""
    if low_is_bad:
        return (100 - share) / (100 - bound) if bound < 100 else 1.0
    return share / bound if bound > 0 else 0.0


def meter_tone(share: float, bounds: Iterable[Bound], *, low_is_bad: bool = False) -> Tone:
    """The tone of a share, per cent: that of the worst bound that is reached, else how close the next one is.

    Without bounds no value is bad, and the meter is calm.
    """
    bounds = list(bounds)
    reached = [each.severity for each in bounds if (share <= each.value if low_is_bad else share >= each.value)]
    if reached:
        return tone_of(health_of(max(reached)))
    way = max((progress(share, each.value, low_is_bad=low_is_bad) for each in bounds), default=0.0)
    return Tone.NEAR if way >= _NEAR_FROM else Tone.RISING if way >= _RISING_FROM else Tone.CALM


def meter(
    share: float | None,
    width: int,
    bounds: Sequence[Bound] = (),
    *,
    low_is_bad: bool = False,
    tone: Tone | None = None,
) -> tuple[Span, ...]:
    """A share, per cent, in exactly ``width`` cells, its ends included; None is drawn as absent.

    A share beyond 0 to 100 is drawn as the nearest end. It looks empty only at 0 and full only at 100. ``bounds`` are
    marked by ticks. ``tone`` takes the place of the tone of its value, such as that of a stale one.
    """
    if width < LEAST_WIDTH:
        return (Span(" " * max(width, 0)),)
    begin, end = _ENDS
    inner = width - 2
    if share is None or math.isnan(share):
        return (Span(begin, Tone.FAINT), Span(_ABSENT * inner, Tone.ABSENT), Span(end, Tone.FAINT))
    share = min(max(share, 0.0), 100.0)
    ticks = {round(min(max(each.value, 0.0), 100.0) * inner / 100) for each in bounds} - {0, inner}
    filled, empty = _body(share, inner, ticks)
    shown = meter_tone(share, bounds, low_is_bad=low_is_bad) if tone is None else tone
    return (Span(begin, Tone.FAINT), Span(filled, shown), Span(f"{empty}{end}", Tone.FAINT))


def _steps(share: float, steps: int) -> int:
    """How many of ``steps`` a share fills: none only at 0, all only at 100."""
    return min(max(math.floor(share * steps / 100), 1 if share > 0 else 0), steps if share >= 100 else steps - 1)


def _body(share: float, inner: int, ticks: Iterable[int]) -> tuple[str, str]:
    """The filled and the empty cells; a tick within what is filled is a notch at the right edge of its cell."""
    full, part = divmod(_steps(share, inner * _EIGHTHS), _EIGHTHS)
    body = [_FULL] * full
    if part:
        body.append(_PARTS[part - 1])
    rest = [" "] * (inner - len(body))
    for tick in ticks:
        if tick < len(body):
            body[tick - 1] = _NOTCHED
        else:
            rest[tick - len(body)] = _TICK
    return "".join(body), "".join(rest)
