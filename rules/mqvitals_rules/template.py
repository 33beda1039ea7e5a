"""The words of an alert: a rule's summary with the values of its object filled in.

``{metric}`` is a metric of the object, ``{kind.metric}`` one of a related object, ``{parameter}`` a threshold; ``{name}`` and ``{owner}`` are the two halves
of the object's name. Values come with their units, states by their names, absent values with their reason. The result is plain text without
control characters: names and texts of MQ are data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mqvitals_config.problem import LocatedText, Problem
from mqvitals_config.suggestion import did_you_mean
from mqvitals_rules.rule import Parameter
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType, Reported
from mqvitals_rules.world import relates

_FIELD = re.compile(r"\{([^{}]*)\}")

Lookup = Callable[[str, str], Reported]
"""(kind, metric) -> the value now."""


class _Place(NamedTuple):
    """A metric's value, to be looked up when the words are needed."""

    kind: str
    metric: Metric


class Template:
    """A compiled text. Build it with ``compile_template``."""

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[str | _Place, ...]) -> None:
        self._parts = parts

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of object whose metrics it shows."""
        return frozenset(part.kind for part in self._parts if isinstance(part, _Place))

    def fill(self, name: ObjectName, lookup: Lookup) -> str:
        """The text for one object."""
        words = []
        for part in self._parts:
            if isinstance(part, _Place):
                words.append(shown(part.metric, lookup(part.kind, part.metric.name)))
            elif part == "{name}":
                words.append(name.name)
            elif part == "{owner}":
                words.append(name.owner)
            else:
                words.append(part)
        return plain("".join(words))


def compile_template(
    text: LocatedText,
    scope: Kind,
    kinds: Mapping[str, Kind],
    parameters: Mapping[str, Parameter],
    values: Mapping[str, float],
) -> tuple[Template, list[Problem]]:
    """Check a template's names and keep what is constant. ``values`` are the parameters' values now."""
    parts: list[str | _Place] = []
    problems = []
    end = 0
    for match in _FIELD.finditer(text):
        parts.append(str(text[end : match.start()]))
        end = match.end()
        field = match[1]
        if field in ("name", "owner"):
            parts.append(match[0])
        elif field in parameters:
            parts.append(with_unit(values[field], parameters[field].unit))
        else:
            kind_name, dot, metric_name = field.rpartition(".")
            kind = kinds.get(kind_name) if dot else scope
            metric = kind.metric(metric_name) if kind and relates(scope, kind) else None
            if kind and metric:
                parts.append(_Place(kind.name, metric))
            else:
                known = [*(metric.name for metric in scope.metrics), *parameters, "name", "owner"]
                meant = did_you_mean(field, known)
                problems.append(
                    Problem(
                        text.at(match.start(1)),
                        "",
                        f"{field!r} is no metric of {scope.name} and no parameter of this rule{meant}",
                    )
                )
    parts.append(str(text[end:]))
    return Template(tuple(part for part in parts if part)), problems


def shown(metric: Metric, value: Reported) -> str:
    """A value as people read it: state names, numbers with their unit, absent values with the reason."""
    if isinstance(value, Absence):
        return f"unknown ({value.value})"
    if isinstance(value, str):
        return value
    if metric.type is MetricType.STATE:
        return next((name for name, number in metric.values.items() if number == value), f"{value:g}")
    return with_unit(value, metric.unit)


_UNITS = {"pct": " %", "per_s": "/s", "count": "", "number": "", "": ""}
"""Units that read differently, or are clear without a word."""


def with_unit(value: float, unit: str) -> str:
    """``4 %``, ``88626 us``, ``0.9``; at most two decimals."""
    number = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return number + _UNITS.get(unit, f" {unit}")


def plain(text: str) -> str:
    """Without control characters and other things that do not print, each replaced by one blank."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
