"""``mqvitals top``: the terminal interface of a store, while an agent writes it or afterwards.

With a scenario, or with a configuration of connections, it starts a child agent, as the demonstration does, unless an
agent writes the store already.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments
from mqvitals_agent.commandline.settings import loaded_settings
from mqvitals_agent.commandline.simulation_arguments import (
    add_scenario_arguments,
    refuse_simulation_options,
    speed_word,
)
from mqvitals_agent.commandline.time_arguments import now_ms
from mqvitals_agent.errors import Failure
from mqvitals_agent.store.file.store_file import writer_of
from mqvitals_tui.child_agent import PROGRAM, agent_clock, exit_message, log_tail, run_child_agent, wait_for_store
from mqvitals_tui.terminal import (
    ForcedExit,
    add_symbols_argument,
    add_theme_argument,
    has_terminal,
    run_app,
    symbols_for,
)

if TYPE_CHECKING:
    from mqvitals_config.load import LoadedSettings
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.config import RuleConfig

_WHAT = "the agent"
_STORE = "top.db"
_DESCRIPTION = """\
Shows a store. When no agent writes it yet it starts one, which ends with the screen: with --scenario on a simulated group, else with a
configuration that gives the connections of the queue managers. Without a store named, that agent writes a temporary one.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``mqvitals top``."""
    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_scenario_arguments(parser)
    parser.add_argument(
        "--fleet", action="store_true", help="begin with all groups under fleet in the configuration; start no agent"
    )
    parser.add_argument("--no-agent", action="store_true", help="only show the store; start no agent")
    add_theme_argument(parser)
    add_symbols_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the store until the user ends it; returns the exit code. Raises Failure."""
    from mqvitals_agent.commandline.settings import rule_config_of
    from mqvitals_agent.store.error import StoreError
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.config import readable_rule_config

    loaded = loaded_settings(arguments)
    settings = loaded.settings
    if arguments.fleet:
        return _show_fleet(settings, arguments)
    if arguments.no_agent and arguments.scenario is not None:
        raise Failure("--scenario needs an agent, and --no-agent forbids one", hint="leave one of them out")
    leads = arguments.scenario is None and not arguments.no_agent and is_reachable(settings)
    if not settings.store.path:
        if not leads and arguments.scenario is None:
            raise Failure("no store is named", hint="name one with --store FILE, MQVITALS_STORE, or store.path")
        if settings.receivers:
            # They would get every alert again each time, and never its end.
            raise Failure(
                "no store is named, and an agent with receivers needs a permanent store",
                hint="name one with --store FILE, MQVITALS_STORE, or store.path",
            )
        return _with_agent(None, loaded, arguments, rule_config_of(settings, defer=True))
    path = Path(settings.store.path)
    writer = None
    if arguments.scenario is not None:
        writer = writer_of(path)
        if writer is None:
            return _with_agent(path, loaded, arguments, rule_config_of(settings, defer=True))
    elif leads and writer_of(path) is None and may_write(path):
        return _with_agent(path, loaded, arguments, rule_config_of(settings, defer=True))
    if not path.exists():
        raise Failure(
            f"there is no store {path}, and queue managers cannot be asked without an agent",
            hint=f"'mqvitals top --scenario busy-morning --store {path}' brings one; 'mqvitals demo' needs no store",
        )
    try:
        # A file that is no store is reported here rather than on an empty screen.
        StoreReader.open(path).close()
    except StoreError as error:
        raise Failure(error.message, hint=error.hint) from error
    if not has_terminal():
        raise Failure(
            "the full-screen interface needs a terminal",
            hint=f"'mqvitals status --store {path}' shows the same as text",
        )
    # A child agent does not start with invalid rules; without one the store is shown with the valid rules.
    code = _show(path, readable_rule_config(settings), now_ms, arguments, settings)
    if writer is not None:
        sys.stderr.write(
            f"mqvitals: this showed the agent that was writing the store already (process {writer});"
            f" no scenario {arguments.scenario} was started\n"
        )
    return code


def _show_fleet(settings: Settings, arguments: argparse.Namespace) -> int:
    """Show the groups of the fleet, and from there any of them. Raises Failure."""
    from mqvitals_rules.ruleset.config import readable_rule_config

    if arguments.scenario is not None:
        raise Failure("--scenario needs an agent, and --fleet starts none", hint="leave one of them out")
    if not settings.fleet:
        raise Failure(
            "no group is named for --fleet", hint="list groups under fleet in the configuration: 'mqvitals help screen'"
        )
    if not has_terminal():
        raise Failure("the full-screen interface needs a terminal", hint="'mqvitals fleet' shows the same as text")
    return _show(None, readable_rule_config(settings), now_ms, arguments, settings)


def is_reachable(settings: Settings) -> bool:
    """Whether the settings have a connection for any queue manager."""
    return any(settings.connection_of(each).is_reachable for each in settings.queue_managers)


def may_write(store: Path) -> bool:
    """Whether a child agent could write the store.

    With read permission alone the store belongs to another user's agent.
    """
    lock = store.with_name(store.name + ".lock")
    there = [each for each in (store, lock) if each.exists()]
    return store not in there or all(os.access(each, os.R_OK | os.W_OK) for each in (*there, store.parent))


def agent_command(path: Path, arguments: argparse.Namespace, config: str | None) -> tuple[str, ...]:
    """The command line of the child agent for the store ``path``, with the settings of ``config``."""
    words = [*PROGRAM, "agent", "--store", str(path)]
    if arguments.scenario is not None:
        words += ["--scenario", arguments.scenario, "--seed", str(arguments.seed)]
        words += ["--speed", speed_word(arguments.speed), "--queues", str(arguments.queues)]
        words += ["--channels", str(arguments.channels), "--members", str(arguments.members)]
        words += ["--qsg", arguments.qsg, "--prefix", arguments.prefix]
    if arguments.interval is not None:
        words += ["--interval", arguments.interval]
    if config is not None:
        words += ["--config", config]
    return tuple(words)


def _with_agent(
    path: Path | None, loaded: LoadedSettings, arguments: argparse.Namespace, rule_config: RuleConfig
) -> int:
    """Show the store ``path`` while a child agent writes it. Raises Failure when the agent does not start.

    Without a path the store is in a temporary folder and is removed with it.
    """
    if arguments.scenario is None:
        refuse_simulation_options(arguments)
    if not has_terminal():
        what = "--config FILE" if arguments.scenario is None else f"--scenario {arguments.scenario}"
        raise Failure(
            "the full-screen interface needs a terminal",
            hint=f"'mqvitals agent {what} --store {path or 'FILE'}' runs the agent alone",
        )
    with _folder() as name:
        folder = Path(name)
        store = folder / _STORE if path is None else path
        command = agent_command(store, arguments, loaded.path)
        with ForcedExit() as forced, run_child_agent(folder, command, os.environ, temporary=True, what=_WHAT) as child:
            forced.include_child(child, folder)
            try:
                wait_for_store(child, folder, lambda: store.exists() and writer_of(store) == str(child.pid), what=_WHAT)
            except Failure as failure:
                if not store.exists():
                    raise
                hints = (failure.hint, "--no-agent shows the store as it is")
                raise Failure(failure.message, hint="; ".join(filter(None, hints))) from failure
            now = agent_clock(store, arguments.speed)
            code = _show(
                store, rule_config, now, arguments, loaded.settings, exit_message(child, folder, what=_WHAT), forced
            )
            if code < 128 and child.poll():
                raise Failure(f"{_WHAT} ended early: {log_tail(folder)}")
    if path is None and code < 128:
        sys.stderr.write(
            "mqvitals: the temporary store is deleted; --store FILE, MQVITALS_STORE or store.path keeps it\n"
        )
    return code


def _folder() -> tempfile.TemporaryDirectory[str]:
    """For the agent's log, and for a temporary store. Raises Failure."""
    try:
        return tempfile.TemporaryDirectory(prefix="mqvitals-top-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Failure(
            f"there is no folder for the agent's log: {error.strerror}", hint="TMPDIR names another"
        ) from error


def _show(
    path: Path | None,
    rule_config: RuleConfig,
    now: Callable[[], int],
    arguments: argparse.Namespace,
    settings: Settings,
    ended: Callable[[], str] = str,
    forced: ForcedExit | None = None,
) -> int:
    from mqvitals_tui.app import MqvitalsApp
    from mqvitals_tui.zones import terminal_zone

    fleet = None
    if settings.fleet:
        from mqvitals_agent.fleet.sources import FleetWatch, sources_of

        fleet = FleetWatch(sources_of(settings.fleet, settings, now_ms), now_ms, settings.tui.fleet_interval / 1000)
    theme = f"mqvitals-{arguments.theme}"
    symbols = symbols_for(settings.tui.symbols)
    zone = terminal_zone(os.environ)
    app = MqvitalsApp(path, rule_config, now, theme, ended, settings=settings, symbols=symbols, zone=zone, fleet=fleet)
    return run_app(app, forced)
