"""``mqvitals journal``: lists what happened in a store's group."""

from __future__ import annotations

import argparse
import json

from mqvitals_agent.commandline.arguments import (
    add_limit_argument,
    add_pattern_argument,
    add_store_arguments,
    limit_argument,
)
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.time_arguments import (
    add_span_arguments,
    add_zone_argument,
    now_ms,
    now_of,
    span_argument,
)
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Lists what happened, oldest first: states that changed, definitions with their old and new values, restarts, connections
lost and found, expansions of page sets, switches of logs, objects that came and went, alerts, what people did, and
messages that matter. What goes back and forth is one line with the number of times, unless --all is given.
'mqvitals help journal' says what each kind of entry is.
"""
_MOST = 1_000
_USUAL = "24h"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``journal``."""
    from mqvitals_rules.vocabulary.journal import EntryKind

    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_span_arguments(parser, _USUAL)
    add_at_argument(parser)
    add_pattern_argument(parser, "QM01/channel/TO.QM02", "QM01/channel/*")
    parser.add_argument(
        "--kind",
        choices=[each.value for each in EntryKind],
        action="append",
        help="only entries of this kind; may be given more than once",
    )
    parser.add_argument("--all", action="store_true", help="every entry in a line of its own")
    add_limit_argument(parser, _MOST, "the newest N of them")
    add_zone_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list of all entries")
    form.add_argument("--csv", action="store_true", help="comma-separated values of all entries with a heading line")


def run(arguments: argparse.Namespace) -> int:
    """Show the journal; returns the exit code, 0 also when it is empty."""
    from mqvitals_agent.text.styled import Tone, line
    from mqvitals_agent.text.terminal import csv_cell
    from mqvitals_agent.view.history.journal import entry_json, journal_list_lines
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_rules.vocabulary.journal import EntryKind

    limit = limit_argument(arguments)
    kinds = None if arguments.kind is None else [EntryKind(each) for each in arguments.kind]
    with open_store_as_of(arguments) as reader:
        now, at = now_of(reader), reader.meta().as_of
        span = span_argument(reader, arguments, _USUAL)
        found = reader.journal(span.since, span.until, kinds=kinds, pattern=arguments.object, limit=limit)
    rows = [entry_json(each) for each in found] if arguments.json or arguments.csv else []
    if arguments.json:
        print(json.dumps(rows, indent=1))
    elif arguments.csv:
        print(",".join(_CSV_COLUMNS))
        for row in rows:
            values = [row[column] for column in _CSV_COLUMNS]
            print(
                ",".join(
                    "" if each is None else csv_cell(each) if isinstance(each, str) else str(each) for each in values
                )
            )
    else:
        lines = [] if at is None else [line(as_of_words(at, now_ms()), Tone.STRONG)]
        show_lines([*lines, *journal_list_lines(found, now, line_width(), folded=not arguments.all)])
    return ExitCode.DONE


_CSV_COLUMNS = ("seen", "seen_before", "kind", "object", "what", "old", "new", "words", "source", "alert")
