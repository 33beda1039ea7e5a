"""``mqvitals agent``: runs the agent."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_config_argument, webhook_address, webhook_file
from mqvitals_agent.commandline.simulation_arguments import (
    add_group_folder_argument,
    add_simulation_arguments,
    add_smf_arguments,
    refuse_simulation_options,
)
from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from mqvitals_agent.service.agent_config import AgentConfig
    from mqvitals_agent.service.monitored_group import MonitoredGroup
    from mqvitals_agent.service.run import RunOptions
    from mqvitals_config.decoding.secret import Secret
    from mqvitals_config.settings import Settings

_DESCRIPTION = """\
Polls the queue managers of a group at fixed intervals, evaluates the rules, stores samples and alerts, and notifies
receivers. It runs until SIGTERM (exit code 0) or Ctrl-C (130), or for the time that --for gives. SIGHUP reads
settings and rules again, as does a change of the configuration file or of a rule file that it names. The log goes to
standard error, one line for each event. The configuration lists the queue managers and how to connect to them; with
--scenario they are simulated.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``agent``."""
    parser.description = _DESCRIPTION
    add_config_argument(parser)
    parser.add_argument("--store", metavar="PATH", help="the store to write (else MQVITALS_STORE, else store.path)")
    add_simulation_arguments(parser, limited=False)
    add_group_folder_argument(parser)
    add_smf_arguments(parser)
    parser.add_argument(
        "--webhook", metavar="URL", action="append", default=[], type=webhook_address, help="notify this receiver too"
    )
    parser.add_argument(
        "--webhook-file",
        metavar="FILE",
        action="append",
        dest="webhook",
        type=webhook_file,
        help="the same, with the address in a file, so that the process list does not show it",
    )
    parser.add_argument(
        "--listen", metavar="ADDRESS", help="where it serves /metrics and its status, such as 127.0.0.1:9157, or off"
    )
    parser.add_argument("--log-format", choices=("text", "json"), help="how the log is written (log.format)")


def run(arguments: argparse.Namespace) -> int:
    """Run the agent; returns the exit code. Raises Failure when it cannot begin."""
    from mqvitals_agent.service.run import run_agent

    config = agent_config(arguments, arguments.webhook)
    if config.settings.store.path is None:
        raise Failure("no store is named", hint="add --store PATH, or set MQVITALS_STORE or store.path")
    return run_agent(run_options(arguments, config, Path(config.settings.store.path)))


def agent_config(arguments: argparse.Namespace, webhooks: Sequence[str | Secret] = ()) -> AgentConfig:
    """The settings under the flags, and their rules. Raises Failure with every problem."""
    from mqvitals_agent.commandline.settings import usable_settings
    from mqvitals_agent.service.agent_config import read_agent_config

    with usable_settings():
        return read_agent_config(arguments.config, vars(arguments), webhooks)


def run_options(arguments: argparse.Namespace, config: AgentConfig, store: Path, now: int | None = None) -> RunOptions:
    """What the arguments of ``agent`` or ``record`` start; ``now`` (ms UTC) is the machine's time. Raises Failure."""
    from mqvitals_agent.service.agent_config import read_agent_config
    from mqvitals_agent.service.process import ServiceManager
    from mqvitals_agent.service.run import RunOptions

    return RunOptions(
        config,
        monitored_group(arguments, config.settings, store, now),
        store,
        for_ms=arguments.for_ms,
        reread=lambda: read_agent_config(arguments.config, vars(arguments), arguments.webhook),
        manager=ServiceManager.of(os.environ),
    )


def monitored_group(
    arguments: argparse.Namespace, settings: Settings, store: Path | None, now: int | None = None
) -> MonitoredGroup:
    """The simulated group of ``--scenario``, else the queue managers of the settings. Raises Failure.

    Options of a simulation without ``--scenario`` are a Failure too.
    """
    from mqvitals_agent.service.monitored_group import SimulationOptions, live_group, simulated_group

    if arguments.scenario is None:
        refuse_simulation_options(arguments)
        return live_group(settings, os.environ)
    options = SimulationOptions(
        arguments.scenario,
        arguments.seed,
        arguments.queues,
        arguments.channels,
        arguments.members,
        arguments.qsg,
        arguments.prefix,
        arguments.speed,
        arguments.for_ms,
        None if getattr(arguments, "smf", None) is None else arguments.smf_interval,
        Path(folder) if (folder := getattr(arguments, "group_folder", None)) else None,
    )
    return simulated_group(options, settings, store, now)
