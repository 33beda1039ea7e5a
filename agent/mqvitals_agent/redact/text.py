"""The value of one text or byte string, and what stands for it."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import Final

from mqvitals_agent.pcf.codepage import codec
from mqvitals_agent.pcf.error import PcfError
from mqvitals_agent.redact.address import Addresses
from mqvitals_agent.redact.parameter import FREE_TEXT, SAFE
from mqvitals_agent.redact.permutation import permuted, stream
from mqvitals_agent.redact.pseudonym import Pseudonyms

_NAME: Final = re.compile(r"[A-Za-z0-9._/%$#@!*+ -]*")
"""Names of MQ and of z/OS, generic ones, data sets, jobs, hosts."""

_MOST: Final = 60_000
"""How many texts are remembered in the bytes that they come in. Past it all are forgotten: the pseudonyms stay the same."""


class Texts:
    """Redacts values. ``free`` holds the texts that have not the form of a name, ``unreadable`` counts those in an unknown character set."""

    def __init__(self, salt: bytes, lengths: frozenset[int] = frozenset()) -> None:
        self._salt = salt
        self.names = Pseudonyms(salt, lengths)
        self.addresses = Addresses(salt, self._host)
        self.free: set[str] = set()
        self.unreadable = 0
        self._known: dict[tuple[bool, int, bytes], bytes] = {}
        self._known_bytes: dict[bytes, bytes] = {}

    def text(self, number: int, data: bytes, ccsid: int) -> bytes:
        """As many bytes as ``data``, a text of parameter ``number`` in that character set, without what a site calls its things."""
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
        """What stands for a name that stands outside a message."""
        return self._redacted(text)

    def octets(self, data: bytes) -> bytes:
        """As many bytes, others for others: identifiers hold names and addresses, and are only compared. Zeros stay."""
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
            # It cannot be read, so it cannot be told what it holds; nor can it be read after this.
            self.unreadable += 1
            return bytes(len(data))
        text = page.decode(data)
        if not text:
            return data if not data.strip(b"\0" + page.encode(" ")) else bytes(len(data))
        kept = page.encode(text)
        if not data.startswith(kept):
            # Characters that have no code of their own: their number of bytes is not that of the data.
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
