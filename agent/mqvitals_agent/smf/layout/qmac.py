"""QMAC: accounting of the message manager for one thread (116/0)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QMAC = Layout("QMAC", (
    Field(8, "dur", "cput", "D", "CPU_Time"),
    Field(16, "u32", "puta", "D", "Puts_Len_0to99"),
    Field(20, "u32", "putb", "D", "Puts_Len_100to999"),
    Field(24, "u32", "putc", "D", "Puts_Len_1000to9999"),
    Field(28, "u32", "putd", "D", "Puts_Len_10000"),
    Field(32, "u32", "geta", "D", "Gets_Len_0to99"),
    Field(36, "u32", "getb", "D", "Gets_Len_100to999"),
    Field(40, "u32", "getc", "D", "Gets_Len_1000to9999"),
    Field(44, "u32", "getd", "D", "Gets_Len_10000"),
))
# fmt: on
