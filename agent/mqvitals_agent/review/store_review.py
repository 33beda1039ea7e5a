"""Evaluates the rules of a review for every object of a store: for ``review``, and for the advice that an import
stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.review.evaluation import Check, Occurrence, RuleEvaluator
from mqvitals_agent.review.findings import ReviewResult, result_of
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.object.explanation import lasting_owners, latest_of, load_kind
from mqvitals_agent.view.object.stored_past import StoredPast
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.explanation import undeclared_facts
from mqvitals_rules.expression import Explanation
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Alert, Transition, Why
from mqvitals_rules.lifecycle.step import HoldPolicy, Verdict, begin, end, step
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.facts import Declaration
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

REVIEWED = (RuleKind.REVIEW, RuleKind.APPLICATION, RuleKind.DATA_QUALITY)
"""The kinds of rules in a review, in the order of its parts."""


@dataclass(slots=True)
class ReviewPart:
    """The checks of one kind of rules for one owner's objects.

    ``lacking`` counts, by the reason of an unknown verdict, the metrics that are absent for it. ``declarations`` are
    the facts that would make a verdict known.
    """

    kind: RuleKind
    checks: list[Check] = field(default_factory=list)
    lacking: dict[Absence, Counter[str]] = field(default_factory=dict)
    declarations: dict[tuple[str, str, str], Declaration] = field(default_factory=dict)

    @property
    def outcome(self) -> ReviewResult:
        """The findings, worst first, and the checks without one."""
        return result_of(self.checks)


@dataclass(frozen=True, slots=True)
class OwnerReview:
    """The review of one queue manager, or the group, as of ``now``, its last snapshot (ms UTC)."""

    name: str
    is_group: bool
    now: int
    parts: tuple[ReviewPart, ...]

    @property
    def outcome(self) -> ReviewResult:
        """The findings of all parts."""
        return result_of(check for part in self.parts for check in part.checks)


def loaded_latest(reader: StoreReader, config: RuleConfig) -> LatestValues:
    """The newest values of all objects of a store whose owners are monitored. Raises StoreError."""
    owners = [owner for owner in reader.owners() if not owner.unwatched]
    latest = latest_of(owners, config.facts)
    lasting = lasting_owners(reader)
    for owner in owners:
        for kind in KINDS:
            load_kind(reader, latest, owner.name, kind, lasting=lasting)
    return latest


def review_store(reader: StoreReader, config: RuleConfig, wanted: Collection[str] = ()) -> tuple[OwnerReview, ...]:
    """Evaluate all objects of the owners ``wanted`` (none: of all), regardless of holds. Raises StoreError.

    Where a check cannot be evaluated now, an alert that the agent has opened before remains a finding.
    """
    owners = [owner for owner in reader.owners() if not owner.unwatched]
    latest = loaded_latest(reader, config)
    standing = {(each.alert.scope, each.alert.key.rule): each.alert for each in reader.alerts(review=True)}
    found = []
    for owner in owners:
        if not wanted or owner.name in wanted:
            past = StoredPast(reader, owner.last_ts, config.zone_of)
            reviewer = _OwnerReviewer(config, latest, past, owner.last_ts, standing)
            found.append(OwnerReview(owner.name, owner.is_group, owner.last_ts, reviewer.parts(owner.name)))
    return tuple(found)


class _OwnerReviewer:
    """Evaluates the reviewed rules for the objects of one owner as of ``now``."""

    def __init__(
        self,
        config: RuleConfig,
        latest: LatestValues,
        past: StoredPast,
        now: int,
        standing: Mapping[tuple[ObjectName, str], Alert],
    ) -> None:
        self._rules = config.rules
        self._latest = latest
        self._evaluator = RuleEvaluator(KINDS, latest, past)
        self._now = now
        self._standing = standing

    def parts(self, owner: str) -> tuple[ReviewPart, ...]:
        """The parts of the owner's review."""
        parts = {kind: ReviewPart(kind) for kind in REVIEWED}
        for state in list(self._latest):
            if state.name.owner != owner:
                continue
            compiled_rules = [
                compiled for compiled in self._rules.rules_for(state.name) if compiled.rule.kind in REVIEWED
            ]
            if compiled_rules:
                self._evaluator.context.enter(state, self._now)
            for compiled in compiled_rules:
                self._evaluate(parts[compiled.rule.kind], state, compiled)
        return tuple(parts.values())

    def _evaluate(self, part: ReviewPart, state: LatestState, compiled: CompiledRule) -> None:
        context = self._evaluator.context
        check = Check(compiled.rule, state.name)
        part.checks.append(check)
        holds = compiled.when.truth(context)
        if holds is None:
            alert = self._standing.get((state.name, compiled.id))
            if alert is None:
                self._note_unknown(part, check, compiled.when.explain(context))
            else:
                check.fired = True
                advice, mqsc = compiled.advise(state.name, context), compiled.command(state.name, context)
                check.worst = Occurrence(
                    alert.updated, None, alert.severity, summary=alert.summary, advice=advice, mqsc=mqsc
                )
            return
        check.evaluated = 1
        if holds:
            ts = self._reported_at(state)
            check.held, check.fired, check.first, check.last = 1, True, ts, ts
            check.worst = self._evaluator.occurrence(compiled, state, ts)

    def _note_unknown(self, part: ReviewPart, check: Check, why: Explanation) -> None:
        check.unknown.update(list(dict.fromkeys(absence for _, absence in why.missing)) or [Absence.WINDOW])
        for metric, absence in why.missing:
            part.lacking.setdefault(absence, Counter())[metric] += 1
        for fact in undeclared_facts(why, check.object, KINDS, self._latest):
            part.declarations[fact.section, fact.objects, fact.metric.name] = fact

    def _reported_at(self, state: LatestState) -> int:
        """The time of an object's values, ms UTC: now, or the end of the newest record where it is not polled."""
        if state.stamps:
            return self._now
        return max((record.ts for record in state.recorded.values()), default=self._now)


_AT_ONCE: Final = HoldPolicy(hold_polls=1, clear_polls=1)


def update_advice(store: Store, reader: StoreReader, config: RuleConfig, owners: Collection[str]) -> None:
    """Make the stored advice about objects of ``owners`` what a review finds now. Raises StoreError.

    While records are read, rules are evaluated as of each record, before later ones are known. This makes
    ``alerts list --review``, ``status`` and ``review`` agree after an import.
    """
    if not owners:
        return
    known = {(alert.scope, alert.key.rule): alert for alert in store.alerts.all_open()}
    changes: list[Transition] = []
    for each in review_store(reader, config, owners):
        for part in each.parts:
            for check in part.checks:
                changes += _changes(check, known.get((check.object, str(check.rule.id))), config, each.now)
    store.write_transitions(changes)


def _changes(check: Check, alert: Alert | None, config: RuleConfig, now: int) -> Iterator[Transition]:
    if not check.evaluated:
        return
    if check.worst is None:
        if alert is not None:
            yield end(alert, Why.CLEARED, now)
        return
    worst = check.worst
    if alert is None:
        compiled = config.rules.rule_for(check.rule, ObjectName(*check.object))
        if compiled is not None:
            yield begin(compiled.identity(check.object), _AT_ONCE, worst.severity, worst.summary, worst.ts)
        return
    verdict = Verdict(holds=True, clear=False, severity=worst.severity, summary=worst.summary)
    change = step(alert, _AT_ONCE, verdict, max(worst.ts, alert.updated))
    if change is not None:
        yield change
