"""The tabs of the main screen: one table from which the row of tabs, their keys, the palette and the screen follow.

A tab has a text, a table, or both. Enter opens the object under the cursor of either. The row of tabs is full at 80
columns: a further tab takes the digit of a related one. Its key then leads from each of them to the next, as ``d`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual.binding import Binding

from mqvitals_agent.text.styled import Line, Span, Tone
from mqvitals_agent.text.terminal import cells
from mqvitals_agent.view.alerts.silencing import silence_list_lines
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.frame import (
    AGENT,
    ALERTS,
    JOURNAL,
    LIST,
    MOST_ENTRIES,
    OVERVIEW,
    UNKNOWN,
    Frame,
    FrameRequest,
)
from mqvitals_agent.view.frame import SILENCES as SILENCES_FRAME
from mqvitals_agent.view.history.journal import journal_lines
from mqvitals_agent.view.lists.columns import STORAGE, STRUCTURES
from mqvitals_agent.view.lists.tasks import task_lines
from mqvitals_agent.view.screens.agent import agent_lines
from mqvitals_agent.view.screens.alerts import alert_lines
from mqvitals_agent.view.screens.matrix import storage_matrix, structure_matrix, task_matrix
from mqvitals_agent.view.screens.object.brief import brief_lines
from mqvitals_agent.view.screens.overview.page import overview_lines
from mqvitals_agent.view.screens.unknown import unknown_lines
from mqvitals_tui.keys import ACTIONS, BEFORE, COMMON, SEEN, SILENCES, TIME, UNITS, WHO, key


class TabState(NamedTuple):
    """What a person has chosen on a tab: its filter, the item of its table under the cursor, and the ``key`` of the
    object under the cursor of its text; and how many ``rows`` of a text are in sight.
    """

    filter: str = ""
    item: Item | None = None
    rows: int = 0
    key: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: its digit, its title, a shorter one for narrow terminals, and the frame that it requests.

    ``table`` is the name of the table's columns; a list has those of its kind. ``lines`` makes the text for a width:
    above the table, or with ``below`` below it, then as high as the table leaves. ``part`` is what the hint of the Tab
    key calls the text, or the next part of a text with ``parts``; empty: no hint. ``across``: its lines have parts beside each other. ``matrix``: a list is shown as
    text instead of a table. ``own_keys`` are those of this tab
    alone, ``opens`` says whether Enter opens something.
    """

    id: str
    key: str
    title: str
    short: str
    request: FrameRequest
    table: str = ""
    lines: Callable[[Frame, int, TabState], Sequence[Line]] | None = None
    below: bool = False
    parts: bool = False
    across: bool = False
    matrix: bool = False
    part: str = ""
    filters: bool = True
    opens: bool = True
    own_keys: tuple[Binding, ...] = ()

    @property
    def columns(self) -> str:
        """The name of its table's columns, empty for a tab without a table."""
        return "" if self.matrix else self.table or self.request.kind

    @property
    def name(self) -> str:
        """Its name in hints."""
        return self.id.replace("_", " ")


def _tasks(frame: Frame, width: int, state: TabState) -> Sequence[Line]:
    """The tasks of the channel initiator under the cursor."""
    return () if state.item is None else task_lines(state.item, frame.tasks, frame.now, width)


def _with_brief(matrix: Sequence[Line], frame: Frame, width: int, state: TabState) -> Sequence[Line]:
    """The matrix, and in the rows that it leaves the object of the cell under the cursor."""
    item = next((each for each in (*frame.items, *frame.tasks) if each.key == state.key), None)
    return matrix if item is None else (*matrix, *brief_lines(frame, item, width, state.rows - len(matrix)))


def _brief(frame: Frame, width: int, state: TabState) -> Sequence[Line]:
    """The object under the cursor of the table."""
    return () if state.item is None else brief_lines(frame, state.item, width, state.rows)


def _journal(frame: Frame, width: int, text: str, *, grouped: bool) -> Sequence[Line]:
    return journal_lines(frame.journal, frame.now, width, text, grouped=grouped, most=MOST_ENTRIES)


TABS = (
    Tab(
        *("overview", "1", "Overview", "Main", FrameRequest(OVERVIEW)),
        lines=lambda frame, width, state: overview_lines(frame, width, state.rows),
        parts=True,
        across=True,
        part="next part",
        filters=False,
        own_keys=(*ACTIONS, BEFORE),
    ),
    Tab("channels", "2", "Channels", "Chls", FrameRequest(LIST, "channel")),
    Tab("clients", "2", "Clients", "Clients", FrameRequest(LIST, "client")),
    Tab("clusters", "2", "Clusters", "Clusters", FrameRequest(LIST, "cluster_queue_manager")),
    Tab("queues", "3", "Queues", "Queues", FrameRequest(LIST, "queue"), own_keys=(WHO,)),
    Tab("letters", "3", "Dead letters", "Dead letters", FrameRequest(LIST, "dead_letter")),
    Tab(
        *("storage_matrix", "4", "Storage", "Pools", FrameRequest(LIST, STORAGE)),
        lines=lambda frame, width, state: _with_brief(storage_matrix(frame, width, state.filter), frame, width, state),
        across=True,
        matrix=True,
    ),
    Tab("storage", "4", "Storage, list", "Storage", FrameRequest(LIST, STORAGE)),
    Tab(
        *("structure_matrix", "5", "Coupling facility", "CF", FrameRequest(LIST, STRUCTURES)),
        lines=lambda frame, width, state: _with_brief(
            structure_matrix(frame, width, state.filter), frame, width, state
        ),
        across=True,
        matrix=True,
    ),
    Tab("structures", "5", "Structures", "CF", FrameRequest(LIST, "cf_structure")),
    Tab("data_sets", "5", "Shared message data sets", "SMDS", FrameRequest(LIST, "smds")),
    Tab(
        *("task_matrix", "6", "Channel initiator", "Chinit", FrameRequest(LIST, "channel_initiator")),
        lines=lambda frame, width, state: _with_brief(task_matrix(frame, width, state.filter), frame, width, state),
        across=True,
        matrix=True,
    ),
    Tab(
        *("chinit", "6", "Channel initiators, list", "Chinit", FrameRequest(LIST, "channel_initiator")),
        lines=_tasks,
        below=True,
        part="tasks",
    ),
    Tab("logs", "7", "Logs", "Logs", FrameRequest(LIST, "log"), lines=_brief, below=True, own_keys=(UNITS,)),
    Tab(
        *("alerts", "8", "Alerts", "Alerts", FrameRequest(ALERTS)),
        lines=lambda frame, width, state: alert_lines(frame, width, state.filter),
        own_keys=(*ACTIONS, SEEN, BEFORE),
        across=True,
    ),
    Tab(
        *("silences", "8", "Silences", "Silences", FrameRequest(SILENCES_FRAME)),
        lines=lambda frame, width, _: silence_list_lines(frame.silences, frame.maintenance, frame.handled.now, width),
        filters=False,
        opens=False,
        own_keys=SILENCES,
    ),
    Tab(
        *("journal", "9", "Journal", "Journal", FrameRequest(JOURNAL)),
        lines=lambda frame, width, state: _journal(frame, width, state.filter, grouped=False),
        own_keys=(BEFORE,),
    ),
    Tab(
        *("by_object", "9", "Journal by object", "Journal", FrameRequest(JOURNAL)),
        lines=lambda frame, width, state: _journal(frame, width, state.filter, grouped=True),
        own_keys=(BEFORE,),
    ),
    Tab(
        *("agent", "0", "Agent", "Agent", FrameRequest(AGENT)),
        table="agent",
        lines=lambda frame, width, _: agent_lines(frame, width),
    ),
    Tab(
        *("unknown", "0", "Unknown verdicts", "Unknown", FrameRequest(UNKNOWN)),
        lines=lambda frame, width, _: unknown_lines(frame, width),
        filters=False,
    ),
)
"""All tabs; those with the same digit share a place in the row, which has the words of the first."""

TABS_BY_ID = {tab.id: tab for tab in TABS}


def siblings(tab: Tab) -> tuple[Tab, ...]:
    """The tabs with the digit of this one, itself included."""
    return tuple(each for each in TABS if each.key == tab.key)


def next_sibling(tab: Tab) -> Tab | None:
    """The tab to which a further press of its digit leads; None: its digit is for it alone."""
    group = siblings(tab)
    return group[(group.index(tab) + 1) % len(group)] if len(group) > 1 else None


ROW = tuple(tab for tab in TABS if siblings(tab)[0] is tab)
"""The tabs in the row of tabs: the first of each digit."""


def keys_to(tab: Tab) -> str:
    """The keys that lead to a tab from every screen: ``5``, ``5 d``."""
    return " ".join([tab.key] + ["d"] * siblings(tab).index(tab))


EVERYWHERE = (
    *(
        key(tab.key, f"app.tab('{tab.id}')", tab.title, f"Go to the screen {tab.title}", name=f"place_{tab.id}")
        for tab in ROW
    ),
    *TIME,
    *COMMON,
)
"""Keys of every screen over the store."""


def tab_row(current: Tab, width: int) -> tuple[Line, tuple[tuple[int, int, str], ...]]:
    """The row of tabs with the ``current`` one marked, in ``width`` cells if possible; and the cells of each (from,
    to, id)."""
    for gap, short in (("   ", False), ("  ", False), (" ", False), ("  ", True), (" ", True)):
        spans: list[Span] = []
        where: list[tuple[int, int, str]] = []
        x = 0
        for tab in ROW:
            lead = gap if spans else " "
            text = f"{tab.key} {tab.short if short else tab.title}"
            if tab.key == current.key:
                # The mark is in the gap, so that nothing moves when the tab changes.
                spans += [Span(lead[:-1]), Span("›", Tone.INFO), Span(text, Tone.STRONG)]
            else:
                spans += [Span(lead), Span(text, Tone.FAINT)]
            end = x + cells(lead) + cells(text)
            where.append((x + cells(lead), end, tab.id))
            x = end
        if x <= width:
            break
    return Line(tuple(spans)), tuple(where)
