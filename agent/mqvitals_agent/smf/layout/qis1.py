"""QIS1: page sets, one section each (115/201)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QIS1 = Layout("QIS1", (
    Field(8, "u32", "psno", "ID", "Pageset"),
    Field(12, "u32", "bpno", "ID", "BufferPool"),
    Field(16, "u32", "topg", "P", "Total_Pages"),
    Field(20, "u32", "unpg", "P", "Unused_Pages"),
    Field(24, "u32", "ppg", "P", "Persistent_Pages"),
    Field(28, "u32", "nppg", "P", "Nonpersistent_Pages"),
    Field(32, "u32", "full", "D", "Full_Count"),
    Field(36, "u32", "pchi", "HW", "Put_Cursor_High"),
    Field(40, "u32", "dwpn", "D", "Page_Write_IO"),
    Field(44, "u32", "dwpp", "D", "Pages_Written"),
    Field(48, "dur", "dwpt", "D", "Page_Write_IO_Time"),
    Field(56, "u32", "imwn", "D", "IMW_Pages_IO"),
    Field(60, "u32", "imwp", "D", "IMW_Pages"),
    Field(64, "dur", "imwt", "D", "IMW_Pages_IO_Time"),
    Field(72, "u32", "getn", "D", "Pages_Read_IO"),
    Field(76, "u32", "getp", "D", "Pages_Read"),
    Field(80, "dur", "gett", "D", "Pages_Read_IO_Time"),
    Field(88, "u32", "ckpp", "D", "Checkpoint_Pages_Written"),
    Field(92, "u16", "expn", "D", "Expansions"),
    Field(94, "u8", "strn", "P", "Stripes"),
    Field(95, "u8", "expm", "C", "Expansion_Method"),
    Field(96, "u8", "stat", "P", "Pageset_Status"),
    Field(100, "u32", "flag", "P"),
))
# fmt: on
