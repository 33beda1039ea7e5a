"""The command line: one table of commands, each imported only when it is used; SIGTERM and SIGHUP end one in order.

``mqvitals-agent`` starts here; ``mqvitals`` starts in ``mqvitals_tui.main``, which adds its own commands to the table.
stdout is data, stderr is for messages.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from types import FrameType
from typing import NamedTuple

from mqvitals_agent import __version__
from mqvitals_agent.commandline.output import cannot_write, complain, give_up_output, prepare_streams
from mqvitals_agent.errors import ExitCode, Failure, MqvitalsError
from mqvitals_agent.gc_tuning import fewer_collections

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)

GRACE_S = 5.0
"""A closing terminal sends SIGHUP twice, a service manager both signals: within this time one signal is enough."""


class Stopped(KeyboardInterrupt):
    """SIGTERM or SIGHUP. Code that ends in order at Ctrl-C does so at this too."""


class Stop:
    """Which signal came, if any."""

    def __init__(self) -> None:
        self.number = 0
        self._came = 0.0

    @property
    def code(self) -> int | None:
        """The exit code of a program that a signal ended, as shells have it; None when no signal came."""
        return 128 + self.number if self.number else None

    def on_signal(self, number: int, _: FrameType | None) -> None:
        """Raise Stopped where the program is, unless it is ending already."""
        now = time.monotonic()
        if self.number and now - self._came < GRACE_S:
            return
        self.number, self._came = self.number or number, now
        raise Stopped


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Within, SIGTERM and SIGHUP raise Stopped. One that is ignored (``nohup``) stays so."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, stop.on_signal)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            if stop.number:
                # The program is about to end with the exit code of the first signal; another must not kill it before.
                signal.signal(number, signal.SIG_IGN)
            else:
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)


_INTERRUPTED = 130


class Command(NamedTuple):
    """A command's name, one line of help, and the module with ``add_arguments`` and ``run``.

    ``failed`` is its exit code when it cannot do its work.
    """

    name: str
    help: str
    module: str
    failed: int = ExitCode.FAILED


COMMANDS = (
    Command(
        "status",
        "the state of the group on one screen; exit code 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN",
        "mqvitals_agent.cli.group.status",
        failed=3,
    ),
    Command(
        "fleet",
        "several groups side by side, worst first, one line a group; exit code as of status, for the worst",
        "mqvitals_agent.cli.group.fleet",
        failed=3,
    ),
    Command(
        "show", "an object with all that is known of it, now or as of a past moment", "mqvitals_agent.cli.group.show"
    ),
    Command("trend", "metrics of objects over time, as a chart, CSV or JSON", "mqvitals_agent.cli.group.trend"),
    Command("export", "history as a table: CSV, JSON lines or Parquet", "mqvitals_agent.cli.group.export"),
    Command(
        "clients",
        "who is connected through which channel, with the share of its limits",
        "mqvitals_agent.cli.group.clients",
    ),
    Command(
        "who", "which applications have a queue open, asked of its queue managers now", "mqvitals_agent.cli.group.who"
    ),
    Command(
        "units",
        "the units of work of queue managers, asked of them now, oldest first",
        "mqvitals_agent.cli.group.units",
    ),
    Command("alerts", "alerts: list, acknowledge, silence, route, test", "mqvitals_agent.cli.alerts"),
    Command("maintenance", "maintenance windows: list, test a time", "mqvitals_agent.cli.maintenance"),
    Command(
        "changes",
        "changes of definitions: what was altered, when, from what to what",
        "mqvitals_agent.cli.group.changes",
    ),
    Command(
        "journal",
        "what happened, as one list: states, definitions, restarts, alerts, actions, messages",
        "mqvitals_agent.cli.group.journal",
    ),
    Command(
        "report",
        "the handover to the next shift: what is open, what was, what changed, what may come",
        "mqvitals_agent.cli.group.report",
    ),
    Command("messages", "the console messages and event messages in a store", "mqvitals_agent.cli.group.messages"),
    Command("agent", "poll, evaluate rules, store and notify, until it is stopped", "mqvitals_agent.cli.agent"),
    Command("record", "run the agent and record every exchange", "mqvitals_agent.cli.recordings.record"),
    Command("redact", "copy a recording without the names of its site", "mqvitals_agent.cli.recordings.redact"),
    Command("replay", "play a recording into a store", "mqvitals_agent.cli.recordings.replay"),
    Command("rules", "rules: list, explain, check, test, backtest", "mqvitals_agent.cli.rules"),
    Command("review", "a report on the configuration", "mqvitals_agent.cli.group.review"),
    Command("plan", "what if: the documents' formulas as calculators", "mqvitals_agent.cli.plan.command"),
    Command("metrics", "every metric, its unit, meaning and source", "mqvitals_agent.cli.reference.metrics"),
    Command("store", "the store's file: info, check, backup, compact, prune", "mqvitals_agent.cli.store"),
    Command("config", "settings: init, check, show, schema", "mqvitals_agent.cli.config"),
    Command("doctor", "check the connections, and the permissions at each queue manager", "mqvitals_agent.cli.doctor"),
    Command("pcf", "PCF messages: decode", "mqvitals_agent.cli.recordings.pcf"),
    Command("smf", "SMF 115 and 116: dump, import, report", "mqvitals_agent.cli.smf"),
    Command(
        "import", "put into a store what other commands of z/OS printed: xcf, netstat", "mqvitals_agent.cli.imports"
    ),
    Command("help", "the pages of the documentation", "mqvitals_agent.cli.reference.help_topic"),
    Command("completion", "completion for bash or zsh", "mqvitals_agent.cli.reference.completion"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line without the terminal interface's commands; returns the exit code."""
    return run("mqvitals-agent", COMMANDS, sys.argv[1:] if arguments is None else arguments)


def run(program: str, commands: Sequence[Command], arguments: Sequence[str]) -> int:
    """Find the command, import its module, and run it; returns the exit code, whatever happens.

    Raises SystemExit, as argparse does, after ``--help`` and for arguments that are wrong.
    """
    prepare_streams()
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    failed = next((command.failed for command in commands if command.name == chosen), int(ExitCode.FAILED))
    with stoppable() as stop, fewer_collections():
        try:
            code = _guarded(program, commands, chosen, arguments, failed)
        except KeyboardInterrupt:
            code = _INTERRUPTED
        # A command that a signal stopped may have ended in order: its exit code is that of the signal all the same.
        return code if stop.code is None else stop.code


def _guarded(
    program: str, commands: Sequence[Command], chosen: str | None, arguments: Sequence[str], failed: int
) -> int:
    """The command's exit code, or what its exceptions mean."""
    code: int | None = None
    try:
        code = _run(program, commands, chosen, arguments)
        sys.stdout.flush()
    except MqvitalsError as error:
        _report(error)
        return error.code if isinstance(error, Failure) and error.code is not None else failed
    except SystemExit as error:
        # argparse exits with 2 for wrong usage, which for ``status`` would mean CRITICAL.
        wrong = error.code == ExitCode.FAILED
        try:
            sys.stdout.flush()
        except OSError as closed:
            give_up_output()
            if not isinstance(closed, BrokenPipeError):
                complain(f"mqvitals: {cannot_write(closed)}")
                return failed
        raise SystemExit(failed if wrong else error.code) from None
    except BrokenPipeError:
        # The reader of the output (head, less) has ended; that is no failure, and Python must report none.
        give_up_output()
        if code is None:
            return ExitCode.DONE if failed == ExitCode.FAILED else failed
        return code
    except OSError as error:
        give_up_output()
        complain(f"mqvitals: {cannot_write(error)}")
        return failed
    except Exception:  # noqa: BLE001 - the last resort: Python would exit with 1, which of status means WARNING
        return _bug(program)
    return code


def _run(program: str, commands: Sequence[Command], chosen: str | None, arguments: Sequence[str]) -> int:
    parser = _parser(program, commands, {chosen} if chosen else set())
    parsed = parser.parse_args(arguments)
    if parsed.command == "completion":
        parsed.whole = whole_parser(program, commands)
    module = import_module(next(command.module for command in commands if command.name == parsed.command))
    shown: AbstractContextManager[None] = nullcontext()
    if (zone := getattr(parsed, "tz", None)) is not None:
        from mqvitals_agent.text.figure import times_in

        shown = times_in(zone)
    with shown:
        code: int = module.run(parsed)
    return code


def whole_parser(program: str, commands: Sequence[Command]) -> argparse.ArgumentParser:
    """The parser with the arguments of every command; imports them all."""
    return _parser(program, commands, {command.name for command in commands})


def _parser(program: str, commands: Sequence[Command], filled: Collection[str]) -> argparse.ArgumentParser:
    """The parser of all commands, with the arguments of those that are ``filled``."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="The vital signs of IBM MQ on z/OS.",
        epilog=f"'{program} COMMAND --help' explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"mqvitals {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in commands:
        sub = subparsers.add_parser(command.name, help=command.help, description=_sentence(command.help))
        if command.name in filled:
            import_module(command.module).add_arguments(sub)
    return parser


def _report(error: MqvitalsError) -> None:
    from mqvitals_agent.text.terminal import safe

    # A message may quote bytes of a file; its line ends are the program's.
    for line in f"mqvitals: {error.message}".split("\n"):
        complain(safe(line))
    if error.hint:
        complain(f"hint: {safe(error.hint)}")


def _bug(program: str) -> int:
    """Show the traceback, safe for a terminal, and ask for a report."""
    import traceback

    from mqvitals_agent.text.terminal import safe

    for line in traceback.format_exc().splitlines():
        complain(safe(line))
    complain(f"mqvitals: this is a mistake in {program} {__version__}: please report it with the lines above")
    give_up_output()
    return ExitCode.BUG


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


if __name__ == "__main__":
    sys.exit(main())
