"""A formula of IBM's performance documents: its inputs with bounds, its arithmetic, its answer and what that rests on.

``parse_input`` reads amounts as a person writes them, such as ``275K``, ``4GB`` and ``1,536``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

HIGHLIGHTS = "Performance highlights - WebSphere MQ for z/OS V5.3 & V5.3.1"
INTERCEPTION = "IBM MQ for z/OS V9.1.3 AMS Interception on Server to Server Message Channels"
MP1G = "Performance Report - SupportPac MP1G WebSphere MQ for z/OS V7.0.1"
TUNING = "Performance Tuning and Problem Determination"
"""Titles of the documents."""

MOST_US = 60e6
MOST_PROCESSORS = 256
"""Upper bounds of inputs."""

TableRow = Mapping[str, int | float | str | None]
"""A row of a table: column -> cell."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a formula's arithmetic.

    ``value`` is in ``unit``; ``exact`` is the value before rounding (None: the same).

    ``steps`` show the calculation, one sentence or equation each, with figures and units. ``rows`` where the answer
    is a table: ``value`` is then that of the selected row, or None. ``caveat`` holds for these inputs, beside the
    formula's own.
    """

    value: float | None
    unit: str
    steps: tuple[str, ...]
    exact: float | None = None
    rows: tuple[TableRow, ...] = ()
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class FormulaAnswer:
    """A result with its inputs (all, defaults included, by name), its measurement and its source."""

    formula: str
    inputs: Mapping[str, int | float | str]
    value: float | None
    unit: str
    exact: float | None
    measured_on: str
    caveat: str
    source: str
    steps: tuple[str, ...]
    rows: tuple[TableRow, ...] = field(default=())


Given = int | float | str
"""What a person gives for an input: a number in the input's unit, or one of its words."""


class PlanError(ValueError):
    """An input that a formula cannot take. The message names it, the given value and what is allowed."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input. ``name`` holds its unit (``msg_bytes``); the option of the command line is the same with ``-`` for
    ``_``.

    A number is within ``least`` and ``most``, both included, and whole unless ``fraction``. With ``words`` it is one
    of those; with ``pattern`` a text of that form, described by ``form``. ``default`` None: it must be given, or one
    of the inputs that it is ``instead_of``, but not both.
    """

    name: str
    unit: str
    meaning: str
    least: float = 0
    most: float = 1e15
    default: Given | None = None
    fraction: bool = False
    words: tuple[str, ...] = ()
    pattern: str = ""
    form: str = ""
    instead_of: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it is no number."""
        return bool(self.words or self.pattern)

    @property
    def option(self) -> str:
        """The option of the command line, without the leading ``--``."""
        return self.name.replace("_", "-")

    @property
    def allowed(self) -> str:
        """What is allowed, in words: ``1 to 104,857,600 bytes``, ``persistent or non-persistent``."""
        if self.words:
            *most, last = self.words
            return f"{', '.join(most)} or {last}" if most else last
        if self.pattern:
            return self.form
        unit = f" {self.unit}" if self.unit else ""
        return f"{_bound(self.least)} to {_bound(self.most)}{unit}"

    def checked(self, given: Given) -> Given:
        """``given`` itself. Raises PlanError when it is not allowed."""
        if self.words:
            if given in self.words:
                return given
        elif self.pattern:
            if isinstance(given, str) and re.fullmatch(self.pattern, given, re.ASCII):
                return given
        elif not isinstance(given, str) and given == given and self.least <= given <= self.most:
            if self.fraction or given == int(given):
                return given if self.fraction else int(given)
            raise PlanError(f"{self.option} is a whole number, {self.allowed}, not {given!r}")
        raise PlanError(f"{self.option} must be {self.allowed}, not {given!r}")


def _bound(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


@dataclass(frozen=True, slots=True)
class Formula:
    """One calculator. Call it with its inputs by name: it checks them and returns a ``FormulaAnswer``.

    ``number`` is that of the list of the documents' formulas (``F-01``), ``name`` that of the command line.
    ``measured_on``: machine and release of the measurement, "arithmetic" where nothing was measured. ``example``: inputs
    of a worked example of the source. ``source``: document and section.
    """

    name: str
    number: str
    title: str
    inputs: tuple[Input, ...]
    measured_on: str
    caveat: str
    source: str
    example: Mapping[str, Given]
    arithmetic: Callable[..., Result]

    def __call__(self, **given: Given) -> FormulaAnswer:
        """Answer for these inputs. Raises PlanError for one that is unknown, missing or not allowed."""
        inputs = self._checked(given)
        result = self.arithmetic(**inputs)
        caveat = " ".join(each for each in (self.caveat, result.caveat) if each)
        exact = result.value if result.exact is None else result.exact
        return FormulaAnswer(
            self.name,
            inputs,
            result.value,
            result.unit,
            exact,
            self.measured_on,
            caveat,
            self.source,
            result.steps,
            result.rows,
        )

    def _checked(self, given: Mapping[str, Given]) -> dict[str, Any]:
        known = {each.name for each in self.inputs}
        for name in given:
            if name not in known:
                options = ", ".join(each.option for each in self.inputs)
                raise PlanError(f"{self.name} has no input {name.replace('_', '-')}; it has {options}")
        checked = {}
        for each in self.inputs:
            value = given.get(each.name, each.default)
            others = [other for other in each.instead_of if other in given]
            if value is not None and others:
                raise PlanError(f"give {each.option} or {others[0].replace('_', '-')}, not both")
            if value is None and others:
                continue
            if value is None:
                options = " or ".join(name.replace("_", "-") for name in (each.name, *each.instead_of))
                raise PlanError(f"{options} must be given: {each.meaning}, {each.allowed}")
            checked[each.name] = each.checked(value)
        return checked


def formula(
    name: str,
    *,
    number: str,
    title: str,
    inputs: tuple[Input, ...],
    measured_on: str,
    source: str,
    example: Mapping[str, Given],
    caveat: str = "",
) -> Callable[[Callable[..., Result]], Formula]:
    """Make a formula of a pure function that takes the checked inputs by name."""

    def made(arithmetic: Callable[..., Result]) -> Formula:
        return Formula(name, number, title, inputs, measured_on, caveat, source, example, arithmetic)

    return made


_POWERS = {"": 0, "K": 1, "M": 2, "G": 3}
_BYTES = {"bytes": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
"""Units of bytes, by their power of 1024."""

_AMOUNT = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,30})?(?:\.(?P<part>\d{1,30}))?\s*(?P<power>[KMG]?)(?P<bytes>B?)",
    re.IGNORECASE | re.ASCII,
)


def parse_amount(text: str, unit: str) -> int | float:
    """``text`` as a number of ``unit``. K, M and G are 1000s of what is counted, and 1024s of bytes, KB, MB or GB.

    With an input in KB, ``512K`` and ``512KB`` are 512, ``4G`` is 4,194,304; a number alone is in the unit itself.
    Raises PlanError, whose message begins with ``text``.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or not (found["whole"] or found["part"]):
        raise PlanError(f"{_quoted(text)} is no number; write it as 1536, 1.5K, 275K, 512MB or 4G")
    step, power = _scale(text, unit, found["power"].upper(), of_bytes=bool(found["bytes"]))
    part = found["part"] or ""
    count: int = int((found["whole"] or "0").replace(",", "") + part) * step ** max(power, 0)
    below: int = 10 ** len(part) * step ** max(-power, 0)
    # Whole numbers are taken without a float between, which would lose digits.
    value = count // below if count % below == 0 else count / below
    return -value if found["sign"] == "-" else value


def parse_input(each: Input, text: str) -> Given:
    """The value that ``text`` gives for an input, checked. Raises PlanError with what is allowed."""
    if each.pattern:
        return each.checked(text.strip())
    if each.words:
        return each.checked(next((word for word in each.words if word.lower() == text.strip().lower()), text))
    try:
        return each.checked(parse_amount(text, each.unit))
    except PlanError as error:
        if str(error).startswith(f"{each.option} "):
            raise
        raise PlanError(f"{each.option}: {error}; it is {each.allowed}") from error


def format_number(value: Given | None) -> str:
    """A number for a person: whole numbers in full, others to six significant digits; None is ``-``."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}" if abs(value) < 100_000 else f"{value:,.1f}"


def is_of_bytes(unit: str) -> bool:
    """Whether a unit is one of bytes, or of bytes in some time, such as ``MB/s``."""
    return unit.partition("/")[0] in _BYTES


def _scale(text: str, unit: str, power: str, *, of_bytes: bool) -> tuple[int, int]:
    """The factor between units, and the power of it that converts the written amount to ``unit``."""
    if not is_of_bytes(unit):
        if of_bytes:
            raise PlanError(f"{_quoted(text)} is a number of bytes, not of {unit or 'what is asked'}")
        return 1000, _POWERS[power]
    if not power and not of_bytes:
        return 1024, 0
    return 1024, _POWERS[power] - _BYTES[unit.partition("/")[0]]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
