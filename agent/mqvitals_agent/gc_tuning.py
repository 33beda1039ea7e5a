"""Garbage collection that does not interrupt the screens and the agent's event loop.

Modules, rules, style sheets, widgets and the latest values are some hundred thousand objects. A full collection walks
all of them: it interrupts the screens for 30 to 40 ms and an agent with 10,000 queues for more than 150, and each poll
makes enough new objects to start one soon. So objects that exist once work has begun are frozen, and later ones are
collected less often: items, lines, readings and messages hold no cycles and are freed without the collector.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (150_000, 20, 20)
"""Allocations, less what was freed, until the youngest are collected (Python's own: 700), and collections until the older ones
are. A list of 10,000 queues is some 70,000 objects, which the next one replaces: more than that, so that no step through time
walks them.
"""

MANY_THRESHOLDS = (200_000, 20, 20)
"""While what lasts is made, and of an agent: in a cycle of 10,000 queues nearly 100,000 objects exist at once, and are
freed at its end."""


def freeze_long_lived(thresholds: tuple[int, int, int] = THRESHOLDS) -> None:
    """Collect once, freeze all objects, and collect by ``thresholds`` from then on.

    Call it when all that lasts exists: it takes one full collection.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*thresholds)


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Within, collections are rare from the start; afterwards they are as before, and nothing is frozen.

    Modules and rules, the first frame and the agent's first cycle make what lasts, which Python's own thresholds would walk
    every few thousand objects: a tenth of the time that importing takes.
    """
    before = gc.get_threshold()
    gc.set_threshold(*MANY_THRESHOLDS)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
