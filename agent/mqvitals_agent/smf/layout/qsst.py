"""QSST: the storage manager (115/1)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QSST = Layout("QSST", (
    Field(8, "u32", "gplf", "D", "Fixed_Pools_Alloc"),
    Field(12, "u32", "fplf", "D", "Fixed_Pools_Freed"),
    Field(16, "u32", "fref", "D", "Fixed_Pools_Seg_Freed"),
    Field(20, "u32", "expf", "D", "Fixed_Pools_Seg_Expand"),
    Field(24, "u32", "conf", "D", "Fixed_Pools_Seg_Contract"),
    Field(28, "u32", "gplv", "D", "Var_Pools_Alloc"),
    Field(32, "u32", "fplv", "D", "Var_Pools_Freed"),
    Field(36, "u32", "frev", "D", "Var_Pools_Seg_Freed"),
    Field(40, "u32", "expv", "D", "Var_Pools_Seg_Expand"),
    Field(44, "u32", "conv", "D", "Var_Pools_Seg_Contract"),
    Field(48, "u32", "getm", "D", "Getmain_Count"),
    Field(52, "u32", "frem", "D", "Freemain_Count"),
    Field(56, "u32", "rcnz", "D", "Nonzero_Return_Code"),
    Field(60, "u32", "cont", "D", "SOS_Contractions"),
    Field(64, "u32", "crit", "D", "SOS_Set"),
    Field(68, "u32", "abnd", "D", "SOS_Abend"),
))
# fmt: on
