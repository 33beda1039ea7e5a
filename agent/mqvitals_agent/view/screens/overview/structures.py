"""The coupling facility on the overview: the groups' members and the structures, a line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import age, number
from mqvitals_agent.text.severity import WIDEST, Health, worst
from mqvitals_agent.text.styled import Line, Span, Tone, heading, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.figures.forecast import full_in
from mqvitals_agent.view.figures.values import figure_of
from mqvitals_agent.view.lists import key_figures
from mqvitals_agent.view.lists.key_figures import groups_of, structure_name, trend_span, worst_and_fullest
from mqvitals_agent.view.screens.overview.members import AGE, LONGEST_NAME, past_cells, taken_columns
from mqvitals_agent.view.screens.status import MOST_STRUCTURES
from mqvitals_agent.view.status import OwnerData, health_of_object
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

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
    past = past_cells(width)
    rows = [
        (health, name, _structure_row(frame, groups[name.owner], name, past, stale=stale)) for health, name in shown
    ]
    name_width = min(max(cells(structure_name(name, groups)) for _, name, _ in rows), LONGEST_NAME)
    widths = {column: max(cells(row[column]) for _, _, row in rows) for column in range(6)}
    ill = any(row[_STATUS] != _WELL for _, _, row in rows)
    need = (_ENTRIES, *((_STATUS,) if ill else ()), _PAST, _STRUCTURE_FULL_IN, _SIZE, _STATUS, _COUNTS)
    taken = taken_columns(dict.fromkeys(need), widths, width - WIDEST - 2 - name_width)
    lines = [heading("Coupling facility", width), *_group_rows(frame, groups, name_width, width)]
    for health, name, row in rows:
        spans = [Span(fit(str(health), WIDEST), tone_of(health)), Span("  ")]
        spans.append(Span(fit(structure_name(name, groups), name_width), Tone.STRONG))
        main = Tone.STALE if stale else tone_of(health) if health >= Health.WARNING else Tone.PLAIN
        for column in taken:
            tone = main if column in (_ENTRIES, _STRUCTURE_FULL_IN) else Tone.STALE if stale else Tone.PLAIN
            if column == _STRUCTURE_FULL_IN and tone is Tone.PLAIN and row[column] and _soon(frame, name):
                tone = Tone.WARNING
            spans.append(Span("  "))
            if column == _PAST:
                spans += _past(frame, groups[name.owner], name, past, stale=stale)
            else:
                spans.append(Span(fit(row[column], widths[column]), tone))
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
    return full_in(frame.history.points.get(name, ()), frame.now).is_soon


def _past(frame: Frame, group: OwnerData, name: ObjectName, past: int, *, stale: bool) -> tuple[Span, ...]:
    """The sparkline of a structure in ``past`` cells; of a stale one it ends at the last snapshot."""
    until = group.last_ts if stale else frame.now
    return frame.history.past_of(name, trend_span(group, until), past, Tone.STALE if stale else None)


def _structure_row(frame: Frame, group: OwnerData, name: ObjectName, past: int, *, stale: bool) -> tuple[str, ...]:
    values = frame.data.current[name]
    points = frame.history.points.get(name, ())
    old = key_figures.own_age(values.get("entries_pct"), group, frame.now)
    ahead = None if stale else full_in(points, frame.now).ms

    def text_of(name: str) -> str:
        return figure_of(values, "cf_structure", name)

    return (
        f"entries {text_of('entries_pct')}{fit(old, max(AGE, cells(old)))}",
        " " * past,
        "" if ahead is None else f"full in {age(ahead)}",
        f"size {text_of('size_used_pct')}",
        text_of("status"),
        f"{text_of('entries_used')} of {text_of('entries_max')} entries",
    )
