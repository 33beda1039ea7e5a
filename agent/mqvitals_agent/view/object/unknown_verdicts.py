"""The verdicts that are unknown for a reason that somebody can do something about: which rules, which objects, since when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.store.result import CurrentValue, UnknownRow
from mqvitals_agent.view.figures.values import natural_order
from mqvitals_agent.view.object.explanation import explain_object
from mqvitals_agent.view.status import TO_DO
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.config import RuleConfig

MOST_OBJECTS = 5
"""The objects that are named for a rule of a queue manager; of more there is a number."""

MOST_EVALUATED = 60
"""The most objects that are evaluated for the whole list."""


class UnknownObject(NamedTuple):
    """An object for which a rule is unknown. ``since`` is when what it lacks was known last, ms UTC; None: never, or not
    known."""

    name: ObjectName
    since: int | None


@dataclass(frozen=True, slots=True)
class UnknownVerdicts:
    """The verdicts of one rule about the objects of one owner: ``count`` of them, of which ``objects`` are named.

    ``rule`` is empty for all rules together, where the owner itself is the reason.
    """

    owner: str
    rule: str
    title: str
    reason: Absence
    count: int
    objects: tuple[UnknownObject, ...]
    rules: int = 1


def read_unknown_verdicts(
    reader: StoreReader, rows: Iterable[UnknownRow], rules: RuleConfig
) -> tuple[UnknownVerdicts, ...]:
    """What the rows of the store stand for, as far as somebody can do something about it; by reason, owner and rule.

    A queue manager that cannot be reached is one entry, whatever is unknown about it. Raises StoreError.
    """
    wanted = [row for row in rows if row.reason in TO_DO and row.count]
    groups = {row.owner for row in wanted if reader.has(ObjectName(row.owner, "qsg"))}
    order = list(TO_DO)
    wanted.sort(key=lambda row: (order.index(row.reason), row.owner in groups, row.owner, row.rule))
    found: list[UnknownVerdicts] = []
    left = MOST_EVALUATED
    for (reason, owner), group in groupby(wanted, key=lambda row: (row.reason, row.owner)):
        of_owner = list(group)
        name = ObjectName(owner, "queue_manager")
        # What is unknown about the group lacks what one of its queue managers knows: that is told object by object.
        if reason is Absence.UNREACHABLE and owner not in groups:
            since = _silent_since(reader, name)
            count = sum(row.count for row in of_owner)
            found.append(UnknownVerdicts(owner, "", "", reason, count, (UnknownObject(name, since),), len(of_owner)))
            continue
        for row in of_owner:
            rule = rules.rules.rule(row.rule)
            objects: Sequence[UnknownObject] = ()
            if rule is not None:
                objects, evaluated = _objects(reader, row, rules, left)
                left -= evaluated
            found.append(
                UnknownVerdicts(owner, row.rule, "" if rule is None else rule.title, reason, row.count, tuple(objects))
            )
    return tuple(found)


def _objects(reader: StoreReader, row: UnknownRow, rules: RuleConfig, most: int) -> tuple[Sequence[UnknownObject], int]:
    """Some of the objects of a row, and how many were evaluated to find them: at most ``most``."""
    rule = rules.rules.rule(row.rule)
    assert rule is not None
    stored = reader.current_by_kind(row.owner, rule.scope)
    candidates = []
    for name in sorted(stored, key=natural_order):
        compiled = rules.rules.rule_for(rule, name)
        if compiled is not None:
            lacking = _lacking(compiled, stored[name], row.reason)
            candidates.append((not lacking, name, compiled, _last_told(lacking)))
    # Those that lack something for this reason come first: a rule may lack what belongs to another object.
    candidates.sort(key=lambda each: each[0])
    found: list[UnknownObject] = []
    evaluated = 0
    for _, name, compiled, since in candidates:
        if len(found) == min(row.count, MOST_OBJECTS) or evaluated == min(most, 2 * MOST_OBJECTS):
            break
        evaluated += 1
        outcome = explain_object(reader, (compiled,), rules.facts, name, rules.zone_of).findings[0].when
        if outcome.truth is None:
            found.append(UnknownObject(name, since))
    return found, evaluated


def _lacking(compiled: CompiledRule, values: Mapping[str, CurrentValue], reason: Absence) -> list[CurrentValue]:
    """The values of an object that a rule reads, and that are absent or without an answer for this reason."""
    read = {metric for each in compiled.expressions for kind, metric in each.names if kind == compiled.rule.scope}
    return [
        latest for name in sorted(read & values.keys()) if reason in ((latest := values[name]).value, latest.unanswered)
    ]


_TELLING = ("buffer_pool", "channel_initiator", "log")
"""Kinds of which a queue manager has few objects, and which every cycle asks for."""


def _silent_since(reader: StoreReader, name: ObjectName) -> int | None:
    """When a queue manager without answers told something last, ms UTC."""
    told = [
        latest.ts
        for kind in _TELLING
        for values in reader.current_by_kind(name.owner, kind).values()
        for latest in values.values()
        if latest.unanswered is not None and latest.ts is not None
    ]
    return max(told, default=None)


def _last_told(values: Iterable[CurrentValue]) -> int | None:
    """When the oldest of some values was told last, ms UTC; an absence was not."""
    return min(
        (each.ts for each in values if each.ts is not None and not isinstance(each.value, Absence)), default=None
    )
