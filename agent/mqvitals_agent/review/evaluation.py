"""Rules evaluated for objects: at each interval of SMF records, or at one time, and what was found, worst first.

``mqvitals review`` and ``mqvitals smf report`` show the same findings: a ``Check`` is a rule applied to one object.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.engine import Engine
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.explanation import explain_rule, severity_of
from mqvitals_rules.expression import ExpressionError
from mqvitals_rules.expression.context import Context
from mqvitals_rules.expression.expression import Calculation, compile_value
from mqvitals_rules.expression.syntax import parse
from mqvitals_rules.history import MetricHistory
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Kind, MetricType

_SIGNS: Final[Mapping[type[ast.cmpop], int]] = {ast.Lt: -1, ast.LtE: -1, ast.Gt: 1, ast.GtE: 1}


class ComparedValue(NamedTuple):
    """A number that a condition compares; ``sign`` 1: the higher the worse, -1: the lower the worse."""

    number: Calculation
    sign: int

    def badness(self, context: Context) -> float | None:
        """The higher the worse; None: unknown."""
        value = self.number.value(context)
        return None if isinstance(value, Absence) else self.sign * value


class _Side(NamedTuple):
    text: str
    sign: int


def compared_value(compiled: CompiledRule, kinds: Mapping[str, Kind]) -> ComparedValue | None:
    """The first number in a rule's condition that is compared with a limit; None where there is none.

    Which way is worse is what the condition that clears the alert says best: there it is the other way round.
    """
    cleared = {} if compiled.clear is None else {side.text: -side.sign for side in _sides(compiled.clear.source)}
    for side in _sides(compiled.when.source):
        try:
            number = compile_value(side.text, kinds[compiled.rule.scope], kinds, compiled.values)
        except ExpressionError:
            continue
        if any(_is_figure(kinds, kind, metric) for kind, metric in number.names):
            return ComparedValue(number, cleared.get(side.text, side.sign))
    return None


def _is_figure(kinds: Mapping[str, Kind], kind: str, name: str) -> bool:
    metric = kinds[kind].metric(name)
    return metric is not None and not metric.declared and metric.type in (MetricType.GAUGE, MetricType.COUNTER)


def _sides(source: str) -> Iterator[_Side]:
    """Both sides of each comparison with less or greater, in textual order; of a chain the last comparison first."""
    syntax = parse(source)
    for node in ast.walk(syntax.body):
        if not isinstance(node, ast.Compare):
            continue
        operands = [node.left, *node.comparators]
        for place in range(len(node.ops) - 1, -1, -1):
            sign = _SIGNS.get(type(node.ops[place]))
            if sign is not None:
                yield _Side(syntax.text(operands[place]), sign)
                yield _Side(syntax.text(operands[place + 1]), -sign)


class Occurrence(NamedTuple):
    """A time at which a condition held: the end (ms UTC) and length (ms, None: unknown) of its interval.

    ``badness`` orders occurrences of the same severity, ``terms`` are the parts of the condition that held, with their
    values, ``advice`` is what to do about the object, and ``mqsc`` the command that shows it.
    """

    ts: int
    interval_ms: int | None
    severity: Severity
    badness: float | None = None
    summary: str = ""
    terms: tuple[str, ...] = ()
    advice: str = ""
    mqsc: str = ""

    def is_worse_than(self, other: Occurrence) -> bool:
        """More severe; equally severe and further beyond the limit."""
        if self.severity is not other.severity:
            return self.severity > other.severity
        return self.badness is not None and (other.badness is None or self.badness > other.badness)


@dataclass(slots=True)
class Check:
    """A rule applied to an object: in how many intervals it could be evaluated (``evaluated``) and held.

    ``fired``: the condition held as long as the rule demands. ``first`` and ``last`` are the ends (ms UTC) of the first
    and the last interval in which it held. ``unknown`` counts the reasons why it could not be evaluated.
    """

    rule: Rule
    object: ObjectName
    evaluated: int = 0
    held: int = 0
    fired: bool = False
    first: int = 0
    last: int = 0
    worst: Occurrence | None = None
    unknown: Counter[Absence] = field(default_factory=Counter)


class RuleEvaluator:
    """Evaluates rules for one object at a time. Its findings are those of ``rules explain`` and of the detail
    screen.
    """

    def __init__(self, kinds: Mapping[str, Kind], latest: LatestValues, windows: MetricHistory) -> None:
        self.context = EvalContext(kinds, latest, windows)
        self._kinds = kinds
        self._latest = latest
        self._windows = windows
        self._compared: dict[int, ComparedValue | None] = {}

    def occurrence(
        self,
        compiled: CompiledRule,
        state: LatestState,
        ts: int,
        interval_ms: int | None = None,
        worst: Occurrence | None = None,
    ) -> Occurrence | None:
        """The occurrence of a condition that holds for the object that ``context`` has entered.

        ``ts`` is when the object's values were reported. None: it is no worse than ``worst``.
        """
        severity = severity_of(compiled, self.context) or compiled.rule.severity
        found = Occurrence(ts, interval_ms, severity, self._badness(compiled))
        if worst is not None and not found.is_worse_than(worst):
            return None
        finding = explain_rule(
            compiled, self._kinds, self._latest, self._windows, state, self.context.now, self.context
        )
        # Two alternatives may hold the same term.
        terms = dict.fromkeys(term.filled for term in finding.when.terms if term.truth and not term.left_out)
        return found._replace(summary=finding.summary, terms=tuple(terms), advice=finding.advice, mqsc=finding.mqsc)

    def _badness(self, compiled: CompiledRule) -> float | None:
        # The rules keep them alive, so the id is unique.
        if id(compiled) not in self._compared:
            self._compared[id(compiled)] = compared_value(compiled, self._kinds)
        compared = self._compared[id(compiled)]
        return None if compared is None else compared.badness(self.context)


class IntervalEvaluator:
    """Evaluates rules at each interval of snapshots that come in the order of time, as an agent does that reads
    them.
    """

    def __init__(self, config: RuleConfig, group_of: Callable[[str], str | None]) -> None:
        """``group_of``: the queue-sharing group of a queue manager, None where it is not known."""
        rules = config.rules
        wanted = {WindowedMetric.by(use) for use in rules.windows}
        self._rules = rules
        self._windows = WindowHistory(sorted(wanted), zone_of=config.zone_of)
        self._engine = Engine(rules, config.facts, self._windows, group_of=group_of)
        self._evaluator = RuleEvaluator(rules.kinds, self._engine.latest, self._windows)
        self._checks: dict[tuple[ObjectName, str], Check] = {}

    def take(self, snapshot: Snapshot) -> None:
        """Evaluate the rules for the objects of a snapshot."""
        self._windows.add(snapshot)
        alerts = [each.after for each in self._engine.evaluate(snapshot).transitions]
        reported: dict[ObjectName, list[Reading]] = {}
        for reading in snapshot.readings:
            reported.setdefault(reading.object, []).append(reading)
        for name, readings in reported.items():
            self._evaluate(name, readings, snapshot.ts)
        for alert in alerts:
            rule = self._rules.rule(alert.key.rule)
            if rule is not None and alert.started is not None and alert.state is not AlertState.PENDING:
                self._fire(self._check(rule, alert.scope), alert)

    def checks(self, owner: str) -> Iterator[Check]:
        """The checks of one queue manager or group that were tried at least once."""
        return (check for check in self._checks.values() if check.object.owner == owner)

    def _fire(self, check: Check, alert: Alert) -> None:
        """An alert is a finding, even if the condition held at no interval of the object's own samples."""
        check.fired = True
        if check.worst is None:
            check.evaluated, check.held = max(check.evaluated, 1), max(check.held, 1)
            check.first = check.last = alert.updated
            check.worst = Occurrence(alert.updated, None, alert.severity, summary=alert.summary)

    def _evaluate(self, name: ObjectName, readings: list[Reading], ts: int) -> None:
        state = self._engine.latest.state(name)
        if state is None:
            return
        metrics = {metric for reading in readings for metric in reading.values}
        interval_ms = max((each.interval_ms for each in readings if each.interval_ms is not None), default=None)
        context = self._evaluator.context
        context.enter(state, ts)
        for compiled in self._rules.rules_for(name):
            reported = not compiled.own.isdisjoint(metrics)
            if not reported and not compiled.own.isdisjoint(state.from_records):
                continue  # another record of the object reports the rule's metrics
            context.absence = None
            holds = compiled.when.truth(context, state.values)
            if holds is None and not reported:
                continue  # no record of this object reports them
            check = self._check(compiled.rule, name)
            if holds is None:
                check.unknown[compiled.when.reason(context) or Absence.WINDOW] += 1
                continue
            check.evaluated += 1
            if not holds:
                continue
            check.first = check.first if check.held else ts
            check.held += 1
            check.last = ts
            check.worst = self._evaluator.occurrence(compiled, state, ts, interval_ms, check.worst) or check.worst

    def _check(self, rule: Rule, name: ObjectName) -> Check:
        key = name, str(rule.id)
        found = self._checks.get(key)
        if found is None:
            found = self._checks[key] = Check(rule, name)
        return found
