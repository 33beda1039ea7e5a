"""QCTDNS: the task of the channel initiator that resolves host names (115/231)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QCTDNS = Layout("QCTDNS", (
    Field(0, "u32", "tskn", "ID", "Task_Number"),
    Field(4, "u32", "reqn", "D", "Request_Count"),
    Field(8, "dur", "cptm", "D", "Task_CPU_Time"),
    Field(16, "dur", "eltm", "D", "Task_Elapsed_Time"),
    Field(24, "dur", "wttm", "D", "Task_Wait_Time"),
    Field(32, "tod", "lgtm", "TS", "Max_DNS_Request_Time"),
    Field(40, "dur", "lgdu", "HW", "Max_DNS_Request_Duration"),
))
# fmt: on
