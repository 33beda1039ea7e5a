"""The sections of a record: which table each of its triplets goes by, and the instances one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from mqvitals_agent.smf.layout.field import Layout, Shape, Value
from mqvitals_agent.smf.layout.q5st import Q5ST
from mqvitals_agent.smf.layout.qcct import QCCT
from mqvitals_agent.smf.layout.qcst import QCST
from mqvitals_agent.smf.layout.qctadp import QCTADP
from mqvitals_agent.smf.layout.qctdns import QCTDNS
from mqvitals_agent.smf.layout.qctdsp import QCTDSP
from mqvitals_agent.smf.layout.qctssl import QCTSSL
from mqvitals_agent.smf.layout.qesd import QESD
from mqvitals_agent.smf.layout.qest import QEST
from mqvitals_agent.smf.layout.qis1 import QIS1
from mqvitals_agent.smf.layout.qist import QIST
from mqvitals_agent.smf.layout.qjst import QJST
from mqvitals_agent.smf.layout.qlst import QLST
from mqvitals_agent.smf.layout.qmac import QMAC
from mqvitals_agent.smf.layout.qmst import QMST
from mqvitals_agent.smf.layout.qpst import QPST
from mqvitals_agent.smf.layout.qqst import QQST
from mqvitals_agent.smf.layout.qsgm import QSGM
from mqvitals_agent.smf.layout.qsph import QSPH
from mqvitals_agent.smf.layout.qsrs import QSRS
from mqvitals_agent.smf.layout.qsst import QSST
from mqvitals_agent.smf.layout.qtst import QTST
from mqvitals_agent.smf.layout.wqst import WQST
from mqvitals_agent.smf.layout.wtas import WTAS
from mqvitals_agent.smf.layout.wtid import WTID
from mqvitals_agent.smf.record import Record, Triplet

SECTIONS: Final[Mapping[tuple[int, int], Mapping[int, Layout]]] = {
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
"""By type and subtype: the number of the triplet (the standard section's is 0) and its table. Others are IBM's own."""

LAYOUTS: Final[Mapping[str, Layout]] = {
    layout.name: layout for triplets in SECTIONS.values() for layout in triplets.values()
}
"""All tables by name."""

_DNS_LENGTH: Final = 48
"""Old records hold garbage of other lengths where no name was resolved."""


class Section(NamedTuple):
    """One instance of a section: ``number`` counts from 0 within its triplet, ``offset`` is where it lies in the record."""

    record: Record
    layout: Layout
    shape: Shape
    number: int
    offset: int

    def fields(self) -> dict[str, Value]:
        """All its values by name."""
        return self.shape.fields(self.record.data, self.offset)


def tables(record: Record) -> Iterator[tuple[Layout, Triplet]]:
    """The tables of a record that we know, in the order of its triplets, and where their sections lie."""
    for number, layout in SECTIONS.get((record.type, record.subtype), {}).items():
        if number >= len(record.triplets):
            continue
        triplet = record.triplets[number]
        if triplet.instances and (layout is not QCTDNS or triplet.length == _DNS_LENGTH):
            yield layout, triplet


def sections(record: Record) -> Iterator[Section]:
    """The sections of a record in the order of its triplets, those of tables we know."""
    for layout, (offset, length, instances) in tables(record):
        shape = _shape(layout, length)
        for index in range(instances):
            yield Section(record, layout, shape, index, offset + index * length)


@lru_cache(256)  # a damaged file may hold any length
def _shape(layout: Layout, length: int) -> Shape:
    return layout.shape(length)
