"""INQUIRE_CHANNEL_STATUS and INQUIRE_CHANNEL. Each channel type has parameters of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.simulator.answers.common import (
    MAX_STATUS_NUMBER,
    MONITORING_LEVELS,
    CommandRefusedError,
    CommandRequest,
    ReplyItem,
    fulfils,
    integer,
    integers,
    level_in_force,
    local_time,
    name_matches,
    reported_averages,
    string,
)
from mqvitals_agent.simulator.state import ChannelInstance, ChannelState, GroupState, MemberState

CHANNEL_TYPES: Final = {
    "SENDER": mq.MQCHT_SENDER,
    "SERVER": mq.MQCHT_SERVER,
    "RECEIVER": mq.MQCHT_RECEIVER,
    "REQUESTER": mq.MQCHT_REQUESTER,
    "SVRCONN": mq.MQCHT_SVRCONN,
    "CLUSRCVR": mq.MQCHT_CLUSRCVR,
    "CLUSSDR": mq.MQCHT_CLUSSDR,
}
"""Types of channels by their MQSC names."""
CHANNEL_STATUSES: Final = {
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
"""Substates by their MQSC names; any other is reported as OTHER."""
_INSTANCE_TYPES: Final = frozenset({mq.MQOT_CURRENT_CHANNEL, mq.MQOT_SAVED_CHANNEL, mq.MQOT_SHORT_CHANNEL})
_RUN_DISPOSITIONS: Final = frozenset(
    {mq.MQCHLD_ALL, mq.MQCHLD_DEFAULT, mq.MQCHLD_SHARED, mq.MQCHLD_PRIVATE, mq.MQCHLD_FIXSHARED}
)
_PRIVATE_TOO: Final = frozenset({mq.MQCHLD_ALL, mq.MQCHLD_DEFAULT, mq.MQCHLD_PRIVATE})
_OWN: Final = frozenset({mq.MQQSGD_ALL, mq.MQQSGD_LIVE, mq.MQQSGD_Q_MGR, mq.MQQSGD_PRIVATE})
_WRAP: Final = MAX_STATUS_NUMBER + 1
_MOST_COUNTED: Final = 999
_CIPHER_SPEC_LEVEL: Final = 910
"""The command level from which channel status has SSLCIPH."""
"""The largest number of messages on the transmission queue that is reported."""

STATUS_SOMETIMES: Final = frozenset(
    {
        mq.MQCACH_XMIT_Q_NAME,
        mq.MQIACH_SHORT_RETRIES_LEFT,
        mq.MQIACH_LONG_RETRIES_LEFT,
        mq.MQIACH_NETWORK_TIME_INDICATOR,
        mq.MQIACH_XMITQ_TIME_INDICATOR,
        mq.MQIACH_BATCH_SIZE_INDICATOR,
        mq.MQIACH_XMITQ_MSGS_AVAILABLE,
        mq.MQIACH_BATCHES,
        mq.MQIACH_BATCH_SIZE,
        mq.MQIACH_CURRENT_MSGS,
        mq.MQIACH_CURRENT_SEQ_NUMBER,
        mq.MQIACH_LAST_SEQ_NUMBER,
        mq.MQIACH_NPM_SPEED,
        mq.MQIACH_CURRENT_SHARING_CONVS,
        mq.MQIACH_MAX_SHARING_CONVS,
        mq.MQCACH_REMOTE_APPL_TAG,
    }
)
"""Status that only some types of channels have."""
DEFINITION_SOMETIMES: Final = frozenset(
    {
        mq.MQCACH_CONNECTION_NAME,
        mq.MQCACH_XMIT_Q_NAME,
        mq.MQCACH_LOCAL_ADDRESS,
        mq.MQCACH_MSG_EXIT_NAME,
        mq.MQCACH_MR_EXIT_NAME,
        mq.MQIACH_SSL_CLIENT_AUTH,
        mq.MQIACH_PUT_AUTHORITY,
        mq.MQIACH_BATCH_SIZE,
        mq.MQIACH_BATCH_INTERVAL,
        mq.MQIACH_BATCH_DATA_LIMIT,
        mq.MQIACH_BATCH_HB,
        mq.MQIACH_DISC_INTERVAL,
        mq.MQIACH_SHORT_RETRY,
        mq.MQIACH_SHORT_TIMER,
        mq.MQIACH_LONG_RETRY,
        mq.MQIACH_LONG_TIMER,
        mq.MQIACH_MAX_INSTANCES,
        mq.MQIACH_MAX_INSTS_PER_CLIENT,
        mq.MQIACH_SHARING_CONVERSATIONS,
        mq.MQIACH_NPM_SPEED,
        mq.MQIACH_SEQUENCE_NUMBER_WRAP,
        mq.MQIA_STATISTICS_CHANNEL,
        mq.MQIA_USE_DEAD_LETTER_Q,
    }
)
"""Attributes that only some types of channels have."""
STATUS_ALWAYS: Final = frozenset(
    {
        mq.MQCACH_CHANNEL_NAME,
        mq.MQIACH_CHANNEL_DISP,
        mq.MQIACH_CHANNEL_INSTANCE_TYPE,
        mq.MQIACH_CHANNEL_TYPE,
        mq.MQCACH_CONNECTION_NAME,
        mq.MQCACH_XMIT_Q_NAME,
        mq.MQCA_REMOTE_Q_MGR_NAME,
        mq.MQIACH_CHANNEL_STATUS,
        mq.MQIACH_CHANNEL_SUBSTATE,
        mq.MQIACH_STOP_REQUESTED,
    }
)
"""Status that is returned whatever attributes are asked for."""


def channel_status(request: CommandRequest, group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a current instance; inactive ones have none. Simulated channels are private, so nothing is found of
    shared ones.

    Raises CommandRefusedError: 3217 while the channel initiator is down.
    """
    kind = request.choice(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL, _INSTANCE_TYPES)
    disposition = request.choice(mq.MQIACH_CHANNEL_DISP, mq.MQCHLD_ALL, _RUN_DISPOSITIONS)
    if not member.chinit_running:
        raise CommandRefusedError(mq.MQRCCF_NO_CHANNEL_INITIATOR)
    # Saved status is that of channels that ended, and short status that of shared ones: neither is simulated.
    if kind != mq.MQOT_CURRENT_CHANNEL or disposition not in _PRIVATE_TOO:
        return
    pattern = request.text(mq.MQCACH_CHANNEL_NAME)
    partner = request.text(mq.MQCACH_CONNECTION_NAME, "*")
    queue = request.text(mq.MQCACH_XMIT_Q_NAME, "*")
    kinds = [condition for number, condition in request.filters if number == mq.MQIACH_CHANNEL_TYPE]
    for channel in member.channels_by_name():
        if name_matches(channel.name, pattern):
            for instance in group.instances(member, channel):
                if instance.status == "INACTIVE":
                    continue
                if not (
                    name_matches(instance.connection_name, partner) and name_matches(instance.transmission_queue, queue)
                ):
                    continue
                if all(fulfils(CHANNEL_TYPES[channel.kind], each) for each in kinds):
                    yield _status(channel, instance, member)


def channel_definitions(request: CommandRequest, _group: GroupState, member: MemberState) -> Iterator[ReplyItem]:
    """One item a channel. Raises CommandRefusedError: 3034 for a type that does not exist."""
    kind = request.number(mq.MQIACH_CHANNEL_TYPE, mq.MQCHT_ALL)
    if kind not in (mq.MQCHT_ALL, mq.MQCHT_CLNTCONN, *CHANNEL_TYPES.values()):
        raise CommandRefusedError(mq.MQRCCF_CHANNEL_TYPE_ERROR)
    if request.number(mq.MQIA_QSG_DISP, mq.MQQSGD_LIVE) not in _OWN:
        return
    pattern = request.text(mq.MQCACH_CHANNEL_NAME)
    for channel in member.channels_by_name():
        if name_matches(channel.name, pattern) and kind in (mq.MQCHT_ALL, CHANNEL_TYPES[channel.kind]):
            yield _definition(channel, member)


def _status(channel: ChannelState, instance: ChannelInstance, member: MemberState) -> ReplyItem:
    sends = channel.sends
    client = channel.client
    start_date, start_time = local_time(instance.started, member.zone_ms)
    last_date, last_time = local_time(instance.last_message, member.zone_ms)
    found: list[Parameter] = [
        string(mq.MQCACH_CHANNEL_NAME, channel.name),
        integer(mq.MQIACH_CHANNEL_DISP, mq.MQCHLD_PRIVATE),
        integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
        integer(mq.MQIACH_CHANNEL_TYPE, CHANNEL_TYPES[channel.kind]),
        string(mq.MQCACH_CONNECTION_NAME, instance.connection_name),
    ]
    if sends:
        found.append(string(mq.MQCACH_XMIT_Q_NAME, instance.transmission_queue))
    found += (
        string(mq.MQCA_REMOTE_Q_MGR_NAME, "" if client else instance.partner),
        integer(mq.MQIACH_CHANNEL_STATUS, CHANNEL_STATUSES[instance.status]),
        integer(mq.MQIACH_CHANNEL_SUBSTATE, SUBSTATES.get(instance.substate, mq.MQCHSSTATE_OTHER)),
        integer(mq.MQIACH_STOP_REQUESTED, int(instance.stop_requested)),
        integer(mq.MQIACH_INDOUBT_STATUS, int(instance.indoubt)),
        string(mq.MQCA_Q_MGR_NAME, member.name),
    )
    if client:
        found.append(string(mq.MQCACH_REMOTE_APPL_TAG, instance.partner))
    found += (
        string(mq.MQCACH_CHANNEL_START_DATE, start_date),
        string(mq.MQCACH_CHANNEL_START_TIME, start_time),
        string(mq.MQCACH_LAST_MSG_DATE, last_date),
        string(mq.MQCACH_LAST_MSG_TIME, last_time),
        string(mq.MQCACH_MCA_USER_ID, "" if sends else "MQCHIN"),
        string(mq.MQCACH_LOCAL_ADDRESS, ""),
        *_protection(member),
        *_traffic(channel, instance, client=client),
        integer(mq.MQIACH_HB_INTERVAL, channel.heartbeat_s),
        integer(mq.MQIACH_KEEP_ALIVE_INTERVAL, channel.heartbeat_s + 60),  # the value of AUTO
        integer(mq.MQIACH_MAX_MSG_LENGTH, channel.max_message_bytes),
    )
    if client:
        found += (
            integer(mq.MQIACH_CURRENT_SHARING_CONVS, instance.conversations),
            integer(mq.MQIACH_MAX_SHARING_CONVS, 10),
        )
    else:
        found.append(integer(mq.MQIACH_NPM_SPEED, mq.MQNPMS_FAST))
    if sends:
        found += (
            integer(mq.MQIACH_SHORT_RETRIES_LEFT, instance.short_left),
            integer(mq.MQIACH_LONG_RETRIES_LEFT, instance.long_left),
        )
    found += _monitoring(channel, instance, sends=sends)
    return found


def _protection(member: MemberState) -> Iterator[Parameter]:
    """Simulated channels have no TLS, which only newer queue managers say."""
    if member.command_level >= _CIPHER_SPEC_LEVEL:
        yield string(mq.MQCACH_SSL_CIPHER_SPEC, "")


def _traffic(channel: ChannelState, instance: ChannelInstance, *, client: bool) -> Iterator[Parameter]:
    # Counters hardly ever have a value again: to cache them would only fill the memory.
    yield encoder.integer(mq.MQIACH_MSGS, instance.messages % _WRAP)
    yield encoder.integer(mq.MQIACH_BYTES_SENT, instance.bytes_sent % _WRAP)
    yield encoder.integer(mq.MQIACH_BYTES_RCVD, instance.bytes_received % _WRAP)
    yield encoder.integer(mq.MQIACH_BUFFERS_SENT, instance.buffers_sent % _WRAP)
    yield encoder.integer(mq.MQIACH_BUFFERS_RCVD, instance.buffers_received % _WRAP)
    if not client:
        yield encoder.integer(mq.MQIACH_BATCHES, instance.batches % _WRAP)
        yield integer(mq.MQIACH_CURRENT_MSGS, instance.current_messages)
        yield encoder.integer(mq.MQIACH_CURRENT_SEQ_NUMBER, instance.current_sequence % _WRAP)
        yield encoder.integer(mq.MQIACH_LAST_SEQ_NUMBER, instance.last_sequence % _WRAP)
        yield integer(mq.MQIACH_BATCH_SIZE, channel.batch_size)


def _monitoring(channel: ChannelState, instance: ChannelInstance, *, sends: bool) -> Iterator[Parameter]:
    level = level_in_force(channel.monitoring)
    monitored = level > 0
    waiting = min(instance.waiting, _MOST_COUNTED) if monitored else mq.MQMON_NOT_AVAILABLE
    yield integer(mq.MQIA_MONITORING_CHANNEL, level)
    yield integer(mq.MQIA_STATISTICS_CHANNEL, mq.MQMON_OFF)
    if sends:
        yield integers(mq.MQIACH_NETWORK_TIME_INDICATOR, reported_averages(instance.network_us, monitored=monitored))
    yield integers(mq.MQIACH_EXIT_TIME_INDICATOR, reported_averages(instance.exit_us, monitored=monitored))
    if sends:
        yield integers(mq.MQIACH_XMITQ_TIME_INDICATOR, reported_averages(instance.transmission_us, monitored=monitored))
        yield integers(mq.MQIACH_BATCH_SIZE_INDICATOR, reported_averages(instance.batch_size, monitored=monitored))
        yield integer(mq.MQIACH_XMITQ_MSGS_AVAILABLE, waiting)
    yield integers(mq.MQIACH_COMPRESSION_RATE, (-1, -1))
    yield integers(mq.MQIACH_COMPRESSION_TIME, (-1, -1))
    yield integers(mq.MQIACH_HDR_COMPRESSION, (mq.MQCOMPRESS_NONE, mq.MQCOMPRESS_NONE))
    yield integers(mq.MQIACH_MSG_COMPRESSION, (mq.MQCOMPRESS_NONE, mq.MQCOMPRESS_NONE))


def _transfer(channel: ChannelState, *, sends: bool, client: bool) -> Iterator[Parameter]:
    if not client:
        yield string(mq.MQCACH_MSG_EXIT_NAME, "")
    if not sends and not client:
        yield string(mq.MQCACH_MR_EXIT_NAME, "")
    if not sends:
        yield integer(mq.MQIACH_SSL_CLIENT_AUTH, mq.MQSCA_REQUIRED)
        yield integer(mq.MQIACH_PUT_AUTHORITY, mq.MQPA_DEFAULT)
    if not client:
        yield integer(mq.MQIACH_BATCH_SIZE, channel.batch_size)
    if sends:
        yield integer(mq.MQIACH_BATCH_INTERVAL, channel.batch_interval_ms)
        yield integer(mq.MQIACH_BATCH_DATA_LIMIT, 5000)
        yield integer(mq.MQIACH_BATCH_HB, 0)
    if sends or client:
        yield integer(mq.MQIACH_DISC_INTERVAL, 0 if client else 6000)


def _definition(channel: ChannelState, member: MemberState) -> ReplyItem:
    sends = channel.sends
    client = channel.client
    day, time = local_time(channel.altered or None, member.zone_ms)
    found: list[Parameter] = [
        string(mq.MQCACH_CHANNEL_NAME, channel.name),
        integer(mq.MQIACH_CHANNEL_TYPE, CHANNEL_TYPES[channel.kind]),
        integer(mq.MQIA_QSG_DISP, mq.MQQSGD_Q_MGR),
        integer(mq.MQIACH_DEF_CHANNEL_DISP, mq.MQCHLD_PRIVATE),
        string(mq.MQCACH_DESC, channel.description),
        integer(mq.MQIACH_XMIT_PROTOCOL_TYPE, mq.MQXPT_TCP),
    ]
    if sends or channel.kind == "CLUSRCVR":
        found.append(string(mq.MQCACH_CONNECTION_NAME, channel.connection_name))
    if sends:
        found += (
            string(mq.MQCACH_XMIT_Q_NAME, channel.transmission_queue),
            string(mq.MQCACH_LOCAL_ADDRESS, ""),
        )
    found += (
        string(mq.MQCACH_MCA_USER_ID, "MQCHIN" if not sends and not client else ""),
        string(mq.MQCACH_SSL_CIPHER_SPEC, ""),
        string(mq.MQCACH_SEC_EXIT_NAME, ""),
        string(mq.MQCACH_SEND_EXIT_NAME, ""),
        string(mq.MQCACH_RCV_EXIT_NAME, ""),
    )
    found += _transfer(channel, sends=sends, client=client)
    found += (
        integer(mq.MQIACH_HB_INTERVAL, channel.heartbeat_s),
        integer(mq.MQIACH_KEEP_ALIVE_INTERVAL, mq.MQKAI_AUTO),
    )
    if sends:
        found += (
            integer(mq.MQIACH_SHORT_RETRY, 10),
            integer(mq.MQIACH_SHORT_TIMER, 60),
            integer(mq.MQIACH_LONG_RETRY, MAX_STATUS_NUMBER),
            integer(mq.MQIACH_LONG_TIMER, 1200),
        )
    found.append(integer(mq.MQIACH_MAX_MSG_LENGTH, channel.max_message_bytes))
    if client:
        found += (
            integer(mq.MQIACH_MAX_INSTANCES, channel.most_instances),
            integer(mq.MQIACH_MAX_INSTS_PER_CLIENT, channel.most_of_an_address),
            integer(mq.MQIACH_SHARING_CONVERSATIONS, 10),
        )
    else:
        found += (
            integer(mq.MQIACH_NPM_SPEED, mq.MQNPMS_FAST),
            integer(mq.MQIACH_SEQUENCE_NUMBER_WRAP, MAX_STATUS_NUMBER),
        )
    found.append(integer(mq.MQIA_MONITORING_CHANNEL, MONITORING_LEVELS[channel.monitoring]))
    if not client:
        found += (
            integer(mq.MQIA_STATISTICS_CHANNEL, mq.MQMON_Q_MGR),
            integer(mq.MQIA_USE_DEAD_LETTER_Q, 2),
        )
    found += (string(mq.MQCA_ALTERATION_DATE, day), string(mq.MQCA_ALTERATION_TIME, time))
    return found
