"""The units of work of queue managers, the oldest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mqvitals_agent.text.figure import age, duration_us, number, number_of
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Tone, line, tone_of, wrapped
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.folding import table_lines, text_columns
from mqvitals_agent.view.figures.table import Cell
from mqvitals_agent.view.screens.holders import IN_DOUBT, OLD_MS, UNKNOWN
from mqvitals_agent.who.holder import MemberUnits, ReportedConnection, UnitsOfWork

_TITLES = ("In the log since", "State", "Application", "User", "URTYPE", "Job", "Via", "QMURID", "CONN")
_FOLDED = ("CONN", "Via", "Job", "QMURID", "User", "URTYPE")
"""Columns that move below the rows where they do not fit, the first one first."""
_INDENT = "  "
_NOTHING_LOGGED = "nothing logged"


def units_lines(units: UnitsOfWork, now: int, width: int) -> tuple[Line, ...]:
    """The lines for ``width`` cells, as of ``now`` (ms since 1970 UTC)."""
    lines: list[Line] = []
    for member in units.members:
        lines += [line()] if lines else []
        lines += _member(member, now, width)
    if any(member.units for member in units.members):
        words = "Times are those of the queue manager's own clock. QMURID is on z/OS the RBA at which it began."
        lines += [line(), *wrapped(words, width, Tone.FAINT, rest=_INDENT)]
    return tuple(lines)


def _member(member: MemberUnits, now: int, width: int) -> Iterator[Line]:
    name = safe(member.queue_manager)
    asked = f"asked {age(now - member.at)} ago"
    if member.problem:
        words = f"{Health.UNKNOWN}  {name}: units of work {UNKNOWN}: {safe(member.problem).rstrip('.')}; {asked}"
        yield from wrapped(words, width, Tone.UNKNOWN, rest=_INDENT)
        return
    took = f"{asked}, answered in {duration_us(member.took_ms * 1000)}"
    stale = now - member.at >= OLD_MS
    words = f"{name}: {_summary(member.units)}; {took}"
    yield from wrapped(words, width, Tone.STALE if stale else Tone.STRONG, rest=_INDENT)
    for note in member.notes:
        yield from wrapped(f"{Health.UNKNOWN.glyph} {safe(note)}", width, Tone.UNKNOWN, rest=_INDENT)
    if member.units:
        rows = [_row(each) for each in member.units]
        columns = text_columns(_TITLES, rows)
        first = ("QMURID", "User", "URTYPE", "Job")
        yield from table_lines(columns, [""] * len(rows), width, folded=_FOLDED, first=first)


def _summary(units: Sequence[ReportedConnection]) -> str:
    if not units:
        return "no unit of work"
    states = Counter(each.unit_of_work.state for each in units if each.unit_of_work is not None)
    parts = (f"{number(count)} {safe(state) or f'in a state {UNKNOWN}'}" for state, count in sorted(states.items()))
    return f"{number_of(len(units), 'unit')} of work: {', '.join(parts)}"


def _row(each: ReportedConnection) -> tuple[Cell, ...]:
    unit = each.unit_of_work
    assert unit is not None, "connections without one are not among them"
    doubt = IN_DOUBT.get(unit.state, Health.OK)
    state = safe(unit.state) or f"state {UNKNOWN}"
    job = (
        safe(each.transaction),
        f"task {safe(each.task)}" if each.task else "",
        f"region {safe(each.region)}" if each.region else "",
        f"ASID {safe(each.asid)}" if each.asid else "",
        "" if each.process is None else f"process {each.process}",
    )
    began = f"{_NOTHING_LOGGED}, active since {safe(unit.began)}" if unit.began else _NOTHING_LOGGED
    return (
        Cell(safe(unit.log_began)) if unit.log_began else Cell(began, Tone.FAINT),
        Cell(
            state if doubt is Health.OK else f"{doubt.glyph} {state}",
            Tone.PLAIN if doubt is Health.OK else tone_of(doubt),
        ),
        Cell(safe(each.application) or "(no name)", Tone.STRONG),
        Cell(safe(each.user)),
        Cell(safe(unit.type)),
        Cell(", ".join(filter(None, job))),
        Cell(" from ".join(filter(None, (safe(each.channel or ""), safe(each.connection_name))))),
        Cell(safe(unit.id)),
        Cell(safe(each.identifier)),
    )
