"""What the engine keeps of an object between its polls: which rules are due when, and what is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression.compiler import EvaluateTogether, Verdict, compile_together
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

REVIEW_MS = 300_000
"""The interval at which rules that are not operational are evaluated for an object."""

_SOON_MS = 60_000
"""They are also evaluated once within this time after its first poll, when much about it is not known yet."""

AT_ONCE = 500
"""Of objects that are new together this many are evaluated at their first poll; the others within the usual time."""


class Reviews:
    """When advice is due for an object.

    At its first poll, again within a minute, again within the usual time after that, and then regularly. Objects that
    are new together are spread evenly over each of these times, so that no cycle has to evaluate them all. Of very
    many only some are evaluated at their first poll (``at_once``): the others once within the usual time, and then
    regularly.
    """

    __slots__ = ("_next", "_part", "_seen")

    def __init__(self, name: ObjectName) -> None:
        self._next = -1
        self._seen = 0
        self._part = crc32(f"{name.owner}/{name.name}".encode()) / (1 << 32)

    @property
    def new(self) -> bool:
        """Whether the object was never due."""
        return self._next < 0

    def shift(self, by_ms: int) -> None:
        """Shift the next time by ``by_ms``, as the clock was corrected."""
        if self._next >= 0:
            self._next = max(self._next + by_ms, 0)

    def due(self, now: int, every_ms: int, *, at_once: bool = True) -> bool:
        """Whether advice is due at ``now`` (ms); if so, it counts as evaluated."""
        if now < self._next:
            return False
        if not at_once and every_ms and self.new:
            self._seen = 2
            self._next = now + int(every_ms * self._part)
            return False
        soon = min(_SOON_MS, every_ms)
        # Twice spread: first over the minute, then over the rest of the usual time.
        wait = (soon * self._part, soon * (1 - self._part) + (every_ms - soon) * self._part, every_ms)[self._seen]
        self._seen = min(self._seen + 1, 2)
        self._next = now + int(wait)
        return True


_OFTEN = 64
"""After this many evaluations it pays to compile rules together, which takes about a millisecond a rule."""

_NEWS = object()
"""Stands for a rule with an open alert, for which every verdict counts."""

Unknown = dict[str, tuple[Absence | None, Absence]]
"""Rule id -> the first absence met, and the one that makes the verdict unknown."""

_ALIKE = 1024
"""So many different lists of verdicts are remembered of the objects with the same rules."""


class _Together:
    """Rules that are compiled into one function once they have been evaluated often."""

    __slots__ = ("_compiled", "_evaluated", "_places", "_rules", "_unreported")

    def __init__(
        self, rules: tuple[CompiledRule, ...], places: Mapping[str, int], unreported: Mapping[str, Absence]
    ) -> None:
        self._rules = rules
        self._places = places
        self._unreported = unreported
        self._evaluated = 0
        self._compiled: EvaluateTogether | None = None

    def often(self) -> EvaluateTogether | None:
        """The function; None until they have been evaluated often."""
        if self._compiled is None:
            self._evaluated += 1
            if self._evaluated > _OFTEN:
                conditions = [(self._places[compiled.id], compiled.when.root) for compiled in self._rules]
                self._compiled = compile_together(conditions, self._unreported)
        return self._compiled


class _Alike(NamedTuple):
    """What verdicts about an object tell of what is unknown, and those whose reason depends on more, or that hold."""

    unknown: Unknown
    others: list[Verdict]


class RuleGroup:
    """The rules in force for some objects (``rules``); ``urgent`` are those that are evaluated at every poll.

    ``deferred`` has the places of the others, as far as their summaries show values.
    """

    __slots__ = ("_alike", "_every", "_some", "deferred", "places", "rules", "urgent")

    def __init__(self, rules: tuple[CompiledRule, ...], unreported: Mapping[str, Absence]) -> None:
        """``unreported``: why a metric of the objects is absent before anything reported it."""
        self.rules = rules
        self.places = {compiled.id: place for place, compiled in enumerate(rules)}
        self.urgent = tuple(compiled for compiled in rules if not compiled.deferrable)
        self.deferred = {
            compiled.id: place for place, compiled in enumerate(rules) if compiled.deferrable and compiled.shows_values
        }
        self._every = _Together(rules, self.places, unreported)
        self._some = _Together(self.urgent, self.places, unreported)
        self._alike: dict[tuple[Verdict, ...], _Alike] = {}

    def remember(self, verdicts: Sequence[Verdict], unknown: Unknown) -> None:
        """Remember what is ``unknown`` after all verdicts about an object of which nothing was unknown before."""
        if len(self._alike) >= _ALIKE:
            return
        told = {
            place
            for place, holds, met, why in verdicts
            if holds is None and (met if self.rules[place].plain else why) is not None
        }
        self._alike[tuple(verdicts)] = _Alike(
            {rule: reasons for rule, reasons in unknown.items() if self.places[rule] in told},
            [verdict for verdict in verdicts if verdict[0] not in told],
        )

    def take_alike(
        self, verdicts: list[Verdict], state: RuleState, counts: Counter[tuple[str, Absence]]
    ) -> list[Verdict]:
        """Note and count what is unknown of such an object as of another with the same verdicts; returns the others.

        When thousands of objects are new, most of their rules are unknown, for the same few reasons.
        """
        alike = self._alike.get(tuple(verdicts))
        if alike is None:
            return verdicts
        state.unknown.update(alike.unknown)
        counts.update([(rule, reason) for rule, (_, reason) in alike.unknown.items()])
        for rule, (met, _) in alike.unknown.items():
            state.settled[self.places[rule]] = met
        return alike.others

    def evaluate(
        self,
        context: EvalContext,
        values: Mapping[str, Reported],
        rules: Sequence[CompiledRule],
        settled: Sequence[object],
    ) -> list[Verdict]:
        """The verdicts about the object of the context that are not ``settled``, in the order of the rules."""
        if not rules:
            return []
        if rules is self.urgent or rules is self.rules:
            together = (self._some if rules is self.urgent else self._every).often()
            if together is not None:
                try:
                    return together(context, values.get, settled)
                except ArithmeticError:
                    pass  # one of them must be evaluated by itself
        return self._one_by_one(context, values, rules, settled)

    def _one_by_one(
        self,
        context: EvalContext,
        values: Mapping[str, Reported],
        rules: Sequence[CompiledRule],
        settled: Sequence[object],
    ) -> list[Verdict]:
        found: list[Verdict] = []
        for compiled in rules:
            context.absence = None
            holds = compiled.when.truth(context, values)
            place = self.places[compiled.id]
            met = context.absence if holds is None else None
            if (met if holds is None else holds) is not settled[place]:
                found.append((place, holds, met, None))
        return found


class RuleState:
    """What the engine keeps of an object between its polls.

    ``settled`` has, for each rule of its ``group``, the verdict that changes nothing.
    """

    __slots__ = (
        "_for_turn",
        "alerts",
        "by_polls",
        "by_records",
        "deferrable",
        "fresh_until",
        "group",
        "polled",
        "record_ends",
        "reviewed",
        "settled",
        "shown",
        "unknown",
    )

    def __init__(self, name: ObjectName, group: RuleGroup, alerts: dict[str, Alert]) -> None:
        self.group = group
        self.deferrable = len(group.urgent) < len(group.rules)
        self.reviewed = Reviews(name)
        self.alerts = alerts
        self.unknown: Unknown = {}
        self.settled: list[object] = [_NEWS if compiled.id in alerts else False for compiled in group.rules]
        self.polled = -1
        self.shown: dict[str, tuple[Reported | None, ...]] = {}
        """Rule id -> the values in the summary of its open alert, at the last poll that it did not count."""
        self.record_ends: dict[str, int] = {}
        """Rule id -> the end of the last record with which it was evaluated."""
        self._for_turn = (-1, -1)
        self.by_polls = group.rules
        self.by_records: tuple[CompiledRule, ...] = ()
        self.fresh_until = 0

    def shift(self, by_ms: int) -> None:
        """Shift what waits by ``by_ms``, as the clock was corrected: it waits for the elapsed time."""
        self.reviewed.shift(by_ms)
        self.polled = -1

    def settle(self, place: int, rule: str) -> None:
        """Note that a verdict of a rule was handled."""
        met, _ = self.unknown.get(rule, (False, None))
        self.settled[place] = _NEWS if rule in self.alerts else met

    def sort(self, state: LatestState) -> None:
        """Sort the rules into those that wait for polls and those that wait for records.

        The latter read a record's value and none of polls. Of an object that was never polled all wait for records:
        else nothing would report the metrics that even its records do not have.
        """
        turn = (state.turn, len(state.stamps))
        if turn == self._for_turn:
            return
        self._for_turn = turn
        recorded, polled = state.from_records, state.stamps.keys() - state.from_records
        self.by_records = tuple(
            compiled
            for compiled in self.group.rules
            if not state.stamps or (not compiled.own.isdisjoint(recorded) and compiled.own.isdisjoint(polled))
        )
        waiting = {compiled.id for compiled in self.by_records}
        self.by_polls = tuple(compiled for compiled in self.group.rules if compiled.id not in waiting)
        self.fresh_until = min((state.fresh_until_of(compiled.own) for compiled in self.by_records), default=0)

    def due(self, state: LatestState, now: int, review_ms: int, *, at_once: bool = True) -> tuple[CompiledRule, ...]:
        """The rules that a poll evaluates, also those whose records are no longer fresh.

        ``at_once`` as for ``Reviews``.
        """
        all_due = not self.deferrable or self.reviewed.due(now, review_ms, at_once=at_once)
        if not state.recorded:
            return self.group.rules if all_due else self.group.urgent
        self.sort(state)
        rules = self.by_polls
        if self.by_records and now > self.fresh_until:
            rules += tuple(compiled for compiled in self.by_records if state.fresh_until_of(compiled.own) < now)
        return rules if all_due else tuple(compiled for compiled in rules if not compiled.deferrable)
