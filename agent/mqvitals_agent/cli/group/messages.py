"""``mqvitals messages``: lists the console messages and event messages in a store."""

from __future__ import annotations

import argparse
import json

from mqvitals_agent.commandline.arguments import (
    add_limit_argument,
    add_store_arguments,
    check_owners,
    limit_argument,
    open_store,
)
from mqvitals_agent.commandline.output import line_width, show
from mqvitals_agent.commandline.time_arguments import add_since_argument, add_zone_argument, duration_argument, now_of
from mqvitals_agent.errors import ExitCode
from mqvitals_agent.text.terminal import wrap
from mqvitals_rules.vocabulary.event import is_event

_DESCRIPTION = """\
Lists the console messages that the agent found in the files it follows (console.follow), and the event messages of the
queues it reads (polling.events), oldest first. A message that occurs several times within one second is one entry with
its count. 'mqvitals help console' describes how lines reach the agent, and which messages it recognises.
"""
_MOST = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``messages``."""
    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    parser.add_argument(
        "--queue-manager",
        metavar="NAME",
        action="append",
        default=[],
        help="only of this queue manager; may be repeated",
    )
    add_since_argument(parser, "1d", "30m or 7d")
    parser.add_argument(
        "--id",
        metavar="ID",
        action="append",
        default=[],
        help="only messages with this id, such as CSQP020E or event:2283:8; may be repeated",
    )
    add_limit_argument(parser, _MOST, "the newest N of them")
    add_zone_argument(parser)
    parser.add_argument("--json", action="store_true", help="a JSON list")


def run(arguments: argparse.Namespace) -> int:
    """Show the messages; returns the exit code, 0 also when there are none."""
    from mqvitals_agent.view.history.console import event_queue_words, message_json, message_list_lines

    limit, back = limit_argument(arguments), duration_argument("--since", arguments.since)
    with open_store(arguments) as reader:
        now = now_of(reader)
        found = reader.messages(
            owners=arguments.queue_manager or None,
            codes=[code if is_event(code) else code.upper() for code in arguments.id] or None,
            since=now - back,
            limit=limit,
        )
        owners = {each.owner for each in found}
        check_owners(reader, [name for name in arguments.queue_manager if name not in owners])
        followed, failing, queues = reader.sources_followed(), reader.consoles_failing(), reader.event_queues()
    if arguments.json:
        print(json.dumps([message_json(each) for each in found], indent=1))
    else:
        about_queues = [text for each in event_queue_words(queues) for text in wrap(each, line_width(), rest="  ")]
        show([*message_list_lines(found, followed, now, line_width(), failing), *about_queues])
    return ExitCode.DONE
