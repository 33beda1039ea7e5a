"""The collector of garbage cycles, kept from halting the screen while somebody looks at it.

What lasts (modules, rules, style sheets, widgets) is some hundred thousand objects. A full collection walks all of them,
which halts the program for 30 to 40 ms, and every poll brings enough new objects to set one off soon. So what is there
after the first frame is taken out of the collector's sight, and what comes later is collected in larger, rarer portions:
items and lines hold no cycles and are freed at once without it.
"""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 20, 20)
"""Allocations until the youngest are collected (Python's own: 700), and collections until the older ones are."""


def out_of_the_way() -> None:
    """Collect once, and never look again at what lasts. Call it when the program has started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
