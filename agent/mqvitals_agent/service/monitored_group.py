"""What a run of the agent monitors: the live queue managers of the settings, or a simulated group with its clock."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mqvitals_agent.clock import Clock, SystemClock
from mqvitals_agent.errors import Failure
from mqvitals_agent.log import as_event
from mqvitals_rules.timestamps import DAY_MS

if TYPE_CHECKING:
    from mqvitals_agent.connection.connection import Connector
    from mqvitals_agent.service.cycles.poller import Uniform
    from mqvitals_agent.simulator.model import SimulatedGroup
    from mqvitals_agent.simulator.smf.writer import SmfWriter
    from mqvitals_config.settings import Settings

_LOG = logging.getLogger(__name__)


"""A run that is faster than real time and has no end begins this long ago."""


def begin_time(now: int, speed: float | None, for_ms: int | None, last: int | None, interval_ms: int) -> int:
    """When the clock of a run begins, never after ``now``. Times are ms since 1970 UTC, lengths ms.

    ``speed`` is a multiple of real time; None: without waiting. A run in real time begins now. A faster one begins so
    far back that it ends about now, so that what it stores is recent and nothing lies in the future; without an end
    it begins a day ago. Except in real time it begins on the interval's grid, where cycles begin. A store that holds
    snapshots continues after the ``last`` of them: time never runs backwards in it.
    """
    begin = now
    if speed is None:
        begin -= DAY_MS if for_ms is None else for_ms
    elif speed > 1:
        begin -= DAY_MS if for_ms is None else round(for_ms * (1 - 1 / speed))
    if speed != 1:
        begin -= begin % interval_ms
    if last is not None and begin <= last:
        begin = min((last // interval_ms + 1) * interval_ms, now)
    return begin


@dataclass(frozen=True, slots=True)
class PollTargets:
    """The queue managers to poll; ``others`` have no connection and are polled through another member."""

    connectors: Sequence[Connector]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MonitoredGroup:
    """What a run monitors.

    ``began`` (ms since 1970 UTC) is stored as the beginning of a new store. ``site`` names the group when the
    settings do not; empty: the queue-sharing group's own name. ``source`` describes the origin of samples in the
    store. ``uniform`` returns random numbers between two limits, ``chance_of`` a function that returns random numbers
    from 0 to 1, for the name of a receiver. ``usage_floor_ms`` is the least time between two DISPLAY USAGE.
    ``targets_of`` returns the targets for other settings, after SIGHUP; None: they stay. ``smf`` writes the SMF
    records of a simulated group. ``dead_letters`` and ``event_queues`` say what a simulated group has for browsing.
    ``machine`` is the clock of what is real in every run: files and people.
    """

    clock: Clock
    began: int
    site: str
    targets: PollTargets
    source: str
    uniform: Uniform
    usage_floor_ms: int
    targets_of: Callable[[Settings], PollTargets] | None = None
    smf: SmfWriter | None = None
    dead_letters: bool = False
    event_queues: tuple[str, ...] = ()
    machine: Clock = field(default_factory=SystemClock)
    chance_of: Callable[[str], Callable[[], float]] = field(default=lambda _: random.random)


def live_group(settings: Settings, environ: Mapping[str, str]) -> MonitoredGroup:
    """The queue managers that the settings connect to, with this machine's clock.

    Raises Failure: no queue manager has a connection, or no package that makes one can be used.
    """
    from mqvitals_agent.connection.link import BindingError
    from mqvitals_agent.poll.queries import USAGE_FLOOR_MS

    clock = SystemClock()

    def targets_of(settings: Settings) -> PollTargets:
        try:
            return live_targets(settings, environ, clock)
        except BindingError as error:
            raise Failure(error.message, hint="'mqvitals doctor' shows what works once it is there") from error

    targets = targets_of(settings)
    return MonitoredGroup(
        clock, clock.now(), "", targets, "living queue managers", random.uniform, USAGE_FLOOR_MS, targets_of
    )


def live_targets(settings: Settings, environ: Mapping[str, str], clock: Clock, *, drain: bool = True) -> PollTargets:
    """A connector for each queue manager that has a connection; ``drain`` as for ``Conversation``.

    Raises Failure: there is no such queue manager. BindingError: no package that connects can be used.
    """
    from mqvitals_agent.connection.conversation import TimeSource
    from mqvitals_agent.connection.mqi import load_binding
    from mqvitals_agent.connection.mqi_connector import MqiConnector
    from mqvitals_agent.connection.route import routes, without_route

    ways = {str(each.name): settings.connection_of(each) for each in settings.queue_managers}
    found = routes(settings, environ)
    if not found:
        raise Failure(
            "the settings have a connection to no queue manager",
            hint="give queue_managers with a connection ('mqvitals help configuration'); a --scenario needs none",
        )
    ticks = TimeSource(clock.now, lambda: time.monotonic_ns() // 1_000_000)
    connectors = []
    for each in found:
        binding = load_binding(ways[each.queue_manager].binding or "auto")
        connectors.append(MqiConnector(binding, each, clock, ticks, drain=drain))
    return PollTargets(connectors, without_route(settings))


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """A simulated group: the ``scenario`` (name or file), and numbers of additional queues and channels.

    ``qsg`` is the group's name in MQ; its ``members`` queue managers are called ``prefix`` and a number. ``speed`` is a multiple of real time, None without waiting; ``for_ms`` the length of the run, None without an end.
    ``smf_interval_ms`` is the statistics interval of the SMF records to write, None: none are written. ``folder`` is that of
    a group which several agents monitor.
    """

    scenario: str
    seed: int = 1
    queues: int = 0
    channels: int = 0
    members: int = 4
    qsg: str = "PRDQ"
    prefix: str = "QM"
    speed: float | None = 1.0
    for_ms: int | None = None
    smf_interval_ms: int | None = None
    folder: Path | None = None


def simulated_group(
    options: SimulationOptions, settings: Settings, store: Path | None, now: int | None = None
) -> MonitoredGroup:
    """The simulated group that the options describe, continuing where the ``store`` ended. ``now``: ms UTC.

    Raises Failure: no such scenario, or the folder for SMF records cannot be created.
    """
    from mqvitals_agent.clock import SystemClock, VirtualClock
    from mqvitals_agent.simulator.connector import connectors
    from mqvitals_agent.simulator.group_folder import GroupBeginning, GroupFolder
    from mqvitals_agent.simulator.model import SimulatedGroup
    from mqvitals_agent.simulator.scenario import IncidentKind, ScenarioError, load_scenario
    from mqvitals_agent.simulator.site import SimulatedNames
    from mqvitals_rules.vocabulary.event import EVENT_QUEUES

    names = SimulatedNames(options.qsg, options.prefix, options.members)
    try:
        scenario = load_scenario(options.scenario, names)
    except ScenarioError as error:
        raise Failure(str(error)) from error
    created, last = (None, None) if store is None else _store_times(store)
    interval_ms = settings.polling.interval
    now = time.time_ns() // 1_000_000 if now is None else now
    begin = begin_time(now, options.speed, options.for_ms, last, interval_ms)
    began = begin if created is None else min(created, begin)
    folder = None if options.folder is None else GroupFolder(options.folder)
    if folder is not None:
        if options.speed is None:
            raise Failure("agents that share a group keep its time: --group-folder needs another --speed than max")
        shared = folder.beginning(GroupBeginning(began, now))
        began, begin = shared.began, max(shared.now(now, options.speed), 0 if last is None else last + 1)
    machine = SystemClock()
    clock: Clock = machine if options.speed == 1 else VirtualClock(begin, pace=options.speed, latest=machine.now)
    simulated = SimulatedGroup(
        scenario, began, seed=options.seed, queues=options.queues, channels=options.channels, names=names
    )
    # Created before anything else advances the model, so that the records cover it from its beginning.
    smf = None if options.smf_interval_ms is None else _smf_writer(settings, simulated, options.smf_interval_ms)
    return MonitoredGroup(
        clock,
        began,
        simulated.group.site,
        PollTargets(connectors(simulated, clock, seed=options.seed, folder=folder)),
        f"scenario {options.scenario}, seed {options.seed}",
        random.Random(options.seed).uniform,  # noqa: S311 - reproducible on purpose
        usage_floor_ms=0,
        smf=smf,
        dead_letters=any(each.what is IncidentKind.DEAD_LETTERS for each in scenario.incidents),
        event_queues=tuple(EVENT_QUEUES) if scenario.events else (),
        chance_of=lambda name: random.Random(f"{options.seed} {name}").random,  # noqa: S311 - the same
    )


def _smf_writer(settings: Settings, group: SimulatedGroup, interval_ms: int) -> SmfWriter:
    """Writes the group's records into the watched folder. Raises Failure when the folder cannot be created."""
    from mqvitals_agent.simulator.smf.writer import SmfWriter

    folder = Path(settings.smf.watch or "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot use the folder {folder}: {error.strerror}", hint="name another with --smf") from error
    return SmfWriter(group, folder, interval_ms)


def _store_times(store: Path) -> tuple[int | None, int | None]:
    """When a store was created and its last snapshot, by the agent's clock; None where the store does not say."""
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
        # Empty, damaged or of another schema: the writer reports that, in better words.
        return None, None
    with suppress(ValueError):
        return parse_iso(created), last
    return first, last


_LATER_MS: Final = 1000
"""The model advances in whole seconds: an interval has ended after the first second that reaches beyond its end."""


async def write_smf(writer: SmfWriter, clock: Clock) -> None:
    """Write the records that are due, interval after interval, until cancelled.

    Records that cannot be written are lost; that is logged once until writing works again.
    """
    failed = False
    while True:
        now = clock.now()
        try:
            writer.write_due(now)
        except OSError as error:
            if not failed:
                _LOG.warning(
                    f"SMF records of the simulated group cannot be written: {error.strerror}",
                    extra=as_event("smf.unwritten"),
                )
            failed = True
        else:
            failed = False
        await clock.sleep(writer.interval_ms - (now - _LATER_MS) % writer.interval_ms)
