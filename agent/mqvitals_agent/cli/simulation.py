"""A simulated group for a run of the agent: its options, its clock, its queue managers."""

from __future__ import annotations

import argparse
import os
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.cli.run_time import beginning
from mqvitals_agent.cli.watched import Roll, Watched, living
from mqvitals_agent.commandline.arguments import refuse_simulation_options
from mqvitals_agent.commandline.failure import Failure

if TYPE_CHECKING:
    from mqvitals_agent.simulator.model import World
    from mqvitals_agent.simulator.smf.writer import SmfWriter
    from mqvitals_config.settings import Settings


def watched_by(arguments: argparse.Namespace, settings: Settings, store: Path | None) -> Watched:
    """What the options say is to be watched: a simulated group, or without a scenario what the settings lead to.

    Raises Failure: as ``simulated`` and ``living`` do, or for options that only a simulated group has.
    """
    if arguments.scenario is not None:
        return simulated(arguments, settings, store)
    refuse_simulation_options(arguments)
    return living(settings, os.environ)


def simulated(arguments: argparse.Namespace, settings: Settings, store: Path | None, now: int | None = None) -> Watched:
    """The simulated group that the options describe, going on where the ``store`` ended.

    Raises Failure when there is no such scenario, when the store cannot be read, or the folder for SMF records not be made.
    """
    from mqvitals_agent.clock import Clock, SystemClock, VirtualClock
    from mqvitals_agent.simulator.connector import connectors
    from mqvitals_agent.simulator.model import World
    from mqvitals_agent.simulator.scenario import ScenarioError, load_scenario

    try:
        scenario = load_scenario(arguments.scenario)
    except ScenarioError as error:
        raise Failure(str(error)) from error
    created, last = (None, None) if store is None else _past(store)
    interval_ms = settings.polling.interval
    now = time.time_ns() // 1_000_000 if now is None else now
    begin = beginning(now, arguments.speed, arguments.for_ms, last, interval_ms)
    began = begin if created is None else min(created, begin)
    machine = SystemClock()
    clock: Clock = machine if arguments.speed == 1 else VirtualClock(begin, pace=arguments.speed, latest=machine.now)
    world = World(scenario, began, seed=arguments.seed, queues=arguments.queues, channels=arguments.channels)
    # Before anyone else moves the world: what it was like until then the records are to tell.
    smf = None if getattr(arguments, "smf", None) is None else _smf(settings, world, arguments.smf_interval)
    return Watched(
        clock,
        began,
        world.group.site,
        Roll(connectors(world, clock, seed=arguments.seed)),
        f"scenario {arguments.scenario}, seed {arguments.seed}",
        random.Random(arguments.seed).uniform,  # noqa: S311 - chance that comes again is wanted here
        usage_floor_ms=0,
        smf=smf,
        chance_of=lambda name: random.Random(f"{arguments.seed} {name}").random,  # noqa: S311 - the same
    )


def _smf(settings: Settings, world: World, interval_ms: int) -> SmfWriter:
    """What writes the group's records into the folder that is watched. Raises Failure when there can be no such folder."""
    from mqvitals_agent.simulator.smf.writer import SmfWriter

    folder = Path(settings.smf.watch or "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot use the folder {folder}: {error.strerror}", hint="name another with --smf") from error
    return SmfWriter(world, folder, interval_ms)


def _past(store: Path) -> tuple[int | None, int | None]:
    """When a store was made and when its last snapshot was, by the agent's time; None where it does not tell."""
    from mqvitals_agent.store.error import StoreError
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.timestamps import parse_iso

    if not store.exists():
        return None, None
    try:
        with StoreReader.open(store) as reader:
            created, last = reader.meta().created, reader.last_ts()
            first = min((owner.first_ts for owner in reader.owners()), default=None)
    except StoreError:
        # Empty, damaged, of another structure: whether it can be used the writer says, and in better words.
        return None, None
    with suppress(ValueError):
        return parse_iso(created), last
    return first, last
