"""How long to wait before the next attempt."""

from __future__ import annotations

from mqvitals_agent.store.notice_row import LONGEST_PAUSE_MS

FIRST_MS = 1_000
LONGEST_MS = LONGEST_PAUSE_MS

GIVEN_UP_MS = 86_400_000
"""For so long a notice that the receiver calls a bad one is tried again."""
GIVEN_UP_ATTEMPTS = GIVEN_UP_MS // LONGEST_MS
"""So often at least it is tried in that time: fewer attempts mean that only the clock says that the time is over."""


def pause_ms(failures: int, chance: float, retry_after_ms: int | None = None) -> int:
    """The pause after so many failures in a row (1 or more), ms.

    Full jitter: ``chance`` (0 to 1, random) of a span that doubles from one second to five minutes, at least one second, so
    that a receiver that comes back is not met by everybody at once. What the receiver asked for (``retry_after_ms``) is
    waited at least, up to five minutes.
    """
    span = min(FIRST_MS * 2 ** min(failures, 20), LONGEST_MS)
    pause = max(FIRST_MS, int(span * chance))
    return min(max(pause, retry_after_ms or 0), LONGEST_MS)
