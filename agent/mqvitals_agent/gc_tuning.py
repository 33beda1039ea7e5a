"""Garbage collection that does not halt a program in the midst of its work: the screens, the agent's event loop.

What lasts (modules, rules, style sheets, widgets, the latest values) is some hundred thousand objects. A full collection walks
all of them: that halts the screens for 30 to 40 ms and an agent that watches 10,000 queues for more than 150, and every poll makes
enough new objects to start one soon. So what exists once work has begun is frozen, and later objects are collected in larger, rarer
portions: items, lines, readings and messages hold no cycles and are freed at once without the collector.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (50_000, 20, 20)
"""Allocations until the youngest are collected (Python's own: 700), and collections until the older ones are."""


def freeze_long_lived() -> None:
    """Collect once, and never look again at what lasts. Call it when all that lasts is there: it halts once more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Within, the collector comes rarely from the start; afterwards it works as it did before, on all there is.

    An agent's first cycle makes all that lasts: with Python's own thresholds every few thousand objects of it are walked again.
    """
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
