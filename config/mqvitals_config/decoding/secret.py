"""Secrets: passwords, tokens, webhook addresses. Read from a file or the environment, shown nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import urlsplit

from mqvitals_config.decoding.problem import ConfigError, LocatedText
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.source import UnreadableError, read


class SecretError(Exception):
    """A secret cannot be had; the message says why and never what it is."""


class Secret:
    """A text that is only ever handed out by ``reveal``.

    It knows where the text is kept, and reads it when it is needed: a changed password file works without a restart.
    ``repr``, ``str``, formatting, JSON and pickle show or take nothing of it.
    """

    __slots__ = ("_origin", "_path", "_text")

    def __init__(self, origin: str, *, path: str = "", text: str = "") -> None:
        """Use ``in_file`` or ``in_environment``."""
        self._origin = origin
        self._path = path
        self._text = text

    @classmethod
    def in_file(cls, path: LocatedText) -> Secret:
        """The secret that the file at ``path`` holds; relative paths are beside the file that names it.

        Raises ValueError when ``path`` cannot be a path, or is itself an address.
        """
        if "://" in path:
            raise ValueError("expected the path of a file that holds the secret; an address itself is written as url")
        found = resolved_path(path)
        return cls(f"file {found}", path=found)

    @classmethod
    def in_environment(cls, name: str, environ: Mapping[str, str]) -> Secret:
        """The secret in the environment variable ``name``, or in the file that ``name`` + ``_FILE`` names."""
        path = environ.get(f"{name}_FILE", "")
        if path:
            return cls(f"file {path}", path=path)
        return cls(f"environment {name}", text=environ.get(name, ""))

    @property
    def origin(self) -> str:
        """Where it is kept: ``file /etc/mqvitals/password`` or ``environment MQVITALS_PASSWORD``."""
        return self._origin

    def reveal(self) -> str:
        """The secret itself, without the line end of its file. Never log, store or print it.

        Raises SecretError when the file cannot be read, or there is nothing in it.
        """
        text = self._text
        if self._path:
            try:
                text = read(self._path)
            except UnreadableError as error:
                # Nothing of the file has been read, so its text holds nothing of it.
                why = error.problems[0].message
                raise SecretError(f"the secret in {self._origin} {why}") from None
            except ConfigError:
                # The problem may quote a byte of the file, so neither its text nor the error itself goes further.
                raise SecretError(f"the secret in {self._origin} is not UTF-8 text") from None
        text = text.rstrip("\r\n")
        if not text:
            raise SecretError(f"the secret in {self._origin} is empty")
        return text

    def __repr__(self) -> str:
        return f"<secret in {self._origin}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self._origin, self._text) == (other._origin, other._text)

    def __hash__(self) -> int:
        return hash((self._origin, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")


_CREDENTIALS = re.compile(r"(?<=://)(?P<user>[^?#]*@)|[?#].*", re.DOTALL)
WEB_ADDRESS_FORM = "an address such as https://alerts.example.com/hook"


def checked_address(text: str) -> str:
    """``text`` itself when it is an http or https address.

    Raises ValueError, with a sentence that does not show the address.
    """
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("an address holds no blanks, control characters or letters beyond ASCII")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(f"expected {WEB_ADDRESS_FORM}: host or port cannot be read") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(f"expected {WEB_ADDRESS_FORM}: it begins with http:// or https:// and names a host")
    return text


def shown_address(text: str) -> str:
    """What of an address may be shown: ``https://alerts.example.com:8443``, without name, password, path and query."""
    parts = urlsplit(text)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def without_credentials(text: str) -> str:
    """An address with ``***`` for the user, the password and the query in it, any of which may be a secret.

    What is no address of a host, such as a ``file:`` URL or another text, is ``text`` itself.
    """
    return _CREDENTIALS.sub(lambda found: "***@" if found["user"] else "?***", text) if "://" in text else text


class WebAddress(Secret):
    """An address written in the settings. Only its scheme and host are ever shown; ``reveal`` hands out all of it."""

    __slots__ = ()

    def __init__(self, text: str) -> None:
        """Keep ``text``. Raises ValueError when it is no http or https address."""
        super().__init__(shown_address(checked_address(text)), text=str(text))

    def __repr__(self) -> str:
        return self.origin
