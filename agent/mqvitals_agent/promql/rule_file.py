"""Rules as a file of alerting rules for Prometheus, each with what of it could not be carried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mqvitals_agent.openmetrics.names import label_metrics, name_labels, owner_label
from mqvitals_agent.promql.condition import Translation
from mqvitals_agent.promql.number import NotCarriedError, duration
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.markdown import clear_text, hold_text, one_line
from mqvitals_rules.ruleset.quantity import with_unit
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.vocabulary.qsg import QSG_KIND
from mqvitals_rules.vocabulary.queue_manager import QUEUE_MANAGER_KIND
from mqvitals_rules.vocabulary.tables import KINDS


@dataclass(frozen=True, slots=True)
class AlertingRule:
    """A rule of Prometheus: the objects of which ``expr`` has a sample have an alert of this severity.

    ``hold_ms`` and ``keep_ms`` are its ``for`` and ``keep_firing_for``.
    """

    expr: str
    severity: Severity
    hold_ms: int
    keep_ms: int


@dataclass(frozen=True, slots=True)
class ExportedRule:
    """A rule of ours as one of Prometheus for each of its severities, the worst case first.

    ``lost``: what of it was not carried, a sentence each.
    """

    rule: Rule
    alerts: tuple[AlertingRule, ...]
    summary: str
    description: str
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefusedRule:
    """A rule that PromQL cannot say, and why."""

    rule: Rule
    reason: str


def exported(compiled: CompiledRule, interval_ms: int) -> ExportedRule | RefusedRule:
    """A rule for Prometheus; what counts polls takes ``interval_ms`` from one to the next."""
    rule = compiled.rule
    translation = Translation(KINDS[rule.scope])
    try:
        when = translation.condition(compiled.when.root)
    except NotCarriedError as refused:
        return RefusedRule(rule, str(refused))
    lost = []
    cases: list[tuple[str, Severity]] = []
    for condition, severity in compiled.severity_if:
        try:
            cases.append((translation.condition(condition.root), severity))
        except NotCarriedError as refused:
            lost.append(f"{severity.name.lower()} where {one_line(condition.text)}: {refused}")
    hold_ms, keep_ms = _hold_ms(rule, interval_ms), _keep_ms(rule, interval_ms)
    alerts, before = [], ""
    for case, severity in cases:
        alerts.append(AlertingRule(f"({when}) and ({case}){before}", severity, hold_ms, keep_ms))
        before += f" unless ({case})"
    alerts.append(AlertingRule(f"({when}){before}" if before else when, rule.severity, hold_ms, keep_ms))
    summary = _filled(rule.summary, compiled, lambda _: None)
    return ExportedRule(
        rule=rule,
        alerts=tuple(alerts),
        summary=summary or f"{_literal(one_line(rule.title))}: {_object(rule)}",
        description=_filled(one_line(rule.advice), compiled, lambda field: f"<{field}>") or "",
        lost=(*lost, *translation.notes, *_lost(rule, several=len(alerts) > 1)),
    )


def _hold_ms(rule: Rule, interval_ms: int) -> int:
    hold = rule.hold
    return hold.duration_ms if hold.duration_ms is not None else (hold.polls - 1) * interval_ms


def _keep_ms(rule: Rule, interval_ms: int) -> int:
    clear = rule.clear
    return clear.duration_ms if clear.duration_ms is not None else (clear.polls - 1) * interval_ms


def _lost(rule: Rule, *, several: bool) -> Iterator[str]:
    if rule.clear.when is not None:
        yield f"it ends where {clear_text(rule)}; here where the condition holds no more"
    if rule.hold.of is not None:
        yield f"it holds on {hold_text(rule)}; here on polls in a row"
    if several:
        yield "an alert whose severity changes goes on; here another one begins, with a hold of its own"
    if rule.causes:
        yield f"alerts of {', '.join(sorted(set(map(str, rule.causes))))} explain it, and then nobody is notified"
    if rule.family is not None:
        yield f"of the family {rule.family.name} only the worst alert is notified"


def _object(rule: Rule) -> str:
    """An object of the rule's scope by its labels."""
    kind, labels = rule.scope.replace("_", " "), name_labels(rule.scope)
    name = "/".join(f"{{{{ $labels.{label} }}}}" for label in labels)
    owner = f"{{{{ $labels.{owner_label(rule.scope)} }}}}"
    if name:
        return f"{kind} {name} of {owner}"
    return f"{kind} {owner}" if rule.scope in (QUEUE_MANAGER_KIND.name, QSG_KIND.name) else f"{kind} of {owner}"


_FIELD = re.compile(r"\{([^{}]*)\}")


def _filled(text: str, compiled: CompiledRule, otherwise: Callable[[str], str | None]) -> str | None:
    """A template as one of Prometheus; None where it shows what is neither a label nor a parameter."""
    if "[[" in text:
        return None
    words, end = [], 0
    for match in _FIELD.finditer(text):
        word = _field(match[1], compiled)
        if word is None:
            shown = otherwise(match[1])
            if shown is None:
                return None
            word = _literal(shown)
        words += [_literal(text[end : match.start()]), word]
        end = match.end()
    return "".join((*words, _literal(text[end:])))


def _field(field: str, compiled: CompiledRule) -> str | None:
    rule = compiled.rule
    labels = name_labels(rule.scope)
    if field == "owner" or (field == "name" and not labels):
        return f"{{{{ $labels.{owner_label(rule.scope)} }}}}"
    if field == "name":
        return "/".join(f"{{{{ $labels.{label} }}}}" for label in labels)
    if field in rule.parameters:
        return _literal(with_unit(compiled.values[field], rule.parameters[field].unit))
    return f"{{{{ $labels.{field} }}}}" if field in label_metrics(rule.scope) and field == "description" else None


def _literal(text: str) -> str:
    """A text that the templates of Prometheus leave as it is."""
    return text.replace("{{", '{{ "{{" }}')


_HEAD = """\
# Alerting rules made of those of mqvitals by 'mqvitals rules export --prometheus'.
# Metrics and labels are those of its own page and of remote write; thresholds are those in force for all objects.
# Facts that the configuration declares are no samples: each rule is as it is where none is declared.
# A value that is absent makes a condition unknown there and false here; three unknown polls end an alert there.
# Windows of Prometheus 2 have the sample at their very begin, too.
"""


def rule_file(exports: Iterable[ExportedRule | RefusedRule]) -> str:
    """The file, in YAML: a group for each file of rules, and at its end the rules that could not be carried."""
    exports = tuple(exports)
    lines = [_HEAD, "groups:" if any(isinstance(each, ExportedRule) for each in exports) else "groups: []"]
    carried = [each for each in exports if isinstance(each, ExportedRule)]
    for topic, group in groupby(carried, key=lambda each: each.rule.topic):
        lines += [f"  - name: {json.dumps(f'mqvitals_{topic}')}", "    rules:"]
        for each in group:
            lines += _rule_lines(each)
    refused = [each for each in exports if isinstance(each, RefusedRule)]
    if refused:
        lines += ["", "# Not exported, as PromQL cannot say them:"]
        lines += [f"#   {each.rule.id}: {_comment(each.reason)}" for each in refused]
    return "\n".join(lines) + "\n"


def _rule_lines(each: ExportedRule) -> Iterator[str]:
    rule = each.rule
    yield f"      # {rule.id}: {_comment(rule.title)}"
    for words in each.lost:
        yield f"      #   not carried: {_comment(words)}"
    for alert in each.alerts:
        yield f"      - alert: {_quoted(str(rule.id))}"
        yield f"        expr: {_quoted(alert.expr)}"
        if alert.hold_ms:
            yield f"        for: {duration(alert.hold_ms)}"
        if alert.keep_ms:
            yield f"        keep_firing_for: {duration(alert.keep_ms)}"
        yield "        labels:"
        yield f"          severity: {alert.severity.name.lower()}"
        yield f"          rule_kind: {rule.kind.value}"
        yield "        annotations:"
        yield f"          summary: {_quoted(each.summary)}"
        yield f"          description: {_quoted(each.description)}"


def _comment(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())


def _quoted(text: str) -> str:
    """A scalar of YAML; in single quotes, as what it holds is mostly PromQL with quotes of its own."""
    return "'" + _comment(text).replace("'", "''") + "'"
