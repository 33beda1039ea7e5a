"""``mqvitals units``: the units of work of queue managers, asked of them now, the oldest first."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mqvitals_agent.cli.who import waiting_ms
from mqvitals_agent.commandline.arguments import add_store_arguments, now_ms, open_store
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.snapshot import ObjectName


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``units``."""
    parser.description = (
        "Lists the units of work of queue managers, the oldest first: state, application, user, first log record, QMURID."
        " The agent that writes the store asks the queue managers, once and now. Exit code 0 when all queue managers"
        " answered, 1 when some could not be asked, 2 when none could."
    )
    parser.add_argument(
        "queue_managers", metavar="QUEUE_MANAGER", nargs="*", help="only of these (default: all in the store)"
    )
    add_store_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list with one object for each queue manager")
    parser.add_argument(
        "--wait",
        metavar="DURATION",
        default="20s",
        help="wait so long for the answer, at most 60s (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Ask and show; returns the exit code. Raises Failure."""
    import time

    from mqvitals_agent.view.screens.units import units_lines
    from mqvitals_agent.who.client import UNITS_OF_WORK, ask_of
    from mqvitals_agent.who.holder import UnitsOfWork, to_json

    timeout_ms = waiting_ms(arguments.wait)
    with open_store(arguments) as reader:
        names = queue_managers_of(reader, arguments.queue_managers)
        meta = reader.meta()
        if meta.past:
            raise Failure(
                f"the store {reader.path} holds {meta.holds}: there is no queue manager to ask",
                hint="name the store of a running agent",
            )
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


def queue_managers_of(reader: StoreReader, wanted: list[str]) -> tuple[ObjectName, ...]:
    """The queue managers that are meant. Raises Failure where one is not in the store, StoreError."""
    from mqvitals_config.problem import suggestion
    from mqvitals_rules.snapshot import ObjectName

    known = sorted(owner.name for owner in reader.owners() if not owner.is_group)
    for name in wanted:
        if name not in known:
            hint = suggestion(name, known) or f"there is {', '.join(known) or 'none yet: is the agent running?'}"
            raise Failure(f"the store {reader.path} holds no queue manager {name}", hint=hint)
    if not known:
        raise Failure(f"the store {reader.path} holds no queue manager", hint="is the agent running?")
    return tuple(ObjectName(name, "queue_manager") for name in dict.fromkeys(wanted or known))
