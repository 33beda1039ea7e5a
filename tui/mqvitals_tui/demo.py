"""``mqvitals demo``: a simulated group with incidents in the terminal interface; without configuration.

A child process is the agent: it polls the simulated queue managers, evaluates rules and writes a store in a temporary
folder; this process shows the store. The path is the real one: PCF bytes, samples, verdicts, alerts, store, screen.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from mqvitals_agent.commandline.simulation_arguments import speed, speed_word
from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_tui.child_agent import PROGRAM, agent_clock, exit_message, log_tail, run_child_agent, wait_for_store
from mqvitals_tui.terminal import (
    ForcedExit,
    add_symbols_argument,
    add_theme_argument,
    has_terminal,
    run_app,
    symbols_for,
)

SCENARIO = "busy-morning"
INTERVAL = "2s"
UNWATCHED = ("--for", "90s")
"""What is played without a terminal, without waiting: alerts fire within it, and it takes seconds."""
_AS_USUAL = 0.0

STORE = "demo.db"
SMF = "smf"
"""The folder beside the store into which the group writes its SMF records."""
SMF_INTERVAL = "30s"
"""Short, so that adapters and dispatchers are seen soon."""
_WHAT = "the agent of the demonstration"
_PROGRAM = (sys.executable, "-P", "-m", "mqvitals_tui.main")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``mqvitals demo``."""
    parser.add_argument(
        "--scenario", metavar="S", default=SCENARIO, help="simulate this scenario (default: %(default)s)"
    )
    parser.add_argument(
        "--interval",
        metavar=INTERVAL,
        default=INTERVAL,
        help="the time from one cycle to the next (default: %(default)s)",
    )
    parser.add_argument(
        "--speed",
        metavar="N",
        type=speed,
        default=_AS_USUAL,
        help="N times real time, or max: without waiting (default: 1; max without a terminal)",
    )
    parser.add_argument(
        "--seed", metavar="N", default="1", help="seed of the scenario's random numbers (default: %(default)s)"
    )
    parser.add_argument("--keep", metavar="FOLDER", help="keep the store and the agent's log in this folder")
    add_theme_argument(parser)
    add_symbols_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration until the user ends it; returns the exit code. Raises Failure."""
    if arguments.keep:
        folder = Path(arguments.keep)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"cannot use the folder {folder}: {error.strerror}") from error
        return _play(folder, arguments)
    try:
        temporary = tempfile.TemporaryDirectory(prefix="mqvitals-demo-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Failure(
            f"there is no folder for the store: {error.strerror}", hint="name one with --keep FOLDER, or with TMPDIR"
        ) from error
    with temporary as name:
        return _play(Path(name), arguments)


def _play(folder: Path, arguments: argparse.Namespace) -> int:
    if has_terminal():
        return run_on_terminal(folder, agent_command(folder, arguments), arguments)
    return run_unattended(folder, agent_command(folder, arguments, None, UNWATCHED), kept=bool(arguments.keep))


def agent_command(
    folder: Path, arguments: argparse.Namespace, usual: float | None = 1.0, more: Sequence[str] = ()
) -> tuple[str, ...]:
    """The command line of the agent. ``usual`` is the speed when none was asked for."""
    pace = usual if arguments.speed == _AS_USUAL else arguments.speed
    return (
        *(*PROGRAM, "agent", "--scenario", arguments.scenario, "--interval", arguments.interval),
        *("--seed", arguments.seed, "--speed", speed_word(pace), "--store", str(folder / STORE)),
        # The port is that of an agent of this machine, which watches real queue managers.
        *("--listen", "off"),
        *("--smf", str(folder / SMF), "--smf-interval", SMF_INTERVAL, *more),
    )


def run_on_terminal(folder: Path, command: Sequence[str], arguments: argparse.Namespace) -> int:
    """Show what the agent writes until the user ends it; returns the exit code.

    Raises Failure when there is no agent.
    """
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.config import load_rule_config
    from mqvitals_tui.app import MqvitalsApp
    from mqvitals_tui.zones import terminal_zone

    rule_config = load_rule_config(Settings(), defer=True)
    with ForcedExit() as forced, agent(folder, command, temporary=not arguments.keep) as child:
        forced.include_child(child, None if arguments.keep else folder)
        wait_for_store(child, folder, (folder / STORE).exists, what=_WHAT)
        now = agent_clock(folder / STORE, 1.0 if arguments.speed == _AS_USUAL else arguments.speed)
        theme, ended = f"mqvitals-{arguments.theme}", exit_message(child, folder, what=_WHAT)
        symbols = symbols_for(arguments.symbols)
        zone = terminal_zone(os.environ)
        app = MqvitalsApp(folder / STORE, rule_config, now, theme, ended, symbols=symbols, zone=zone)
        code = run_app(app, forced)
        if code < 128 and child.poll():
            raise Failure(f"the agent of the demonstration ended early: {log_tail(folder)}")
    return code


def run_unattended(folder: Path, command: Sequence[str], *, kept: bool) -> int:
    """Run the agent to its end and print the status and the alerts; returns the exit code. Raises Failure."""
    with agent(folder, command, temporary=not kept) as child:
        if child.wait():
            raise Failure(f"the agent of the demonstration could not do its work: {log_tail(folder)}")
    store = str(folder / STORE)
    print(_printed("status", "--store", store))
    print("What happened, worst first:\n")
    print(_printed("alerts", "list", "--all", "--store", store))
    if not kept:
        print("On a terminal this is a live screen. To look further: mqvitals demo --keep FOLDER")
    return ExitCode.DONE


def agent(
    folder: Path, command: Sequence[str], *, temporary: bool = False
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """The agent of the demonstration, as ``run_child_agent`` runs it, without the settings of a real group."""
    return run_child_agent(folder, command, _environment(), temporary=temporary, what=_WHAT)


def _printed(*arguments: str) -> str:
    """The output of an mqvitals command for this terminal."""
    environment = _environment()
    if sys.stdout.isatty():
        environment["COLUMNS"] = str(shutil.get_terminal_size().columns)
        if "NO_COLOR" not in os.environ:
            environment.setdefault("MQVITALS_COLOR", "always")
    done = subprocess.run([*_PROGRAM, *arguments], capture_output=True, check=False, env=environment)
    return done.stdout.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    """The environment of child processes, without the settings of a real group: its receivers must get no demo
    alerts."""
    ours = {
        key: value for key, value in os.environ.items() if not key.startswith("MQVITALS_") or key == "MQVITALS_COLOR"
    }
    return {**ours, "PYTHONIOENCODING": "utf-8"}
