"""The engine: evaluates every rule in force for every polled object of a snapshot, and steps the alerts.

It is called once for each snapshot, after the history has it. No input or output: it returns the transitions of alerts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.explanation import severity_of
from mqvitals_rules.history import MetricHistory
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, AlertState, Severity, Transition, Why
from mqvitals_rules.lifecycle.causes import Partners, explained
from mqvitals_rules.lifecycle.step import HoldPolicy, Measured, Verdict, begin, end, restated, shifted, step
from mqvitals_rules.rule_state import AT_ONCE, REVIEW_MS, RuleGroup, RuleState, Unknown
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.ruleset.quantity import format_value
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, fresh_until
from mqvitals_rules.vocabulary.metric import Absence, Reported


class UnknownCount(NamedTuple):
    """The number of objects of the snapshot's owner for which a rule is unknown, by reason."""

    rule: str
    reason: Absence
    count: int  # type: ignore[assignment]  # a tuple has a method of this name, which is not used here


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The transitions that a snapshot caused, and what is unknown about its owner: to operational rules,
    and to advice.
    """

    transitions: tuple[Transition, ...]
    unknown: tuple[UnknownCount, ...]
    unknown_advice: tuple[UnknownCount, ...] = ()


_NOTHING_YET = Evaluation((), ())


class Engine:
    """Evaluates snapshots one after another and keeps the open alerts.

    ``alerts`` restores what was open when another engine stopped. An alert whose rule is no longer in force ends with
    the first snapshot of its owner.

    ``review_ms``: the interval at which advice is evaluated for an object (0: at every poll); sooner after its first
    poll, when much about it is not known yet. Where very many objects are new in a snapshot, most are first evaluated
    within that time. ``group_of`` as for ``LatestValues``.
    """

    def __init__(
        self,
        rules: RuleSet,
        facts: Facts,
        windows: MetricHistory,
        *,
        alerts: Iterable[Alert] = (),
        review_ms: int = REVIEW_MS,
        group_of: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._rules = rules
        self._review_ms = review_ms
        self._newcomers = 0
        self._groups: dict[tuple[int, ...], RuleGroup] = {}
        """By the identities of their rules."""
        self._group = RuleGroup((), {})
        """The rules of the last object: mostly those of the next one too."""
        self.latest = LatestValues(rules.kinds, facts, group_of)
        self._context = EvalContext(rules.kinds, self.latest, windows)
        self._open: dict[ObjectName, dict[str, Alert]] = {}
        self._removed: list[tuple[Alert, Why, str]] = []
        """Alerts that end with the next snapshot of their owner: why, and the site's reason."""
        self._shifted: dict[str, list[Transition]] = {}
        """By owner: alerts whose dates were shifted, for its next evaluation."""
        self._unknown: dict[str, Counter[tuple[str, Absence]]] = {}
        self._last: dict[str, tuple[dict[tuple[str, Absence], int], Evaluation]] = {}
        """By owner: these counts when they changed last, and the evaluation with them."""
        self._unknown_pairs: dict[tuple[Absence | None, Absence], tuple[Absence | None, Absence]] = {}
        """Each once: thousands of objects have the same."""
        self._causes = rules.causes
        self._partner_causes = rules.partner_causes
        self._reaching = frozenset[str]().union(*self._partner_causes.values())
        """The rules whose alerts explain alerts of other queue managers."""
        self._partners: dict[AlertKey, Alert] = {}
        """The firing alerts of these rules."""
        self._listens = rules.listens
        self._advice = frozenset(str(rule.id) for rule in rules.rules if rule.kind is not RuleKind.OPERATIONAL)
        self._firing: dict[str, dict[AlertKey, Alert]] = {}
        for alert in alerts:
            rule = rules.rule(alert.key.rule)
            if rule is None or rule.scope != alert.scope.kind:
                self._removed.append((alert, Why.RULE_REMOVED, ""))
            elif (reason := rules.off_reason(str(rule.id), alert.scope)) is not None:
                self._removed.append((alert, Why.TURNED_OFF, reason))
            else:
                self._open.setdefault(alert.scope, {})[alert.key.rule] = alert
                if alert.state is AlertState.FIRING:
                    self._firing.setdefault(alert.scope.owner, {})[alert.key] = alert
                    if alert.key.rule in self._reaching:
                        self._partners[alert.key] = alert

    @property
    def open_alerts(self) -> tuple[Alert, ...]:
        """Every alert that is pending or firing. Another thread than the one that evaluates may ask."""
        return tuple(alert for alerts in list(self._open.values()) if alerts for alert in list(alerts.values()))

    def observe(self, snapshot: Snapshot) -> None:
        """Take over a snapshot's values without evaluating rules."""
        self.latest.learn(snapshot)

    def shift(self, by_ms: int, since: int) -> None:
        """Shift every stored date by ``by_ms`` (negative: earlier), as the clock was corrected.

        So holds and ages follow the elapsed time. A firing alert keeps its beginning where that is before ``since``
        (ms UTC), as another clock dated it.
        """
        self.latest.shift(by_ms)
        for state in self.latest:
            if isinstance(state.extra, RuleState):
                state.extra.shift(by_ms)
        for owner_alerts in self._open.values():
            for rule, before in owner_alerts.items():
                after = shifted(before, by_ms, since)
                if after == before:
                    continue
                owner_alerts[rule] = after
                if before.key in self._firing.get(before.scope.owner, {}):
                    self._firing[before.scope.owner][before.key] = after
                if before.key in self._partners:
                    self._partners[before.key] = after
                self._shifted.setdefault(before.scope.owner, []).append(Transition(after, before, after.why))

    def evaluate(self, snapshot: Snapshot, gone: Why = Why.GONE) -> Evaluation:
        """Evaluate the rules of every object that the snapshot polled. The history must hold the snapshot already.

        A rule that reads metrics of records and none of polls counts the records as its polls: it is evaluated at the
        end of each, unless that record is late (older than one before) or no longer fresh. ``gone`` is why the alerts
        of objects end that are gone.
        """
        now = snapshot.ts
        changes = self._shifted.pop(snapshot.owner, [])
        if self._removed:
            own = [each for each in self._removed if each[0].scope.owner == snapshot.owner]
            changes += [end(alert, why, now, reason) for alert, why, reason in own]
            self._removed = [each for each in self._removed if each not in own]
        for reading in snapshot.readings:
            if reading.gone:
                changes += self._gone(reading.object, now, gone)
        self._newcomers = 0
        records, polled = self.latest.learn_polls(snapshot)
        if self._listens:
            self._context.note_followed(snapshot.owner, now)
        counts = self._unknown.setdefault(snapshot.owner, Counter())
        if records:
            self._take_records(records, now, counts, changes)
        for state in polled:
            self._evaluate(state, now, counts, changes)
        self._explain(snapshot.owner, now, changes)
        before, last = self._last.get(snapshot.owner, (None, _NOTHING_YET))
        if counts == before:
            # Mostly: the store recognises what it has written by its identity.
            return replace(last, transitions=tuple(changes))
        unknown: list[UnknownCount] = []
        unknown_advice: list[UnknownCount] = []
        for (rule, reason), count in sorted([each for each in counts.items() if each[1]], key=_rule_and_reason):
            (unknown_advice if rule in self._advice else unknown).append(UnknownCount(rule, reason, count))
        found = Evaluation(tuple(changes), tuple(unknown), tuple(unknown_advice))
        self._last[snapshot.owner] = dict(counts), found
        return found

    def _explain(self, owner: str, now: int, changes: list[Transition]) -> None:
        """Note for the owner's firing alerts which of them explains which."""
        firing = self._firing.setdefault(owner, {})
        for change in changes:
            key, fires = change.after.key, change.after.state is AlertState.FIRING
            if fires:
                firing[key] = change.after
            else:
                firing.pop(key, None)
            if key.rule in self._reaching:
                if fires:
                    self._partners[key] = change.after
                else:
                    self._partners.pop(key, None)
        if all(
            alert.cause is None and alert.key.rule not in self._causes and alert.key.rule not in self._partner_causes
            for alert in firing.values()
        ):
            return
        others = tuple(alert for alert in self._partners.values() if alert.scope.owner != owner)
        partners = Partners(others, self._partner_causes, self.latest.leads_to)
        causes = explained(firing.values(), self._causes, self._accounts_for, partners)
        changed = {change.after.key: index for index, change in enumerate(changes)}
        for key, before in list(firing.items()):
            cause = causes.get(key)
            if cause == before.cause:
                continue
            after = firing[key] = replace(before, cause=cause, updated=max(before.updated, now))
            self._open[after.scope][key.rule] = after
            if key in changed:
                # Its last change of this snapshot gets the cause.
                changes[changed[key]] = replace(changes[changed[key]], after=after)
            else:
                changes.append(Transition(after, before, after.why))

    def _accounts_for(self, effect: ObjectName, cause: ObjectName) -> bool | None:
        """Whether a fault of one object can be due to another one: they belong together, and a queue holds enough of the
        storage.
        """
        touching = self.latest.touches(effect, cause)
        return self.latest.weighs(cause, effect, self._rules.cause_share) if touching else touching

    def _take_records(
        self, records: list[Reading], now: int, counts: Counter[tuple[str, Absence]], changes: list[Transition]
    ) -> None:
        """Take over records in the order of their ends, and evaluate with each the rules that wait for records."""
        records.sort(key=_end_of)
        for (ts, name), group in groupby(records, key=_end_of):
            reported: set[str] = set()
            believed = now
            for record in group:
                if self.latest.learn_record(record):
                    reported.update(record.values)
                    believed = min(believed, fresh_until(ts, record.interval_ms, record.probe))
            state = self.latest.state(name)
            if not reported or state is None or believed < now:
                continue
            rule_state = self._rule_state(state)
            rule_state.sort(state)
            rules = [
                compiled
                for compiled in rule_state.by_records
                if ts > rule_state.record_ends.get(compiled.id, -1)
                and (not compiled.own.isdisjoint(reported) or compiled.own.isdisjoint(state.from_records))
            ]
            rule_state.record_ends.update((compiled.id, ts) for compiled in rules)
            self._evaluate(state, ts, counts, changes, rules)

    def _rule_state(self, state: LatestState) -> RuleState:
        rule_state = state.extra
        if not isinstance(rule_state, RuleState):
            rules = self._rules.rules_for(state.name)
            if rules is not self._group.rules:
                key = tuple(map(id, rules))
                group = self._groups.get(key)
                if group is None:
                    group = self._groups[key] = RuleGroup(rules, self._context.unreported(state.name.kind))
                self._group = group
            rule_state = state.extra = RuleState(state.name, self._group, self._open.setdefault(state.name, {}))
        return rule_state

    def _evaluate(
        self,
        state: LatestState,
        now: int,
        counts: Counter[tuple[str, Absence]],
        changes: list[Transition],
        rules: Sequence[CompiledRule] | None = None,
    ) -> None:
        """Evaluate ``rules`` for an object; by default, as of a poll, all rules that polls evaluate."""
        rule_state = state.extra
        if not isinstance(rule_state, RuleState):
            rule_state = self._rule_state(state)
        by_records = rules is not None
        if rules is None:
            if rule_state.polled == now:
                return  # an object counts one poll a cycle, also when it was polled twice
            rule_state.polled = now
            if rule_state.reviewed.new:
                self._newcomers += 1
            rules = rule_state.due(state, now, self._review_ms, at_once=self._newcomers <= AT_ONCE)
        context, alerts, unknown = self._context, rule_state.alerts, rule_state.unknown
        context.enter(state, now)
        group = rule_state.group
        verdicts = group.evaluate(context, state.values, rules, rule_state.settled)
        nothing_unknown = verdicts and not unknown and not alerts
        others = group.take_alike(verdicts, rule_state, counts) if nothing_unknown else verdicts
        for place, holds, met, why in others:
            compiled = group.rules[place]
            if holds is None:
                before = unknown.get(compiled.id)
                if before is None or before[0] is not met:
                    self._note_unknown(compiled, met, why, unknown, counts, state.values)
            elif compiled.id in unknown:
                counts[compiled.id, unknown.pop(compiled.id)[1]] -= 1
            alert = alerts.get(compiled.id)
            policy = compiled.record_policy if by_records else compiled.policy
            if alert is not None:
                self._step(compiled, policy, alert, state, now, alerts, changes, holds=holds)
            elif holds:
                self._begin(compiled, policy, state, now, alerts, changes)
            rule_state.settle(place, compiled.id)
        if nothing_unknown and others is verdicts:
            group.remember(verdicts, unknown)
        if alerts and not by_records and rules is not group.rules:
            self._restate(rules, state, rule_state, now, changes)

    def _restate(
        self,
        evaluated: Sequence[CompiledRule],
        state: LatestState,
        rule_state: RuleState,
        now: int,
        changes: list[Transition],
    ) -> None:
        """Let firing alerts whose rules this poll did not evaluate say what is now, where a value they show changed."""
        group, context, alerts = rule_state.group, self._context, rule_state.alerts
        urgent = evaluated is group.urgent
        places = group.deferred if urgent else group.places
        for rule, alert in tuple(alerts.items()):
            place = places.get(rule)
            if place is None or alert.state is not AlertState.FIRING:
                continue
            compiled = group.rules[place]
            if not urgent and any(each is compiled for each in evaluated):
                continue
            shown = tuple(map(state.values.get, compiled.shown))
            if compiled.shown_of_others:
                shown += tuple(context.value(*each) for each in compiled.shown_of_others)
            if shown == rule_state.shown.get(rule, ()) and not compiled.summary.shows_members:
                continue
            rule_state.shown[rule] = shown
            holds = compiled.when.truth(context, state.values)
            verdict = self._verdict(compiled, state, alert, holds=holds, clear=None, severity=None)
            transition = restated(alert, verdict, now)
            if transition is not None:
                alerts[rule] = transition.after
                changes.append(transition)

    def _note_unknown(
        self,
        compiled: CompiledRule,
        met: Absence | None,
        why: Absence | None,
        unknown: Unknown,
        counts: Counter[tuple[str, Absence]],
        values: Mapping[str, Reported],
    ) -> None:
        """Count what is unknown by reason; the reason is derived again only when the first absence met is another."""
        before = unknown.get(compiled.id)
        if before is not None:
            counts[compiled.id, before[1]] -= 1
        reason = self._reason(compiled, met, why, values)
        unknown[compiled.id] = self._unknown_pairs.setdefault((met, reason), (met, reason))
        counts[compiled.id, reason] += 1

    def _reason(
        self, compiled: CompiledRule, met: Absence | None, why: Absence | None, values: Mapping[str, Reported]
    ) -> Absence:
        """Why a verdict is unknown.

        Of a plain condition the first absence met is the reason; else it is ``why``, or is found by a detailed look.
        """
        if not compiled.plain:
            return why or compiled.when.why_unknown(self._context, values) or Absence.WINDOW
        if met is None:
            # Every value is present: the past is missing, or has just begun.
            for window in compiled.when.windows:
                value = self._context.value(window.kind, window.metric)
                if isinstance(value, Absence):
                    return value
        return met or Absence.WINDOW

    def _begin(
        self,
        compiled: CompiledRule,
        policy: HoldPolicy,
        state: LatestState,
        now: int,
        alerts: dict[str, Alert],
        changes: list[Transition],
    ) -> None:
        severity = severity_of(compiled, self._context) or compiled.rule.severity
        identity = compiled.identity(state.name)
        summary = compiled.describe(state.name, self._context)
        transition = begin(identity, policy, severity, summary, now, self._measured(compiled))
        alerts[identity.key.rule] = transition.after
        changes.append(transition)

    def _step(
        self,
        compiled: CompiledRule,
        policy: HoldPolicy,
        alert: Alert,
        state: LatestState,
        now: int,
        alerts: dict[str, Alert],
        changes: list[Transition],
        *,
        holds: bool | None,
    ) -> None:
        clear = None
        if holds is not None:
            clear = not holds if compiled.clear is None else compiled.clear.truth(self._context)
        severity = None if holds is None else severity_of(compiled, self._context)
        verdict = self._verdict(compiled, state, alert, holds=holds, clear=clear, severity=severity)
        transition = step(alert, policy, verdict, now)
        if transition is None:
            return
        changes.append(transition)
        if transition.after.state is AlertState.RESOLVED:
            del alerts[alert.key.rule]
        else:
            alerts[alert.key.rule] = transition.after

    def _verdict(
        self,
        compiled: CompiledRule,
        state: LatestState,
        alert: Alert,
        *,
        holds: bool | None,
        clear: bool | None,
        severity: Severity | None,
    ) -> Verdict:
        """What a poll says about an open alert; its summary is written anew only while the condition holds."""
        summary = compiled.describe(state.name, self._context) if holds else alert.summary
        measured = None if holds is None else self._measured(compiled)
        return Verdict(holds, clear, severity, summary, measured)

    def _measured(self, compiled: CompiledRule) -> Measured | None:
        figure = compiled.figure
        if figure is None:
            return None
        value = self._context.value(figure.kind, figure.metric.name)
        if isinstance(value, Absence):
            return None
        number = None if isinstance(value, str) else float(value)
        return Measured(format_value(figure.metric, value), number, figure.low_is_bad)

    def _gone(self, name: ObjectName, now: int, why: Why) -> list[Transition]:
        state = self.latest.state(name)
        if state is not None and isinstance(state.extra, RuleState):
            counts = self._unknown.setdefault(name.owner, Counter())
            for rule, (_, reason) in state.extra.unknown.items():
                counts[rule, reason] -= 1
        return [end(alert, why, now) for alert in self._open.pop(name, {}).values()]


def _end_of(record: Reading) -> tuple[int, ObjectName]:
    return record.ts, record.object


def _rule_and_reason(counted: tuple[tuple[str, Absence], int]) -> tuple[str, str]:
    (rule, reason), _ = counted
    return rule, reason.value
