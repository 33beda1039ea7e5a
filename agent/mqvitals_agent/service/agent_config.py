"""The configuration of a run: settings under flags, with the rules they name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import EventSettings

if TYPE_CHECKING:
    from mqvitals_agent.alerting.labels import ObjectLabels
    from mqvitals_agent.alerting.maintenance import SiteCalendar
    from mqvitals_agent.alerting.routing import Route
    from mqvitals_agent.service.monitored_group import MonitoredGroup
    from mqvitals_config.decoding.secret import Secret
    from mqvitals_config.receivers.receiver import ReceiverSettings
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.config import RuleConfig


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Valid settings and rules.

    ``route`` is the tree by which alerts come to receivers, ``labels`` are those that the site gives to objects,
    ``calendar`` has its time intervals and maintenance windows. ``path`` is the settings' file, None without one;
    ``empty``: that file holds no settings.
    """

    settings: Settings
    rule_config: RuleConfig
    route: Route
    labels: tuple[ObjectLabels, ...]
    calendar: SiteCalendar
    path: str | None
    empty: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The settings' file and the rule files it names."""
        own = () if self.path is None else (self.path,)
        return (*own, *map(str, self.settings.rules.files))

    def for_group(self, group: MonitoredGroup) -> AgentConfig:
        """The configuration with what a simulated group has and the settings do not name: the name of its site, and what
        it has for browsing, which a site switches on itself."""
        settings, place = self.settings, Place("scenario")
        if settings.name is None and group.site:
            settings = replace(settings, name=LocatedText(group.site, place))
        if group.dead_letters:
            settings = replace(settings, polling=replace(settings.polling, dead_letters=True))
        if group.event_queues and settings.polling.events is None:
            events = EventSettings(tuple(LocatedText(each, place) for each in group.event_queues))
            settings = replace(settings, polling=replace(settings.polling, events=events))
        return replace(self, settings=settings)


def read_agent_config(
    config: str | None, flags: Mapping[str, object], webhooks: Sequence[str | Secret] = ()
) -> AgentConfig:
    """Read settings and rules; ``webhooks`` are addresses of further receivers, or the files that hold them.

    For a simulated group (``scenario`` in ``flags``) only a named file is read: it is not the site's own group.
    Raises ConfigError with every problem, UnreadableError (a ConfigError) when the file cannot be read.
    """
    from mqvitals_agent.alerting.configured import alerting_problems, calendar_of, route_tree, site_labels
    from mqvitals_agent.poll.queries import polling_problems
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.load import load_settings
    from mqvitals_rules.ruleset.config import load_rule_config

    loaded = load_settings(config, os.environ, flags, search=flags.get("scenario") is None)
    settings = loaded.settings
    problems = [*polling_problems(settings.polling), *alerting_problems(settings)]
    try:
        rule_config = load_rule_config(settings)
    except ConfigError as error:
        raise ConfigError([*error.problems, *problems]) from error
    if problems:
        raise ConfigError(problems)
    receivers = with_webhooks(settings.receivers, webhooks)
    route = route_tree(settings.route, settings.receivers, receivers[len(settings.receivers) :])
    labels = site_labels(settings.labels)
    return AgentConfig(
        replace(settings, receivers=receivers),
        rule_config,
        route,
        labels,
        calendar_of(settings),
        loaded.path,
        loaded.empty,
    )


def with_webhooks(
    receivers: Sequence[ReceiverSettings], webhooks: Sequence[str | Secret]
) -> tuple[ReceiverSettings, ...]:
    """``receivers`` and one for each address, named webhook-1, webhook-2 and so on, skipping names that are taken.

    The same receivers have the same names at every start: the store knows them by their names.
    """
    from mqvitals_config.receivers.http import webhook_of

    taken = {str(receiver.name) for receiver in receivers}
    free = (name for number in range(1, 1_000_000) if (name := f"webhook-{number}") not in taken)
    return (*receivers, *(webhook_of(url, name=name) for url, name in zip(webhooks, free, strict=False)))
