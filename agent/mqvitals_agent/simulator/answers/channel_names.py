"""The names that the state has for types and states of channels, and the numbers that answers have."""

from __future__ import annotations

from typing import Final

from mqvitals_agent.pcf import constants as mq

TYPES: Final = {
    "SENDER": mq.MQCHT_SENDER,
    "SERVER": mq.MQCHT_SERVER,
    "RECEIVER": mq.MQCHT_RECEIVER,
    "REQUESTER": mq.MQCHT_REQUESTER,
    "SVRCONN": mq.MQCHT_SVRCONN,
    "CLUSRCVR": mq.MQCHT_CLUSRCVR,
    "CLUSSDR": mq.MQCHT_CLUSSDR,
}
"""Types of channels by their MQSC names."""
STATUSES: Final = {
    "INACTIVE": mq.MQCHS_INACTIVE,
    "BINDING": mq.MQCHS_BINDING,
    "STARTING": mq.MQCHS_STARTING,
    "RUNNING": mq.MQCHS_RUNNING,
    "STOPPING": mq.MQCHS_STOPPING,
    "RETRYING": mq.MQCHS_RETRYING,
    "STOPPED": mq.MQCHS_STOPPED,
    "REQUESTING": mq.MQCHS_REQUESTING,
    "PAUSED": mq.MQCHS_PAUSED,
    "DISCONNECTED": mq.MQCHS_DISCONNECTED,
    "INITIALIZING": mq.MQCHS_INITIALIZING,
    "SWITCHING": mq.MQCHS_SWITCHING,
}
"""States of channels by their names."""
SUBSTATES: Final = {
    "ENDBATCH": mq.MQCHSSTATE_END_OF_BATCH,
    "SEND": mq.MQCHSSTATE_SENDING,
    "SENDING": mq.MQCHSSTATE_SENDING,
    "RECEIVE": mq.MQCHSSTATE_RECEIVING,
    "RECEIVING": mq.MQCHSSTATE_RECEIVING,
    "SERIALIZE": mq.MQCHSSTATE_SERIALIZING,
    "RESYNCH": mq.MQCHSSTATE_RESYNCHING,
    "HEARTBEAT": mq.MQCHSSTATE_HEARTBEATING,
    "SCYEXIT": mq.MQCHSSTATE_IN_SCYEXIT,
    "RCVEXIT": mq.MQCHSSTATE_IN_RCVEXIT,
    "SENDEXIT": mq.MQCHSSTATE_IN_SENDEXIT,
    "MSGEXIT": mq.MQCHSSTATE_IN_MSGEXIT,
    "MREXIT": mq.MQCHSSTATE_IN_MREXIT,
    "CHADEXIT": mq.MQCHSSTATE_IN_CHADEXIT,
    "NETCONNECT": mq.MQCHSSTATE_NET_CONNECTING,
    "SSLHANDSHK": mq.MQCHSSTATE_SSL_HANDSHAKING,
    "NAMESERVER": mq.MQCHSSTATE_NAME_SERVER,
    "MQPUT": mq.MQCHSSTATE_IN_MQPUT,
    "MQGET": mq.MQCHSSTATE_IN_MQGET,
    "MQICALL": mq.MQCHSSTATE_IN_MQI_CALL,
    "COMPRESS": mq.MQCHSSTATE_COMPRESSING,
}
"""Substates by their MQSC names; any other is told as OTHER."""
SENDING: Final = frozenset({"SENDER", "SERVER", "CLUSSDR"})
"""Types that send from a transmission queue."""
