"""The coupling facility structures of the overview, a line each, the worst and fullest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqvitals_agent.text.chart import TimeRange as Time
from mqvitals_agent.text.chart import sparkline
from mqvitals_agent.text.figure import age, figure, number
from mqvitals_agent.text.severity import WIDEST, Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import cells, fit
from mqvitals_agent.view import cell
from mqvitals_agent.view.growth import SOON_MS, full_in
from mqvitals_agent.view.member_rows import AGE, LONGEST_NAME, past_cells
from mqvitals_agent.view.pulse import SPAN_MS
from mqvitals_agent.view.situation import Member
from mqvitals_agent.view.structure_table import MOST_STRUCTURES, groups_of, structure_name, worst_and_fullest
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import metric

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

_ENTRIES, _PAST, _FULL_IN, _SIZE, _STATUS, _COUNTS = range(6)
"""In the order in which they stand."""

_WELL = "ACTIVE"


def structure_rows(frame: Frame, width: int) -> list[Line]:
    """A heading and a line for each structure; nothing where no structure is known."""
    ranked = worst_and_fullest(frame.status)
    groups = groups_of(frame.status)
    if not ranked:
        return []
    shown, rest = ranked[:MOST_STRUCTURES], ranked[MOST_STRUCTURES:]
    stale = frame.status.group is not None and frame.status.group.stale
    rows = [
        (health, name, _row(frame, groups[name.owner], name, past_cells(width), stale=stale)) for health, name in shown
    ]
    name_width = min(max(cells(structure_name(name, groups)) for _, name, _ in rows), LONGEST_NAME)
    widths = {column: max(cells(row[column]) for _, _, row in rows) for column in range(6)}
    ill = any(row[_STATUS] != _WELL for _, _, row in rows)
    need = (_ENTRIES, *((_STATUS,) if ill else ()), _PAST, _FULL_IN, _SIZE, _STATUS, _COUNTS)
    taken: set[int] = set()
    room = width - WIDEST - 2 - name_width
    for column in dict.fromkeys(need):
        if widths[column] and widths[column] + 2 <= room:
            taken.add(column)
            room -= widths[column] + 2
    lines = [heading("Coupling facility", width)]
    for health, name, row in rows:
        spans = [Span(fit(str(health), WIDEST), tone_of(health)), Span("  ")]
        spans.append(Span(fit(structure_name(name, groups), name_width), Tone.STRONG))
        main = Tone.STALE if stale else tone_of(health) if health >= Health.WARNING else Tone.PLAIN
        for column in sorted(taken):
            tone = main if column in (_ENTRIES, _PAST, _FULL_IN) else Tone.STALE if stale else Tone.PLAIN
            if column == _FULL_IN and tone is Tone.PLAIN and row[column] and _soon(frame, name):
                tone = Tone.WARNING
            spans += [Span("  "), Span(fit(row[column], widths[column]), tone)]
        lines.append(Line(tuple(spans), str(name)))
    if rest:
        most = worst(health for health, _ in rest)
        lines.append(
            line(f"{most.glyph} {number(len(rest))} more structures{' OK' if most is Health.OK else ''}", tone_of(most))
        )
    return lines


def _soon(frame: Frame, name: ObjectName) -> bool:
    ahead = full_in(frame.pulse.points.get(name, ()), frame.now)
    return ahead is not None and ahead < SOON_MS


def _row(frame: Frame, group: Member, name: ObjectName, past: int, *, stale: bool) -> tuple[str, ...]:
    values = frame.situation.current[name]
    points = frame.pulse.points.get(name, ())
    until = group.last_ts if stale else frame.now
    span = Time(max(until - SPAN_MS, group.first_ts), until)
    old = cell.own_age(values.get("entries_pct"), group, frame.now)
    ahead = None if stale else full_in(points, frame.now)

    def told(metric_name: str) -> str:
        found = values.get(metric_name)
        return cell.NOT_ASKED if found is None else figure(found.value, metric("cf_structure", metric_name))

    return (
        f"entries {told('entries_pct')}{fit(old, max(AGE, cells(old)))}",
        sparkline(points, span, past),
        "" if ahead is None else f"full in {age(ahead)}",
        f"size {told('size_used_pct')}",
        told("status"),
        f"{told('entries_used')} of {told('entries_max')} entries",
    )
