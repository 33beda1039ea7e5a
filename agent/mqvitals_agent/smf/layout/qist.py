"""QIST: the data manager (115/2)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QIST = Layout("QIST", (
    Field(8, "u32", "mget", "D", "Msg_Get"),
    Field(12, "u32", "mput", "D", "Msg_Put"),
    Field(16, "u32", "mblr", "D", "Msg_Browse_Lock"),
    Field(20, "u32", "dcre", "D", "Object_Create"),
    Field(24, "u32", "dput", "D", "Object_Put"),
    Field(28, "u32", "ddel", "D", "Object_Delete"),
    Field(32, "u32", "dget", "D", "Object_Get"),
    Field(36, "u32", "dloc", "D", "Object_Locate"),
    Field(40, "u32", "mcnt", "D", "Msg_Count"),
    Field(44, "u32", "alst", "D", "Stgclass_Change"),
    Field(48, "u32", "lomm", "D", "Lock_Marked_Msg"),
    Field(52, "u32", "dlmm", "D", "Delete_Marked_Msg"),
    Field(56, "u32", "enum", "D", "Enumerates"),
    Field(60, "u32", "raio", "D"),
    Field(64, "u32", "rabp", "D"),
    Field(68, "u32", "getd", "D", "Gets_From_Disk"),
    Field(72, "u32", "getb", "D", "Gets_From_BufferPool"),
))
# fmt: on
