"""The header of a message on a dead-letter queue (MQDLH): why it is there, where it was to go, who put it, when.

It stands before the body, which is never read. Integers are in the encoding, texts in the character set of the
message's descriptor; offsets are those of IBM's structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from struct import Struct
from typing import Final

from mqvitals_agent.pcf.codepage import codec, is_known_ccsid
from mqvitals_agent.pcf.message import PcfError

HEADER_LENGTH: Final = 172
_FIELDS: Final = "4sii48s48sii8si28s8s8s"
_LITTLE, _BIG = Struct(f"<{_FIELDS}"), Struct(f">{_FIELDS}")
_UTF_8, _EBCDIC = 1208, 500
_ENCODING_MASK: Final = 0xF
_REVERSED: Final = 2
"""MQENC_INTEGER_REVERSED: the least significant byte first."""


@dataclass(frozen=True, slots=True)
class DeadLetterHeader:
    """What is kept of one. ``put`` is when it was put there, ms since 1970 UTC; None where that cannot be read."""

    reason: int
    queue: str
    queue_manager: str
    format: str
    application: str
    put: int | None


def read_dead_letter_header(data: bytes, encoding: int, ccsid: int) -> DeadLetterHeader:
    """The header at the beginning of ``data``. Raises PcfError for anything else.

    Texts in an unknown character set are taken for UTF-8 or EBCDIC, whichever the structure's identifier is in.
    """
    if len(data) < HEADER_LENGTH:
        raise PcfError(len(data), f"a dead-letter header of {HEADER_LENGTH} bytes")
    layout = _LITTLE if encoding & _ENCODING_MASK == _REVERSED else _BIG
    if not is_known_ccsid(ccsid):
        ccsid = _UTF_8 if data.startswith(b"DLH ") else _EBCDIC
    mark, version, reason, queue, manager, _, _, format_, _, application, day, time = layout.unpack_from(data)
    page = codec(ccsid)

    def text(field: bytes) -> str:
        return page.decode(field).partition("\0")[0].rstrip()

    if text(mark) != "DLH" or version != 1:
        raise PcfError(0, f"the identifier DLH and version 1 of a dead-letter header, not {text(mark)!r} and {version}")
    return DeadLetterHeader(
        reason, text(queue), text(manager), text(format_), text(application), _moment(text(day), text(time))
    )


def _moment(day: str, time: str) -> int | None:
    digits = day + time
    if len(digits) != 16 or not (digits.isascii() and digits.isdigit()):
        return None
    try:
        second = datetime.strptime(digits[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(second.timestamp()) * 1000 + int(digits[14:]) * 10
