"""``mqvitals alerts audit``: who did what about alerts, and when."""

from __future__ import annotations

import argparse
import json

from mqvitals_agent.commandline.arguments import add_limit_argument, add_store_arguments, limit_argument, open_store
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.time_arguments import add_since_argument, add_zone_argument, duration_argument, now_of
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Lists what people did about alerts, oldest first: who acknowledged, took back, wrote a note, or made, extended or ended
a silence, and when. The store keeps this for a year, or as long as alerts where that is longer.
"""
_MOST = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts audit``."""
    parser.description = _DESCRIPTION
    add_since_argument(parser, "7d", "12h or 30d")
    add_limit_argument(parser, _MOST, "the newest N of them")
    parser.add_argument("--json", action="store_true", help="a JSON list")
    add_zone_argument(parser)
    add_store_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """List the audit; returns the exit code, 0 also when it is empty. Raises Failure and StoreError."""
    from mqvitals_agent.view.alerts.actions import audit_json, audit_lines

    limit, back = limit_argument(arguments), duration_argument("--since", arguments.since)
    with open_store(arguments) as reader:
        found = reader.audit(since=max(now_of(reader) - back, 0), limit=limit)
    if arguments.json:
        print(json.dumps([audit_json(each) for each in found], indent=1))
    else:
        show_lines(audit_lines(found, line_width()))
    return ExitCode.DONE
