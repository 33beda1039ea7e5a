"""``mqvitals export``: a slice of history as a table for other programs."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.cli.group.trend import add_parts_arguments, history_of, report_note
from mqvitals_agent.commandline.arguments import add_quiet_argument, add_store_arguments, open_store
from mqvitals_agent.commandline.time_arguments import add_span_arguments, add_zone_argument, span_argument
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mqvitals_agent.commandline.table_files import TableForm
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.chart import TimeRange
    from mqvitals_agent.view.trend.export_rows import Slice

_DESCRIPTION = """\
Writes the history of objects of one kind as a table: a row for each object and sample, or with --every for each object
and part of the time, a column for each number and state. An agent may be writing the store. 'mqvitals help store' shows
what DuckDB, pandas and Datasette do with it. With --openmetrics, of any kinds, as OpenMetrics with times instead, which
engines are filled with: 'mqvitals help prometheus'.
"""
_USUAL = "24h"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``export``."""
    from mqvitals_agent.commandline.table_files import TableForm

    parser.description = _DESCRIPTION
    parser.add_argument(
        "objects",
        metavar="OBJECT",
        nargs="*",
        help="such as QM01/queue/PAYMENTS.IN, or a pattern: 'QM0*/queue/PAY*' (default: all of --kind)",
    )
    parser.add_argument("--kind", metavar="KIND", help="objects of this kind only, such as queue")
    parser.add_argument(
        "--metrics", metavar="METRICS", help="with commas between them (default: every number and state of the kind)"
    )
    add_store_arguments(parser)
    add_zone_argument(parser)
    add_span_arguments(parser, _USUAL)
    add_parts_arguments(parser)
    parser.add_argument("--codes", action="store_true", help="states as MQ's numbers, not as words")
    parser.add_argument(
        "--format",
        choices=[each.value for each in TableForm],
        help="CSV, JSON lines or Parquet, which needs pyarrow (default: by the ending of FILE, else csv)",
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="write to a new file (default: standard output)")
    parser.add_argument("--force", action="store_true", help="replace FILE where it is there")
    parser.add_argument(
        "--datasette-metadata",
        action="store_true",
        help="write Datasette's metadata for this store instead: the questions of 'mqvitals help store' as queries",
    )
    parser.add_argument(
        "--openmetrics",
        action="store_true",
        help="write OpenMetrics with times, under the names that Prometheus knows (default: everything there is)",
    )
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the table; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.commandline.output import say
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.commandline.table_files import table_writer
    from mqvitals_agent.text.figure import counted, zone_name
    from mqvitals_agent.view.trend.export_rows import columns_of, export_rows
    from mqvitals_agent.view.trend.report import from_to
    from mqvitals_rules.timestamps import HOUR_MS

    target = None if arguments.out in {None, "-"} else Path(arguments.out)
    if arguments.datasette_metadata:
        return _write_metadata(arguments, target)
    if arguments.openmetrics:
        return _write_openmetrics(arguments, target)
    form = _form(arguments, target)
    if target is None and arguments.force:
        raise Failure("--force is about a file", hint="name it with --out FILE")
    with open_store(arguments) as stored, closing(history_of(arguments)(stored)) as reader:
        wanted = _slice(reader, arguments, span_argument(reader, arguments, _USUAL))
        with (
            Progress(quiet=arguments.quiet) as progress,
            table_writer(columns_of(wanted), form, target, replace=arguments.force) as writer,
        ):
            progress.begin("exporting", round((wanted.span.until - wanted.span.since) / HOUR_MS, 1), " h")
            count = writer.write(export_rows(reader, wanted, lambda hours: progress.at(round(hours, 1))))
        report_note(reader)
    if not count:
        say(f"no samples of these objects from {from_to(wanted.span)} {zone_name(wanted.span.until)}")
    if target is not None:
        objects = counted(len(wanted.objects), wanted.objects[0].kind.replace("_", " "))
        say(f"wrote {counted(count, 'row')} of {objects} to {target}")
    return ExitCode.DONE


def _write_metadata(arguments: argparse.Namespace, target: Path | None) -> int:
    """Raises Failure and StoreError."""
    import json

    from mqvitals_agent.commandline.output import say
    from mqvitals_agent.new_files import write_whole
    from mqvitals_agent.store.sql.examples import datasette_metadata

    with open_store(arguments) as reader:
        name = reader.path.stem
        text = json.dumps(datasette_metadata(name), indent=1) + "\n"
    if target is None:
        print(text, end="")
        return ExitCode.DONE
    write_whole(target, text, replace=arguments.force)
    say(f"wrote Datasette's metadata to {target}; they are for a store of the name {name!r}")
    return ExitCode.DONE


def _write_openmetrics(arguments: argparse.Namespace, target: Path | None) -> int:
    """Raises Failure and StoreError."""
    from mqvitals_agent.commandline.output import say
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.new_files import new_file
    from mqvitals_agent.openmetrics.backfill import backfill
    from mqvitals_agent.text.figure import counted
    from mqvitals_agent.view.trend.selection import select

    refused = {
        "--format": arguments.format,
        "--every": arguments.every,
        "--agg": arguments.agg,
        "--codes": arguments.codes,
    }
    given = [option for option, value in refused.items() if value]
    if given:
        raise Failure(f"{given[0]} is about a table", hint="leave it out with --openmetrics")
    everything = not arguments.objects and arguments.kind is None
    with open_store(arguments) as reader, Progress(quiet=arguments.quiet) as progress:
        span = span_argument(reader, arguments, _USUAL)
        chosen = select(reader, arguments.metrics, ["*"] if everything else _patterns(arguments), span).objects
        chosen = tuple(each for each in chosen if arguments.kind in {None, each[0].kind})
        if not chosen:
            raise Failure(f"none of these objects is a {arguments.kind}", hint="leave --kind out")
        progress.begin("exporting", len(chosen), " objects")
        folder = None if target is None else target.parent
        pieces = backfill(reader, chosen, span.since, span.until, folder, progress.at)
        if target is None:
            for piece in pieces:
                print(piece, end="")
            return ExitCode.DONE
        with new_file(target, replace=arguments.force) as stream:
            stream.writelines(pieces)
    say(f"wrote samples of {counted(len(chosen), 'object')} to {target}")
    return ExitCode.DONE


def _form(arguments: argparse.Namespace, target: Path | None) -> TableForm:
    """The form that ``--format`` names, else the name of the file. Raises Failure where neither does."""
    from mqvitals_agent.commandline.table_files import TableForm, form_of

    if arguments.format is not None:
        return TableForm(arguments.format)
    if target is None:
        return TableForm.CSV
    found = form_of(target)
    if found is None:
        raise Failure(
            f"the ending of {target.name!r} names no form",
            hint="end it with .csv, .jsonl or .parquet, or give --format",
        )
    return found


def _slice(reader: StoreReader, arguments: argparse.Namespace, span: TimeRange) -> Slice:
    """What is asked for. Raises Failure where that is nothing, or of several kinds, and StoreError."""
    from mqvitals_agent.view.figures.buckets import refusal
    from mqvitals_agent.view.trend.export_rows import Slice
    from mqvitals_agent.view.trend.selection import parts_of, refuse_figures, select

    parts = parts_of(span, arguments.every, arguments.agg)
    if parts is not None:
        span = span._replace(since=parts.edges[0])
    chosen = select(reader, arguments.metrics, _patterns(arguments), span)
    objects = [(name, metrics) for name, metrics in chosen.objects if arguments.kind in {None, name.kind}]
    if not objects:
        raise Failure(f"none of these objects is a {arguments.kind}", hint="leave --kind out")
    kinds = dict.fromkeys(name.kind for name, _ in objects)
    if len(kinds) > 1:
        raise Failure(
            f"these objects are of several kinds: {', '.join(kinds)}; a table has the columns of one",
            hint=f"write --kind {next(iter(kinds))}, and another file for each of the others",
        )
    (_, metrics), *_ = objects
    if arguments.metrics is not None:
        refuse_figures(parts, chosen)
    elif parts is not None and (aggregate := parts.aggregate) is not None:
        # Of every metric those that have such a figure.
        metrics = tuple(each for each in metrics if not refusal(aggregate, each))
    return Slice([name for name, _ in objects], metrics, span, parts, codes=arguments.codes)


def _patterns(arguments: argparse.Namespace) -> Sequence[str]:
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_rules.vocabulary.tables import KINDS

    kind: str | None = arguments.kind
    if kind is not None and kind not in KINDS:
        hint = suggestion(kind, KINDS) or f"the kinds are {', '.join(KINDS)}"
        raise Failure(f"there is no kind of object {kind!r}", hint=hint)
    if arguments.objects:
        patterns: list[str] = arguments.objects
        return patterns
    if kind is None:
        raise Failure("nothing is named", hint="name objects, such as 'QM01/queue/*', or a kind with --kind queue")
    return [f"*/{kind}" if KINDS[kind].single else f"*/{kind}/*"]
