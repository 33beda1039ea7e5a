"""Redacts exchanges and headers of a recording: ``mqvitals record --redact`` and ``mqvitals redact``.

Everything that replay depends on stays: numbers, times, the kind, length and order of messages, and which things have
the same name. Structures are rewritten in place: no length or count changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from string import ascii_lowercase
from struct import unpack_from
from typing import Final

from mqvitals_agent import __version__
from mqvitals_agent.connection.connection import Exchange, Reply
from mqvitals_agent.connection.recording_format import RecordingHeader
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import REQUEST_CCSID
from mqvitals_agent.pcf.message import FilterValue, PcfError
from mqvitals_agent.pcf.structures import PARAMETER_STRUCTURES, SMALLEST, Order, byte_order
from mqvitals_agent.redact.pseudonym import Addresses, Pseudonyms, generic_lengths, permuted, stream
from mqvitals_agent.text.figure import counted

SAFE: Final = frozenset(
    {
        # dates and times
        mq.MQCA_CREATION_DATE,
        mq.MQCA_CREATION_TIME,
        mq.MQCA_ALTERATION_DATE,
        mq.MQCA_ALTERATION_TIME,
        mq.MQCAMO_START_DATE,
        mq.MQCAMO_START_TIME,
        mq.MQCAMO_END_DATE,
        mq.MQCAMO_END_TIME,
        mq.MQCACF_UOW_START_DATE,
        mq.MQCACF_UOW_START_TIME,
        mq.MQCACF_UOW_LOG_START_DATE,
        mq.MQCACF_UOW_LOG_START_TIME,
        mq.MQCACF_FAIL_DATE,
        mq.MQCACF_FAIL_TIME,
        mq.MQCACF_BACKUP_DATE,
        mq.MQCACF_BACKUP_TIME,
        mq.MQCACF_RECOVERY_DATE,
        mq.MQCACF_RECOVERY_TIME,
        mq.MQCACF_SYSP_Q_MGR_DATE,
        mq.MQCACF_SYSP_Q_MGR_TIME,
        mq.MQCACF_LAST_PUT_DATE,
        mq.MQCACF_LAST_PUT_TIME,
        mq.MQCACF_LAST_GET_DATE,
        mq.MQCACF_LAST_GET_TIME,
        mq.MQCACF_Q_MGR_START_DATE,
        mq.MQCACF_Q_MGR_START_TIME,
        mq.MQCACH_LAST_MSG_DATE,
        mq.MQCACH_LAST_MSG_TIME,
        mq.MQCACH_CHANNEL_START_DATE,
        mq.MQCACH_CHANNEL_START_TIME,
        mq.MQCACH_SSL_KEY_RESET_DATE,
        mq.MQCACH_SSL_KEY_RESET_TIME,
        # positions in the log and numbers of units of work, in hexadecimal
        mq.MQCACF_USAGE_LOG_RBA,
        mq.MQCACF_USAGE_LOG_LRSN,
        mq.MQCACF_CF_STRUC_BACKUP_START,
        mq.MQCACF_CF_STRUC_BACKUP_END,
        mq.MQCACF_SYSP_Q_MGR_RBA,
        mq.MQCACF_SYSP_LOG_RBA,
        mq.MQCACF_SYSP_OFFLINE_RBA,
        mq.MQCACH_CURRENT_LUWID,
        mq.MQCACH_LAST_LUWID,
        # versions, products, words of MQSC
        mq.MQCA_VERSION,
        mq.MQCACH_REMOTE_VERSION,
        mq.MQCACH_REMOTE_PRODUCT,
        mq.MQCACH_SSL_CIPHER_SPEC,
        mq.MQCACF_CF_OFFLOAD_SIZE1,
        mq.MQCACF_CF_OFFLOAD_SIZE2,
        mq.MQCACF_CF_OFFLOAD_SIZE3,
        mq.MQCACF_EXCL_OPERATOR_MESSAGES,
    }
)
"""Texts that stay: a site chooses none of them."""

FREE_TEXT: Final = frozenset(
    {
        mq.MQCA_Q_DESC,
        mq.MQCA_Q_MGR_DESC,
        mq.MQCA_STORAGE_CLASS_DESC,
        mq.MQCA_CF_STRUC_DESC,
        mq.MQCA_CERT_LABEL,
        mq.MQCA_SSL_CERT_ISSUER_NAME,
        mq.MQCACF_AUX_ERROR_DATA_STR_1,
        mq.MQCACF_AUX_ERROR_DATA_STR_2,
        mq.MQCACF_AUX_ERROR_DATA_STR_3,
        mq.MQCACF_COMMAND_MQSC,
        mq.MQCACF_APPL_DESC,
        mq.MQCACH_DESC,
        mq.MQCACH_SSL_PEER_NAME,
        mq.MQCACH_SSL_SHORT_PEER_NAME,
        mq.MQCACH_SSL_CERT_ISSUER_NAME,
    }
)
"""Free text: only its length stays, as of every text that does not have the form of a name."""


_NAME: Final = re.compile(r"[A-Za-z0-9._/%$#@!*+ -]*")
"""Names of MQ and of z/OS, generic ones, data sets, jobs, hosts."""

_MOST: Final = 60_000
"""The size of the cache of texts by their bytes. A full cache is cleared; pseudonyms stay the same."""


class TextRedactor:
    """Redacts values.

    ``free`` holds texts without the form of a name; ``unreadable`` counts those in unknown character sets.
    """

    def __init__(self, salt: bytes, lengths: frozenset[int] = frozenset()) -> None:
        self._salt = salt
        self.names = Pseudonyms(salt, lengths)
        self.addresses = Addresses(salt, self._host)
        self.free: set[str] = set()
        self.unreadable = 0
        self._known: dict[tuple[bool, int, bytes], bytes] = {}
        self._known_bytes: dict[bytes, bytes] = {}

    def text(self, number: int, data: bytes, ccsid: int) -> bytes:
        """The redacted ``data``, of the same length: a text of parameter ``number`` in that character set."""
        if number in SAFE:
            return data
        key = (number in FREE_TEXT, ccsid, data)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[key] = self._text(data, ccsid, free=number in FREE_TEXT)
        return found

    def name(self, text: str) -> str:
        """The pseudonym of a name outside a message."""
        return self._redacted(text)

    def octets(self, data: bytes) -> bytes:
        """The redacted bytes, of the same length. Identifiers hold names and addresses, and are only compared.

        Zeros stay.
        """
        found = self._known_bytes.get(data)
        if found is not None:
            return found
        if not data.strip(b"\0"):
            return data
        found = data
        while True:
            found = bytes(permuted(self._salt, b"bytes", tuple(found), (256,) * len(found)))
            if found.strip(b"\0"):
                break
        if len(self._known_bytes) >= _MOST:
            self._known_bytes.clear()
        self._known_bytes[data] = found
        return found

    def _text(self, data: bytes, ccsid: int, *, free: bool) -> bytes:
        try:
            page = codec(ccsid)
        except PcfError:
            # An unreadable text may hold names, so all of it goes.
            self.unreadable += 1
            return bytes(len(data))
        text = page.decode(data)
        if not text:
            return data if not data.strip(b"\0" + page.encode(" ")) else bytes(len(data))
        kept = page.encode(text)
        if not data.startswith(kept):
            # Characters without a code: encoding the text does not return the data.
            self.free.add(text)
            return page.encode(self._letters(text, len(data)))
        if free:
            self.free.add(text)
            redacted = page.encode(self._letters(text, len(kept)))
        else:
            redacted = page.encode(self._redacted(text, len(kept)))
        return redacted + data[len(kept) :]

    def _redacted(self, text: str, length: int = 0) -> str:
        if not text.strip(" *"):
            return text
        address = self.addresses.of(text)
        return self._host(text, length) if address is None else address

    def _host(self, text: str, length: int = 0) -> str:
        if _NAME.fullmatch(text):
            return self.names.of(text)
        self.free.add(text)
        return self._letters(text, length or len(text.encode("utf-8", "surrogatepass")))

    def _letters(self, text: str, length: int) -> str:
        found = stream(self._salt, b"text " + text.encode("utf-8", "surrogatepass"), length)
        return "".join(ascii_lowercase[each % len(ascii_lowercase)] for each in found)


_NOTHING: Final[frozenset[int]] = frozenset()
_WHOLE: Final = frozenset({mq.MQCFT_INTEGER, mq.MQCFT_INTEGER64, mq.MQCFT_INTEGER_FILTER, mq.MQCFT_GROUP})
"""Structures that hold only numbers. The members of a group follow it as separate structures."""

_FILLERS: Final = b"\0 \x40"  # NUL, and the blank of ASCII and of EBCDIC


def redacted_message(data: bytes, ccsid: int, texts: TextRedactor, decoder: Decoder) -> bytes | None:
    """The message with redacted values; None when it cannot be decoded. ``ccsid`` is that of its descriptor."""
    try:
        # This checks all lengths and counts.
        decoder.decode_values(data, ccsid, _NOTHING)
    except PcfError:
        return None
    order = byte_order(data)
    made = bytearray(data)
    at, end = mq.MQCFH_STRUC_LENGTH, len(data)
    layout = order + "2i"
    while at < end:
        kind, length = unpack_from(layout, data, at)
        if kind not in _WHOLE:
            _rewrite(made, data, order, at, kind, length, ccsid, texts)
        at += length
    return bytes(made)


def _rewrite(
    made: bytearray, data: bytes, order: Order, at: int, kind: int, length: int, ccsid: int, texts: TextRedactor
) -> None:
    match kind:
        case mq.MQCFT_STRING:
            number, own, size = unpack_from(order + "3i", data, at + 8)
            used = 20 + size
            made[at + 20 : at + used] = texts.text(number, data[at + 20 : at + used], own or ccsid)
        case mq.MQCFT_STRING_FILTER:
            number, _, own, size = unpack_from(order + "4i", data, at + 8)
            used = 24 + size
            made[at + 24 : at + used] = texts.text(number, data[at + 24 : at + used], own or ccsid)
        case mq.MQCFT_STRING_LIST:
            number, own, count, size = unpack_from(order + "4i", data, at + 8)
            used = 24 + count * size
            for start in range(at + 24, at + used, size or 1):
                made[start : start + size] = texts.text(number, data[start : start + size], own or ccsid)
        case mq.MQCFT_BYTE_STRING:
            (size,) = unpack_from(order + "i", data, at + 12)
            used = 16 + size
            made[at + 16 : at + used] = texts.octets(data[at + 16 : at + used])
        case mq.MQCFT_BYTE_STRING_FILTER:
            (size,) = unpack_from(order + "i", data, at + 16)
            used = 20 + size
            made[at + 20 : at + used] = texts.octets(data[at + 20 : at + used])
        case mq.MQCFT_INTEGER_LIST | mq.MQCFT_INTEGER64_LIST:
            (count,) = unpack_from(order + "i", data, at + 12)
            used = 16 + count * (4 if kind == mq.MQCFT_INTEGER_LIST else 8)
        case _ if kind not in PARAMETER_STRUCTURES:
            used = SMALLEST
        case _:
            raise AssertionError(f"structure type {kind} is one of a parameter and has no layout here")
    # Padding has no meaning, and may be a remainder of another message.
    if data[at + used : at + length].strip(_FILLERS):
        made[at + used : at + length] = bytes(length - used)


_TEXTS = frozenset({mq.MQCFT_STRING, mq.MQCFT_STRING_FILTER})


class Redactor:
    """Redacts one recording, header and exchanges. Not thread-safe.

    ``salt`` is random and secret: with it names can be found by guessing. ``lengths`` are those of all generic names
    that the requests hold (``generic_lengths``).
    """

    def __init__(self, salt: bytes, lengths: frozenset[int] = frozenset()) -> None:
        self.texts = TextRedactor(salt, lengths)
        self._decoder = Decoder()
        self._loose: set[str] = set()
        self._damaged = 0

    def header(self, header: RecordingHeader) -> RecordingHeader:
        """The header without names; free text is removed."""
        return replace(
            header,
            source=f"mqvitals {__version__}, redacted",
            name=self.texts.name(header.name),
            queue_managers=tuple(map(self.texts.name, header.queue_managers)),
            comment="",
        )

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without names; every message keeps its length."""
        request = exchange.request
        if request is not None:
            self._loose.update(
                name
                for name in generic_names(request, self._decoder)
                if generic_lengths([name]) - self.texts.names.lengths
            )
            request = self._message(request, REQUEST_CCSID)
        return replace(
            exchange,
            queue_manager=self.texts.name(exchange.queue_manager),
            request=request,
            replies=tuple(map(self._reply, exchange.replies)),
        )

    def summary(self) -> Iterator[str]:
        """Sentences about what was replaced and what is still in the recording."""
        texts = self.texts
        yield (
            f"replaced {counted(len(texts.names.replaced), 'name')},"
            f" {counted(len(texts.addresses.replaced), 'IP address', 'IP addresses')} and "
            f"{counted(len(texts.free), 'other text')}; {counted(len(texts.names.left), 'name')} of IBM's (SYSTEM.*,"
            " CSQ*) left"
        )
        if self._damaged:
            them = "it is" if self._damaged == 1 else "they are"
            yield f"{counted(self._damaged, 'message')} could not be decoded and might hold names: {them} zeros now"
        if texts.unreadable:
            yield f"{counted(texts.unreadable, 'text')} in an unknown character set replaced by zeros"
        if self._loose:
            yield (
                f"{counted(len(self._loose), 'generic name')} became known too late: replay may take objects that are"
                " gone for unknown ones, or unknown ones for gone"
            )
        yield (
            "what stays: numbers, times, ports, versions, how many objects there are, and of each name its length and"
            " where its dots stand"
        )

    def _reply(self, reply: Reply) -> Reply:
        return replace(reply, data=self._message(reply.data, reply.ccsid))

    def _message(self, data: bytes, ccsid: int) -> bytes:
        found = redacted_message(data, ccsid, self.texts, self._decoder)
        if found is None:
            self._damaged += 1
            return bytes(len(data))
        return found


def generic_names(request: bytes, decoder: Decoder) -> Iterator[str]:
    """The generic names in a request; none when it cannot be decoded."""
    try:
        message = decoder.decode(request, REQUEST_CCSID)
    except PcfError:
        return
    for parameter in message.parameters:
        value = parameter.value.value if isinstance(parameter.value, FilterValue) else parameter.value
        if parameter.type in _TEXTS and isinstance(value, str) and value.endswith("*") and parameter.id not in SAFE:
            yield value
