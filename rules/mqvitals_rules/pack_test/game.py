"""A test played poll by poll through a real engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqvitals_rules.derived import with_derived
from mqvitals_rules.engine import Engine
from mqvitals_rules.facts import Facts
from mqvitals_rules.finding import Finding, find
from mqvitals_rules.form import Form
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.pack_test.test_case import BEGIN, PackTest
from mqvitals_rules.ruleset import RuleSet
from mqvitals_rules.scene import Scene
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported
from mqvitals_rules.world import ObjectState

_RECORD = "SMF"
"""The probe of the records of a test."""
_NO_RECORD = (Absence.NO_ANSWER, Absence.NEEDS_SMF)
"""Of what a record would tell: that no record came."""


class Game:
    """One test under way. ``rules`` are those in force for it."""

    def __init__(self, test: PackTest, rules: RuleSet) -> None:
        self._test = test
        self._facts = Facts(rules.kinds, test.facts)
        self._history = MemoryHistory()
        for owner, messages in test.messages.items():
            self._history.follow(owner)
            for message in messages:
                self._history.add_message(owner, message)
        self.rules = replace(rules, thresholds=(*rules.thresholds, *test.thresholds)) if test.thresholds else rules
        self._engine = Engine(self.rules, self._facts, self._history, review_ms=0)
        self._unknown: dict[str, frozenset[str]] = {}
        self._scene = Scene(rules.kinds, self._engine.world, self._history)
        self.now = BEGIN
        self._owners = tuple(dict.fromkeys(name.owner for name in test.objects))

    def snapshots(self, poll: int) -> Iterator[Snapshot]:
        """Play a poll: what each owner says, after it has been judged."""
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
        """The rules that cannot be judged for some object."""
        return frozenset[str]().union(*self._unknown.values())

    def scene(self, state: ObjectState) -> Scene:
        """What a rule sees that judges an object now."""
        self._scene.enter(state, self.now)
        return self._scene

    def state(self, name: ObjectName) -> ObjectState | None:
        """What is known of an object."""
        return self._engine.world.state(name)

    def finding(self, form: Form, name: ObjectName) -> Finding | None:
        """What a rule says of an object now; None of an object that nothing was told of."""
        state = self.state(name)
        if state is None:
            return None
        return find(form, self.rules.kinds, self._engine.world, self._history, state, self.now)

    def judged(self, rule: str) -> Iterator[Finding]:
        """What a rule says now of each object that it is in force for."""
        for name in self._test.objects:
            for form in self.rules.forms(name):
                if form.id == rule and (found := self.finding(form, name)) is not None:
                    yield found

    def _snapshot(self, owner: str, poll: int) -> Snapshot:
        kinds = self.rules.kinds
        readings: list[Reading] = []
        group = False
        for name, metrics in self._test.objects.items():
            if name.owner == owner:
                kind = kinds[name.kind]
                group = group or kind.of_group
                told = {metric: values[min(poll, len(values) - 1)] for metric, values in metrics.items()}
                readings += self._readings(name, kind, told, poll)
        return Snapshot(owner, group, poll + 1, self.now, tuple(readings))

    def _readings(self, name: ObjectName, kind: Kind, told: Mapping[str, Reported], poll: int) -> Iterator[Reading]:
        test = self._test
        recorded = {metric for metric in told if _from_record(kind, metric, test)}
        polled = {metric: value for metric, value in told.items() if metric not in recorded}
        if polled:
            answered = any(value is not Absence.NO_ANSWER for value in polled.values())
            interval = test.interval_ms if poll else None
            values = with_derived(name.kind, polled)
            yield Reading(name, kind.poll, self.now, values, interval, answered=answered)
        record = {metric: told[metric] for metric in recorded if told[metric] not in _NO_RECORD}
        if record:
            # The record of the interval that ends at this poll.
            values = with_derived(name.kind, record)
            yield Reading(name, _RECORD, self.now, values, test.interval_ms, poll=False, source=Source.SMF)


def _from_record(kind: Kind, name: str, test: PackTest) -> bool:
    metric = kind.metric(name)
    return metric is not None and (metric.needs_smf or (test.records and bool(metric.smf)))
