"""The settings and rules in force for a command; every problem is shown in its file."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from mqvitals_agent.alerting.labels import Labeller
    from mqvitals_agent.alerting.maintenance import SiteCalendar
    from mqvitals_config.decoding.problem import Problem
    from mqvitals_config.load import LoadedSettings
    from mqvitals_config.settings import Settings
    from mqvitals_rules.compiled_rule import CompiledRule
    from mqvitals_rules.lifecycle.alert import Alert
    from mqvitals_rules.ruleset.config import RuleConfig
    from mqvitals_rules.ruleset.rule import Rule


@contextmanager
def usable_settings() -> Iterator[None]:
    """Within, a ConfigError of the settings, or of the rules that they name, is a Failure with every problem."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.decoding.source import UnreadableError

    try:
        yield
    except UnreadableError as error:
        raise Failure(str(error), hint="--config or MQVITALS_CONFIG names the file") from error
    except ConfigError as error:
        raise Failure(
            f"the settings cannot be used:\n{explained(error.problems)}",
            hint="'mqvitals config check FILE' lists these; 'mqvitals help configuration' has every key",
        ) from error


def settings_in_force(path: str | None, flags: Mapping[str, object], *, search: bool = True) -> LoadedSettings:
    """The settings for a command: ``path`` is its ``--config``, ``flags`` its arguments (``vars(arguments)`` will do).

    Without ``search`` only a file that is named is read: a simulation or a recording is not the site's own group.
    Raises Failure with every problem.
    """
    from mqvitals_config.load import load_settings

    with usable_settings():
        return load_settings(path, os.environ, flags, search=search)


def loaded_settings(arguments: argparse.Namespace) -> LoadedSettings:
    """The settings in force, with the flags ``--store`` and, of a screen, ``--symbols`` alone. Raises Failure."""
    search = getattr(arguments, "scenario", None) is None
    flags = {"store": arguments.store, "symbols": getattr(arguments, "symbols", None)}
    return settings_in_force(arguments.config, flags, search=search)


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings in force, with all flags. Raises Failure."""
    return settings_in_force(arguments.config, vars(arguments)).settings


def rules_of(settings: Settings) -> tuple[Rule, ...]:
    """The shipped rules and those of the settings' files. Raises Failure with every problem."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.ruleset.pack import load_rules
    from mqvitals_rules.vocabulary.tables import KINDS

    try:
        return load_rules(KINDS, settings.rules.files)
    except ConfigError as error:
        raise Failure(
            f"the rules cannot be used:\n{explained(error.problems)}", hint="'mqvitals rules check FILE' lists these"
        ) from error


def rule_config_of(settings: Settings, *, defer: bool = False) -> RuleConfig:
    """The rules and facts in force; ``defer`` as for ``load_rule_config``. Raises Failure with every problem."""
    from mqvitals_rules.ruleset.config import load_rule_config

    with usable_settings():
        return load_rule_config(settings, defer=defer)


def no_rule(rule_id: str, rules: Iterable[Rule]) -> Failure:
    """The failure to find a rule."""
    from mqvitals_config.decoding.problem import suggestion

    meant = suggestion(rule_id, [str(rule.id) for rule in rules])
    return Failure(f"there is no rule {rule_id!r}", hint=meant or "'mqvitals rules list' shows all")


def explained(problems: Iterable[Problem]) -> str:
    """Each problem with the line of its file and a caret under the spot, also where the file is shipped."""
    from mqvitals_config.decoding.source import excerpt_source
    from mqvitals_config.decoding.source import explained as excerpts
    from mqvitals_rules.ruleset.pack import shipped_packs
    from mqvitals_rules.testing.cases import shipped_tests

    def source(path: str) -> str | None:
        return excerpt_source(path) or dict((*shipped_packs(), *shipped_tests().values())).get(path)

    return excerpts(problems, source)


def readable_settings(arguments: argparse.Namespace) -> Settings:
    """The settings in force, or none where they cannot be used: mistakes must not keep anyone from looking at alerts."""
    from mqvitals_config.settings import Settings

    try:
        return loaded_settings(arguments).settings
    except Failure:
        return Settings()


def readable_rules(arguments: argparse.Namespace) -> tuple[Rule, ...]:
    """The rules that can be read."""
    from mqvitals_rules.ruleset.pack import read_rules
    from mqvitals_rules.vocabulary.tables import KINDS

    return read_rules(KINDS, readable_settings(arguments).rules.files)[0]


def readable_rules_of(arguments: argparse.Namespace) -> Callable[[Alert], CompiledRule | None]:
    """What gives the rule of an alert as it is in force for its object; None where it is not, or cannot be read.

    The rules are read at the first alert.
    """
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.compiled_rule import compile_rule
    from mqvitals_rules.ruleset.config import tuned_rule
    from mqvitals_rules.vocabulary.tables import KINDS

    known: dict[str, Rule] = {}

    def rule_of(alert: Alert) -> CompiledRule | None:
        if not known:
            known.update((str(rule.id), rule) for rule in readable_rules(arguments))
        rule = known.get(alert.key.rule)
        if rule is None:
            return None
        try:
            return tuned_rule(readable_settings(arguments), rule, alert.scope) or compile_rule(rule, KINDS)
        except ConfigError:
            return None

    return rule_of


def labeller_for(arguments: argparse.Namespace, groups: Collection[str]) -> Labeller:
    """Gives the alerts of a store with these groups their labels; without the site's where the settings cannot be used."""
    from mqvitals_agent.alerting.configured import site_labels
    from mqvitals_agent.alerting.labels import Labeller

    try:
        settings = loaded_settings(arguments).settings
    except Failure:
        return Labeller.of_store(None, groups)
    return Labeller.of_store(settings.name, groups, site_labels(settings.labels))


def calendar_for(arguments: argparse.Namespace) -> SiteCalendar:
    """The site's time intervals and maintenance windows; none where the settings cannot be used."""
    from mqvitals_agent.alerting.configured import calendar_of
    from mqvitals_agent.alerting.maintenance import NO_CALENDAR

    try:
        return calendar_of(loaded_settings(arguments).settings)
    except Failure:
        return NO_CALENDAR


def family_ranks(arguments: argparse.Namespace, alerts: Iterable[Alert]) -> Mapping[str, int]:
    """Rule id -> rank in its family; nothing is read, and it is empty, while no two alerts of a family are firing."""
    firing = Counter((alert.family, alert.scope) for alert in alerts if alert.family and alert.ended is None)
    if all(count < 2 for count in firing.values()):
        return {}
    return {str(rule.id): rule.family.rank for rule in readable_rules(arguments) if rule.family}
