"""Sections of RMF's records: processors (70-1), cryptographic cards (70-2), workload activity (72-3), coupling facilities
(74-4).

Sources: z/OS MVS System Management Facilities (SMF), record types 70, 72 and 74: the tables of these sections. Each offset
of R723WMS and R723SCS is the same in the OpenAPI document of IBM's z/OS Data Gatherer (structure version 798) and in a
published C header of SMF 72; IBM's table (z/OS 2.1) has those of R723WMS up to R723MCPG as well. In R744SREQ the
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

CLASS: Final = SectionLayout(
    "R723WMS",
    (
        Field(0, "u8", "mscf", "P"),
        Field(52, "u32", "mcpu", "P"),
        Field(64, "u32", "msrb", "P"),
        Field(72, "u32", "mtv", "D"),
        Field(120, "ebc", "mcnm", "ID", size=8),
        Field(172, "u32", "madj", "P"),
        Field(240, "u32", "nffi", "P"),
        Field(244, "u32", "nffs", "P"),
    ),
)
"""A service or report class: flags, coefficients of CPU and SRB service (times 10,000), samples taken, name, adjustment of
the processor rate, speed of zAAPs and zIIPs in 256ths of a general processor's. SMF72WMS.
"""

PERIOD: Final = SectionLayout(
    "R723SCS",
    (
        Field(7, "u8", "cadf", "P"),
        Field(32, "hex", "ccpu", "D", size=8),
        Field(56, "hex", "csrb", "D", size=8),
        Field(152, "hex", "crct", "D", size=8),
        Field(160, "hex", "ciit", "D", size=8),
        Field(168, "hex", "chst", "D", size=8),
        Field(232, "u32", "ccde", "D"),
        Field(288, "u32", "csac", "D"),
        Field(388, "hex", "ctsa", "D", size=8),
        Field(544, "hex", "csup", "D", size=8),
        Field(560, "hex", "cifa", "D", size=8),
    ),
)
"""A period of the class: what is valid, service units of CPU and SRB, times (us) of region control, I/O interrupts and
hiperspaces, samples delayed for a processor, address spaces by sample, all samples, units on zIIPs and zAAPs. Units, times
and R723CTSA are long floating point and need not be whole.
"""

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
    (72, 3): {0: CLASS, 3: PERIOD},
    (74, 4): {0: FACILITY, 2: STORAGE, 4: REQUESTS, 5: ENGINE},
}
"""By type and subtype: the number of the triplet behind that of the product section, and its layout."""

LEAST: Final[dict[str, int]] = {
    "SMF70CPU": 40,
    "R702TYP3": 48,
    "R723WMS": 176,
    "R723SCS": 176,
    "R744FLCF": 16,
    "R744GSRG": 16,
    "R744SREQ": 132,
    "R744PROC": 12,
}
"""The bytes that a section has at least: all that is read but R7023SCOPE and what R723WMS and R723SCS have behind the
processor time, which newer releases added.
"""
