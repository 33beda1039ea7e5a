"""The MQI through a binding package, IBM's ``ibmmq`` or ``pymqi``. Only this module imports either, on demand.

Both packages hand on the same C calls; their own loops and PCF helpers are not used. Of their Python layers only the
structures and connecting are: the rest goes to the C module directly, which separates warnings from failures and
keeps the message that a warning comes with.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from struct import Struct
from typing import Any, Final

from mqvitals_agent.connection.binding import (
    AUTO,
    INSTALL,
    allowed_packages,
    is_installed,
    other_package,
    unsupported_settings,
)
from mqvitals_agent.connection.connection import Reply
from mqvitals_agent.connection.link import (
    Binding,
    BindingError,
    Link,
    MqiError,
    OpenQueue,
    RequestDescriptor,
    RouteError,
)
from mqvitals_agent.connection.route import CommandRoute, Tls
from mqvitals_agent.pcf import constants as mq
from mqvitals_config.sections.connection import (
    ADDRESSES_LENGTH,
    APPLICATION_LENGTH,
    CHANNEL_LENGTH,
    CIPHER_LENGTH,
    CREDENTIAL_LENGTH,
    KEY_REPOSITORY_LENGTH,
    LABEL_LENGTH,
    NAME_LENGTH,
    PEER_NAME_LENGTH,
    URL_LENGTH,
)


class PutTime:
    """Reads them. Thousands of replies are put within one second, so the last second is remembered."""

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
_UTF_8: Final = 1208
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


_REPAIR: Final = {
    "ibmmq": "it is installed, and needs IBM's MQ client (9.1 or later) in a folder where the loader looks, such as by LD_LIBRARY_PATH=/opt/mqm/lib64",
    "pymqi": "it is installed, and needs IBM's MQ client, the one it was built with or a later one, in a folder where the loader looks, such as by LD_LIBRARY_PATH=/opt/mqm/lib64",
}
_C_MODULES: Final = {"ibmmq": "ibmmq.ibmmqc", "pymqi": "pymqi.pymqe"}
_UNUSABLE: Final = (
    ImportError,
    AttributeError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    SystemError,
    TypeError,
    ValueError,
)
"""What importing a package raises that is not there, not for this Python, or not whole."""
_CLIENT_CHANNEL, _TCP = 6, 2  # MQCHT_CLNTCONN, MQXPT_TCP
# The handle is used in one thread alone. It could be shared nevertheless, without waiting: ibmmq asks for MQCNO_HANDLE_SHARE_BLOCK
# where nothing is asked for, also beside MQCNO_HANDLE_SHARE_NONE, and MQ takes one of them only (2046). And whatever closes
# an object by accident in another thread is then refused (2219) instead of waiting behind a call that hangs.
_CONNECT_OPTIONS: Final = mq.MQCNO_CLIENT_BINDING | mq.MQCNO_HANDLE_SHARE_NO_BLOCK | mq.MQCNO_RECONNECT_DISABLED


def load_binding(preference: str = AUTO) -> Binding:
    """A binding package, ready for use: the configured one, or the first usable one (``auto``).

    Raises BindingError: one sentence with the cause and what to install.
    """
    names = allowed_packages(preference)
    causes: dict[str, BaseException] = {}
    for name in names:
        try:
            return _Package(name)
        except _UNUSABLE as error:
            causes[name] = error
    reasons = "; ".join(f"{name}: {_cause(error)}" for name, error in causes.items())
    # Where one of them is installed, the advice is about that one.
    there = next((name for name in names if is_installed(name)), None)
    advice = INSTALL[names[0]] if there is None else _REPAIR[there]
    if len(names) > 1 and there is not None:
        advice = f"for {there}, {advice}"
    advice += other_package(names, is_installed)
    raise BindingError(f"no connection to queue managers without {' or '.join(names)} ({reasons}): {advice}")


def _cause(error: BaseException) -> str:
    """The first cause of a failed import: ibmmq hides the missing client library behind another error."""
    first = error
    while (before := first.__cause__ or first.__context__) is not None:
        first = before
    return " ".join(str(first).split()) or type(first).__name__


@contextmanager
def _path_as_it_was() -> Iterator[None]:
    """Take away what is added to the module search path meanwhile.

    ibmmq puts its own folder first, with modules such as ``mqlog`` and ``mqpcf``, which later imports would find in
    place of other modules. It has imported all that it needs by then.
    """
    before = set(sys.path)
    try:
        yield
    finally:
        sys.path[:] = [entry for entry in sys.path if entry in before]


class _Package:
    """A binding package that has been imported."""

    def __init__(self, name: str) -> None:
        """Raises what ``_UNUSABLE`` lists: it is not installed, IBM's client library is not found, or it is broken."""
        self._name = name
        with _path_as_it_was():
            self._module = importlib.import_module(name)
            self._calls = importlib.import_module(_C_MODULES[name])
        self._failures = _failures(self._module, self._calls)
        _ = self._module.QueueManager, self._module.CD, self._module.SCO  # or it is another package of that name

    @property
    def name(self) -> str:
        """``ibmmq`` or ``pymqi``."""
        return self._name

    @property
    def version(self) -> str:
        """The package's version, as installed; else its own ``__version__``."""
        try:
            return importlib.metadata.version(self._name)
        except importlib.metadata.PackageNotFoundError:
            return str(getattr(self._module, "__version__", "of an unknown version"))

    def shortcomings(self, route: CommandRoute) -> tuple[str, ...]:
        """Settings of the route that this package cannot apply."""
        return tuple(each.sentence for each in unsupported_settings(self._name, route, os.environ))

    def connect(self, route: CommandRoute) -> Link:
        """Connect as a client. Raises MqiError, RouteError, and SecretError when the password cannot be read."""
        module = self._module
        name = ascii_field(route.queue_manager, NAME_LENGTH, "the queue manager's name")
        options: dict[str, Any] = {}
        if self._name == "ibmmq":
            options["cno"] = self._connect_options(route)
        else:
            options["opts"] = _CONNECT_OPTIONS
        if route.channel:
            options["cd"] = self._channel_definition(route)
        if route.tls is not None:
            options["sco"] = self._tls_options(route.tls)
        if route.user:
            # As bytes: ibmmq would take a text for ASCII, and say in its complaint what it is.
            options["user"] = text_field(route.user, CREDENTIAL_LENGTH, "the user")
            password = route.password.reveal() if route.password is not None else ""
            options["password"] = text_field(password, CREDENTIAL_LENGTH, "the password")
        queue_manager = module.QueueManager(None)  # a new one each time: an old one keeps what it was connected with
        try:
            queue_manager.connect_with_options(name, **options)
        except self._failures as error:
            # A warning, such as 2267 or "already connected", comes with a connection that can be used.
            if getattr(error, "comp", mq.MQCC_FAILED) != mq.MQCC_WARNING:
                raise mqi_error("MQCONNX", error) from error
        return MqiLink(module, self._calls, queue_manager, self._failures)

    def _connect_options(self, route: CommandRoute) -> Any:
        options = self._module.CNO(Options=_CONNECT_OPTIONS)
        if route.ccdt_url:
            options.CCDTUrl = ascii_field(route.ccdt_url, URL_LENGTH, "the ccdt_url")
            options.Version = max(options.Version, 6)
        if hasattr(options, "ApplName"):
            options.ApplName = ascii_field(route.application_name, APPLICATION_LENGTH, "the application_name")
            options.Version = max(options.Version, 7)
        return options

    def _channel_definition(self, route: CommandRoute) -> Any:
        definition = self._module.CD()
        definition.ChannelName = ascii_field(route.channel, CHANNEL_LENGTH, "the channel's name")
        definition.ConnectionName = ascii_field(route.connection_name, ADDRESSES_LENGTH, "the list of connection_names")
        definition.ChannelType, definition.TransportType = _CLIENT_CHANNEL, _TCP
        tls = route.tls
        if tls is not None:
            definition.SSLCipherSpec = ascii_field(tls.cipher, CIPHER_LENGTH, "the cipher")
            if tls.peer_name:
                self._peer_name(definition, ascii_field(tls.peer_name, PEER_NAME_LENGTH, "the peer_name"))
        return definition

    def _peer_name(self, definition: Any, peer_name: bytes) -> None:
        if self._name == "ibmmq":
            definition.SSLPeerNamePtr = peer_name
            return
        # pymqi hands the structure on as it is: the text must live as long as the call, so it hangs on the structure.
        import ctypes

        text = ctypes.create_string_buffer(peer_name)
        definition.SSLPeerNamePtr = ctypes.addressof(text)
        definition.SSLPeerNameLength = len(peer_name)
        definition.__dict__["peer_name_memory"] = text

    def _tls_options(self, tls: Tls) -> Any:
        options = self._module.SCO()
        options.KeyRepository = text_field(tls.key_repository, KEY_REPOSITORY_LENGTH, "the key_repository")
        if tls.certificate_label:
            options.CertificateLabel = text_field(tls.certificate_label, LABEL_LENGTH, "the certificate_label")
            options.Version = max(options.Version, 5)
        return options


def _failures(module: Any, calls: Any) -> tuple[type[Exception], ...]:
    """What a package raises: its own errors, and those of its C module, which do not derive from them."""
    return (
        module.Error,
        *(each for each in vars(calls).values() if isinstance(each, type) and issubclass(each, Exception)),
    )
