"""The slots of QEST, one a structure of the coupling facility, of which most are empty."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from mqvitals_agent.smf.layout.field import Cell, Shape
from mqvitals_agent.smf.section import Section

_UNUSED = b"\0\x40"
"""Zeros and blanks."""


@lru_cache(8)
def slots(shape: Shape) -> tuple[tuple[Cell, ...], ...]:
    """The cells of each slot; the name is the first of them."""
    cells, found, first = shape.cells, [], 0
    for index in range(1, len(cells) + 1):
        if index == len(cells) or cells[index].element != cells[first].element:
            found.append(cells[first:index])
            first = index
    return tuple(found)


def used(section: Section) -> Iterator[int]:
    """The number of each slot that is one of a structure: its name is there."""
    data, at = section.record.data, section.offset
    found = slots(section.shape)
    if not found:
        return
    names = [cells[0] for cells in found]
    begin, end = at + names[0].offset, at + names[-1].offset + 1
    for index, first in enumerate(data[begin : end : names[0].field.step]):
        if first:
            place = at + names[index].offset
            if data[place : place + names[index].field.length].strip(_UNUSED):
                yield index
