"""The form of the answers is that of the recordings, which IBM's own classes encoded: order, types, header."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mqvitals_agent.connection.exchange import Exchange
from mqvitals_agent.connection.recording import read
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import Message
from mqvitals_agent.poll.probes import PROBES

Kind = tuple[object, ...]
_PARTS = (
    mq.MQIACF_USAGE_TYPE,
    mq.MQIACF_USAGE_DATA_SET_TYPE,
    mq.MQIACF_SYSP_TYPE,
    mq.MQIACF_CF_STATUS_TYPE,
    mq.MQIACH_CHANNEL_TYPE,
)
"""Parameters that tell items of one command apart."""
NOT_SIMULATED = {
    mq.MQCACH_REMOTE_VERSION,
    mq.MQCACH_REMOTE_PRODUCT,
    mq.MQCACH_CURRENT_LUWID,
    mq.MQCACH_LAST_LUWID,
    mq.MQCACH_SSL_CIPHER_SPEC,
    mq.MQIACH_SECURITY_PROTOCOL,
    mq.MQCACH_SSL_SHORT_PEER_NAME,
    mq.MQIACH_SSL_KEY_RESETS,
    mq.MQIACH_NETWORK_TIME_INDICATOR,
    mq.MQCACF_CF_STRUC_LOG_Q_MGRS,
    mq.MQIACF_SYSP_CHKPOINT_COUNT,
}
"""What recorded items hold and simulated ones, of some types, do not."""


def items(exchanges: Iterable[Exchange]) -> dict[Kind, dict[int, int]]:
    """The first item of each kind: its parameters in order, with their structure types."""
    decoder = Decoder()
    found: dict[Kind, dict[int, int]] = {}
    for exchange in exchanges:
        for reply in exchange.replies:
            message = decoder.decode(reply.data, reply.ccsid)
            if message.type == mq.MQCFT_XR_ITEM and message.comp_code == 0:
                found.setdefault(kind(message), {each.id: each.type for each in message.parameters})
    return found


def kind(message: Message) -> Kind:
    """What an item tells of."""
    extra = mq.MQIACH_LISTENER_STATUS in message.values, mq.MQIACF_USAGE_BLOCK_SIZE in message.values
    shared = message.get(mq.MQIA_QSG_DISP) == mq.MQQSGD_SHARED
    return (message.command, *map(message.get, _PARTS), extra, shared)


def test_items_look_like_recorded_ones(talk: Any, shared_data: Path) -> None:
    """Every parameter that both have comes in the recorded order and type; none of the recorded is missing but the known."""
    recorded = items(read(shared_data / "pcf" / "recording-quiet.jsonl.gz"))
    asked: list[Exchange] = []
    talk.collector.feed = asked.append
    talk.everything()
    ours = items(asked)
    compared = set()
    for what, parameters in ours.items():
        if what not in recorded:
            continue
        compared.add(what[0])
        theirs = recorded[what]
        common = [(number, parameters[number]) for number in parameters if number in theirs]
        expected = [(number, theirs[number]) for number in theirs if number in parameters]
        assert common == expected, what
        assert set(theirs) - set(parameters) <= NOT_SIMULATED, what
    of_zos = set(PROBES) - {mq.MQCMD_INQUIRE_ARCHIVE, mq.MQCMD_INQUIRE_Q_MGR_STATUS}
    assert compared >= of_zos
