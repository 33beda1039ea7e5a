"""The status screen: a StatusView as lines of text, at most ``width`` cells wide."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

from mqvitals_agent.view import cell
from mqvitals_agent.view.alerts import entry
from mqvitals_agent.view.figure import age, clock, day, figure, moment, number, short_age
from mqvitals_agent.view.paint import Painter
from mqvitals_agent.view.severity import Health, health_of, worst
from mqvitals_agent.view.situation import Member
from mqvitals_agent.view.status import STALE_INTERVALS, MemberView, StatusView, counts, health_of_object, source_text
from mqvitals_agent.view.text import cells, safe, table, wrap
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric

MOST_ALERTS = 10
MOST_STRUCTURES = 6

TREND: dict[str, str] = {
    "queue_manager": "reachable",
    "qsg": "members_active",
    "channel": "status",
    "queue": "depth",
    "buffer_pool": "free_pct",
    "page_set": "used_pct",
    "cf_structure": "entries_pct",
    "smds": "used_pct",
    "log": "full_logs",
    "channel_initiator": "current",
    "agent": "outcome",
}
"""The metric to look at first, by kind of object."""

_HEADING = "Queue managers  "
_VERDICTS = {Absence.NEEDS_SMF: "need SMF"}


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do about the worst alert: the rule's advice and the MQSC command to type next; either may be empty."""

    advice: str = ""
    mqsc: str = ""


def screen(
    view: StatusView, width: int, painter: Painter, *, remedy: Remedy | None = None, options: str = ""
) -> list[str]:
    """The whole screen. ``options`` are those that the commands it suggests need too (``--store X``)."""
    return [
        *_header(view, width, painter),
        "",
        *_queue_managers(view, width, painter),
        *_structures(view, width, painter),
        "",
        *_alerts(view, width, painter),
        *_next(view, width, painter, remedy or Remedy(), options),
    ]


def _header(view: StatusView, width: int, painter: Painter) -> list[str]:
    situation = view.situation
    number_of = len(view.queue_managers)
    newest = max((member.last_ts for member in situation.members), default=None)
    parts = [
        "mqvitals",
        *([safe(situation.group)] if situation.group else []),
        f"{number_of} queue manager{'' if number_of == 1 else 's'}",
    ]
    if newest is None:
        parts.append("nothing seen yet")
    elif situation.replay:
        parts.append(f"{moment(newest)} UTC")
    else:
        when = clock(newest) if day(newest) == day(situation.now) else moment(newest)
        parts.append(f"{when} UTC ({age(situation.now - newest)} ago)")
    left, sign = "  ".join(parts), str(view.health)
    gap = width - cells(left) - cells(sign)
    if gap >= 2:
        lines = [f"{painter.title(left)}{' ' * gap}{painter.sign(sign, view.health)}"]
    else:
        lines = [painter.sign(sign, view.health), *wrap(left, width)]
    if situation.replay and newest is not None:
        first = min(member.first_ts for member in situation.members)
        until = clock(newest) if day(first) == day(newest) else moment(newest)
        lines += wrap(
            f"The past: {safe(source_text(situation.replay, situation.source))}, {moment(first)} to {until}",
            width,
            rest="  ",
        )
    lines += _notes(view, width)
    return [*lines, _numbers(view, painter), *_unknown(view, width, painter)]


def _numbers(view: StatusView, painter: Painter) -> str:
    parts = []
    for severity, count in counts(view.alerts):
        health = health_of(severity)
        text = f"{health.glyph} {number(count)} {health.word}"
        parts.append(painter.sign(text, health) if count else text)
    return "  ".join(parts)


def _notes(view: StatusView, width: int) -> list[str]:
    """What the reader must know before trusting the rest."""
    members = [*view.queue_managers, *([view.group] if view.group else [])]
    stale = [member for member in members if member.stale]
    if not stale:
        return []
    if len(stale) == len(members):
        youngest = min(member.age_ms for member in stale)
        return wrap(
            f"Stale: nothing new for {age(youngest)}. Does the agent run? All below is as it was then",
            width,
            rest="  ",
        )
    names = ", ".join(f"{safe(member.name)} for {age(member.age_ms)}" for member in stale)
    return wrap(f"Stale: nothing new from {names}; how they are now is unknown", width, rest="  ")


def _unknown(view: StatusView, width: int, painter: Painter) -> list[str]:
    total = sum(count for _, count in view.unknown)
    if not total:
        return []
    reasons = ", ".join(f"{number(count)} {_VERDICTS.get(reason, reason.value)}" for reason, count in view.unknown)
    word = "verdict" if total == 1 else "verdicts"
    lines = wrap(f"{Health.UNKNOWN.glyph} {number(total)} {word} unknown: {reasons}", width, rest="  ")
    return [painter.sign(line, Health.UNKNOWN) if not index else line for index, line in enumerate(lines)]


def _queue_managers(view: StatusView, width: int, painter: Painter) -> list[str]:
    if not view.queue_managers:
        return ["No queue manager has been seen yet"]
    situation = view.situation
    members = {member.name: member for member in situation.members}
    rows: list[tuple[str, ...]] = [
        ("", "", "", "Pool", "Page set", "", "Chinit", "Full"),
        ("", "", "Seen", "min free", "max used", "Channels", "tasks", "logs"),
    ]
    seen = {each.name: _seen(view, each) for each in view.queue_managers}
    rows += [
        (
            str(each.health),
            safe(each.name),
            "never" if seen[each.name] is None else short_age(situation.now - (seen[each.name] or 0)),
            *_figures(view, members[each.name]),
        )
        for each in view.queue_managers
    ]
    upper, lower, *lines = table(rows, width, indent=4)
    heads = [line for pair in zip(upper, lower, strict=True) for line in pair]
    # The heading stands over the columns without a title of their own, where these are wide enough.
    free = heads[0][: len(_HEADING)].strip() == ""
    shown = [_HEADING + heads[0][len(_HEADING) :] if free else _HEADING, *heads[1 if free else 0 :]]
    shown = [painter.title(line) if not index else painter.faint(line) for index, line in enumerate(shown)]
    for each, row in zip(view.queue_managers, lines, strict=True):
        shown += [painter.line(row[0], each.health), *row[1:]]
        if not each.reachable:
            told = seen[each.name]
            words = (
                "never reached" if told is None else f"unreachable: these figures are {age(situation.now - told)} old"
            )
            shown += wrap(words, width, first="    ", rest="    ")
    return shown


def _figures(view: StatusView, member: Member) -> tuple[str, ...]:
    current, now = view.situation.current, view.situation.now
    seen = cell.newest(current, member.name)
    if seen is not None and seen < member.last_ts - member.interval_ms / 2:
        # Nothing was told for a while: one age for the whole line, not one in every cell.
        member = replace(member, last_ts=seen)
    return (
        cell.least_free(current, member, now),
        cell.fullest(current, member, now),
        cell.channels(current, member, now),
        cell.tasks(current, member, now),
        cell.full_logs(current, member, now),
    )


def _seen(view: StatusView, member: MemberView) -> int | None:
    """When it last said something, ms UTC; None when it never did."""
    if member.reachable:
        return view.situation.now - member.age_ms
    return cell.newest(view.situation.current, member.name)


def _structures(view: StatusView, width: int, painter: Painter) -> list[str]:
    group = next((member for member in view.situation.members if member.is_group), None)
    if group is None:
        return []
    found = cell.of_kind(view.situation.current, group.name, "cf_structure")
    if not found:
        return []
    ranked = sorted(
        ((_structure_health(view, group, name, values), _share(values), name) for name, values in found.items()),
        key=lambda item: (-item[0], -item[1], item[2]),
    )
    rows = []
    for health, _, name in ranked[:MOST_STRUCTURES]:
        values = found[name]
        rows.append(
            (
                str(health),
                safe(name.name),
                _entries(values),
                f"size {_told(values, 'size_used_pct')}",
                _told(values, "status") + cell.own_age(values.get("entries_pct"), group, view.situation.now),
            )
        )
    lines = ["", painter.title("Coupling facility")]
    for (health, _, _), row in zip(ranked, table(rows, width, indent=4), strict=False):
        lines += [painter.line(row[0], health), *row[1:]]
    rest = ranked[MOST_STRUCTURES:]
    if rest:
        most = worst(health for health, _, _ in rest)
        lines.append(painter.line(f"{most}  {number(len(rest))} more structures", most))
    return lines


def _structure_health(view: StatusView, group: Member, name: ObjectName, values: cell.Values) -> Health:
    """As its alerts say; without any it is OK only when its figures are there and of now."""
    if view.group is not None and view.group.stale:
        return Health.UNKNOWN
    told = values.get("entries_pct")
    fresh = told is not None and told.ts is not None and group.last_ts - told.ts <= STALE_INTERVALS * group.interval_ms
    known = fresh and told is not None and not isinstance(told.value, Absence)
    return max(health_of_object(name, view.alerts), Health.OK if known else Health.UNKNOWN)


def _share(values: cell.Values) -> float:
    told = values.get("entries_pct")
    return -1.0 if told is None or isinstance(told.value, Absence | str) else told.value


def _entries(values: cell.Values) -> str:
    text = f"entries {_told(values, 'entries_pct')}"
    pair = [values.get(name) for name in ("entries_used", "entries_max")]
    if any(told is None or isinstance(told.value, Absence) for told in pair):
        return text
    return f"{text} ({_told(values, 'entries_used')} of {_told(values, 'entries_max')})"


def _told(values: cell.Values, name: str) -> str:
    told = values.get(name)
    return cell.NOT_ASKED if told is None else figure(told.value, metric("cf_structure", name))


def _alerts(view: StatusView, width: int, painter: Painter) -> list[str]:
    if not view.alerts:
        words = "no alert is firing" if view.health is Health.OK else "no alert is firing, but not all is known"
        sign = Health.OK if view.health is Health.OK else Health.UNKNOWN
        lines = [painter.line(f"{sign}  {words}", sign)]
    else:
        lines = [painter.title("Alerts, worst first")]
        members = (*view.queue_managers, *([view.group] if view.group else []))
        stale = {member.name for member in members if member.stale}
        if len(stale) == len(members):
            # The heading has said so of everything.
            stale = set()
        for alert in view.alerts[:MOST_ALERTS]:
            note = "(last known)" if alert.key.object.owner in stale else ""
            lines += entry(alert, view.situation.now, width, painter, note)
        if len(view.alerts) > MOST_ALERTS:
            lines.append(f"and {number(len(view.alerts) - MOST_ALERTS)} more: mqvitals alerts list")
    if view.advice:
        what = "piece" if view.advice == 1 else "pieces"
        lines += wrap(
            f"{number(view.advice)} {what} of advice on the configuration: mqvitals alerts list --review",
            width,
            rest="  ",
        )
    return lines


def _next(view: StatusView, width: int, painter: Painter, remedy: Remedy, options: str) -> list[str]:
    """What to do and to type next about the worst alert."""
    if not view.alerts:
        return []
    alert = view.alerts[0]
    name = f"{safe(alert.key.rule)} {safe(str(alert.key.object))}"
    lines = ["", *wrap(f"What to do about {name}", width, rest="  ")]
    lines = [painter.title(line) for line in lines]
    if remedy.advice:
        lines += wrap(safe(remedy.advice), width, first="  ", rest="  ")
    if remedy.mqsc:
        lines += wrap(safe(remedy.mqsc), width, first="  MQSC: ", rest="    ")
    for command in suggestions(alert):
        whole = f"  {command} {options}".rstrip()
        # A shell takes the two lines for one; a name or a path is never broken, so that it can be copied.
        lines += [whole] if cells(whole) <= width or not options else [f"  {command} \\", f"    {options}"]
    return lines


def suggestions(alert: Alert) -> tuple[str, ...]:
    """Commands that tell more about an alert, ready to be typed."""
    scope = alert.scope
    commands = [f"mqvitals rules explain {_argument(alert.key.rule)} {_argument(str(scope))}"]
    if scope.kind in TREND:
        commands.append(f"mqvitals trend {TREND[scope.kind]} {_argument(str(scope))}")
    return tuple(commands)


def _argument(text: str) -> str:
    return shlex.quote(safe(text))
