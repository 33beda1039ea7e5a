"""How long to wait before the next attempt to connect."""

from __future__ import annotations

from collections.abc import Callable

SHORTEST_MS = 1_000
LONGEST_MS = 60_000
STABLE_MS = 60_000
"""A connection that lasted so long makes the next wait a short one again."""

Uniform = Callable[[float, float], float]
"""Something between two numbers at random, such as ``random.uniform``."""


def wait_ms(failures: int, uniform: Uniform) -> float:
    """The wait after so many failures in a row (1 or more): anything up to 1 s, 2 s, 4 s ... 60 s.

    All of it is chance, so that many agents do not come back to a queue manager at one moment.
    """
    return uniform(0, min(SHORTEST_MS << min(failures - 1, 16), LONGEST_MS))
