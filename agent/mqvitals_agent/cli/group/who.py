"""``mqvitals who``: which applications have a queue open, asked of its queue managers now."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments, open_store, refuse_past
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.time_arguments import add_wait_argument, now_ms, waiting_ms
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.text.styled import Line
    from mqvitals_agent.who.holder import Holders
    from mqvitals_rules.snapshot import ObjectName

_QUEUE = "queue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``who``."""
    parser.description = (
        "Lists the applications that have a queue open. The agent that writes the store asks the queue managers, once"
        " and now. Exit code 0 when all queue managers answered, 1 when some could not be asked, 2 when none could."
    )
    parser.add_argument("queue", metavar="QUEUE", help="its name, or QM01/queue/NAME for that of one queue manager")
    parser.add_argument(
        "--queue-manager", metavar="QM", help="only the handles on this queue manager, of a shared queue too"
    )
    add_store_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list with one object for each queue of that name")
    add_wait_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask and show; returns the exit code. Raises Failure."""
    from dataclasses import replace

    from mqvitals_agent.who.holder import to_json

    timeout_ms = waiting_ms(arguments.wait)
    with open_store(arguments) as reader:
        queues = _queues(reader, arguments.queue, arguments.queue_manager)
        refuse_past(reader)
        path = reader.path
    found = _ask(path, queues, timeout_ms)
    only = arguments.queue_manager
    if only is not None:
        found = tuple(
            replace(each, members=tuple(member for member in each.members if member.queue_manager == only))
            for each in found
        )
    members = [member for each in found for member in each.members]
    if not members:
        raise Failure(
            f"the agent asked no queue manager {only or 'at all'}", hint="'mqvitals status' lists the queue managers"
        )
    if arguments.json:
        print(json.dumps([json.loads(to_json(each)) for each in found]))
    else:
        _show(found)
    problems = sum(bool(member.problem) for member in members)
    if problems == len(members):
        return ExitCode.FAILED
    return ExitCode.FOUND if problems else ExitCode.DONE


def _queues(reader: StoreReader, text: str, queue_manager: str | None) -> tuple[ObjectName, ...]:
    """The queues that are meant. Raises Failure with the nearest names where there is none, StoreError."""
    from contextlib import suppress

    from mqvitals_rules.snapshot import ObjectName

    whole = None
    if f"/{_QUEUE}/" in text:
        # A queue's own name may have such a part too.
        with suppress(ValueError):
            whole = ObjectName.parse(text)
    groups = {owner.name for owner in reader.owners() if owner.is_group}
    known = [row.name for row in reader.objects("*") if row.name.kind == _QUEUE]
    found = [name for name in known if name == whole] or [name for name in known if name.name == text]
    if not found:
        raise Failure(
            f"the store {reader.path} holds no queue {text}", hint=_near(known, text, whole=whole is not None)
        )
    if queue_manager is None:
        return tuple(found)
    chosen = tuple(name for name in found if name.owner == queue_manager or name.owner in groups)
    if not chosen:
        owners = " and ".join(name.owner for name in found)
        raise Failure(f"{queue_manager} has no queue {text}", hint=f"there is one in {owners}")
    return chosen


def _near(known: Sequence[ObjectName], text: str, *, whole: bool) -> str:
    from difflib import get_close_matches

    by_key = {(each := str(name) if whole else name.name).upper(): each for name in known}
    near = get_close_matches(text.upper(), by_key, 3, 0.5)
    if near:
        return f"did you mean {' or '.join(by_key[key] for key in near)}?"
    return "'mqvitals top' lists the queues" if known else "no queue has been reported yet: is the agent running?"


def _ask(path: Path, queues: Sequence[ObjectName], timeout_ms: int) -> tuple[Holders, ...]:
    import time

    from mqvitals_agent.who.client import ask_agent

    def pause(seconds: float) -> bool:
        time.sleep(seconds)
        return False

    found = ask_agent(path, queues, now_ms, pause, timeout_s=timeout_ms / 1000)
    assert found is not None, "it waits to the end"
    return found


def _show(found: Sequence[Holders]) -> None:
    from mqvitals_agent.text.figure import object_words
    from mqvitals_agent.text.styled import heading
    from mqvitals_agent.view.screens.holders import holders_lines

    now, width = now_ms(), line_width()
    lines: list[Line] = []
    for each in found:
        if len(found) > 1:
            lines.append(heading(object_words(each.queue), width))
        lines += holders_lines(each, now, width)
    show_lines(lines)
