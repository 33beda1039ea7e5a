"""Addresses and what stands for them: addresses of documentation, of the same length, and ports as they were."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mqvitals_agent.redact.permutation import permuted, stream

_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4: Final = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
_IPV6: Final = re.compile(r"(?=(?:[^:]*:){2})[0-9A-Fa-f:]+(?::[0-9.]+)?")
_ELEMENT: Final = re.compile(r"([^(),]*)((?:\([0-9]{1,5}(?:,[0-9]{1,5})?\))?)")
_NOBODYS: Final = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104 - not bound to, only recognised
_NETS: Final = ("192.0.2.", "198.51.100.", "203.0.113.")
"""Networks of documentation (RFC 5737)."""

_RESERVED: Final = ("0", *map(str, range(240, 256)))
"""First numbers of addresses that no host has (RFC 1122): for more addresses of one length than those networks have."""

_ATTEMPTS: Final = 20_000


class Addresses:
    """The addresses of one recording. ``replaced`` holds each IPv4 address that was met and what stands for it."""

    def __init__(self, salt: bytes, host: Callable[[str], str]) -> None:
        """``host`` gives what stands for the name of a host."""
        self._salt = salt
        self._host = host
        self._taken: set[str] = set(_NOBODYS)
        self.replaced: dict[str, str] = {}

    def of(self, text: str) -> str | None:
        """What stands for an address, a host with a port, or a list of them with commas; None when the text is none of these."""
        elements = _elements(text)
        if elements is None or not any(port or _is_address(host) for host, port in elements):
            return None
        return ",".join(self._element(host) + port for host, port in elements)

    def _element(self, host: str) -> str:
        bare = host.strip(" ")
        if not bare or bare in _NOBODYS:
            return host
        start = host.index(bare)
        if _IPV4.fullmatch(bare):
            found = self._ipv4(bare)
        elif _IPV6.fullmatch(bare):
            found = self._ipv6(bare)
        else:
            found = self._host(bare)
        return host[:start] + found + host[start + len(bare) :]

    def _ipv4(self, address: str) -> str:
        known = self.replaced.get(address)
        if known is not None:
            return known
        found = address
        documented = [f"{net}{last}" for net in _NETS for last in range(1, 255) if len(f"{net}{last}") == len(address)]
        for attempt in range(_ATTEMPTS):
            chance = int.from_bytes(stream(self._salt, f"address {address} {attempt}".encode(), 16), "big")
            if documented and attempt < 4 * len(documented):
                found = documented[chance % len(documented)]
            else:
                found = _reserved(chance, len(address))
            if found not in self._taken:
                break
        self._taken.add(found)
        self.replaced[address] = found
        return found

    def _ipv6(self, address: str) -> str:
        alphabet = "0123456789ABCDEF" if any(character in "ABCDEF" for character in address) else "0123456789abcdef"
        shown = [character for character in address if character not in ":."]
        # Digits after a dot are decimal ones.
        dotted = address.partition(".")[1] != ""
        radix = 10 if dotted else 16
        if dotted:
            shown = [character if character.isdigit() else "0" for character in shown]
        places = [int(character, 16) for character in shown]
        new = iter(permuted(self._salt, b"IPv6", places, [radix] * len(places))) if places else iter(())
        return "".join(character if character in ":." else alphabet[next(new)] for character in address)


def _elements(text: str) -> list[tuple[str, str]] | None:
    """The hosts and ports of a list; None when it is of another form."""
    found, at = [], 0
    while True:
        match = _ELEMENT.match(text, at)
        if match is None:
            return None
        found.append((match[1], match[2]))
        at = match.end()
        if at == len(text):
            return found
        if text[at] != ",":
            return None
        at += 1


def _is_address(host: str) -> bool:
    bare = host.strip(" ")
    return bool(_IPV4.fullmatch(bare) or _IPV6.fullmatch(bare))


def _reserved(chance: int, length: int) -> str:
    """An address of so many characters that no host has."""
    firsts = [first for first in _RESERVED if len(first) + 6 <= length <= len(first) + 12]
    chance, which = divmod(chance, len(firsts))
    rest = length - len(firsts[which]) - 3
    octets = []
    for following in (2, 1, 0):
        low, high = max(1, rest - 3 * following), min(3, rest - following)
        chance, more = divmod(chance, high - low + 1)
        size = low + more
        rest -= size
        begin, end = ((0, 10), (10, 100), (100, 256))[size - 1]
        chance, value = divmod(chance, end - begin)
        octets.append(str(begin + value))
    return ".".join((firsts[which], *octets))
