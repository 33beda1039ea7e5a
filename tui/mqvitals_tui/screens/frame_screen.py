"""What the screens over the store have in common: each requests frames, shows them, and updates ages every second."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual._styles_cache import StylesCache
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from mqvitals_agent.commandline.time_arguments import now_ms
from mqvitals_agent.text.figure import age, moment, times_in, zone_name
from mqvitals_agent.text.styled import Line, Span, Tone, line
from mqvitals_agent.text.terminal import at_most, cells, safe, wrap
from mqvitals_agent.view.frame import Frame, FrameRequest
from mqvitals_agent.view.screens.header import as_of_words, header_lines
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import FeedNews, KeptFrames, LoadedFrame, frame_at
from mqvitals_tui.keys import OPEN
from mqvitals_tui.tabs import EVERYWHERE
from mqvitals_tui.widgets.cursor_view import CursorView
from mqvitals_tui.widgets.painting import Banner
from mqvitals_tui.zones import ShownZone, ZoneSwitch

if TYPE_CHECKING:
    from mqvitals_tui.app import MqvitalsApp


TICK_S = 1.0
AGES_MS = 5_000
"""How often the ages of a screen are painted again: there may be many. Those of the header are painted each second."""

LEAST = (40, 10)
"""A terminal with fewer columns or lines shows only that it is too small, and the counts of alerts."""

ENOUGH = "80x24"

_MOST_WORDS = 3
"""The most lines for the end of the agent's log."""


@dataclass(frozen=True, slots=True)
class ScreenContext:
    """What all screens share: the rules in force, the clock, ms since 1970 UTC, and the end of the child agent.

    ``ended`` is a sentence once the child agent has ended, else empty. ``machine`` is the machine's clock, ms since
    1970 UTC, by which requests to the agent and actions are dated: the samples of a simulation may have another clock.
    ``settings`` give labels, routes and receivers; ``author`` is who acts on alerts, None: the user of the operating
    system. ``news`` is what the feed told last, which the headers of all screens show, ``kept`` what was read last of each
    place. ``folded`` remembers by kind of
    object which sections of its page a person folded or opened, ``zones`` says in which zone all screens show times.
    """

    rule_config: RuleConfig
    now: Callable[[], int]
    ended: Callable[[], str] = str
    machine: Callable[[], int] = now_ms
    settings: Settings = field(default_factory=Settings)
    author: str | None = None
    news: FeedNews = field(default_factory=FeedNews)
    kept: KeptFrames = field(default_factory=KeptFrames)
    folded: dict[str, dict[str, bool]] = field(default_factory=dict)
    zones: ZoneSwitch = field(default_factory=lambda: ZoneSwitch((ShownZone(UTC, "UTC"),)))

    @property
    def zone_name(self) -> str:
        """The name of the zone in which times are shown, now."""
        with times_in(self.zones.zone):
            return zone_name(self.machine())


class FrameScreen(Screen[None], inherit_bindings=False):
    """A screen that shows frames: the last one at once, and the one that it requests as soon as it was read."""

    BINDINGS: ClassVar[list[BindingType]] = [*EVERYWHERE, OPEN]
    DEFAULT_CSS = """
    FrameScreen { overflow: hidden; }
    FrameScreen.tiny > * { display: none; }
    FrameScreen.tiny > #header { display: block; }
    """

    class FrameRequested(Message):
        """The screen on top requests this frame from now on."""

        def __init__(self, request: FrameRequest) -> None:
            super().__init__()
            self.request = request

    def __init__(self, context: ScreenContext) -> None:
        super().__init__()
        self.context = context
        self._read: LoadedFrame | None = None
        self._stale: frozenset[str] = frozenset()
        self._painted = 0

    @property
    @abstractmethod
    def request(self) -> FrameRequest:
        """The frame that this screen requests."""

    @abstractmethod
    def paint(self, read: LoadedFrame, width: int) -> None:
        """Show the frame, with current ages, in ``width`` cells."""

    def paint_static(self, width: int) -> None:
        """Show what does not depend on a frame."""

    @property
    @abstractmethod
    def body(self) -> Widget:
        """The widget that has the focus by default."""

    @abstractmethod
    def help_groups(self) -> tuple[tuple[str, Sequence[Binding]], ...]:
        """The keys that do something here, by what they are for."""

    async def action_open(self) -> None:
        """Open what is under the cursor at once, so that the next key is for the opened screen.

        Before a frame is shown nothing is opened.
        """
        view = self.focused
        if isinstance(view, CursorView) and view.cursor_key and not view.held:
            self.open_key(view.cursor_key)

    @property
    def chosen_moment(self) -> int | None:
        """The moment that what is under the cursor is about, ms UTC; None: there is none."""
        return None

    def open_key(self, key: str) -> None:
        """Open the object with this whole name."""
        cast("MqvitalsApp", self.app).open_object(ObjectName.parse(key))

    def travel_to(self, at: int) -> None:
        """Show all screens as of a past moment, ms UTC."""
        cast("MqvitalsApp", self.app).travel_to(at)

    def open_holders(self, queue: ObjectName) -> None:
        """Ask which applications have this queue open."""
        cast("MqvitalsApp", self.app).open_holders(queue)

    @property
    def frame(self) -> Frame | None:
        """The last frame that was read for the current request, as of the moment where one is."""
        read = self._read
        return None if read is None or not self._is_mine(read) or not self._agrees_with_header(read) else read.frame

    def _is_mine(self, read: LoadedFrame) -> bool:
        """Whether this screen requested the frame; the moment of a frame is the feed's."""
        return read.frame.request._replace(at=None) == self.request

    def _agrees_with_header(self, read: LoadedFrame) -> bool:
        """Whether a frame is as of the same moment as the newest one, which the header shows."""
        return read.frame.request.at == self.context.news.at

    @property
    def held_words(self) -> str:
        """The words in place of a body that is of another moment than the header; empty: both are of the same."""
        read, at = self._read, self.context.news.at
        if read is None or self._agrees_with_header(read):
            return ""
        return "reading what is now" if at is None else f"reading {moment(at)} {zone_name(at)}"

    @property
    def older_words(self) -> str:
        """The words about what is shown where the store has been read since: of when it is; empty: it is the newest."""
        frame, newest = self.frame, self.context.news.newest
        if frame is None or newest is None or frame.data.past or frame.seq.ts >= newest.seq.ts:
            return ""
        return f"as of {age(max(self.context.now() - frame.seq.ts, 0))} ago, reading the newest"

    def _recall(self) -> None:
        """Show what was read last for the request until it is read again."""
        read = self.context.kept.of(self.request, self.context.news.newest)
        if read is not None and self._agrees_with_header(read):
            self._read, self._stale = read, read.frame.status.stale

    def on_mount(self) -> None:
        """Update ages every second."""
        self.set_interval(TICK_S, self._tick)

    def _tick(self) -> None:
        if self.visible_now:
            if 0 <= self.context.now() - self._painted < AGES_MS:
                self.repaint_header()
            else:
                self.repaint()

    @property
    def visible_now(self) -> bool:
        """Whether it is seen: a screen below another one is not, below the palette most of it is."""
        return self.on_top or self.app.screen.is_modal

    @property
    def on_top(self) -> bool:
        """Whether this is the screen that keys are for. Textual calls the one below it current too."""
        return self.app.screen is self

    def on_screen_resume(self) -> None:
        """On top again: request the frame."""
        # The toolkit's cache of colours holds the lines that widgets of closed screens painted.
        StylesCache.get_inner_outer.cache_clear()
        self.repaint()
        self.post_message(self.FrameRequested(self.request))

    def on_resize(self, _: events.Resize) -> None:
        """Lines are made for a width."""
        self.call_after_refresh(self.repaint)

    def take(self, read: LoadedFrame) -> None:
        """Show this frame, if it is the requested one; the header shows every one."""
        if self._is_mine(read):
            self._read = read
            self._stale = read.frame.status.stale
            self.context.kept.keep(read)
        elif not self.visible_now:
            return
        self.repaint()

    def repaint(self) -> None:
        """Paint everything again, as of now."""
        with times_in(self.context.zones.zone):
            self._repaint(whole=True)

    def repaint_header(self) -> None:
        """Paint the header as of now, and everything where more than ages has changed."""
        with times_in(self.context.zones.zone):
            self._repaint(whole=False)

    def _repaint(self, *, whole: bool) -> None:
        if not self.is_mounted or not self.size.width:
            return
        if self.frame is None:
            # Whoever paints first, perhaps the clock before this screen is told that it is on top again: the body is never
            # of another moment than the header.
            self._recall()
            whole = True
        width, height = self.size
        tiny = width < LEAST[0] or height < LEAST[1]
        self.set_class(tiny, "tiny")
        if not tiny and self.focused is None and self.app.app_focus and self.on_top:
            # A hidden widget has lost the focus.
            self.set_focus(self.body)
        read, newest = self._read, self.context.news.newest
        aged = None if newest is None else self._aged(newest)
        header = self._header(aged, width)
        if tiny:
            words = f"{width}x{height} is too small: {ENOUGH} shows all"
            header = (header[0], *(line(each, Tone.WARNING) for each in wrap(words, width)), *header[1:])[:height]
        past = newest is not None and newest.data.as_of is not None
        self.query_one("#header", Banner).show(header, turned=1 if past else 0)
        if not whole and aged is not None and aged.status.stale == self._stale:
            return
        self._painted = self.context.now()
        self.paint_static(width)
        held = self.held_words
        for view in self.query("LinesView, VirtualTable"):
            if isinstance(view, CursorView):
                view.hold(held)
        if read is None or self.frame is None:
            return
        if newest is not None and aged is not None and read.frame.data is newest.data:
            frame = replace(read.frame, now=aged.now, data=aged.data, status=aged.status, zone=aged.zone)
        else:
            frame = self._aged(read.frame)
        read = LoadedFrame(frame, read.earlier)
        stale = read.frame.status.stale
        if stale != self._stale and self.on_top:
            # When an owner becomes stale, the health of its objects becomes unknown: read the frame again.
            self._stale = stale
            self.post_message(self.FrameRequested(self.request))
        self.paint(read, width)

    def _aged(self, frame: Frame) -> Frame:
        """The frame as of now, by what the feed knows of its owners since."""
        aged = frame_at(frame, self.context.now(), self.context.machine(), self.context.news.newest)
        return replace(aged, zone=self.context.zones.zone)

    @property
    def in_past(self) -> bool:
        """Whether the newest frame of any screen is of the past: people act on alerts, and ask, only now."""
        newest = self.context.news.newest
        return newest is not None and (newest.data.as_of is not None or newest.data.past)

    def _past_line(self, at: int, width: int) -> Line:
        """The first line in the past: which moment is shown, and where there is room the keys that lead on from it."""
        news = self.context.news
        now = self.context.now() if news.ended is None else news.ended
        player = cast("MqvitalsApp", self.app).player
        words = f" {as_of_words(at, now)}"
        keys = f"{player.words}   [ ] cycle   {{ }} alert   Space {'stop' if player.playing else 'play'}   l now "
        for end in (keys, f"{player.words}   l now ", player.words, ""):
            if cells(words) + 2 + cells(end) <= width:
                return line(words + " " * (width - cells(words) - cells(end)) + end, Tone.STRONG)
        return line(words, Tone.STRONG)

    def _header(self, frame: Frame | None, width: int) -> tuple[Line, ...]:
        ended = safe(self.context.ended())
        lines = (line("mqvitals", Tone.STRONG),) if frame is None else header_lines(frame, width, asking=not ended)
        if frame is not None and frame.data.as_of is not None:
            lines = (self._past_line(frame.data.as_of, width), *lines)
        if ended:
            words = wrap(ended, width, rest="  ")
            lines = (*lines, *(line(each, Tone.CRITICAL) for each in at_most(words, _MOST_WORDS, width)))
        news = self.context.news
        if news.failed:
            tone = Tone.UNKNOWN if news.waiting else Tone.CRITICAL
            lines = (*lines, *(line(each, tone) for each in wrap(safe(news.failed), width, rest="  ")))
        elif frame is None:
            lines = (*lines, line("reading the store", Tone.FAINT))
        return lines


def trail_line(names: tuple[str, ...], width: int) -> Line:
    """The titles of screens in ``width`` cells; where they are too long, those in the middle are omitted."""
    parts = list(names)
    while len(parts) > 2 and cells(" › ".join(parts)) + 1 > width:
        del parts[2 if parts[1] == "…" and len(parts) > 3 else 1]
        if parts[1] != "…" and len(parts) > 2:
            parts[1] = "…"
    before = "".join(f"{part} › " for part in parts[:-1])
    return Line((Span(f" {before}", Tone.FAINT), Span(parts[-1], Tone.STRONG)))
