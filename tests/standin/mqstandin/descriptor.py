"""Message descriptors (MQMD) and the messages they describe."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from struct import Struct, pack_into
from typing import Final

from mqstandin import numbers as mq

LENGTH: Final = 364
"""Of an MQMD of version 2, bytes."""
NO_ID: Final = bytes(24)
_FIRST: Final = Struct("<4s6i").unpack_from
_INTEGER: Final = Struct("<i").pack
_PERSISTENCE: Final = 44
_MSG_ID, _CORREL_ID, _REPLY_TO, _USER = 48, 72, 100, 196
_PUT_TYPE: Final = 272
_VERSION_2: Final = Struct("<24s4i").pack(NO_ID, 1, 0, 0, -1)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """The fields of an MQMD that the stand-in looks at. ``expiry`` in tenths of a second, -1 for unlimited."""

    report: int
    kind: int
    expiry: int
    encoding: int
    ccsid: int
    format: bytes
    persistence: int
    msg_id: bytes
    correl_id: bytes
    reply_to: str

    @classmethod
    def read(cls, md: bytes) -> Descriptor:
        """The fields of those bytes."""
        _, _, report, kind, expiry, _, encoding = _FIRST(md)
        return cls(
            report,
            kind,
            expiry,
            encoding,
            int.from_bytes(md[28:32], "little", signed=True),
            _blanks(md[32:40]),
            int.from_bytes(md[_PERSISTENCE : _PERSISTENCE + 4], "little", signed=True),
            md[_MSG_ID:_CORREL_ID],
            md[_CORREL_ID : _CORREL_ID + 24],
            name(md[_REPLY_TO : _REPLY_TO + 48]),
        )


@dataclass(slots=True)
class Stored:
    """A message on a queue. ``expires`` by the event loop's clock, s; None for never.

    The identifiers here count, not those in ``descriptor``, which the messages of one answer share.
    """

    md: bytes
    data: bytes
    msg_id: bytes
    correl_id: bytes
    expires: float | None
    descriptor: Descriptor

    def described(self, now: float, encoding: int, ccsid: int) -> bytes:
        """The MQMD as an MQGET returns it: what is left of its expiry, and how its data are encoded after conversion."""
        md, fields, expires = self.md, self.descriptor, self.expires
        if expires is not None:
            md = md[:16] + _INTEGER(max(round((expires - now) * 10), 0)) + md[20:]
        if encoding != fields.encoding or ccsid != fields.ccsid:
            md = md[:24] + _INTEGER(encoding) + _INTEGER(ccsid) + md[32:]
        return md


def name(field_of_structure: bytes) -> str:
    """The name in a field filled with blanks or NULs."""
    return field_of_structure.split(b"\0", 1)[0].decode("latin-1").rstrip()


def padded(text: str, length: int) -> bytes:
    """The field of a structure that holds the text."""
    return text.encode("latin-1")[:length].ljust(length)


def put_context(md: bytes, msg_id: bytes, correl_id: bytes, user: str, application: str, moment: int) -> bytes:
    """The MQMD, of version 2, of a message put at that moment (ms since 1970 UTC) by that user and application."""
    changed = bytearray(md if len(md) == LENGTH else md + _VERSION_2)
    pack_into("<i", changed, 4, 2)
    changed[_MSG_ID:_CORREL_ID] = msg_id
    changed[_CORREL_ID : _CORREL_ID + 24] = correl_id
    changed[_USER : _USER + 12] = padded(user, 12)
    pack_into("<i", changed, _PUT_TYPE, mq.MQAT_ZOS)
    changed[276:304] = padded(application, 28)
    changed[304:320] = put_time(moment)
    return bytes(changed)


def put_time(moment: int) -> bytes:
    """PutDate and PutTime, which are Greenwich Mean Time with hundredths of a second."""
    when = datetime.fromtimestamp(moment // 1000, UTC)
    return f"{when:%Y%m%d%H%M%S}{moment % 1000 // 10:02d}".encode()


def new(
    *,
    kind: int,
    format: bytes,  # noqa: A002 - IBM's name of the field
    encoding: int,
    ccsid: int,
    msg_id: bytes,
    correl_id: bytes,
    persistence: int = mq.MQPER_NOT_PERSISTENT,
    expiry: int = mq.MQEI_UNLIMITED,
    user: str = "",
    application: str = "",
    moment: int = 0,
) -> bytes:
    """A whole MQMD."""
    md = bytearray(LENGTH)
    pack_into("<4s7i", md, 0, b"MD  ", 2, 0, kind, expiry, 0, encoding, ccsid)
    md[32:40] = format
    pack_into("<2i", md, 40, 0, persistence)
    md[_REPLY_TO:_USER] = b" " * 96
    md[324:] = _VERSION_2
    return put_context(bytes(md), msg_id, correl_id, user, application, moment)


def _blanks(text: bytes) -> bytes:
    return text.replace(b"\0", b" ")
