"""The panels that fill the overview where there are rows free: who leads in something, beside and below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import PANEL_GAP, Line, Panel, Span, Tone, beside_each_other, heading, tone_of
from mqvitals_agent.text.terminal import cells, cut, fit, safe
from mqvitals_agent.view.lists.items import health_by_object
from mqvitals_agent.view.lists.key_figures import own_age
from mqvitals_agent.view.lists.leaders import Leader, LeaderBoard

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame

LEAST_ROWS: Final = 3
"""Rows of the smallest panel, its title included."""

_COLUMNS: Final = ((180, 3), (100, 2), (0, 1))
"""Width of the screen from which so many panels stand beside each other."""

_METER: Final = 10
_OWNER: Final = 6


def panel_rows(frame: Frame, width: int, rows: int) -> list[Line]:
    """Panels in ``width`` cells and at most ``rows`` rows, in order of need; none where there is no room for one."""
    boards = frame.leaders
    beside = next(count for least, count in _COLUMNS if width >= least)
    layers = min(-(-len(boards) // beside), rows // LEAST_ROWS)
    if layers < 1:
        return []
    size = (width - PANEL_GAP * (beside - 1)) // beside
    shown: list[Line] = []
    for layer in range(layers):
        height = (rows - len(shown)) // (layers - layer)
        group = boards[layer * beside : (layer + 1) * beside]
        shown += beside_each_other([_panel(frame, board, size, height) for board in group])
    return shown


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
