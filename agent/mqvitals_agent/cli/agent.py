"""``mqvitals agent``: poll, judge, store and tell, until it is stopped."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_simulation_arguments, add_smf_arguments
from mqvitals_agent.commandline.failure import Failure

if TYPE_CHECKING:
    from mqvitals_agent.cli.agent_settings import InForce
    from mqvitals_agent.cli.record import Recorder
    from mqvitals_agent.cli.watched import Watched
    from mqvitals_config.secret import Secret

_DESCRIPTION = """\
Asks the queue managers of a group how they are, on the interval's grid, judges the answers by the rules, keeps samples and alerts in the store and
tells receivers of alerts. It runs until SIGTERM (exit code 0) or Ctrl-C (130), or for the time that --for gives; SIGHUP reads settings and rules again,
as does a change of the configuration file or of a rule file that it names.
The log goes to standard error, one line for each event. Which queue managers there are, and how they are reached, the configuration says;
with --scenario they are simulated.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``agent``."""
    parser.description = _DESCRIPTION
    parser.add_argument("--config", metavar="FILE", help="the configuration file (else MQVITALS_CONFIG)")
    parser.add_argument("--store", metavar="PATH", help="the store to write (else MQVITALS_STORE, else store.path)")
    add_simulation_arguments(parser, limited=False)
    add_smf_arguments(parser)
    parser.add_argument(
        "--webhook", metavar="URL", action="append", default=[], type=_address, help="tell this receiver of alerts too"
    )
    parser.add_argument(
        "--webhook-file",
        metavar="FILE",
        action="append",
        dest="webhook",
        type=address_file,
        help="the same, with the address in a file: the process list shows it to nobody",
    )
    parser.add_argument("--log-format", choices=("text", "json"), help="how the log is written (log.format)")


def run(arguments: argparse.Namespace) -> int:
    """Run the agent; returns the exit code."""
    from mqvitals_agent.cli.agent_settings import in_force_at_start
    from mqvitals_agent.cli.simulation import watched_by

    in_force = in_force_at_start(arguments.config, vars(arguments), arguments.webhook)
    if in_force.settings.store.path is None:
        raise Failure("no store is named", hint="add --store PATH, or set MQVITALS_STORE or store.path")
    path = Path(in_force.settings.store.path)
    return run_watching(arguments, in_force, watched_by(arguments, in_force.settings, path), path)


def run_watching(
    arguments: argparse.Namespace,
    in_force: InForce,
    watched: Watched,
    path: Path,
    *,
    recorder: Recorder | None = None,
) -> int:
    """Run the agent on what is to be watched; returns the exit code. Raises Failure when it cannot begin.

    ``recorder`` writes down every exchange. Settings and rules are then not read again: a recording has one interval.
    """
    from mqvitals_agent.bounded_call import run_in_loop
    from mqvitals_agent.cli.agent_settings import read_in_force
    from mqvitals_agent.cli.live import Run, claim
    from mqvitals_agent.cli.service_manager import ServiceManager
    from mqvitals_agent.journal import Journal

    log = in_force.settings.log
    journal = Journal(sys.stderr, watched.clock, form=log.format, level=log.level)
    # The store remembers when the scenario began, and a second agent learns of the first before anything begins.
    claim(path, in_force.settings, watched, journal)

    async def live() -> int:
        living = Run(
            in_force,
            watched,
            path,
            journal,
            for_ms=arguments.for_ms,
            reread=None if recorder else lambda: read_in_force(arguments.config, vars(arguments), arguments.webhook),
            recorder=recorder,
            manager=ServiceManager.of(os.environ),
        )
        return await living.live()

    return run_in_loop(live(), watched.clock)


def address_file(text: str) -> Secret:
    """The file that holds a receiver's address. Raises ArgumentTypeError for what is no path."""
    from mqvitals_config.problem import LocatedText, Place
    from mqvitals_config.receiver import secret_file

    try:
        return secret_file(LocatedText(text, Place("--webhook-file")))
    except ValueError as error:
        # An address in the place of a path is not told.
        raise argparse.ArgumentTypeError(str(error)) from error


def _address(text: str) -> str:
    """A receiver's address. Raises ArgumentTypeError, which does not tell the address."""
    from mqvitals_config.secret import checked_address

    try:
        return checked_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
