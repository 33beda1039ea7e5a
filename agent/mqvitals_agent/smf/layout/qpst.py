"""QPST: the buffer manager, one section a buffer pool (115/215; 115/2 of old releases)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QPST = Layout("QPST", (
    Field(8, "u32", "pool", "ID", "BufferPool"),
    Field(12, "u32", "nbuf", "P", "Buffer_Count"),
    Field(16, "u32", "cbsl", "LW", "Lowest_Stealable"),
    Field(20, "u32", "cbs", "P", "Current_Stealable"),
    Field(24, "u32", "getp", "D", "Getp_Old_Requests"),
    Field(28, "u32", "getn", "D", "Getp_New_Requests"),
    Field(32, "u32", "rio", "D", "DASD_Read"),
    Field(36, "u32", "stw", "D", "Set_Write_Pages"),
    Field(40, "u32", "tpw", "D", "Pages_Written"),
    Field(44, "u32", "wio", "D", "DASD_Write"),
    Field(48, "u32", "imw", "D", "Sync_Writes"),
    Field(52, "u32", "dwt", "D", "Defer_Write_THold_Reached"),
    Field(56, "u32", "dmc", "D", "Sync_Write_THold_Reached"),
    Field(60, "u32", "stl", "D", "Buffer_Steals"),
    Field(64, "u32", "stla", "D", "Buffer_Steals_Hash_Changes"),
    Field(68, "u32", "sos", "D", "Suspend_No_Buffers"),
    Field(72, "u32", "flags", "P"),
))
# fmt: on
