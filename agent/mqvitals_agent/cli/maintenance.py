"""``mqvitals maintenance``: the maintenance windows of the configuration, and what is muted at a time."""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_config_argument, add_store_arguments, open_store
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.settings import loaded_settings, usable_settings
from mqvitals_agent.commandline.time_arguments import later_moment_argument, now_ms, reading_zone, zone_argument
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.alerting.maintenance import SiteCalendar
    from mqvitals_agent.view.alerts.maintenance import MutedAlert
    from mqvitals_config.settings import Settings

_LIST = """\
Lists the maintenance windows of the configuration that are on now, and those that begin in the next days: when, by the
wall clock of their zone, what they are about, and why.
"""
_TEST = """\
Shows what is muted at a time: the maintenance windows that are on then, until when, and the routes whose time intervals
mute them; and which of the alerts that fire now would not be notified then. AT is a time such as 02:30 (the next one),
tomorrow 02:30, 2027-03-28 02:30 or 3h (from now).
"""
_MOST_DAYS = 400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``maintenance list`` and ``maintenance test``."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = subparsers.add_parser(
        "list", help="list windows: those that are on, and the next ones", description=_LIST
    )
    add_config_argument(listing)
    listing.add_argument(
        "--days", metavar="N", type=int, default=14, help="how many days ahead, 1 to 400 (default: %(default)s)"
    )
    listing.add_argument("--json", action="store_true", help="the windows as JSON")
    listing.set_defaults(store=None)
    test = subparsers.add_parser("test", help="what is muted at a time", description=_TEST)
    test.add_argument("at", metavar="AT", nargs="+", help="the time, such as tomorrow 02:30")
    add_store_arguments(test)
    test.add_argument(
        "--tz", metavar="ZONE", type=zone_argument, help="the zone of AT (default: time_zone of the configuration)"
    )
    test.add_argument("--json", action="store_true", help="the same as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Show windows, or what is muted at a time; returns the exit code. Raises Failure and StoreError."""
    from mqvitals_agent.alerting.configured import alerting_problems, calendar_of
    from mqvitals_config.decoding.problem import ConfigError

    settings = loaded_settings(arguments).settings
    with usable_settings():
        if problems := alerting_problems(settings):
            raise ConfigError(problems)
    calendar = calendar_of(settings)
    if arguments.action == "test":
        return _test(arguments, settings, calendar)
    return _list(arguments, calendar)


def _list(arguments: argparse.Namespace, calendar: SiteCalendar) -> int:
    from mqvitals_agent.text.styled import line
    from mqvitals_agent.view.alerts.maintenance import maintenance_json, maintenance_lines, maintenance_spans

    if not 1 <= arguments.days <= _MOST_DAYS:
        raise Failure(f"--days {arguments.days}: give 1 to {_MOST_DAYS}")
    now = now_ms()
    spans = maintenance_spans(calendar, now, arguments.days)
    if arguments.json:
        print(json.dumps([maintenance_json(each, now) for each in spans], indent=1))
    elif not calendar.windows:
        show_lines([line("the configuration has no maintenance window; 'mqvitals help maintenance' explains them")])
    else:
        show_lines(maintenance_lines(spans, now, line_width()))
    return ExitCode.DONE


def _test(arguments: argparse.Namespace, settings: Settings, calendar: SiteCalendar) -> int:
    from mqvitals_agent.alerting.configured import pipeline_of, route_tree
    from mqvitals_agent.alerting.labels import Labeller
    from mqvitals_agent.alerting.maintenance import spans_of
    from mqvitals_agent.view.alerts.maintenance import muted_json, muted_lines

    at = later_moment_argument("maintenance test", " ".join(arguments.at), partial(reading_zone, arguments), now_ms())
    spans = spans_of(calendar.windows, at, at + 1)
    root = route_tree(settings.route, settings.receivers)
    routes = pipeline_of(settings.receivers, root, Labeller(), {}, calendar).muted_routes(at)
    alerts = _muted_alerts(arguments, settings, calendar, at)
    if arguments.json:
        print(json.dumps(muted_json(at, spans, routes, alerts), indent=1))
    else:
        show_lines(muted_lines(at, reading_zone(arguments), spans, routes, alerts, line_width()))
    return ExitCode.DONE


def _muted_alerts(
    arguments: argparse.Namespace, settings: Settings, calendar: SiteCalendar, at: int
) -> list[MutedAlert] | None:
    """The alerts that fire now, with what would mute them at ``at``; None without a store."""
    from mqvitals_agent.alerting.configured import site_labels
    from mqvitals_agent.alerting.labels import Labeller
    from mqvitals_agent.view.alerts.maintenance import read_muted

    if arguments.store is None and not settings.store.path:
        return None
    with open_store(arguments) as reader:
        groups = [each.name for each in reader.owners() if each.is_group]
        return read_muted(reader, calendar, Labeller.of_store(settings.name, groups, site_labels(settings.labels)), at)
