"""Sections of the channel initiator: SMF 115 subtype 231 and SMF 116 subtype 10."""

from __future__ import annotations

from mqvitals_agent.smf.layout.field import Field, SectionLayout

# fmt: off
QCCT = SectionLayout("QCCT", (
    Field(8, "ebc", "jobn", "ID", "Job_Name", size=8),
    Field(16, "ebc", "qsgn", "ID", "QSG_Name", size=4),
    Field(20, "u32", "nocc", "P", "Current_Chl_High_Water"),
    Field(24, "u32", "mxcc", "C", "Current_Chl_Max"),
    Field(28, "u32", "noac", "P", "Active_Chl_High_Water"),
    Field(32, "u32", "mxac", "C", "Active_Chl_Max"),
    Field(36, "u32", "mxtp", "C", "Max_TCP_Chl"),
    Field(40, "u32", "mxlu", "C", "Max_LU62_Chl"),
    Field(44, "u32", "stus", "P", "Storage_Usage_31"),
    Field(48, "u64", "stab", "P", "Storage_Usage_64"),
    Field(56, "u64", "slim", "C", "Storage_Limit_64"),
))
"""The channel initiator (115/231)."""

QCTDSP = SectionLayout("QCTDSP", (
    Field(0, "u32", "tskn", "ID", "Task_Number"),
    Field(4, "u32", "reqn", "D", "Request_Count"),
    Field(8, "dur", "cptm", "D", "Task_CPU_Time"),
    Field(16, "dur", "eltm", "D", "Task_Elapsed_Time"),
    Field(24, "dur", "wttm", "D", "Task_Wait_Time"),
    Field(32, "u32", "chln", "P", "Task_Channel_Count"),
))
"""Dispatchers of the channel initiator, one section each (115/231)."""

QCTADP = SectionLayout("QCTADP", (
    Field(0, "u32", "tskn", "ID", "Task_Number"),
    Field(4, "u32", "reqn", "D", "Request_Count"),
    Field(8, "dur", "cptm", "D", "Task_CPU_Time"),
    Field(16, "dur", "eltm", "D", "Task_Elapsed_Time"),
    Field(24, "dur", "wttm", "D", "Task_Wait_Time"),
))
"""Adapters of the channel initiator, one section each (115/231)."""

QCTSSL = SectionLayout("QCTSSL", (
    Field(0, "u32", "tskn", "ID", "Task_Number"),
    Field(4, "u32", "reqn", "D", "Request_Count"),
    Field(8, "dur", "cptm", "D", "Task_CPU_Time"),
    Field(16, "dur", "eltm", "D", "Task_Elapsed_Time"),
    Field(24, "dur", "wttm", "D", "Task_Wait_Time"),
    Field(32, "tod", "lstm", "TS", "Max_SSL_Request_Time"),
    Field(40, "dur", "lsdu", "HW", "Max_SSL_Request_Duration"),
))
"""SSL tasks of the channel initiator, one section each (115/231)."""

QCTDNS = SectionLayout("QCTDNS", (
    Field(0, "u32", "tskn", "ID", "Task_Number"),
    Field(4, "u32", "reqn", "D", "Request_Count"),
    Field(8, "dur", "cptm", "D", "Task_CPU_Time"),
    Field(16, "dur", "eltm", "D", "Task_Elapsed_Time"),
    Field(24, "dur", "wttm", "D", "Task_Wait_Time"),
    Field(32, "tod", "lgtm", "TS", "Max_DNS_Request_Time"),
    Field(40, "dur", "lgdu", "HW", "Max_DNS_Request_Duration"),
))
"""The task of the channel initiator that resolves host names (115/231)."""

QCST = SectionLayout("QCST", (
    Field(8, "tod", "cltm", "TS", "Collection_Time"),
    Field(16, "ebc", "chnm", "ID", "Chl_Name", size=20),
    Field(36, "u8", "chdp", "P", "Disposition"),
    Field(37, "u8", "chty", "ID", "Type"),
    Field(38, "u8", "chst", "P", "Status"),
    Field(39, "u8", "stcl", "C", "Stat_Setting"),
    Field(40, "ebc", "cnnm", "ID", "Connection_Name", size=48),
    Field(88, "tod", "strt", "TS", "Start"),
    Field(96, "tod", "ludt", "TS", "Stop"),
    Field(104, "tod", "lmst", "TS", "Last_Msg"),
    Field(112, "u32", "cbsz", "C", "BatchSize"),
    Field(116, "u32", "nmsg", "D", "Msg_All_Count"),
    Field(120, "u32", "npmg", "D", "Msg_Persistent_Count"),
    Field(124, "u32", "batc", "D", "Batches"),
    Field(128, "u32", "fuba", "D", "Full_Batches"),
    Field(132, "u32", "bfst", "D", "Buffers_Sent"),
    Field(136, "u32", "bfrc", "D", "Buffers_Rcvd"),
    Field(140, "u32", "cscv", "P", "Current_Shared_Convs"),
    Field(144, "u64", "nbyt", "D", "Number_Bytes"),
    Field(152, "u64", "npby", "D", "Number_Persistent_Bytes"),
    Field(160, "u64", "byst", "D", "Bytes_Sent"),
    Field(168, "u64", "byrc", "D", "Bytes_Received"),
    Field(176, "u32", "cpra", "P", "Compression_Rate"),
    Field(180, "u32", "etav", "P", "Exit_Time_Avg"),
    Field(184, "u32", "etmn", "LW", "Exit_Time_Min"),
    Field(188, "u32", "etmx", "HW", "Exit_Time_Max"),
    Field(192, "tod", "etdt", "TS", "Exit_Time_Max_Date"),
    Field(200, "u32", "dnrt", "P", "DNS_Resolution_Time"),
    Field(204, "u32", "ntav", "P", "Net_Time_Avg"),
    Field(208, "u32", "ntmn", "LW", "Net_Time_Min"),
    Field(212, "u32", "ntmx", "HW", "Net_Time_Max"),
    Field(216, "tod", "ntdt", "TS", "Net_Time_Max_Date"),
    Field(224, "ebc", "rqmn", "ID", "Remote_QMgr_Or_App", size=48),
    Field(272, "hex", "slsn", "ID", "SSL_Peer_Serial", size=8),
    Field(280, "ebc", "slcn", "ID", "SSL_CERTI", size=16),
    Field(296, "u32", "slcs", "ID", "SSL_CipherSuite"),
    Field(300, "u32", "ptrc", "D", "Put_Retry_Count"),
    Field(304, "u32", "qetc", "D", "XmitQ_Empty_Count"),
    Field(308, "u32", "cbit", "C", "Batch_Interval"),
    Field(312, "u32", "cbdl", "C", "Batch_Data_Limit"),
    Field(316, "u16", "dspn", "P", "Dispatcher_Number"),
    Field(324, "ebc", "rpid", "ID", "Remote_Product_ID", size=4),
    Field(328, "ebc", "rver", "ID", "Remote_Product_Version", size=8),
))
"""Channel accounting, one section a channel instance (116/10)."""
# fmt: on
