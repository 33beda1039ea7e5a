"""``mqvitals status``: shows the state of the group on one screen, and by the exit code."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import line_width, screen_height, show_lines
from mqvitals_agent.commandline.settings import (
    family_ranks,
    labeller_for,
    loaded_settings,
    readable_rules_of,
)
from mqvitals_agent.commandline.time_arguments import add_zone_argument, now_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.view.alerts.handling import AlertSite
    from mqvitals_agent.view.alerts.words import AlertAdvice
    from mqvitals_rules.compiled_rule import CompiledRule
    from mqvitals_rules.lifecycle.alert import Alert
    from mqvitals_rules.vocabulary.metric import Reported


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``status``."""
    add_store_arguments(parser)
    parser.add_argument(
        "--json", action="store_true", help="the same as one JSON object; an alert's severity is its worst while open"
    )
    add_zone_argument(parser)
    add_at_argument(parser)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true", help="everything, also what does not fit on the terminal")
    size.add_argument("--lines", type=int, metavar="N", help="fit into N lines (default: those of the terminal)")


def run(arguments: argparse.Namespace) -> int:
    """Show the status; returns 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN or when the store cannot be read."""
    from mqvitals_agent.text.styled import Tone, line
    from mqvitals_agent.view.object.past_alerts import alerts_then
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_agent.view.screens.status import at_option, status_screen
    from mqvitals_agent.view.status import read_status_data, status_of
    from mqvitals_agent.view.status_json import status_json

    with open_store_as_of(arguments) as reader:
        data = read_status_data(reader, now_ms(), site_of=partial(_site, arguments))
        rule_of = readable_rules_of(arguments)
        if data.as_of is not None:
            data = replace(data, alerts=alerts_then(reader, data.alerts, data.as_of, rule_of))
        view = status_of(data, family_ranks(arguments, data.alerts))
        if arguments.json:
            labeller = labeller_for(arguments, [member.name for member in view.groups])
            print(json.dumps(status_json(view, labeller)))
            return view.exit.code
        advice = _advice(reader, view.alerts[0], rule_of) if view.alerts else None
    options = " ".join(
        f"--{name} {shlex.quote(value)}" for name in ("store", "config") if (value := getattr(arguments, name))
    )
    options = f"{options}{at_option(data.as_of)}".lstrip()
    height = None if arguments.full else screen_height() if arguments.lines is None else arguments.lines
    lines = [] if data.as_of is None else [line(as_of_words(data.as_of, now_ms()), Tone.STRONG)]
    if height is not None:
        height -= len(lines)
    show_lines([*lines, *status_screen(view, line_width(), advice=advice, options=options, height=height)])
    return view.exit.code


def _site(arguments: argparse.Namespace, groups: Collection[str]) -> AlertSite:
    """What the settings say of alerts; where they cannot be used only the alerts' own labels."""
    from mqvitals_agent.errors import Failure
    from mqvitals_agent.view.alerts.handling import AlertSite

    try:
        return AlertSite.of(loaded_settings(arguments).settings, groups)
    except Failure:
        return AlertSite(labeller_for(arguments, groups))


def _advice(reader: StoreReader, alert: Alert, rule_of: Callable[[Alert], CompiledRule | None]) -> AlertAdvice:
    """What the alert's rule advises; empty where the rules cannot be read."""
    from mqvitals_agent.view.alerts.words import AlertAdvice
    from mqvitals_rules.instant_context import InstantContext
    from mqvitals_rules.snapshot import ObjectName
    from mqvitals_rules.vocabulary.metric import Absence

    compiled = rule_of(alert)
    if compiled is None:
        return AlertAdvice()

    def lookup(kind: str, metric: str) -> Reported:
        name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
        found = reader.current_by_kind(name.owner, kind, (metric,)).get(name, {}).get(metric)
        return Absence.NOT_ASKED if found is None else found.value

    context = InstantContext(lookup, alert.updated, alert.scope.name)
    return AlertAdvice(compiled.advise(alert.scope, context), compiled.command(alert.scope, context))
