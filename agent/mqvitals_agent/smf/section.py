"""The sections of a record: the layout of each triplet, the instances in their order, and the slots of QEST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from mqvitals_agent.smf.layout.accounting import QMAC, WQST, WTAS, WTID
from mqvitals_agent.smf.layout.channel_initiator import QCCT, QCST, QCTADP, QCTDNS, QCTDSP, QCTSSL
from mqvitals_agent.smf.layout.field import FieldElement, SectionLayout, SectionShape, Value
from mqvitals_agent.smf.layout.log_and_storage import QJST, QSGM, QSPH, QSRS, QSST
from mqvitals_agent.smf.layout.statistics import Q5ST, QESD, QEST, QIS1, QIST, QLST, QMST, QPST, QQST, QTST
from mqvitals_agent.smf.record import Record, Triplet

SECTIONS: Final[Mapping[tuple[int, int], Mapping[int, SectionLayout]]] = {
    (115, 1): {9: QSST, 11: QJST},
    (115, 2): {1: QMST, 2: QIST, 3: QPST, 4: QLST, 5: Q5ST, 6: QEST, 7: QTST, 8: QESD},
    (115, 5): {1: QSPH},
    (115, 6): {1: QSGM},
    (115, 7): {1: QSRS},
    (115, 201): {1: QIS1},
    (115, 215): {1: QPST},
    (115, 216): {1: QQST},
    (115, 231): {1: QCCT, 2: QCTDSP, 3: QCTADP, 4: QCTSSL, 5: QCTDNS},
    (116, 0): {2: QMAC},
    (116, 1): {1: WTID, 2: WTAS, 3: WQST},
    (116, 2): {1: WTID, 2: WQST},
    (116, 10): {1: QCST},
}
"""By type and subtype: the number of the triplet (0 is the standard section) and its layout. Others are for IBM's
use.
"""

LAYOUTS: Final[Mapping[str, SectionLayout]] = {
    layout.name: layout for triplets in SECTIONS.values() for layout in triplets.values()
}
"""All layouts by name."""

_DNS_LENGTH: Final = 48
"""Old records hold arbitrary bytes of other lengths where no name was resolved."""


class Section(NamedTuple):
    """One instance of a section: ``number`` counts from 0 within its triplet, ``offset`` is its place in the record."""

    record: Record
    layout: SectionLayout
    shape: SectionShape
    number: int
    offset: int

    def fields(self) -> dict[str, Value]:
        """The values by name."""
        return self.shape.fields(self.record.data, self.offset)


def tables(record: Record) -> Iterator[tuple[SectionLayout, Triplet]]:
    """The known layouts of a record, in the order of its triplets, and the place of their sections."""
    for number, layout in SECTIONS.get((record.type, record.subtype), {}).items():
        if number >= len(record.triplets):
            continue
        triplet = record.triplets[number]
        if triplet.instances and (layout is not QCTDNS or triplet.length == _DNS_LENGTH):
            yield layout, triplet


def sections(record: Record) -> Iterator[Section]:
    """The sections of a record with known layouts, in the order of its triplets."""
    for layout, (offset, length, instances) in tables(record):
        shape = layout.shape(length)
        for index in range(instances):
            yield Section(record, layout, shape, index, offset + index * length)


_UNUSED = b"\0\x40"
"""Zeros and blanks."""


@lru_cache(8)
def slots(shape: SectionShape) -> tuple[tuple[FieldElement, ...], ...]:
    """The elements of each slot; the name is the first of them."""
    elements, found, first = shape.elements, [], 0
    for index in range(1, len(elements) + 1):
        if index == len(elements) or elements[index].number != elements[first].number:
            found.append(elements[first:index])
            first = index
    return tuple(found)


def used_slots(section: Section) -> Iterator[int]:
    """The number of each slot that holds a structure, which is one with a name."""
    data, at = section.record.data, section.offset
    found = slots(section.shape)
    if not found:
        return
    names = [elements[0] for elements in found]
    begin, end = at + names[0].offset, at + names[-1].offset + 1
    for index, first in enumerate(data[begin : end : names[0].field.step]):
        if first:
            place = at + names[index].offset
            if data[place : place + names[index].field.length].strip(_UNUSED):
                yield index
