"""Every object of a store evaluated now by the rules of a review: what ``review`` shows, and what an import stores as advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.review.evaluation import Check, ComparedValue, Occurrence, ReviewResult, compared_value, result_of
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.explanation import StoredPast, lasting_owners, load_kind
from mqvitals_rules.expression import Explanation
from mqvitals_rules.facts import Declaration, declaration_of
from mqvitals_rules.finding import severity_of
from mqvitals_rules.form import Form
from mqvitals_rules.lifecycle.alert import Alert, Transition, Why
from mqvitals_rules.lifecycle.step import Policy, Verdict, begin, end, step
from mqvitals_rules.rule import RuleKind
from mqvitals_rules.rule_config import RuleConfig
from mqvitals_rules.scene import Scene
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.world import World

REVIEWED = (RuleKind.REVIEW, RuleKind.APPLICATION, RuleKind.DATA_QUALITY)
"""The kinds of rules that a review is made of, in the order of its parts."""


@dataclass(slots=True)
class ReviewPart:
    """What rules of one kind say of one owner's objects.

    ``commands`` are the MQSC commands of findings, by object and rule. ``lacking`` says of each reason of an unknown verdict the metrics
    that are absent for it, and ``declarations`` the facts that would turn one into a verdict.
    """

    kind: RuleKind
    checks: list[Check] = field(default_factory=list)
    commands: dict[tuple[ObjectName, str], str] = field(default_factory=dict)
    lacking: dict[Absence, Counter[str]] = field(default_factory=dict)
    declarations: dict[tuple[str, str, str], Declaration] = field(default_factory=dict)

    @property
    def outcome(self) -> ReviewResult:
        """The findings, worst first, what is right, and what could not be judged."""
        return result_of(self.checks)


@dataclass(frozen=True, slots=True)
class OwnerReview:
    """One queue manager, or the group, as of its last snapshot (ms UTC)."""

    name: str
    is_group: bool
    now: int
    parts: tuple[ReviewPart, ...]

    @property
    def health(self) -> Health:
        """The worst that was found; UNKNOWN where nothing could be judged."""
        return result_of(check for part in self.parts for check in part.checks).health


def review_store(reader: StoreReader, judging: RuleConfig, wanted: Collection[str] = ()) -> tuple[OwnerReview, ...]:
    """Judge all objects of the owners ``wanted`` (none: of all), whatever their rules' holds. Raises StoreError.

    What the agent found when it could still judge, and nobody can judge now, stands as it was found.
    """
    owners = [owner for owner in reader.owners() if not owner.unwatched]
    group = next((owner.name for owner in owners if owner.is_group), "")
    world = World(KINDS, judging.facts)
    lasting = lasting_owners(reader)
    for owner in owners:
        for kind in KINDS:
            load_kind(reader, world, owner.name, kind, group, lasting=lasting)
    standing = {(each.alert.scope, each.alert.key.rule): each.alert for each in reader.alerts(review=True)}
    found = []
    for owner in owners:
        if not wanted or owner.name in wanted:
            past = StoredPast(reader, owner.last_ts)
            examiner = _Examiner(judging, world, past, owner.last_ts, standing)
            found.append(OwnerReview(owner.name, owner.is_group, owner.last_ts, examiner.parts(owner.name)))
    return tuple(found)


class _Examiner:
    def __init__(
        self,
        judging: RuleConfig,
        world: World,
        past: StoredPast,
        now: int,
        standing: Mapping[tuple[ObjectName, str], Alert],
    ) -> None:
        self._rules = judging.rules
        self._world = world
        self._scene = Scene(KINDS, world, past)
        self._now = now
        self._standing = standing
        self._gauges: dict[int, ComparedValue | None] = {}

    def parts(self, owner: str) -> tuple[ReviewPart, ...]:
        parts = {kind: ReviewPart(kind) for kind in REVIEWED}
        for name, form in self._due(owner):
            self._judge(parts[form.rule.kind], name, form)
        return tuple(parts.values())

    def _due(self, owner: str) -> Iterator[tuple[ObjectName, Form]]:
        for state in list(self._world):
            if state.name.owner == owner:
                forms = [form for form in self._rules.forms(state.name) if form.rule.kind in REVIEWED]
                if forms:
                    self._scene.enter(state, self._now)
                    yield from ((state.name, form) for form in forms)

    def _judge(self, part: ReviewPart, name: ObjectName, form: Form) -> None:
        scene = self._scene
        check = Check(form.rule, name)
        part.checks.append(check)
        holds = form.when.truth(scene)
        if holds is None:
            alert = self._standing.get((name, form.id))
            if alert is None:
                self._note_unknown(part, check, form.when.explain(scene))
            else:
                check.fired = True
                check.worst = Occurrence(alert.updated, None, alert.severity, None, alert.summary, ())
                part.commands[name, form.id] = form.command(name, scene)
            return
        check.judged = 1
        if not holds:
            return
        told = self._told(name)
        check.held, check.fired, check.first, check.last = 1, True, told, told
        # What stands in two alternatives is said once.
        held = (term.filled for term in form.when.explain(scene).terms if term.truth and not term.left_out)
        terms = tuple(dict.fromkeys(held))
        check.worst = Occurrence(
            told,
            None,
            severity_of(form, scene) or form.rule.severity,
            self._badness(form),
            form.summary.fill(name, scene.value),
            terms,
        )
        part.commands[name, form.id] = form.command(name, scene)

    def _note_unknown(self, part: ReviewPart, check: Check, why: Explanation) -> None:
        reasons: Mapping[Absence, None] = dict.fromkeys(absence for _, absence in why.missing) or {Absence.WINDOW: None}
        check.unknown.update(reasons.keys())
        for metric, absence in why.missing:
            part.lacking.setdefault(absence, Counter())[metric] += 1
            if absence is Absence.NOT_DECLARED:
                fact = declaration_of(check.object, metric, KINDS, self._world)
                if fact is not None:
                    part.declarations[fact.section, fact.objects, fact.metric.name] = fact

    def _told(self, name: ObjectName) -> int:
        """As of when an object is known: now, or where nobody polls it the end of its newest record."""
        state = self._world.state(name)
        if state is None or state.stamps:
            return self._now
        return max((record.ts for record in state.recorded.values()), default=self._now)

    def _badness(self, form: Form) -> float | None:
        # A form lives as long as its rules, so its place in memory names it.
        if id(form) not in self._gauges:
            self._gauges[id(form)] = compared_value(form, KINDS)
        gauge = self._gauges[id(form)]
        return None if gauge is None else gauge.badness(self._scene)


_AT_ONCE: Final = Policy(hold_polls=1, clear_polls=1)


def update_advice(store: Store, reader: StoreReader, judging: RuleConfig, owners: Collection[str]) -> None:
    """Bring the advice about objects of ``owners`` up to date. Raises StoreError."""
    if not owners:
        return
    known = {(alert.scope, alert.key.rule): alert for alert in store.open_alerts()}
    changes: list[Transition] = []
    for each in review_store(reader, judging, owners):
        for part in each.parts:
            for check in part.checks:
                changes += _changes(check, known.get((check.object, str(check.rule.id))), judging, each.now)
    store.write_transitions(changes)


def _changes(check: Check, alert: Alert | None, judging: RuleConfig, now: int) -> Iterator[Transition]:
    if not check.judged:
        return
    if check.worst is None:
        if alert is not None:
            yield end(alert, Why.CLEARED, now)
        return
    worst = check.worst
    if alert is None:
        form = judging.rules.form(check.rule, ObjectName(*check.object))
        if form is not None:
            yield begin(form.identity(check.object), _AT_ONCE, worst.severity, worst.summary, worst.ts)
        return
    verdict = Verdict(holds=True, clear=False, severity=worst.severity, summary=worst.summary)
    change = step(alert, _AT_ONCE, verdict, max(worst.ts, alert.updated))
    if change is not None:
        yield change
