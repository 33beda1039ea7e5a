"""A formula of the documents: its arithmetic, its inputs, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mqvitals_rules.plan.answer import Answer, Outcome
from mqvitals_rules.plan.question import Given, Input, PlanError


@dataclass(frozen=True, slots=True)
class Formula:
    """One calculator. Call it with its inputs by name: it checks them and gives an ``Answer``.

    ``number`` is the catalogue's (``F-01``). ``name`` is that of the command line. ``measured_on`` names machine and release of the measurement,
    "arithmetic" where nothing was measured. ``example`` are inputs of a worked example of the source. ``source``: document and section.
    """

    name: str
    number: str
    title: str
    inputs: tuple[Input, ...]
    measured_on: str
    caveat: str
    source: str
    example: Mapping[str, Given]
    arithmetic: Callable[..., Outcome]

    def __call__(self, **given: Given) -> Answer:
        """Answer for these inputs. Raises PlanError for one that is unknown, missing or not allowed."""
        inputs = self._checked(given)
        outcome = self.arithmetic(**inputs)
        caveat = " ".join(each for each in (self.caveat, outcome.caveat) if each)
        exact = outcome.value if outcome.exact is None else outcome.exact
        return Answer(
            self.name,
            inputs,
            outcome.value,
            outcome.unit,
            exact,
            self.measured_on,
            caveat,
            self.source,
            outcome.steps,
            outcome.rows,
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
            if value is None:
                raise PlanError(f"{each.option} must be given: {each.meaning}, {each.allowed}")
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
) -> Callable[[Callable[..., Outcome]], Formula]:
    """Make a formula of a pure function from checked inputs, by name, to its outcome."""

    def made(arithmetic: Callable[..., Outcome]) -> Formula:
        return Formula(name, number, title, inputs, measured_on, caveat, source, example, arithmetic)

    return made
