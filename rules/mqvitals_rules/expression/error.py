"""What is wrong with an expression, and where in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mqvitals_config.problem import ConfigError, LocatedText, Place, Problem


class ExpressionError(ConfigError):
    """An expression cannot be used. ``problems`` holds every mistake found, each at its column."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong: at which character of the text (from 0), and a sentence."""

    offset: int
    message: str


class RefusedExpressionError(Exception):
    """Raised inside the package when a part of an expression is not accepted."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(mistake.message for mistake in self.mistakes))

    @classmethod
    def at(cls, offset: int, message: str) -> RefusedExpressionError:
        """One mistake."""
        return cls((Mistake(offset, message),))


def located(text: str) -> LocatedText:
    """``text`` with its place; one that comes from no file is called ``expression`` and counts columns from 1."""
    return text if isinstance(text, LocatedText) else LocatedText(text, Place("expression", 1, 1))


def problems(text: LocatedText, mistakes: Iterable[Mistake]) -> tuple[Problem, ...]:
    """The mistakes at their places in the file."""
    return tuple(Problem(text.at(mistake.offset), "", mistake.message) for mistake in mistakes)
