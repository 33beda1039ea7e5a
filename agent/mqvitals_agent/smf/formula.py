"""What a metric's ``smf`` says, as a function: ``QPSTCBSL/QPSTNBUF``, ``(QCTELTM-QCTCPTM)/QCTREQN``.

Durations enter as microseconds, QWHSDURN is the interval in microseconds, everything else is as the record has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from mqvitals_agent.smf.layout.field import Field, Value
from mqvitals_rules.vocabulary.metric import Absence

INTERVAL: Final = "QWHSDURN"
NONE: Final = frozenset({0x8FFFFFFF, 0x0FFFFFFF})
"""What stands in the lowest of an interval in which there was nothing."""

Fields = Mapping[str, Value | None]
"""The values of sections by key; None: a section of this length does not have it."""
Told = int | float | str | Absence
Term = Callable[[Fields, int | None], Told]
"""From fields and the interval (microseconds, None: unknown) to a value or the reason of its absence."""

_TOKEN: Final = re.compile(r"\s*([A-Z][A-Z0-9_]*|[()+\-/])")


class Named(NamedTuple):
    """A field under the key by which it is found among the values."""

    key: str
    field: Field


def names_in(text: str) -> tuple[str, ...]:
    """The fields that a formula names, in its order."""
    return tuple(token for token in _tokens(text) if token[0].isalpha())


def compiled(text: str, names: Mapping[str, Named]) -> Term:
    """The function of a formula. Raises ValueError: it is malformed, or names a field that is not in ``names``."""
    tokens = _tokens(text)
    term, rest = _sum(tokens, names, text)
    if rest:
        raise ValueError(f"{text!r}: {rest[0]!r} is one too many")
    return term


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    stripped = text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise ValueError(f"{text!r} is no formula of fields")
        found.append(match[1])
        at = match.end()
    return found


def _sum(tokens: list[str], names: Mapping[str, Named], text: str) -> tuple[Term, list[str]]:
    left, rest = _quotient(tokens, names, text)
    while rest and rest[0] in "+-":
        right, after = _quotient(rest[1:], names, text)
        left, rest = _both(_plus if rest[0] == "+" else _minus, left, right), after
    return left, rest


def _quotient(tokens: list[str], names: Mapping[str, Named], text: str) -> tuple[Term, list[str]]:
    left, rest = _single(tokens, names, text)
    while rest and rest[0] == "/":
        right, rest = _single(rest[1:], names, text)
        left = _both(_divided, left, right)
    return left, rest


def _single(tokens: list[str], names: Mapping[str, Named], text: str) -> tuple[Term, list[str]]:
    if tokens and tokens[0] == "(":
        term, rest = _sum(tokens[1:], names, text)
        if not rest or rest[0] != ")":
            raise ValueError(f"{text!r} lacks a ')'")
        return term, rest[1:]
    if not tokens or not tokens[0][0].isalpha():
        raise ValueError(f"{text!r} ends too early")
    name, rest = tokens[0], tokens[1:]
    if name == INTERVAL:
        return _interval, rest
    if name not in names:
        raise ValueError(f"{text!r}: no section has a field {name}")
    return _field(*names[name]), rest


def _interval(_: Fields, interval_us: int | None) -> Told:
    return Absence.NOT_RETURNED if interval_us is None else interval_us


def _field(key: str, field: Field) -> Term:
    if field.form == "dur":

        def duration(fields: Fields, _: int | None) -> Told:
            value = fields.get(key)
            return value / 4096 if isinstance(value, int) else Absence.NOT_RETURNED

        return duration

    lowest = field.kind == "LW"

    def plain(fields: Fields, _: int | None) -> Told:
        value = fields.get(key)
        if value is None:
            return Absence.NOT_RETURNED
        return Absence.NOTHING_TO_TELL if lowest and value in NONE else value

    return plain


def _both(combine: Callable[[float, float], Told], left: Term, right: Term) -> Term:
    def term(fields: Fields, interval_us: int | None) -> Told:
        one, other = left(fields, interval_us), right(fields, interval_us)
        if isinstance(one, Absence):
            return one
        if isinstance(other, Absence):
            return other
        if isinstance(one, str) or isinstance(other, str):
            return Absence.NOT_RETURNED
        return combine(one, other)

    return term


def _plus(one: float, other: float) -> Told:
    return one + other


def _minus(one: float, other: float) -> Told:
    return one - other


def _divided(one: float, other: float) -> Told:
    return one / other if other else Absence.NOTHING_TO_TELL
