"""When a run's clock begins."""

from __future__ import annotations

import pytest

from mqvitals_agent.service.monitored_group import begin_time

NOW = 1_763_640_000_007


@pytest.mark.parametrize(
    ("speed", "for_ms", "last", "expected"),
    [
        (1, None, None, NOW),
        (1, 600_000, None, NOW),
        (1, None, NOW - 1, NOW),
        (1, None, NOW + 1, NOW),
        (60, 600_000, None, 1_763_639_400_000),
        (60, 600_000, 1_763_639_400_000, 1_763_639_430_000),
        (60, 600_000, NOW, NOW),
        (60, None, None, 1_763_553_600_000),
        (60, None, NOW - 3_600_000, 1_763_636_430_000),
        (None, 600_000, None, 1_763_639_400_000),
        (None, 600_000, 1_763_639_970_000, 1_763_640_000_000),
        (None, None, None, 1_763_553_600_000),
        (None, None, NOW - 200_000_000, 1_763_553_600_000),
        (None, None, NOW + 1, NOW),
        (0.5, 600_000, None, 1_763_640_000_000),
    ],
)
def test_beginning(speed: float | None, for_ms: int | None, last: int | None, expected: int) -> None:
    """So that it ends about now, on the grid, never before what the store holds and never after now."""
    assert begin_time(NOW, speed, for_ms, last, 30_000) == expected
