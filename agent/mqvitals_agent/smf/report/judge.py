"""Every rule judged for every object at the end of each of its intervals, in the order of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from mqvitals_agent.smf.report.gauge import Gauge, gauge_of
from mqvitals_agent.store.windows import Wanted, WindowHistory
from mqvitals_rules.check import Judging
from mqvitals_rules.engine import Engine
from mqvitals_rules.finding import severity_of
from mqvitals_rules.form import Form
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Severity
from mqvitals_rules.rule import Rule
from mqvitals_rules.scene import Scene
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence


class Occurrence(NamedTuple):
    """An interval in which a condition held: its end (ms UTC) and length (ms, None: unknown), the rule's words for it, and
    the parts of the condition that held, with their values."""

    ts: int
    interval_ms: int | None
    severity: Severity
    badness: float | None
    summary: str
    terms: tuple[str, ...]

    def is_worse_than(self, other: Occurrence) -> bool:
        """More severe; equally severe and further beyond the limit."""
        if self.severity is not other.severity:
            return self.severity > other.severity
        return self.badness is not None and (other.badness is None or self.badness > other.badness)


@dataclass(slots=True)
class Check:
    """A rule and an object: in how many intervals it could be judged, and what came of it.

    ``fired``: the condition held as long as the rule demands. ``first`` and ``last`` are the ends (ms UTC) of the first and the last
    interval in which it held. ``unknown``: why it could not be judged, and how often.
    """

    rule: Rule
    object: ObjectName
    judged: int = 0
    held: int = 0
    fired: bool = False
    first: int = 0
    last: int = 0
    worst: Occurrence | None = None
    unknown: Counter[Absence] = field(default_factory=Counter)


class Judge:
    """Judges snapshots, which come in the order of time. Decides as the agent does that learns of each record when it ends."""

    def __init__(self, judging: Judging) -> None:
        rules = judging.rules
        wanted = {Wanted.by(use) for use in rules.windows}
        self._rules = rules
        self._windows = WindowHistory(sorted(wanted))
        self._engine = Engine(rules, judging.facts, self._windows)
        self._scene = Scene(rules.kinds, self._engine.world, self._windows)
        self._gauges: dict[int, Gauge | None] = {}
        self._checks: dict[tuple[ObjectName, str], Check] = {}

    def take(self, snapshot: Snapshot) -> None:
        """Judge what records told at one moment."""
        self._windows.add(snapshot)
        alerts = [each.after for each in self._engine.evaluate(snapshot).transitions]
        told: dict[ObjectName, list[Reading]] = {}
        for reading in snapshot.readings:
            told.setdefault(reading.object, []).append(reading)
        for name, readings in told.items():
            self._look(name, readings, snapshot.ts)
        for alert in alerts:
            rule = self._rules.rule(alert.key.rule)
            if rule is not None and alert.started is not None and alert.state is not AlertState.PENDING:
                self._fire(self._check(rule, alert.scope), alert)

    def checks(self, owner: str) -> Iterator[Check]:
        """All of one queue manager or group that were tried at least once."""
        return (check for check in self._checks.values() if check.object.owner == owner)

    def _fire(self, check: Check, alert: Alert) -> None:
        """The rule raised an alert: that is a finding, whatever was seen of the object's own figures."""
        check.fired = True
        if check.worst is None:
            check.judged, check.held = max(check.judged, 1), max(check.held, 1)
            check.first = check.last = alert.updated
            check.worst = Occurrence(alert.updated, None, alert.severity, None, alert.summary, ())

    def _look(self, name: ObjectName, readings: list[Reading], ts: int) -> None:
        state = self._engine.world.state(name)
        if state is None:
            return
        metrics = {metric for reading in readings for metric in reading.values}
        interval_ms = max((each.interval_ms for each in readings if each.interval_ms is not None), default=None)
        scene = self._scene
        scene.enter(state, ts)
        for form in self._rules.forms(name):
            told = not form.own.isdisjoint(metrics)
            if not told and not form.own.isdisjoint(state.from_records):
                continue  # another of its records tells what the rule looks at
            scene.absence = None
            holds = form.when.truth(scene, state.values)
            if holds is None and not told:
                continue  # no record of this object tells it
            check = self._check(form.rule, name)
            if holds is None:
                check.unknown[form.when.reason(scene) or Absence.WINDOW] += 1
                continue
            check.judged += 1
            if not holds:
                continue
            check.first = check.first if check.held else ts
            check.held += 1
            check.last = ts
            self._compare(check, form, ts, interval_ms)

    def _compare(self, check: Check, form: Form, ts: int, interval_ms: int | None) -> None:
        """Keep this interval if it is the worst so far."""
        scene = self._scene
        severity = severity_of(form, scene) or form.rule.severity
        gauge = self._gauge(form)
        badness = None if gauge is None else gauge.badness(scene)
        found = Occurrence(ts, interval_ms, severity, badness, "", ())
        if check.worst is None or found.is_worse_than(check.worst):
            terms = tuple(
                term.filled for term in form.when.explain(scene).terms if term.truth is True and not term.left_out
            )
            check.worst = found._replace(summary=form.summary.fill(check.object, scene.value), terms=terms)

    def _gauge(self, form: Form) -> Gauge | None:
        # A form lives as long as its rules, so its place in memory names it.
        if id(form) not in self._gauges:
            self._gauges[id(form)] = gauge_of(form, self._rules.kinds)
        return self._gauges[id(form)]

    def _check(self, rule: Rule, name: ObjectName) -> Check:
        key = name, str(rule.id)
        found = self._checks.get(key)
        if found is None:
            found = self._checks[key] = Check(rule, name)
        return found
