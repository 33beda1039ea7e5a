"""``mqvitals replay``: plays a recording into a store, with the rules evaluated as if it happened now."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.commandline.output import say
from mqvitals_agent.commandline.simulation_arguments import speed
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import tzinfo

    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.connection.recording import Recording
    from mqvitals_agent.poll.replay import ReplayCycle, ReplaySummary
    from mqvitals_agent.store.writer import Store
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.config import RuleConfig

_INTERRUPTED = 130

_A_RECORDING = (
    "a recording is JSON lines, plain or compressed with gzip: a header, then one exchange a line; see"
    " 'mqvitals help recording'"
)

_DESCRIPTION = """\
Plays a recording into a store: every exchange is processed at its time, the rules are evaluated for each cycle, and
the store is written as the agent would have written it. It ends by itself; the recording's last time is then "now"
for status, trend and alerts. A pause is never longer than the recording's interval. Exit code 0, or 1 when the
recording is damaged: lines had to be left out, its end is lost, or lines are not in the order of their times.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``replay``."""
    parser.description = _DESCRIPTION
    parser.add_argument("file", metavar="FILE", help="the recording: JSON lines, plain or gzip")
    parser.add_argument("--store", metavar="PATH", help="the store to write, a new file")
    parser.add_argument("--config", metavar="FILE", help="settings: time zones, thresholds, facts")
    parser.add_argument(
        "--speed",
        metavar="N",
        type=speed,
        default=1.0,
        help="N times real time (default: 1); max: without waiting",
    )
    parser.add_argument("--replace", action="store_true", help="delete what an earlier replay left in the store")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each cycle instead of the progress")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay; returns the exit code."""
    from mqvitals_agent.commandline.settings import rule_config_of, settings_in_force
    from mqvitals_agent.connection.recording import open_recording
    from mqvitals_agent.connection.recording_format import RecordingError

    settings = settings_in_force(arguments.config, vars(arguments), search=False).settings
    if settings.store.path is None:
        raise Failure("no store is named", hint="add --store PATH")
    rule_config = rule_config_of(settings)
    try:
        recording = open_recording(arguments.file)
    except RecordingError as error:
        raise Failure(str(error), hint=_A_RECORDING if error.foreign else "") from error
    with recording, _open(Path(settings.store.path), settings, recording, replace=arguments.replace) as store:
        return _play(recording, store, settings, rule_config, arguments)


def _open(path: Path, settings: Settings, recording: Recording, *, replace: bool) -> Store:
    """A new store at ``path``.

    One that holds something is refused, or emptied when it may be replaced and is a replay's.
    """
    from mqvitals_agent.store.writer import Store

    def opened() -> Store:
        return Store.open(
            path,
            replay=True,
            source=os.fsencode(recording.path.name).decode("utf-8", "replace"),  # a file's name may be no UTF-8
            group=settings.name or recording.header.name,
            created=time.time_ns() // 1_000_000,
            mode=settings.store.mode,
            shared_with=settings.store.group or "",
        )

    store = opened()
    if not store.progress():
        return store
    store.close()
    if not replace:
        raise Failure(
            f"the store {path} already holds a replay", hint="name another one, or add --replace to delete it"
        )
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise Failure(f"{file} cannot be deleted: {error.strerror}") from error
    return opened()


def _play(
    recording: Recording, store: Store, settings: Settings, rule_config: RuleConfig, arguments: argparse.Namespace
) -> int:
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.poll.collector import Collector
    from mqvitals_agent.poll.replay import DEFAULT_INTERVAL_MS, ReplayPace, ReplaySummary, replay
    from mqvitals_config.decoding.scalars import time_zone

    header = recording.header

    def zone_of(queue_manager: str) -> tzinfo | None:
        zone = settings.time_zone_of(queue_manager)
        return None if zone is None else time_zone(zone)

    collector = Collector(settings.name or header.name, header.queue_managers, zone_of)
    interval_ms = DEFAULT_INTERVAL_MS
    if header.interval_s is None:
        say(f"the recording does not state its interval: {interval_ms // 1000} s are assumed")
    else:
        interval_ms = round(header.interval_s * 1000)
    summary = ReplaySummary()
    interrupted = False
    try:
        pace = ReplayPace(arguments.speed, time.monotonic, time.sleep)
        with Progress(quiet=arguments.quiet or arguments.verbose) as progress:
            progress.begin("replaying", recording.size)
            take = _cycle_handler(store, rule_config, recording, progress, verbose=arguments.verbose)
            replay(recording, interval_ms, collector, pace, take, summary, header.created)
    except KeyboardInterrupt:
        interrupted = True
    for warning in recording.warnings:
        say(f"{recording.path.name}: {warning}")
    for warning in _warnings(summary):
        say(f"{recording.path.name}: {warning}")
    say(_summary(summary, interrupted=interrupted))
    if interrupted:
        return _INTERRUPTED
    wrong = recording.damaged or summary.disordered or summary.without_replies
    return ExitCode.FOUND if wrong else ExitCode.DONE


def _cycle_handler(
    store: Store, rule_config: RuleConfig, recording: Recording, progress: Progress, *, verbose: bool
) -> Callable[[ReplayCycle], None]:
    """The function that evaluates and stores a cycle, and shows how far that is: when ``verbose`` a line about each."""
    from mqvitals_agent.ingest.pipeline import Ingest
    from mqvitals_agent.text.figure import counted
    from mqvitals_rules.timestamps import iso

    ingest = Ingest(store, rule_config)

    def take(cycle: ReplayCycle) -> None:
        ingest.take(cycle.snapshots)
        if verbose:
            say(f"cycle {cycle.number}, {iso(cycle.began)}: {counted(ingest.firing, 'alert')} firing")
        else:
            progress.at(recording.bytes_read, f"cycle {cycle.number:,}")

    return take


def _warnings(summary: ReplaySummary) -> Iterator[str]:
    """What is wrong with the recording's times, and with exchanges that hold no answer."""
    from mqvitals_agent.text.figure import counted
    from mqvitals_rules.timestamps import iso

    for gap in summary.gaps:
        span = _span(gap.at - gap.before)
        yield f"line {gap.line} is dated {iso(gap.at)}: a gap of {span} was skipped"
    if (more := summary.gap_count - len(summary.gaps)) > 0:
        yield f"{counted(more, 'more gap')} {'was' if more == 1 else 'were'} skipped"
    if summary.disordered:
        one = summary.disordered == 1
        yield (
            f"{counted(summary.disordered, 'line')} {'is' if one else 'are'} dated earlier than a line before "
            f"{'it' if one else 'them'}, {'' if one else 'the first is '}line {summary.first_disordered}: "
            f"{'it counts' if one else 'they count'} to the cycle that was under way"
        )
    if summary.without_replies:
        one = summary.without_replies == 1
        yield (
            f"{counted(summary.without_replies, 'exchange')} {'has' if one else 'have'} neither replies nor an error, "
            f"{'' if one else 'the first is '}line {summary.first_without_replies}: "
            f"{'it replays' if one else 'they replay'} as no answer"
        )


def _span(ms: int) -> str:
    from mqvitals_agent.text.figure import counted
    from mqvitals_rules.timestamps import HOUR_MS

    hours = ms // HOUR_MS
    return counted(hours // 24, "day") if hours >= 48 else counted(hours, "hour")


def _summary(summary: ReplaySummary, *, interrupted: bool) -> str:
    from mqvitals_agent.text.figure import counted

    text = (
        f"{'interrupted after' if interrupted else 'replayed'} {counted(summary.cycles, 'cycle')}: "
        f"{counted(summary.exchanges, 'exchange')}, {counted(summary.replies, 'message')}, {summary.damaged} of them"
        " damaged"
    )
    if summary.unprobed:
        named = ", ".join(f"{name} ({count})" for name, count in sorted(summary.unprobed.items()))
        text += f"; commands without a probe: {named}"
    return text
