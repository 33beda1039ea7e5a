"""How fast a recording is played or a simulated group lives."""

from __future__ import annotations

import argparse

FASTEST = 1_000_000


def speed(text: str) -> float | None:
    """Times as fast as life; None for ``max``, without waiting. Raises ArgumentTypeError."""
    if text == "max":
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= FASTEST:
        raise argparse.ArgumentTypeError(f"the speed is a number above 0 or max, not {text!r}; at most {FASTEST}")
    return number


def speed_word(speed: float | None) -> str:
    """The argument that gives this speed."""
    return "max" if speed is None else f"{speed:.17g}"
