"""``mqvitals smf dump``: every section of SMF records, as lines of JSON or as CSV."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mqvitals_agent.commandline.arguments import add_quiet_argument
from mqvitals_agent.commandline.output import cannot_write, complain, say
from mqvitals_agent.commandline.time_arguments import FORMS, moment_argument, zone_argument
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.cli.smf.files_progress import FilesProgress
    from mqvitals_agent.smf.csv_files import CsvFiles
    from mqvitals_agent.smf.reader import ReadCounts, RecordFilter
    from mqvitals_agent.smf.record import Record

_DESCRIPTION = """\
Prints one JSON object a line for each section of MQ's records, in the order of the file:

  {"section","index","type","subtype","sysid","ssid","release","qsg","start","end",
   "interval_us","fields":{...},"derived":{...}}

Times are UTC. Fields are named as IBM's documents name them, without the section's
prefix; durations and time stamps among them are in TOD units, 4096 to the microsecond.
"derived" holds percentages, rates and means, null where there is nothing to divide by;
it is null itself where the record has no interval.

FILE is a dump of SMF in any form (with or without record descriptor words, in blocks,
gzip), or - for standard input. What was found is counted on standard error.

With --csv nothing is printed: one file a kind of section, SMF-QPST.csv and so on, with
the columns that users of mqsmfcsv know. An absent value is an empty cell; times are UTC
but for Date and Time, which SMF gave the record in the system's local time.

Exit code: 0 all was read, 1 records were damaged, 2 a file could not be read at all.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``smf dump``."""
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", metavar="FILE", nargs="+", help="a dump of SMF; - is standard input")
    parser.add_argument(
        "--section",
        metavar="NAME",
        action="append",
        default=[],
        help="only sections of this name, such as QPST; may be repeated",
    )
    parser.add_argument(
        "--queue-manager",
        metavar="QM",
        action="append",
        default=[],
        help="only records of this queue manager; may be repeated",
    )
    parser.add_argument(
        "--from", dest="begin", metavar="TIME", help=f"only intervals that ended from this moment on: {FORMS}"
    )
    parser.add_argument("--to", dest="end", metavar="TIME", help="only intervals that ended until this moment")
    parser.add_argument(
        "--tz",
        metavar="ZONE",
        type=zone_argument,
        default=UTC,
        help="the zone of --from and --to where they name none, such as Europe/Berlin or +01:00 (default: UTC); what is printed is UTC",
    )
    parser.add_argument(
        "--summary", action="store_true", help="only count what is there, and what the options above select of it"
    )
    parser.add_argument("--csv", metavar="DIR", help="write CSV files into this folder, over those that are there")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the sections; returns the exit code. Raises Failure."""
    from mqvitals_agent.cli.smf.files_progress import FilesProgress
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.smf.reader import ReadCounts, RecordFilter

    if arguments.summary and arguments.csv is not None:
        raise Failure("--summary writes nothing, and --csv says where to write", hint="give one of them")
    wanted = _sections(arguments.section)
    begin, end = _moment("--from", arguments.begin, arguments.tz), _moment("--to", arguments.end, arguments.tz)
    if begin is not None and end is not None and begin > end:
        raise Failure(f"--from {arguments.begin} is after --to {arguments.end}", hint="exchange them")
    selection = RecordFilter(arguments.queue_manager, begin, end)
    narrowed = bool(wanted or arguments.queue_manager) or begin is not None or end is not None
    code = ExitCode.DONE
    # Lines on the same terminal show how far it is.
    printed = not arguments.summary and arguments.csv is None and sys.stdout.isatty()
    with _csv(arguments.csv) as files, Progress(quiet=arguments.quiet or printed) as shown:
        progress = FilesProgress(arguments.files, shown)
        for name in arguments.files:
            counts, trouble = ReadCounts(), list[str]()
            found = _read(name, selection, counts, trouble, progress)
            if narrowed:
                found = _selected(found, wanted, counts)
            if arguments.summary:
                for _ in found:
                    pass
            elif files is not None:
                _write(found, wanted, files, arguments.csv)
            else:
                _print(found, wanted)
            _print_tally(name, counts, trouble, several=len(arguments.files) > 1)
            if trouble:
                code = ExitCode.FAILED
            elif counts.damage:
                code = max(code, ExitCode.FOUND)
    return code


def _sections(names: Sequence[str]) -> frozenset[str]:
    from mqvitals_agent.smf.section import LAYOUTS

    wanted = frozenset(name.upper() for name in names)
    for name in sorted(wanted - LAYOUTS.keys()):
        from difflib import get_close_matches

        near = get_close_matches(name, LAYOUTS)
        raise Failure(
            f"--section {name}: there is no such section",
            hint=f"did you mean {' or '.join(near)}?" if near else f"sections are {', '.join(LAYOUTS)}",
        )
    return wanted


def _moment(option: str, text: str | None, zone: tzinfo) -> int | None:
    """The moment in microseconds, as precise as lines print "start" and "end"."""
    if text is None:
        return None
    found = moment_argument(option, text, lambda: zone, time.time_ns() // 1_000_000) * 1000
    try:
        return found + datetime.fromisoformat(text).microsecond % 1000
    except ValueError:
        # A form without fractions of a second: yesterday, or 8:00.
        return found


def _selected(found: Iterator[Record], wanted: frozenset[str], counts: ReadCounts) -> Iterator[Record]:
    """The same records; ``counts`` counts them, and those of their sections that are wanted."""
    from mqvitals_agent.smf.section import tables

    number = parts = 0
    counts.selected = 0, 0
    for record in found:
        instances = sum(triplet.instances for layout, triplet in tables(record) if not wanted or layout.name in wanted)
        number += bool(instances) or not wanted
        parts += instances
        counts.selected = number, parts
        yield record


def _read(
    name: str, selection: RecordFilter, counts: ReadCounts, trouble: list[str], progress: FilesProgress
) -> Iterator[Record]:
    """The wanted records of a file. What ends them before its end is put into ``trouble``."""
    from mqvitals_agent.smf.reader import open_smf, read_error, records
    from mqvitals_agent.smf.record import SmfError

    try:
        with open_smf(name) as stream:
            for record in progress(name, stream, records(stream, counts, time.time_ns() // 1000)):
                if selection.wants(record):
                    yield record
    except (OSError, SmfError) as error:
        trouble.append(read_error(error))


_BATCH: Final = 1 << 16


def _print(found: Iterator[Record], wanted: frozenset[str]) -> None:
    """Print lines of JSON, many at a time. Raises OSError, as all printing does."""
    from mqvitals_agent.smf.json_lines import json_lines

    batch, size = list[str](), 0
    for record in found:
        for line in json_lines(record, wanted):
            batch.append(line)
            size += len(line)
        if size >= _BATCH:
            sys.stdout.write("".join(batch))
            batch, size = [], 0
    sys.stdout.write("".join(batch))
    sys.stdout.flush()


def _csv(folder: str | None) -> Any:
    """The context of the CSV files, or of None. Raises Failure."""
    from mqvitals_agent.smf.csv_files import CsvFiles

    if folder is None:
        return nullcontext(None)
    try:
        return CsvFiles(Path(folder))
    except FileExistsError:
        raise Failure(f"--csv {folder} is a file, not a folder") from None
    except OSError as error:
        raise Failure(f"--csv {folder} cannot be made: {error.strerror}") from error


def _write(found: Iterator[Record], wanted: frozenset[str], files: CsvFiles, folder: str) -> None:
    try:
        for record in found:
            files.write(record, wanted)
        files.flush()
    except OSError as error:
        raise Failure(f"--csv {folder}: {cannot_write(error)}", hint="the files there are not complete") from error


def _print_tally(name: str, counts: ReadCounts, trouble: Sequence[str], *, several: bool) -> None:
    """The summary of a file, and why it could not be read."""
    from mqvitals_agent.smf.reader import shown_name
    from mqvitals_agent.text.terminal import safe

    shown = safe(shown_name(name))
    for sentence in trouble:
        say(f"{shown}: {sentence}")
    if trouble and not (counts.records or counts.skipped or counts.damage):
        return
    if several:
        complain(f"{shown}:")
    for line in counts.lines():
        complain(safe(line))
