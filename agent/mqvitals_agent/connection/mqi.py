"""The MQI through a binding package: IBM's ``ibmmq``, or ``pymqi``. The only module that imports either, and only when asked.

Both packages hand on the same C calls; their own loops and PCF helpers are not used. Of their Python layers only the
structures and connecting are: the rest goes to the C module directly, which tells warnings from failures and keeps the
message that a warning comes with.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from struct import Struct
from typing import Any, Final

from mqvitals_agent.connection.link import Binding, BindingError, Got, Link, MqiError, OpenQueue, Request
from mqvitals_agent.connection.route import DEFAULT_APPLICATION, Route
from mqvitals_agent.pcf import constants as mq

PACKAGES: Final = ("ibmmq", "pymqi")
"""In the order in which they are tried: IBM's is alive, and can do more."""

_INSTALL: Final = {
    "ibmmq": "install it with 'pip install mqvitals[ibmmq]', and IBM's MQ client (9.1 or later), whose libraries the loader must find",
    "pymqi": "install it with 'pip install mqvitals[pymqi]', which needs IBM's MQ client and its SDK to build",
}
_C_MODULES: Final = {"ibmmq": "ibmmq.ibmmqc", "pymqi": "pymqi.pymqe"}
_ENCODING_AND_CCSID: Final = Struct("=2i")
"""At byte 24 of an MQMD: Encoding, CodedCharSetId, in the byte order of this machine."""
_OPTIONS_AND_WAIT: Final = Struct("=2i")
"""At byte 8 of an MQGMO."""
_MATCH: Final = Struct("=i")
"""At byte 72 of an MQGMO."""
_MESSAGE_ID: Final = slice(48, 72)
_CORREL_ID: Final = slice(72, 96)
_DATE_AND_TIME: Final = slice(304, 320)
"""PutDate and PutTime: YYYYMMDDHHMMSSTH, Greenwich mean time."""
_APPLICATION_LENGTH: Final = 28
_CONNECT_OPTIONS: Final = mq.MQCNO_CLIENT_BINDING | mq.MQCNO_HANDLE_SHARE_NONE | mq.MQCNO_RECONNECT_DISABLED
_PUT_OPTIONS: Final = mq.MQPMO_NO_SYNCPOINT | mq.MQPMO_NEW_MSG_ID | mq.MQPMO_FAIL_IF_QUIESCING
_GET_OPTIONS: Final = mq.MQGMO_NO_SYNCPOINT | mq.MQGMO_FAIL_IF_QUIESCING


def load(preference: str = "auto") -> Binding:
    """A binding package, ready for use: the one that is wished for, or the first that is there (``auto``).

    Raises BindingError with one sentence that says what to install.
    """
    names = PACKAGES if preference == "auto" else (preference,)
    causes = []
    for name in names:
        try:
            return _Package(name)
        except ImportError as error:
            causes.append(f"{name}: {_cause(error)}")
    wanted = " or ".join(names)
    raise BindingError(
        f"no connection to living queue managers without {wanted} ({'; '.join(causes)}): {_INSTALL[names[0]]}"
    )


def _cause(error: ImportError) -> str:
    """Why an import failed, in the words of its first cause: ibmmq hides the missing client library behind another error."""
    first: BaseException = error
    while (before := first.__cause__ or first.__context__) is not None:
        first = before
    return str(first)


class _Package:
    """A binding package that has been imported."""

    def __init__(self, name: str) -> None:
        """Raises ImportError: it is not installed, or IBM's client library is not found."""
        self._name = name
        self._module = importlib.import_module(name)
        self._calls = importlib.import_module(_C_MODULES[name])

    @property
    def name(self) -> str:
        """``ibmmq`` or ``pymqi``."""
        return self._name

    @property
    def version(self) -> str:
        """The package's version, as installed."""
        return importlib.metadata.version(self._name)

    def shortcomings(self, route: Route) -> tuple[str, ...]:
        """What the route wishes for and this package cannot do."""
        if self._name == "ibmmq":
            return ()
        found = []
        if route.application_name != DEFAULT_APPLICATION:
            found.append(
                f"pymqi cannot give the connection an application name, so {route.application_name!r} is not shown by"
                " DISPLAY CONN; ibmmq can"
            )
        if route.ccdt_url:
            found.append(
                "pymqi takes a client channel definition table only from the environment: set MQCCDTURL, or use ibmmq"
            )
        return tuple(found)

    def connect(self, route: Route) -> Link:
        """Connect as a client. Raises MqiError, and SecretError when the password cannot be read."""
        module = self._module
        queue_manager = module.QueueManager(None)
        options: dict[str, Any] = {}
        if self._name == "ibmmq":
            options["cno"] = self._connect_options(route)
        else:
            options["opts"] = _CONNECT_OPTIONS
        if route.channel:
            options["cd"] = self._channel_definition(route)
        if route.tls is not None:
            options["sco"] = self._tls_options(route)
        if route.user:
            options["user"] = route.user
            options["password"] = route.password.reveal() if route.password is not None else ""
        try:
            queue_manager.connect_with_options(route.queue_manager, **options)
        except module.MQMIError as error:
            # A warning, such as 2267 or "already connected", comes with a connection that can be used.
            if error.comp != mq.MQCC_WARNING:
                raise MqiError("MQCONNX", error.comp, error.reason) from error
        return _Link(module, self._calls, queue_manager)

    def _connect_options(self, route: Route) -> Any:
        options = self._module.CNO(Options=_CONNECT_OPTIONS)
        if route.ccdt_url:
            options.CCDTUrl = route.ccdt_url
            options.Version = max(options.Version, 6)
        if hasattr(options, "ApplName"):
            options.ApplName = route.application_name.encode("ascii", "replace")[:_APPLICATION_LENGTH]
            options.Version = max(options.Version, 7)
        return options

    def _channel_definition(self, route: Route) -> Any:
        definition = self._module.CD()
        definition.ChannelName = route.channel.encode("ascii")
        definition.ConnectionName = route.connection_name.encode("ascii")
        definition.ChannelType = 6  # MQCHT_CLNTCONN
        definition.TransportType = 2  # MQXPT_TCP
        tls = route.tls
        if tls is not None:
            definition.SSLCipherSpec = tls.cipher.encode("ascii")
            if tls.peer_name:
                self._peer_name(definition, tls.peer_name)
        return definition

    def _peer_name(self, definition: Any, peer_name: str) -> None:
        if self._name == "ibmmq":
            definition.SSLPeerNamePtr = peer_name.encode("ascii")
            return
        # pymqi hands the structure on as it is: the text must live as long as the call, so it hangs on the structure.
        import ctypes

        text = ctypes.create_string_buffer(peer_name.encode("ascii"))
        definition.SSLPeerNamePtr = ctypes.cast(text, ctypes.c_void_p).value
        definition.SSLPeerNameLength = len(text) - 1
        definition.__dict__["peer_name_memory"] = text

    def _tls_options(self, route: Route) -> Any:
        assert route.tls is not None
        options = self._module.SCO()
        options.KeyRepository = route.tls.key_repository.encode()
        if route.tls.certificate_label:
            options.CertificateLabel = route.tls.certificate_label.encode()
            options.Version = max(options.Version, 5)
        return options


class _Link:
    """One connection through the C module of a package."""

    def __init__(self, module: Any, calls: Any, queue_manager: Any) -> None:
        self._module = module
        self._calls = calls
        self._queue_manager = queue_manager
        self._connection: int = queue_manager.get_handle()
        # A reply is got with two structures that hardly differ from call to call: they are made once, not by the package
        # for each of ten thousand replies.
        self._descriptor = bytearray(module.MD(Version=2).pack())
        self._options = bytearray(module.GMO(Version=mq.MQGMO_VERSION_2).pack())

    def inquire(self, selectors: Sequence[int]) -> dict[int, int | str]:
        """Attributes of the queue manager, one call each: it is all that pymqi can do."""
        found: dict[int, int | str] = {}
        for selector in selectors:
            try:
                value = self._queue_manager.inquire(selector)
            except self._module.MQMIError as error:
                raise MqiError("MQINQ", error.comp, error.reason) from error
            found[selector] = value if isinstance(value, int) else _text(value)
        return found

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        """Open a queue, or make one from the model ``name``."""
        descriptor = self._module.OD(ObjectName=name.encode("ascii"))
        if dynamic_name:
            descriptor.DynamicQName = dynamic_name.encode("ascii")
        handle, after, comp, reason = self._calls.MQOPEN(self._connection, descriptor.pack(), options)
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQOPEN", comp, reason)
        descriptor.unpack(after)
        return OpenQueue(handle, _text(descriptor.ObjectName))

    def put(self, queue: OpenQueue, message: bytes, request: Request) -> bytes:
        """Put a command message; returns its identifier."""
        descriptor = self._module.MD(
            Version=2,
            MsgType=mq.MQMT_REQUEST,
            Format=mq.MQFMT_ADMIN.encode("ascii"),
            Persistence=mq.MQPER_NOT_PERSISTENT,
            Expiry=request.expiry,
            Report=mq.MQRO_PASS_DISCARD_AND_EXPIRY | mq.MQRO_DISCARD_MSG,
            ReplyToQ=request.reply_queue.encode("ascii"),
            Encoding=request.encoding,
            CodedCharSetId=request.ccsid,
        )
        options = self._module.PMO(Options=_PUT_OPTIONS)
        after, _, comp, reason = self._calls.MQPUT(
            self._connection, queue.handle, descriptor.pack(), options.pack(), message
        )
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQPUT", comp, reason)
        return bytes(after[_MESSAGE_ID])

    def get(
        self, queue: OpenQueue, correlation_id: bytes | None, wait_ms: int, size: int, *, convert: bool = False
    ) -> Got:
        """Get a message by its CorrelId, or any."""
        self._descriptor[_CORREL_ID] = correlation_id or bytes(24)
        wanted = _GET_OPTIONS | (mq.MQGMO_WAIT if wait_ms else 0) | (mq.MQGMO_CONVERT if convert else 0)
        _OPTIONS_AND_WAIT.pack_into(self._options, 8, wanted, wait_ms)
        _MATCH.pack_into(self._options, 72, mq.MQMO_MATCH_CORREL_ID if correlation_id is not None else 0)
        data, after, _, length, comp, reason = self._calls.MQGET(
            self._connection, queue.handle, bytes(self._descriptor), bytes(self._options), size
        )
        if comp == mq.MQCC_FAILED or reason == mq.MQRC_TRUNCATED_MSG_FAILED:
            raise MqiError("MQGET", comp, reason, length)
        encoding, ccsid = _ENCODING_AND_CCSID.unpack_from(after, 24)
        return Got(data, encoding, ccsid, _moment(after[_DATE_AND_TIME]), reason)

    def close(self, queue: OpenQueue) -> None:
        """Close a queue."""
        comp, reason = self._calls.MQCLOSE(self._connection, queue.handle, 0)
        if comp == mq.MQCC_FAILED:
            raise MqiError("MQCLOSE", comp, reason)

    def disconnect(self) -> None:
        """End the connection, whatever state it is in."""
        with suppress(self._module.MQMIError, self._module.PYIFError):
            self._queue_manager.disconnect()


def _text(data: bytes | str) -> str:
    """A text of the MQI: without the zero byte that ends it for C, and the blanks that fill it."""
    text = data.decode("latin-1") if isinstance(data, bytes) else data
    return text.partition("\0")[0].strip()


def _moment(digits: bytes) -> int | None:
    """PutDate and PutTime as ms since 1970 UTC; None when they are blank or no time."""
    try:
        begin = datetime.strptime(digits[:14].decode("ascii"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return int(begin.timestamp()) * 1000 + int(digits[14:16]) * 10
    except ValueError:
        return None
