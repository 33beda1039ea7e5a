"""A mistake in a file a person wrote, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file: line and column count from 1; 0 means the whole file."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake: where it is, the key it belongs to (may be empty), what is wrong and what would be right."""

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.key}: {self.message}" if self.key else f"{self.place}: {self.message}"


class ConfigError(Exception):
    """A file cannot be used. ``problems`` holds every mistake found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))


class LocatedText(str):
    """A text of a file that still knows its place, for those who judge its meaning later."""

    place: Place

    def __new__(cls, value: str, place: Place) -> LocatedText:
        """Wrap ``value``, which stands at ``place``."""
        text = super().__new__(cls, value)
        text.place = place
        return text
