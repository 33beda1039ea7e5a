"""Sections of RMF's records: processors (70-1), cryptographic cards (70-2), coupling facilities (74-4).

Sources: z/OS MVS System Management Facilities (SMF), record types 70 and 74: the tables of these sections. In R744SREQ the
offsets from R744SARC on follow from IBM's order of the fields (IBM SMF Explorer) and the lengths that fields of their sort
have elsewhere in the record: counts are long floating point, times and their squares 8 bytes. Counts that are not whole show
where that is wrong, and their record is refused.
"""

from __future__ import annotations

from typing import Final

from mqvitals_agent.smf.layout.field import Field, SectionLayout

CPU: Final = SectionLayout(
    "SMF70CPU",
    (
        Field(0, "u64", "wat", "D"),
        Field(8, "u16", "cid", "ID"),
        Field(10, "u8", "cnf", "P"),
        Field(15, "u8", "typ", "ID"),
        Field(32, "u64", "pat", "D"),
    ),
)
"""A processor: time in wait state and parked (TOD units), number, configuration, type."""

CARD: Final = SectionLayout(
    "R702TYP3",
    (
        Field(0, "u8", "ax", "ID"),
        Field(2, "u8", "msk", "P"),
        Field(8, "hex", "sf", "P", size=8),
        Field(16, "hex", "t0", "D", size=8),
        Field(24, "hfp", "c0", "D"),
        Field(48, "u8", "scope", "ID"),
    ),
)
"""A CCA coprocessor: number, what is valid, scale to seconds, time and number of its operations, whose they are (0: all)."""

FACILITY: Final = SectionLayout(
    "R744FLCF", (Field(0, "ebc", "fnam", "ID", size=8), Field(8, "ebc", "fsys", "ID", size=8))
)
"""The coupling facility that the record is about, and the system that wrote it."""

STORAGE: Final = SectionLayout("R744GSRG", (Field(8, "u32", "gtsd", "P"), Field(12, "u32", "gtsf", "P")))
"""Storage of the coupling facility, all and free, in blocks of 4 KB."""

REQUESTS: Final = SectionLayout(
    "R744SREQ",
    (
        Field(0, "ebc", "snam", "ID", size=16),
        Field(24, "u8", "styp", "ID"),
        Field(44, "hfp", "ssta", "D"),
        Field(52, "hfp", "strc", "D"),
        Field(68, "hfp", "sarc", "D"),
        Field(76, "u64", "satm", "D"),
        Field(92, "hfp", "ssrc", "D"),
        Field(100, "u64", "sstm", "D"),
        Field(116, "hfp", "sqrc", "D"),
        Field(124, "u64", "sqtm", "D"),
    ),
)
"""Requests of one system to a structure: changed to asynchronous, all, asynchronous, synchronous, delayed; times in us."""

ENGINE: Final = SectionLayout("R744PROC", (Field(4, "u32", "pbsy", "D"), Field(8, "u32", "pwai", "D")))
"""A processor of the coupling facility: time (us) at work and waiting for it."""

SECTIONS: Final[dict[tuple[int, int], dict[int, SectionLayout]]] = {
    (70, 1): {1: CPU},
    (70, 2): {0: CARD},
    (74, 4): {0: FACILITY, 2: STORAGE, 4: REQUESTS, 5: ENGINE},
}
"""By type and subtype: the number of the triplet behind that of the product section, and its layout."""

LEAST: Final[dict[str, int]] = {
    "SMF70CPU": 40,
    "R702TYP3": 48,
    "R744FLCF": 16,
    "R744GSRG": 16,
    "R744SREQ": 132,
    "R744PROC": 12,
}
"""The bytes that a section has at least: all that is read but R7023SCOPE, which newer releases added."""
