"""``mqvitals units``: the units of work of queue managers, asked of them now, the oldest first."""

from __future__ import annotations

import argparse
import json

from mqvitals_agent.commandline.arguments import (
    add_queue_managers_argument,
    add_store_arguments,
    open_store,
    queue_managers_of,
    refuse_past,
)
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.time_arguments import add_wait_argument, now_ms, waiting_ms
from mqvitals_agent.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``units``."""
    parser.description = (
        "Lists the units of work of queue managers, the oldest first: state, application, user, first log record, QMURID."
        " The agent that writes the store asks the queue managers, once and now. Exit code 0 when all queue managers"
        " answered, 1 when some could not be asked, 2 when none could."
    )
    add_queue_managers_argument(parser)
    add_store_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list with one object for each queue manager")
    add_wait_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask and show; returns the exit code. Raises Failure."""
    import time

    from mqvitals_agent.view.screens.units import units_lines
    from mqvitals_agent.who.client import UNITS_OF_WORK, ask_of
    from mqvitals_agent.who.holder import UnitsOfWork, to_json

    timeout_ms = waiting_ms(arguments.wait)
    with open_store(arguments) as reader:
        names = queue_managers_of(reader, arguments.queue_managers)
        refuse_past(reader)
        path = reader.path

    def pause(seconds: float) -> bool:
        time.sleep(seconds)
        return False

    found = ask_of(path, UNITS_OF_WORK, names, now_ms, pause, timeout_s=timeout_ms / 1000)
    assert found is not None, "it waits to the end"
    members = tuple(member for each in found for member in each.members)
    if arguments.json:
        print(json.dumps([json.loads(to_json(each)) for each in found]))
    else:
        show_lines(units_lines(UnitsOfWork(names[0], members), now_ms(), line_width()))
    problems = sum(bool(member.problem) for member in members)
    if problems == len(members):
        return ExitCode.FAILED
    return ExitCode.FOUND if problems else ExitCode.DONE
