"""``mqvitals config init``: writes a configuration file with what a first run needs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqvitals_agent.errors import ExitCode, Failure
from mqvitals_agent.new_files import refuse_existing, write_whole

_DESCRIPTION = """\
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``config init``."""
    parser.description = _DESCRIPTION
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


def run(arguments: argparse.Namespace, ask: Ask | None = None) -> int:
    """Write the file; returns the exit code. Raises Failure when it cannot be written or the answers are no settings.

    ``ask`` puts a question and returns the answer; by default only in a terminal.
    """
    if ask is None and sys.stdin.isatty() and sys.stderr.isatty():
        ask = _ask
    printed = arguments.file == "-"
    path = Path(arguments.file)
    if not printed and not arguments.force:
        refuse_existing(path)
    try:
        answers = answers_of(arguments, ask)
    except EOFError as error:
        raise Failure("no answers were given", hint="'mqvitals config init --help' lists the flags") from error
    text = settings_text(answers)
    _check_text(text, DEFAULT_FILE if printed else str(path))
    if printed:
        print(text, end="")
        return ExitCode.DONE
    write_whole(path, text, replace=arguments.force)
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


def _ask(question: str) -> str:
    """Put a question on standard error, so that what is printed stays clean."""
    print(question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        raise EOFError
    return answer
