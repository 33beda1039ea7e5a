"""QSGM: storage that a part of the queue manager got directly (115/6)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QSGM = Layout("QSGM", (
    Field(8, "u32", "lvtot", "P", "Length_Total"),
    Field(12, "u32", "lvnew", "P", "New_Records"),
    Field(16, "u32", "lvmax", "P", "Length_Max"),
    Field(20, "u32", "lvmin", "P", "Length_Min"),
    Field(24, "u32", "count", "P", "Requests"),
    Field(28, "u8", "scls", "P", "Storage_Class"),
    Field(32, "ebc", "csect", "ID", "CSECT", size=8),
    Field(40, "u32", "offset", "ID", "CSECT_Offset"),
))
# fmt: on
