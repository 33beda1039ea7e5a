"""``mqvitals doctor``: checks the connections, and which permissions the monitor has and lacks."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_config_argument
from mqvitals_agent.commandline.simulation_arguments import add_group_arguments, refuse_simulation_options
from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.threads import run_in_loop

if TYPE_CHECKING:
    from mqvitals_agent.clock import Clock
    from mqvitals_agent.doctor.finding import DoctorFinding
    from mqvitals_agent.service.monitored_group import PollTargets
    from mqvitals_config.settings import Settings

_DESCRIPTION = """\
Connects to each queue manager, opens the queues, sends each DISPLAY command once as the agent would, and reports what
works and what is refused, with the permissions to request; which monitoring switches are off; problems of the reply
queue; the difference of the clocks. Changes nothing at the queue managers. An engine of
remote_write is sent samples of a throw-away series, one of them 90 minutes late; that of history is asked whether it
has samples of this group. Exit code 0 when all works, 1 when
something is refused, fails or is advised, 2 when nothing could be examined: no package that connects, mistakes in the
settings, no queue manager reached.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``doctor``."""
    parser.description = _DESCRIPTION
    add_config_argument(parser)
    parser.add_argument(
        "--queue-manager",
        metavar="NAME",
        action="append",
        default=[],
        help="examine this one only; may be given several times",
    )
    parser.add_argument("--scenario", metavar="S", help="examine the simulated group of this scenario")
    add_group_arguments(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help='print a list of {"queue_manager", "check", "result", "reason", "ask_for": [{"class", "profile",'
        ' "access"}]}',
    )


def run(arguments: argparse.Namespace) -> int:
    """Examine; returns the exit code. Raises Failure when nothing can be examined."""
    from mqvitals_agent.commandline.settings import settings_in_force, usable_settings
    from mqvitals_agent.poll.queries import polling_problems
    from mqvitals_config.decoding.problem import ConfigError

    settings = settings_in_force(arguments.config, {}, search=arguments.scenario is None).settings
    with usable_settings():
        if problems := polling_problems(settings.polling):
            raise ConfigError(problems)
    clock, targets = _targets(arguments, settings)
    findings, reached = run_in_loop(examine_all(targets, settings, clock))
    if settings.remote_write and not arguments.queue_manager:
        findings += _engines(settings)
    if not arguments.queue_manager:
        findings += _history(settings)
    if arguments.queue_manager:
        # Another one may have been connected to for their sake.
        findings = [each for each in findings if each.queue_manager in arguments.queue_manager]
    _show(findings, as_json=arguments.json)
    return exit_code(findings, reached=reached)


def _engines(settings: Settings) -> list[DoctorFinding]:
    """What engines of remote write take, by the clock of this machine."""
    from secrets import token_hex

    from mqvitals_agent.clock import SystemClock
    from mqvitals_agent.remote_write.probe import probe_engines

    return run_in_loop(probe_engines(settings.remote_write, SystemClock(), token_hex(8)))


def _history(settings: Settings) -> list[DoctorFinding]:
    """What the engine answers from which history is read."""
    from mqvitals_config.sections.history import PROMETHEUS

    if settings.history.backend != PROMETHEUS:
        return []
    from mqvitals_agent.clock import SystemClock
    from mqvitals_agent.engine_history.probe import probe_history

    return probe_history(settings, SystemClock())


def exit_code(findings: Sequence[DoctorFinding], *, reached: bool) -> int:
    """0 when every check is fine, 1 when one is not, 2 when no queue manager was ``reached``."""
    from mqvitals_agent.doctor.finding import FINE

    if not reached:
        return ExitCode.FAILED
    return ExitCode.DONE if all(finding.result in FINE for finding in findings) else ExitCode.FOUND


async def examine_all(targets: PollTargets, settings: Settings, clock: Clock) -> tuple[list[DoctorFinding], bool]:
    """Examine the queue managers concurrently, and those that have no connection through one of them.

    Returns the findings, and whether any queue manager was reached.
    """
    from mqvitals_agent.doctor import access, diagnosis
    from mqvitals_agent.doctor.examination import examine, member_query, queries, queries_of_distributed

    asking, elsewhere = queries(settings.polling), queries_of_distributed(settings.polling)
    wait_ms, connectors = settings.polling.wait, targets.connectors
    seen = await asyncio.gather(*(examine(each, asking, clock, wait_ms, elsewhere) for each in connectors))
    # All are of one group: what one of them calls it serves those that could not be asked.
    groups = [diagnosis.group_of(each) for each in seen]
    common = next((name for name in groups if name), None)
    findings: list[DoctorFinding] = []
    waiting = _waiting(settings)
    for each, connector, group in zip(seen, connectors, groups, strict=True):
        zone = settings.time_zone_of(connector.queue_manager)
        known = access.connection_context(connector, zone, common if group is None else group, waiting)
        findings += diagnosis.diagnose(each, known)
    members = [
        connector for each, connector in zip(seen, connectors, strict=True) if each.reached and diagnosis.on_zos(each)
    ]
    for name in targets.others:
        if not members:
            findings.append(access.member_finding(name, None, common))
            continue
        asked = await examine(members[0], (member_query(name),), clock, wait_ms)
        answer = next(iter(asked.asked), None)
        findings.append(access.member_finding(name, answer, common, members[0].queue_manager))
    return findings, any(each.reached for each in seen)


def _waiting(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """Id of a console message -> the rules that wait for it; none where no console is followed."""
    if not settings.console.follow:
        return {}
    from mqvitals_agent.commandline.settings import usable_settings
    from mqvitals_rules.ruleset.config import load_rule_config

    with usable_settings():
        return load_rule_config(settings).rules.waiting


def _targets(arguments: argparse.Namespace, settings: Settings) -> tuple[Clock, PollTargets]:
    """The clock and the queue managers that are named; all where none is. Raises Failure, BindingError."""
    from mqvitals_agent.clock import SystemClock
    from mqvitals_agent.service.monitored_group import (
        PollTargets,
        SimulationOptions,
        live_targets,
        simulated_group,
    )

    names = arguments.queue_manager
    if arguments.scenario is not None:
        options = SimulationOptions(
            arguments.scenario, members=arguments.members, qsg=arguments.qsg, prefix=arguments.prefix
        )
        group = simulated_group(options, settings, None)
        found = group.targets.connectors
        _check_names([each.queue_manager for each in found], names)
        return group.clock, PollTargets([each for each in found if not names or each.queue_manager in names])
    refuse_simulation_options(arguments)
    clock = SystemClock()
    # The agent may be at work on the same reply queue, and must not lose its answers.
    return clock, live_targets(_narrowed(settings, names), os.environ, clock, drain=False)


def _narrowed(settings: Settings, names: Sequence[str]) -> Settings:
    """The settings with these queue managers only; where none of them has a connection, with one to ask for them."""
    if not names:
        return settings
    known = settings.queue_managers
    _check_names([str(each.name) for each in known], names)
    chosen = tuple(each for each in known if each.name in names)
    reachable = [each for each in known if settings.connection_of(each).is_reachable]
    if not any(each in reachable for each in chosen):
        chosen += tuple(reachable[:1])
    return replace(settings, queue_managers=chosen)


def _check_names(available: Sequence[str], names: Sequence[str]) -> None:
    """Raises Failure for a name that is not available."""
    for name in names:
        if name not in available:
            hint = f"there are {', '.join(available)}" if available else "the settings name none"
            raise Failure(f"there is no queue manager {name!r} to examine", hint=hint)


def _show(findings: Sequence[DoctorFinding], *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps([finding.as_json() for finding in findings], indent=2))
        return
    from mqvitals_agent.commandline.output import line_width, show
    from mqvitals_agent.doctor.finding import finding_lines

    show(finding_lines(findings, line_width()))
