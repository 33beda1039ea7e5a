"""Runs rule tests through a real engine and compares each poll with what the test expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.engine import Engine
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.explanation import RuleExplanation, explain_rule
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Alert, AlertState
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source, with_derived
from mqvitals_rules.testing.cases import BEGIN, Expectation, FiringEntry, RuleTest, decode_tests
from mqvitals_rules.vocabulary.event import is_event
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported

if TYPE_CHECKING:
    from mqvitals_rules.testing.coverage import Coverage

_RECORD = "SMF"
"""The probe of the records of a test."""
_NO_RECORD = (Absence.NO_ANSWER, Absence.NEEDS_SMF)
"""Values of a test that mean that no record came."""


class RuleTestRun:
    """One test under way. ``rules`` are those in force for it."""

    def __init__(self, test: RuleTest, rules: RuleSet) -> None:
        self._test = test
        self._facts = Facts(rules.kinds, test.facts)
        self._history = MemoryHistory()
        for owner, messages in test.messages.items():
            if not any(is_event(message.id) for message in messages):
                self._history.follow(owner)
            for message in messages:
                self._history.add_message(owner, message)
        # A rule that is off until a site switches it on is on in the tests that name it.
        off = {str(rule.id) for rule in rules.rules if rule.off}
        disabled = (rules.disabled | off) - (off & test.rules)
        if test.tuning or disabled != rules.disabled:
            rules = replace(rules, tuning=(*rules.tuning, *test.tuning), disabled=disabled)
        self.rules = rules
        self._engine = Engine(self.rules, self._facts, self._history, review_ms=0)
        self._unknown: dict[str, frozenset[str]] = {}
        self._context = EvalContext(rules.kinds, self._engine.latest, self._history)
        self.now = BEGIN
        self._owners = tuple(dict.fromkeys(name.owner for name in test.objects))
        named = {str(each) for metrics in test.objects.values() for each in metrics.get("qsg_name", ())}
        of_group = {name.owner for name in test.objects if rules.kinds[name.kind].of_group}
        self._groups = of_group | {owner for owner in self._owners if owner in named}

    def snapshots(self, poll: int) -> Iterator[Snapshot]:
        """Run one poll: the snapshot of each owner, after the engine has evaluated it."""
        self.now = BEGIN + poll * self._test.interval_ms
        for owner in self._owners:
            snapshot = self._snapshot(owner, poll)
            self._history.add(snapshot)
            found = self._engine.evaluate(snapshot)
            self._unknown[owner] = frozenset(count.rule for count in (*found.unknown, *found.unknown_advice))
            yield snapshot

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """Every alert that is pending or firing now."""
        return self._engine.open_alerts

    @property
    def unknown(self) -> frozenset[str]:
        """The rules whose verdict is unknown for some object."""
        return frozenset[str]().union(*self._unknown.values())

    def context(self, state: LatestState) -> EvalContext:
        """The context in which rules evaluate an object now."""
        self._context.enter(state, self.now)
        return self._context

    def state(self, name: ObjectName) -> LatestState | None:
        """What is known of an object."""
        return self._engine.latest.state(name)

    def finding(self, compiled: CompiledRule, name: ObjectName) -> RuleExplanation | None:
        """The verdict of a rule for an object now; None without a reading of the object."""
        state = self.state(name)
        if state is None:
            return None
        return explain_rule(compiled, self.rules.kinds, self._engine.latest, self._history, state, self.now)

    def explanations(self, rule: str) -> Iterator[RuleExplanation]:
        """The verdicts of a rule now, for each object that it is in force for."""
        for name in self._test.objects:
            for compiled in self.rules.rules_for(name):
                if compiled.id == rule and (found := self.finding(compiled, name)) is not None:
                    yield found

    def _snapshot(self, owner: str, poll: int) -> Snapshot:
        kinds = self.rules.kinds
        readings: list[Reading] = []
        for name, metrics in self._test.objects.items():
            if name.owner == owner:
                kind = kinds[name.kind]
                values_now = {metric: values[min(poll, len(values) - 1)] for metric, values in metrics.items()}
                readings += self._readings(name, kind, values_now, poll)
        return Snapshot(owner, owner in self._groups, poll + 1, self.now, tuple(readings))

    def _readings(
        self, name: ObjectName, kind: Kind, values_now: Mapping[str, Reported], poll: int
    ) -> Iterator[Reading]:
        test = self._test
        recorded = {metric for metric in values_now if _from_record(kind, metric, test)}
        polled = {metric: value for metric, value in values_now.items() if metric not in recorded}
        if polled:
            answered = any(value is not Absence.NO_ANSWER for value in polled.values())
            interval = test.interval_ms if poll else None
            values = with_derived(name.kind, polled)
            yield Reading(name, kind.poll, self.now, values, interval, answered=answered)
        record = {metric: values_now[metric] for metric in recorded if values_now[metric] not in _NO_RECORD}
        if record:
            # The record of the interval that ends at this poll.
            values = with_derived(name.kind, record)
            yield Reading(name, _RECORD, self.now, values, test.interval_ms, poll=False, source=Source.SMF)


def _from_record(kind: Kind, name: str, test: RuleTest) -> bool:
    metric = kind.metric(name)
    return metric is not None and (metric.needs_smf or (test.records and bool(metric.smf)))


_TRUTH = {True: "true", False: "false", None: "unknown"}

MOST_REASONS = 3
"""Objects of a rule that are explained in one failure."""


@dataclass(frozen=True, slots=True)
class RuleTestFailure:
    """An expectation that does not hold: the test, the time ``at`` in it (ms), what was expected, what was
    found, and why.
    """

    place: Place
    test: str
    at: int
    expected: str
    actual: str
    why: str

    def __str__(self) -> str:
        why = f"; {self.why}" if self.why else ""
        return (
            f"{self.place}: {self.test}, after {format_duration(self.at)}: "
            f"expected {self.expected}, but {self.actual}{why}"
        )


class ExpectationCheck:
    """One expectation of a test at its moment."""

    def __init__(self, test: str, expected: Expectation, run: RuleTestRun) -> None:
        self._test = test
        self._expected = expected
        self._run = run

    def failures(self) -> Iterator[RuleTestFailure]:
        """Every difference."""
        entry = self._expected.entry
        left = [alert for alert in self._run.alerts if alert.state is AlertState.FIRING]
        firing = tuple(left)
        for each in entry.firing or ():
            alert = _found(each, left)
            if alert is None:
                yield self._not_firing(each)
                continue
            left.remove(alert)
            if each.severity is not None and alert.severity is not each.severity:
                yield self._severity(each, alert)
            if each.cause is not None and (alert.cause is None or alert.cause.rule != each.cause):
                by = "nothing" if alert.cause is None else f"{alert.cause.rule} on {alert.cause.object}"
                expected = f"{each.rule} on {alert.scope} to be explained by {each.cause}"
                yield self._failure(each.cause.place, expected, f"it is explained by {by}", self._why_not(each, alert))
        if entry.firing == () or (entry.firing is not None and self._expected.exact):
            others = "nothing firing" if not entry.firing else "nothing else firing"
            yield from (self._firing(entry.at.place, others, alert) for alert in left)
        for rule in entry.not_firing:
            expected = f"{rule} not firing"
            yield from (self._firing(rule.place, expected, alert) for alert in firing if alert.key.rule == rule)
        for rule in entry.unknown:
            if rule not in self._run.unknown:
                yield self._known(rule)
        for rule in entry.known:
            if rule in self._run.unknown:
                yield self._unknown(rule)

    def _failure(self, place: Place, expected: str, actual: str, why: str) -> RuleTestFailure:
        return RuleTestFailure(place, self._test, self._expected.entry.at.ms, expected, actual, why)

    def _not_firing(self, each: FiringEntry) -> RuleTestFailure:
        where = "" if each.object is None else f" on {each.object}"
        alerts = [alert for alert in self._run.alerts if _is_of(each, alert)]
        actual = "it is not firing"
        if alerts and alerts[0].state is AlertState.PENDING:
            alert = alerts[0]
            actual = f"it is pending, after {alert.true_polls} poll{'s' * (alert.true_polls != 1)} that counted"
        findings = self._run.explanations(each.rule)
        rule = self._run.rules.rule(each.rule)
        if each.object is not None and rule is not None:
            findings = (
                found
                for found in findings
                if each.object in (str(found.name), str(ObjectName(found.name.owner, rule.about)))
            )
        of = each.object or "an object that it evaluates"
        why = _why(findings) or f"at this poll the test has no value of {of}"
        return self._failure(each.rule.place, f"{each.rule} firing{where}", actual, why)

    def _why_not(self, each: FiringEntry, alert: Alert) -> str:
        """Why no alert of the rule that should explain this one does."""
        rule = self._run.rules.rule(each.rule)
        if rule is not None and each.cause not in {*rule.causes, *self._run.rules.causes.get(each.rule, ())}:
            return f"{each.rule} does not name {each.cause} under caused_by"
        firing = {other.key.rule for other in self._run.alerts if other.state is AlertState.FIRING}
        if each.cause not in firing:
            return f"{each.cause} is not firing"
        return (
            f"no object that {each.cause} fires about is known to belong to {alert.scope}"
            if alert.cause is None
            else ""
        )

    def _severity(self, each: FiringEntry, alert: Alert) -> RuleTestFailure:
        assert each.severity is not None
        expected = f"{each.rule} on {alert.scope} to be {each.severity.name.lower()}"
        return self._failure(
            each.rule.place, expected, f"it is {alert.severity.name.lower()}", _why(self._of(alert), severity=True)
        )

    def _firing(self, place: Place, expected: str, alert: Alert) -> RuleTestFailure:
        actual = f"{alert.key.rule} on {alert.scope} is firing ({alert.summary})"
        return self._failure(place, expected, actual, _why(self._of(alert)))

    def _known(self, rule: LocatedText) -> RuleTestFailure:
        return self._failure(
            rule.place,
            f"{rule} unknown for some object",
            "it is known for all",
            _why(self._run.explanations(rule)) or "it evaluates none of the objects",
        )

    def _unknown(self, rule: LocatedText) -> RuleTestFailure:
        findings = [found for found in self._run.explanations(rule) if found.when.truth is None]
        return self._failure(rule.place, f"{rule} known for all objects", "it is unknown for some", _why(findings))

    def _of(self, alert: Alert) -> Iterator[RuleExplanation]:
        return (found for found in self._run.explanations(alert.key.rule) if found.name == alert.scope)


def _found(entry: FiringEntry, alerts: Iterable[Alert]) -> Alert | None:
    """The alert that an entry means: of several the one of the right severity, if there is one."""
    fitting = [alert for alert in alerts if _is_of(entry, alert)]
    right = (alert for alert in fitting if entry.severity in (None, alert.severity))
    return next(right, fitting[0] if fitting else None)


def _is_of(entry: FiringEntry, alert: Alert) -> bool:
    return alert.key.rule == entry.rule and (
        entry.object is None or entry.object in (str(alert.key.object), str(alert.scope))
    )


def _why(findings: Iterable[RuleExplanation], *, severity: bool = False) -> str:
    """The condition with its values and its truth, of the first objects."""
    texts: list[str] = []
    for found in findings:
        if len(texts) == MOST_REASONS:
            texts.append("and others")
            break
        text = f"{found.name}: {' '.join(found.when.filled.split())} is {_TRUTH[found.when.truth]}"
        if found.when.truth is None and found.when.missing:
            text += " for " + ", ".join(f"{name} ({absence.value})" for name, absence in found.when.missing)
        if severity and found.severity is None:
            text += ", and its severity unknown"
        texts.append(text)
    return "; ".join(texts)


def run_test(test: RuleTest, rules: RuleSet, coverage: Coverage | None = None) -> list[RuleTestFailure]:
    """Run one test; returns every expectation that does not hold. ``coverage`` notes what the test exercises."""
    run = RuleTestRun(test, rules)
    watch = None if coverage is None else coverage.watch(test, run)
    failures: list[RuleTestFailure] = []
    for poll in range(test.polls):
        for snapshot in run.snapshots(poll):
            if watch is not None:
                watch.look(snapshot)
        for expected in test.expectations:
            if expected.poll == poll:
                failures += ExpectationCheck(test.name, expected, run).failures()
    return failures


def run_tests(path: str, text: str, rules: RuleSet) -> list[RuleTestFailure]:
    """Run every test of a file; returns what fails. Raises ConfigError as ``decode_tests``."""
    return [failure for test in decode_tests(path, text, rules) for failure in run_test(test, rules)]
