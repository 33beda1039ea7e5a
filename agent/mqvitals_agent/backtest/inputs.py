"""What rules read, as their compiled expressions say, and whether history holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.expression import Expression
from mqvitals_rules.latest_state import RELATIONS
from mqvitals_rules.vocabulary.changes import RECORDED
from mqvitals_rules.vocabulary.metric import Kind, Metric
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

FROM_OTHERS: Final[Mapping[tuple[str, str], str]] = {
    (QUEUE_KIND.name, "backout_of"): "backout_queue",
    (QUEUE_KIND.name, "stream_of"): "stream_queue",
}
"""A text that is worked out from the definitions of other objects of the kind -> the recorded attribute of these."""


class RuleInput(NamedTuple):
    """A metric that a rule reads; ``why`` where its expressions do not name it: what it leads to."""

    kind: str
    metric: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind}.{self.metric}"


@dataclass(frozen=True, slots=True)
class BacktestInputs:
    """What is read of history for some rules, by kind of object.

    ``numbers`` are numbers and states; a kind without any has an empty set. ``texts`` are attributes of definitions, whose
    changes are recorded. ``evaluated`` are the kinds that rules evaluate, ``related`` those of which they read others than
    the evaluated object itself.
    """

    numbers: Mapping[str, frozenset[str]]
    texts: Mapping[str, frozenset[str]]
    evaluated: frozenset[str]
    related: frozenset[str]


def refusals(compiled: CompiledRule, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """What history does not hold of what a rule reads, a sentence for each metric; empty where it can be tested."""
    found = []
    for each in sorted(set(_inputs(compiled, kinds))):
        metric = kinds[each.kind].metric(each.metric)
        if metric is None or _is_held(each.kind, metric):
            continue
        leads = f" ({each.why})" if each.why else ""
        found.append(
            f"it reads {each}{leads}, a text: history keeps numbers and states, and the changes of definitions"
        )
    return tuple(found)


def inputs_of(rules: Iterable[CompiledRule], kinds: Mapping[str, Kind]) -> BacktestInputs:
    """What is read for rules without ``refusals``, and what their summaries show of it."""
    numbers: dict[str, set[str]] = {}
    texts: dict[str, set[str]] = {}
    evaluated: set[str] = set()
    related: set[str] = set()
    for compiled in rules:
        scope = compiled.rule.scope
        evaluated.add(scope)
        related.update(_related(compiled))
        numbers.setdefault(scope, set())
        shown = [RuleInput(kind, metric.name) for kind, metric in compiled.summary.metrics]
        for kind, name, _ in (*_inputs(compiled, kinds), *shown):
            metric = kinds[kind].metric(name)
            assert metric is not None, "the compiler knows every metric"
            if metric.in_history:
                numbers.setdefault(kind, set()).add(name)
            elif _is_recorded(kind, name):
                numbers.setdefault(kind, set())
                texts.setdefault(kind, set()).add(name)
                if (kind, name) in FROM_OTHERS:
                    texts[kind].add(FROM_OTHERS[kind, name])
                    related.add(kind)
        for use in _members(compiled):
            # That there is none of a kind is known by the answer to its command.
            numbers.setdefault(use, set())
            numbers.setdefault("agent", set()).add("outcome")
            related.add("agent")
    return BacktestInputs(
        {kind: frozenset(names) for kind, names in numbers.items()},
        {kind: frozenset(names) for kind, names in texts.items()},
        frozenset(evaluated),
        frozenset(related),
    )


def _is_held(kind: str, metric: Metric) -> bool:
    return metric.in_history or metric.declared or _is_recorded(kind, metric.name)


def _is_recorded(kind: str, metric: str) -> bool:
    metric = FROM_OTHERS.get((kind, metric), metric)
    return any(metric in names for names in RECORDED.get(kind, {}).values())


def _members(compiled: CompiledRule) -> set[str]:
    return {use.kind for each in compiled.expressions for use in each.members}


def _related(compiled: CompiledRule) -> Iterator[str]:
    """The kinds of which a rule reads other objects than the one that it evaluates."""
    scope = compiled.rule.scope
    for each in compiled.expressions:
        read = {kind for kind, _ in each.names} | {use.kind for use in each.windows}
        read |= {kind for use in each.members for kind, _ in use.names}
        yield from read - {scope}
        yield from (use.kind for use in each.members)
        yield from each.shares
        if each.pairs:
            yield scope
    yield from {kind for kind, _ in compiled.summary.metrics} - {scope}


def _inputs(compiled: CompiledRule, kinds: Mapping[str, Kind]) -> Iterator[RuleInput]:
    scope = compiled.rule.scope
    for each in compiled.expressions:
        yield from _of_expression(each, scope, kinds)


def _of_expression(expression: Expression, scope: str, kinds: Mapping[str, Kind]) -> Iterator[RuleInput]:
    read = set(expression.names) | {(use.kind, use.metric) for use in expression.windows}
    read |= {(scope, metric) for metric in expression.pairs}
    member_kinds = {use.kind for use in expression.members}
    for kind, metric in sorted(read):
        yield RuleInput(kind, metric)
        if kind not in member_kinds:
            yield from _links(scope, kind, kinds)
    for use in expression.members:
        yield from _links(use.kind, scope, kinds)
        for kind, metric in sorted(use.names):
            yield RuleInput(kind, metric)
            yield from _links(use.kind, kind, kinds)


def _links(kind: str, other: str, kinds: Mapping[str, Kind]) -> Iterator[RuleInput]:
    """The metrics that lead from an object of a kind to the one of another that belongs to it."""
    relation = RELATIONS.get((kind, other))
    if kind == other or kinds[other].single or relation is None:
        return
    holder, metric = relation
    yield RuleInput(holder, metric, f"it leads from {kind} to {other}")
    yield from _links(kind, holder, kinds)
