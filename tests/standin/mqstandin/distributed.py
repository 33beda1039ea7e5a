"""A small queue manager that does not run on z/OS: the partner of a simulated group, a few queues and channels.

It answers as such queue managers do: one classic response an item and no more, little-endian, texts in UTF-8, pairs of
averages with the long-term one first. What it does not know, or only z/OS takes, it refuses and notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID, encode_message, integer, integers, string
from mqvitals_agent.pcf.message import FilterValue, Message, Parameter, PcfError
from mqvitals_agent.pcf.structures import read_header
from mqvitals_agent.simulator.answers.common import local_time, name_matches
from mqvitals_agent.simulator.connector import CommandReplies
from mqvitals_agent.simulator.state import GroupState

CCSID: Final = 1208
STATISTICS_QUEUE: Final = "SYSTEM.ADMIN.STATISTICS.QUEUE"
NETTIME_SHORT, NETTIME_LONG = 900, 4_000
"""Microseconds, of its sender channels."""
STARTED_BEFORE_MS: Final = 86_400_000
DEPTHS: Final[Mapping[str, int]] = {
    "ORDERS.REPLY": 12,
    "QM01": 0,
    "SYSTEM.ADMIN.COMMAND.QUEUE": 0,
    STATISTICS_QUEUE: 3,
    "SYSTEM.DEAD.LETTER.QUEUE": 1,
}
"""Its queues and what is on them; QM01 is a transmission queue."""

_TAKES: Final[Mapping[int, frozenset[int]]] = {
    mq.MQCMD_INQUIRE_Q_MGR: frozenset({mq.MQIACF_Q_MGR_ATTRS}),
    mq.MQCMD_INQUIRE_Q_MGR_STATUS: frozenset(),
    mq.MQCMD_INQUIRE_Q: frozenset({mq.MQCA_Q_NAME, mq.MQIA_Q_TYPE, mq.MQIACF_Q_ATTRS}),
    mq.MQCMD_INQUIRE_Q_STATUS: frozenset({mq.MQCA_Q_NAME, mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS_ATTRS}),
    mq.MQCMD_INQUIRE_CHANNEL: frozenset({mq.MQCACH_CHANNEL_NAME, mq.MQIACH_CHANNEL_TYPE, mq.MQIACF_CHANNEL_ATTRS}),
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: frozenset(
        {
            mq.MQCACH_CHANNEL_NAME,
            mq.MQIACH_CHANNEL_INSTANCE_TYPE,
            mq.MQIACH_CHANNEL_INSTANCE_ATTRS,
            mq.MQIACH_CHANNEL_TYPE,
        }
    ),
    mq.MQCMD_INQUIRE_CONNECTION: frozenset(
        {mq.MQBACF_GENERIC_CONNECTION_ID, mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_UOW_STATE, mq.MQIACF_CONNECTION_ATTRS}
    ),
    mq.MQCMD_INQUIRE_CLUSTER_Q_MGR: frozenset({mq.MQCA_CLUSTER_Q_MGR_NAME, mq.MQIACF_CLUSTER_Q_MGR_ATTRS}),
    mq.MQCMD_INQUIRE_PUBSUB_STATUS: frozenset({mq.MQIACF_PS_STATUS_TYPE}),
    mq.MQCMD_INQUIRE_SUBSCRIPTION: frozenset({mq.MQCACF_SUB_NAME, mq.MQIACF_SUB_ATTRS, mq.MQIACF_DURABLE_SUBSCRIPTION}),
}

_NONE: Final[Mapping[int, int]] = {
    mq.MQCMD_INQUIRE_CHANNEL_STATUS: mq.MQRCCF_CHL_STATUS_NOT_FOUND,
    mq.MQCMD_INQUIRE_CONNECTION: mq.MQRCCF_NONE_FOUND,
}
"""The reason of an answer without items; of other commands it is that of an unknown object."""

Item = Sequence[Parameter]


class DistributedServer:
    """Answers for the distributed queue manager ``name``. ``refused`` are commands and parameters that it does not know."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.refused: list[str] = []
        self._decoder = Decoder()
        self._tell: dict[int, Callable[[Message, int], Iterable[Item]]] = {
            mq.MQCMD_INQUIRE_Q_MGR: self._queue_manager,
            mq.MQCMD_INQUIRE_Q_MGR_STATUS: self._status,
            mq.MQCMD_INQUIRE_Q: self._queues,
            mq.MQCMD_INQUIRE_Q_STATUS: self._queue_status,
            mq.MQCMD_INQUIRE_CHANNEL: self._channels,
            mq.MQCMD_INQUIRE_CHANNEL_STATUS: self._channel_status,
            mq.MQCMD_INQUIRE_CONNECTION: self._nothing,
            mq.MQCMD_INQUIRE_CLUSTER_Q_MGR: self._nothing,
            mq.MQCMD_INQUIRE_PUBSUB_STATUS: self._publishing,
            mq.MQCMD_INQUIRE_SUBSCRIPTION: self._nothing,
        }

    def answer(self, request: bytes, group: GroupState) -> CommandReplies:
        """The answer to a request put now."""
        number = read_header(request, 0).command
        tell = self._tell.get(number)
        if tell is None:
            self.refused.append(f"command {number}, which is for z/OS alone")
            return self._failed(number, mq.MQRCCF_CFH_COMMAND_ERROR)
        try:
            message = self._decoder.decode(request, REQUEST_CCSID)
        except PcfError:
            return self._failed(number, mq.MQRCCF_MSG_LENGTH_ERROR)
        for parameter in message.parameters:
            if parameter.id not in _TAKES[number]:
                self.refused.append(f"parameter {parameter.id} of command {number}")
                text = parameter.type == mq.MQCFT_STRING
                return self._failed(number, mq.MQRCCF_CFST_PARM_ID_ERROR if text else mq.MQRCCF_CFIN_PARM_ID_ERROR)
        items = list(tell(message, group.now))
        if not items:
            return self._failed(number, _NONE.get(number, mq.MQRC_UNKNOWN_OBJECT_NAME))
        last = len(items)
        return CommandReplies(
            [_message(number, item, place, last=place == last) for place, item in enumerate(items, 1)], True
        )

    def _failed(self, command: int, reason: int) -> CommandReplies:
        first = _message(command, (), 1, last=False, reason=reason)
        return CommandReplies([first, _message(command, (), 2, last=True, reason=mq.MQRCCF_COMMAND_FAILED)], whole=True)

    def _queue_manager(self, _: Message, now: int) -> Iterable[Item]:
        date, time = local_time(now - STARTED_BEFORE_MS, 0)
        yield (
            string(mq.MQCA_Q_MGR_NAME, self.name, 48),
            string(mq.MQCA_Q_MGR_DESC, "partner", 64),
            string(mq.MQCA_Q_MGR_IDENTIFIER, f"{self.name}_2026-11-19_08.00.00", 48),
            string(mq.MQCA_VERSION, "09040000"),
            integer(mq.MQIA_COMMAND_LEVEL, 940),
            integer(mq.MQIA_PLATFORM, mq.MQPL_UNIX),
            integer(mq.MQIA_CODED_CHAR_SET_ID, CCSID),
            string(mq.MQCA_COMMAND_INPUT_Q_NAME, "SYSTEM.ADMIN.COMMAND.QUEUE", 48),
            string(mq.MQCA_DEAD_LETTER_Q_NAME, "SYSTEM.DEAD.LETTER.QUEUE", 48),
            integer(mq.MQIA_STATISTICS_MQI, mq.MQMON_ON),
            integer(mq.MQIA_STATISTICS_Q, mq.MQMON_ON),
            integer(mq.MQIA_STATISTICS_INTERVAL, 60),
            string(mq.MQCA_CREATION_DATE, date),
            string(mq.MQCA_CREATION_TIME, time),
        )

    def _status(self, _: Message, now: int) -> Iterable[Item]:
        date, time = local_time(now - STARTED_BEFORE_MS, 0)
        yield (
            string(mq.MQCA_Q_MGR_NAME, self.name, 48),
            integer(mq.MQIACF_Q_MGR_STATUS, mq.MQQMSTA_RUNNING),
            integer(mq.MQIACF_CHINIT_STATUS, mq.MQSVC_STATUS_RUNNING),
            integer(mq.MQIACF_CMD_SERVER_STATUS, mq.MQSVC_STATUS_RUNNING),
            integer(mq.MQIACF_CONNECTION_COUNT, 17),
            string(mq.MQCACF_Q_MGR_START_DATE, date),
            string(mq.MQCACF_Q_MGR_START_TIME, time),
        )

    def _queues(self, message: Message, _: int) -> Iterable[Item]:
        for name, _depth in _wanted(DEPTHS, message, mq.MQCA_Q_NAME):
            yield (
                string(mq.MQCA_Q_NAME, name, 48),
                integer(mq.MQIA_Q_TYPE, mq.MQQT_LOCAL),
                string(mq.MQCA_Q_DESC, "", 64),
                integer(mq.MQIA_MAX_Q_DEPTH, 5_000),
                integer(mq.MQIA_USAGE, mq.MQUS_TRANSMISSION if name == "QM01" else mq.MQUS_NORMAL),
                integer(mq.MQIA_DEFINITION_TYPE, mq.MQQDT_PREDEFINED),
                integer(mq.MQIA_STATISTICS_Q, mq.MQMON_Q_MGR),
            )

    def _nothing(self, _message: Message, _now: int) -> Iterable[Item]:
        """No unit of work, no cluster, no subscription."""
        return ()

    def _publishing(self, _message: Message, _now: int) -> Iterable[Item]:
        yield (
            integer(mq.MQIACF_PS_STATUS_TYPE, mq.MQPSST_LOCAL),
            integer(mq.MQIACF_PUBSUB_STATUS, mq.MQPS_STATUS_ACTIVE),
        )

    def _queue_status(self, message: Message, _: int) -> Iterable[Item]:
        for name, depth in _wanted(DEPTHS, message, mq.MQCA_Q_NAME):
            yield (
                string(mq.MQCA_Q_NAME, name, 48),
                integer(mq.MQIACF_Q_STATUS_TYPE, mq.MQIACF_Q_STATUS),
                integer(mq.MQIA_CURRENT_Q_DEPTH, depth),
                integer(mq.MQIA_OPEN_INPUT_COUNT, 1),
                integer(mq.MQIA_OPEN_OUTPUT_COUNT, 2),
                integer(mq.MQIACF_UNCOMMITTED_MSGS, 4),
                integer(mq.MQIACF_OLDEST_MSG_AGE, 30 if depth else 0),
                integers(mq.MQIACF_Q_TIME_INDICATOR, (300, 200)),
                integer(mq.MQIA_MONITORING_Q, mq.MQMON_MEDIUM),
                integer(mq.MQIACF_CUR_Q_FILE_SIZE, 1),
            )

    def _channels(self, message: Message, _: int) -> Iterable[Item]:
        for name, kind in _wanted(self._kinds, message, mq.MQCACH_CHANNEL_NAME):
            yield (
                string(mq.MQCACH_CHANNEL_NAME, name, 20),
                integer(mq.MQIACH_CHANNEL_TYPE, kind),
                string(mq.MQCACH_DESC, "", 64),
                integer(mq.MQIACH_BATCH_SIZE, 50),
                integer(mq.MQIA_MONITORING_CHANNEL, mq.MQMON_Q_MGR),
            )

    def _channel_status(self, message: Message, now: int) -> Iterable[Item]:
        date, time = local_time(now - STARTED_BEFORE_MS, 0)
        for name, kind in _wanted(self._kinds, message, mq.MQCACH_CHANNEL_NAME):
            if not _passes(message.values.get(mq.MQIACH_CHANNEL_TYPE), kind):
                continue
            sends = kind == mq.MQCHT_SENDER
            yield (
                string(mq.MQCACH_CHANNEL_NAME, name, 20),
                integer(mq.MQIACH_CHANNEL_INSTANCE_TYPE, mq.MQOT_CURRENT_CHANNEL),
                integer(mq.MQIACH_CHANNEL_TYPE, kind),
                string(mq.MQCACH_CONNECTION_NAME, "10.20.0.11(1414)", 264),
                *((string(mq.MQCACH_XMIT_Q_NAME, "QM01", 48),) if sends else ()),
                string(mq.MQCA_REMOTE_Q_MGR_NAME, "QM01", 48),
                integer(mq.MQIACH_CHANNEL_STATUS, mq.MQCHS_RUNNING),
                string(mq.MQCACH_CHANNEL_START_DATE, date),
                string(mq.MQCACH_CHANNEL_START_TIME, time),
                integer(mq.MQIACH_MSGS, now // 1000 % 1_000_000),
                integer(mq.MQIACH_BATCHES, now // 10_000 % 100_000),
                *(
                    (
                        integers(mq.MQIACH_NETWORK_TIME_INDICATOR, (NETTIME_LONG, NETTIME_SHORT)),
                        integers(mq.MQIACH_XMITQ_TIME_INDICATOR, (70, 60)),
                        integers(mq.MQIACH_BATCH_SIZE_INDICATOR, (20, 10)),
                    )
                    if sends
                    else ()
                ),
                integer(mq.MQIA_MONITORING_CHANNEL, mq.MQMON_MEDIUM),
                string(mq.MQCACH_MCA_JOB_NAME, "00001E2400000001", 28),
                integer(mq.MQIACH_MCA_STATUS, mq.MQMCAS_RUNNING),
            )

    @property
    def _kinds(self) -> Mapping[str, int]:
        """Its channels: the other end of the group's sender channels, and the way back."""
        return {f"TO.{self.name}": mq.MQCHT_RECEIVER, "TO.QM01": mq.MQCHT_SENDER}


def _wanted(there: Mapping[str, int], message: Message, name_id: int) -> Iterable[tuple[str, int]]:
    pattern = message.values.get(name_id)
    return ((name, value) for name, value in there.items() if isinstance(pattern, str) and name_matches(name, pattern))


def _passes(where: object, value: int) -> bool:
    """Whether a filter on an integer (EQ or NE) lets a value through; without one everything passes."""
    if not isinstance(where, FilterValue):
        return True
    return (value == where.value) == (where.operator == mq.MQCFOP_EQUAL)


def _message(command: int, item: Item, sequence: int, *, last: bool, reason: int = 0) -> bytes:
    return encode_message(
        mq.MQCFT_RESPONSE,
        command,
        item,
        version=mq.MQCFH_VERSION_1,
        sequence=sequence,
        control=mq.MQCFC_LAST if last else mq.MQCFC_NOT_LAST,
        comp_code=mq.MQCC_FAILED if reason else mq.MQCC_OK,
        reason=reason,
        order="<",
        ccsid=CCSID,
    )
