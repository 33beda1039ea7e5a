"""``mqvitals rules explain``: a rule in words, and its verdict about an object of a store."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import open_store
from mqvitals_agent.commandline.failure import ExitCode, Failure
from mqvitals_agent.commandline.output import line_width, show
from mqvitals_agent.commandline.settings import judging_of, no_rule, rules_of, settings_of
from mqvitals_agent.text.terminal import safe, wrap
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_config.settings import Settings
    from mqvitals_rules.finding import Finding
    from mqvitals_rules.lifecycle.alert import Alert
    from mqvitals_rules.rule import Rule
    from mqvitals_rules.rule_config import RuleConfig

_LABEL = 10

_EXAMPLES = 3

_MOST_ALERTS = 10
"""So many alerts that are over are told."""

_OTHER_FACTS = (
    "Judged with the built-in facts and thresholds; whatever filled this store may have used others: add --config"
)

_VERDICTS = {True: "true", False: "false", None: "unknown"}


def explain(arguments: argparse.Namespace) -> int:
    """Explain the rule, and with an object its verdict; returns the exit code. Raises Failure."""
    settings = settings_of(arguments)
    rules = rules_of(settings)
    rule = next((rule for rule in rules if rule.id == arguments.rule), None)
    if rule is None:
        raise no_rule(arguments.rule, rules)
    if arguments.object is None:
        show(list(_rule(rule, settings)))
        return ExitCode.DONE
    name = _object(arguments.object, rule)
    show(list(_verdicts(arguments, name, rule, judging_of(settings))))
    return ExitCode.DONE


def _object(text: str, rule: Rule) -> ObjectName:
    from mqvitals_config.problem import did_you_mean
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        name = ObjectName.parse(text)
    except ValueError as error:
        raise Failure(str(error)) from error
    if name.kind not in KINDS:
        meant = did_you_mean(name.kind, KINDS).removeprefix("; ")
        raise Failure(f"there is no kind of object {name.kind!r}", hint=meant or f"the kinds are {', '.join(KINDS)}")
    if name.kind not in (rule.scope, rule.about):
        raise Failure(f"{rule.id} judges objects of kind {rule.scope}, and {name} is a {name.kind}")
    return name


def _rule(rule: Rule, settings: Settings) -> Iterator[str]:
    """Everything the rule says of itself."""
    from mqvitals_rules.markdown import clear_text, hold_text, mqsc_commands, one_line, severity_text

    yield f"{safe(rule.id)}  {safe(rule.title)}"
    yield ""
    family = f", family {rule.family.name}" if rule.family else ""
    about = f"; the alert is about its {rule.about}" if rule.about != rule.scope else ""
    off = "; switched off in the configuration" if rule.id in settings.rules.disabled else ""
    tier = f"; tier {rule.tier}: {_tier(rule.tier)}" if rule.tier else ""
    yield from _line("Kind", f"{rule.kind.value}; judges each {rule.scope}{about}{family}{tier}{off}")
    yield from _line("When", one_line(rule.when))
    yield from _line("Hold", hold_text(rule))
    yield from _line("Clears", clear_text(rule))
    yield from _line("Severity", severity_text(rule))
    yield from _parameters(rule, settings)
    yield from _line(
        "Caused by", ", ".join([*rule.caused_by, *(f"{each} of its partner" for each in rule.caused_by_partner)])
    )
    yield from _line("Needs", ", ".join(rule.needs))
    yield from _facts(rule)
    yield from _counsel(rule)
    for number, (mqsc, when) in enumerate(mqsc_commands(rule)):
        yield from _line("Next" if number == 0 else "", f"{mqsc}  when {one_line(when)}" if when else mqsc)


def _tier(tier: str) -> str:
    """``P>S`` in words."""
    from mqvitals_rules.markdown import TIERS

    joints = {">": ", better with ", "+": " and ", "|": " or "}
    return "".join(joints.get(char) or TIERS.get(char, char) for char in tier)


def _facts(rule: Rule) -> Iterator[str]:
    """What can be declared for the rule."""
    from mqvitals_rules.facts import facts_as_yaml, usable_facts
    from mqvitals_rules.form import compile_rule
    from mqvitals_rules.vocabulary.tables import KINDS

    names = {name for expression in compile_rule(rule, KINDS).expressions for name in expression.names}
    yield from _as_written("Facts", facts_as_yaml(usable_facts(names, KINDS)))


def _counsel(rule: Rule) -> Iterator[str]:
    """What to do, when not to, and who says so."""
    from mqvitals_rules.markdown import one_line

    yield from _line("Advice", one_line(rule.advice))
    yield from _line("Caveat", one_line(rule.caveat))
    for number, source in enumerate(rule.sources):
        yield from _line("Source" if number == 0 else "", f"{source.document}: {source.section}")


def _parameters(rule: Rule, settings: Settings) -> Iterator[str]:
    from mqvitals_rules.template import with_unit

    for number, each in enumerate(rule.parameters.values()):
        words = f"{each.name} = {with_unit(each.value, each.unit)} ({each.origin.value}): {each.meaning}"
        yield from _line("With" if number == 0 else "", words)
        for entry in settings.rules.thresholds:
            if entry.rule == rule.id and entry.parameter == each.name:
                objects = f" for {entry.objects}" if entry.objects else ""
                yield from _line(
                    "", f"  {with_unit(entry.value, each.unit)}{objects} (configuration, {entry.rule.place})"
                )


def _verdicts(arguments: argparse.Namespace, name: ObjectName, rule: Rule, judging: RuleConfig) -> Iterator[str]:
    """What the rule says now of the object, or of each object that it judges and whose alerts are about this one."""
    from mqvitals_agent.store.error import StoreError

    with open_store(arguments) as reader:
        try:
            alerts = [
                each.alert
                for each in reader.alerts(include_ended=True, include_pending=True)
                if each.alert.key.rule == rule.id and name in (each.alert.scope, each.alert.key.object)
            ]
            scopes = [name]
            if name.kind != rule.scope:
                scopes = sorted({alert.scope for alert in alerts})
                if not scopes:
                    raise _never_about(reader, name, rule)
            yield f"{safe(rule.id)}  {safe(rule.title)}"
            if not _configured(arguments) and reader.meta().past:
                yield from wrap(_OTHER_FACTS, line_width())
            for number, scope in enumerate(scopes):
                if number:
                    yield ""
                own = [each for each in reversed(alerts) if each.scope == scope]
                yield from _verdict(reader, scope, rule, judging, own[0] if own else None)
                yield from _history(own)
        except StoreError as error:
            raise Failure(error.message, hint=error.hint) from error
    if len(scopes) > 1:
        yield ""
    yield from _counsel(rule)


def _configured(arguments: argparse.Namespace) -> bool:
    import os

    from mqvitals_config.load import CONFIG_VARIABLE

    return bool(arguments.config or os.environ.get(CONFIG_VARIABLE))


def _never_about(reader: StoreReader, name: ObjectName, rule: Rule) -> Failure:
    """There never was an alert about the object: name some that the rule judges."""
    known = [str(row.name) for row in reader.objects(f"{name.owner}/{rule.scope}/*")]
    examples = ", ".join(safe(each) for each in known[:_EXAMPLES])
    return Failure(
        f"there has been no alert of {rule.id} about {name}; {rule.id} judges objects of kind {rule.scope}",
        hint=f"such as {examples}" if known else f"the store holds none of {name.owner}",
    )


def _verdict(
    reader: StoreReader, name: ObjectName, rule: Rule, judging: RuleConfig, alert: Alert | None
) -> Iterator[str]:
    """What the rule says of one object that it judges; ``alert`` is the newest about it."""
    from mqvitals_agent.text.figure import stamp
    from mqvitals_agent.view.explanation import explain_object
    from mqvitals_rules.facts import facts_as_yaml

    form = judging.rules.form(rule, name)
    if form is None:
        raise Failure(f"{rule.id} is switched off", hint="take it out of rules.disabled")
    now, (found,) = explain_object(reader, [form], judging.facts, name)
    yield f"{safe(str(name))}, as of {stamp(now)}"
    yield ""
    yield from _line("When", found.when.filled)
    yield from _line("Verdict", _VERDICTS[found.when.truth])
    yield from _line("Alert", _alert(rule, alert))
    if found.when.truth:
        yield from _line("Severity", "unknown" if found.severity is None else found.severity.name.lower())
        yield from _line("Says", found.summary)
    elif alert is not None and alert.ended is None:
        yield from _line("Severity", alert.severity.name.lower())
        yield from _line("Says", alert.summary)
    yield from _terms(found)
    for number, remedy in enumerate(found.remedies):
        yield from _line("Missing" if number == 0 else "", remedy)
    yield from _as_written("Declare" if found.when.truth is None else "Optional", facts_as_yaml(found.declarations))
    if found.clear is not None:
        yield from _line("Clears", f"{found.clear.filled}: {_VERDICTS[found.clear.truth]}")
    yield from _line("With", ", ".join(f"{key} = {value:g}" for key, value in form.values.items()))
    yield from _line("Next", found.mqsc)


def _alert(rule: Rule, alert: Alert | None) -> str:
    """``firing since TIME; ends when ...``: where the newest alert is in its life."""
    from mqvitals_agent.text.figure import stamp
    from mqvitals_config.scalars import format_duration
    from mqvitals_rules.markdown import count_text, hold_text

    if alert is None:
        return "none"
    if alert.ended is not None:
        fired = alert.since if alert.started is None else alert.started
        return f"none; the last one was firing from {stamp(fired)} to {stamp(alert.ended)}"
    if alert.started is None:
        return f"pending since {stamp(alert.since)}; fires when the condition has held for {hold_text(rule)}"
    under = f", brought about by {alert.cause.rule} {safe(str(alert.cause.object))}" if alert.cause else ""
    good = f" ({alert.good_polls} so far)" if alert.good_polls and rule.clear.duration_ms is None else ""
    ends = "the condition has not held" if rule.clear.when is None else "the clear condition has held"
    polls = f"on {count_text(rule.clear.polls, rule.clear.records)}"
    if rule.clear.duration_ms is not None:
        polls = f"for {format_duration(rule.clear.duration_ms)}"
    return f"firing since {stamp(alert.started)}{under}; ends when {ends} {polls}{good}"


def _history(alerts: Sequence[Alert]) -> Iterator[str]:
    """The rule's alerts about one object that are over, the newest first."""
    from mqvitals_agent.text.figure import stamp

    ended = [alert for alert in alerts if alert.ended is not None and alert.started is not None]
    for number, alert in enumerate(ended[:_MOST_ALERTS]):
        assert alert.started is not None
        assert alert.ended is not None
        words = f"{stamp(alert.started)} to {stamp(alert.ended)}, {alert.worst.name.lower()}; ended: {alert.why.value}"
        yield from _line("History" if number == 0 else "", words)
    if len(ended) > _MOST_ALERTS:
        yield from _line("", f"and {len(ended) - _MOST_ALERTS} before")


def _terms(found: Finding) -> Iterator[str]:
    if len(found.when.terms) < 2:
        return
    for number, term in enumerate(found.when.terms):
        word = "left out, not declared" if term.left_out else _VERDICTS[term.truth]
        yield from _line("Terms" if number == 0 else "", f"{term.filled}: {word}")


def _as_written(label: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines to be copied: they are not broken."""
    for number, text in enumerate(lines):
        yield f"{label if number == 0 else '':<{_LABEL}}{safe(text)}"


def _line(label: str, text: str) -> list[str]:
    text = safe(text)
    if not text:
        return []
    return wrap(text, line_width(), first=f"{label:<{_LABEL}}", rest=" " * _LABEL)
