"""Finding objects by a part of their names among tens of thousands, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from mqvitals_agent.text.figure import object_words
from mqvitals_rules.snapshot import ObjectName


class Known(NamedTuple):
    """An object, and in small letters its own name and all that is searched in: the whole name and its words."""

    short: str
    text: str
    name: ObjectName


def prepared(names: Iterable[ObjectName]) -> tuple[Known, ...]:
    """What ``found`` searches in; made once, so that a keystroke only compares."""
    return tuple(Known(name.name.casefold(), f"{name} {object_words(name)}".casefold(), name) for name in names)


def found(known: Sequence[Known], query: str, most: int) -> list[ObjectName]:
    """The objects in whose names every word of ``query`` occurs, at most so many.

    First those that are called so, then those whose own names begin so, then the shortest.
    """
    words = query.casefold().split()
    if not words:
        return []
    first, *others = words
    matching = [each for each in known if first in each.text]
    for word in others:
        matching = [each for each in matching if word in each.text]
    begins = tuple(words)

    def rank(each: Known) -> tuple[int, int, str]:
        likeness = 0 if each.short in words else 1 if each.short.startswith(begins) else 2
        return likeness, len(each.text), each.text

    return [each.name for each in nsmallest(most, matching, rank)]
