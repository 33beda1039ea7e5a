"""Answers as a z/OS command server gives them: extended responses in sets, EBCDIC, big-endian."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from struct import Struct
from typing import Final

from mqvitals_agent.pcf import constants as c
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.encoder import StructureWriter, byte_string, integer, string
from mqvitals_agent.pcf.message import Parameter

ENCODING: Final = 785
"""The encoding in message descriptors from z/OS."""
CCSID: Final = 500
RESPONSE_ID_LENGTH: Final = 24
_HEADER: Final = Struct(">9i")
_WRITER: Final = StructureWriter(">", CCSID)


_MOST_ENCODED: Final = 200_000
_encoded: Final[dict[Parameter, bytes]] = {}
"""Encoded parameters. Most are the same in every answer: names, types, limits. It is cleared when it is full."""
_EVER_NEW: Final = frozenset(
    {
        c.MQIACH_MSGS,
        c.MQIACH_BYTES_SENT,
        c.MQIACH_BYTES_RCVD,
        c.MQIACH_BUFFERS_SENT,
        c.MQIACH_BUFFERS_RCVD,
        c.MQIACH_BATCHES,
        c.MQIACH_CURRENT_SEQ_NUMBER,
        c.MQIACH_LAST_SEQ_NUMBER,
        c.MQBACF_Q_MGR_UOW_ID,
        c.MQCACF_SYSP_LOG_RBA,
        c.MQCACF_USAGE_LOG_RBA,
        c.MQCACF_UOW_LOG_START_TIME,
        c.MQCACF_UOW_START_TIME,
        c.MQCACF_LAST_GET_TIME,
        c.MQCACF_LAST_PUT_TIME,
        c.MQCACH_LAST_MSG_TIME,
    }
)
"""Parameters that hardly ever have a value again: encoded, they would only fill the memory."""


_DEAD_LETTER: Final = Struct(">4sii48s48sii8si28s8s8s")
_BATCH: Final = 2  # MQAT_ZOS


def dead_letter_header(queue_manager: str, reason: int, queue: str, put: int) -> bytes:
    """The header of a message that the channel initiator put on a dead-letter queue at ``put``, ms since 1970 UTC."""
    page = codec(CCSID)

    def text(value: str, length: int) -> bytes:
        return page.encode(value.ljust(length))

    moment = datetime.fromtimestamp(put / 1000, UTC)
    return _DEAD_LETTER.pack(
        text("DLH", 4),
        1,
        reason,
        text(queue, 48),
        text(queue_manager, 48),
        ENCODING,
        CCSID,
        text("MQSTR", 8),
        _BATCH,
        text(f"{queue_manager}CHIN", 28),
        text(moment.strftime("%Y%m%d"), 8),
        text(f"{moment:%H%M%S}{put % 1000 // 10:02}", 8),
    )


def answer(
    queue_manager: str, command: int, items: Iterable[Sequence[Parameter]], response_id: int
) -> tuple[bytes, ...]:
    """One complete response set: an XR_ITEM for each item, then the XR_SUMMARY that ends it."""
    return tuple(item_set(queue_manager, command, response_id.to_bytes(RESPONSE_ID_LENGTH, "big"), items))


def encode(parameters: Sequence[Parameter]) -> bytes:
    """The parameters one after another. ValueError for a value that does not fit its structure."""
    known = list(map(_encoded.get, parameters))
    if None in known:
        # Usually only a few counters have changed.
        return b"".join(
            [
                _structure(parameter) if found is None else found
                for parameter, found in zip(parameters, known, strict=True)
            ]
        )
    return b"".join(known)  # type: ignore[arg-type]


def _structure(parameter: Parameter) -> bytes:
    found = _WRITER.structure(parameter)
    if parameter.id not in _EVER_NEW:
        if len(_encoded) >= _MOST_ENCODED:
            _encoded.clear()
        _encoded[parameter] = found
    return found


def item_set(queue_manager: str, command: int, set_id: bytes, items: Iterable[Sequence[Parameter]]) -> list[bytes]:
    """A response set with objects: an XR_ITEM for each, then the XR_SUMMARY."""
    common = _common(queue_manager, set_id)
    found = []
    pack = _HEADER.pack
    sequence = 1
    for item in items:
        header = pack(
            c.MQCFT_XR_ITEM,
            c.MQCFH_STRUC_LENGTH,
            c.MQCFH_VERSION_3,
            command,
            sequence,
            c.MQCFC_NOT_LAST,
            0,
            0,
            2 + len(item),
        )
        found.append(header + common + encode(item))
        sequence += 1
    found.append(_message(c.MQCFT_XR_SUMMARY, command, common, 2, sequence=sequence))
    return found


def failure_set(
    queue_manager: str,
    command: int,
    set_id: bytes,
    reason: int,
    named: Sequence[Parameter] = (),
) -> list[bytes]:
    """A response set without objects: an XR_MSG with the reason, then a failed XR_SUMMARY."""
    common = _common(queue_manager, set_id)
    return [
        _message(
            c.MQCFT_XR_MSG,
            command,
            common + encode(named),
            2 + len(named),
            last=False,
            comp_code=c.MQCC_FAILED,
            reason=reason,
        ),
        _message(
            c.MQCFT_XR_SUMMARY,
            command,
            common,
            2,
            sequence=2,
            comp_code=c.MQCC_FAILED,
            reason=c.MQRCCF_COMMAND_FAILED,
        ),
    ]


def accepted_set(
    queue_manager: str,
    command: int,
    set_id: bytes,
    announced: Sequence[bytes],
    members: int,
) -> list[bytes]:
    """The first set of a scoped command's answer: the number of queue managers asked, and the sets to come."""
    extra = (
        integer(c.MQIACF_COMMAND_INFO, c.MQCMDI_CMDSCOPE_ACCEPTED),
        integer(c.MQIACF_CMDSCOPE_Q_MGR_COUNT, members),
        *(byte_string(c.MQBACF_RESPONSE_SET, each) for each in announced),
    )
    common = _common(queue_manager, set_id)
    return [_message(c.MQCFT_XR_MSG, command, common + _plain(extra), 2 + len(extra))]


def completed_set(queue_manager: str, command: int, set_id: bytes) -> list[bytes]:
    """The last set of a scoped command's answer: every queue manager has answered."""
    extra = (integer(c.MQIACF_COMMAND_INFO, c.MQCMDI_CMDSCOPE_COMPLETED),)
    common = _common(queue_manager, set_id)
    return [_message(c.MQCFT_XR_MSG, command, common + encode(extra), 2 + len(extra))]


def _common(queue_manager: str, set_id: bytes) -> bytes:
    """The beginning of every message of a set. It is not cached: the set's identifier never comes again."""
    name = encode((string(c.MQCACF_RESPONSE_Q_MGR_NAME, queue_manager),))
    return _plain((byte_string(c.MQBACF_RESPONSE_ID, set_id),)) + name


def _plain(parameters: Sequence[Parameter]) -> bytes:
    return b"".join(map(_WRITER.structure, parameters))


def _message(
    kind: int,
    command: int,
    body: bytes,
    count: int,
    *,
    sequence: int = 1,
    last: bool = True,
    comp_code: int = c.MQCC_OK,
    reason: int = 0,
) -> bytes:
    control = c.MQCFC_LAST if last else c.MQCFC_NOT_LAST
    header = _HEADER.pack(
        kind,
        c.MQCFH_STRUC_LENGTH,
        c.MQCFH_VERSION_3,
        command,
        sequence,
        control,
        comp_code,
        reason,
        count,
    )
    return header + body
