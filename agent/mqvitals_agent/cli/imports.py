"""``mqvitals import``: what other commands of z/OS printed, into a store."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from mqvitals_agent.commandline.output import say
from mqvitals_agent.commandline.time_arguments import (
    add_zone_argument,
    duration_argument,
    moment_argument,
    reading_zone,
)
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.ingest.imported import ChannelAddresses
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.writer import Store
    from mqvitals_rules.snapshot import Snapshot

_DESCRIPTION = """\
Reads what another command of z/OS printed, and stores its figures with the time at which it was taken. Where the
configuration declares the same figure, the imported one counts for twice the time of --every. An agent must not be
writing the store meanwhile. Exit code 0; 1 where nothing in the text belongs to a known object; 2 when the text or the
store cannot be used.
"""
_XCF = """\
Reads the answer to D XCF,STR,STRNAME=... (message IXC360I), of one structure or of several: sizes, FULLTHRESHOLD and
ALLOWAUTOALT of the CFRM policy, the actual size, the number of elements, duplexing and the preference list.
"""
_NETSTAT = """\
Reads the output of NETSTAT ALL (CLIENT xxxxCHIN, netstat -A, or D TCPIP,,N,ALL: the TCP connections of the channel
initiator, with windows, buffers, retransmissions, waiting data and round trip. A connection is a channel's whose
CONNAME is its foreign address. Retransmissions count from the import before.
"""
_Parsed = TypeVar("_Parsed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``import``."""
    parser.description = _DESCRIPTION
    actions = parser.add_subparsers(dest="action", metavar="WHAT", required=True)
    xcf = actions.add_parser("xcf", help="structures, as D XCF,STR,STRNAME= shows them", description=_XCF)
    _add_common(xcf, "1d")
    netstat = actions.add_parser("netstat", help="connections, as NETSTAT ALL shows them", description=_NETSTAT)
    netstat.add_argument("--owner", metavar="NAME", required=True, help="the queue manager whose connections they are")
    netstat.add_argument(
        "--job", metavar="NAME", help="the job of its channel initiator (default: the owner's name and CHIN)"
    )
    _add_common(netstat, "1h")


def _add_common(parser: argparse.ArgumentParser, every: str) -> None:
    parser.add_argument("file", metavar="FILE", help="the text, in the character set of this system")
    parser.add_argument("--at", metavar="TIME", help="when it was taken (else the time of the file)")
    parser.add_argument(
        "--every",
        metavar="DURATION",
        default=every,
        help="how often it is imported: its figures count for twice that time (default: %(default)s)",
    )
    add_zone_argument(parser)
    parser.add_argument("--store", metavar="PATH", help="the store to write (else MQVITALS_STORE, else store.path)")
    parser.add_argument("--config", metavar="FILE", help="settings: the group's name, thresholds, facts, the store")


def run(arguments: argparse.Namespace) -> int:
    """Import; returns the exit code. Raises Failure, XcfError and NetstatError when text or store cannot be used."""
    return _xcf(arguments) if arguments.action == "xcf" else _netstat(arguments)


def _xcf(arguments: argparse.Namespace) -> int:
    from mqvitals_agent.console.xcf import xcf_structures
    from mqvitals_agent.ingest.imported import xcf_snapshots
    from mqvitals_agent.smf.measured import Systems, recall_systems

    structures, at, every = _read(arguments, xcf_structures)

    def snapshots(store: Store, _: StoreReader) -> list[Snapshot]:
        systems = Systems()
        recall_systems(systems, store)
        found, strange = xcf_snapshots(structures, systems.structure, at, every)
        if strange:
            say(f"of no known queue-sharing group, left out: {', '.join(strange)}")
        return found

    return _store(arguments, snapshots)


def _netstat(arguments: argparse.Namespace) -> int:
    from mqvitals_agent.console.netstat import tcp_connections
    from mqvitals_agent.ingest.imported import netstat_snapshot

    connections, at, every = _read(arguments, tcp_connections)
    job = (arguments.job or f"{arguments.owner}CHIN").upper()
    own = [each for each in connections if each.job == job]
    if not own:
        jobs = ", ".join(sorted({each.job for each in connections})) or "none"
        raise Failure(
            f"{arguments.file} has no connection of the job {job}", hint=f"give --job; it has those of: {jobs}"
        )

    def snapshots(_: Store, older: StoreReader) -> list[Snapshot]:
        found, strange = netstat_snapshot(
            own,
            _channels(older, arguments.owner),
            lambda name: {metric: each.value for metric, each in older.current(name).items()},
            arguments.owner,
            at,
            every,
        )
        if strange:
            first = "..".join(strange[0].foreign)
            say(f"connections of no one channel, left out: {len(strange):,}, the first to {first}")
        return [found] if found.readings else []

    return _store(arguments, snapshots)


def _channels(reader: StoreReader, owner: str) -> list[ChannelAddresses]:
    """The channels of a queue manager with the addresses of all their instances."""
    from mqvitals_agent.ingest.imported import ChannelAddresses

    found = []
    for name, values in reader.current_by_kind(owner, "channel", ("conname", "local_address")).items():
        several = [each.values for each in reader.instances(name)]
        texts: list[tuple[str, ...]] = []
        for metric in ("conname", "local_address"):
            latest = values.get(metric)
            words = [None if latest is None else latest.value, *(each.get(metric) for each in several)]
            texts.append(tuple({word for word in words if isinstance(word, str) and word.strip()}))
        found.append(ChannelAddresses(name, *texts))
    return found


def _read(arguments: argparse.Namespace, parse: Callable[[Iterable[str]], _Parsed]) -> tuple[_Parsed, int, int]:
    """What the text holds, when it was taken (ms UTC), and how often it is (ms)."""
    from mqvitals_config.decoding.source import open_regular

    now, every = time.time_ns() // 1_000_000, duration_argument("--every", arguments.every)
    try:
        with os.fdopen(open_regular(arguments.file), encoding="utf-8", errors="replace") as file:
            at = _taken(arguments, file, now)
            return parse(file), min(at, now), every
    except OSError as error:
        raise Failure(f"{arguments.file}: {error.strerror}") from error


def _taken(arguments: argparse.Namespace, file: TextIO, now: int) -> int:
    if arguments.at is None:
        return int(os.fstat(file.fileno()).st_mtime * 1000)
    return moment_argument("--at", arguments.at, lambda: reading_zone(arguments), now)


def _store(arguments: argparse.Namespace, snapshots: Callable[[Store, StoreReader], list[Snapshot]]) -> int:
    """Evaluate and store snapshots of a text; returns the exit code."""
    from mqvitals_agent.commandline.settings import rule_config_of, settings_in_force
    from mqvitals_agent.ingest.pipeline import Ingest
    from mqvitals_agent.store.file.store_file import writer_of
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.writer import Store

    settings = settings_in_force(arguments.config, {"store": arguments.store}).settings
    if settings.store.path is None:
        raise Failure("no store is named", hint="add --store PATH, or set MQVITALS_STORE or store.path")
    path = Path(settings.store.path)
    if (holder := writer_of(path)) is not None:
        raise Failure(f"process {holder} is writing the store {path}", hint="stop the agent first")
    if not path.exists():
        raise Failure(f"there is no store {path}", hint="objects are known once an agent or an SMF import wrote it")
    opened = Store.open(
        path,
        records=True,
        group=settings.name or "",
        created=time.time_ns() // 1_000_000,
        mode=settings.store.mode,
        shared_with=settings.store.group or "",
    )
    with opened as store, StoreReader.open(path) as older:
        found = snapshots(store, older)
        Ingest(store, rule_config_of(settings), older=older).take(found)
    for snapshot in found:
        say(f"{snapshot.owner}: {', '.join(reading.object.name for reading in snapshot.readings)}")
    return ExitCode.DONE if found else ExitCode.FOUND
