"""``mqvitals config``: writes a configuration file, checks one, shows the settings in force, prints the JSON Schema."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.commandline.settings import settings_in_force
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.decoding.problem import Problem
    from mqvitals_config.load import LoadedSettings
    from mqvitals_config.settings import Settings


INIT_DESCRIPTION = """\
Writes a configuration file with the settings that a first run needs: the queue managers and their connections,
the store, and a receiver of alerts. On a terminal it asks for what no flag gives; Enter takes the value in brackets.
Passwords, tokens and addresses of webhooks stay in files of their own, which the settings only name. Nothing is
connected to.
"""

DEFAULT_FILE = "mqvitals.yaml"
_QUEUE_MANAGER = "a queue manager is written as NAME=HOST(PORT), such as QM01=mvs1.example(1414)"

Ask = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class QueueManagerAnswer:
    """A queue manager and where it listens; ``address`` is empty for one that is asked through another member."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What the file is made of; an empty text leaves its setting out."""

    name: str
    queue_managers: tuple[QueueManagerAnswer, ...]
    channel: str
    cipher: str
    key_repository: str
    user: str
    password_file: str
    store: str
    url_file: str


def add_init_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``config init``."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default=DEFAULT_FILE,
        help=f"the file to write (default: {DEFAULT_FILE}); - prints it",
    )
    parser.add_argument("--name", metavar="PRDQSG", help="your name for the queue-sharing group")
    parser.add_argument(
        "--queue-manager",
        metavar="QM01=HOST(1414)",
        action="append",
        type=queue_manager,
        help="a queue manager and where it listens, or its name alone where another member is to be asked for it;"
        " repeat it",
    )
    parser.add_argument("--channel", metavar="NAME", help="the server-connection channel")
    parser.add_argument("--cipher", metavar="SPEC", help="the CipherSpec of the channel; none: not encrypted")
    parser.add_argument("--key-repository", metavar="PATH", help="the key repository with the certificates")
    parser.add_argument("--user", metavar="USER", help="the user id to connect with")
    parser.add_argument("--password-file", metavar="FILE", help="the file that holds its password")
    parser.add_argument("--store", metavar="FILE", help="where samples and alerts are kept")
    parser.add_argument("--url-file", metavar="FILE", help="the file that holds the address of a webhook for alerts")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def run_init(arguments: argparse.Namespace, ask: Ask | None = None) -> int:
    """Write the file; returns the exit code. Raises Failure when it cannot be written or the answers are no settings.

    ``ask`` puts a question and returns the answer; by default only in a terminal.
    """
    if ask is None and sys.stdin.isatty() and sys.stderr.isatty():
        ask = _ask
    printed = arguments.file == "-"
    path = Path(arguments.file)
    if not printed and path.exists() and not arguments.force:
        raise Failure(f"{path} exists already", hint="name another file, or add --force to replace it")
    try:
        answers = answers_of(arguments, ask)
    except EOFError as error:
        raise Failure("no answers were given", hint="'mqvitals config init --help' lists the flags") from error
    text = settings_text(answers)
    _check_text(text, DEFAULT_FILE if printed else str(path))
    if printed:
        print(text, end="")
        return ExitCode.DONE
    _write(path, text)
    print(f"{path} is written. What to do next:", file=sys.stderr)
    if not any(each.address for each in answers.queue_managers):
        print(
            "  add a queue manager and where it listens under queue_managers (see 'mqvitals help configuration'),\n"
            f"  or write the file again: mqvitals config init --force --queue-manager 'QM01=HOST(1414)' {path}",
            file=sys.stderr,
        )
    for command in ("config check", "doctor --config", "top --config", "agent --config"):
        print(f"  mqvitals {command} {path}", file=sys.stderr)
    return ExitCode.DONE


def queue_manager(text: str) -> QueueManagerAnswer:
    """``QM01=host(1414)`` or ``QM01``. Raises ArgumentTypeError."""
    name, equals, address = (part.strip() for part in text.partition("="))
    if not name or (equals and not address):
        raise argparse.ArgumentTypeError(_QUEUE_MANAGER)
    return QueueManagerAnswer(name, address)


def answers_of(arguments: argparse.Namespace, ask: Ask | None) -> Answers:
    """What the flags say, and for the rest what is answered; without ``ask`` the rest is left out. Raises EOFError."""

    def given(flag: str | None, question: str, usual: str = "") -> str:
        if flag is not None:
            return flag
        if ask is None:
            return usual
        shown = f" [{usual}]" if usual else ""
        return ask(f"{question}{shown}: ").strip() or usual

    name = given(arguments.name, "Your name for the queue-sharing group")
    queue_managers = tuple(arguments.queue_manager or ())
    if not queue_managers and ask is not None:
        queue_managers = tuple(_ask_queue_managers(ask))
    reached = any(each.address for each in queue_managers)
    channel = (
        given(arguments.channel, "Server-connection channel", "MQVITALS.SVRCONN" if reached else "") if reached else ""
    )
    cipher = given(arguments.cipher, "CipherSpec of the channel (Enter: not encrypted)") if reached else ""
    repository = given(arguments.key_repository, "Key repository, its path without .kdb") if cipher else ""
    user = given(arguments.user, "User id to connect with (Enter: the channel's rules give it)") if reached else ""
    password = given(arguments.password_file, "File that holds the password") if user else ""
    store = given(arguments.store, "File for samples and alerts", f"{name.lower() or 'mqvitals'}.db")
    url_file = given(arguments.url_file, "File that holds the address of a webhook for alerts (Enter: none)")
    return Answers(name, queue_managers, channel, cipher, repository, user, password, store, url_file)


def _ask_queue_managers(ask: Ask) -> Iterator[QueueManagerAnswer]:
    question = "A queue manager, as QM01=HOST(1414) (Enter: no more): "
    while text := ask(question).strip():
        try:
            yield queue_manager(text)
        except argparse.ArgumentTypeError as error:
            print(error, file=sys.stderr)


def settings_text(answers: Answers) -> str:
    """The configuration file in YAML, with a comment for each section."""
    lines = [
        "# Settings of mqvitals. 'mqvitals config check' checks this file; 'mqvitals help configuration' has every key."
    ]

    def setting(key: str, value: str, indent: str = "") -> None:
        if value:
            lines.append(f"{indent}{key}: {_quoted(value)}")

    setting("name", answers.name)
    if answers.channel:
        lines += ["", "# How queue managers are reached.", "connection:"]
        setting("channel", answers.channel, "  ")
        if answers.cipher:
            lines.append("  tls:")
            setting("cipher", answers.cipher, "    ")
            setting("key_repository", answers.key_repository, "    ")
        setting("user", answers.user, "  ")
        setting("password_file", answers.password_file, "  ")
    if answers.queue_managers:
        lines += ["", "queue_managers:"]
        for each in answers.queue_managers:
            lines.append(f"  - name: {_quoted(each.name)}")
            if each.address:
                lines += ["    connection:", f"      connection_names: [{_quoted(each.address)}]"]
    lines += ["", "# Where samples and alerts are kept.", "store:"]
    setting("path", answers.store, "  ")
    if answers.url_file:
        lines += ["", "# Who is notified of alerts.", "receivers:", "  - name: operations"]
        setting("url_file", answers.url_file, "    ")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as YAML takes it for one, whatever it holds."""
    return json.dumps(text, ensure_ascii=False)


def _check_text(text: str, path: str) -> None:
    """Raises Failure when the settings are none."""
    from mqvitals_config.decoding.decoder import decode
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.settings import Settings, contradictions

    try:
        problems: Sequence[object] = tuple(contradictions(decode(path, text, Settings)))
    except ConfigError as error:
        problems = error.problems
    if problems:
        raise Failure("these settings cannot be used:\n" + "\n".join(map(str, problems)), hint="give other answers")


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise Failure(f"{path} cannot be written: {error.strerror}") from error


def _ask(question: str) -> str:
    """Put a question on standard error, so that what is printed stays clean."""
    print(question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        raise EOFError
    return answer


_CHECK = """\
Every problem is printed as FILE:LINE:COLUMN: KEY: what is wrong, with the line and a caret under the spot: first of
the file's form, then, when that is right, of the rules, objects and states it names, and of the secrets, folders and
files that it names, as the user who runs the command sees them. Then it shows which Python package will connect to the
queue managers, and warns of settings that this package does not support and of tuning of rules without effect. Exit
code 0 when there is no problem, with or without warnings; 1 when there is one, 2 when the file cannot be read.
"""

_SCHEMA = """\
Prints the JSON Schema of a configuration file. Editors that know it complete keys and mark mistakes in YAML while it
is written.
"""

_SHOW = """\
Prints every setting in force with its origin: a flag, an environment variable, FILE:LINE:COLUMN, or the default. Flags
override the environment, which overrides the file. Secrets are never shown.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``config init``, ``check``, ``show`` and ``schema``."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    init = subparsers.add_parser("init", help="write a short configuration file", description=INIT_DESCRIPTION)
    add_init_arguments(init)
    check = subparsers.add_parser("check", help="report the problems of a configuration file", description=_CHECK)
    show = subparsers.add_parser("show", help="print the settings in force and their origins", description=_SHOW)
    for command in (check, show):
        command.add_argument(
            "file",
            metavar="FILE",
            nargs="?",
            help="the file (default: the one MQVITALS_CONFIG names, or that is found)",
        )
    check.add_argument(
        "--no-files",
        action="store_true",
        help="do not check the secrets, folders and files that it names: they are elsewhere",
    )
    subparsers.add_parser("schema", help="print the JSON Schema of a configuration file", description=_SCHEMA)
    show.add_argument("--json", action="store_true", help='print {"file", "settings": {KEY: {"value", "origin"}}}')


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code."""
    if arguments.action == "init":
        return run_init(arguments)
    if arguments.action == "schema":
        return _schema()
    if arguments.action == "check":
        return _check(arguments.file, files=not arguments.no_files)
    return _show(arguments.file, as_json=arguments.json)


def _schema() -> int:
    import json

    from mqvitals_config.decoding.schema import json_schema
    from mqvitals_config.settings import Settings

    print(json.dumps(json_schema(Settings), indent=2))
    return ExitCode.DONE


def _check(path: str | None, *, files: bool) -> int:
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.decoding.source import UnreadableError, explained
    from mqvitals_config.load import CONFIG_VARIABLE, FileCheck, check_files, found_file, load_settings, search_path
    from mqvitals_rules.ruleset.config import ineffective_tuning

    path = path or os.environ.get(CONFIG_VARIABLE) or found_file(os.environ)
    if not path:
        searched = " and ".join(search_path(os.environ))
        raise Failure(
            "there is no file to check" + (f": looked for {searched}" if searched else ""),
            hint=f"name one, set {CONFIG_VARIABLE}, or write one with 'mqvitals config init'",
        )
    try:
        loaded = load_settings(path, os.environ, {})
    except UnreadableError as error:
        raise Failure(str(error)) from error
    except ConfigError as error:
        print(explained(error.problems))
        return ExitCode.FOUND
    if problems := _name_problems(loaded):
        print(explained(problems))
        return ExitCode.FOUND
    named = check_files(loaded.settings, loaded.origins) if files else FileCheck((), ())
    if named.problems:
        print(explained((*named.problems, *named.warnings)))
        return ExitCode.FOUND
    _print_forecast(loaded, path, (*named.warnings, *ineffective_tuning(loaded.settings)))
    return ExitCode.DONE


def _print_forecast(loaded: LoadedSettings, path: str, others: tuple[Problem, ...]) -> None:
    """Print what connecting will be like, and that there is no problem.

    A warning is none: other commands work all the same.
    """
    from mqvitals_agent.connection.binding import check_connections
    from mqvitals_agent.text.terminal import safe
    from mqvitals_config.decoding.source import explained

    found = check_connections(loaded.settings, loaded.origins, os.environ)
    warnings = (*found.warnings, *others)
    if warnings:
        print(explained(warnings))
    for note in (*found.notes, *_report_notes(loaded.settings)):
        print(f"note: {safe(note)}")
    count = len(warnings)
    print(f"{path}: no problems found" + (f", {count} warning{'s' if count > 1 else ''}" if count else ""))


def _report_notes(settings: Settings) -> Iterator[str]:
    """When each report is sent next, so that a person sees whether its times are as meant."""
    if not settings.reports:
        return
    from mqvitals_agent.commandline.arguments import now_ms
    from mqvitals_agent.notify.report_schedule import ReportTimes
    from mqvitals_agent.text.figure import moment, times_in, zone_name

    for report in settings.reports:
        times = ReportTimes.of(report, settings.time_zone)
        upcoming = next(times.after(now_ms()), None)
        with times_in(times.zone):
            when = "never" if upcoming is None else f"next at {moment(upcoming)} {zone_name(upcoming)}"
        yield f"report {report.name} is sent {when}, to {', '.join(report.receivers)}"


def _name_problems(loaded: LoadedSettings) -> tuple[Problem, ...]:
    """What is wrong with the names that well-formed settings hold."""
    from mqvitals_agent.alerting.configured import alerting_problems
    from mqvitals_agent.notify.template import template_problems
    from mqvitals_agent.poll.queries import polling_problems
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.ruleset.config import check_settings

    settings = loaded.settings
    try:
        return tuple(
            sorted(
                (
                    *check_settings(settings),
                    *polling_problems(settings.polling),
                    *alerting_problems(settings),
                    *template_problems(settings),
                )
            )
        )
    except ConfigError as error:
        return error.problems


def _show(path: str | None, *, as_json: bool) -> int:
    loaded = settings_in_force(path, {})
    rows = settings_rows(loaded.settings, loaded.origins)
    if as_json:
        import json

        settings = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        print(json.dumps({"file": loaded.path, "settings": settings}, indent=2))
        return ExitCode.DONE
    from mqvitals_agent.text.terminal import cells, safe

    written = [(safe(key), safe(_value_text(value)), safe(origin)) for key, value, origin in rows]
    wide = max(len(key) for key, _, _ in written)
    widest = max(cells(value) for _, value, _ in written)
    for key, value, origin in written:
        print(f"{key:<{wide}}  {value}{' ' * (widest - cells(value))}  {origin}")
    return ExitCode.DONE


def settings_rows(settings: Any, origins: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """Every setting as (dotted key, value that JSON can hold, origin). Of a secret only where it is kept."""
    from mqvitals_config.load import walk

    return [(key, _plain(value), origins[key]) for key, value in walk(settings)]


def _plain(value: Any) -> Any:
    from mqvitals_config.decoding.scalars import FileMode
    from mqvitals_config.decoding.secret import Secret, without_credentials

    if isinstance(value, Secret | FileMode):
        return str(value)
    if isinstance(value, str):
        return without_credentials(value)
    return [] if value == () else value


def _value_text(value: Any) -> str:
    if value is None:
        return "(none)"
    if value == []:
        return "[]"
    return f"{value:g}" if isinstance(value, float) else str(value)
