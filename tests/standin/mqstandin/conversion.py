"""What MQGMO_CONVERT does to a message's data."""

from __future__ import annotations

from typing import Final, NamedTuple

from mqstandin import numbers as mq
from mqstandin.descriptor import Descriptor
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import encode
from mqvitals_agent.pcf.message import PcfError
from mqvitals_agent.pcf.structures import Order

CLIENT_CCSID: Final = 1208
"""What CCSID 0 in the MQMD of an MQGET means: the character set of the client."""
_INTEGERS: Final = 0x0F
_REVERSED: Final = 2


class Converted(NamedTuple):
    """Data and how they are encoded now; ``reason`` says why they are as they were, 0 when they were converted."""

    data: bytes
    encoding: int
    ccsid: int
    reason: int = 0


class Converter:
    """Converts PCF messages and texts, as the queue manager's end of a client connection does it."""

    def __init__(self) -> None:
        self._decoder = Decoder()

    def convert(self, data: bytes, described: Descriptor, encoding: int, ccsid: int) -> Converted:
        """To that encoding and character set; what cannot be converted is as it was, with a reason."""
        ccsid = ccsid or CLIENT_CCSID
        unchanged = Converted(data, described.encoding, described.ccsid)
        if (encoding, ccsid) == (described.encoding, described.ccsid):
            return unchanged
        pcf = described.format in mq.PCF_FORMATS
        if not pcf and described.format != mq.MQFMT_STRING:
            return unchanged._replace(reason=mq.MQRC_FORMAT_ERROR)
        for number, reason in ((described.ccsid, mq.MQRC_SOURCE_CCSID_ERROR), (ccsid, mq.MQRC_TARGET_CCSID_ERROR)):
            try:
                codec(number)
            except PcfError:
                return unchanged._replace(reason=reason)
        if not pcf:
            text = codec(described.ccsid).decode(data)
            return Converted(codec(ccsid).encode(text), encoding, ccsid)
        try:
            message = self._decoder.decode(data, described.ccsid)
        except PcfError:
            return unchanged._replace(reason=mq.MQRC_FORMAT_ERROR)
        order: Order = "<" if encoding & _INTEGERS == _REVERSED else ">"
        return Converted(encode(message, order=order, ccsid=ccsid), encoding, ccsid)
