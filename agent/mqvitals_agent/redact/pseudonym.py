"""Names and their pseudonyms: of the same length and form, the same wherever a name occurs, and never one for two names.

A name is cut into words at every character that is neither letter nor digit; those characters stay. Each word becomes another one
of its length, by what stands before it. So a pseudonym fits every field that the name fits, is valid where the name is,
and a queue called as its queue manager still is.

A generic name (``APPL*``) selects after the redaction what it selected before: all names are also cut at the length of its
beginning, so that as many characters as it has depend on nothing after them. Where it ends at the end of a word (``APPL.*``)
that is so anyhow. Generic names must therefore be known before the first name is redacted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

from mqvitals_agent.redact.permutation import permuted

SYSTEM: Final = "SYSTEM."
"""Names that begin so are IBM's."""

_OF_CHANNEL: Final = "SYSTEM.CLUSTER.TRANSMIT."
"""Cluster transmission queues of single channels: the rest is the name of the channel, so it is redacted as such."""

KEPT: Final = ("SYSTEM", "CSQ_ADMIN", "CSQSYSAPPL", "QUEUE", "MODEL.QUEUE")
"""IBM's names beside ``SYSTEM.``: they stay, and with them the beginnings at which they are cut. The last two end those of cluster transmission queues."""

_WORD: Final = re.compile("[A-Za-z0-9]+")
_LETTERS_AND_DIGITS: Final = ascii_uppercase + digits


def generic_lengths(patterns: Iterable[str]) -> frozenset[int]:
    """The lengths at which names must be cut, so that these generic names go on selecting the same; others are passed over."""
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
    """The pseudonyms of one recording. ``salt`` is secret and kept nowhere; ``lengths`` are those of ``generic_lengths``.

    ``replaced`` holds every name that got a pseudonym and what it is, ``left`` the names that stayed.
    """

    def __init__(self, salt: bytes, lengths: frozenset[int] = frozenset()) -> None:
        self._salt = salt
        self.lengths = lengths
        self._cuts = sorted(lengths)
        self.replaced: dict[str, str] = {}
        self.left: set[str] = set()

    def of(self, name: str) -> str:
        """The pseudonym of a name or a generic name; names of IBM stay as they are."""
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
        """Where each piece of a name begins, and the piece: a part of a word, or what stands between words."""
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
        """The pieces that stay, by what stands before them and their length."""
        fixed: dict[tuple[str, int], set[str]] = {}
        for kept in KEPT:
            for at, piece in self._pieces(kept):
                fixed.setdefault((kept[:at], len(piece)), set()).add(piece)
        return {key: frozenset(pieces) for key, pieces in fixed.items()}

    def _word(self, before: str, piece: str) -> str:
        """Another piece for this one. The permutation goes past those that stay, so that it remains one of all the others."""
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
    """The characters that may stand for this one. Names of z/OS begin with a letter, so the kind of the first stays."""
    if character in ascii_lowercase:
        return ascii_lowercase
    if first:
        return digits if character in digits else ascii_uppercase
    return _LETTERS_AND_DIGITS
