"""The probes' requests, byte for byte."""

from __future__ import annotations

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_agent.poll.queries import PROBES


def head(command: int, parameters: int) -> str:
    """A request's header: type 16, version 3, one message, the last."""
    return f"0000001000000024 00000003 {command:08x} 00000001 00000001 00000000 00000000 {parameters:08x}"


def integer(number: int, value: int) -> str:
    """An MQCFIN."""
    return f"00000003 00000010 {number:08x} {value & 0xFFFFFFFF:08x}"


def string(number: int, text: str) -> str:
    """An MQCFST in CCSID 1208, filled with blanks to a multiple of four."""
    data = text.encode()
    filled = data.ljust(-(-len(data) // 4) * 4)
    return f"00000004 {20 + len(filled):08x} {number:08x} 000004b8 {len(data):08x} {filled.hex()}"


CHANNEL_STATUS = (
    "000000100000002400000003 0000002a0000000100000001000000000000000000000002"
    "0000000400000018 00000dad 000004b8 00000001 2a202020 0000000300000010 000005f3 000003f3"
)
CONNECTIONS = (
    f"{head(85, 4)} 00000009 00000010 00001b5f 00000000 {integer(1110, 1111)} 00000005 00000044 00000453 0000000d"
    + "".join(
        f" {number:08x}" for number in (7006, 3058, 1, 3025, 3501, 3506, 1128, 1132, 3060, 3061, 3062, 3063, 7009)
    )
    + " 0000000d 00000014 00000468 00000005 00000000"
)
"""All connections with a unit of work: an empty generic identifier, 13 attributes, and UOWSTATE NE NONE."""
WHOLE = [
    (42, QueryOptions(), CHANNEL_STATUS),
    (42, QueryOptions("WEB.*", scope="*"), f"{head(42, 3)} {string(3501, 'WEB.*')} {integer(1523, 1011)} {string(3080, '*')}"),
    (25, QueryOptions(), f"{head(25, 2)} {string(3501, '*')} {integer(1511, 5)}"),
    (41, QueryOptions(), f"{head(41, 3)} {string(2016, '*')} {integer(1103, 1105)} {integer(63, -1)}"),
    (41, QueryOptions("APPL*", disposition=mq.MQQSGD_SHARED, scope="*"),
     f"{head(41, 4)} {string(2016, 'APPL*')} {integer(1103, 1105)} {integer(63, 2)} {string(3080, '*')}"),
    (41, QueryOptions("GONE.QUEUE", disposition=None), f"{head(41, 2)} {string(2016, 'GONE.QUEUE')} {integer(1103, 1105)}"),
    (13, QueryOptions(), f"{head(13, 3)} {string(2016, '*')} {integer(20, 1)} {integer(63, -1)}"),
    (122, QueryOptions(), f"{head(122, 1)} {string(2022, '*')}"),
    (115, QueryOptions(), f"{head(115, 1)} {string(2039, '*')}"),
    (116, QueryOptions(), f"{head(116, 2)} {string(2039, '*')} {integer(1135, 1136)}"),
    (116, QueryOptions(part=mq.MQIACF_CF_STATUS_BACKUP), f"{head(116, 2)} {string(2039, '*')} {integer(1135, 1138)}"),
    (116, QueryOptions(part=mq.MQIACF_CF_STATUS_CONNECT), f"{head(116, 2)} {string(2039, '*')} {integer(1135, 1137)}"),
    (116, QueryOptions(part=mq.MQIACF_CF_STATUS_SMDS), f"{head(116, 2)} {string(2039, '*')} {integer(1135, 1333)}"),
    (199, QueryOptions(scope="QM02"), f"{head(199, 3)} {string(3186, '*')} {string(2039, '*')} {string(3080, 'QM02')}"),
    (70, QueryOptions(), f"{head(70, 2)} {string(2031, '*')} 00000005 00000014 00000445 00000001 000003f1"),
    (185, QueryOptions(), f"{head(185, 1)} {integer(1314, 1)}"),
    (176, QueryOptions(), f"{head(176, 3)} {string(3152, '*')} {integer(1274, 1)} 00000005 00000020 00000507 00000004 000004fa 00000c52 00000c51 00000c54"),
    (121, QueryOptions(), f"{head(121, 1)} 00000005 00000014 0000047f 00000001 000003f1"),
    (126, QueryOptions(), f"{head(126, 1)} {integer(1157, 1168)}"),
    (126, QueryOptions(part=mq.MQIACF_ALL), f"{head(126, 1)} {integer(1157, 1009)}"),
    (118, QueryOptions(), head(118, 0)),
    (118, QueryOptions(scope="*"), f"{head(118, 1)} {string(3080, '*')}"),
    (120, QueryOptions(), head(120, 0)),
    (114, QueryOptions(), head(114, 0)),
    (123, QueryOptions(), head(123, 0)),
    (119, QueryOptions(), head(119, 0)),
    (186, QueryOptions(), f"{head(186, 2)} {string(3183, '*')} {string(2039, '*')}"),
    (161, QueryOptions(), head(161, 0)),
    (126, QueryOptions(part=mq.MQIACF_USAGE_DATA_SET), f"{head(126, 1)} {integer(1157, 1169)}"),
    (85, QueryOptions(), CONNECTIONS),
    (2, QueryOptions(), f"{head(2, 1)} 00000005 00000014 000003e9 00000001 000003f1"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "question", "words"), WHOLE)
def test_request_is_exactly_these_bytes(command: int, question: QueryOptions, words: str) -> None:
    """Every probe asks in the form that z/OS queue managers take, byte for byte."""
    assert PROBES[command].ask(question) == bytes.fromhex(words)


def test_every_probe_is_tested() -> None:
    """No probe is without a request in the table."""
    assert {command for command, _, _ in WHOLE} == set(PROBES)
