"""The queue managers that a run of the agent watches: simulated ones, or living ones by the settings' connections."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqvitals_agent.clock import Clock, SystemClock
from mqvitals_agent.commandline.failure import Failure

if TYPE_CHECKING:
    from mqvitals_agent.connection.connection import Connector
    from mqvitals_agent.simulator.smf.writer import SmfWriter
    from mqvitals_config.settings import Settings

Uniform = Callable[[float, float], float]


@dataclass(frozen=True, slots=True)
class Roll:
    """Who is asked: those with a connector, and ``others``, members of the group that are asked about through one of them."""

    connectors: Sequence[Connector]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watched:
    """What a run watches.

    ``began`` (ms since 1970 UTC) is what a new store remembers as its beginning. ``site`` is the group's name where the
    settings give none; empty: the queue-sharing group's own. ``source`` says in the store where its samples come from.
    ``uniform`` is chance, ``usage_floor_ms`` the least time between two DISPLAY USAGE. ``roll_of`` makes the roll from other
    settings, after SIGHUP; None: it stays as it is. ``smf`` writes the SMF records of a simulated group. ``machine``: the clock of what is real in every run, files and people.
    ``chance_of`` makes the chance by which a receiver's pauses are drawn, by its name.
    """

    clock: Clock
    began: int
    site: str
    roll: Roll
    source: str
    uniform: Uniform
    usage_floor_ms: int
    roll_of: Callable[[Settings], Roll] | None = None
    smf: SmfWriter | None = None
    machine: Clock = field(default_factory=SystemClock)
    chance_of: Callable[[str], Callable[[], float]] = field(default=lambda _: random.random)


def living(settings: Settings, environ: Mapping[str, str]) -> Watched:
    """The queue managers that the settings tell how to reach, with this machine's clock.

    Raises Failure: no queue manager has a connection, or no package that makes one can be used.
    """
    from mqvitals_agent.poll.schedule import USAGE_FLOOR_MS

    clock = SystemClock()

    def roll_of(settings: Settings) -> Roll:
        return living_roll(settings, environ, clock)

    roll = roll_of(settings)
    return Watched(clock, clock.now(), "", roll, "living queue managers", random.uniform, USAGE_FLOOR_MS, roll_of)


def living_roll(settings: Settings, environ: Mapping[str, str], clock: Clock) -> Roll:
    """A connector for each queue manager that has a connection. Raises Failure as ``living``."""
    import time

    from mqvitals_agent.connection.conversation import Time
    from mqvitals_agent.connection.link import BindingError
    from mqvitals_agent.connection.mqi import load
    from mqvitals_agent.connection.mqi_connector import MqiConnector
    from mqvitals_agent.connection.routes import routes, without_route

    ways = {str(each.name): settings.connection_of(each) for each in settings.queue_managers}
    found = routes(settings, environ)
    if not found:
        raise Failure(
            "the settings tell of no queue manager how it is reached",
            hint="give queue_managers with a connection ('mqvitals help configuration'); a --scenario needs none",
        )
    ticks = Time(clock.now, lambda: time.monotonic_ns() // 1_000_000)
    try:
        bindings = {each.queue_manager: load(ways[each.queue_manager].binding or "auto") for each in found}
    except BindingError as error:
        raise Failure(str(error), hint="'mqvitals doctor' says what works once it is there") from error
    return Roll(
        tuple(MqiConnector(bindings[each.queue_manager], each, clock, ticks) for each in found), without_route(settings)
    )
