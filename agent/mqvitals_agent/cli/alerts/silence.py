"""``mqvitals alerts silence``, ``unsilence`` and ``silences``: alerts that nobody wants for a while."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments, open_store
from mqvitals_agent.commandline.output import line_width, say, show_lines
from mqvitals_agent.commandline.settings import labeller_for
from mqvitals_agent.commandline.time_arguments import (
    add_zone_argument,
    duration_argument,
    later_moment_argument,
    now_ms,
    now_of,
    reading_zone,
)
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from datetime import tzinfo

    from mqvitals_agent.alerting.action import Silence
    from mqvitals_agent.alerting.labels import Labels
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
    from mqvitals_config.sections.matcher import Matcher

_SILENCE = """\
Silences alerts: those that all matchers match are not notified until the silence ends. One that still fires then is
notified. A matcher is a label, one of = != =~ !~ and a value, as Alertmanager writes it: rule=Q-03, severity!=critical,
'object=~QM01/queue/PAY.*' (a regular expression for the whole value). Labels of an alert are rule, family, severity,
owner, queue_manager, kind, object, name, instance, group, and those of labels in the configuration. --preview shows
which alerts that fire now are silenced, and changes nothing. With --extend a silence ends later: --for adds to its end.
"""
_END = """\
Ends a silence now, also one that has not begun. Alerts that still fire are notified.
"""
_LIST = """\
Lists the silences: active ones first, then those that have not begun, with --all also those that have ended.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts silence``."""
    parser.description = _SILENCE
    parser.add_argument("matchers", metavar="MATCHER", nargs="*", help="such as rule=Q-03 or queue_manager=QM01")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--for", metavar="DURATION", dest="length", help="how long, such as 2h or 30m")
    end.add_argument("--until", metavar="TIME", help="until when: 06:00, tomorrow 06:00, 2026-11-20 06:00")
    parser.add_argument("--from", metavar="TIME", dest="begin", help="from when, as --until (default: now)")
    parser.add_argument("--reason", metavar="TEXT", help="why; people and the audit see it")
    parser.add_argument("--preview", action="store_true", help="only show which alerts would be silenced")
    parser.add_argument("--extend", metavar="ID", type=int, help="let this silence end later instead of making one")
    add_zone_argument(parser)
    add_store_arguments(parser)


def add_end_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts unsilence``."""
    parser.description = _END
    parser.add_argument("silence", metavar="ID", type=int, help="the number that 'mqvitals alerts silences' shows")
    add_store_arguments(parser)


def add_list_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts silences``."""
    parser.description = _LIST
    parser.add_argument("--all", action="store_true", help="also those that have ended")
    parser.add_argument("--json", action="store_true", help="a JSON list")
    add_zone_argument(parser)
    add_store_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make or extend a silence, or preview one; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.text.figure import times_in

    zone = reading_zone(arguments)
    # Times are shown as they are written.
    with times_in(zone):
        return _make(arguments, zone) if arguments.extend is None else _extend(arguments, zone)


def run_end(arguments: argparse.Namespace) -> int:
    """End a silence; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient

    with open_store(arguments) as reader, ActionClient.open(reader.path) as client:
        silence = client.end_silence(arguments.silence, now_ms())
    print(f"silence {silence.id} ({_matchers(silence.matchers)}) has ended")
    return ExitCode.DONE


def run_list(arguments: argparse.Namespace) -> int:
    """List silences; returns the exit code, 0 also when there are none. Raises Failure and StoreError."""
    from mqvitals_agent.text.styled import line
    from mqvitals_agent.view.alerts.actions import shown_silences, silence_json, silence_lines

    with open_store(arguments) as reader:
        now = now_of(reader)
        silences = shown_silences(reader.actions().silences, now, expired=arguments.all)
        labels = _labels_of_firing(arguments, reader) if silences else {}
    matching = {
        each.id: [stored.id for stored, found in labels.values() if each.active(now) and each.matches(found)]
        for each in silences
    }
    if arguments.json:
        print(json.dumps([silence_json(each, now, matching[each.id]) for each in silences], indent=1))
        return ExitCode.DONE
    lines = [row for each in silences for row in silence_lines(each, now, line_width(), len(matching[each.id]))]
    show_lines(lines or [line("no silences" if arguments.all else "no silence is active or pending")])
    return ExitCode.DONE


def _make(arguments: argparse.Namespace, zone: tzinfo) -> int:
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient

    matchers = _parsed(arguments.matchers)
    now = now_ms()
    starts, ends = now, None
    if arguments.begin is not None:
        starts = later_moment_argument("--from", arguments.begin, lambda: zone, now)
    if arguments.length is not None:
        ends = starts + duration_argument("--for", arguments.length)
    elif arguments.until is not None:
        ends = later_moment_argument("--until", arguments.until, lambda: zone, starts)
    if not arguments.preview and ends is None:
        raise Failure("a silence needs an end", hint="write --for 2h or --until 06:00")
    if not arguments.preview and arguments.reason is None:
        raise Failure("a silence needs a reason", hint='write --reason "why nobody wants these alerts"')
    with open_store(arguments) as reader:
        labels = _labels_of_firing(arguments, reader)
        _warn_of_unknown_labels(arguments, matchers, [found for _, found in labels.values()])
        silenced = [stored for stored, found in labels.values() if all(each.matches(found) for each in matchers)]
        if arguments.preview:
            print(_count("would silence", silenced))
        else:
            assert ends is not None, "refused above"
            with ActionClient.open(reader.path) as client:
                silence = client.add_silence(matchers, arguments.reason, starts, ends, now)
            print(f"silence {silence.id} {_times(silence, now)}: {_matchers(matchers)}")
            print(_count("it silences" if starts <= now else "when it begins, it silences", silenced))
        _show(reader, silenced)
    return ExitCode.DONE


def _extend(arguments: argparse.Namespace, zone: tzinfo) -> int:
    from mqvitals_agent.store.rows.alerts.action_client import ActionClient

    if arguments.matchers or arguments.begin is not None or arguments.preview or arguments.reason is not None:
        raise Failure("--extend changes the end of a silence alone", hint="write --extend ID --for 1h")
    now = now_ms()
    with open_store(arguments) as reader:
        silence = next((each for each in reader.actions().silences if each.id == arguments.extend), None)
        if silence is None:
            raise Failure(f"there is no silence {arguments.extend}", hint="'mqvitals alerts silences --all' lists them")
        if arguments.length is not None:
            ends = silence.ends + duration_argument("--for", arguments.length)
        elif arguments.until is not None:
            ends = later_moment_argument("--until", arguments.until, lambda: zone, now)
        else:
            raise Failure("a silence needs a later end", hint="write --for 1h or --until 06:00")
        with ActionClient.open(reader.path) as client:
            silence = client.extend_silence(silence.id, ends, now)
    print(f"silence {silence.id} {_times(silence, now)}: {_matchers(silence.matchers)}")
    return ExitCode.DONE


def _parsed(texts: Sequence[str]) -> list[Matcher]:
    """The matchers of the command line. Raises Failure."""
    from mqvitals_config.sections.matcher import parse_matcher

    if not texts:
        raise Failure("no matcher is named", hint="write one such as rule=Q-03, or --extend ID for a silence there is")
    try:
        return [parse_matcher(text) for text in texts]
    except ValueError as error:
        raise Failure(str(error)) from error


def _labels_of_firing(arguments: argparse.Namespace, reader: StoreReader) -> Mapping[int, tuple[StoredAlert, Labels]]:
    """The alerts that fire, of every kind, by number, and their labels."""
    labeller = labeller_for(arguments, [owner.name for owner in reader.owners() if owner.is_group])
    return {stored.id: (stored, labeller.labels_of(stored.alert)) for stored in reader.alerts()}


def _warn_of_unknown_labels(
    arguments: argparse.Namespace, matchers: Sequence[Matcher], firing: Sequence[Labels]
) -> None:
    """A label that no alert has is most likely a slip: then the silence matches nothing, or too much."""
    from mqvitals_agent.commandline.settings import loaded_settings
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_config.sections.alerting import known_labels

    try:
        site = loaded_settings(arguments).settings.labels
    except Failure:
        site = ()
    known = dict.fromkeys((*known_labels(site), *(name for labels in firing for name in labels)))
    for each in matchers:
        if each.label not in known:
            meant = suggestion(each.label, known)
            say(f"no alert has the label {each.label}: {meant or 'there are ' + ', '.join(known)}")


def _times(silence: Silence, now: int) -> str:
    from mqvitals_agent.text.figure import zone_name
    from mqvitals_agent.view.alerts.words import since_words

    begin = "" if silence.starts <= now else f"from {since_words(silence.starts, now)} "
    return f"{begin}until {since_words(silence.ends, now)} {zone_name(silence.ends)}"


def _matchers(matchers: Sequence[Matcher]) -> str:
    from mqvitals_agent.text.terminal import safe
    from mqvitals_config.sections.matcher import matchers_text

    return safe(matchers_text(matchers))


def _count(words: str, silenced: Sequence[StoredAlert]) -> str:
    from mqvitals_agent.store.reading.alerts import OPERATIONAL
    from mqvitals_agent.text.figure import counted

    count = sum(stored.alert.kind_of_rule == OPERATIONAL for stored in silenced)
    if not count:
        return f"{words} no alert that fires now"
    return f"{words} {'this' if count == 1 else 'these'} {counted(count, 'alert')}:"


def _show(reader: StoreReader, silenced: Sequence[StoredAlert]) -> None:
    """Print the alerts, and how much advice there is among them, of which hardly a receiver is notified."""
    from mqvitals_agent.store.reading.alerts import OPERATIONAL
    from mqvitals_agent.text.styled import line
    from mqvitals_agent.view.screens.alerts import alert_list_lines

    numbers = {stored.alert: stored.id for stored in silenced if stored.alert.kind_of_rule == OPERATIONAL}
    lines = alert_list_lines(list(numbers), now_of(reader), line_width(), numbers=numbers) if numbers else []
    if advice := len(silenced) - len(numbers):
        lines.append(line(f"{'and ' if numbers else ''}{advice:,} of the advice that 'alerts list --review' lists"))
    if lines:
        show_lines(lines)
