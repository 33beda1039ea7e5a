"""What to do and to type next about an alert."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.terminal import cells, safe, wrap
from mqvitals_agent.view.paint import Painter
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.present import Present
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset import RuleSet

TREND: dict[str, str] = {
    "queue_manager": "reachable",
    "qsg": "members_active",
    "channel": "status",
    "queue": "depth",
    "buffer_pool": "free_pct",
    "page_set": "used_pct",
    "cf_structure": "entries_pct",
    "smds": "used_pct",
    "log": "full_logs",
    "channel_initiator": "current",
    "adapter": "busy_pct",
    "dispatcher": "busy_pct",
    "ssl_task": "busy_pct",
    "dns_task": "busy_pct",
    "application": "cpu_us",
    "agent": "outcome",
    "store": "used_bytes",
}
"""The metric to look at first, by kind of object."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do about the worst alert: the rule's advice and the MQSC command to type next; either may be empty."""

    advice: str = ""
    mqsc: str = ""


def read_remedy(reader: StoreReader, alert: Alert, rules: RuleSet) -> Remedy:
    """What the alert's rule advises; nothing when it is no longer in force. Raises StoreError."""
    rule = rules.rule(alert.key.rule)
    form = None if rule is None else rules.form(rule, alert.scope)
    if form is None:
        return Remedy()
    known: dict[ObjectName, Mapping[str, CurrentValue]] = {}

    def lookup(kind: str, metric: str) -> Reported:
        name = alert.scope if kind == alert.scope.kind else ObjectName(alert.scope.owner, kind)
        if name not in known:
            known[name] = reader.current(name) if reader.has(name) else {}
        told = known[name].get(metric)
        return Absence.NOT_ASKED if told is None else told.value

    return Remedy(form.rule.advice, form.command(alert.scope, Present(lookup, alert.updated, alert.scope.name)))


def what_next(alert: Alert, width: int, painter: Painter, remedy: Remedy, options: str) -> list[str]:
    """What to do and to type next about an alert. ``options`` are those that the commands need too."""
    name = f"{safe(alert.key.rule)} {safe(str(alert.key.object))}"
    lines = [painter.title(line) for line in wrap(f"What to do about {name}", width, rest="  ")]
    if remedy.advice:
        lines += wrap(safe(remedy.advice), width, first="  ", rest="  ")
    if remedy.mqsc:
        lines += wrap(safe(remedy.mqsc), width, first="  MQSC: ", rest="    ")
    for command in suggestions(alert):
        lines += command_lines(command, width, options, first="  ")
    return lines


def command_lines(command: str, width: int, options: str, *, first: str = "") -> list[str]:
    """A command to be typed, with its options, behind ``first``: one line, or two that a shell takes for one.

    A name or a path is never broken, so that it can be copied.
    """
    whole = f"{first}{command} {options}".rstrip()
    return [whole] if cells(whole) <= width or not options else [f"{first}{command} \\", f"    {options}"]


def suggestions(alert: Alert) -> tuple[str, ...]:
    """Commands that tell more about an alert, ready to be typed."""
    scope = alert.scope
    commands = [f"mqvitals rules explain {_argument(alert.key.rule)} {_argument(str(scope))}"]
    if scope.kind in TREND:
        commands.append(f"mqvitals trend {TREND[scope.kind]} {_argument(str(scope))}")
    return tuple(commands)


def _argument(text: str) -> str:
    return shlex.quote(safe(text))
