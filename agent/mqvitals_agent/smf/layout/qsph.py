"""QSPH: a storage pool of the queue manager (115/5)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QSPH = Layout("QSPH", (
    Field(8, "u32", "stor", "P", "Current_Size"),
    Field(12, "u32", "ostor", "P", "Previous_Size"),
    Field(16, "u32", "xstor", "P", "Expansion_Size"),
    Field(20, "u16", "bsize", "P", "Record_Size"),
    Field(22, "u16", "bcnt", "P", "Records_per_Segment"),
    Field(24, "u32", "count", "P", "PHB_Count"),
    Field(28, "ebc", "dspnm", "ID", "Dataspace_Name", size=8),
    Field(36, "ebc", "name", "ID", "Name", size=48),
    Field(84, "u8", "flags", "P"),
))
# fmt: on
