"""Which applications have a queue open, or the units of work of a queue manager: asked in a thread, when the screen opens and on request."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.text.figure import age, object_words
from mqvitals_agent.text.styled import Line, Tone, line
from mqvitals_agent.text.terminal import safe, wrap
from mqvitals_agent.view.frame import DETAIL, FrameRequest
from mqvitals_agent.view.screens.holders import holders_lines
from mqvitals_agent.view.screens.units import units_lines
from mqvitals_agent.who.client import UNITS_OF_WORK, NoAgentAnswer, ask_agent, ask_of
from mqvitals_agent.who.holder import Holders, UnitsOfWork
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import LoadedFrame
from mqvitals_tui.keys import HOLDERS, MOVES, UNITS, WHO, Hint, hint_line
from mqvitals_tui.screens.frame_screen import ScreenContext, trail_line
from mqvitals_tui.screens.lines_screen import LinesScreen
from mqvitals_tui.widgets.painting import Banner, StatusBar


class HoldersScreen(LinesScreen):
    """The handles of a queue, or the units of work of a queue manager or log, ``queue``, asked through the store."""

    BINDINGS: ClassVar[list[BindingType]] = list(HOLDERS)

    class Answered(Message):
        """The result of a request, the ``number``-th of this screen: holders, or the reason why there are none."""

        def __init__(self, number: int, holders: Holders | UnitsOfWork | None, problem: str = "") -> None:
            super().__init__()
            self.number = number
            self.holders = holders
            self.problem = problem

    def __init__(self, context: ScreenContext, store: Path, queue: ObjectName, trail: tuple[str, ...]) -> None:
        super().__init__(context, trail)
        self.queue = queue
        self.trail_title = (WHO if self._of_queue else UNITS).description
        self._store = store
        self._number = 0
        self._asked: int | None = None
        self._holders: Holders | UnitsOfWork | None = None
        self._problem = ""
        self._gone = threading.Event()

    def on_mount(self) -> None:
        """Ask at once."""
        self.action_ask_again()

    def on_unmount(self) -> None:
        """Stop waiting for an answer."""
        self._gone.set()

    @property
    def request(self) -> FrameRequest:
        """The queue, for the header."""
        return FrameRequest(DETAIL, name=self.queue)

    @property
    def asking(self) -> bool:
        """Whether a request is in progress."""
        return self._asked is not None

    @property
    def holders(self) -> Holders | UnitsOfWork | None:
        """The last answer."""
        return self._holders

    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys of this screen."""
        return ((f"Here: {self.trail_title}", HOLDERS), ("Moving about", MOVES))

    # -- asking ------------------------------------------------------------------------------------------------------

    def action_ask_again(self) -> None:
        """Ask, unless a request is in progress."""
        if self.asking:
            return
        self._number += 1
        self._asked = self.context.machine()
        self.run_worker(self._ask, name="who", thread=True)
        self.repaint()

    def _ask(self) -> None:
        """Runs in the worker's thread."""
        number = self._number
        try:
            machine, gone = self.context.machine, self._gone.wait
            answers: Sequence[Holders | UnitsOfWork] | None
            if self._of_queue:
                answers = ask_agent(self._store, (self.queue,), machine, gone)
            else:
                answers = ask_of(self._store, UNITS_OF_WORK, (self.queue,), machine, gone)
        except (StoreError, NoAgentAnswer) as error:
            self.post_message(self.Answered(number, None, str(error)))
        else:
            if answers is not None:
                self.post_message(self.Answered(number, answers[0]))

    def on_holders_screen_answered(self, message: Answered) -> None:
        """Show the answer. A problem replaces an earlier answer, which may no longer hold."""
        if message.number == self._number:
            self._asked = None
            self._holders, self._problem = message.holders, message.problem
            self.repaint()

    # -- painting ----------------------------------------------------------------------------------------------------

    def paint_static(self, width: int) -> None:
        """The trail, the handles, whether or not a frame was read, and the keys."""
        self.query_one("#trail", Banner).show(
            (trail_line((*self._before, object_words(self.queue), self.trail_title), width),)
        )
        lines = self._lines(max(width - 1, 20))
        self.lines.show(lines)
        hints = (
            Hint("Esc", "back"),
            Hint("r", "ask again", 1),
            *((Hint("Enter", "open the channel", 4),) if any(each.key for each in lines) else ()),
            Hint(":", "find", 5),
            Hint("?", "help"),
            Hint("q", "quit"),
        )
        self.query_one("#keys", StatusBar).show((hint_line(hints, width),))

    @property
    def held_words(self) -> str:
        """In the past: the answer is of now."""
        return "" if self.context.news.at is None else "The answer is of now: l leads back to it"

    def paint(self, read: LoadedFrame, width: int) -> None:
        """The frame is shown in the header alone."""

    @property
    def _of_queue(self) -> bool:
        return self.queue.kind == "queue"

    @property
    def _before(self) -> tuple[str, ...]:
        """The trail without the queue, which follows it."""
        return self.trail[:-1] if self.trail[-1:] == (object_words(self.queue),) else self.trail

    def _lines(self, width: int) -> tuple[Line, ...]:
        lines: list[Line] = []
        if self._asked is not None:
            words = f"asking {self._members()} … {age(self.context.machine() - self._asked)}"
            lines += (line(each, Tone.INFO) for each in wrap(words, width, rest="  "))
        elif self._problem:
            lines += (line(each, Tone.UNKNOWN) for each in wrap(f"? UNKNOWN  {safe(self._problem)}", width, rest="  "))
        if self._holders is not None:
            lines += [line()] if lines else []
            now = self.context.now()
            found = self._holders
            lines += holders_lines(found, now, width) if isinstance(found, Holders) else units_lines(found, now, width)
        return tuple(lines)

    def _members(self) -> str:
        """The queue managers that are asked: for a shared queue all of them."""
        if self._read is None:
            return safe(self.queue.owner)
        names = [member.name for member in self._read.frame.status.queue_managers]
        return safe(self.queue.owner if self.queue.owner in names else ", ".join(names))
