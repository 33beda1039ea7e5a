"""The functions of the language, what each accepts, and the windows they look through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


Part = tuple[Context, str, str]
"""A metric of a limit: whose, its kind and its name."""

Look = Callable[..., float | None]
"""(context, kind, metric, window_ms) -> a number; None: unknown. ``eta``: (..., limit, what of the limit has a past)."""


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A function over a window: of what, and how it is worked out.

    ``on_switches``: it can be asked of a state with the two values 0 and 1 too. ``timeless``: types of which it takes no window.
    """

    name: str
    looks: Mapping[MetricType, Look]
    usage: str
    takes_limit: bool = False
    on_switches: bool = False
    timeless: frozenset[MetricType] = frozenset()

    def look(self, type_: MetricType) -> Look:
        """The way to work it out for a metric of a type."""
        return self.looks.get(type_) or self.looks[MetricType.GAUGE]


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


def _median(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    since = context.now - window_ms
    return windows.median(context.points(kind, metric, since), since, window_ms)


def _eta(
    context: Context, kind: str, metric: str, window_ms: int, limit: float, parts: Sequence[Part] = ()
) -> float | None:
    since = context.now - window_ms
    for other, other_kind, other_metric in parts:
        since = max(since, windows.last_change(other.points(other_kind, other_metric, since)) - 1)
    return windows.eta(context.points(kind, metric, since), limit, context.now)


def _usual(context: Context, kind: str, metric: str, _: int) -> float | None:
    return context.baseline(kind, metric, counter=False)


def _usual_rate(context: Context, kind: str, metric: str, _: int) -> float | None:
    return context.baseline(kind, metric, counter=True)


def _share_now(context: Context, kind: str, metric: str, _: int) -> float | None:
    own = context.value(kind, metric)
    return _share(own, context.total(kind, metric, 0)) if isinstance(own, int | float) else None


def _share_of_increase(context: Context, kind: str, metric: str, window_ms: int) -> float | None:
    own = _delta(context, kind, metric, window_ms)
    return None if own is None else _share(own, context.total(kind, metric, window_ms))


def _share(own: float, total: float | None) -> float | None:
    part = own / total if total is not None and total > 0 else None
    return part if part == part else None


def rising(context: Context, kind: str, metric: str, rises: int) -> bool | None:
    """Whether the last ``rises`` polls were each above the one before."""
    return windows.rising(context.last(kind, metric, rises + 1), rises)


_GAUGE, _COUNTER = MetricType.GAUGE, MetricType.COUNTER

WINDOW_FUNCTIONS: Mapping[str, WindowFunction] = {
    function.name: function
    for function in (
        WindowFunction("rate", {_COUNTER: _rate}, 'rate(counter, "5m")'),
        WindowFunction("delta", {_COUNTER: _delta}, 'delta(counter, "5m")'),
        WindowFunction("avg", {_GAUGE: _average}, 'avg(gauge, "5m")'),
        WindowFunction("median", {_GAUGE: _median}, 'median(gauge, "1h")'),
        WindowFunction("min", {_GAUGE: _least}, 'min(gauge, "5m")', on_switches=True),
        WindowFunction("max", {_GAUGE: _greatest}, 'max(gauge, "5m")', on_switches=True),
        WindowFunction("eta", {_GAUGE: _eta}, 'eta(gauge, limit, "10m")', takes_limit=True),
        WindowFunction(
            "baseline",
            {_GAUGE: _usual, _COUNTER: _usual_rate},
            "baseline(gauge) or baseline(counter)",
            timeless=frozenset((_GAUGE, _COUNTER)),
        ),
        WindowFunction(
            "share",
            {_GAUGE: _share_now, _COUNTER: _share_of_increase},
            'share(gauge) or share(counter, "5m")',
            timeless=frozenset((_GAUGE,)),
        ),
    )
}

EXTREMES: Mapping[str, Callable[..., float]] = {"min": min, "max": max}
"""Functions that are also about two or more numbers."""

MEMBER_FUNCTIONS: Mapping[str, str] = {
    "any": "any(kind, condition)",
    "count": "count(kind, condition)",
    "sum": "sum(kind, number)",
    "most": "most(kind, number)",
    "least": "least(kind, number)",
}
"""Functions of members, and how each is written."""

CONDITION_FUNCTIONS = ("present", "rising", "any", "seen", "startswith", "endswith")
"""Functions that are true or false, not a number."""

FUNCTIONS = (
    *WINDOW_FUNCTIONS,
    *MEMBER_FUNCTIONS,
    "seen",
    "elapsed",
    "rising",
    "startswith",
    "endswith",
    "abs",
    "present",
)
"""Every name that can be called."""
