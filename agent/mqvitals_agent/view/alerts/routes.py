"""The tree of routes in words, and the way that an alert takes through it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from mqvitals_agent.alerting.labels import Labels
from mqvitals_agent.alerting.routing import Route, Step, StepOutcome, group_key
from mqvitals_agent.text.styled import Line, Span, Tone, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.sections.alerting import ALL_LABELS
from mqvitals_config.sections.matcher import matchers_text
from mqvitals_rules.lifecycle.alert import Severity

_TONES: Final = {StepOutcome.ARRIVES: Tone.OK, StepOutcome.NO_MATCH: Tone.FAINT, StepOutcome.NOT_TRIED: Tone.FAINT}


def tree_lines(root: Route, width: int) -> list[Line]:
    """Each route with what it takes, and below it where that goes, and when."""
    return list(_tree_lines(root, "", width))


def _tree_lines(route: Route, indent: str, width: int) -> Iterator[Line]:
    yield from _head(route, indent, "", Tone.STRONG, width)
    rest = f"{indent}    "
    yield from wrapped(settings_words(route), width, first=rest, rest=rest)
    for child in route.routes:
        yield from _tree_lines(child, f"{indent}  ", width)


def way_lines(steps: Sequence[Step], labels: Labels, width: int) -> list[Line]:
    """Each route that was tried, and what it did with an alert that has these labels."""
    found: list[Line] = []
    for step in steps:
        indent = "  " * (len(step.way) - 1)
        found += _head(step.route, indent, outcome_words(step, labels), _TONES.get(step.outcome, Tone.PLAIN), width)
    return found


def arrival_lines(arrivals: Sequence[Step], labels: Labels, floors: Mapping[str, Severity], width: int) -> list[Line]:
    """Where an alert arrives: receiver, group, times, and why nothing is notified from there, if that is so.

    ``floors`` maps a receiver to the least severity that it wants.
    """
    found: list[Line] = []
    for index, step in enumerate(arrivals):
        before = next((each.route for each in arrivals[:index] if each.route.receiver == step.route.receiver), None)
        found += _arrival_lines(step, before, labels, floors, width)
    return found


def _arrival_lines(
    step: Step, before: Route | None, labels: Labels, floors: Mapping[str, Severity], width: int
) -> list[Line]:
    """``before`` is a route by which the alert has arrived at the same receiver already."""
    route = step.route
    rows = [
        ("group", group_key(step.way, labels)),
        ("times", times_words(route)),
        ("severity", severity_words(route, labels, floors)),
        ("intervals", interval_words(route)),
        ("only if", "" if before is None else f"{_named(before)} does not let it through"),
    ]
    found = wrapped(f"{safe(route.receiver) or 'no receiver'}, by {_named(route)}", width, Tone.STRONG)
    for name, text in rows:
        if text:
            found += wrapped(safe(text), width, first=f"  {name:<10}", rest=" " * 12)
    return found


def outcome_words(step: Step, labels: Labels) -> str:
    """What a route did with an alert, and why."""
    if step.failed is not None:
        label = step.failed.label
        value = labels.get(label)
        return f"no, the alert has {label}={value}" if value else f"no, the alert has no {label}"
    if step.outcome is StepOutcome.NOT_TRIED:
        return "not tried, a route before it took the alert and has no continue"
    return f"yes, {step.outcome.value}"


def settings_words(route: Route) -> str:
    """Receiver, severity, groups and times of a route."""
    receiver = safe(route.receiver) or "no receiver"
    parts = [
        f"to {receiver}",
        f"{route.min_severity.name.lower()}{'' if route.min_severity is Severity.CRITICAL else ' and worse'}",
        _group_words(route.group_by),
        times_words(route),
        interval_words(route),
    ]
    return safe("; ".join(filter(None, parts)))


def times_words(route: Route) -> str:
    """When a group is notified."""
    first = f"first after {format_duration(route.wait)}" if route.wait else "first at once"
    repeat = "never repeated" if route.repeat is None else f"repeated after {format_duration(route.repeat)}"
    return f"{first}, then at most every {format_duration(route.interval)}, {repeat}"


def interval_words(route: Route) -> str:
    """The time intervals of a route; empty without one."""
    parts = [f"not during {' or '.join(route.muted)}"] if route.muted else []
    parts += [f"only during {' or '.join(route.active)}"] if route.active else []
    return ", ".join(parts)


def severity_words(route: Route, labels: Labels, floors: Mapping[str, Severity]) -> str:
    """Why an alert is too mild to be notified from a route; empty when it is not.

    The ``min_severity`` of the route and that of its receiver both hold.
    """
    severity = Severity.__members__.get(labels.get("severity", "").upper())
    floor = least_severity(route, floors)
    if severity is not None and severity >= floor:
        return ""
    whose = f"receiver {safe(route.receiver)}" if floors.get(route.receiver) is floor else _named(route)
    least = f"the min_severity of {whose} is {floor.name.lower()}"
    if severity is None:
        return f"only {floor.name.lower()}{'' if floor is Severity.CRITICAL else ' and worse'}: {least}"
    return f"nothing is notified: the alert is {severity.name.lower()}, {least}"


def least_severity(route: Route, floors: Mapping[str, Severity]) -> Severity:
    """The least severity that is notified from a route: its own, or that of its receiver in ``floors`` where that is higher."""
    return max(route.min_severity, floors.get(route.receiver, route.min_severity))


def _group_words(group_by: Collection[str]) -> str:
    if ALL_LABELS in group_by:
        return "each alert by itself"
    return f"grouped by {', '.join(group_by)}" if group_by else "all in one group"


def _head(route: Route, indent: str, outcome: str, tone: Tone, width: int) -> list[Line]:
    """A route's name and its matchers, and what it did."""
    takes = matchers_text(route.matchers) or "every alert"
    text = f"{takes}; continue" if route.goes_on else takes
    name = _named(route) if not indent else _named(route).removeprefix("route.").rpartition(".")[2]
    if outcome:
        text = f"{text}: {outcome}"
    lines = wrapped(safe(text), width, tone, first=f"{indent}{name}  ", rest=f"{indent}    ")
    start = len(f"{indent}{name}")
    first = lines[0].text
    return [Line((Span(first[:start], Tone.STRONG), Span(first[start:], tone))), *lines[1:]]


def _named(route: Route) -> str:
    return route.path or "all"
