"""The verdict of one rule for one object, with everything a person needs to understand it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression import Explanation, Missing
from mqvitals_rules.history import MetricHistory
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import LatestState
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.facts import Declaration, declaration_of
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric


@dataclass(frozen=True, slots=True)
class RuleExplanation:
    """The verdict of a rule for an object at one moment.

    ``when`` and ``clear`` explain the conditions (``clear`` None: the alert clears when ``when`` does not hold).
    ``severity`` is that of an alert, None when unknown. ``remedies`` are sentences: what would make an unknown
    verdict known. ``declarations``: of an unknown verdict the facts that it misses, else those whose comparisons are
    left out.
    """

    name: ObjectName
    when: Explanation
    clear: Explanation | None
    severity: Severity | None
    summary: str
    advice: str
    mqsc: str
    remedies: tuple[str, ...]
    declarations: tuple[Declaration, ...] = ()


def explain_rule(
    compiled: CompiledRule,
    kinds: Mapping[str, Kind],
    latest: LatestValues,
    windows: MetricHistory,
    state: LatestState,
    now: int,
    context: EvalContext | None = None,
) -> RuleExplanation:
    """Evaluate one rule for an object and explain it. ``context``: a context that has entered the object already."""
    if context is None:
        context = EvalContext(kinds, latest, windows)
        context.enter(state, now)
        with closing(context):
            return explain_rule(compiled, kinds, latest, windows, state, now, context)
    when = compiled.when.explain(context)
    return RuleExplanation(
        name=state.name,
        when=when,
        clear=None if compiled.clear is None else compiled.clear.explain(context),
        severity=severity_of(compiled, context),
        summary=compiled.describe(state.name, context),
        advice=compiled.advise(state.name, context),
        mqsc=compiled.command(state.name, context),
        remedies=tuple(dict.fromkeys(_remedies(when.missing, kinds[compiled.rule.scope], kinds))),
        declarations=undeclared_facts(when, state.name, kinds, latest),
    )


def undeclared_facts(
    when: Explanation, name: ObjectName, kinds: Mapping[str, Kind], latest: LatestValues
) -> tuple[Declaration, ...]:
    """The facts that an unknown verdict misses; of a known one those whose comparisons are left out."""
    if when.truth is None:
        metrics = [metric for metric, absence in when.missing if absence is Absence.NOT_DECLARED]
    else:
        metrics = [metric for metric, value in when.values.items() if value is Absence.NOT_DECLARED]
    declarations = (declaration_of(name, metric, kinds, latest) for metric in dict.fromkeys(metrics))
    return tuple(each for each in declarations if each is not None)


def severity_of(compiled: CompiledRule, context: EvalContext) -> Severity | None:
    """The severity now: the first case whose condition holds; None when a condition before that is unknown."""
    for condition, severity in compiled.severity_if:
        holds = condition.truth(context)
        if holds is None:
            return None
        if holds:
            return severity
    return compiled.rule.severity


def _remedies(missing: tuple[Missing, ...], scope: Kind, kinds: Mapping[str, Kind]) -> Iterator[str]:
    for name, absence in missing:
        kind_name, dot, metric_name = name.rpartition(".")
        kind = kinds.get(kind_name) if dot else scope
        metric = kind.metric(metric_name) if kind else None
        yield _remedy(name, metric, absence)


def _remedy(name: str, metric: Metric | None, absence: Absence) -> str:
    command = f" ({metric.command})" if metric and metric.command else ""
    match absence:
        case Absence.NEEDS_SMF:
            field = f", field {metric.smf}" if metric and metric.smf else ""
            return f"{name} is only in SMF records{field}; no command reports it"
        case Absence.NEEDS_STATISTICS:
            return f"{name} is in statistics messages; name their queue as statistics_queue of the queue manager"
        case Absence.NOT_DECLARED:
            return f"{name} is a fact of the site; declare it under facts in the configuration"
        case Absence.NEEDS_CONSOLE:
            return f"{name} needs the console of the queue manager; name its file under console.follow in the configuration"
        case Absence.NEEDS_EVENTS:
            return f"{name} needs the queue of these events; name it under polling.events in the configuration"
        case Absence.NOT_COLLECTED:
            return f"{name} needs monitoring to be on: MONQ for queues, MONCHL for channels"
        case Absence.NOT_ASKED:
            return f"{name} has not been reported yet{command}"
        case Absence.NOT_AUTHORISED:
            return f"{name} needs authority for the command that reports it{command}"
        case Absence.TIME_ZONE_UNKNOWN:
            return f"{name} needs the queue manager's time zone; set time_zone in the configuration"
        case Absence.WINDOW:
            return f"{name} has too short a history for this rule; it fills by itself"
        case Absence.AWAITED:
            return f"{name} is from an SMF interval that is over; the next record has it"
        case Absence.NO_ANSWER | Absence.UNREACHABLE | Absence.STALE:
            return f"{name}: {absence.value}; the next complete reply has it{command}"
        case Absence.NOTHING_TO_TELL:
            return f"{name} does not apply now, such as the time of a last message without one{command}"
        case Absence.NOT_RETURNED:
            return f"{name} is not in the reply{command}: this level of MQ, or this sort of object, does not report it"
        case _:
            return f"{name}: {absence.value}"
