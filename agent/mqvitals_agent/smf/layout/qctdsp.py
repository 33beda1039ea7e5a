"""QCTDSP: dispatchers of the channel initiator, one section each (115/231)."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, Layout

# fmt: off
QCTDSP = Layout("QCTDSP", (
    Field(0, "u32", "tskn", "ID", "Task_Number"),
    Field(4, "u32", "reqn", "D", "Request_Count"),
    Field(8, "dur", "cptm", "D", "Task_CPU_Time"),
    Field(16, "dur", "eltm", "D", "Task_Elapsed_Time"),
    Field(24, "dur", "wttm", "D", "Task_Wait_Time"),
    Field(32, "u32", "chln", "P", "Task_Channel_Count"),
))
# fmt: on
