"""``mqvitals review``: a report on the configuration, the applications and the data."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mqvitals_agent.errors import ExitCode

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.config import RuleConfig

_DESCRIPTION = """\
Evaluates all rules about the configuration, applications and the data themselves for the current state of every
object of a store, and writes a report: for each queue manager and the group the findings, worst first, with their
figures, advice, caveat, the MQSC command to display them and the source document; the checks that could not be
evaluated and the fact or source that each lacks; and the number of checks that are OK. Exit code 0 when there are no
findings, 1 when there are some, 2 when the store cannot be read or is empty.

With --first-day it reports instead which of all rules cannot be evaluated, and which declaration, trace, monitoring or
permission would unlock most of them; exit code 1 when something would. An agent logs the first of these after an hour.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``review``."""
    from mqvitals_agent.commandline.arguments import add_store_arguments
    from mqvitals_agent.commandline.time_arguments import add_zone_argument

    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_zone_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="for a terminal or a printer (default)")
    form.add_argument("--markdown", action="store_true", help="Markdown, with tables")
    form.add_argument("--json", action="store_true", help="one JSON object, for programs")
    parser.add_argument(
        "--first-day", action="store_true", help="what the rules lack, and what would help most, in that order"
    )
    parser.add_argument(
        "--ascii", action="store_true", help="nothing but ASCII: signs as words, other characters by their numbers"
    )
    parser.add_argument(
        "--queue-manager",
        metavar="NAME",
        action="append",
        default=[],
        help="only this queue manager, or group; may be given more than once",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the review; returns the exit code. Raises Failure."""
    from mqvitals_agent.commandline.arguments import check_owners, open_store, refuse_empty
    from mqvitals_agent.commandline.output import only_ascii, show_blocks
    from mqvitals_agent.commandline.settings import loaded_settings, rule_config_of
    from mqvitals_agent.review.store_report import review_blocks, review_json
    from mqvitals_agent.review.store_review import review_store

    if arguments.ascii:
        only_ascii()
    config = rule_config_of(loaded_settings(arguments).settings)
    with open_store(arguments) as reader:
        refuse_empty(reader, watched=True)
        check_owners(reader, arguments.queue_manager)
        if arguments.first_day:
            return _show_first_day(reader, config, arguments)
        examined = review_store(reader, config, arguments.queue_manager)
        origin = reader.meta().origin
    if arguments.json:
        print(json.dumps(review_json(examined, origin), indent=2))
    else:
        blocks = review_blocks(examined, origin, ascii_only=arguments.ascii)
        show_blocks(blocks, markdown=arguments.markdown, ascii_only=arguments.ascii)
    found = any(each.outcome.troubles for each in examined)
    return ExitCode.FOUND if found else ExitCode.DONE


def _show_first_day(reader: StoreReader, config: RuleConfig, arguments: argparse.Namespace) -> int:
    from mqvitals_agent.commandline.output import show_blocks
    from mqvitals_agent.review.first_day import first_day, first_day_blocks, first_day_json

    found = first_day(reader, config, arguments.queue_manager)
    if arguments.json:
        print(json.dumps(first_day_json(found), indent=2))
    else:
        show_blocks(first_day_blocks(found), markdown=arguments.markdown, ascii_only=arguments.ascii)
    return ExitCode.FOUND if found.remedies else ExitCode.DONE
