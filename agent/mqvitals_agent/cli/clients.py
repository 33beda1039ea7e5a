"""``mqvitals clients``: who is connected through which channel, as last polled, the most instances first."""

from __future__ import annotations

import argparse
import json
from fnmatch import fnmatchcase

from mqvitals_agent.cli.units import queue_managers_of
from mqvitals_agent.commandline.arguments import add_store_arguments, now_ms, open_store
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.errors import ExitCode, Failure

_DESCRIPTION = """\
Lists the clients of server-connection channels as the agent last polled them: for each channel its instances and their
share of MAXINST, then its clients by address and application, those with the most instances first, with the share of
MAXINSTC that their address holds. It asks no queue manager.
"""
_MOST = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``clients``."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "queue_managers", metavar="QUEUE_MANAGER", nargs="*", help="only of these (default: all in the store)"
    )
    parser.add_argument(
        "--channel", metavar="NAME", default="*", help="only of this channel; * and ? stand for any text"
    )
    parser.add_argument(
        "--limit", metavar="N", type=int, default=_MOST, help="at most N clients of a channel (default: %(default)s)"
    )
    add_store_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list with one object for each channel, with all clients")


def run(arguments: argparse.Namespace) -> int:
    """Show the clients; returns the exit code, 0 also when there are none. Raises Failure."""
    from mqvitals_agent.view.clients import client_json, client_lines, read_clients

    if arguments.limit < 1:
        raise Failure("--limit must be 1 at least")
    with open_store(arguments) as reader:
        meta, last = reader.meta(), reader.last_ts()
        now = last if meta.past and last is not None else now_ms()
        names = queue_managers_of(reader, arguments.queue_managers)
        found = [
            read_clients(reader, name.owner, lambda channel: fnmatchcase(channel, arguments.channel)) for name in names
        ]
    if arguments.json:
        print(json.dumps(client_json(found), indent=1))
    else:
        show_lines(list(client_lines(found, now, line_width(), arguments.limit)))
    return ExitCode.DONE
