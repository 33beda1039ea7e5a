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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mqvitals_agent.connection.binding import (
    AUTO,
    INSTALL,
    allowed_packages,
    is_installed,
    other_package,
    unsupported_settings,
)
from mqvitals_agent.connection.link import Binding, BindingError, Link
from mqvitals_agent.connection.mqi_link import MqiLink, ascii_field, mqi_error, text_field
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
