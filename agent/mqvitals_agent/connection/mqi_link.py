"""The MQI over a binding package, as a link: the few calls that a conversation needs, and texts as its structures hold them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from struct import Struct
from typing import Any, Final

from mqvitals_agent.connection.connection import Reply
from mqvitals_agent.connection.link import MqiError, OpenQueue, RequestDescriptor, RouteError
from mqvitals_agent.pcf import constants as mq
from mqvitals_config.sections.connection import NAME_LENGTH


class PutTime:
    """Reads the times at which messages were put. Thousands of replies are put within one second, so the last second is remembered."""

    def __init__(self) -> None:
        self._digits = b""
        self._second: int | None = None

    def moment(self, digits: bytes) -> int | None:
        """``YYYYMMDDHHMMSSTH``, Greenwich mean time, as ms since 1970 UTC; None when it is blank or no time."""
        if digits[:14] != self._digits:
            self._digits, self._second = digits[:14], _second(digits[:14])
        hundredths = digits[14:16]
        if self._second is None or not (len(hundredths) == 2 and hundredths.isdigit()):
            return None
        return self._second + int(hundredths) * 10


def _second(digits: bytes) -> int | None:
    if len(digits) != 14 or not digits.isdigit():
        return None
    try:
        begin = datetime.strptime(digits.decode("ascii"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(begin.timestamp()) * 1000


def ascii_field(text: str, length: int, what: str) -> bytes:
    """The bytes of a name or keyword, at most ``length`` of them. Raises RouteError, which names ``what`` it was."""
    if not text.isascii():
        raise RouteError(f"{what} has characters that are not ASCII")
    return _fitting(text.encode("ascii"), length, what)


def text_field(text: str, length: int, what: str) -> bytes:
    """The bytes of a path, a label or a password, in UTF-8, at most ``length`` of them. Raises RouteError.

    The error names ``what`` it was and not the text: it may be a secret.
    """
    # What came from the environment as no UTF-8 goes on as the bytes that it was.
    return _fitting(text.encode("utf-8", "surrogateescape"), length, what)


def _fitting(data: bytes, length: int, what: str) -> bytes:
    if len(data) > length:
        raise RouteError(f"{what} is {len(data)} bytes long, and MQ takes {length}")
    if b"\0" in data:
        raise RouteError(f"{what} has a zero byte in it")
    return data


_UTF_8: Final = 1208

_ENCODING_AND_CCSID: Final = Struct("=2i")
"""At byte 24 of an MQMD: Encoding, CodedCharSetId, in the byte order of this machine."""

_OPTIONS_AND_WAIT: Final = Struct("=2i")
"""At byte 8 of an MQGMO."""

_MATCH: Final = Struct("=i")
"""At byte 72 of an MQGMO."""

_FORMAT: Final = slice(32, 40)
_MESSAGE_ID: Final = slice(48, 72)
_CORREL_ID: Final = slice(72, 96)
_PUT_DATE_AND_TIME: Final = slice(304, 320)
_DELETE_PURGE: Final = 2  # MQCO_DELETE_PURGE
_PUT_OPTIONS: Final = mq.MQPMO_NO_SYNCPOINT | mq.MQPMO_NEW_MSG_ID | mq.MQPMO_FAIL_IF_QUIESCING
_GET_OPTIONS: Final = mq.MQGMO_NO_SYNCPOINT | mq.MQGMO_FAIL_IF_QUIESCING


class MqiLink:
    """One connection through the C module of a package."""

    def __init__(self, module: Any, calls: Any, queue_manager: Any, failures: tuple[type[Exception], ...]) -> None:
        """``module`` is the package, ``calls`` its C module, ``queue_manager`` connected, ``failures`` what they raise."""
        self._module = module
        self._calls = calls
        self._queue_manager = queue_manager
        self._failures = failures
        self._connection: int = queue_manager.get_handle()
        self._put_time = PutTime()
        # A reply is got with two structures that hardly differ from call to call: they are made once, not by the package
        # for each of ten thousand replies. What the queue manager converts, if it is asked to, is then in UTF-8.
        self._descriptor = bytearray(module.MD(Version=2, CodedCharSetId=_UTF_8).pack())
        self._options = bytearray(module.GMO(Version=mq.MQGMO_VERSION_2).pack())

    def inquire(self, selectors: Sequence[int]) -> dict[int, int | str]:
        """Attributes of the queue manager, one call each: it is all that pymqi can do."""
        found: dict[int, int | str] = {}
        for selector in selectors:
            try:
                value = self._queue_manager.inquire(selector)
            except self._failures as error:
                raise mqi_error("MQINQ", error) from error
            found[selector] = value if isinstance(value, int) else _text(value)
        return found

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        """Open a queue, or make one from the model ``name``.

        Raises MqiError, and RouteError for a name that cannot be one.
        """
        descriptor = self._module.OD(ObjectName=ascii_field(name, NAME_LENGTH, "the name of a queue"))
        if dynamic_name:
            descriptor.DynamicQName = ascii_field(dynamic_name, NAME_LENGTH, "the dynamic_name")
        handle, after, comp, reason = self._made("MQOPEN", descriptor.pack(), options)
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQOPEN", comp, reason)
        descriptor.unpack(after)
        return OpenQueue(handle, _text(descriptor.ObjectName), dynamic=bool(dynamic_name))

    def put(self, queue: OpenQueue, message: bytes, request: RequestDescriptor) -> bytes:
        """Put a command message; returns its identifier."""
        descriptor = self._module.MD(
            Version=2,
            MsgType=mq.MQMT_REQUEST,
            Format=mq.MQFMT_ADMIN.encode("ascii"),
            Persistence=mq.MQPER_NOT_PERSISTENT,
            Expiry=request.expiry,
            Report=mq.MQRO_PASS_DISCARD_AND_EXPIRY | mq.MQRO_DISCARD_MSG,
            ReplyToQ=request.reply_queue.encode("latin-1"),
            Encoding=request.encoding,
            CodedCharSetId=request.ccsid,
        )
        options = self._module.PMO(Options=_PUT_OPTIONS)
        after, _, comp, reason = self._made("MQPUT", queue.handle, descriptor.pack(), options.pack(), message)
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQPUT", comp, reason)
        return bytes(after[_MESSAGE_ID])

    def get(
        self,
        queue: OpenQueue,
        correlation_id: bytes | None,
        wait_ms: int,
        size: int,
        *,
        convert: bool = False,
        syncpoint: bool = False,
    ) -> Reply:
        """Get a message by its CorrelId, or any."""
        self._descriptor[_CORREL_ID] = correlation_id or bytes(24)
        wanted = _GET_OPTIONS | (mq.MQGMO_WAIT if wait_ms else 0) | (mq.MQGMO_CONVERT if convert else 0)
        if syncpoint:
            wanted ^= mq.MQGMO_NO_SYNCPOINT | mq.MQGMO_SYNCPOINT
        _OPTIONS_AND_WAIT.pack_into(self._options, 8, wanted, wait_ms)
        _MATCH.pack_into(self._options, 72, mq.MQMO_MATCH_CORREL_ID if correlation_id is not None else 0)
        # Copies: the C modules write what comes back into what they are given.
        data, after, _, length, comp, reason = self._made(
            "MQGET", queue.handle, bytes(self._descriptor), bytes(self._options), size
        )
        if comp == mq.MQCC_FAILED or reason == mq.MQRC_TRUNCATED_MSG_FAILED:
            raise MqiError("MQGET", comp, reason, length)
        encoding, ccsid = _ENCODING_AND_CCSID.unpack_from(after, 24)
        put = self._put_time.moment(after[_PUT_DATE_AND_TIME])
        if syncpoint:
            return Reply(encoding, ccsid, data, put, bytes(after[_MESSAGE_ID]), bytes(after[_CORREL_ID]))
        return Reply(encoding, ccsid, data, put)

    def depth(self, queue: OpenQueue) -> int:
        """The number of messages on a queue."""
        value, comp, reason = self._made("MQINQ", queue.handle, mq.MQIA_CURRENT_Q_DEPTH)
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQINQ", comp, reason)
        return int(value)

    def browse(
        self, queue: OpenQueue, size: int, *, first: bool, format_: str, message_id: bytes | None = None
    ) -> Reply:
        """Look at a message, which stays where it is; of a longer one at its beginning (2079 is the normal result)."""
        self._descriptor[_CORREL_ID] = bytes(24)
        descriptor = bytearray(self._descriptor)
        descriptor[_MESSAGE_ID] = (message_id or b"").ljust(24, b"\0")
        where = mq.MQGMO_BROWSE_FIRST if first else mq.MQGMO_BROWSE_NEXT
        _OPTIONS_AND_WAIT.pack_into(self._options, 8, _GET_OPTIONS | where | mq.MQGMO_ACCEPT_TRUNCATED_MSG, 0)
        _MATCH.pack_into(self._options, 72, mq.MQMO_MATCH_MSG_ID if message_id else 0)
        data, after, _, _, comp, reason = self._made(
            "MQGET", queue.handle, bytes(descriptor), bytes(self._options), size
        )
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQGET", comp, reason)
        encoding, ccsid = _ENCODING_AND_CCSID.unpack_from(after, 24)
        wanted = bytes(after[_FORMAT]).rstrip(b" \0") == format_.strip().encode("ascii")
        put = self._put_time.moment(after[_PUT_DATE_AND_TIME])
        seen = data[:size] if wanted else b""
        return Reply(encoding, ccsid, seen, put, bytes(after[_MESSAGE_ID]), bytes(after[_CORREL_ID]))

    def commit(self) -> None:
        """End the unit of work."""
        self._end_unit("MQCMIT")

    def back_out(self) -> None:
        """Undo the unit of work."""
        self._end_unit("MQBACK")

    def _end_unit(self, call: str) -> None:
        comp, reason = self._made(call)
        if comp == mq.MQCC_FAILED:
            raise MqiError(call, comp, reason)

    def close(self, queue: OpenQueue) -> None:
        """Close a queue; one of our own making is deleted, also when its model makes permanent ones."""
        comp, reason = self._made("MQCLOSE", queue.handle, _DELETE_PURGE if queue.dynamic else 0)
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQCLOSE", comp, reason)

    def disconnect(self) -> None:
        """End the connection, whatever state it is in."""
        try:
            self._queue_manager.disconnect()
        except self._failures:
            return  # it was lost before

    def _made(self, call: str, *arguments: Any) -> Any:
        """What a call of the C module returns."""
        try:
            return getattr(self._calls, call)(self._connection, *arguments)
        except self._failures as error:
            raise mqi_error(call, error) from error


def mqi_error(call: str, error: Exception) -> MqiError:
    """A package's error as ours.

    What is no reason of MQ, such as a structure of the wrong size, is 2195 with its text.
    """
    reason = getattr(error, "reason", None)
    if reason is None:
        return MqiError(call, mq.MQCC_FAILED, mq.MQRC_UNEXPECTED_ERROR, detail=str(error))
    return MqiError(call, getattr(error, "comp", mq.MQCC_FAILED), reason)


def _text(data: bytes | str) -> str:
    """A text of the MQI: without the zero byte that ends it for C, and the blanks that fill it."""
    text = data.decode("latin-1") if isinstance(data, bytes) else data
    return text.partition("\0")[0].strip()
