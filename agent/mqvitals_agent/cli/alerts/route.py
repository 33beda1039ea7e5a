"""``mqvitals alerts route``: the tree of routes, and the way of an alert through it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Final

from mqvitals_agent.commandline.arguments import add_config_argument, object_name
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.settings import no_rule, rules_of, settings_in_force, usable_settings
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mqvitals_agent.alerting.labels import ObjectLabels
    from mqvitals_agent.alerting.routing import Route, Step
    from mqvitals_config.settings import Settings
    from mqvitals_rules.lifecycle.alert import Severity

_DESCRIPTION = """\
Shows the tree of routes of the configuration. With --test it shows the way of an alert that has the given labels: which
routes are tried, which matcher does not match, where the alert arrives, with which others it is grouped, and when it
is notified. The min_severity of the route and that of its receiver both hold. What follows from a label is added: from rule the family, the kind of object and the worst severity, from
object its parts and the labels of the site. Exit code 0, 1 when --expect names other receivers than those at which the
alert arrives, 2 when the settings or a label cannot be used.
"""

_NO_OBJECT: Final = (
    "(No object is known: name it, as object=QM01/queue/PAY.IN, for matchers of it and for labels of the site.)"
)
_SEVERITIES: Final = ("critical", "warning", "info")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts route``."""
    parser.description = _DESCRIPTION
    add_config_argument(parser)
    parser.add_argument(
        "--test", metavar="LABEL=VALUE", nargs="*", help="the way of an alert with these labels, such as rule=BP-03"
    )
    parser.add_argument(
        "--expect",
        metavar="RECEIVER",
        action="append",
        help="with --test: exit code 1 unless it arrives at this receiver, and at no other; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="with --test: labels, steps and arrivals as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Show the tree, or the way of an alert; returns the exit code. Raises Failure."""
    from mqvitals_agent.alerting.configured import alerting_problems, route_tree, site_labels
    from mqvitals_agent.alerting.routing import receivers_of
    from mqvitals_agent.text.styled import wrapped
    from mqvitals_agent.text.terminal import safe
    from mqvitals_agent.view.alerts.routes import tree_lines
    from mqvitals_config.decoding.problem import ConfigError

    if arguments.test is None and (arguments.expect or arguments.json):
        raise Failure("--expect and --json need --test", hint="name the labels of an alert: --test rule=BP-03")
    settings = settings_in_force(arguments.config, {}).settings
    if not settings.receivers:
        raise Failure(
            "the configuration names no receiver", hint="see receivers in 'mqvitals help configuration', and --config"
        )
    for name in arguments.expect or ():
        if name not in {str(each.name) for each in settings.receivers}:
            raise Failure(f"--expect: there is no receiver {name!r}")
    with usable_settings():
        if problems := alerting_problems(settings):
            raise ConfigError(problems)
    root = route_tree(settings.route, settings.receivers)
    if arguments.test is not None:
        labels = alert_labels(arguments.test, settings, site_labels(settings.labels))
        return _test(root, labels, settings, arguments)
    if settings.route is None:
        show_lines(
            wrapped("The configuration has no route: every receiver gets what its min_severity allows.", line_width())
        )
    lines = tree_lines(root, line_width())
    reached = receivers_of(root)
    if unreached := [str(each.name) for each in settings.receivers if each.takes_alerts and each.name not in reached]:
        lines += wrapped(safe(f"No route leads to {', '.join(unreached)}."), line_width())
    show_lines(lines)
    return ExitCode.DONE


def alert_labels(words: Sequence[str], settings: Settings, site: Sequence[ObjectLabels]) -> Mapping[str, str]:
    """The labels of an alert: those of ``words`` (``rule=BP-03``), and what follows from them. Raises Failure."""
    from mqvitals_agent.alerting.labels import Labeller
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_config.receivers.receiver import OWN_LABELS
    from mqvitals_rules.snapshot import ObjectName
    from mqvitals_rules.vocabulary.tables import KINDS

    found = _given(words, settings)

    def add(label: str, value: str, why: str) -> None:
        if found.setdefault(label, value) != value:
            raise Failure(f"--test: {why} means {label}={value}, and the alert has {label}={found[label]}")

    for one, other in (("rule", "alertname"), ("alertname", "rule"), ("queue_manager", "owner")):
        if one in found:
            add(other, found[one], f"{one}={found[one]}")
    if "object" in found:
        name = object_name(found["object"])
        for label, value in zip(("owner", "kind", "name"), name, strict=True):
            if value:
                add(label, value, f"object={name}")
    if "rule" in found:
        _add_of_rule(found, settings)
    kind = KINDS.get(found.get("kind", ""))
    if "kind" in found and kind is None:
        raise Failure(f"--test: there is no kind of object {found['kind']!r}", hint=suggestion(found["kind"], KINDS))
    owner, group = found.get("owner", ""), str(settings.name or "")
    if group:
        add("group", group, "the name in the configuration")
    if owner and owner != group and not (kind is not None and kind.of_group):
        found.setdefault("queue_manager", owner)
    if kind is not None and owner and ("name" in found or kind.single):
        about = ObjectName(owner, kind.name, found.get("name", ""))
        add("object", str(about), "its owner, kind and name")
        found = {**Labeller(site=site).site_labels(about), **found}
    order = [*OWN_LABELS, *sorted(set(found) - set(OWN_LABELS))]
    return {label: found[label] for label in order if label in found}


def _given(words: Sequence[str], settings: Settings) -> dict[str, str]:
    """The labels that are written out. Raises Failure."""
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_config.sections.alerting import known_labels

    found: dict[str, str] = {}
    known = known_labels(settings.labels)
    for word in words:
        label, equals, value = word.partition("=")
        if not equals or not value:
            raise Failure(f"--test: {word!r} is no label with a value", hint="write it as rule=BP-03")
        if label not in known:
            meant = suggestion(label, known)
            raise Failure(f"--test: no alert has a label {label!r}", hint=meant or f"there is {', '.join(known)}")
        if found.setdefault(label, value) != value:
            raise Failure(f"--test: {label} is given twice")
    if (severity := found.get("severity")) is not None and severity not in _SEVERITIES:
        raise Failure(f"--test: there is no severity {severity!r}", hint=f"there is {', '.join(_SEVERITIES)}")
    return found


def _add_of_rule(found: dict[str, str], settings: Settings) -> None:
    """Family, kind and severity by the rule as it is tuned, where they are not given. Raises Failure when there is none."""
    from mqvitals_rules.ruleset.config import tuned_rule
    from mqvitals_rules.snapshot import ObjectName

    rules = rules_of(settings)
    rule = next((each for each in rules if each.id == found["rule"]), None)
    if rule is None:
        raise no_rule(found["rule"], rules)
    if rule.family is not None:
        found.setdefault("family", rule.family.name)
    found.setdefault("kind", rule.about)
    tuned = tuned_rule(settings, rule, ObjectName(found.get("owner", ""), found["kind"], found.get("name", "")))
    if tuned is not None:
        rule = tuned.rule
    worst = max((rule.severity, *(case.severity for case in rule.severity_if)))
    found.setdefault("severity", worst.name.lower())


def _test(root: Route, labels: Mapping[str, str], settings: Settings, arguments: argparse.Namespace) -> int:
    from mqvitals_agent.alerting.routing import StepOutcome, besides_words, braced, steps
    from mqvitals_agent.text.styled import line, wrapped
    from mqvitals_agent.text.terminal import safe
    from mqvitals_agent.view.alerts.routes import arrival_lines, way_lines
    from mqvitals_rules.lifecycle.alert import Severity

    found = steps(root, labels)
    arrivals = [each for each in found if each.outcome is StepOutcome.ARRIVES]
    floors = {str(each.name): Severity[each.min_severity.upper()] for each in settings.receivers if each.takes_alerts}
    others = _besides(root, arrivals, labels, floors)
    arrivals += others
    receivers = sorted({each.route.receiver for each in arrivals})
    expected = sorted(set(arguments.expect or receivers))
    if arguments.json:
        print(json.dumps(_way_json(found, arrivals, labels, floors), indent=1))
    else:
        width = line_width()
        lines = wrapped(safe(braced(labels)), width, first="An alert with ", rest="  ")
        lines += [line(), *way_lines(found, labels, width), line()]
        lines += arrival_lines(arrivals, labels, floors, width)
        for each in others:
            lines += wrapped(safe(besides_words(labels["name"], each.route.receiver)), width)
        if "object" not in labels:
            lines += wrapped(_NO_OBJECT, width)
        show_lines(lines)
    if receivers != expected:
        from mqvitals_agent.commandline.output import say

        say(f"it arrives at {', '.join(receivers)}, not at {', '.join(expected)}")
        return ExitCode.FOUND
    return ExitCode.DONE


def _besides(
    root: Route, arrivals: Sequence[Step], labels: Mapping[str, str], floors: Mapping[str, Severity]
) -> list[Step]:
    """Where an alert about a receiver that fails goes too, when no route leads it to another one."""
    from mqvitals_agent.alerting.routing import Step, StepOutcome, besides, failing_receiver
    from mqvitals_agent.view.alerts.routes import severity_words

    failing = failing_receiver(labels)
    if not failing or any(
        each.route.receiver not in (failing, "") and not severity_words(each.route, labels, floors) for each in arrivals
    ):
        return []
    arrived = {each.route.receiver for each in arrivals}
    return [
        Step((each.route,), StepOutcome.ARRIVES)
        for each in besides(root, failing, floors)
        if each.receiver not in arrived
    ]


def _way_json(
    found: Sequence[Step], arrivals: Sequence[Step], labels: Mapping[str, str], floors: Mapping[str, Severity]
) -> dict[str, object]:
    from mqvitals_agent.alerting.routing import group_key
    from mqvitals_agent.view.alerts.routes import least_severity

    return {
        "labels": dict(labels),
        "steps": [
            {
                "route": each.route.path,
                "outcome": each.outcome.name.lower(),
                "matchers": list(map(str, each.route.matchers)),
                "failed": None if each.failed is None else str(each.failed),
            }
            for each in found
        ],
        "arrivals": [
            {
                "route": each.route.path,
                "receiver": each.route.receiver,
                "group_key": group_key(each.way, labels),
                "min_severity": least_severity(each.route, floors).name.lower(),
                "group_wait_ms": each.route.wait,
                "group_interval_ms": each.route.interval,
                "repeat_interval_ms": each.route.repeat,
                "mute_time_intervals": list(each.route.muted),
                "active_time_intervals": list(each.route.active),
            }
            for each in arrivals
        ],
    }
