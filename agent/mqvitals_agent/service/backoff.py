"""How long to wait before the next attempt to connect."""

from __future__ import annotations

from collections.abc import Callable

SHORTEST_MS = 1_000
LONGEST_MS = 60_000
STABLE_MS = 60_000
"""A connection that lasted so long makes the next wait a short one again."""

Uniform = Callable[[float, float], float]
"""Something between two numbers at random, such as ``random.uniform``."""


REFUSED = frozenset({2035, 2063, 2217})
"""Not authorized, security error, connection not authorized: RACF revokes a user id after a few wrong passwords."""
REFUSED_MS = 300_000
LONGEST_REFUSED_MS = 3_600_000


def wait_ms(failures: int, uniform: Uniform, reason: int = 0, interval_ms: int = LONGEST_MS) -> float:
    """The wait after so many failures in a row (1 or more), the last of them for this reason.

    Usually anything up to 1 s, 2 s, 4 s ... and at most the polling interval, or 60 s where that is longer: who comes back is
    seen within an interval. All of it is chance, so that many agents do not come back to a queue manager at one moment. Where
    the connection was refused it is 5, 10, 20 ... 60 minutes: what a person must mend is not hammered at.
    """
    if reason in REFUSED:
        return min(REFUSED_MS << min(failures - 1, 16), LONGEST_REFUSED_MS)
    longest = min(max(interval_ms, SHORTEST_MS), LONGEST_MS)
    return uniform(0, min(SHORTEST_MS << min(failures - 1, 16), longest))
