"""The overview: queue managers, coupling facility, alerts; a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqvitals_agent.text.figure import counted
from mqvitals_agent.text.styled import Line, Span, Tone, heading
from mqvitals_agent.text.terminal import cut
from mqvitals_agent.view.alerts.handling import NEW, legend
from mqvitals_agent.view.history.journal import recent_lines
from mqvitals_agent.view.screens.overview.alerts import alert_part
from mqvitals_agent.view.screens.overview.members import member_rows
from mqvitals_agent.view.screens.overview.panels import panel_rows
from mqvitals_agent.view.screens.overview.structures import structure_rows
from mqvitals_agent.view.screens.unknown import unknown_hint
from mqvitals_agent.view.status import GroupStatus

if TYPE_CHECKING:
    from mqvitals_agent.view.frame import Frame


_RECENT_ROWS, _LEAST_PANEL = 8, 2
"""The most lines of the last minutes, and the rows that must be more than free for them."""


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
    recent = recent_lines(frame.journal, frame.now, width, min(_RECENT_ROWS, left - 1)) if left > _LEAST_PANEL else ()
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
