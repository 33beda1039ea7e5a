"""Addresses of web services. Whoever knows a webhook's address may post to it, so it is kept as secrets are."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from mqvitals_config.problem import LocatedText
from mqvitals_config.secret import Secret

_CREDENTIALS = re.compile(r"(?<=://)(?P<user>[^?#]*@)|[?#].*", re.DOTALL)
FORM = "an address such as https://alerts.example.com/hook"


def checked_address(text: str) -> str:
    """``text`` itself when it is an http or https address.

    Raises ValueError, with a sentence that does not tell the address.
    """
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("an address holds no blanks, control characters or letters beyond ASCII")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(f"expected {FORM}: host or port cannot be read") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(f"expected {FORM}: it begins with http:// or https:// and names a host")
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

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        """Keep ``text``. Raises ValueError when it is no http or https address."""
        self._text = str(checked_address(text))
        super().__init__(shown_address(self._text))

    @classmethod
    def parse(cls, text: LocatedText) -> WebAddress:
        """The address that a file writes. Raises ValueError."""
        return cls(text)

    def reveal(self) -> str:
        """The whole address. Never log, store or print it."""
        return self._text

    def exists(self) -> bool:
        """True: it is written in the settings themselves."""
        return True

    def __repr__(self) -> str:
        return self.origin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WebAddress) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)
