"""A simulated group for a run of the agent: its options, its clock, its queue managers."""

from __future__ import annotations

import argparse
import os
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.cli.failure import Failure
from mqvitals_agent.cli.run_time import beginning
from mqvitals_agent.cli.speed_argument import speed
from mqvitals_agent.cli.watched import Roll, Watched, living

if TYPE_CHECKING:
    from collections.abc import Callable

    from mqvitals_agent.simulator.model import World
    from mqvitals_agent.simulator.smf.writer import SmfWriter
    from mqvitals_config.settings import Settings

MOST_QUEUES, MOST_CHANNELS = 10_000, 2000
SMF_INTERVAL_MS = 60_000
_SECOND_MS = 1000


def add_simulation_arguments(parser: argparse.ArgumentParser, *, limited: bool) -> None:
    """Declare the options of a simulated group, of a run's length (needed when it is ``limited``) and of its interval."""
    add_scenario_arguments(parser)
    parser.add_argument(
        "--for", dest="for_ms", metavar="10m", type=duration, required=limited, help="end after so much of its time"
    )


def add_scenario_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a simulated group, of its pace and of the interval."""
    parser.add_argument("--scenario", metavar="S", help="simulate the group of this scenario")
    parser.add_argument(
        "--seed", metavar="N", type=_seed, default=1, help="another course of the scenario (default: 1)"
    )
    parser.add_argument("--queues", metavar="N", type=_up_to(MOST_QUEUES), default=0, help="so many queues more")
    parser.add_argument("--channels", metavar="N", type=_up_to(MOST_CHANNELS), default=0, help="so many channels more")
    parser.add_argument(
        "--speed",
        metavar="N",
        type=speed,
        default=1.0,
        help="N times as fast as life (default: 1); max: without waiting. Never beyond now: a faster run begins so far back that"
        " --for ends now, or a day ago, and goes on at life's pace from now on",
    )
    parser.add_argument("--interval", metavar="2s", help="the time from one cycle to the next (polling.interval)")


def add_smf_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the folder of SMF records, and of those that a simulated group writes into it."""
    parser.add_argument(
        "--smf",
        metavar="FOLDER",
        help="read the files of SMF records that come into this folder (smf.watch); a simulated group writes its own there",
    )
    parser.add_argument(
        "--smf-interval",
        metavar="1m",
        type=_whole_seconds,
        default=SMF_INTERVAL_MS,
        help="the statistics interval of a simulated group (default: 1m)",
    )


def watched_by(arguments: argparse.Namespace, settings: Settings, store: Path | None) -> Watched:
    """What the options say is to be watched: a simulated group, or without a scenario what the settings lead to.

    Raises Failure: as ``simulated`` and ``living`` do, or for options that only a simulated group has.
    """
    if arguments.scenario is not None:
        return simulated(arguments, settings, store)
    refuse_simulation_options(arguments)
    return living(settings, os.environ)


def refuse_simulation_options(arguments: argparse.Namespace) -> None:
    """Raises Failure for options that only a simulated group has."""
    usual_of = {"seed": 1, "queues": 0, "channels": 0, "speed": 1.0, "smf_interval": SMF_INTERVAL_MS}
    for option, usual in usual_of.items():
        if getattr(arguments, option, usual) != usual:
            raise Failure(
                f"--{option.replace('_', '-')} is for a simulated group", hint="name a --scenario, or leave it out"
            )


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
    from mqvitals_rules.moment import parse

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
        return parse(created), last
    return first, last


def duration(text: str) -> int:
    """A length of time on the command line, ms. Raises ArgumentTypeError."""
    from mqvitals_config.scalars import parse_duration

    try:
        length = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if not length:
        raise argparse.ArgumentTypeError("must be longer than nothing")
    return length


def _whole_seconds(text: str) -> int:
    """A length of time on the command line that is one of whole seconds, ms. Raises ArgumentTypeError."""
    length = duration(text)
    if length % _SECOND_MS:
        raise argparse.ArgumentTypeError("must be of whole seconds")
    return length


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"a seed is a whole number of at most nine digits, not {text!r}")
    return int(text)


def _up_to(most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) > most:
            raise argparse.ArgumentTypeError(f"expected a whole number up to {most}, not {text!r}")
        return int(text)

    return number
