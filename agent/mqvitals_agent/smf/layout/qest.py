"""QEST: the coupling facility manager: 64 slots, one a structure (115/2)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QEST = Layout("QEST", (
    Field(8, "ebc", "str", "ID", "Structure_Name", size=12, times=64, step=64),
    Field(20, "u32", "strn", "ID", "Structure_Number", times=64, step=64),
    Field(24, "u32", "csec", "D", "IXLLSTE_Calls", times=64, step=64),
    Field(28, "u32", "cmec", "D", "IXLLSTM_Calls", times=64, step=64),
    Field(32, "dur", "sstc", "D", "IXLLSTE_Calls_Time", times=64, step=64),
    Field(40, "dur", "mstc", "D", "IXLLSTM_Calls_Time", times=64, step=64),
    Field(48, "u32", "rsec", "D", "IXLLSTE_Redrives", times=64, step=64),
    Field(52, "u32", "rmec", "D", "IXLLSTM_Redrives", times=64, step=64),
    Field(56, "u32", "sful", "D", "Structure_Full", times=64, step=64),
    Field(60, "u32", "mnus", "HW", "Max_In_Use_Entries", times=64, step=64),
    Field(64, "u32", "mlus", "HW", "Max_In_Use_Elements", times=64, step=64),
))
# fmt: on
