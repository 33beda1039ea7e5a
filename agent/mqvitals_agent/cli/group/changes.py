"""``mqvitals changes``: lists the changes of definitions in a store."""

from __future__ import annotations

import argparse
import csv
import json
import sys

from mqvitals_agent.commandline.arguments import (
    add_limit_argument,
    add_pattern_argument,
    add_store_arguments,
    limit_argument,
    open_store,
)
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.time_arguments import add_since_argument, add_zone_argument, duration_argument, now_of
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Lists the changes of definitions that the agent has seen, oldest first: object, attribute, old and new value, when the
definition was altered as the queue manager says (local time), and when the change was seen. A change that was missed
for more than a day shows between which moments it happened. 'mqvitals help changes' says which attributes are watched.
"""
_MOST = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``changes``."""
    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_since_argument(parser, "7d", "12h or 30d")
    add_pattern_argument(parser, "QM01/queue/ORDERS", "QM01/queue/*")
    add_limit_argument(parser, _MOST, "the newest N of them")
    add_zone_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list")
    form.add_argument("--csv", action="store_true", help="comma-separated values with a heading line")


def run(arguments: argparse.Namespace) -> int:
    """Show the changes; returns the exit code, 0 also when there are none."""
    from mqvitals_agent.view.history.changes import change_json, change_list_lines, read_authors

    limit, back = limit_argument(arguments), duration_argument("--since", arguments.since)
    with open_store(arguments) as reader:
        now = now_of(reader)
        found = reader.changes(since=max(now - back, 0), pattern=arguments.object, limit=limit)
        authors = read_authors(reader, found)
    if arguments.json:
        print(json.dumps([change_json(each, authors.get(each)) for each in found], indent=1))
    elif arguments.csv:
        rows = [{key: _cell(value) for key, value in change_json(each, authors.get(each)).items()} for each in found]
        writer = csv.DictWriter(sys.stdout, _CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        show_lines(list(change_list_lines(found, now, line_width(), authors)))
    return ExitCode.DONE


def _cell(value: object) -> object:
    from mqvitals_agent.text.terminal import safe

    return safe(value) if isinstance(value, str) else value


_CSV_COLUMNS = (
    "seen", "seen_before", "object", "attribute", "metric", "old", "new", "old_words", "new_words", "altered",
    "altered_moved", "security", "user",
)  # fmt: skip
