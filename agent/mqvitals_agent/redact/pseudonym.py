"""Pseudonyms of names and addresses: the same length and form, one for each name, everywhere.

A name is cut into words at every character that is neither letter nor digit. A keyed permutation (a Feistel network)
replaces each word, so neither tables nor the order of events matter, and without the salt neither direction can be
computed. A generic name (``APPL*``) must select the same names afterwards: names are also cut at the length of its
beginning. Generic names must therefore be known before the first name is redacted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import shake_256
from math import prod
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

_ROUNDS: Final = 10
_SPARE: Final = 8
"""Additional bytes that make the remainder of a division practically uniform."""

SALT_LENGTH: Final = 32


def permuted(salt: bytes, context: bytes, digits: Sequence[int], radices: Sequence[int]) -> tuple[int, ...]:
    """The image of ``digits``, whose places have these radices, under the permutation of that salt and context."""
    if len(digits) == 1:
        # A Feistel network needs two places. One place has few values, so they are sorted by their hashes.
        order = sorted(range(radices[0]), key=lambda digit: _round_value(salt, context, b"1", digit, 8))
        return (order[digits[0]],)
    half = len(digits) // 2
    left, right = _number(digits[:half], radices[:half]), _number(digits[half:], radices[half:])
    lefts, rights = prod(radices[:half]), prod(radices[half:])
    size = (max(lefts, rights).bit_length() + 7) // 8 + _SPARE
    form = f"{len(digits)} {lefts} {rights} ".encode()
    for turn in range(_ROUNDS):
        if turn % 2:
            right = (right + _round_value(salt, context, form + b"%d" % turn, left, size)) % rights
        else:
            left = (left + _round_value(salt, context, form + b"%d" % turn, right, size)) % lefts
    return (*_digits(left, radices[:half]), *_digits(right, radices[half:]))


def stream(salt: bytes, context: bytes, length: int) -> bytes:
    """``length`` pseudorandom bytes that only the holder of the salt can compute."""
    return shake_256(_framed(salt, b"stream", context)).digest(length)


def _round_value(salt: bytes, context: bytes, turn: bytes, value: int, size: int) -> int:
    return int.from_bytes(shake_256(_framed(salt, context, turn, b"%x" % value)).digest(size), "big")


def _framed(*parts: bytes) -> bytes:
    """The parts joined, each with its length, so that different lists of parts are different bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _number(digits: Sequence[int], radices: Sequence[int]) -> int:
    number = 0
    for digit, radix in zip(digits, radices, strict=True):
        number = number * radix + digit
    return number


def _digits(number: int, radices: Sequence[int]) -> tuple[int, ...]:
    digits = []
    for radix in reversed(radices):
        number, digit = divmod(number, radix)
        digits.append(digit)
    return tuple(reversed(digits))


SYSTEM: Final = "SYSTEM."
"""The prefix of IBM's names."""

_OF_CHANNEL: Final = "SYSTEM.CLUSTER.TRANSMIT."
"""Cluster transmission queues of single channels: the rest is a channel's name and is redacted as one."""

KEPT: Final = ("SYSTEM", "CSQ_ADMIN", "CSQSYSAPPL", "QUEUE", "MODEL.QUEUE")
"""IBM's names beside ``SYSTEM.``, which stay, with the prefixes at which they are cut. The last two are the ends of
those of cluster transmission queues."""

_WORD: Final = re.compile("[A-Za-z0-9]+")
_LETTERS_AND_DIGITS: Final = ascii_uppercase + digits


def generic_lengths(patterns: Iterable[str]) -> frozenset[int]:
    """The lengths at which names must be cut for these generic names; other names are ignored."""
    found = set()
    for pattern in patterns:
        begin = pattern[:-1]
        if not pattern.endswith("*") or not begin[-1:].isalnum():
            continue
        if not begin.startswith(SYSTEM):
            found.add(len(begin))
        elif begin.startswith(_OF_CHANNEL):
            found.add(len(begin) - len(_OF_CHANNEL))
    return frozenset(found)


class Pseudonyms:
    """The pseudonyms of one recording. ``salt`` is secret and not stored; ``lengths`` are those of ``generic_lengths``.

    ``replaced`` holds every name that got a pseudonym and what it is, ``left`` the names that stayed.
    """

    def __init__(self, salt: bytes, lengths: frozenset[int] = frozenset()) -> None:
        self._salt = salt
        self.lengths = lengths
        self._cuts = sorted(lengths)
        self.replaced: dict[str, str] = {}
        self.left: set[str] = set()

    def of(self, name: str) -> str:
        """The pseudonym of a name or a generic name; IBM's names stay."""
        known = self.replaced.get(name)
        if known is not None:
            return known
        found = self._made(name)
        if found != name or not _is_ibms(name):
            self.replaced[name] = found
        else:
            self.left.add(name)
        return found

    def _made(self, name: str) -> str:
        if name.startswith(_OF_CHANNEL):
            return _OF_CHANNEL + self._made(name[len(_OF_CHANNEL) :])
        if name.startswith(SYSTEM):
            return name
        made = []
        for at, piece in self._pieces(name):
            made.append(self._word(name[:at], piece) if piece.isalnum() else piece)
        return "".join(made)

    def _pieces(self, name: str) -> Iterator[tuple[int, str]]:
        """Start and text of each piece of a name: a part of a word, or the characters between words."""
        at = 0
        for word in _WORD.finditer(name):
            if word.start() > at:
                yield at, name[at : word.start()]
            at = word.start()
            for cut in (*(cut for cut in self._cuts if at < cut < word.end()), word.end()):
                yield at, name[at:cut]
                at = cut
        if at < len(name):
            yield at, name[at:]

    @cached_property
    def _fixed(self) -> dict[tuple[str, int], frozenset[str]]:
        """The pieces that stay, by the text before them and their length."""
        fixed: dict[tuple[str, int], set[str]] = {}
        for kept in KEPT:
            for at, piece in self._pieces(kept):
                fixed.setdefault((kept[:at], len(piece)), set()).add(piece)
        return {key: frozenset(pieces) for key, pieces in fixed.items()}

    def _word(self, before: str, piece: str) -> str:
        """The pseudonym of a piece.

        The permutation skips pieces that stay, so it remains a permutation of the others.
        """
        fixed = self._fixed.get((before, len(piece)), frozenset())
        if piece in fixed:
            return piece
        begins = not before[-1:].isalnum()
        alphabets = [_alphabet(character, first=begins and not place) for place, character in enumerate(piece)]
        radices = [len(alphabet) for alphabet in alphabets]
        context = f"name {before}".encode("utf-8", "surrogatepass")
        while True:
            numbers = [alphabet.index(character) for alphabet, character in zip(alphabets, piece, strict=True)]
            piece = "".join(
                alphabet[number]
                for alphabet, number in zip(alphabets, permuted(self._salt, context, numbers, radices), strict=True)
            )
            if piece not in fixed:
                return piece


def _is_ibms(name: str) -> bool:
    return name.startswith(SYSTEM) or name in KEPT


def _alphabet(character: str, *, first: bool) -> str:
    """The characters that may replace this one. Names of z/OS begin with a letter, so the first keeps its kind."""
    if character in ascii_lowercase:
        return ascii_lowercase
    if first:
        return digits if character in digits else ascii_uppercase
    return _LETTERS_AND_DIGITS


_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4: Final = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
_IPV6: Final = re.compile(r"(?=(?:[^:]*:){2})[0-9A-Fa-f:]+(?::[0-9.]+)?")
_ELEMENT: Final = re.compile(r"([^(),]*)((?:\([0-9]{1,5}(?:,[0-9]{1,5})?\))?)")
_UNCHANGED: Final = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104 - not bound to, only recognised
_NETS: Final = ("192.0.2.", "198.51.100.", "203.0.113.")
"""Networks reserved for documentation (RFC 5737)."""

_RESERVED: Final = ("0", *map(str, range(240, 256)))
"""First octets of addresses that no host has (RFC 1122), for when those networks have too few addresses of a length."""

_ATTEMPTS: Final = 20_000


class Addresses:
    """The addresses of one recording. ``replaced`` maps each IPv4 address found to its pseudonym."""

    def __init__(self, salt: bytes, host: Callable[[str], str]) -> None:
        """``host`` returns the pseudonym of a host name."""
        self._salt = salt
        self._host = host
        self._taken: set[str] = set(_UNCHANGED)
        self.replaced: dict[str, str] = {}

    def of(self, text: str) -> str | None:
        """The pseudonym of an address, a host with a port, or a comma-separated list; None for any other text."""
        elements = _elements(text)
        if elements is None or not any(port or _is_address(host) for host, port in elements):
            return None
        return ",".join(self._element(host) + port for host, port in elements)

    def _element(self, host: str) -> str:
        bare = host.strip(" ")
        if not bare or bare in _UNCHANGED:
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
        # Digits after a dot are decimal.
        dotted = address.partition(".")[1] != ""
        radix = 10 if dotted else 16
        if dotted:
            shown = [character if character.isdigit() else "0" for character in shown]
        places = [int(character, 16) for character in shown]
        new = iter(permuted(self._salt, b"IPv6", places, [radix] * len(places))) if places else iter(())
        return "".join(character if character in ":." else alphabet[next(new)] for character in address)


def _elements(text: str) -> list[tuple[str, str]] | None:
    """The hosts and ports of a list; None for another form."""
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
    """An address of ``length`` characters that no host has."""
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
