"""QLST: the lock manager (115/2)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QLST = Layout("QLST", (
    Field(8, "u32", "getl", "D", "Get_Lock_Requests"),
    Field(12, "u32", "hldl", "D", "Get_Lock_Held"),
    Field(16, "u32", "rell", "D", "Release_Lock"),
))
# fmt: on
