"""What the rule commands share: the settings and rules in force, a rule by its id, problems shown in their files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mqvitals_agent.cli.failure import Failure

if TYPE_CHECKING:
    from mqvitals_config.problem import Problem
    from mqvitals_config.settings import Settings
    from mqvitals_rules.check import Judging
    from mqvitals_rules.rule import Rule


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings in force. Raises Failure."""
    from mqvitals_agent.cli.config import settings_in_force

    return settings_in_force(arguments.config, vars(arguments)).settings


def rules_of(settings: Settings) -> tuple[Rule, ...]:
    """The shipped rules and those of the settings' files. Raises Failure with every problem."""
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.ruleset import load_rules
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        return load_rules(KINDS, settings.rules.files)
    except ConfigError as error:
        raise Failure(
            f"the rules cannot be used:\n{explained(error.problems)}", hint="'mqvitals rules check FILE' lists these"
        ) from error


def judging_of(settings: Settings) -> Judging:
    """The rules and facts in force. Raises Failure with every problem."""
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.check import prepare

    try:
        return prepare(settings)
    except ConfigError as error:
        raise Failure(
            f"the settings cannot be used:\n{explained(error.problems)}",
            hint="'mqvitals config check FILE' lists these",
        ) from error


def no_rule(rule_id: str, rules: Iterable[Rule]) -> Failure:
    """The failure to find a rule."""
    from mqvitals_config.problem import did_you_mean

    meant = did_you_mean(rule_id, [str(rule.id) for rule in rules]).removeprefix("; ")
    return Failure(f"there is no rule {rule_id!r}", hint=meant or "'mqvitals rules list' shows all")


def explained(problems: Iterable[Problem]) -> str:
    """Each problem with the line of its file and a caret under the spot, also where the file is a shipped pack."""
    from mqvitals_config.source import excerpt_source
    from mqvitals_config.source import explained as excerpts
    from mqvitals_rules.ruleset import shipped_packs

    def source(path: str) -> str | None:
        text: Callable[[str], str | None] = dict(shipped_packs()).get
        return text(path) or excerpt_source(path)

    return excerpts(problems, source)
