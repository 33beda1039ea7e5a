"""What codes in the records stand for, in the words that the files of mqsmfcsv have. A code without one stays a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CONNECTION: Final[Mapping[int, str]] = {
    1: "CICS",
    2: "TSO",
    3: "IMS Ctl",
    4: "IMS MPP/BMP",
    5: "Cmd Svr",
    6: "CHIN",
    7: "RRS",
    8: "IGQ",
}
"""WTIDATYP and QWHCATYP: what a thread is."""

_INDEX: Final[Mapping[int, str]] = {0: "None", 1: "MsgId", 2: "CorrelId", 4: "MsgToken", 5: "GroupId"}
_QUEUE: Final[Mapping[int, str]] = {
    1: "Local",
    2: "Model",
    3: "Alias",
    6: "Remote",
    7: "Cluster",
    8: "Topic",
    1001: "All",
}
_SCOPE: Final[Mapping[int, str]] = {
    0: "QMgr",
    1: "Copy",
    2: "Shared",
    3: "Group",
    4: "Private",
    6: "Live",
    0xFFFFFFFF: "All",
}
_DISPOSITION: Final[Mapping[int, str]] = {1: "Default", 2: "Shared", 4: "Private", 5: "Fixshared"}
_CHANNEL: Final[Mapping[int, str]] = {
    1: "Sender",
    2: "Server",
    3: "Receiver",
    4: "Requester",
    5: "All",
    6: "ClntConn",
    7: "SvrConn",
    8: "ClusRcvr",
    9: "ClusSdr",
    10: "MQTT",
    11: "AMQP",
}
_STATUS: Final[Mapping[int, str]] = {
    0: "Inactive",
    1: "Binding",
    2: "Starting",
    3: "Running",
    4: "Stopping",
    5: "Retrying",
    6: "Stopped",
    7: "Requesting",
    8: "Paused",
    9: "Disconnected",
    13: "Initializing",
    14: "Switching",
}
_MONITORING: Final[Mapping[int, str]] = {0: "Off", 1: "On", 17: "Low", 33: "Medium", 65: "High"}

LABELS: Final[Mapping[tuple[str, str], Mapping[int, str]]] = {
    ("WTID", "atyp"): CONNECTION,
    ("WQST", "qtype"): _QUEUE,
    ("WQST", "indxtype"): _INDEX,
    ("WQST", "qsgdisp"): _SCOPE,
    ("QCST", "chdp"): _DISPOSITION,
    ("QCST", "chty"): _CHANNEL,
    ("QCST", "chst"): _STATUS,
    ("QCST", "stcl"): _MONITORING,
}
"""By section and field."""

NOTHING: Final[Mapping[tuple[str, str], int]] = {
    ("QCST", "etmn"): 0x8FFFFFFF,
    ("QCST", "ntmn"): 0x8FFFFFFF,
    ("QSRS", "smfl"): 0xFFFFFFFF,
    ("QSRS", "smfr"): 0xFFFFFFFF,
    ("QSRS", "smfel"): 0xFFFFFFFF,
    ("QSRS", "smfer"): 0xFFFFFFFF,
    ("WQST", "getminms"): 0x0FFFFFFF,
    ("WQST", "putminms"): 0x0FFFFFFF,
}
"""By section and field: the number that says there is no value."""
