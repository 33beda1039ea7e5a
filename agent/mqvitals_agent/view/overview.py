"""The overview: queue managers, coupling facility, alerts; a line each, the worst first where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.view import cell
from mqvitals_agent.view.alerts import lasted, short_summary
from mqvitals_agent.view.chart import Span as Time
from mqvitals_agent.view.figure import age, figure, number, short_age
from mqvitals_agent.view.member_table import key_figures, seen_ts
from mqvitals_agent.view.pulse import SPAN_MS
from mqvitals_agent.view.severity import WIDEST, Health, health_of, worst
from mqvitals_agent.view.situation import Member
from mqvitals_agent.view.sparkline import sparkline
from mqvitals_agent.view.status import MemberView, StatusView
from mqvitals_agent.view.structure_table import MOST_STRUCTURES, worst_and_fullest
from mqvitals_agent.view.table import Cell, Line, Span, Tone, line, tone_of
from mqvitals_agent.view.text import cells, cut, fit, safe, wrap
from mqvitals_agent.view.top_line import header_lines
from mqvitals_agent.view.wording import object_words
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

__all__ = ["header_lines", "overview_lines"]

_REASONS = frozenset(absence.value for absence in Absence)

_POOL, _PAGE_SET, _CHANNELS, _TASKS, _LOGS, _RATE, _POOL_PAST, _PAGE_SET_PAST, _SEEN = range(9)

_TITLES = {
    _POOL: "Pool, free",
    _POOL_PAST: "trend",
    _PAGE_SET: "Page set",
    _PAGE_SET_PAST: "trend",
    _CHANNELS: "Channels",
    _TASKS: "Chinit",
    _LOGS: "Full logs",
    _RATE: "Msgs/s",
    _SEEN: "Seen",
}
"""In the order in which they stand."""

_BY_NEED = (_POOL, _PAGE_SET, _CHANNELS, _TASKS, _LOGS, _RATE, _POOL_PAST, _SEEN, _PAGE_SET_PAST)
"""The order in which columns are taken while there is room."""

_KIND = {
    _POOL: "buffer_pool",
    _PAGE_SET: "page_set",
    _CHANNELS: "channel",
    _TASKS: "channel_initiator",
    _LOGS: "log",
}

_PAST = 8
_MOST_CHANNELS, _LONGEST_NAME = 26, 20


def overview_lines(frame: Frame, width: int) -> tuple[Line, ...]:
    """The overview in ``width`` cells; a line's key is the object that Enter opens."""
    if not frame.situation.members:
        return ()
    return (
        heading("Queue managers", width),
        *_queue_managers(frame, width),
        *_structures(frame, width),
        heading("Alerts, worst first", width),
        *_alerts(frame.status, width),
    )


def heading(title: str, width: int) -> Line:
    """A title with a rule behind it."""
    return Line((Span(f"{title} ", Tone.STRONG), Span("─" * max(width - cells(title) - 1, 0), Tone.FAINT)))


def _queue_managers(frame: Frame, width: int) -> list[Line]:
    view = frame.status
    if not view.queue_managers:
        return [line("No queue manager has been seen yet", Tone.UNKNOWN)]
    members = {member.name: member for member in frame.situation.members}
    rows = [_row(frame, each, members[each.name]) for each in view.queue_managers]
    names = [safe(each.name) for each in view.queue_managers]
    name_width = min(max(map(cells, names)), _LONGEST_NAME)
    widths = {
        column: max(cells(title), *(cells(row[column].text) for row in rows)) for column, title in _TITLES.items()
    }
    widths[_CHANNELS] = min(widths[_CHANNELS], _MOST_CHANNELS)
    taken = _taken(widths, width - WIDEST - 2 - name_width)
    titles = "".join(f"  {fit(_TITLES[column], widths[column])}" for column in taken)
    lines = [line(f"{' ' * (WIDEST + 2 + name_width)}{titles}".rstrip(), Tone.FAINT)]
    for each, name, row in zip(view.queue_managers, names, rows, strict=True):
        key = f"{each.name}/queue_manager"
        spans = [Span(fit(str(each.health), WIDEST), tone_of(each.health)), Span("  ")]
        spans.append(Span(fit(name, name_width), Tone.STRONG))
        for column in taken:
            spans += [Span("  "), Span(fit(row[column].text, widths[column]), row[column].tone)]
        lines.append(Line(tuple(spans), key))
        lines += [line(text, Tone.STALE, key) for text in _note(view, each, width)]
    return lines


def _taken(widths: dict[int, int], room: int) -> list[int]:
    taken = set()
    for column in _BY_NEED:
        if widths[column] + 2 <= room:
            taken.add(column)
            room -= widths[column] + 2
    return [column for column in _TITLES if column in taken]


def _row(frame: Frame, each: MemberView, member: Member) -> dict[int, Cell]:
    texts = dict(zip((_POOL, _PAGE_SET, _CHANNELS, _TASKS, _LOGS), key_figures(frame.status, member), strict=True))
    silent = each.stale or not each.reachable
    row = {
        column: Cell(text, _tone(frame.status, each.name, _KIND[column], text, silent=silent))
        for column, text in texts.items()
    }
    rate = frame.pulse.rates.get(each.name)
    if rate is None or isinstance(rate.value, Absence | str):
        row[_RATE] = Cell(cell.NOT_ASKED if rate is None else str(rate.value), Tone.ABSENT)
    else:
        text = number(round(rate.value, 1 if rate.value < 10 else None)) + cell.own_age(rate, member, frame.now)
        row[_RATE] = Cell(text, Tone.STALE if silent else Tone.PLAIN)
    span = Time(max(frame.now - SPAN_MS, member.first_ts), frame.now)
    for column, kind, name, sign in (
        (_POOL_PAST, "buffer_pool", "free_pct", -1),
        (_PAGE_SET_PAST, "page_set", "used_pct", 1),
    ):
        extreme = cell.extreme_of(frame.situation.current, each.name, kind, name, sign)
        points = () if extreme is None else frame.pulse.points.get(extreme.name, ())
        row[column] = Cell(sparkline(points, span, _PAST), row[_POOL if kind == "buffer_pool" else _PAGE_SET].tone)
    seen = seen_ts(frame.status, each)
    row[_SEEN] = Cell("never" if seen is None else short_age(frame.now - seen), Tone.STALE if silent else Tone.FAINT)
    return row


def _tone(view: StatusView, owner: str, kind: str, text: str, *, silent: bool) -> Tone:
    if text in _REASONS:
        return Tone.ABSENT
    if silent:
        return Tone.STALE
    about = (alert for alert in view.alerts if (alert.scope.owner, alert.scope.kind) == (owner, kind))
    health = worst(health_of(alert.severity) for alert in about)
    return tone_of(health) if health >= Health.WARNING else Tone.PLAIN


def _note(view: StatusView, each: MemberView, width: int) -> list[str]:
    if each.reachable:
        return []
    told = seen_ts(view, each)
    words = "never reached"
    if told is not None:
        words = f"unreachable: these figures are {age(view.situation.now - told)} old"
    return wrap(words, width, first=" " * (WIDEST + 2), rest=" " * (WIDEST + 2))


def _structures(frame: Frame, width: int) -> list[Line]:
    ranked = worst_and_fullest(frame.status)
    group = next((member for member in frame.situation.members if member.is_group), None)
    if not ranked or group is None:
        return []
    shown, rest = ranked[:MOST_STRUCTURES], ranked[MOST_STRUCTURES:]
    stale = frame.status.group is not None and frame.status.group.stale
    span = Time(max(frame.now - SPAN_MS, group.first_ts), frame.now)
    rows = [(health, name, _structure(frame, group, name)) for health, name in shown]
    name_width = min(max(cells(safe(name.name)) for _, name, _ in rows), _LONGEST_NAME)
    widths = [max(cells(row[number_of]) for _, _, row in rows) for number_of in range(4)]
    lines = [heading("Coupling facility", width)]
    for health, name, row in rows:
        spans = [Span(fit(str(health), WIDEST), tone_of(health)), Span("  ")]
        spans += [Span(fit(safe(name.name), name_width), Tone.STRONG), Span("  ")]
        main = Tone.STALE if stale else tone_of(health) if health >= Health.WARNING else Tone.PLAIN
        parts = [Span(fit(row[0], widths[0]), main)]
        past = Span(sparkline(frame.pulse.points.get(name, ()), span, _PAST), main)
        extra = [past, *(Span(fit(text, size)) for text, size in zip(row[1:], widths[1:], strict=True))]
        room = width - WIDEST - 4 - name_width - cells(parts[0].text)
        for span_of in (extra[1], extra[0], extra[2], extra[3]):
            if cells(span_of.text) and cells(span_of.text) + 2 <= room:
                room -= cells(span_of.text) + 2
                parts += [Span("  "), span_of]
        lines.append(Line((*spans, *parts), str(name)))
    if rest:
        most = worst(health for health, _ in rest)
        lines.append(
            line(f"{most.glyph} {number(len(rest))} more structures{' OK' if most is Health.OK else ''}", tone_of(most))
        )
    return lines


def _structure(frame: Frame, group: Member, name: ObjectName) -> tuple[str, str, str, str]:
    values = frame.situation.current[name]

    def told(metric_name: str) -> str:
        found = values.get(metric_name)
        return cell.NOT_ASKED if found is None else figure(found.value, metric("cf_structure", metric_name))

    return (
        f"entries {told('entries_pct')}{cell.own_age(values.get('entries_pct'), group, frame.now)}",
        f"size {told('size_used_pct')}",
        told("status"),
        f"{told('entries_used')} of {told('entries_max')} entries",
    )


def _alerts(view: StatusView, width: int) -> list[Line]:
    if not view.alerts:
        well = view.health < Health.UNKNOWN
        sign = Health.OK if well else Health.UNKNOWN
        text = "no alerts" if well else "no alert is known, and not everything can be seen"
        return [line(f"{sign.glyph} {text}", tone_of(sign)), *_advice(view)]
    return [*alert_rows(view.alerts, view.situation.now, width), *_advice(view)]


def _advice(view: StatusView) -> list[Line]:
    if not view.advice:
        return []
    plural = "piece" if view.advice == 1 else "pieces"
    return [
        line(
            f"{Health.INFO.glyph} {number(view.advice)} {plural} of advice on the configuration: see Alerts", Tone.FAINT
        )
    ]


def alert_rows(alerts: Sequence[Alert], now: int, width: int) -> list[Line]:
    """Each alert on one line: how bad, for how long, which rule, on what, and as much of the summary as there is room."""
    told = [(lasted(alert, now), safe(alert.key.rule), object_words(alert.key.object)) for alert in alerts]
    sizes = [max(cells(row[i]) for row in told) for i in range(3)]
    sizes[2] = min(sizes[2], max(width // 4, 12))
    lines = []
    for alert, row in zip(alerts, told, strict=True):
        health = health_of(alert.severity)
        spans = [Span(fit(str(health), WIDEST), tone_of(health))]
        spans += [
            Span("  "),
            Span(fit(row[0], sizes[0], right=True)),
            Span("  "),
            Span(fit(row[1], sizes[1]), Tone.FAINT),
        ]
        spans += [Span("  "), Span(fit(row[2], sizes[2]), Tone.STRONG), Span("  ")]
        room = width - sum(cells(span.text) for span in spans)
        spans.append(Span(cut(safe(short_summary(alert)), room)))
        lines.append(Line(tuple(spans), str(alert.scope if alert.scope.kind != "agent" else alert.key.object)))
    return lines
