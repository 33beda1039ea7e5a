"""Answers as a z/OS command server gives them: extended responses in one set, EBCDIC, big-endian."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mqvitals_agent.pcf import constants as c
from mqvitals_agent.pcf.encoder import byte_string, encode_message, string
from mqvitals_agent.pcf.message import Parameter

CCSID = 500
RESPONSE_ID_LENGTH = 24


def answer(
    queue_manager: str, command: int, items: Iterable[Sequence[Parameter]], response_id: int
) -> tuple[bytes, ...]:
    """One complete response set: an XR_ITEM for each item, then the XR_SUMMARY that ends it."""
    common = (
        byte_string(c.MQBACF_RESPONSE_ID, response_id.to_bytes(RESPONSE_ID_LENGTH, "big")),
        string(c.MQCACF_RESPONSE_Q_MGR_NAME, queue_manager),
    )
    listed = [(c.MQCFT_XR_ITEM, (*common, *item)) for item in items]
    listed.append((c.MQCFT_XR_SUMMARY, common))
    return tuple(
        encode_message(
            kind,
            command,
            parameters,
            sequence=position,
            control=c.MQCFC_LAST if position == len(listed) else c.MQCFC_NOT_LAST,
            ccsid=CCSID,
        )
        for position, (kind, parameters) in enumerate(listed, start=1)
    )
