"""``mqvitals clients``: who is connected through which channel, as last polled, the most instances first."""

from __future__ import annotations

import argparse
import json
from fnmatch import fnmatchcase

from mqvitals_agent.commandline.arguments import (
    add_limit_argument,
    add_queue_managers_argument,
    add_store_arguments,
    limit_argument,
    open_store,
    queue_managers_of,
)
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.time_arguments import now_of
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Lists the clients of server-connection channels as the agent last polled them: for each channel its instances and their
share of MAXINST, then its clients by address and application, those with the most instances first, with the share of
MAXINSTC that their address holds. It asks no queue manager.
"""
_MOST = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``clients``."""
    parser.description = _DESCRIPTION
    add_queue_managers_argument(parser)
    parser.add_argument(
        "--channel", metavar="NAME", default="*", help="only of this channel; * and ? stand for any text"
    )
    add_limit_argument(parser, _MOST, "at most N clients of a channel")
    add_store_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list with one object for each channel, with all clients")


def run(arguments: argparse.Namespace) -> int:
    """Show the clients; returns the exit code, 0 also when there are none. Raises Failure."""
    from mqvitals_agent.view.lists.clients import client_json, client_lines, read_clients

    most = limit_argument(arguments)
    with open_store(arguments) as reader:
        now = now_of(reader)
        names = queue_managers_of(reader, arguments.queue_managers)
        found = [
            read_clients(reader, name.owner, lambda channel: fnmatchcase(channel, arguments.channel)) for name in names
        ]
    if arguments.json:
        print(json.dumps(client_json(found), indent=1))
    else:
        show_lines(list(client_lines(found, now, line_width(), most)))
    return ExitCode.DONE
