"""The overview: queue managers, coupling facility, alerts; a line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.text.chart import TimeRange as Time
from mqvitals_agent.text.chart import sparkline
from mqvitals_agent.text.figure import age, counted, number, object_words, short_age
from mqvitals_agent.text.severity import WIDEST, Health, health_of, worst
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import at_most, cells, cut, fit, safe, wrap
from mqvitals_agent.view import key_figures
from mqvitals_agent.view.alerts import AlertAdvice, duration_words, object_key, short_summary
from mqvitals_agent.view.handling import NEW, Handlings, brief_words, legend
from mqvitals_agent.view.key_figures import SPAN_MS, as_seen, groups_of, seen_ts, structure_name, worst_and_fullest
from mqvitals_agent.view.screens.status import MOST_STRUCTURES
from mqvitals_agent.view.status import (
    GroupStatus,
    OwnerData,
    OwnerStatus,
    health_of_object,
    silent_since,
    unreachable_words,
)
from mqvitals_agent.view.table import Cell, short_absence
from mqvitals_agent.view.values import SOON_MS, figure_of, full_in
from mqvitals_rules.lifecycle.alert import Alert, AlertKey
from mqvitals_rules.ruleset.markdown import one_line
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame


_REASONS = frozenset(absence.value for absence in Absence)

_POOL, _POOL_PAST, _PAGE_SET, _PAGE_SET_PAST, _FULL_IN, _CHANNELS, _RATE, _TASKS, _LOGS, _SEEN = range(10)

_TITLES = {
    _POOL: "Pool, free",
    _POOL_PAST: "trend",
    _PAGE_SET: "Page set",
    _PAGE_SET_PAST: "trend",
    _FULL_IN: "full in",
    _CHANNELS: "Channels",
    _RATE: "Msgs/s",
    _TASKS: "Chinit",
    _LOGS: "Full logs",
    _SEEN: "Seen",
}
"""The columns, in their order."""

_BY_NEED = (_POOL, _PAGE_SET, _CHANNELS, _POOL_PAST, _FULL_IN, _RATE, _LOGS, _TASKS, _SEEN, _PAGE_SET_PAST)
"""The columns by priority: they are added while they fit."""

_KIND = {
    _POOL: "buffer_pool",
    _PAGE_SET: "page_set",
    _CHANNELS: "channel",
    _TASKS: "channel_initiator",
    _LOGS: "log",
}

PAST, WIDE_PAST = 8, 16
"""Cells of a trend, and on a very wide screen."""

VERY_WIDE = 160
"""Cells: the width from which a screen is very wide."""

AGE = 4
"""Cells reserved for a figure's own age, so that no column moves when it appears."""

LONGEST_NAME = 20
_MOST_CHANNELS = 26


def past_cells(width: int) -> int:
    """The cells of a trend on a screen of that width."""
    return WIDE_PAST if width >= VERY_WIDE else PAST


def member_rows(frame: Frame, width: int) -> list[Line]:
    """The titles, and a line for each queue manager; its key opens it."""
    view = frame.status
    if not view.queue_managers:
        return [line("No queue manager has reported yet", Tone.UNKNOWN)]
    members = {member.name: member for member in frame.data.members}
    past = past_cells(width)
    rows = [_row(frame, each, members[each.name], past) for each in view.queue_managers]
    names = [safe(each.name) for each in view.queue_managers]
    name_width = min(max(map(cells, names)), LONGEST_NAME)
    widths = {column: max(cells(row[column].text) for row in rows) for column in _TITLES}
    widths = {column: max(size, cells(_TITLES[column])) for column, size in widths.items() if size}
    widths[_CHANNELS] = min(widths[_CHANNELS], _MOST_CHANNELS)
    taken = _taken(_BY_NEED, widths, width - WIDEST - 2 - name_width)
    titles = "".join(f"  {fit(_TITLES[column], widths[column])}" for column in taken)
    lines = [line(f"{' ' * (WIDEST + 2 + name_width)}{titles}".rstrip(), Tone.FAINT)]
    for each, name, row in zip(view.queue_managers, names, rows, strict=True):
        key = f"{each.name}/queue_manager"
        spans = [Span(fit(str(each.health), WIDEST), tone_of(each.health)), Span("  ")]
        spans.append(Span(fit(name, name_width), Tone.STRONG))
        for column in taken:
            spans += [Span("  "), Span(fit(row[column].text, widths[column]), row[column].tone)]
        lines.append(Line(tuple(spans), key))
        lines += [line(text, Tone.STALE) for text in _note(view, each, width)]
    return lines


def _taken(by_need: Iterable[int], widths: Mapping[int, int], room: int) -> list[int]:
    """The columns that fit into ``room``, in their order."""
    taken = []
    for column in by_need:
        size = widths.get(column, 0)
        if size and size + 2 <= room:
            taken.append(column)
            room -= size + 2
    return sorted(taken)


def _row(frame: Frame, each: OwnerStatus, member: OwnerData, past: int) -> dict[int, Cell]:
    silent = each.stale or not each.reachable
    current, now = frame.data.current, frame.now
    seen_as = as_seen(frame.status, member)
    pool = key_figures.extreme_figure(current, each.name, "buffer_pool", "free_pct", -1)
    page_set = key_figures.extreme_figure(current, each.name, "page_set", "used_pct", 1)
    # One answer reports both: its age is shown once.
    both = pool is not None and page_set is not None and pool.latest.ts == page_set.latest.ts
    pool_age = "" if pool is None else key_figures.own_age(pool.latest, seen_as, now)
    texts = {
        _POOL: key_figures.least_free(current, seen_as, now) + " " * max(AGE - cells(pool_age), 0),
        _PAGE_SET: key_figures.fullest(current, seen_as, now, aged=not both),
        _CHANNELS: key_figures.channel_counts(current, seen_as, now, frame.status.firing),
        _TASKS: key_figures.task_counts(current, seen_as, now),
        _LOGS: key_figures.full_logs(current, seen_as, now),
    }
    row = {
        column: Cell(text, _tone(frame.status, each.name, _KIND[column], text, silent=silent))
        for column, text in texts.items()
    }
    rate = frame.history.rates.get(each.name)
    if rate is None or isinstance(rate.value, Absence | str):
        absence = rate.value if rate is not None and isinstance(rate.value, Absence) else Absence.NOT_ASKED
        row[_RATE] = Cell(short_absence(absence), Tone.ABSENT)
    else:
        text = number(round(rate.value, 1 if rate.value < 10 else None)) + key_figures.own_age(rate, seen_as, now)
        row[_RATE] = Cell(text, Tone.STALE if silent else Tone.PLAIN)
    # The trend of a stale queue manager ends at its last snapshot.
    until = member.last_ts if each.stale else now
    span = Time(max(until - SPAN_MS, member.first_ts), until)
    for column, extreme, of in ((_POOL_PAST, pool, _POOL), (_PAGE_SET_PAST, page_set, _PAGE_SET)):
        points = () if extreme is None else frame.history.points.get(extreme.name, ())
        row[column] = Cell(sparkline(points, span, past), row[of].tone)
    ahead = None if page_set is None or silent else full_in(frame.history.points.get(page_set.name, ()), now)
    soon = ahead is not None and ahead < SOON_MS and row[_PAGE_SET].tone is Tone.PLAIN
    row[_FULL_IN] = Cell("" if ahead is None else short_age(ahead), Tone.WARNING if soon else row[_PAGE_SET].tone)
    seen = seen_ts(frame.status, each)
    row[_SEEN] = Cell("never" if seen is None else short_age(now - seen), Tone.STALE if silent else Tone.FAINT)
    return row


def _tone(view: GroupStatus, owner: str, kind: str, text: str, *, silent: bool) -> Tone:
    if text.rstrip() in _REASONS:
        return Tone.ABSENT
    if silent:
        return Tone.STALE
    about = (alert for alert in view.firing if (alert.scope.owner, alert.scope.kind) == (owner, kind))
    health = worst(health_of(alert.severity) for alert in about)
    return tone_of(health) if health >= Health.WARNING else Tone.PLAIN


def _note(view: GroupStatus, each: OwnerStatus, width: int) -> list[str]:
    if each.reachable:
        return []
    words = unreachable_words(view.data, seen_ts(view, each))
    return wrap(words, width, first=" " * (WIDEST + 2), rest=" " * (WIDEST + 2))


_ENTRIES, _PAST, _STRUCTURE_FULL_IN, _SIZE, _STATUS, _COUNTS = range(6)
"""The columns, in their order."""

_WELL = "ACTIVE"


def structure_rows(frame: Frame, width: int) -> list[Line]:
    """A heading, a line for each group's members and one for each structure; nothing where no structure is known."""
    ranked = worst_and_fullest(frame.status)
    groups = groups_of(frame.status)
    if not ranked:
        return []
    shown, rest = ranked[:MOST_STRUCTURES], ranked[MOST_STRUCTURES:]
    stale = frame.status.group is not None and frame.status.group.stale
    rows = [
        (health, name, _structure_row(frame, groups[name.owner], name, past_cells(width), stale=stale))
        for health, name in shown
    ]
    name_width = min(max(cells(structure_name(name, groups)) for _, name, _ in rows), LONGEST_NAME)
    widths = {column: max(cells(row[column]) for _, _, row in rows) for column in range(6)}
    ill = any(row[_STATUS] != _WELL for _, _, row in rows)
    need = (_ENTRIES, *((_STATUS,) if ill else ()), _PAST, _STRUCTURE_FULL_IN, _SIZE, _STATUS, _COUNTS)
    taken = _taken(dict.fromkeys(need), widths, width - WIDEST - 2 - name_width)
    lines = [heading("Coupling facility", width), *_group_rows(frame, groups, name_width, width)]
    for health, name, row in rows:
        spans = [Span(fit(str(health), WIDEST), tone_of(health)), Span("  ")]
        spans.append(Span(fit(structure_name(name, groups), name_width), Tone.STRONG))
        main = Tone.STALE if stale else tone_of(health) if health >= Health.WARNING else Tone.PLAIN
        for column in taken:
            tone = main if column in (_ENTRIES, _PAST, _STRUCTURE_FULL_IN) else Tone.STALE if stale else Tone.PLAIN
            if column == _STRUCTURE_FULL_IN and tone is Tone.PLAIN and row[column] and _soon(frame, name):
                tone = Tone.WARNING
            spans += [Span("  "), Span(fit(row[column], widths[column]), tone)]
        lines.append(Line(tuple(spans), str(name)))
    if rest:
        most = worst(health for health, _ in rest)
        lines.append(
            line(f"{most.glyph} {number(len(rest))} more structures{' OK' if most is Health.OK else ''}", tone_of(most))
        )
    return lines


def _group_rows(frame: Frame, groups: Mapping[str, OwnerData], name_width: int, width: int) -> list[Line]:
    """The members of each group; its key opens the group."""
    lines = []
    for group in groups.values():
        text = key_figures.group_members(frame.data.current, group, frame.now)
        if not text:
            continue
        name = ObjectName(group.name, "qsg")
        stale = frame.status.group is not None and frame.status.group.stale
        health = Health.UNKNOWN if stale else health_of_object(name, frame.status.firing)
        tone = Tone.STALE if stale else tone_of(health) if health >= Health.WARNING else Tone.PLAIN
        room = width - WIDEST - 4 - name_width
        spans = [Span(fit(str(health), WIDEST), tone_of(health)), Span("  ")]
        spans += [Span(fit(safe(group.name), name_width), Tone.STRONG), Span("  "), Span(cut(text, room), tone)]
        lines.append(Line(tuple(spans), str(name)))
    return lines


def _soon(frame: Frame, name: ObjectName) -> bool:
    ahead = full_in(frame.history.points.get(name, ()), frame.now)
    return ahead is not None and ahead < SOON_MS


def _structure_row(frame: Frame, group: OwnerData, name: ObjectName, past: int, *, stale: bool) -> tuple[str, ...]:
    values = frame.data.current[name]
    points = frame.history.points.get(name, ())
    until = group.last_ts if stale else frame.now
    span = Time(max(until - SPAN_MS, group.first_ts), until)
    old = key_figures.own_age(values.get("entries_pct"), group, frame.now)
    ahead = None if stale else full_in(points, frame.now)

    def text_of(name: str) -> str:
        return figure_of(values, "cf_structure", name)

    return (
        f"entries {text_of('entries_pct')}{fit(old, max(AGE, cells(old)))}",
        sparkline(points, span, past),
        "" if ahead is None else f"full in {age(ahead)}",
        f"size {text_of('size_used_pct')}",
        text_of("status"),
        f"{text_of('entries_used')} of {text_of('entries_max')} entries",
    )


NOTHING_HANDLED = Handlings(past=True)
"""For alerts of which nobody says who has them."""

_MOST_ADVICE, _MOST_ADVICE_NARROW = 4, 3
"""The most lines of advice about an alert, and on a narrow screen; the object's screen shows all of it."""

_NARROW = 100

_ADVISED = 3
"""The number of alerts with advice on a very wide screen."""


def overview_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """The overview in ``width`` cells; a line's key is the object that Enter opens."""
    if not frame.data.members:
        return ()
    view = frame.status
    stale = bool(view.queue_managers) and all(member.stale for member in view.queue_managers)
    return (
        heading("Queue managers", width),
        *member_rows(frame, width),
        *structure_rows(frame, width),
        heading(
            _with_legend("Alerts, worst first, as they were then" if stale else "Alerts, worst first", view), width
        ),
        *_alerts(view, (frame.advice, *frame.further), width),
        *_unseen(frame.unseen, width),
    )


def _unseen(count: int, width: int) -> list[Line]:
    """What ended before anybody acknowledged it stays in sight until somebody does."""
    if not count:
        return []
    words = f"{NEW} {counted(count, 'alert')} of the last day ended before anybody acknowledged {'it' if count == 1 else 'them'}"
    return [Line((Span(cut(f"{words}: see Alerts", width), Tone.STRONG, bold=True),))]


def _with_legend(title: str, view: GroupStatus) -> str:
    words = legend(map(view.data.handled.mark, view.alerts))
    return f"{title} ({words})" if words else title


def _alerts(view: GroupStatus, given: Sequence[AlertAdvice], width: int) -> list[Line]:
    if not view.alerts:
        well = view.health < Health.UNKNOWN
        sign = Health.OK if well else Health.UNKNOWN
        text = "no alerts" if well else "no alert is known, but some data is missing"
        return [line(f"{sign.glyph} {text}", tone_of(sign)), *_advice(view)]
    silent = silent_since(view)
    rows = alert_rows(view.alerts, view.data.now, width, silent, view.data.handled)
    advised = _ADVISED if width >= VERY_WIDE else 1
    effects: dict[AlertKey, list[Alert]] = {}
    for each in view.firing:
        if (cause := view.explained.get(each.key)) is not None:
            effects.setdefault(cause, []).append(each)
    lines = []
    for place, (alert, row) in enumerate(zip(view.alerts, rows, strict=True)):
        # For stale alerts there is no advice but that of the header.
        if place >= min(advised, len(given)) or alert.key.object.owner in silent:
            lines.append(row)
        else:
            lines += _advised(alert, row, given[place], width)
        lines += _effects(alert, effects.get(alert.key, ()), width)
    return [*lines, *_advice(view)]


def _effects(alert: Alert, effects: Sequence[Alert], width: int) -> list[Line]:
    """The effects of an alert on one line, and who reports the same on another; the alerts screen shows them in full."""
    same = [safe(each.key.object.owner) for each in effects if each.key.rule == alert.key.rule]
    others = [each for each in effects if each.key.rule != alert.key.rule]
    words = [f"{safe(each.key.rule)} {object_words(each.key.object)}" for each in others]
    parts = (("the same reported by: ", same), ("caused: ", words))
    lead = " " * (WIDEST + 3)
    return [line(cut(f"{lead}{label}{', '.join(found)}", width), Tone.FAINT) for label, found in parts if found]


def _advised(alert: Alert, row: Line, advice: AlertAdvice, width: int) -> list[Line]:
    """An alert with advice and command; its summary is below its line where it does not fit beside it."""
    lead = " " * (WIDEST + 3)
    summary, to_do = safe(short_summary(alert)), safe(one_line(advice.text))
    lines = [row]
    if row.spans[-1].text != summary:
        # Then the whole name has room.
        *before, name, words, _ = row.spans
        beside = words.text.rstrip("; ")
        room = width - sum(cells(span.text) for span in before) - cells(beside)
        name = name._replace(text=cut(object_words(alert.key.object), room))
        lines = [row._replace(spans=(*before, name, words._replace(text=beside)))]
        lines += [line(each) for each in wrap(summary, width, first=lead, rest=lead)]
    if to_do:
        most = _MOST_ADVICE_NARROW if width < _NARROW else _MOST_ADVICE
        shown = wrap(to_do, width, first=f"{lead}to do: ", rest=f"{lead}       ")
        lines += [line(each, Tone.STRONG) for each in at_most(shown, most, width)]
    if advice.mqsc:
        lines.append(line(cut(f"{lead}MQSC: {safe(one_line(advice.mqsc))}", width), Tone.FAINT))
    return lines


def _advice(view: GroupStatus) -> list[Line]:
    if not view.advice:
        return []
    plural = "piece" if view.advice == 1 else "pieces"
    return [line(f"{Health.INFO.glyph} {number(view.advice)} {plural} of advice: see Alerts", Tone.FAINT)]


def alert_rows(
    alerts: Sequence[Alert],
    now: int,
    width: int,
    silent: Mapping[str, int] | None = None,
    handled: Handlings = NOTHING_HANDLED,
) -> list[Line]:
    """Each alert on one line: severity, mark, duration, rule, object, and as much as fits of who has it and its summary.

    ``silent`` maps owners without new data to the time of the last (ms UTC): their alerts are as of then. An alert that
    somebody should look at is bold, and ``handled`` says so; the others are plain.
    """
    silent = silent or {}
    ends = [silent.get(alert.key.object.owner, now) for alert in alerts]
    rows = [
        (duration_words(alert, end), safe(alert.key.rule), object_words(alert.key.object))
        for alert, end in zip(alerts, ends, strict=True)
    ]
    sizes = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    sizes[2] = min(sizes[2], max(width // 4, 12))
    room = width - WIDEST - sum(sizes) - 9
    signs = {health: fit(str(health), WIDEST) for health in {health_of(alert.severity) for alert in alerts}}
    lines = []
    for alert, row in zip(alerts, rows, strict=True):
        health = health_of(alert.severity)
        tone = Tone.STALE if alert.key.object.owner in silent else tone_of(health)
        bold = handled.bold(alert)
        words = brief_words(handled.of(alert), handled.now)
        # The last span is the summary, in full or cut.
        before = (
            Span(signs[health], tone, bold),
            Span(f" {handled.mark(alert)} ", tone, bold),
            Span(fit(row[0], sizes[0], right=True), Tone.PLAIN, bold),
            Span("  "),
            Span(fit(row[1], sizes[1]), Tone.FAINT, bold),
            Span("  "),
            Span(fit(row[2], sizes[2]), Tone.STRONG, bold),
            Span(f"  {words}; " if words else "  ", Tone.INFO),
        )
        left = room - (cells(words) + 2 if words else 0)
        lines.append(
            Line(
                (*before, Span(cut(safe(short_summary(alert)), max(left, 0)))), object_key(alert), handled.number(alert)
            )
        )
    return lines
