"""The functions of the language, what each accepts, and the windows they look through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_rules.expression import windows
from mqvitals_rules.expression.context import Context
from mqvitals_rules.vocabulary.metric import MetricType

USUAL_WINDOW = "5m"
"""The window of a function that is given none."""

SHORTEST_WINDOW_MS = 1000
LONGEST_WINDOW_MS = 366 * 86_400_000
MOST_RISES = 100


class WindowUse(NamedTuple):
    """A look into the past, so that the history it needs is kept: ``window_ms`` back from now, or the newest ``polls`` polls.

    The other of the two is 0.
    """

    function: str
    kind: str
    metric: str
    window_ms: int
    polls: int


Look = Callable[..., float | None]
"""(context, kind, metric, window_ms[, limit]) -> a number; None: unknown."""


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A function over a window. ``on_switches``: it can be asked of a state with the two values 0 and 1 too."""

    name: str
    type: MetricType
    look: Look
    usage: str
    takes_limit: bool = False
    on_switches: bool = False


def _rate(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    return windows.rate(context.points(kind, metric, context.now - window_ms))


def _delta(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    return windows.delta(context.points(kind, metric, context.now - window_ms))


def _average(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    since = context.now - window_ms
    return windows.average(context.points(kind, metric, since), since, window_ms)


def _least(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    since = context.now - window_ms
    return windows.least(context.points(kind, metric, since), since, window_ms)


def _greatest(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    since = context.now - window_ms
    return windows.greatest(context.points(kind, metric, since), since, window_ms)


def _eta(context: Context, kind: str, metric: str, window_ms: int, limit: float) -> float | None:
    return windows.eta(context.points(kind, metric, context.now - window_ms), limit, context.now)


def rising(context: Context, kind: str, metric: str, rises: int) -> bool | None:
    """Whether the last ``rises`` polls were each above the one before."""
    return windows.rising(context.last(kind, metric, rises + 1), rises)


WINDOW_FUNCTIONS: Mapping[str, WindowFunction] = {
    function.name: function
    for function in (
        WindowFunction("rate", MetricType.COUNTER, _rate, 'rate(counter, "5m")'),
        WindowFunction("delta", MetricType.COUNTER, _delta, 'delta(counter, "5m")'),
        WindowFunction("avg", MetricType.GAUGE, _average, 'avg(gauge, "5m")'),
        WindowFunction("min", MetricType.GAUGE, _least, 'min(gauge, "5m")', on_switches=True),
        WindowFunction("max", MetricType.GAUGE, _greatest, 'max(gauge, "5m")', on_switches=True),
        WindowFunction("eta", MetricType.GAUGE, _eta, 'eta(gauge, limit, "10m")', takes_limit=True),
    )
}

EXTREMES: Mapping[str, Callable[..., float]] = {"min": min, "max": max}
"""Functions that are also about two or more numbers."""

FUNCTIONS = (*WINDOW_FUNCTIONS, "rising", "abs", "present")
"""Every name that can be called."""
