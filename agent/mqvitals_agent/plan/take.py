"""How an input of a formula comes out of metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Told(NamedTuple):
    """What is known of a metric: the number, or text, as of ``ts`` (ms UTC; None: declared, not told), ``silent`` why nothing came since.

    Of a counter, the increase in some time; of ``METRIC/s``, that a second.
    """

    value: float | str
    ts: int | None
    silent: str = ""


@dataclass(frozen=True, slots=True)
class Take:
    """``input`` is what ``of`` makes of the metrics, in their order; None: it says nothing then. ``words`` say so to a person.

    A metric is one of the object, ``queue_manager.processors`` one of the single object of that kind of the same owner,
    ``queues.puts`` the sum over the queues that lie on it,
    ``msgs/s`` the increase of a counter a second, ``msgs:s`` the seconds in which it was.
    """

    input: str
    words: str
    metrics: tuple[str, ...]
    of: Callable[..., float | str | None]


def plain(given: str, metric: str, factor: float = 1) -> Take:
    """The input is the metric, or so many times it."""
    return Take(given, metric if factor == 1 else f"{metric} x {factor:,g}", (metric,), lambda value: value * factor)


def quotient(given: str, above: str, below: str, factor: float = 1) -> Take:
    """The input is one metric by another, nothing when that is zero."""
    return Take(given, f"{above} / {below}", (above, below), lambda a, b: a / b * factor if b else None)
