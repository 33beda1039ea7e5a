"""``mqvitals alerts ack``, ``unack`` and ``note``: what one person does about one alert."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments, open_store
from mqvitals_agent.commandline.time_arguments import add_zone_argument, later_moment_argument, now_ms, reading_zone
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.alerting.action import Acknowledged
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient
    from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert

_ALERT = """\
ALERT is the number that 'mqvitals alerts list' shows, or the rule, the object or both, such as Q-03 or
"Q-03 QM01/queue/PAY.IN", where only one alert is meant."""

_ACKNOWLEDGE = f"""\
Says that you have an alert: it is not notified again until it ends, --until is over, its severity rises, or somebody
takes the acknowledgement back. An alert that has ended is marked as seen. Where somebody else has it already, they
keep it, and your note is kept. {_ALERT} You are the user of the operating system.
"""
_UNDO = f"""\
Takes your acknowledgement of an alert back, or where you have none, those of the others. {_ALERT}
"""
_NOTE = f"""\
Keeps a note about an alert, open or ended, for everybody who looks at it and for what is notified later. {_ALERT}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts ack``."""
    parser.description = _ACKNOWLEDGE
    parser.add_argument("alert", metavar="ALERT", nargs="+", help="one alert, or the numbers of several")
    parser.add_argument("--note", metavar="TEXT", default="", help="what you know or do, in a sentence")
    parser.add_argument("--until", metavar="TIME", help="only until then: 2h, 06:00, tomorrow 06:00 (default: its end)")
    parser.add_argument("--take-over", action="store_true", help="take it over from those who have it")
    add_zone_argument(parser)
    add_store_arguments(parser)


def add_undo_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts unack``."""
    parser.description = _UNDO
    parser.add_argument("alert", metavar="ALERT", nargs="+", help="one alert, or the numbers of several")
    add_zone_argument(parser)
    add_store_arguments(parser)


def add_note_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts note``."""
    parser.description = _NOTE
    parser.add_argument("alert", metavar="ALERT", help="the alert")
    parser.add_argument("text", metavar="TEXT", nargs="+", help="the note")
    add_store_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Acknowledge; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient
    from mqvitals_agent.text.figure import times_in

    now, zone = now_ms(), reading_zone(arguments)
    until = None
    if arguments.until is not None:
        until = later_moment_argument("--until", arguments.until, lambda: zone, now)
    with open_store(arguments) as reader, times_in(zone):
        chosen = chosen_alerts(reader, arguments.alert)
        with ActionClient.open(reader.path) as client:
            for stored in chosen:
                found = client.acknowledge(
                    stored.id, now, note=arguments.note, until=until, take_over=arguments.take_over
                )
                print(_acknowledged(stored, found, client, now, noted=bool(arguments.note)))
    return ExitCode.DONE


def run_undo(arguments: argparse.Namespace) -> int:
    """Take acknowledgements back; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient
    from mqvitals_agent.text.figure import times_in
    from mqvitals_agent.text.terminal import safe

    now = now_ms()
    with open_store(arguments) as reader, times_in(reading_zone(arguments)):
        chosen = chosen_alerts(reader, arguments.alert)
        with ActionClient.open(reader.path) as client:
            for stored in chosen:
                undone = client.undo_acknowledgement(stored.id, now)
                names = ", ".join(dict.fromkeys(safe(each.author) for each in undone.taken_back))
                left = "nobody has it now" if undone.left.state.asks else _words(undone.left, now)
                print(f"{_named(stored)}: the acknowledgement of {names} is taken back; {left}")
    return ExitCode.DONE


def run_note(arguments: argparse.Namespace) -> int:
    """Keep a note; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient

    with open_store(arguments) as reader:
        (stored,) = chosen_alerts(reader, [arguments.alert])
        with ActionClient.open(reader.path) as client:
            client.add_note(stored.id, " ".join(arguments.text), now_ms())
    print(f"{_named(stored)}: the note is kept")
    return ExitCode.DONE


def chosen_alerts(reader: StoreReader, words: Sequence[str]) -> list[StoredAlert]:
    """The alerts with these numbers, or the one that the words name. Raises Failure, and StoreError."""
    if all(word.isdecimal() for word in words):
        return [_with_number(reader, int(word)) for word in dict.fromkeys(words)]
    wanted = " ".join(words).casefold()
    known = [stored for stored in reader.alerts(include_ended=True) if stored.alert.started is not None]
    named = [stored for stored in known if wanted in _names(stored)]
    # Of one that has ended several times the last is meant, and only where none is open.
    found = [stored for stored in named if stored.alert.ended is None] or named[-1:]
    if len(found) == 1:
        return found
    if found:
        numbers = "; ".join(_named(stored) for stored in found[:5]) + ("; ..." if len(found) > 5 else "")
        raise Failure(f"{len(found)} alerts fire that are named so", hint=f"write the number of one: {numbers}")
    raise Failure(
        f"no alert is named {' '.join(words)!r}", hint="'mqvitals alerts list --all' shows the numbers of all alerts"
    )


def _with_number(reader: StoreReader, number: int) -> StoredAlert:
    stored = None if number >= 1 << 63 else reader.alert(number)
    if stored is None:
        raise Failure(f"there is no alert {number}", hint="'mqvitals alerts list --all' shows the numbers")
    return stored


def _names(stored: StoredAlert) -> tuple[str, ...]:
    key = stored.alert.key
    rule, about = key.rule.casefold(), str(key.object).casefold()
    instance = f" {key.instance.casefold()}" if key.instance else ""
    return rule, about, f"{rule} {about}", f"{rule} {about}{instance}"


def _named(stored: StoredAlert) -> str:
    from mqvitals_agent.text.terminal import safe

    key = stored.alert.key
    return safe(f"alert {stored.id} ({key.rule} {key.object})")


def _acknowledged(stored: StoredAlert, found: Acknowledged, client: ActionClient, now: int, *, noted: bool) -> str:
    """The sentence after an acknowledgement; ``noted``: it had a note."""
    from mqvitals_agent.text.terminal import safe

    if found.by is not None and found.by.author != client.author:
        kept = "your note is kept" if noted else "your acknowledgement is kept beside it"
        return f"{_named(stored)}: {_words(found, now)}; {kept}"
    if stored.alert.ended is not None:
        return f"{_named(stored)}: it has ended, and is marked as seen by {safe(client.author)}"
    return f"{_named(stored)}: {_words(found, now)}"


def _words(found: Acknowledged, now: int) -> str:
    from mqvitals_agent.text.figure import zone_name
    from mqvitals_agent.view.alerts.actions import acknowledged_words

    return f"{acknowledged_words(found, now)} {zone_name(now)}"
