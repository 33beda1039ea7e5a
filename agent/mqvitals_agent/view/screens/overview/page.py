"""The overview: queue managers, coupling facility, alerts; a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mqvitals_agent.text.figure import age, counted, number
from mqvitals_agent.text.severity import WIDEST, Health, worst
from mqvitals_agent.text.styled import PANEL_GAP, Line, Panel, Span, Tone, beside_each_other, heading, line, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.alerts.handling import NEW, legend
from mqvitals_agent.view.figures.forecast import full_in
from mqvitals_agent.view.figures.values import figure_of
from mqvitals_agent.view.history.journal import recent_lines
from mqvitals_agent.view.lists import key_figures
from mqvitals_agent.view.lists.items import health_by_object
from mqvitals_agent.view.lists.key_figures import groups_of, own_age, structure_name, worst_and_fullest
from mqvitals_agent.view.lists.leaders import Leader, LeaderBoard
from mqvitals_agent.view.lists.overview_history import trend_span
from mqvitals_agent.view.screens.overview.alerts import alert_part
from mqvitals_agent.view.screens.overview.members import AGE, LONGEST_NAME, member_rows, past_cells, taken_columns
from mqvitals_agent.view.screens.status import MOST_STRUCTURES
from mqvitals_agent.view.screens.unknown import unknown_hint
from mqvitals_agent.view.status import GroupStatus, OwnerData, health_of_object
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


LEAST_ROWS: Final = 3
"""Rows of the smallest panel, its title included."""

_COLUMNS: Final = ((180, 3), (100, 2), (0, 1))
"""Width of the screen from which so many panels stand beside each other."""

_METER: Final = 10
_OWNER: Final = 6


def panel_rows(frame: Frame, width: int, rows: int) -> list[Line]:
    """Panels in ``width`` cells and at most ``rows`` rows, in order of need; none where there is no room for one."""
    layers = _layers(frame, width)
    fitting = layers[: max(rows, 0) // LEAST_ROWS]
    if not fitting:
        return []
    beside = _beside(width)
    size = (width - PANEL_GAP * (beside - 1)) // beside
    shown: list[Line] = []
    for place, group in enumerate(fitting):
        height = min((rows - len(shown)) // (len(fitting) - place), _height(group))
        shown += beside_each_other([_panel(frame, board, size, height) for board in group])
    return shown


def _rows_of_panels(frame: Frame, width: int) -> int:
    """The rows that the panels fill where there are enough."""
    return sum(map(_height, _layers(frame, width)))


def _layers(frame: Frame, width: int) -> list[tuple[LeaderBoard, ...]]:
    """The panels that stand beside each other, those of need first."""
    beside = _beside(width)
    return [frame.leaders[at : at + beside] for at in range(0, len(frame.leaders), beside)]


def _beside(width: int) -> int:
    return next(count for least, count in _COLUMNS if width >= least)


def _height(group: Sequence[LeaderBoard]) -> int:
    return 1 + max(len(board.leaders) for board in group)


def _panel(frame: Frame, board: LeaderBoard, width: int, height: int) -> Panel:
    health = health_by_object(frame.status.firing)
    leaders = board.leaders[: height - 1]
    figure = max((cells(_figure(frame, each)) for each in leaders), default=0)
    rows = (_row(frame, each, health.get(each.name, Health.OK), width, figure) for each in leaders)
    return Panel(width, (heading(board.title, width), *rows))


def _row(frame: Frame, leader: Leader, health: Health, width: int, figure: int) -> Line:
    """Sign, name, owner, meter and figure of a leader."""
    ill = health >= Health.WARNING
    tone = tone_of(health) if ill else Tone.PLAIN
    stale = leader.name.owner in frame.status.stale
    spans = [Span(health.glyph if ill else " ", tone), Span(" ")]
    bar = () if leader.fill is None else (*leader.fill.spans(_METER), Span(" "))
    used = 2 + figure + 1 + _OWNER + 1 + sum(cells(span.text) for span in bar)
    name = max(width - used, 1)
    spans.append(Span(fit(_name(leader), name), Tone.STRONG))
    spans.append(Span(f" {fit(safe(leader.name.owner), _OWNER)} ", Tone.FAINT))
    spans += bar
    spans.append(Span(fit(_figure(frame, leader), figure, right=True), Tone.STALE if stale else tone))
    return Line(tuple(spans), str(leader.name))


_KINDS: Final = {"page_set": "page set ", "buffer_pool": "pool ", "cf_structure": "structure ", "smds": "data set "}


def _name(leader: Leader) -> str:
    return cut(f"{_KINDS.get(leader.name.kind, '')}{safe(leader.name.name)}", 60)


def _figure(frame: Frame, leader: Leader) -> str:
    """The figure, with its own age where the newest snapshot did not bring it."""
    member = next((each for each in frame.data.members if each.name == leader.name.owner), None)
    return leader.words + ("" if member is None else own_age(leader.latest, member, frame.now))


_RECENT_ROWS, _LEAST_PANEL = 8, 2
"""The lines of the last minutes beside panels that would fill more, and the rows that must be more than free for them."""


def overview_lines(frame: Frame, width: int, rows: int = 0) -> tuple[Line, ...]:
    """The overview in ``width`` cells; a line's key is the object that Enter opens.

    What there is to know comes first, however many rows it takes. Where ``rows`` are in sight, those that are left
    show the texts of alerts in full, and then panels.
    """
    if not frame.data.members:
        return ()
    view = frame.status
    stale = bool(view.queue_managers) and all(member.stale for member in view.queue_managers)
    title = "Alerts, worst first, as they were then" if stale else "Alerts, worst first"
    above = [
        heading("Queue managers", width),
        *member_rows(frame, width),
        *structure_rows(frame, width),
        heading(_with_legend(title, view), width),
    ]
    unseen = [*_unseen(frame.unseen, width), *unknown_hint(view, width)]
    left = rows - len(above) - len(unseen)
    shown = [*above, *alert_part(view, (frame.advice, *frame.further), width, left), *unseen]
    left = rows - len(shown)
    # The journal has some rows, and those that the panels leave.
    most = max(_RECENT_ROWS, left - 1 - _rows_of_panels(frame, width))
    recent = recent_lines(frame.journal, frame.now, width, min(most, left - 1)) if left > _LEAST_PANEL else ()
    return (*shown, *recent, *panel_rows(frame, width, left - len(recent)))


def _unseen(count: int, width: int) -> list[Line]:
    """What ended before anybody acknowledged it stays in sight until somebody does."""
    if not count:
        return []
    words = f"{NEW} {counted(count, 'alert')} of the last day ended before anybody acknowledged {'it' if count == 1 else 'them'}"
    return [Line((Span(cut(f"{words}: see Alerts", width), Tone.STRONG, bold=True),))]


def _with_legend(title: str, view: GroupStatus) -> str:
    words = legend(map(view.data.handled.mark, view.alerts))
    return f"{title} ({words})" if words else title
