"""QCCT: the channel initiator (115/231)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QCCT = Layout("QCCT", (
    Field(8, "ebc", "jobn", "ID", "Job_Name", size=8),
    Field(16, "ebc", "qsgn", "ID", "QSG_Name", size=4),
    Field(20, "u32", "nocc", "P", "Current_Chl_High_Water"),
    Field(24, "u32", "mxcc", "C", "Current_Chl_Max"),
    Field(28, "u32", "noac", "P", "Active_Chl_High_Water"),
    Field(32, "u32", "mxac", "C", "Active_Chl_Max"),
    Field(36, "u32", "mxtp", "C", "Max_TCP_Chl"),
    Field(40, "u32", "mxlu", "C", "Max_LU62_Chl"),
    Field(44, "u32", "stus", "P", "Storage_Usage_31"),
    Field(48, "u64", "stab", "P", "Storage_Usage_64"),
    Field(56, "u64", "slim", "C", "Storage_Limit_64"),
))
# fmt: on
