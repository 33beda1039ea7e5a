"""``mqvitals top``: the full-screen interface on a store, while an agent writes it or afterwards.

With a scenario, or with a configuration that tells how queue managers are reached, it brings an agent along, as the
demonstration does, unless one writes the store already.
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

from mqvitals_agent.bounded_call import run_in_loop
from mqvitals_agent.commandline.arguments import (
    add_scenario_arguments,
    add_store_arguments,
    loaded_settings,
    now_ms,
    refuse_simulation_options,
    speed_word,
)
from mqvitals_agent.commandline.failure import ExitCode, Failure
from mqvitals_agent.store.lock import writer_of
from mqvitals_tui.companion import PROGRAM, await_store, companion, ended_words, last_words, time_of
from mqvitals_tui.forced_end import ForcedEnd

if TYPE_CHECKING:
    from textual.app import App

    from mqvitals_config.load import LoadedSettings
    from mqvitals_config.settings import Settings
    from mqvitals_rules.rule_config import RuleConfig

_WHAT = "the agent"
_STORE = "top.db"
_DESCRIPTION = """\
Shows a store. When no agent writes it yet it starts one, which ends with the screen: with --scenario on a simulated group, else with a
configuration that tells how queue managers are reached. Without a store named, that agent's is a temporary one.
"""
LOOKS = ("dark", "light", "contrast")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``mqvitals top``."""
    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_scenario_arguments(parser)
    parser.add_argument("--no-agent", action="store_true", help="only look; start no agent")
    add_theme(parser)


def add_theme(parser: argparse.ArgumentParser) -> None:
    """Declare ``--theme``."""
    parser.add_argument("--theme", choices=LOOKS, default=LOOKS[0], help="the colours (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Show the store until the user ends it; returns the exit code. Raises Failure."""
    from mqvitals_agent.commandline.settings import judging_of
    from mqvitals_agent.store.error import StoreError
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.rule_config import readable_rule_config

    loaded = loaded_settings(arguments)
    settings = loaded.settings
    if arguments.no_agent and arguments.scenario is not None:
        raise Failure("--scenario needs an agent, and --no-agent forbids one", hint="leave one of them out")
    leads = arguments.scenario is None and not arguments.no_agent and leads_somewhere(settings)
    if not settings.store.path:
        if not leads and arguments.scenario is None:
            raise Failure("no store is named", hint="name one with --store FILE, MQVITALS_STORE, or store.path")
        if settings.receivers:
            # They would be told of every alert anew each time, and never that it has ended.
            raise Failure(
                "no store is named, and an agent that has receivers to tell needs one that stays",
                hint="name one with --store FILE, MQVITALS_STORE, or store.path",
            )
        return _with_agent(None, loaded, arguments, judging_of(settings))
    path = Path(settings.store.path)
    writer = None
    if arguments.scenario is not None:
        writer = writer_of(path)
        if writer is None:
            return _with_agent(path, loaded, arguments, judging_of(settings))
    elif leads and writer_of(path) is None and may_write(path):
        return _with_agent(path, loaded, arguments, judging_of(settings))
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
    # An agent of ours could not begin with a mistake in the rules; who only looks sees what there is.
    code = _show(path, readable_rule_config(settings), now_ms, arguments)
    if writer is not None:
        sys.stderr.write(
            f"mqvitals: this showed the agent that was writing the store already (process {writer});"
            f" no scenario {arguments.scenario} was started\n"
        )
    return code


def leads_somewhere(settings: Settings) -> bool:
    """Whether the settings tell of any queue manager how it is reached."""
    return any(settings.connection_of(each).leads_somewhere for each in settings.queue_managers)


def may_write(store: Path) -> bool:
    """Whether an agent of ours could write the store. Whoever may only read one only looks: the agent is another's."""
    lock = store.with_name(store.name + ".lock")
    there = [each for each in (store, lock) if each.exists()]
    return store not in there or all(os.access(each, os.R_OK | os.W_OK) for each in (*there, store.parent))


def agent_command(path: Path, arguments: argparse.Namespace, config: str | None) -> tuple[str, ...]:
    """The command line of the agent that is brought along for the store ``path``, with the settings of ``config``."""
    words = [*PROGRAM, "agent", "--store", str(path)]
    if arguments.scenario is not None:
        words += ["--scenario", arguments.scenario, "--seed", str(arguments.seed)]
        words += ["--speed", speed_word(arguments.speed), "--queues", str(arguments.queues)]
        words += ["--channels", str(arguments.channels)]
    if arguments.interval is not None:
        words += ["--interval", arguments.interval]
    if config is not None:
        words += ["--config", config]
    return tuple(words)


def _with_agent(path: Path | None, loaded: LoadedSettings, arguments: argparse.Namespace, judging: RuleConfig) -> int:
    """Show the store ``path`` and what an agent of our own writes into it. Raises Failure when there is no agent.

    Without a path the store lies in a temporary folder, and goes with it.
    """
    if arguments.scenario is None:
        refuse_simulation_options(arguments)
    if not has_terminal():
        what = "--config FILE" if arguments.scenario is None else f"--scenario {arguments.scenario}"
        raise Failure(
            "the full-screen interface needs a terminal",
            hint=f"'mqvitals agent {what} --store {path or 'FILE'}' runs the agent alone",
        )
    with _folder() as name:
        folder = Path(name)
        store = folder / _STORE if path is None else path
        command = agent_command(store, arguments, loaded.path)
        with ForcedEnd() as forced, companion(folder, command, os.environ, temporary=True, what=_WHAT) as living:
            forced.take_along(living, folder)
            try:
                await_store(living, folder, lambda: store.exists() and writer_of(store) == str(living.pid), what=_WHAT)
            except Failure as failure:
                if not store.exists():
                    raise
                hints = (failure.hint, "--no-agent shows the store as it is")
                raise Failure(failure.message, hint="; ".join(filter(None, hints))) from failure
            now = time_of(store, arguments.speed)
            code = _show(store, judging, now, arguments, ended_words(living, folder, what=_WHAT), forced)
            if code < 128 and living.poll():
                raise Failure(f"{_WHAT} ended early: {last_words(folder)}")
    if path is None and code < 128:
        sys.stderr.write(
            "mqvitals: what was seen is gone with the screen; --store FILE, MQVITALS_STORE or store.path keeps it\n"
        )
    return code


def _folder() -> tempfile.TemporaryDirectory[str]:
    """For the agent's log, and for a store that is not to stay. Raises Failure."""
    try:
        return tempfile.TemporaryDirectory(prefix="mqvitals-top-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Failure(
            f"there is no folder for the agent's log: {error.strerror}", hint="TMPDIR names another"
        ) from error


def _show(
    path: Path,
    judging: RuleConfig,
    now: Callable[[], int],
    arguments: argparse.Namespace,
    ended: Callable[[], str] = str,
    forced: ForcedEnd | None = None,
) -> int:
    from mqvitals_tui.app import MqvitalsApp

    return on_screen(MqvitalsApp(path, judging, now, theme=f"mqvitals-{arguments.theme}", ended=ended), forced)


def has_terminal() -> bool:
    """Whether a person sits at a terminal that can be drawn on. The toolkit draws on standard error."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return os.environ.get("TERM", "dumb") != "dumb" and all(
        stream is not None and stream.isatty() for stream in streams
    )


def on_screen(app: App[Any], forced: ForcedEnd | None = None) -> int:
    """Run ``app`` to its end, which SIGTERM and SIGHUP also bring, the terminal left as it was; returns the exit code.

    ``forced`` is what ends it when it cannot end in order, and is entered already.
    """
    from mqvitals_tui.turns import short_turns

    if forced is None:
        with ForcedEnd() as forced:
            return on_screen(app, forced)
    with short_turns():
        return run_in_loop(_on_screen(app, forced))


async def _on_screen(app: App[Any], forced: ForcedEnd) -> int:
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
        # The loop learns of the signal by its file descriptor; this runs also while the loop waits for the terminal.
        signal.signal(number, lambda number, _: forced.begin(number))
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
