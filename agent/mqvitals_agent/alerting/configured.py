"""What the settings say of alerting, in the form in which alerts are judged: routes, labels, times and maintenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final

from mqvitals_agent.alerting.calendar import TimeInterval, TimeSpan, days_of_week
from mqvitals_agent.alerting.labels import Labeller, ObjectLabels
from mqvitals_agent.alerting.maintenance import NO_CALENDAR, MaintenanceWindow, SiteCalendar
from mqvitals_agent.alerting.pipeline import Pipeline
from mqvitals_agent.alerting.routing import DEFAULT_GROUP_BY, Route, every_receiver
from mqvitals_config.decoding.problem import Problem
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.receivers.receiver import ReceiverSettings
from mqvitals_config.sections.alerting import NEVER, LabelSettings, RouteSettings
from mqvitals_config.sections.maintenance import MaintenanceSettings, moment_in, zone_of
from mqvitals_config.sections.matcher import parse_matcher
from mqvitals_config.sections.time_intervals import DAY_MINUTES, ClockRange, parse_weekdays
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.pattern import ALL_KINDS, ObjectPattern, any_pattern_of

_SEVERITY: Final = {severity.name.lower(): severity for severity in Severity}


def alerting_problems(settings: Settings) -> list[Problem]:
    """The patterns among labels and maintenance windows that are none."""
    return [*label_problems(settings.labels), *window_problems(settings.maintenance)]


def label_problems(entries: Sequence[LabelSettings]) -> list[Problem]:
    """The patterns among the site's labels that are none."""
    return [problem for index, entry in enumerate(entries) for problem in _pattern_of(entry, index)[1]]


def site_labels(entries: Sequence[LabelSettings]) -> tuple[ObjectLabels, ...]:
    """The site's labels; an entry with a pattern that is none gives no label."""
    patterns = [_pattern_of(entry, index)[0] for index, entry in enumerate(entries)]
    return tuple(
        ObjectLabels(pattern, dict(entry.set))
        for entry, pattern in zip(entries, patterns, strict=True)
        if pattern is not None
    )


def window_problems(entries: Sequence[MaintenanceSettings]) -> list[Problem]:
    """The patterns among maintenance windows that are none."""
    return [problem for index, entry in enumerate(entries) for problem in _patterns_of(entry, index)[1]]


def calendar_of(settings: Settings) -> SiteCalendar:
    """Time intervals and maintenance windows of valid settings; a pattern that is none selects nothing."""
    entries = {
        str(each.name): tuple(TimeInterval.of(part, time_zone(part.location)) for part in each.time_intervals)
        for each in settings.time_intervals
    }
    windows = tuple(
        _window_of(each, index, time_zone(zone_of(each, settings.time_zone)))
        for index, each in enumerate(settings.maintenance)
    )
    return SiteCalendar(entries, windows)


def _window_of(entry: MaintenanceSettings, index: int, zone: tzinfo) -> MaintenanceWindow:
    once = None
    if entry.starts is not None and entry.ends is not None:
        once = TimeSpan(moment_in(entry.starts, zone), moment_in(entry.ends, zone))
    return MaintenanceWindow(
        str(entry.name),
        str(entry.reason),
        zone,
        once,
        str(entry.cron or ""),
        entry.lasts or 0,
        _weekly_of(entry, zone),
        tuple(ObjectPattern.parse(f"{each}/{ALL_KINDS}") for each in entry.queue_managers),
        _patterns_of(entry, index)[0],
        tuple(map(parse_matcher, entry.matchers)),
        entry.planned_down,
    )


def _weekly_of(entry: MaintenanceSettings, zone: tzinfo) -> tuple[TimeInterval, ...]:
    """The times of a window; what passes midnight is of two days."""
    weekdays = days_of_week(map(parse_weekdays, entry.weekdays))
    if not entry.times:
        return (TimeInterval(zone, weekdays=weekdays),) if weekdays else ()
    found = []
    for start, end in (each.range for each in entry.times):
        if start < end:
            found.append(TimeInterval(zone, (ClockRange(start, end),), weekdays))
            continue
        found.append(TimeInterval(zone, (ClockRange(start, DAY_MINUTES),), weekdays))
        if end:
            following = frozenset((day + 1) % 7 for day in weekdays)
            found.append(TimeInterval(zone, (ClockRange(0, end),), following))
    return tuple(found)


def _patterns_of(entry: MaintenanceSettings, index: int) -> tuple[tuple[ObjectPattern, ...], list[Problem]]:
    found = [any_pattern_of(text, f"maintenance[{index}].objects[{at}]") for at, text in enumerate(entry.objects)]
    patterns = tuple(pattern for pattern, _ in found if pattern is not None)
    return patterns, [problem for _, problems in found for problem in problems]


def _pattern_of(entry: LabelSettings, index: int) -> tuple[ObjectPattern | None, list[Problem]]:
    return any_pattern_of(entry.objects, f"labels[{index}].objects")


def route_tree(
    route: RouteSettings | None, receivers: Sequence[ReceiverSettings], beside: Sequence[ReceiverSettings] = ()
) -> Route:
    """The tree of routes that valid settings write, with what each route inherits filled in.

    Without one every receiver gets what its ``min_severity`` allows. ``beside`` are receivers that stand in no settings
    (``--webhook``): each gets that too, whatever the tree says, grouped and timed as in its first route.
    """
    least = {str(each.name): _SEVERITY[each.min_severity] for each in (*receivers, *beside) if each.takes_alerts}
    if route is None:
        return every_receiver(list(least), least)
    root = _route(route, Route("route", group_by=DEFAULT_GROUP_BY), None, least)
    if not beside:
        return root
    others = every_receiver([str(each.name) for each in beside if each.takes_alerts], least).routes
    # Each of them goes on to the next, and at last to the tree; nothing arrives at the node above them.
    first = (
        replace(
            each,
            path=each.receiver,
            group_by=root.group_by,
            wait=root.wait,
            interval=root.interval,
            repeat=root.repeat,
        )
        for each in others
    )
    return Route("", root.receiver, routes=(*first, root))


def _route(route: RouteSettings, above: Route, floor: Severity | None, least: Mapping[str, Severity]) -> Route:
    """A route and those below it. ``above`` has its path and what it inherits; ``floor`` is the severity given above."""
    receiver = above.receiver if route.receiver is None else str(route.receiver)
    floor = floor if route.min_severity is None else _SEVERITY[route.min_severity]
    repeat = None if route.repeat_interval == NEVER else route.repeat_interval
    own = Route(
        above.path,
        receiver,
        tuple(map(parse_matcher, route.matchers)),
        above.group_by if route.group_by is None else tuple(map(str, route.group_by)),
        above.wait if route.group_wait is None else route.group_wait,
        above.interval if route.group_interval is None else route.group_interval,
        above.repeat if route.repeat_interval is None else repeat,
        least.get(receiver, Severity.WARNING) if floor is None else floor,
        tuple(map(str, route.mute_time_intervals)),
        tuple(map(str, route.active_time_intervals)),
        route.goes_on,
    )
    below = tuple(
        _route(child, replace(own, path=f"{own.path}.routes[{index}]"), floor, least)
        for index, child in enumerate(route.routes)
    )
    return replace(own, routes=below)


def pipeline_of(
    receivers: Sequence[ReceiverSettings],
    route: Route,
    labeller: Labeller,
    ranks: Mapping[str, int],
    calendar: SiteCalendar = NO_CALENDAR,
) -> Pipeline:
    """The pipeline of a site. ``ranks`` map the id of a rule to its rank in its family."""
    return Pipeline(labeller, route, {str(each.name): each for each in receivers if each.takes_alerts}, ranks, calendar)
