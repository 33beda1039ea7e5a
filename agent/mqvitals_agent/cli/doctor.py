"""``mqvitals doctor``: what a monitor may do at each queue manager, what it may not, and what to ask for."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.threads import run_in_loop

if TYPE_CHECKING:
    from mqvitals_agent.clock import Clock
    from mqvitals_agent.connection.connection import Connector
    from mqvitals_agent.doctor.access import ConnectionContext
    from mqvitals_agent.doctor.finding import DoctorFinding
    from mqvitals_config.settings import Settings

_DESCRIPTION = """\
Connects to each queue manager, opens the queues, sends each DISPLAY command once as the agent would, and reports what
works and what is refused, with the permissions to ask for; which monitoring switches are off; what is wrong with the
reply queue; how far the clocks are apart. Changes nothing at the queue managers. Exit code 0 when all works, 1 when
something is refused, fails or is advised, 2 when nothing could be examined: no package that connects, mistakes in the
settings, no queue manager reached.
"""


@dataclass(frozen=True, slots=True)
class DoctorTarget:
    """A queue manager to be examined, and what is known of it."""

    connector: Connector
    known: ConnectionContext


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``doctor``."""
    parser.description = _DESCRIPTION
    parser.add_argument("--config", metavar="FILE", help="the configuration file (else MQVITALS_CONFIG)")
    parser.add_argument(
        "--queue-manager",
        metavar="NAME",
        action="append",
        default=[],
        help="examine this one only; may be given several times",
    )
    parser.add_argument("--scenario", metavar="S", help="examine the simulated group of this scenario")
    parser.add_argument(
        "--json",
        action="store_true",
        help='print a list of {"queue_manager", "check", "result", "reason", "ask_for": [{"class", "profile", "access"}]}',
    )


def run(arguments: argparse.Namespace) -> int:
    """Examine; returns the exit code. Raises Failure when nothing can be examined."""
    from mqvitals_agent.clock import SystemClock
    from mqvitals_agent.commandline.settings import settings_in_force
    from mqvitals_agent.poll.queries import polling_problems
    from mqvitals_config.source import explained

    settings = settings_in_force(arguments.config, {}, search=arguments.scenario is None).settings
    problems = polling_problems(settings.polling)
    if problems:
        raise Failure(
            f"the settings cannot be used:\n{explained(problems)}",
            hint="'mqvitals config check FILE' lists these; 'mqvitals help configuration' has every key",
        )
    clock = SystemClock()
    if arguments.scenario is not None:
        targets = _simulated_targets(arguments.scenario, settings, clock, arguments.queue_manager)
        others: tuple[str, ...] = ()
    else:
        targets, others = _live_targets(settings, clock, arguments.queue_manager)
    findings, reached = run_in_loop(examine_all(targets, others, settings, clock))
    if arguments.queue_manager:
        # Another one may have been connected to for their sake.
        findings = [each for each in findings if each.queue_manager in arguments.queue_manager]
    _show(findings, as_json=arguments.json)
    return exit_code(findings, reached=reached)


def exit_code(findings: Sequence[DoctorFinding], *, reached: bool) -> int:
    """0 when every check is fine, 1 when one is not, 2 when no queue manager was ``reached``."""
    from mqvitals_agent.doctor.finding import FINE

    if not reached:
        return ExitCode.FAILED
    return ExitCode.DONE if all(finding.result in FINE for finding in findings) else ExitCode.FOUND


async def examine_all(
    targets: Sequence[DoctorTarget], others: Sequence[str], settings: Settings, clock: Clock
) -> tuple[list[DoctorFinding], bool]:
    """Examine the queue managers concurrently, and the ``others``, which have no connection, through one of them.

    Returns the findings, and whether any queue manager was reached.
    """
    from mqvitals_agent.doctor import access, diagnosis
    from mqvitals_agent.doctor.examination import examine, member_query, queries, queries_of_distributed

    asking, elsewhere = queries(settings.polling), queries_of_distributed(settings.polling)
    wait_ms = settings.polling.wait
    seen = await asyncio.gather(*(examine(each.connector, asking, clock, wait_ms, elsewhere) for each in targets))
    # All are of one group: what one of them calls it serves those that could not be asked.
    groups = [diagnosis.group_of(each) for each in seen]
    common = next((name for name in groups if name), None)
    findings: list[DoctorFinding] = []
    for each, target, group in zip(seen, targets, groups, strict=True):
        known = target.known.with_group(common if group is None else group)
        findings += diagnosis.diagnose(each, known)
    members = (
        target.connector for each, target in zip(seen, targets, strict=True) if each.reached and diagnosis.on_zos(each)
    )
    via = next(members, None)
    for name in others:
        asked = None if via is None else await examine(via, (member_query(name),), clock, wait_ms)
        answer = next(iter(asked.asked), None) if asked is not None else None
        findings.append(access.member_finding(name, answer, common, "" if via is None else via.queue_manager))
    return findings, any(each.reached for each in seen)


def _simulated_targets(
    scenario: str, settings: Settings, clock: Clock, names: Sequence[str]
) -> tuple[DoctorTarget, ...]:
    from mqvitals_agent.doctor.access import ConnectionContext
    from mqvitals_agent.simulator.connector import connectors
    from mqvitals_agent.simulator.model import SimulatedGroup
    from mqvitals_agent.simulator.scenario import load_scenario

    world = SimulatedGroup(load_scenario(scenario), clock.now())
    available = connectors(world, clock)
    selected = _selected([each.queue_manager for each in available], names)
    return tuple(
        DoctorTarget(each, ConnectionContext(declared_zone=settings.time_zone_of(each.queue_manager)))
        for each in available
        if each.queue_manager in selected
    )


def _live_targets(
    settings: Settings, clock: Clock, names: Sequence[str]
) -> tuple[tuple[DoctorTarget, ...], tuple[str, ...]]:
    """The queue managers that have a connection of their own, and the names of those that have none."""
    import os
    import time

    from mqvitals_agent.connection.conversation import TimeSource
    from mqvitals_agent.connection.mqi import load_binding
    from mqvitals_agent.connection.mqi_connector import MqiConnector
    from mqvitals_agent.connection.route import routes, without_route
    from mqvitals_agent.doctor.access import ConnectionContext

    found = routes(settings, os.environ)
    if not found:
        raise Failure(
            "the settings lead to no queue manager",
            hint="give connection.channel and queue_managers[].connection.connection_names, or try --scenario quiet",
        )
    lone = without_route(settings)
    selected = _selected([*(route.queue_manager for route in found), *lone], names)
    preferences = {str(each.name): settings.connection_of(each).binding or "auto" for each in settings.queue_managers}
    clocks = TimeSource(clock.now, lambda: time.monotonic_ns() // 1_000_000)
    targets = []
    # The agent may be at work on the same reply queue, and must not lose its answers.
    # The one that is asked for the others need not be among the selected.
    chosen = [route for route in found if route.queue_manager in selected]
    for route in chosen or found[:1]:
        binding = load_binding(preferences[route.queue_manager])
        known = ConnectionContext(
            route,
            settings.time_zone_of(route.queue_manager),
            binding=f"{binding.name} {binding.version}",
            shortcomings=binding.shortcomings(route),
        )
        targets.append(DoctorTarget(MqiConnector(binding, route, clock, clocks, drain=False), known))
    return tuple(targets), tuple(name for name in lone if name in selected)


def _selected(available: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """The available queue managers with these names; all without names.

    Raises Failure for one that is not available.
    """
    for name in names:
        if name not in available:
            raise Failure(f"there is no queue manager {name!r} to examine", hint=f"there are {', '.join(available)}")
    return frozenset(names or available)


def _show(findings: Sequence[DoctorFinding], *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps([finding.as_json() for finding in findings], indent=2))
        return
    from mqvitals_agent.commandline.output import line_width, show
    from mqvitals_agent.doctor.finding import finding_lines

    show(finding_lines(findings, line_width()))
