"""``mqvitals rules explain``: one rule, and its verdict about an object."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.cli.rules.changed import tuning_of_rule
from mqvitals_agent.commandline.arguments import add_store_argument, object_name
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import line_width, show
from mqvitals_agent.commandline.settings import no_rule, rule_config_of, rules_of, settings_of
from mqvitals_agent.commandline.time_arguments import add_zone_argument
from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.text.terminal import safe, wrap

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_config.settings import Settings
    from mqvitals_rules.explanation import RuleExplanation
    from mqvitals_rules.lifecycle.alert import Alert
    from mqvitals_rules.ruleset.config import RuleConfig
    from mqvitals_rules.ruleset.rule import Rule
    from mqvitals_rules.ruleset.tuning import Tuning
    from mqvitals_rules.snapshot import ObjectName

_DESCRIPTION = """\
Prints a rule: its condition, thresholds with their origin, advice, caveat and source. With an object
(QM01/buffer_pool/3) and a store it evaluates the rule for that object now: the condition with the values filled in, the
verdict, what is missing where it is unknown, with the facts to declare as lines for the configuration, and the rule's
past alerts about the object. With --at as of a past moment.
"""

_LABEL = 10

_EXAMPLES = 3

_MOST_ALERTS = 10
"""The number of past alerts that are shown."""

_OTHER_FACTS = (
    "Evaluated with the built-in facts and thresholds; the agent that filled this store may have used others: add"
    " --config"
)

_VERDICTS = {True: "true", False: "false", None: "unknown"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules explain``."""
    parser.description = _DESCRIPTION
    parser.add_argument("rule", metavar="RULE", help="the rule's id, such as BP-01")
    parser.add_argument(
        "object", metavar="OBJECT", nargs="?", help="an object of the store, such as QM01/buffer_pool/3"
    )
    add_store_argument(parser)
    add_zone_argument(parser)
    add_at_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain the rule, and with an object its verdict; returns the exit code. Raises Failure."""
    settings = settings_of(arguments)
    rules = rules_of(settings)
    rule = next((rule for rule in rules if rule.id == arguments.rule), None)
    if rule is None:
        raise no_rule(arguments.rule, rules)
    if arguments.object is None:
        show(list(_rule_lines(rule, settings)))
        return ExitCode.DONE
    name = object_name(arguments.object)
    if name.kind not in (rule.scope, rule.about):
        raise Failure(f"{rule.id} applies to objects of kind {rule.scope}, and {name} is a {name.kind}")
    show(list(_object_lines(arguments, name, rule, rule_config_of(settings))))
    return ExitCode.DONE


def _rule_lines(rule: Rule, settings: Settings) -> Iterator[str]:
    """The definition of the rule."""
    from mqvitals_rules.ruleset.markdown import clear_text, hold_text, mqsc_commands, one_line, severity_text
    from mqvitals_rules.ruleset.tuning import off_everywhere

    yield f"{safe(rule.id)}  {safe(rule.title)}"
    yield ""
    family = f", family {rule.family.name}" if rule.family else ""
    about = f"; the alert is about its {rule.about}" if rule.about != rule.scope else ""
    tuning = tuning_of_rule(rule, settings)
    off = ""
    if off_everywhere(tuning, off=rule.off):
        off = "; switched off in the configuration" if tuning else "; off until rules.enabled names it"
    tier = f"; tier {rule.tier}: {_tier_words(rule.tier)}" if rule.tier else ""
    yield from _labelled("Kind", f"{rule.kind.value}; applies to each {rule.scope}{about}{family}{tier}{off}")
    yield from _labelled("When", one_line(rule.when))
    yield from _labelled("Hold", hold_text(rule))
    yield from _labelled("Clears", clear_text(rule))
    yield from _labelled("Severity", severity_text(rule))
    yield from _parameter_lines(rule, tuning)
    yield from _labelled("Tuned", *_tuned_words(rule, tuning))
    yield from _labelled(
        "Caused by", ", ".join([*rule.caused_by, *(f"{each} of its partner" for each in rule.caused_by_partner)])
    )
    yield from _labelled("Same as", ", ".join(rule.same_incident))
    if rule.quiet_restarts:
        yield from _labelled("Restarts", "messages written while their queue manager starts or stops do not count")
    yield from _labelled("Needs", ", ".join(rule.needs))
    yield from _fact_lines(rule)
    yield from _labelled("Advice", one_line(rule.advice))
    yield from _grounds_lines(rule)
    commands = mqsc_commands(rule)
    yield from _labelled("Next", *(f"{mqsc}  when {one_line(when)}" if when else mqsc for mqsc, when in commands))


def _tier_words(tier: str) -> str:
    """``P>S`` in words."""
    from mqvitals_rules.ruleset.markdown import TIERS

    joints = {">": ", better with ", "+": " and ", "|": " or "}
    return "".join(joints.get(char) or TIERS.get(char, char) for char in tier)


def _fact_lines(rule: Rule) -> Iterator[str]:
    """What can be declared for the rule."""
    from mqvitals_rules.compiled_rule import compile_rule
    from mqvitals_rules.ruleset.facts import facts_as_yaml, usable_facts
    from mqvitals_rules.vocabulary.tables import KINDS

    names = {name for expression in compile_rule(rule, KINDS).expressions for name in expression.names}
    yield from _verbatim("Facts", facts_as_yaml(usable_facts(names, KINDS)))


def _grounds_lines(rule: Rule) -> Iterator[str]:
    """When not to follow the advice, and who gives it."""
    from mqvitals_rules.ruleset.markdown import one_line

    yield from _labelled("Caveat", one_line(rule.caveat))
    yield from _labelled("Source", *(f"{source.document}: {source.section}" for source in rule.sources))


def _parameter_lines(rule: Rule, tuning: Iterable[Tuning]) -> list[str]:
    from mqvitals_rules.ruleset.markdown import PLAIN_STATE
    from mqvitals_rules.ruleset.quantity import with_unit

    if rule.plain_state:
        return _labelled("With", PLAIN_STATE)
    lines = []
    for each in rule.parameters.values():
        lines.append(f"{each.name} = {with_unit(each.value, each.unit)} ({each.origin.value}): {each.meaning}")
        for entry in tuning:
            if each.name in entry.values:
                objects = f" for {entry.objects.text}" if entry.objects else ""
                value = with_unit(entry.values[each.name], each.unit)
                lines.append(f"  {value}{objects} (configuration, {entry.place}){_because(entry)}")
    return _labelled("With", *lines)


def _tuned_words(rule: Rule, tuning: Iterable[Tuning]) -> Iterator[str]:
    """What the site changes about the rule beside the values of parameters."""
    from mqvitals_rules.ruleset.tuning import changes_in_words

    for entry in tuning:
        objects = f" for {entry.objects.text}" if entry.objects else ""
        for each in changes_in_words(rule, entry):
            if each.key not in rule.parameters:
                yield f"{each.key}: {each.value}{objects} (configuration, {entry.place}){_because(entry)}"


def _because(entry: Tuning) -> str:
    return f": {entry.reason}" if entry.reason else ""


def _object_lines(
    arguments: argparse.Namespace, name: ObjectName, rule: Rule, rule_config: RuleConfig
) -> Iterator[str]:
    """The rule's verdict about the object, or about each object in its scope whose alerts are about this one."""
    from mqvitals_agent.view.alerts.past_words import with_past_words

    with open_store_as_of(arguments) as reader:
        alerts = [
            each.alert
            for each in reader.alerts(include_ended=True, include_pending=True)
            if each.alert.key.rule == rule.id and name in (each.alert.scope, each.alert.key.object)
        ]
        at = reader.meta().as_of
        if at is not None:
            alerts = list(with_past_words(reader, alerts, at, rule_config.rules.rule_of))
        scopes = [name]
        if name.kind != rule.scope:
            scopes = sorted({alert.scope for alert in alerts})
            if not scopes:
                raise _never_about(reader, name, rule)
        yield f"{safe(rule.id)}  {safe(rule.title)}"
        if not _configured(arguments) and reader.meta().ended:
            yield from wrap(_OTHER_FACTS, line_width())
        for number, scope in enumerate(scopes):
            if number:
                yield ""
            own = [each for each in reversed(alerts) if each.scope == scope]
            yield from _verdict_lines(reader, scope, rule, rule_config, own[0] if own else None)
            yield from _history_lines(own)
    if len(scopes) > 1:
        yield ""
    yield from _grounds_lines(rule)


def _configured(arguments: argparse.Namespace) -> bool:
    import os

    from mqvitals_config.load import CONFIG_VARIABLE

    return bool(arguments.config or os.environ.get(CONFIG_VARIABLE))


def _never_about(reader: StoreReader, name: ObjectName, rule: Rule) -> Failure:
    """There never was an alert about the object: names some objects in the rule's scope."""
    known = [str(row.name) for row in reader.objects(f"{name.owner}/{rule.scope}/*")]
    examples = ", ".join(safe(each) for each in known[:_EXAMPLES])
    return Failure(
        f"there has been no alert of {rule.id} about {name}; {rule.id} applies to objects of kind {rule.scope}",
        hint=f"such as {examples}" if known else f"the store holds none of {name.owner}",
    )


def _verdict_lines(
    reader: StoreReader, name: ObjectName, rule: Rule, rule_config: RuleConfig, alert: Alert | None
) -> Iterator[str]:
    """The rule's verdict about one object; ``alert`` is the newest about it."""
    from mqvitals_agent.text.figure import stamp
    from mqvitals_agent.view.alerts.words import open_summary
    from mqvitals_agent.view.object.explanation import explain_object
    from mqvitals_rules.ruleset.facts import facts_as_yaml
    from mqvitals_rules.ruleset.markdown import one_line

    compiled = rule_config.rules.rule_for(rule, name)
    if compiled is None:
        raise _switched_off(rule, name, rule_config)
    rule = compiled.rule
    now, (found,) = explain_object(reader, [compiled], rule_config.facts, name, rule_config.zone_of)
    yield f"{safe(str(name))}, as of {stamp(now)}"
    yield ""
    yield from _labelled("When", found.when.filled)
    yield from _labelled("Verdict", _VERDICTS[found.when.truth])
    yield from _labelled("Alert", _alert_words(rule, alert))
    if found.when.truth:
        yield from _labelled("Severity", "unknown" if found.severity is None else found.severity.name.lower())
        yield from _labelled("Says", found.summary)
    elif alert is not None and alert.ended is None:
        yield from _labelled("Severity", alert.severity.name.lower())
        yield from _labelled("Says", open_summary(alert))
    yield from _term_lines(found)
    yield from _labelled("Missing", *found.remedies)
    yield from _verbatim("Declare" if found.when.truth is None else "Optional", facts_as_yaml(found.declarations))
    if found.clear is not None:
        yield from _labelled("Clears", f"{found.clear.filled}: {_VERDICTS[found.clear.truth]}")
    yield from _labelled("With", ", ".join(f"{key} = {value:g}" for key, value in compiled.values.items()))
    yield from _labelled("Tuned", *_in_force_words(name, rule, rule_config))
    yield from _labelled("Advice", one_line(found.advice))
    yield from _labelled("Next", found.mqsc)
    if alert is not None and alert.ended is None:
        yield from _labelled("Changed", *_changes_before(reader, name, alert, now))


def _in_force_words(name: ObjectName, rule: Rule, rule_config: RuleConfig) -> Iterator[str]:
    """What is tuned about the rule for one object, and where."""
    from mqvitals_rules.ruleset.tuning import in_force

    rules = rule_config.rules
    standard = rules.rule(str(rule.id))
    for each in () if standard is None else in_force(standard, rules.tuning_of(str(rule.id)), name):
        origin = f"(configuration, {each.entry.place}){_because(each.entry)}"
        yield f"{each.key}: {each.value}, not {each.standard} {origin}"


def _switched_off(rule: Rule, name: ObjectName, rule_config: RuleConfig) -> Failure:
    rules = rule_config.rules
    entries = [each for each in rules.tuning_of(str(rule.id)) if each.off is not None and each.selects(name)]
    if entries:
        hint = f"{entries[-1].place} does so; an entry with off: false after it switches {rule.id} on"
        return Failure(f"{rule.id} is switched off for {name}: {entries[-1].reason}", hint=hint)
    hint = "add it to rules.enabled" if rule.off else "remove it from rules.disabled"
    return Failure(f"{rule.id} is switched off", hint=hint)


def _changes_before(reader: StoreReader, name: ObjectName, alert: Alert, now: int) -> list[str]:
    """The changes of the object, and of what belongs to it, in the day before the alert began."""
    from mqvitals_agent.text.figure import object_words
    from mqvitals_agent.view.history.changes import change_words, explaining, read_changes_before, when_words
    from mqvitals_agent.view.lists.related import read_related
    from mqvitals_agent.view.status import read_status_data, status_of

    status = status_of(read_status_data(reader, now, {}))
    names = explaining(name, read_related(reader, status, name, reader.current(name))) | {name}
    found = read_changes_before(reader, names, alert)
    return [f"{when_words(each, now, alert.since)} {object_words(each.name)} {change_words(each)}" for each in found]


def _alert_words(rule: Rule, alert: Alert | None) -> str:
    """``firing since TIME; ends when ...``: the state of the newest alert."""
    from mqvitals_agent.text.figure import stamp
    from mqvitals_config.decoding.scalars import format_duration
    from mqvitals_rules.ruleset.markdown import count_text, hold_text

    if alert is None:
        return "none"
    if alert.ended is not None:
        fired = alert.since if alert.started is None else alert.started
        return f"none; the last one was firing from {stamp(fired)} to {stamp(alert.ended)}"
    if alert.started is None:
        return f"pending since {stamp(alert.since)}; fires when the condition has held for {hold_text(rule)}"
    under = f", caused by {alert.cause.rule} {safe(str(alert.cause.object))}" if alert.cause else ""
    good = f" ({alert.good_polls} so far)" if alert.good_polls and rule.clear.duration_ms is None else ""
    ends = "the condition has not held" if rule.clear.when is None else "the clear condition has held"
    polls = f"on {count_text(rule.clear.polls, rule.clear.records)}"
    if rule.clear.duration_ms is not None:
        polls = f"for {format_duration(rule.clear.duration_ms)}"
    return f"firing since {stamp(alert.started)}{under}; ends when {ends} {polls}{good}"


def _history_lines(alerts: Sequence[Alert]) -> list[str]:
    """The rule's alerts about one object that have ended, the newest first."""
    from mqvitals_agent.text.figure import stamp

    ended = [
        f"{stamp(alert.started)} to {stamp(alert.ended)}, {alert.worst.name.lower()}; ended: {alert.why_text}"
        for alert in alerts
        if alert.ended is not None and alert.started is not None
    ]
    more = len(ended) - _MOST_ALERTS
    return _labelled("History", *ended[:_MOST_ALERTS], *([f"and {more} before"] if more > 0 else []))


def _term_lines(found: RuleExplanation) -> list[str]:
    terms = [
        f"{term.filled}: {'left out, not declared' if term.left_out else _VERDICTS[term.truth]}"
        for term in found.when.terms
    ]
    return _labelled("Terms", *terms) if len(terms) > 1 else []


def _verbatim(label: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines to be copied: they are not broken."""
    for number, text in enumerate(lines):
        yield f"{label if number == 0 else '':<{_LABEL}}{safe(text)}"


def _labelled(label: str, *texts: str) -> list[str]:
    """The texts behind their label, which stands on the first line alone; empty texts are left out."""
    lines: list[str] = []
    for text in filter(None, map(safe, texts)):
        first = f"{'' if lines else label:<{_LABEL}}"
        lines += wrap(text, line_width(), first=first, rest=" " * _LABEL)
    return lines
