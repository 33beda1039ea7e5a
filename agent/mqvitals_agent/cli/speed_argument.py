"""How fast a recording is played, for every command that plays one."""

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
