"""``mqvitals top``: the full-screen interface on a store, while an agent writes it or afterwards.

With a scenario it brings an agent along, as the demonstration does, unless one writes the store already.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.cli.failure import ExitCode, Failure
from mqvitals_agent.cli.simulation import add_scenario_arguments
from mqvitals_agent.cli.store_argument import add_store_arguments, now_ms, settings_of
from mqvitals_tui.companion import PROGRAM, await_store, companion, ended_words, last_words, writer_of

if TYPE_CHECKING:
    from textual.app import App

    from mqvitals_rules.check import Judging

_WHAT = "the agent"
LOOKS = ("dark", "light", "contrast")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``mqvitals top``."""
    parser.description = "Shows a store. With --scenario, and when no agent writes the store yet, it starts one, which ends with the screen."
    add_store_arguments(parser)
    add_scenario_arguments(parser)
    add_theme(parser)


def add_theme(parser: argparse.ArgumentParser) -> None:
    """Declare ``--theme``."""
    parser.add_argument("--theme", choices=LOOKS, default=LOOKS[0], help="the colours (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Show the store until the user ends it; returns the exit code. Raises Failure."""
    from mqvitals_agent.cli.rule_argument import judging_of
    from mqvitals_agent.store.error import StoreError
    from mqvitals_agent.store.reader import StoreReader

    settings = settings_of(arguments).settings
    if not settings.store.path:
        raise Failure("no store is named", hint="name one with --store FILE, MQVITALS_STORE, or store.path")
    path = Path(settings.store.path)
    judging = judging_of(settings)
    if arguments.scenario is not None:
        if not has_terminal():
            raise Failure(
                "the full-screen interface needs a terminal",
                hint=f"'mqvitals agent --scenario {arguments.scenario} --store {path}' runs the agent alone",
            )
        writer = writer_of(path)
        if writer is None:
            return _with_agent(path, arguments, judging)
    else:
        writer = None
    if not path.exists():
        raise Failure(
            f"there is no store {path}, and queue managers cannot be asked without an agent",
            hint=f"'mqvitals top --scenario busy-morning --store {path}' brings one; 'mqvitals demo' needs no store",
        )
    try:
        # What is no store is better said here than on a screen that has nothing to show.
        StoreReader.open(path).close()
    except StoreError as error:
        raise Failure(error.message, hint=error.hint) from error
    if not has_terminal():
        raise Failure(
            "the full-screen interface needs a terminal",
            hint=f"'mqvitals status --store {path}' shows the same as text",
        )
    code = _show(path, judging, now_ms, arguments)
    if writer is not None:
        sys.stderr.write(
            f"mqvitals: this showed the agent that was writing the store already (process {writer});"
            f" no scenario {arguments.scenario} was started\n"
        )
    return code


def agent_command(path: Path, arguments: argparse.Namespace) -> tuple[str, ...]:
    """The command line of the agent that is brought along for the store ``path``."""
    words = [*PROGRAM, "agent", "--scenario", arguments.scenario, "--store", str(path), "--seed", str(arguments.seed)]
    words += ["--speed", f"{arguments.speed:.17g}", "--queues", str(arguments.queues)]
    words += ["--channels", str(arguments.channels)]
    if arguments.interval is not None:
        words += ["--interval", arguments.interval]
    if arguments.config is not None:
        words += ["--config", arguments.config]
    return tuple(words)


def _with_agent(path: Path, arguments: argparse.Namespace, judging: Judging) -> int:
    """Show the store ``path`` and what an agent of our own writes into it. Raises Failure when there is no agent."""
    from mqvitals_agent.clock import SystemClock

    with tempfile.TemporaryDirectory(prefix="mqvitals-top-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        command = agent_command(path, arguments)
        with companion(folder, command, os.environ, temporary=True, what=_WHAT) as living:
            await_store(living, folder, lambda: path.exists() and writer_of(path) == str(living.pid), what=_WHAT)
            now = now_ms if arguments.speed == 1 else SystemClock(now_ms(), arguments.speed).now
            code = _show(path, judging, now, arguments, ended_words(living, folder, what=_WHAT))
            if living.poll():
                raise Failure(f"{_WHAT} ended early: {last_words(folder)}")
    return code


def _show(
    path: Path,
    judging: Judging,
    now: Callable[[], int],
    arguments: argparse.Namespace,
    ended: Callable[[], str] = str,
) -> int:
    from mqvitals_tui.app import MqvitalsApp

    return on_screen(MqvitalsApp(path, judging, now, theme=f"mqvitals-{arguments.theme}", ended=ended))


def has_terminal() -> bool:
    """Whether a person sits at a terminal that can be drawn on. The toolkit draws on standard error."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return os.environ.get("TERM", "dumb") != "dumb" and all(
        stream is not None and stream.isatty() for stream in streams
    )


def on_screen(app: App[Any]) -> int:
    """Run ``app`` to its end, which SIGTERM and SIGHUP also bring, the terminal left as it was; returns the exit code."""
    from mqvitals_tui.turns import short_turns

    with short_turns():
        return asyncio.run(_on_screen(app))


async def _on_screen(app: App[Any]) -> int:
    loop = asyncio.get_running_loop()
    came: list[int] = []

    def end(number: int) -> None:
        # A handler that raises could do so in the midst of drawing: the terminal would stay as it was then.
        came.append(number)
        app.exit()

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    taken = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in taken:
        loop.add_signal_handler(number, end, number)
    try:
        # After SIGHUP there is no terminal any more to put in order.
        with suppress(OSError):
            await app.run_async()
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
    if came:
        return 128 + came[0]
    # The toolkit shows a mistake in the interface itself, and remembers that it did.
    return app.return_code or ExitCode.DONE
