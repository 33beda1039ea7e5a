"""The named values that several state metrics share: names as in MQSC, numbers as in IBM's headers."""

from __future__ import annotations

from collections.abc import Mapping

Names = Mapping[str, int]

NO_YES: Names = {"NO": 0, "YES": 1}
OFF_ON: Names = {"OFF": 0, "ON": 1}
DISABLED_ENABLED: Names = {"DISABLED": 0, "ENABLED": 1}

MONITORING: Names = {"QMGR": -3, "NONE": -1, "OFF": 0, "LOW": 17, "MEDIUM": 33, "HIGH": 65}
"""MQMON: real-time monitoring and channel statistics."""
STATISTICS: Names = {"QMGR": -3, "NONE": -1, "OFF": 0, "ON": 1}
"""MQMON: queue statistics."""
EVENTS: Names = {"DISABLED": 0, "ENABLED": 1, "EXCEPTION": 2, "NODISPLAY": 3}
"""MQEVR."""
DISPOSITION: Names = {"QMGR": 0, "COPY": 1, "SHARED": 2, "GROUP": 3, "PRIVATE": 4, "LIVE": 6}
"""MQQSGD: where an object's definition lives. ALL (-1) is only asked for, never answered."""
RUN_DISPOSITION: Names = {"DEFAULT": 1, "SHARED": 2, "PRIVATE": 4, "FIXSHARED": 5}
"""MQCHLD: where a channel runs."""

CHANNEL_TYPE: Names = {
    "SDR": 1, "SVR": 2, "RCVR": 3, "RQSTR": 4, "CLNTCONN": 6, "SVRCONN": 7, "CLUSRCVR": 8, "CLUSSDR": 9,
    "MQTT": 10, "AMQP": 11,
}  # fmt: skip
"""MQCHT."""
CHANNEL_STATUS: Names = {
    "INACTIVE": 0, "BINDING": 1, "STARTING": 2, "RUNNING": 3, "STOPPING": 4, "RETRYING": 5, "STOPPED": 6,
    "REQUESTING": 7, "PAUSED": 8, "DISCONNECTED": 9, "INITIALIZING": 13, "SWITCHING": 14,
}  # fmt: skip
"""MQCHS."""
CHANNEL_SUBSTATE: Names = {
    "OTHER": 0, "ENDBATCH": 100, "SEND": 200, "RECEIVE": 300, "SERIALIZE": 400, "RESYNCH": 500, "HEARTBEAT": 600,
    "SCYEXIT": 700, "RCVEXIT": 800, "SENDEXIT": 900, "MSGEXIT": 1000, "MREXIT": 1100, "CHADEXIT": 1200,
    "NETCONNECT": 1250, "SSLHANDSHK": 1300, "NAMESERVER": 1400, "MQPUT": 1500, "MQGET": 1600, "MQICALL": 1700,
    "COMPRESS": 1800,
}  # fmt: skip
"""MQCHSSTATE."""
PROTOCOL: Names = {"LU62": 1, "TCP": 2}
"""MQXPT, as far as z/OS knows them."""
COMPRESSION: Names = {
    "NONE": 0, "RLE": 1, "ZLIBFAST": 2, "ZLIBHIGH": 4, "SYSTEM": 8, "LZ4FAST": 16, "LZ4HIGH": 32, "ANY": 268435455,
}  # fmt: skip
"""MQCOMPRESS; -1 is "not available"."""
SECURITY_PROTOCOL: Names = {"NONE": 0, "SSLV3": 1, "TLSV1": 2, "TLSV12": 4, "TLSV13": 8}
"""MQSECPROT."""
SPEED: Names = {"NORMAL": 1, "FAST": 2}
"""MQNPMS."""
SERVICE: Names = {"STOPPED": 0, "STARTING": 1, "RUNNING": 2, "STOPPING": 3, "RETRYING": 4}
"""MQSVC_STATUS: the channel initiator and its listeners."""

CF_STATUS: Names = {
    "NOTFOUND": 0, "ACTIVE": 1, "INRECOVER": 2, "INBACKUP": 3, "FAILED": 4, "NONE": 5, "UNKNOWN": 6, "RECOVERED": 7,
    "EMPTY": 8, "NEW": 9, "ADMININCOMPLETE": 20, "NEVERUSED": 21, "NOBACKUP": 22, "NOTFAILED": 23,
    "NOTRECOVERABLE": 24, "XESERROR": 25,
}  # fmt: skip
"""MQCFSTATUS. Those from 20 upwards qualify error messages, but a status must never be a nameless number."""
OFFLOAD: Names = {"NONE": 0, "SMDS": 1, "DB2": 2, "BOTH": 3}
"""MQCFOFFLD."""
SMDS_EXPAND: Names = {"DEFAULT": 0, "YES": 1, "NO": 2}
"""MQDSE."""
