"""``mqvitals smf import``: SMF records into a store."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.commandline.output import say
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mqvitals_agent.cli.smf.files_progress import FilesProgress
    from mqvitals_agent.smf.ingest import IngestResult
    from mqvitals_agent.smf.partial_sample import GroupNames
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.config import RuleConfig
    from mqvitals_rules.snapshot import Snapshot

_DESCRIPTION = """\
Reads SMF 115 and 116 records into the store: every interval becomes samples with the record's own time, the rules
are evaluated in the order of the file, and status, trend and the screens show them. Records of RMF in the same files
(70-1, 70-2, 72-3, 74-4) give how busy processors, cryptographic cards, address spaces whose class is declared, and
coupling facilities are. A record that was imported before changes nothing, so dumps may overlap and come in any
order. Exit code 0, 1 when records are damaged, 2 when a file or the store cannot be used. While an agent writes the
store, put the files into the folder that it watches (smf.watch) instead.
"""

_INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``smf import``."""
    parser.description = _DESCRIPTION
    parser.add_argument("files", metavar="FILE", nargs="+", help="SMF data, plain or gzip; - is standard input")
    parser.add_argument("--store", metavar="PATH", help="the store to write (else MQVITALS_STORE, else store.path)")
    parser.add_argument("--config", metavar="FILE", help="settings: the group's name, thresholds, facts, the store")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Import; returns the exit code. Raises Failure when the store cannot be used."""
    from mqvitals_agent.cli.smf.files_progress import FilesProgress
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.commandline.settings import rule_config_of, settings_in_force
    from mqvitals_agent.store.file.store_file import writer_of

    settings = settings_in_force(arguments.config, {"store": arguments.store}).settings
    if settings.store.path is None:
        raise Failure("no store is named", hint="add --store PATH, or set MQVITALS_STORE or store.path")
    config = rule_config_of(settings)
    path = Path(settings.store.path)
    holder = writer_of(path)
    if holder is not None:
        raise Failure(f"process {holder} is writing the store {path}", hint=_instead(settings))
    with Progress(quiet=arguments.quiet) as progress:
        return _import(arguments.files, path, settings, config, FilesProgress(arguments.files, progress))


def groups_of(settings: Settings) -> GroupNames:
    """The names of queue-sharing groups: the configured name for its members, else the names in records."""
    from mqvitals_agent.smf.partial_sample import GroupNames

    name = settings.name
    if not name:
        return GroupNames()
    members = {str(each.name): str(name) for each in settings.queue_managers}
    return GroupNames(members, None if members else str(name))


def _instead(settings: Settings) -> str:
    watched = settings.smf.watch
    if watched:
        return f"put the files into {watched}, which the agent watches: it reads them itself"
    return "let the agent read them: set smf.watch to a folder, and put the files there; or stop it first"


def _import(
    files: Sequence[str], store_path: Path, settings: Settings, config: RuleConfig, progress: FilesProgress
) -> int:
    from mqvitals_agent.ingest.pipeline import Ingest
    from mqvitals_agent.review.store_review import update_advice
    from mqvitals_agent.smf.ingest import RecordIngest, ingest_file
    from mqvitals_agent.smf.reader import ReadCounts, shown_name
    from mqvitals_agent.smf.restart import RestartDetector
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.writer import Store

    now = time.time_ns() // 1_000_000
    opened = Store.open(
        store_path,
        records=True,
        group=settings.name or "",
        created=now,
        mode=settings.store.mode,
        shared_with=settings.store.group or "",
    )
    with opened as store, StoreReader.open(store_path) as older:
        intake = Ingest(store, config, older=older)

        def take(snapshot: Snapshot) -> None:
            # A clock of z/OS that is ahead of ours must not make the agent wait for it.
            intake.take((replace(snapshot, ts=min(snapshot.ts, now)),))

        ingest = RecordIngest(store, take, groups_of(settings), restarts=RestartDetector(), facts=config.facts)
        counts, failed, interrupted = ReadCounts(), False, False
        try:
            for path in files:
                if reason := ingest_file(path, ingest, counts, now * 1000, progress):
                    say(f"{shown_name(path)}: {reason}")
                    failed = True
            update_advice(store, older, config, ingest.result.owners)
        except KeyboardInterrupt:
            interrupted = True
        for line in (*counts.lines(), *_import_lines(ingest.result)):
            say(line)
        if interrupted:
            say("interrupted: what was read is kept; import the same files again for the rest")
            return _INTERRUPTED
    if failed:
        return ExitCode.FAILED
    return ExitCode.FOUND if counts.damage or ingest.result.damage else ExitCode.DONE


def _import_lines(taken: IngestResult) -> list[str]:
    """The result of an import, a sentence a line."""
    from mqvitals_agent.smf import restart
    from mqvitals_agent.smf.ingest import strange_words
    from mqvitals_agent.text.figure import counted

    new, samples = counted(taken.new, "new record"), counted(taken.readings, "sample")
    lines = [f"imported: {new}, {taken.known:,} already imported, {samples}"]
    if taken.owners:
        lines.append(f"  of {', '.join(sorted(taken.owners))}")
    lines += restart.lines(taken.restarts)
    lines += taken.unnamed.lines()
    lines += [f"impossible figures: {each}" for each in taken.damage]
    lines += [strange_words(system, count) for system, count in sorted(taken.strange.items())]
    lines += taken.unseen
    for queue_manager, count in sorted(taken.left_out.items()):
        lines.append(
            f"{queue_manager}: {counted(count, 'sample')} of structures and shared queues cannot be shown, because the name"
            " of its queue-sharing group is unknown: import its 115-231 records, or set name in the configuration and"
            " import any file again"
        )
    return lines
