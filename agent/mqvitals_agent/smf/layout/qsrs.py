"""QSRS: the storage of the address space (115/7)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QSRS = Layout("QSRS", (
    Field(8, "u32", "phbgf", "P", "PHB_Global_Fixed"),
    Field(12, "u32", "phbgv", "P", "PHB_Global_Variable"),
    Field(16, "u32", "phblf", "P", "PHB_Local_Fixed"),
    Field(20, "u32", "phblv", "P", "PHB_Local_Variable"),
    Field(24, "u32", "gmbt", "P", "GMB_Total"),
    Field(28, "u32", "stkt", "P", "Stack_Total"),
    Field(32, "u32", "strta", "P", "Region_24_Start"),
    Field(36, "u32", "siza", "P", "Region_24_Size"),
    Field(40, "u32", "crgtp", "P", "Region_24_Top"),
    Field(44, "u32", "limit", "P", "Region_24_Limit"),
    Field(48, "u32", "loal", "P", "User_24_Alloc"),
    Field(52, "u32", "oloal", "P", "User_24_Alloc_Previous"),
    Field(56, "u32", "hial", "P", "System_24_Alloc"),
    Field(60, "u32", "ohial", "P", "System_24_Alloc_Previous"),
    Field(64, "u32", "smfl", "P", "SMF_24_Limit"),
    Field(68, "u32", "smfr", "P", "SMF_24_Average"),
    Field(72, "u32", "estra", "P", "Region_31_Start"),
    Field(76, "u32", "esiza", "P", "Region_31_Size"),
    Field(80, "u32", "ergtp", "P", "Region_31_Top"),
    Field(84, "u32", "elim", "P", "Region_31_Limit"),
    Field(88, "u32", "eloal", "P", "User_31_Alloc"),
    Field(92, "u32", "oeloal", "P", "User_31_Alloc_Previous"),
    Field(96, "u32", "ehial", "P", "System_31_Alloc"),
    Field(100, "u32", "oehial", "P", "System_31_Alloc_Previous"),
    Field(104, "u32", "smfel", "P", "SMF_31_Limit"),
    Field(108, "u32", "smfer", "P", "SMF_31_Average"),
    Field(112, "u64", "memlim", "P", "MemLimit"),
    Field(120, "u64", "abytes", "P", "Total_Object_Size"),
    Field(128, "u64", "gbytes", "HW", "High_Water_Usable"),
    Field(136, "u32", "nmomb", "P", "Object_Allocated"),
    Field(140, "u8", "memlims", "P", "MemLimit_Source"),
    Field(144, "u32", "fmct", "P", "RAX_Frames"),
    Field(152, "u32", "aval", "P", "Avail_31"),
    Field(156, "u32", "mvs", "P", "MVS_31_Reserved"),
    Field(160, "u32", "crit", "P", "CRIT_31_Reserved"),
    Field(164, "u32", "sos", "P", "SOS_31_Reserved"),
    Field(168, "u64", "aval64", "P", "Avail_64"),
    Field(176, "u64", "cush64", "P", "Cushion_64"),
    Field(184, "u64", "smds64", "P", "SMDS_64"),
    Field(192, "u64", "phblgf", "D", "PHB_Latch_Global_Fixed"),
    Field(200, "u64", "phblgv", "D", "PHB_Latch_Global_Variable"),
    Field(208, "u64", "phbllf", "D", "PHB_Latch_Local_Fixed"),
    Field(216, "u64", "phbllv", "D", "PHB_Latch_Local_Variable"),
    Field(224, "u64", "gmbl", "D", "GMB_Latch"),
))
# fmt: on
