"""A rule compiled for evaluation: its thresholds filled in, its expressions and templates compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_config.decoding.problem import ConfigError, LocatedText, Problem
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression import Context, Expression, ExpressionError, compile_expression
from mqvitals_rules.expression.node import Elapsed, Latest, Open, Times, walk
from mqvitals_rules.latest import relates
from mqvitals_rules.lifecycle.alert import AlertKey, Severity
from mqvitals_rules.lifecycle.step import AlertIdentity, HoldPolicy
from mqvitals_rules.members import has_members
from mqvitals_rules.message_summary import CameMessages, MessageUse, awaited, end_words
from mqvitals_rules.ruleset.rule import Rule, RuleKind
from mqvitals_rules.ruleset.template import Template, compile_advice, compile_template
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.event import lacking
from mqvitals_rules.vocabulary.metric import Kind, Metric


class Figure(NamedTuple):
    """The metric that measures an alert: the first of its summary that its condition compares.

    ``low_is_bad``: whether low values are the worse ones; None: neither, or the conditions leave it open.
    """

    kind: str
    metric: Metric
    low_is_bad: bool | None


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule as it is in force for some objects. ``clear`` None: the good side is where the condition does not hold."""

    rule: Rule
    id: str
    values: Mapping[str, float]
    when: Expression
    clear: Expression | None
    severity_if: tuple[tuple[Expression, Severity], ...]
    policy: HoldPolicy
    record_policy: HoldPolicy
    """The policy where records are counted instead of polls."""
    summary: Template
    advice: Template
    mqsc: Template | None
    mqsc_if: tuple[tuple[Expression, Template], ...]
    plain: bool
    """True when the first absence met is the one that makes the condition unknown: every part of it must hold, or it lacks
    nothing but messages.
    """
    own: frozenset[str] = frozenset()
    """The metrics of the object itself that its condition or clear condition reads, without those that are only declared."""
    figure: Figure | None = None
    awaited: tuple[MessageUse, ...] = ()
    """The console messages that can make its condition true."""
    shown: tuple[str, ...] = ()
    """The metrics of the object itself in its summary."""
    shown_of_others: tuple[tuple[str, str], ...] = ()
    """The kinds and metrics of related objects in its summary."""

    @property
    def deferrable(self) -> bool:
        """True for rules that are not evaluated at every poll: all but operational ones."""
        return self.rule.kind is not RuleKind.OPERATIONAL

    @property
    def shows_values(self) -> bool:
        """Whether its summary shows anything that can change while the alert is open."""
        return bool(self.shown or self.shown_of_others or self.summary.shows_members)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All its conditions."""
        own = (self.when,) if self.clear is None else (self.when, self.clear)
        return own + tuple(expression for expression, _ in (*self.severity_if, *self.mqsc_if))

    def describe(self, name: ObjectName, context: EvalContext) -> str:
        """The summary for an object, and the console messages behind it: how often they came, first and last."""

        def end(metric: str) -> str:
            return end_words(context.record_end(metric), context.now)

        if not self.awaited:
            return self.summary.fill(name, context.value, context.member_values, ends=end)
        came = CameMessages(context, self.awaited)
        text, words = self.summary.fill(name, context.value, context.member_values, came.insert, end), came.words()
        return f"{text} ({words})" if words else text

    def advise(self, name: ObjectName, context: Context) -> str:
        """The advice for an object, with its names in the commands."""
        return self.advice.fill(name, context.value)

    def command(self, name: ObjectName, context: Context) -> str:
        """The MQSC command that shows an object: of the first case that holds, else the usual one.

        Empty without any, and where all lack a value.
        """
        fitting = (template for condition, template in self.mqsc_if if condition.truth(context))
        usual = () if self.mqsc is None else (self.mqsc,)
        return next(filter(None, (template.fill(name, context.value) for template in (*fitting, *usual))), "")

    def identity(self, scope: ObjectName) -> AlertIdentity:
        """The identity of an alert of this rule for the object ``scope``."""
        rule = self.rule
        about, instance = scope, ""
        if rule.about != rule.scope:
            about, instance = ObjectName(scope.owner, rule.about), scope.name
        key = AlertKey(self.id, about, instance)
        return AlertIdentity(key, scope, rule.kind.value, rule.family.name if rule.family else "")


def compile_rule(rule: Rule, kinds: Mapping[str, Kind], values: Mapping[str, float] | None = None) -> CompiledRule:
    """Compile a rule with its shipped thresholds, or with ``values`` (name -> value, those that differ).

    Raises ConfigError with every problem of every expression and template, at its place in the rule's file.
    """
    scope = kinds[rule.scope]
    filled = {name: parameter.value for name, parameter in rule.parameters.items()}
    filled.update(values or {})
    problems: list[Problem] = []

    def expression(text: LocatedText) -> Expression | None:
        try:
            compiled = compile_expression(text, scope, kinds, filled, quiet=rule.quiet_restarts)
        except ExpressionError as error:
            problems.extend(error.problems)
            return None
        for name in sorted({kind for kind, _ in compiled.names if not relates(scope, kinds[kind])}):
            problems.append(Problem(text.at(0), "", f"a {scope.name} has no one {name} that belongs to it"))
        problems.extend(_lost_members(compiled, scope, kinds))
        return compiled

    when = expression(rule.when)
    clear = None if rule.clear.when is None else expression(rule.clear.when)
    cases = [(expression(case.when), case.severity) for case in rule.severity_if]
    summary, found = compile_template(rule.summary, scope, kinds, rule.parameters, filled)
    problems += found

    def command(text: LocatedText) -> Template:
        template, found = compile_template(text, scope, kinds, rule.parameters, filled, mqsc=True)
        problems.extend(found)
        return template

    mqsc = None if rule.mqsc is None else command(rule.mqsc)
    commands = [(expression(case.when), command(case.mqsc)) for case in rule.mqsc_if]
    if problems:
        raise ConfigError(problems)
    assert when is not None
    return CompiledRule(
        rule=rule,
        id=str(rule.id),
        values=filled,
        when=when,
        clear=clear,
        severity_if=tuple((compiled, severity) for compiled, severity in cases if compiled is not None),
        policy=_policy(rule, rule.hold.polls, rule.clear.polls, rule.hold.of),
        record_policy=_policy(
            rule,
            rule.hold.records or rule.hold.polls,
            rule.clear.records or rule.clear.polls,
            rule.hold.of if rule.hold.records is None else None,
        ),
        summary=summary,
        advice=compile_advice(rule.advice, scope, kinds, rule.parameters, filled),
        mqsc=mqsc,
        mqsc_if=tuple((compiled, template) for compiled, template in commands if compiled is not None),
        plain=_is_plain(when, kinds),
        own=_own(scope, when, clear),
        figure=_figure(summary, when, clear),
        awaited=tuple(dict.fromkeys(awaited(when.root))),
        shown=tuple(dict.fromkeys(metric.name for kind, metric in summary.metrics if kind == scope.name)),
        shown_of_others=tuple((kind, metric.name) for kind, metric in summary.metrics if kind != scope.name),
    )


def _policy(rule: Rule, hold: int, clear: int, of: int | None) -> HoldPolicy:
    return HoldPolicy(hold, rule.hold.duration_ms, clear, of, rule.clear.duration_ms)


def _lost_members(compiled: Expression, scope: Kind, kinds: Mapping[str, Kind]) -> Iterator[Problem]:
    """Problems of expressions about members that the object cannot have, or that lack the related object."""
    for use in compiled.members:
        member, place = kinds[use.kind], compiled.source.at(use.start)
        if not has_members(scope, member):
            yield Problem(place, "", f"a {scope.name} has no members of kind {member.name}")
        for name in sorted({kind for kind, _ in use.names if not relates(member, kinds[kind])}):
            yield Problem(place, "", f"a {member.name} has no one {name} that belongs to it")


def _own(scope: Kind, *conditions: Expression | None) -> frozenset[str]:
    names = {name for each in conditions if each is not None for kind, name in each.names if kind == scope.name}
    return frozenset(
        metric.name for metric in scope.metrics if metric.name in names and (metric.smf or not metric.declared)
    )


def _figure(summary: Template, when: Expression, clear: Expression | None) -> Figure | None:
    sides = when.sides()
    # The clear condition shows best which side is the good one: the condition itself may be a range.
    good = {} if clear is None else clear.sides()
    for kind, metric in summary.metrics:
        key = (kind, metric.name)
        if key not in sides or metric.declared:
            continue
        best = good.get(key)
        return Figure(kind, metric, sides[key] if best is None else not best)
    return None


def _is_plain(when: Expression, kinds: Mapping[str, Kind]) -> bool:
    metrics = [kinds[kind].metric(name) for kind, name in when.names]
    if when.members or when.pairs or when.shares:
        return False
    heard = [each for each in walk(when.root) if isinstance(each, Open | Times | Latest | Elapsed)]
    if heard:
        # These may lack messages and have a result all the same, or be unknown without an absence.
        only_lack = not when.names and all(isinstance(each, Open) for each in heard)
        return only_lack and len({lacking((code,)) for code in when.messages}) == 1
    optional = any(
        metric is not None and metric.declared and metric.default is None and not metric.needed for metric in metrics
    )
    return not optional and len(when.windows) <= 1 and not re.search(r"\b(or|not)\b", when.source)
