"""``mqvitals rules explain``: a rule in words, and its verdict about an object of a store."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.cli.failure import ExitCode, Failure
from mqvitals_agent.cli.rule_argument import judging_of, no_rule, rules_of, settings_of
from mqvitals_agent.cli.store_argument import line_width, open_store, show
from mqvitals_agent.view.text import safe, wrap
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_config.settings import Settings
    from mqvitals_rules.check import Judging
    from mqvitals_rules.finding import Finding
    from mqvitals_rules.form import Form
    from mqvitals_rules.lifecycle.alert import Alert
    from mqvitals_rules.rule import Rule
    from mqvitals_rules.windows import Point
    from mqvitals_rules.world import World

_LABEL = 10

_EXAMPLES = 3

_OTHER_FACTS = "Judged with the built-in facts and thresholds; the replay may have used others: add --config"

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
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        name = ObjectName.parse(text)
    except ValueError as error:
        raise Failure(str(error)) from error
    if name.kind not in KINDS:
        raise Failure(f"there is no kind of object {name.kind!r}", hint=f"the kinds are {', '.join(KINDS)}")
    if name.kind not in (rule.scope, rule.about):
        raise Failure(f"{rule.id} judges objects of kind {rule.scope}, and {name} is a {name.kind}")
    return name


def _rule(rule: Rule, settings: Settings) -> Iterator[str]:
    """Everything the rule says of itself."""
    from mqvitals_rules.page import clears, commands, hold, one_line, severities

    yield f"{safe(rule.id)}  {safe(rule.title)}"
    yield ""
    family = f", family {rule.family.name}" if rule.family else ""
    about = f"; the alert is about its {rule.about}" if rule.about != rule.scope else ""
    off = "; switched off in the configuration" if rule.id in settings.rules.disabled else ""
    yield from _line("Kind", f"{rule.kind.value}; judges each {rule.scope}{about}{family}{off}")
    yield from _line("When", one_line(rule.when))
    yield from _line("Hold", hold(rule))
    yield from _line("Clears", clears(rule))
    yield from _line("Severity", severities(rule))
    yield from _parameters(rule, settings)
    yield from _line("Needs", ", ".join(rule.needs))
    yield from _counsel(rule)
    for number, (mqsc, when) in enumerate(commands(rule)):
        yield from _line("Next" if number == 0 else "", f"{mqsc}  when {one_line(when)}" if when else mqsc)


def _counsel(rule: Rule) -> Iterator[str]:
    """What to do, when not to, and who says so."""
    from mqvitals_rules.page import one_line

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


def _verdicts(arguments: argparse.Namespace, name: ObjectName, rule: Rule, judging: Judging) -> Iterator[str]:
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
            if not _configured(arguments) and reader.meta().replay:
                yield from wrap(_OTHER_FACTS, line_width())
            for number, scope in enumerate(scopes):
                if number:
                    yield ""
                alert = next((each for each in reversed(alerts) if each.scope == scope), None)
                yield from _verdict(reader, scope, rule, judging, alert)
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


def _verdict(reader: StoreReader, name: ObjectName, rule: Rule, judging: Judging, alert: Alert | None) -> Iterator[str]:
    """What the rule says of one object that it judges; ``alert`` is the newest about it."""
    from mqvitals_rules.moment import iso

    form = judging.rules.form(rule, name)
    if form is None:
        raise Failure(f"{rule.id} is switched off", hint="take it out of rules.disabled")
    found, now = _find(reader, form, judging, name)
    yield f"{safe(str(name))}, as of {iso(now)}"
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
    if found.clear is not None:
        yield from _line("Clears", f"{found.clear.filled}: {_VERDICTS[found.clear.truth]}")
    yield from _line("With", ", ".join(f"{key} = {value:g}" for key, value in form.values.items()))
    yield from _line("Next", found.mqsc)


def _alert(rule: Rule, alert: Alert | None) -> str:
    """``firing since TIME; ends when ...``: where the newest alert is in its life."""
    from mqvitals_rules.moment import iso
    from mqvitals_rules.page import hold

    if alert is None:
        return "none"
    if alert.ended is not None:
        fired = alert.since if alert.started is None else alert.started
        return f"none; the last one was firing from {iso(fired)} to {iso(alert.ended)}"
    if alert.started is None:
        return f"pending since {iso(alert.since)}; fires when the condition has held for {hold(rule)}"
    good = f" ({alert.good_polls} so far)" if alert.good_polls else ""
    ends = "the condition has not held" if rule.clear.when is None else "the clear condition has held"
    polls = f"{rule.clear.polls} poll{'s' * (rule.clear.polls != 1)}"
    return f"firing since {iso(alert.started)}; ends when {ends} on {polls}{good}"


def _terms(found: Finding) -> Iterator[str]:
    if len(found.when.terms) < 2:
        return
    for number, term in enumerate(found.when.terms):
        word = "left out, not declared" if term.left_out else _VERDICTS[term.truth]
        yield from _line("Terms" if number == 0 else "", f"{term.filled}: {word}")


def _line(label: str, text: str) -> list[str]:
    text = safe(text)
    if not text:
        return []
    return wrap(text, line_width(), first=f"{label:<{_LABEL}}", rest=" " * _LABEL)


def _find(reader: StoreReader, form: Form, judging: Judging, name: ObjectName) -> tuple[Finding, int]:
    """Judge the object by what the store holds of it and of what belongs to it."""
    from mqvitals_rules.finding import find
    from mqvitals_rules.vocabulary.tables import KINDS
    from mqvitals_rules.world import World

    owners = {owner.name: owner for owner in reader.owners()}
    group = next((owner.name for owner in owners.values() if owner.is_group), "")
    world = World(KINDS, judging.facts)
    _load(reader, world, name, group)
    state = world.state(name)
    assert state is not None, "an object of the store has a state"
    kinds = {kind for expression in form.expressions for kind, _ in expression.names} | form.summary.kinds
    for kind in sorted(kinds - {name.kind}):
        _load_related(reader, world, name, kind, group)
    now = owners[name.owner].last_ts
    return find(form, KINDS, world, _StoredPast(reader, now), state, now), now


def _load(reader: StoreReader, world: World, name: ObjectName, group: str) -> None:
    """Tell the world what the store holds of an object. Raises UnknownNameError for one that the store does not know."""
    from mqvitals_rules.snapshot import Reading, Snapshot
    from mqvitals_rules.vocabulary.tables import KINDS

    poll = KINDS[name.kind].poll
    values = {}
    for metric, current in reader.current(name).items():
        # What a poll asked for in vain is absent to a rule, however well the last value is remembered.
        silent = current.unanswered is not None and current.probe == poll
        values[metric] = current.unanswered if silent and current.unanswered is not None else current.value
    world.learn(Snapshot(name.owner, name.owner == group, 0, 0, (Reading(name, poll, 0, values),)))


def _load_related(reader: StoreReader, world: World, name: ObjectName, kind: str, group: str) -> None:
    """Tell the world of the object of another kind that belongs to ``name``, if the store holds it."""
    from mqvitals_agent.store.error import UnknownNameError
    from mqvitals_rules.vocabulary.tables import KINDS
    from mqvitals_rules.world import RELATIONS

    state = world.state(name)
    relation = RELATIONS.get((name.kind, kind))
    if relation is not None and relation[0] != name.kind:
        _load_related(reader, world, name, relation[0], group)
    rest = "" if KINDS[kind].single or relation is None or state is None else world.named(state, kind)
    for owner in dict.fromkeys((name.owner, group)):
        if owner and (rest or KINDS[kind].single):
            try:
                _load(reader, world, ObjectName(owner, kind, rest), group)
            except UnknownNameError:
                continue
            return


class _StoredPast:
    """The past of a store, metric by metric as it is asked for."""

    def __init__(self, reader: StoreReader, now: int) -> None:
        self._reader = reader
        self._now = now

    def points(self, object_name: ObjectName, metric: str, since: int) -> Sequence[Point]:
        """Every poll with ts > ``since``, oldest first."""
        # From further back, so that the first of them has one before it to measure its interval from.
        begin = since - max(self._now - since, 3_600_000)
        return [point for point in self._told(object_name, metric, first=begin) if point.ts > since]

    def last(self, object_name: ObjectName, metric: str, count: int) -> Sequence[Point]:
        """The newest ``count`` polls, oldest first."""
        return self._told(object_name, metric, newest=count)

    def _told(self, name: ObjectName, metric: str, **selection: int) -> list[Point]:
        from mqvitals_rules.vocabulary.metric import MetricType
        from mqvitals_rules.vocabulary.tables import metric as metric_of
        from mqvitals_rules.windows import Point

        counter = metric_of(name.kind, metric).type is MetricType.COUNTER
        points: list[Point] = []
        for sample in self._reader.samples(name, metric, **selection):
            interval = sample.interval_ms if counter else sample.ts - points[-1].ts if points else None
            points.append(Point(sample.ts, sample.value, interval))
        return points
