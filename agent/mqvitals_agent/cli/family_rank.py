"""The ranks of rules in their families, for commands that show only the worst alert of a family."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import loaded_settings
from mqvitals_agent.commandline.failure import Failure

if TYPE_CHECKING:
    from mqvitals_rules.lifecycle.alert import Alert
    from mqvitals_rules.rule import Rule


def readable_rules(arguments: argparse.Namespace) -> tuple[Rule, ...]:
    """The rules that can be read: mistakes in rules or settings must not keep anyone from looking at alerts."""
    from mqvitals_rules.pack import read_rules
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        files = loaded_settings(arguments).settings.rules.files
    except Failure:
        files = ()
    return read_rules(KINDS, files)[0]


def family_ranks(arguments: argparse.Namespace, alerts: Iterable[Alert]) -> Mapping[str, int]:
    """Rule id -> rank in its family; nothing is read, and it is empty, while no two alerts of a family are firing."""
    firing = Counter((alert.family, alert.scope) for alert in alerts if alert.family and alert.ended is None)
    if all(count < 2 for count in firing.values()):
        return {}
    return {str(rule.id): rule.family.rank for rule in readable_rules(arguments) if rule.family}
