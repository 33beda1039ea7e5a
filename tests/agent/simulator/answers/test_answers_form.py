"""The form of the answers is that of z/OS: which parameters an item holds, in which order and of which structure type."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mqvitals_agent.connection.connection import Exchange
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import Message
from mqvitals_agent.pcf.names import command_name
from mqvitals_agent.poll.queries import PROBES

Kind = tuple[object, ...]
FORMS = Path(__file__).with_name("item_forms.txt")
"""A line an item: its command and what else identifies it, then ``parameter/structure type`` in order."""
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
    mq.MQIACH_SECURITY_PROTOCOL,
    mq.MQCACH_SSL_SHORT_PEER_NAME,
    mq.MQIACH_SSL_KEY_RESETS,
    mq.MQIACH_NETWORK_TIME_INDICATOR,
    mq.MQCACF_CF_STRUC_LOG_Q_MGRS,
    mq.MQIACF_SYSP_CHKPOINT_COUNT,
}
"""What items of z/OS hold and simulated ones, of some types, do not."""

NEVER_SEEN = {
    mq.MQCMD_INQUIRE_SMDSCONN,
    mq.MQCMD_INQUIRE_CONNECTION,
    mq.MQCMD_INQUIRE_CLUSTER_Q_MGR,
    mq.MQCMD_INQUIRE_PUBSUB_STATUS,
    mq.MQCMD_INQUIRE_SUBSCRIPTION,
    mq.MQCMD_INQUIRE_SECURITY,
}
"""Commands of which no item of a real queue manager was ever seen: only the parameters are documented, not their order."""


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
    """What an item is about."""
    extra = mq.MQIACH_LISTENER_STATUS in message.values, mq.MQIACF_USAGE_BLOCK_SIZE in message.values
    shared = message.get(mq.MQIA_QSG_DISP) == mq.MQQSGD_SHARED
    return (message.command, *map(message.get, _PARTS), extra, shared)


def title(what: Kind) -> str:
    """What an item is about, as one word a part."""
    command, *rest = what
    assert isinstance(command, int)
    return " ".join(
        [command_name(command) or str(command), *("-" if part is None else f"{part}".replace(" ", "") for part in rest)]
    )


def documented() -> dict[str, dict[int, int]]:
    """The items of z/OS queue managers by their titles: parameters in their order, with their structure types."""
    found: dict[str, dict[int, int]] = {}
    for line in FORMS.read_text("utf-8").splitlines():
        what, _, parameters = line.partition(": ")
        pairs = (each.split("/") for each in parameters.split())
        found[what] = {int(number): int(type_) for number, type_ in pairs}
    return found


def test_items_have_the_documented_form(talk: Any) -> None:
    """Every parameter that both have comes in the documented order and type; none is missing but the known."""
    expected_forms = documented()
    asked: list[Exchange] = []
    talk.collector.feed = asked.append
    talk.everything()
    compared = set()
    for what, parameters in items(asked).items():
        theirs = expected_forms.get(title(what))
        if theirs is None:
            continue
        compared.add(what[0])
        common = [(number, parameters[number]) for number in parameters if number in theirs]
        expected = [(number, theirs[number]) for number in theirs if number in parameters]
        assert common == expected, what
        assert set(theirs) - set(parameters) <= NOT_SIMULATED, what
    of_zos = set(PROBES) - {mq.MQCMD_INQUIRE_ARCHIVE, mq.MQCMD_INQUIRE_Q_MGR_STATUS} - NEVER_SEEN
    assert compared >= of_zos
