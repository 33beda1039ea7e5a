"""What the screens over the store have in common: they say what they want, take what was read, and age it each second."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen

from mqvitals_agent.view.frame import Frame, Want
from mqvitals_agent.view.table import Line, Tone, line
from mqvitals_agent.view.text import safe, wrap
from mqvitals_agent.view.top_line import header_lines
from mqvitals_rules.check import Judging
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import Read, aged
from mqvitals_tui.widgets.banner import Banner

TICK_S = 1.0


@dataclass(frozen=True, slots=True)
class Sight:
    """What every screen is given: the judging in force and the clock, ms since 1970 UTC."""

    judging: Judging
    now: Callable[[], int]


class FrameScreen(Screen[None], inherit_bindings=False):
    """A screen that shows frames. It paints what it has at once, and what it wanted as soon as it was read."""

    BINDINGS: ClassVar[list[BindingType]] = []

    class Wanted(Message):
        """The screen on top wants this to be read from now on."""

        def __init__(self, want: Want) -> None:
            super().__init__()
            self.want = want

    class Drilled(Message):
        """The object ``name`` is to be opened."""

        def __init__(self, name: ObjectName) -> None:
            super().__init__()
            self.name = name

    def __init__(self, sight: Sight) -> None:
        super().__init__()
        self.sight = sight
        self._read: Read | None = None
        self._failed = ""
        self._waiting = False
        self._silent: frozenset[str] = frozenset()

    @property
    @abstractmethod
    def want(self) -> Want:
        """What this screen shows."""

    @abstractmethod
    def paint(self, read: Read, width: int) -> None:
        """Show what was read, aged to the moment, in ``width`` cells."""

    def paint_frame_around(self, width: int) -> None:
        """Show what does not depend on what was read."""

    @property
    def frame(self) -> Frame | None:
        """What was read last for what the screen wants now."""
        return None if self._read is None or self._read.frame.want != self.want else self._read.frame

    def on_mount(self) -> None:
        """Age what is shown, each second."""
        self.set_interval(TICK_S, self.repaint)

    def on_screen_resume(self) -> None:
        """On top again: ask for what is wanted."""
        self.post_message(self.Wanted(self.want))

    def on_resize(self, _: events.Resize) -> None:
        """Lines are made for a width."""
        self.call_after_refresh(self.repaint)

    def take(self, read: Read) -> None:
        """Show this, if it is what the screen wants."""
        if read.frame.want != self.want:
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
        width = self.size.width
        read = self._read
        if read is not None:
            frame = aged(read.frame, self.sight.now(), self.sight.judging.rules.ranks)
            read = Read(frame, read.earlier)
        self.query_one("#header", Banner).show(self._header(None if read is None else read.frame, width))
        self.paint_frame_around(width)
        if read is None or read.frame.want != self.want:
            return
        silent = _silent(read.frame)
        if silent != self._silent and self.is_current:
            # Who has fallen silent changes more than ages: how its objects are is unknown now.
            self._silent = silent
            self.post_message(self.Wanted(self.want))
        self.paint(read, width)

    def _header(self, frame: Frame | None, width: int) -> tuple[Line, ...]:
        lines = (line("mqvitals", Tone.STRONG),) if frame is None else header_lines(frame, width)
        if self._failed:
            tone = Tone.UNKNOWN if self._waiting else Tone.CRITICAL
            lines = (*lines, *(line(each, tone) for each in wrap(safe(self._failed), width, rest="  ")))
        elif frame is None:
            lines = (*lines, line("reading the store", Tone.FAINT))
        return lines


def _silent(frame: Frame) -> frozenset[str]:
    view = frame.status
    members = [*view.queue_managers, *([view.group] if view.group else [])]
    return frozenset(member.name for member in members if member.stale)
