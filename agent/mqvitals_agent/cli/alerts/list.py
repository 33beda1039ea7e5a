"""``mqvitals alerts list``: lists the alerts of a store."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.settings import calendar_for, family_ranks, labeller_for, readable_rules_of
from mqvitals_agent.commandline.time_arguments import add_zone_argument, now_ms
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mqvitals_agent.alerting.disposition import Disposition
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert


_DESCRIPTION = """\
Lists the alerts that are firing, worst first; with --all also those that have ended. Advice on the configuration
(rules of kind review) is listed with --review alone. An open alert shows its current severity, "was critical"
means that it was worse before, and an alert that has ended shows its worst value and its last one; --severity and
--json use the worst severity while it was open. The number after # is the one by which 'mqvitals alerts ack' and
other commands know the alert; who has it, what mutes it and its newest notes stand below it. "Covered by" another alert is one whose rule is of the same family as
that alert's, which is worse: status leaves it out.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``alerts list``."""
    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_zone_argument(parser)
    add_at_argument(parser)
    parser.add_argument("--all", action="store_true", help="also those that have ended")
    parser.add_argument(
        "--json", action="store_true", help="a JSON list, oldest first; severity is the worst while open"
    )
    parser.add_argument(
        "--full", action="store_true", help="with --json: also the rule's figure at its worst, and its current one"
    )
    parser.add_argument(
        "--severity", choices=("critical", "warning", "info"), help="only those that have been as severe, or worse"
    )
    parser.add_argument(
        "--receivers",
        action="store_true",
        help="for each alert what every receiver of the configuration gets, or why it gets nothing",
    )
    parser.add_argument(
        "--why",
        action="store_true",
        help="for each alert what every stage on its way to receivers says, from its cause to its repetition",
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--review", action="store_true", help="advice on the configuration instead of alerts")
    kinds.add_argument("--all-kinds", action="store_true", help="alerts and advice on the configuration")


def run(arguments: argparse.Namespace) -> int:
    """List the alerts; returns the exit code, 0 whatever the list holds."""
    from mqvitals_agent.text.figure import moment, zone_name
    from mqvitals_agent.text.styled import Tone, line
    from mqvitals_agent.view.alerts.actions import handling_json, handling_of, handling_texts
    from mqvitals_agent.view.alerts.maintenance import mutings
    from mqvitals_agent.view.alerts.words import alert_json, at_least, full_json
    from mqvitals_agent.view.object.past_alerts import alerts_then
    from mqvitals_agent.view.screens.alerts import alert_list_lines
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_agent.view.status import last_known, read_status_data, status_of
    from mqvitals_rules.lifecycle.alert import Severity, overshadowed

    if arguments.at is not None and (arguments.receivers or arguments.why):
        raise Failure("--at: what receivers knew then is not kept", hint="leave out --receivers and --why")
    with open_store_as_of(arguments) as reader:
        found = reader.alerts(
            include_ended=arguments.all, review=None if arguments.all_kinds else bool(arguments.review)
        )
        if arguments.receivers or arguments.why:
            return _decisions(arguments, reader, [stored for stored in found if stored.alert.started is not None])
        view = status_of(read_status_data(reader, now_ms(), {}))
        if view.data.as_of is not None:
            words = alerts_then(reader, [each.alert for each in found], view.data.as_of, readable_rules_of(arguments))
            found = tuple(each._replace(alert=alert) for each, alert in zip(found, words, strict=True))
        kept_from = reader.meta().alerts_kept_from
        actions = reader.actions()
        labeller = labeller_for(arguments, [member.name for member in view.groups])
        muted = mutings(reader, calendar_for(arguments), labeller, view.data.now)
    handled = {
        stored.alert: handling_of(
            stored, labeller.labels_of(stored.alert), actions, view.data.now, muted.get(stored.id)
        )
        for stored in found
    }
    alerts = [stored.alert for stored in found if stored.alert.started is not None]
    listed = alerts
    if arguments.severity:
        alerts = at_least(alerts, Severity[arguments.severity.upper()])
    if arguments.json:
        oldest_first = sorted(alerts, key=lambda alert: (alert.started or 0, alert.key))
        labels_of = labeller.labels_of
        form = full_json if arguments.full else alert_json
        rows = [{**form(alert, labels_of(alert)), **handling_json(handled[alert])} for alert in oldest_first]
        print(json.dumps(rows, indent=1))
        return ExitCode.DONE
    covered = overshadowed(listed, family_ranks(arguments, listed))
    lines = alert_list_lines(
        alerts,
        view.data.now,
        line_width(),
        covered,
        last_known(view),
        {alert: handled[alert].number for alert in alerts},
        {alert: handling_texts(handled[alert], view.data.now) for alert in alerts},
        {alert: handled[alert].asks for alert in alerts if alert.ended is None},
    )
    if view.data.as_of is not None:
        lines.insert(0, line(as_of_words(view.data.as_of, now_ms()), Tone.STRONG))
    if arguments.all and kept_from is not None:
        lines.append(line(f"Alerts that ended before {moment(kept_from)} {zone_name(kept_from)} are no longer kept"))
    show_lines(lines)
    return ExitCode.DONE


def _decisions(arguments: argparse.Namespace, reader: StoreReader, listed: Sequence[StoredAlert]) -> int:
    """Print for each alert what its receivers know or get, or why not."""
    from mqvitals_agent.alerting.configured import calendar_of, pipeline_of, route_tree
    from mqvitals_agent.commandline.settings import settings_in_force
    from mqvitals_agent.view.alerts.dispositions import disposition_json, disposition_lines, read_dispositions
    from mqvitals_agent.view.alerts.words import at_least
    from mqvitals_agent.view.status import read_status_data
    from mqvitals_rules.lifecycle.alert import Severity

    if arguments.json and not arguments.why:
        raise Failure("--receivers and --json cannot be used together", hint="--why --json has the same and more")
    settings = settings_in_force(arguments.config, {}).settings
    if not settings.receivers:
        raise Failure(
            "the configuration names no receiver", hint="see receivers in 'mqvitals help configuration', and --config"
        )
    if arguments.severity:
        severe = set(at_least([each.alert for each in listed], Severity[arguments.severity.upper()]))
        listed = [each for each in listed if each.alert in severe]
    data = read_status_data(reader, now_ms(), {})
    groups = [each.name for each in reader.owners() if each.is_group]
    ranks = family_ranks(arguments, [each.alert for each in reader.alerts()])
    route = route_tree(settings.route, settings.receivers)
    labeller = labeller_for(arguments, groups)
    pipeline = pipeline_of(settings.receivers, route, labeller, ranks, calendar_of(settings))
    found = read_dispositions(reader, pipeline, listed, data.now)
    if arguments.why and arguments.json:
        print(json.dumps([disposition_json(each) for each in found], indent=1))
    elif arguments.why:
        show_lines([each for one in found for each in disposition_lines(one, line_width())])
    else:
        for each in found:
            _print_deliveries(each)
    return ExitCode.DONE


def _print_deliveries(found: Disposition) -> None:
    from mqvitals_agent.text.terminal import safe

    key = found.alert.key
    head = f"{key.rule} {found.alert.severity.name.lower()} {safe(str(key.object))}"
    for each in found.deliveries:
        sends = each.is_news or each.reason.notifies
        print(f"{head} -> {safe(each.receiver)}: {'to be sent' if sends else 'not sent'}, {each.reason.value}")
    if not found.deliveries and found.excluded is not None:
        print(f"{head}: not sent, {found.excluded.value}")
