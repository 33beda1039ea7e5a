"""What the agent goes by: settings under its flags, and the rules and facts they name. Read at the start and on SIGHUP."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.failure import Failure

if TYPE_CHECKING:
    from mqvitals_config.problem import Problem
    from mqvitals_config.receiver import Receiver
    from mqvitals_config.secret import Secret
    from mqvitals_config.settings import Settings
    from mqvitals_rules.rule_config import RuleConfig


@dataclass(frozen=True, slots=True)
class InForce:
    """Settings and rules that have no mistakes. ``path`` is the settings' file, None without one."""

    settings: Settings
    judging: RuleConfig
    path: str | None
    empty: bool = False
    """Whether that file says nothing at all."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that they stand in."""
        own = () if self.path is None else (self.path,)
        return (*own, *map(str, self.settings.rules.files))


def read_in_force(config: str | None, flags: Mapping[str, object], webhooks: Sequence[str | Secret] = ()) -> InForce:
    """Read settings and rules; ``webhooks`` are addresses of further receivers, or the files that hold them.

    For a simulated group (``scenario`` in ``flags``) only a file that is named is read: it is not the site's own group.

    Raises ConfigError with every problem, UnreadableError (a ConfigError) when the file cannot be read.
    """
    from mqvitals_agent.poll.errand import polling_problems
    from mqvitals_config.load import load_settings
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.rule_config import load_rule_config

    loaded = load_settings(config, os.environ, flags, search=flags.get("scenario") is None)
    settings = loaded.settings
    problems = list(polling_problems(settings.polling))
    try:
        judging = load_rule_config(settings)
    except ConfigError as error:
        raise ConfigError([*error.problems, *problems]) from error
    if problems:
        raise ConfigError(problems)
    receivers = with_webhooks(settings.receivers, webhooks)
    return InForce(replace(settings, receivers=receivers), judging, loaded.path, loaded.empty)


def in_force_at_start(
    config: str | None, flags: Mapping[str, object], webhooks: Sequence[str | Secret] = ()
) -> InForce:
    """As ``read_in_force``; raises Failure with every problem."""
    from mqvitals_agent.commandline.settings import explained
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError

    try:
        return read_in_force(config, flags, webhooks)
    except UnreadableError as error:
        raise Failure(str(error), hint="--config or MQVITALS_CONFIG names the file") from error
    except ConfigError as error:
        raise Failure(
            f"the settings cannot be used:\n{explained(error.problems)}",
            hint="'mqvitals config check FILE' lists these; 'mqvitals help configuration' has every key",
        ) from error


def with_webhooks(receivers: Sequence[Receiver], webhooks: Sequence[str | Secret]) -> tuple[Receiver, ...]:
    """``receivers`` and one for each address, called webhook-1, webhook-2 and so on, but for names that are taken.

    The same receivers have the same names at every start: by these the store knows what is owed to whom.
    """
    from mqvitals_config.receiver import receiver_of

    taken = {str(receiver.name) for receiver in receivers}
    free = (name for number in range(1, 1_000_000) if (name := f"webhook-{number}") not in taken)
    return (*receivers, *(receiver_of(url, name=name) for url, name in zip(webhooks, free, strict=False)))


def told(problems: Sequence[Problem]) -> str:
    """How many problems there are, in words."""
    return "there is a mistake" if len(problems) == 1 else f"there are {len(problems)} mistakes"
