"""``mqvitals top``: the full-screen interface on a store, while an agent writes it or afterwards."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.cli.failure import ExitCode, Failure
from mqvitals_agent.cli.store_argument import add_store_arguments, now_ms, settings_of

if TYPE_CHECKING:
    from textual.app import App

LOOKS = ("dark", "light", "contrast")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``mqvitals top``."""
    add_store_arguments(parser)
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
    if not path.exists():
        raise Failure(
            f"there is no store {path}, and queue managers cannot be asked without an agent",
            hint=f"'mqvitals agent --scenario busy-morning --store {path}' makes one; 'mqvitals demo' needs none",
        )
    try:
        # What is no store is better said here than on a screen that has nothing to show.
        StoreReader.open(path).close()
    except StoreError as error:
        raise Failure(error.message, hint=error.hint) from error
    judging = judging_of(settings)
    if not has_terminal():
        raise Failure(
            "the full-screen interface needs a terminal",
            hint=f"'mqvitals status --store {path}' shows the same as text",
        )
    from mqvitals_tui.app import MqvitalsApp

    return on_screen(MqvitalsApp(path, judging, now_ms, theme=f"mqvitals-{arguments.theme}"))


def has_terminal() -> bool:
    """Whether a person sits at a terminal that can be drawn on. The toolkit draws on standard error."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return os.environ.get("TERM", "dumb") != "dumb" and all(
        stream is not None and stream.isatty() for stream in streams
    )


def on_screen(app: App[Any]) -> int:
    """Run ``app`` to its end, which SIGTERM and SIGHUP also bring, the terminal left as it was; returns the exit code."""
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
