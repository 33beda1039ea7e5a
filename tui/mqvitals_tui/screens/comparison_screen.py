"""Two moments compared: the one at which the screens are, and another one; ``=`` goes on to the next choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from mqvitals_agent.store.rows.tables import LAST_MOMENT
from mqvitals_agent.text.figure import object_words
from mqvitals_agent.view.frame import COMPARISON, FrameRequest
from mqvitals_agent.view.screens.comparison import comparison_lines
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import COMPARISON as COMPARISON_KEYS
from mqvitals_tui.keys import MOVES, Hint, hint_line
from mqvitals_tui.screens.frame_screen import ScreenContext, trail_line
from mqvitals_tui.screens.lines_screen import LinesScreen
from mqvitals_tui.widgets.painting import Banner, StatusBar


class Other(NamedTuple):
    """A moment to compare with, in words and ms UTC."""

    words: str
    ts: int


def others(at: int | None, now: int, mark: int | None) -> tuple[Other, ...]:
    """The moments to compare the one at ``at`` (None: ``now``) with, the likeliest first; all are ms UTC.

    First the ``mark``, where there is one, then the day before the moment, with which the page of an object compares
    too; from the past then now.
    """
    here = now if at is None else at
    found = [] if mark is None or mark == here else [Other("the mark", mark)]
    found += [
        Other("the same time yesterday", here - DAY_MS),
        *([] if at is None else [Other("now", LAST_MOMENT)]),
        Other("an hour before", here - HOUR_MS),
        Other("the same time last week", here - 7 * DAY_MS),
    ]
    return tuple(found)


class ComparisonScreen(LinesScreen):
    """What is different at another moment, of the object ``name`` or of the group; ``trail`` leads here.

    ``at`` is the moment of the screens, None: now; ``mark`` the one that was marked. Both are ms UTC.
    """

    BINDINGS: ClassVar[list[BindingType]] = list(COMPARISON_KEYS)
    trail_title = "compared"

    def __init__(
        self, context: ScreenContext, name: ObjectName | None, trail: tuple[str, ...], at: int | None, mark: int | None
    ) -> None:
        super().__init__(context, trail)
        self.object_name = name
        self._others = others(at, context.now(), mark)
        self._chosen = 0

    @property
    def request(self) -> FrameRequest:
        """The comparison with the chosen moment."""
        return FrameRequest(COMPARISON, name=self.object_name, against=self._others[self._chosen].ts)

    def paint_static(self, width: int) -> None:
        """The trail and the keys."""
        words = f"compared with {self._others[self._chosen].words}"
        about = () if self.object_name is None else (object_words(self.object_name),)
        trail = self.trail if self.trail[-1:] == about else (*self.trail, *about)
        self.query_one("#trail", Banner).show((trail_line((*trail, words), width),))
        following = self._others[(self._chosen + 1) % len(self._others)].words
        hints = (
            Hint("Esc", "back"),
            Hint("Enter", "open", 1),
            Hint("=", f"with {following}", 2),
            Hint("?", "help"),
            Hint("q", "quit"),
        )
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of a comparison."""
        return (("Here: a comparison", COMPARISON_KEYS), ("Moving about", MOVES))

    def paint(self, read: LoadedFrame, width: int) -> None:
        """The differences."""
        found, request = read.frame.comparison, read.frame.request
        is_now = request.at is None or request.against == LAST_MOMENT
        self.lines.show(() if found is None else comparison_lines(found, max(width - 1, 20), is_now=is_now))

    def action_compare_next(self) -> None:
        """Compare with the next choice."""
        self._chosen = (self._chosen + 1) % len(self._others)
        self.post_message(self.FrameRequested(self.request))
        self.repaint()
