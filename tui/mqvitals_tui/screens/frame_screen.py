"""What the screens over the store have in common: each requests frames, shows them, and updates ages every second."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from mqvitals_agent.commandline.arguments import now_ms
from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import at_most, cells, safe, wrap
from mqvitals_agent.view.frame import Frame, FrameRequest
from mqvitals_agent.view.screens.header import header_lines
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import LoadedFrame, frame_at
from mqvitals_tui.keys import EVERYWHERE, OPEN
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.painting import Banner

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp


TICK_S = 1.0

LEAST = (40, 10)
"""A terminal with fewer columns or lines shows only that it is too small, and how bad things are."""

ENOUGH = "80x24"

_MOST_WORDS = 3
"""Lines for what the agent said before it ended; its log has all of it."""


@dataclass(frozen=True, slots=True)
class ScreenContext:
    """What every screen is given: the judging in force, the clock, ms since 1970 UTC, and what tells of the agent's end.

    ``ended`` says nothing while the agent runs that this screen brought along, or when it brought none. ``machine`` is the
    machine's clock, ms since 1970 UTC, by which questions are asked: the samples of a simulation may have another.
    """

    judging: RuleConfig
    now: Callable[[], int]
    ended: Callable[[], str] = str
    machine: Callable[[], int] = now_ms


class FrameScreen(Screen[None], inherit_bindings=False):
    """A screen that shows frames. It paints what it has at once, and what it wanted as soon as it was read."""

    BINDINGS: ClassVar[list[BindingType]] = [*EVERYWHERE, OPEN]
    DEFAULT_CSS = """
    FrameScreen { overflow: hidden; }
    FrameScreen.tiny > * { display: none; }
    FrameScreen.tiny > #header { display: block; }
    """

    class FrameRequested(Message):
        """The screen on top wants this to be read from now on."""

        def __init__(self, request: FrameRequest) -> None:
            super().__init__()
            self.request = request

    def __init__(self, context: ScreenContext) -> None:
        super().__init__()
        self.context = context
        self._read: LoadedFrame | None = None
        self._failed = ""
        self._waiting = False
        self._silent: frozenset[str] = frozenset()

    @property
    @abstractmethod
    def request(self) -> FrameRequest:
        """What this screen shows."""

    @abstractmethod
    def paint(self, read: LoadedFrame, width: int) -> None:
        """Show what was read, aged to the moment, in ``width`` cells."""

    def paint_frame_around(self, width: int) -> None:
        """Show what does not depend on what was read."""

    @property
    @abstractmethod
    def body(self) -> Widget:
        """What has the focus when nothing else has."""

    @abstractmethod
    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys that do something here, by what they are for."""

    async def action_open(self) -> None:
        """Open what is under the cursor: at once, so that the next key is for what was opened.

        Before there is anything to see nothing is opened: nobody means what was never shown.
        """
        view = self.focused
        if isinstance(view, CursorView) and view.cursor_key:
            self.drill(view.cursor_key)

    def drill(self, key: str) -> None:
        """Have the object of this whole name opened."""
        cast("MqvitalsApp", self.app).open_object(ObjectName.parse(key))

    def who(self, queue: ObjectName) -> None:
        """Have it asked who has this queue open."""
        cast("MqvitalsApp", self.app).open_holders(queue)

    @property
    def frame(self) -> Frame | None:
        """What was read last for what the screen wants now."""
        return None if self._read is None or self._read.frame.request != self.request else self._read.frame

    def on_mount(self) -> None:
        """Age what is shown, each second."""
        self.set_interval(TICK_S, self._tick)

    def _tick(self) -> None:
        # Nobody sees a screen below another one; the palette leaves most of it in sight.
        if self.on_top or self.app.screen.is_modal:
            self.repaint()

    @property
    def on_top(self) -> bool:
        """Whether this is the screen that keys are for. The toolkit calls the one below it current too."""
        return self.app.screen is self

    def on_screen_resume(self) -> None:
        """On top again: ask for what is wanted."""
        self.repaint()
        self.post_message(self.FrameRequested(self.request))

    def on_resize(self, _: events.Resize) -> None:
        """Lines are made for a width."""
        self.call_after_refresh(self.repaint)

    def take(self, read: LoadedFrame) -> None:
        """Show this, if it is what the screen wants."""
        if read.frame.request != self.request:
            return
        self._read, self._failed, self._waiting = read, "", False
        self._silent = _silent(read.frame)
        self.repaint()

    def fail(self, text: str, *, waiting: bool) -> None:
        """There is nothing to read, and why. What was read before stays."""
        self._failed, self._waiting = text, waiting
        self.repaint()

    def repaint(self) -> None:
        """Show everything as it is now."""
        if not self.is_mounted or not self.size.width:
            return
        width, height = self.size
        tiny = width < LEAST[0] or height < LEAST[1]
        self.set_class(tiny, "tiny")
        if not tiny and self.focused is None and self.app.app_focus and self.on_top:
            # What was hidden has lost the focus.
            self.set_focus(self.body)
        read = self._read
        if read is not None:
            frame = frame_at(read.frame, self.context.now(), self.context.judging.rules.ranks)
            read = LoadedFrame(frame, read.earlier)
        header = self._header(None if read is None else read.frame, width)
        if tiny:
            words = f"{width}x{height} is too small: {ENOUGH} shows all"
            header = (header[0], *(line(each, Tone.WARNING) for each in wrap(words, width)), *header[1:])[:height]
        self.query_one("#header", Banner).show(header)
        self.paint_frame_around(width)
        if read is None or read.frame.request != self.request:
            return
        silent = _silent(read.frame)
        if silent != self._silent and self.on_top:
            # Who has fallen silent changes more than ages: how its objects are is unknown now.
            self._silent = silent
            self.post_message(self.FrameRequested(self.request))
        self.paint(read, width)

    def _header(self, frame: Frame | None, width: int) -> tuple[Line, ...]:
        ended = safe(self.context.ended())
        lines = (line("mqvitals", Tone.STRONG),) if frame is None else header_lines(frame, width, asking=not ended)
        if ended:
            words = wrap(ended, width, rest="  ")
            lines = (*lines, *(line(each, Tone.CRITICAL) for each in at_most(words, _MOST_WORDS, width)))
        if self._failed:
            tone = Tone.UNKNOWN if self._waiting else Tone.CRITICAL
            lines = (*lines, *(line(each, tone) for each in wrap(safe(self._failed), width, rest="  ")))
        elif frame is None:
            lines = (*lines, line("reading the store", Tone.FAINT))
        return lines


def _silent(frame: Frame) -> frozenset[str]:
    view = frame.status
    members = view.owners
    return frozenset(member.name for member in members if member.stale)


def trail_line(names: tuple[str, ...], width: int) -> Line:
    """The names of places and objects in ``width`` cells; where they are too long, the middle is left out."""
    parts = list(names)
    while len(parts) > 2 and cells(" › ".join(parts)) + 1 > width:
        del parts[2 if parts[1] == "…" and len(parts) > 3 else 1]
        if parts[1] != "…" and len(parts) > 2:
            parts[1] = "…"
    before = "".join(f"{part} › " for part in parts[:-1])
    return Line((Span(f" {before}", Tone.FAINT), Span(parts[-1], Tone.STRONG)))
