"""What a formula is asked: its inputs, with units and bounds."""

from __future__ import annotations

from dataclasses import dataclass

Given = int | float | str
"""What a person gives for an input: a number in the input's unit, or one of its words."""


class PlanError(ValueError):
    """An input that a formula cannot take. The message says which, what was given and what may be."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input. ``name`` holds its unit (``msg_bytes``); the option of the command line is the same with ``-`` for ``_``.

    A number is within ``least`` and ``most``, both included, and whole unless ``fraction``. With ``words`` it is one of those.
    ``default`` None: it must be given.
    """

    name: str
    unit: str
    meaning: str
    least: float = 0
    most: float = 1e15
    default: Given | None = None
    fraction: bool = False
    words: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """As it is written on the command line, without the leading ``--``."""
        return self.name.replace("_", "-")

    @property
    def allowed(self) -> str:
        """What may be given, in words: ``1 to 104,857,600 bytes``, ``persistent or non-persistent``."""
        if self.words:
            *most, last = self.words
            return f"{', '.join(most)} or {last}" if most else last
        unit = f" {self.unit}" if self.unit else ""
        return f"{_shown(self.least)} to {_shown(self.most)}{unit}"

    def checked(self, given: Given) -> Given:
        """``given`` itself. Raises PlanError when it is not allowed."""
        if self.words:
            if given in self.words:
                return given
        elif not isinstance(given, str) and given == given and self.least <= given <= self.most:
            if self.fraction or given == int(given):
                return given if self.fraction else int(given)
            raise PlanError(f"{self.option} is a whole number, {self.allowed}, not {given!r}")
        raise PlanError(f"{self.option} must be {self.allowed}, not {given!r}")


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"
