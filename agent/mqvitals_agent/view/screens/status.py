"""The text of ``mqvitals status``, and what it leaves out where the terminal has few lines."""

from __future__ import annotations

import shlex
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from mqvitals_agent.text.figure import number, number_of, short_age
from mqvitals_agent.text.severity import Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, line, signed_line, tone_of, wrapped
from mqvitals_agent.text.terminal import cells, safe, table
from mqvitals_agent.view.alerts.actions import handling_texts
from mqvitals_agent.view.alerts.handling import Handlings, brief_words
from mqvitals_agent.view.alerts.words import AlertAdvice
from mqvitals_agent.view.figures.values import MAIN_METRIC, Values, figure_of
from mqvitals_agent.view.lists import key_figures
from mqvitals_agent.view.lists.key_figures import as_seen, groups_of, seen_ts, structure_name, worst_and_fullest
from mqvitals_agent.view.screens.alerts import entry_lines
from mqvitals_agent.view.screens.header import status_header
from mqvitals_agent.view.status import GroupStatus, OwnerData, last_known, unreachable_words
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import iso
from mqvitals_rules.vocabulary.metric import Absence

MOST_ALERTS = 10
"""The most alerts where the number of lines is not limited."""

LEAST_ALERTS = 3
"""The least alerts, however few lines there are."""

FEW = 2
"""Queue managers that are OK and are omitted last."""


class AdviceLevel(IntEnum):
    """How much advice is shown."""

    NONE = 0
    COMMANDS = 1  # what to type, without the rule's words
    ALL = 2


@dataclass(frozen=True, slots=True)
class StatusLayout:
    """What is shown: the most alerts, whether summaries are cut to a line; ``most_ok`` None: every queue manager.

    ``spaced`` puts a blank line between the parts; ``lacking`` counts verdicts that need data which is not collected;
    ``further`` shows the command that lists all alerts where there is no room for advice.
    """

    alerts: int = MOST_ALERTS
    ok_structures: bool = True
    most_ok: int | None = None
    advice: AdviceLevel = AdviceLevel.ALL
    one_line: bool = False
    spaced: bool = True
    lacking: bool = True
    further: bool = True


def layouts(alerts: int) -> Iterator[StatusLayout]:
    """The layouts to try, from the fullest to the sparest, for a number of alerts.

    Omitted are, in this order: verdicts that need data which is not collected, structures that are OK, queue managers
    that are OK beyond a few, advice, alerts beyond the worst, the ends of summaries, blank lines, every queue manager
    that is OK, the command that lists all alerts.
    """
    most = min(alerts, MOST_ALERTS)
    least = min(alerts, LEAST_ALERTS)
    layout = StatusLayout(alerts=most)
    yield layout
    layout = replace(layout, lacking=False)
    yield layout
    layout = replace(layout, ok_structures=False)
    yield layout
    layout = replace(layout, most_ok=FEW)
    yield layout
    for advice in (AdviceLevel.COMMANDS, AdviceLevel.NONE):
        layout = replace(layout, advice=advice)
        yield layout
    spared = (layout, replace(layout, one_line=True), replace(layout, one_line=True, spaced=False))
    for each in (*spared, replace(spared[-1], most_ok=0)):
        for count in range(most, least - 1, -1):
            yield replace(each, alerts=count)
    for count in range(most, least - 1, -1):
        yield replace(spared[-1], most_ok=0, alerts=count, further=False)


_HEADING = "Queue managers  "


def queue_manager_table(view: GroupStatus, width: int, most_ok: int | None = None) -> list[Line]:
    """The table. Of those that are OK, only the first ``most_ok`` have a line; None: all of them."""
    if not view.queue_managers:
        return [line("No queue manager has reported yet")]
    data = view.data
    members = {member.name: member for member in data.members}
    rows: list[tuple[str, ...]] = [
        ("", "", "", "Pool", "Page set", "", "Chinit", "Full"),
        ("", "", "Seen", "min free", "max used", "Channels", "tasks", "logs"),
    ]
    well = [each for each in view.queue_managers if each.health is Health.OK]
    left_out = well if most_ok is None else well[most_ok:]
    left_out = [] if most_ok is None or len(left_out) < 2 else left_out
    listed = [each for each in view.queue_managers if each not in left_out]
    if not listed:
        return [Line((Span(_HEADING, Tone.STRONG), *_ok_spans(f"all {number(len(left_out))} OK")))]
    seen = {each.name: seen_ts(view, each) for each in listed}
    rows += [
        (
            str(each.health),
            safe(each.name),
            "never" if seen[each.name] is None else short_age(data.now - (seen[each.name] or 0)),
            *key_figure_cells(view, members[each.name]),
        )
        for each in listed
    ]
    upper, lower, *lines = table(rows, width, indent=4)
    heads = [each for pair in zip(upper, lower, strict=True) for each in pair]
    # The heading is above the columns without a title, where these are wide enough.
    free = heads[0][: len(_HEADING)].strip() == ""
    title = _HEADING + heads.pop(0)[len(_HEADING) :] if free else _HEADING.rstrip()
    shown = [line(title, Tone.STRONG), *(line(each, Tone.FAINT) for each in heads)]
    for each, row in zip(listed, lines, strict=True):
        shown += [signed_line(row[0], each.health), *map(line, row[1:])]
        if not each.reachable:
            shown += wrapped(unreachable_words(data, seen[each.name]), width, first="    ", rest="    ")
    if left_out:
        shown.append(Line(_ok_spans(f"{number(len(left_out))} more queue managers OK")))
    return shown


def _ok_spans(words: str) -> tuple[Span, Span]:
    """The glyph of OK before words."""
    return Span(Health.OK.glyph, Tone.OK), Span(f" {words}")


def key_figure_cells(view: GroupStatus, member: OwnerData) -> tuple[str, ...]:
    """Least free buffer pool, fullest page set, channels, channel initiator tasks, full logs: a cell each."""
    current, now = view.data.current, view.data.now
    member = as_seen(view, member)
    return (
        key_figures.least_free(current, member, now),
        key_figures.fullest(current, member, now),
        key_figures.channel_counts(current, member, now, view.firing),
        key_figures.task_counts(current, member, now),
        key_figures.full_logs(current, member, now),
    )


MOST_STRUCTURES = 6

_TITLE = "Coupling facility"


def structure_table(view: GroupStatus, width: int, *, show_ok: bool = True) -> list[Line]:
    """The structures, worst and fullest first; without ``show_ok`` those that are OK are only counted."""
    groups = groups_of(view)
    ranked = worst_and_fullest(view)
    if not ranked:
        return []
    bad = sum(health is not Health.OK for health, _ in ranked)
    rest = ranked[MOST_STRUCTURES if show_ok else min(bad, MOST_STRUCTURES) :]
    shown = ranked[: len(ranked) - len(rest)]
    if not shown:
        return [Line((Span(_TITLE, Tone.STRONG), Span("  "), *_ok_spans(f"{_counted(len(rest))} OK")))]
    rows = []
    for health, name in shown:
        values = view.data.current[name]
        rows.append(
            (
                str(health),
                structure_name(name, groups),
                _entries(values),
                f"size {_figure(values, 'size_used_pct')}",
                _figure(values, "status")
                + key_figures.own_age(values.get("entries_pct"), groups[name.owner], view.data.now),
            )
        )
    lines = [line(_TITLE, Tone.STRONG)]
    for (health, _), row in zip(shown, table(rows, width, indent=4), strict=True):
        lines += [signed_line(row[0], health), *map(line, row[1:])]
    if rest:
        most = worst(health for health, _ in rest)
        words = f"{_counted(len(rest), 'more ')} {'OK' if most is Health.OK else ''}".rstrip()
        sign = most.glyph if most is Health.OK else str(most)
        lines.append(Line((Span(sign, tone_of(most)), Span(f" {words}"))))
    return lines


def _counted(count: int, more: str = "") -> str:
    return number_of(count, f"{more}structure")


def _entries(values: Values) -> str:
    text = f"entries {_figure(values, 'entries_pct')}"
    pair = [values.get(name) for name in ("entries_used", "entries_max")]
    if any(latest is None or isinstance(latest.value, Absence) for latest in pair):
        return text
    return f"{text} ({_figure(values, 'entries_used')} of {_figure(values, 'entries_max')})"


def _figure(values: Values, name: str) -> str:
    return figure_of(values, "cf_structure", name)


def what_next(alert: Alert, width: int, advice: AlertAdvice, options: str) -> list[Line]:
    """Advice and commands for an alert. ``options`` are added to each command."""
    name = f"{safe(alert.key.rule)} {safe(str(alert.key.object))}"
    lines = wrapped(f"What to do about {name}", width, Tone.STRONG, rest="  ")
    if advice.text:
        lines += wrapped(safe(advice.text), width, first="  ", rest="  ")
    if advice.mqsc:
        lines += wrapped(safe(advice.mqsc), width, first="  MQSC: ", rest="    ")
    for command in suggestions(alert):
        lines += map(line, command_lines(command, width, options, first="  "))
    return lines


def command_lines(command: str, width: int, options: str, *, first: str = "") -> list[str]:
    """A command to type, with its options, after ``first``: one line, or two that a shell joins.

    A name or a path is never broken, so that it can be copied.
    """
    whole = f"{first}{command} {options}".rstrip()
    return [whole] if cells(whole) <= width or not options else [f"{first}{command} \\", f"    {options}"]


def suggestions(alert: Alert) -> tuple[str, ...]:
    """Commands that show more about an alert, ready to type."""
    scope = alert.scope
    commands = [f"mqvitals rules explain {_argument(alert.key.rule)} {_argument(str(scope))}"]
    if scope.kind in MAIN_METRIC:
        commands.append(trend_command(MAIN_METRIC[scope.kind], scope))
    return tuple(commands)


def trend_command(metric: str, name: ObjectName) -> str:
    """The command that charts a metric of an object, ready to type."""
    return f"mqvitals trend {metric} {_argument(str(name))}"


def at_option(as_of: int | None) -> str:
    """What a command takes, after a space, to show the same past moment (ms UTC) whenever it is typed; empty for now."""
    return "" if as_of is None else f" --at {iso(as_of)}"


def _argument(text: str) -> str:
    return shlex.quote(safe(text))


def status_screen(
    view: GroupStatus,
    width: int,
    *,
    advice: AlertAdvice | None = None,
    options: str = "",
    height: int | None = None,
) -> list[Line]:
    """The whole screen. ``options`` are those that the commands it suggests need too (``--store X``).

    With a ``height`` it is fitted into that many lines of the terminal, as far as ``layouts`` goes; None: all of it.
    """
    advice = advice or AlertAdvice()
    layout = StatusLayout()
    if height is not None:

        def rows(layout: StatusLayout) -> int:
            return _rows(_draw(view, layout, width, advice, options), width)

        # A tall terminal shows more alerts; each takes at least a line, so that halving finds how many fit.
        taller = [replace(layout, alerts=count) for count in range(MOST_ALERTS + 1, min(len(view.alerts), height) + 1)]
        fitting = bisect_right(taller, height, key=rows)
        if fitting:
            layout = taller[fitting - 1]
        else:
            for layout in layouts(len(view.alerts)):
                if rows(layout) <= height:
                    break
    return _draw(view, layout, width, advice, options)


def _rows(lines: list[Line], width: int) -> int:
    """The lines of the terminal that they take: a line that must not be broken continues on the next."""
    return sum(max(-(-cells(each.text.rstrip()) // width), 1) for each in lines)


def _draw(view: GroupStatus, layout: StatusLayout, width: int, advice: AlertAdvice, options: str) -> list[Line]:
    parts = [
        status_header(view, width, lacking=layout.lacking),
        queue_manager_table(view, width, layout.most_ok),
        structure_table(view, width, show_ok=layout.ok_structures),
        _alerts(view, layout, width, options),
    ]
    if view.alerts and layout.advice:
        shown = advice if layout.advice is AdviceLevel.ALL else AlertAdvice(mqsc=advice.mqsc)
        parts.append(what_next(view.alerts[0], width, shown, options))
    lines: list[Line] = []
    for part in parts:
        lines += [line(), *part] if lines and part and layout.spaced else part
    return lines


def _alerts(view: GroupStatus, layout: StatusLayout, width: int, options: str) -> list[Line]:
    if not view.alerts:
        words = "no alert is firing" if view.health is Health.OK else "no alert is firing, but not all is known"
        sign = Health.OK if view.health is Health.OK else Health.UNKNOWN
        lines = [signed_line(f"{sign}  {words}", sign)]
    else:
        lines = [line("Alerts, worst first", Tone.STRONG)]
        members = view.owners
        silent, now = last_known(view), view.data.now
        if len(silent) == len(members):
            # The heading has this time: all alerts are shown as of it.
            silent, now = {}, max(silent.values(), default=now)
        shown = view.alerts[: layout.alerts]
        handled = view.data.handled
        lines += entry_lines(
            shown,
            now,
            width,
            covered=view.explained,
            silent=silent,
            beside={alert: _people(handled, alert, one_line=layout.one_line) for alert in shown},
            bold={alert: handled.bold(alert) for alert in shown},
            one_line=layout.one_line,
        )
        if len(view.alerts) > len(shown):
            lines += _more(f"and {number(len(view.alerts) - len(shown))} more:", "", width, options)
        elif not layout.advice and layout.further:
            lines += _more("in full:", "", width, options)
    if view.advice and layout.advice:
        what = "piece" if view.advice == 1 else "pieces"
        lines += _more(f"{number(view.advice)} {what} of advice on the configuration:", " --review", width, options)
    return lines


def _people(handled: Handlings, alert: Alert, *, one_line: bool) -> list[str]:
    """Who has an alert and what silences it; its notes where there is room."""
    found = handled.of(alert)
    if found is None or handled.past:
        return []
    return (
        [text for text in [brief_words(found, handled.now)] if text] if one_line else handling_texts(found, handled.now)
    )


def _more(words: str, option: str, width: int, options: str) -> list[Line]:
    """Words, and the command that shows more: on the same line when it fits there."""
    command = f"mqvitals alerts list{option}"
    whole = f"{words} {command} {options}".rstrip()
    if cells(whole) <= width:
        return [line(whole)]
    return [*wrapped(words, width, rest="  "), *map(line, command_lines(command, width, options, first="  "))]
