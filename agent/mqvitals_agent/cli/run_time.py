"""The time that a run of the agent lives in."""

from __future__ import annotations

DAY_MS = 86_400_000
"""A run that is faster than life and has no end begins so long ago."""


def beginning(now: int, speed: float | None, for_ms: int | None, last: int | None, interval_ms: int) -> int:
    """The moment at which a run's clock begins, never after ``now``. Moments are ms since 1970 UTC, lengths ms.

    ``speed`` is how many times as fast as life it goes; None: without waiting. A run in life's own time begins now. One that goes
    faster, for so long, begins so far back that it ends about now: what it stored is then fresh, and nothing of it lies in the future.
    Without an end it begins a day ago. Other than life it begins on the interval's grid, where cycles begin. A store that holds
    snapshots goes on after the ``last`` of them: time never runs back in it.
    """
    begin = now
    if speed is None:
        begin -= DAY_MS if for_ms is None else for_ms
    elif speed > 1:
        begin -= DAY_MS if for_ms is None else round(for_ms * (1 - 1 / speed))
    if speed != 1:
        begin -= begin % interval_ms
    if last is not None and begin <= last:
        begin = min((last // interval_ms + 1) * interval_ms, now)
    return begin
