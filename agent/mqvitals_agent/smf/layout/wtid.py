"""WTID: who a thread is (116/1, 116/2)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
WTID = Layout("WTID", (
    Field(8, "u32", "atyp", "ID", "Appl_Type"),
    Field(12, "ebc", "ccn", "ID", "Connection_Name", size=8),
    Field(20, "ebc", "opid", "ID", "Operator_ID", size=8),
    Field(28, "hex", "nid", "ID", "NID", size=16),
    Field(44, "hex", "cori", "ID", "Correl(HEX)", size=12),
    Field(56, "hex", "uowi", "ID", "UOW_ID", size=24),
    Field(80, "hex", "acct", "ID", "Accounting_Token", size=22),
    Field(102, "ebc", "chl", "ID", "Channel_Name", size=20),
    Field(122, "ebc", "chlc", "ID", "Channel_Connection_Name", size=48),
    Field(170, "hex", "ctxt", "ID", "Context_Token", size=16),
    Field(186, "ebc", "tran", "ID", "MVS_UserId", size=8),
))
# fmt: on
