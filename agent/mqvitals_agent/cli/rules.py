"""``mqvitals rules``: check rule files, play their tests, list the rules, explain one rule or its verdict about an object."""

from __future__ import annotations

import argparse

from mqvitals_agent.cli import rules_check, rules_list, rules_test
from mqvitals_agent.commandline.arguments import add_zone_argument

_EXPLAIN = """\
Prints a rule: its condition, thresholds with their origin, advice, caveat and source. With an object (QM01/buffer_pool/3) and a store
it judges that object as it is now: the condition with the values filled in, the verdict, what is missing where it is unknown, with the facts to declare as lines for the configuration, and the
rule's past alerts about the object.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``check``, ``test``, ``list`` and ``explain``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="say what is wrong with rule files", description=rules_check.DESCRIPTION)
    rules_check.add_arguments(check)
    test = actions.add_parser("test", help="play tests of rules", description=rules_test.DESCRIPTION)
    rules_test.add_arguments(test)
    listing = actions.add_parser("list", help="list the rules in force", description=rules_list.DESCRIPTION)
    rules_list.add_arguments(listing)
    explain = actions.add_parser("explain", help="explain a rule, or its verdict about an object", description=_EXPLAIN)
    explain.add_argument("rule", metavar="RULE", help="the rule's id, such as BP-01")
    explain.add_argument(
        "object", metavar="OBJECT", nargs="?", help="an object of the store, such as QM01/buffer_pool/3"
    )
    explain.add_argument("--store", metavar="FILE", help="the store (default: that of the configuration)")
    add_zone_argument(explain)
    for command in (check, test, listing, explain):
        command.add_argument(
            "--config", metavar="FILE", help="the configuration (default: the one MQVITALS_CONFIG names)"
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure."""
    if arguments.action == "check":
        return rules_check.run(arguments)
    if arguments.action == "list":
        return rules_list.run(arguments)
    if arguments.action == "test":
        return rules_test.run(arguments)
    from mqvitals_agent.cli.explain import explain

    return explain(arguments)
