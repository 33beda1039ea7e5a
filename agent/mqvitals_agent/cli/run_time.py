"""The time that a run of the agent lives in."""

from __future__ import annotations


def beginning(now: int, speed: float, for_ms: int | None, last: int | None, interval_ms: int) -> int:
    """The moment at which a run's clock begins. Moments are ms since 1970 UTC, lengths ms.

    A run in life's own time begins ``now``. One that goes faster, for so long, begins so far back that it ends about
    now: what it stored is then fresh, and nothing of it lies in the future. Other than life it begins on the interval's
    grid, where cycles begin. A store that holds snapshots goes on after the ``last`` of them: time never runs back in it.
    """
    begin = now
    if speed != 1:
        if for_ms is not None and speed > 1:
            begin -= round(for_ms * (1 - 1 / speed))
        begin -= begin % interval_ms
    if last is not None and begin <= last:
        begin = (last // interval_ms + 1) * interval_ms
    return begin
