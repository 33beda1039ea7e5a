"""QTST: the topic manager (115/2)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QTST = Layout("QTST", (
    Field(8, "u32", "stot", "D", "Total_Subs_Count"),
    Field(12, "u32", "sdur", "D", "Durable_Subs_Count"),
    Field(16, "u32", "shig.0", "HW", "Subs_High_Water_API"),
    Field(20, "u32", "shig.1", "HW", "Subs_High_Water_Admin"),
    Field(24, "u32", "shig.2", "HW", "Subs_High_Water_Proxy"),
    Field(28, "u32", "slow.0", "LW", "Subs_Low_Water_API"),
    Field(32, "u32", "slow.1", "LW", "Subs_Low_Water_Admin"),
    Field(36, "u32", "slow.2", "LW", "Subs_Low_Water_Proxy"),
    Field(40, "u32", "sexp", "D", "Subs_Expired"),
    Field(44, "u32", "tmsg", "D", "Total_Published_Msg"),
    Field(48, "u32", "sphw", "HW", "Single_Sub_High_Water"),
    Field(52, "u32", "ptot.0", "D", "Pubs_Total_API"),
    Field(56, "u32", "ptot.1", "D", "Pubs_Total_Admin"),
    Field(60, "u32", "ptot.2", "D", "Pubs_Total_Proxy"),
    Field(64, "u32", "phig", "HW", "Pubs_High_Water"),
    Field(68, "u32", "plow", "LW", "Pubs_Low_Water"),
    Field(72, "u32", "pnos", "D", "Pubs_No_Subscriber"),
    Field(80, "dur", "ethw", "HW", "Publish_Elapsed_High_Water"),
    Field(88, "dur", "etto", "D", "Publish_Elapsed_Total"),
))
# fmt: on
