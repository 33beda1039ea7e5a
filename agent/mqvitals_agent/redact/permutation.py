"""Keyed permutations of short sequences: each one of a length and form goes to another one of the same length and form.

A sequence is a tuple of digits, each below its radix. Without the salt neither direction can be computed. Two halves are
stirred by turns, each with a keyed sum over the other (a Feistel network), which no order of events and no table is needed
for; so the same sequence becomes the same everywhere, and two different ones never become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import shake_256
from math import prod
from typing import Final

_ROUNDS: Final = 10
_SPARE: Final = 8
"""So many bytes more than needed make the remainder of a division practically even."""

SALT_LENGTH: Final = 32


def permuted(salt: bytes, context: bytes, digits: Sequence[int], radices: Sequence[int]) -> tuple[int, ...]:
    """Where the permutation of that salt and context takes ``digits``, whose places have those radices."""
    if len(digits) == 1:
        # Two halves need two places. One alone has few values, so they are put into the order of their hashes.
        order = sorted(range(radices[0]), key=lambda digit: _stir(salt, context, b"1", digit, 8))
        return (order[digits[0]],)
    half = len(digits) // 2
    left, right = _number(digits[:half], radices[:half]), _number(digits[half:], radices[half:])
    lefts, rights = prod(radices[:half]), prod(radices[half:])
    size = (max(lefts, rights).bit_length() + 7) // 8 + _SPARE
    form = f"{len(digits)} {lefts} {rights} ".encode()
    for turn in range(_ROUNDS):
        if turn % 2:
            right = (right + _stir(salt, context, form + b"%d" % turn, left, size)) % rights
        else:
            left = (left + _stir(salt, context, form + b"%d" % turn, right, size)) % lefts
    return (*_digits(left, radices[:half]), *_digits(right, radices[half:]))


def stream(salt: bytes, context: bytes, length: int) -> bytes:
    """So many bytes that only who has the salt can make."""
    return shake_256(_framed(salt, b"stream", context)).digest(length)


def _stir(salt: bytes, context: bytes, turn: bytes, value: int, size: int) -> int:
    return int.from_bytes(shake_256(_framed(salt, context, turn, b"%x" % value)).digest(size), "big")


def _framed(*parts: bytes) -> bytes:
    """Parts one after another, each with its length, so that no two lists of parts become the same bytes."""
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
