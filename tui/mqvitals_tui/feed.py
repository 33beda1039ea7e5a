"""From the store to the screens: a thread that checks the store once a second and reads a frame only when it has
changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from textual.message import Message

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.figures.trend import charted_points
from mqvitals_agent.view.frame import DETAIL, Frame, FrameRequest, StorePosition, read_frame, store_position
from mqvitals_agent.view.status import aged_status
from mqvitals_config.sections.history import PROMETHEUS
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_tui.time_machine import Travelled, Way

RELEASED_AT_ONCE = 100
"""The number of objects released in one step."""


class DeferredRelease:
    """Keeps what was read until its successor is shown, and then releases it in slices. For one thread.

    Releasing ten thousand items takes 13 ms; done by the event loop that would halt the screens at every poll. The
    feed's thread holds the last reference, and releases slices between which the event loop can run.
    """

    def __init__(self) -> None:
        self._newest: Sequence[object] = ()
        self._old: list[object] = []

    def replace(self, newest: Sequence[object]) -> None:
        """``newest`` replaces what was read last, which the next ``release`` releases."""
        self._old += self._newest
        self._newest = newest

    def release(self) -> None:
        """Release what was replaced. Call it when the replacement has had time to be shown."""
        while self._old:
            del self._old[-RELEASED_AT_ONCE:]


EVERY_S = 1.0
"""The interval of checks of the store, s."""

COSTLY_S = 0.03
"""A frame that takes at least this CPU time, s, is read once a cycle, when all of it is there, not with each snapshot.
"""

ENGINE_PATIENCE_MS = 2_000
"""So long, ms, a screen waits for the engine of ``history``, once in a while."""

_MOST_WAITS = 3
"""The most checks for which a costly frame is put off while more comes."""

EARLIER_DAYS = (("yesterday", DAY_MS), ("a week before", 7 * DAY_MS))
"""The same time of other days, for the chart of a detail: name and how long before, ms."""

Points = tuple[tuple[int, float | None], ...]


@dataclass(frozen=True, slots=True)
class LoadedFrame:
    """A frame, and for a detail its chart's series of earlier days, their times moved to those of the chart."""

    frame: Frame
    earlier: tuple[tuple[str, Points], ...] = ()


class FrameLoaded(Message):
    """A frame was read. A newer one replaces it in the message queue."""

    def __init__(self, read: LoadedFrame, feed: Feed | None = None) -> None:
        """``feed`` is the one that read it."""
        super().__init__()
        self.read = read
        self.feed = feed

    def can_replace(self, message: Message) -> bool:
        """Whether ``message``, which came after this one, may be handled in its place."""
        return isinstance(message, FrameLoaded)


class FeedFailed(Message):
    """No frame can be read: ``text`` is the reason. ``waiting``: the store does not exist yet."""

    def __init__(self, text: str, *, waiting: bool = False, feed: Feed | None = None) -> None:
        """``feed`` is the one that cannot read."""
        super().__init__()
        self.text = text
        self.waiting = waiting
        self.feed = feed

    def can_replace(self, message: Message) -> bool:
        """Whether ``message``, which came after this one, may be handled in its place."""
        return isinstance(message, FrameLoaded | FeedFailed)


class FeedNews:
    """What the feed told last, whichever screen asked: the header of every screen is made from it.

    ``failed`` says why nothing can be read now (empty: it can), ``waiting`` that there is no store yet. ``ended`` is
    when a replay ended, which is its now, ms UTC; None: the clock says what is now.
    """

    def __init__(self) -> None:
        self.newest: Frame | None = None
        self.failed = ""
        self.waiting = False
        self.ended: int | None = None

    @property
    def at(self) -> int | None:
        """The past moment as of which the newest frame was read, ms UTC; None: it is of now."""
        return None if self.newest is None else self.newest.request.at

    def take(self, frame: Frame) -> None:
        """A frame was read."""
        # Only the status is shown by all: the rows of a long list are not to live longer than their screen needs them.
        self.newest = Frame(frame.request, frame.seq, frame.now, frame.read_at, frame.data, frame.status)
        self.failed, self.waiting = "", False
        if frame.request.at is None:
            self.ended = frame.now if frame.data.past else None

    def fail(self, text: str, *, waiting: bool) -> None:
        """No frame can be read; the newest one stays."""
        self.failed, self.waiting = text, waiting


class KeptFrames:
    """What was read last for each of some requests, to be shown at once when a screen comes back to one.

    At most ``most`` frames with ``rows`` items in all are kept, the newest ones; of the past none. For one thread.
    """

    def __init__(self, most: int = 12, rows: int = 30_000) -> None:
        self._most, self._rows = most, rows
        self._kept: dict[FrameRequest, LoadedFrame] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, read: LoadedFrame) -> None:
        """Keep a frame that was read now."""
        request = read.frame.request
        if request.at is not None:
            return
        self._kept.pop(request, None)
        self._kept[request] = read
        rows = sum(len(each.frame.items) for each in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > self._most or rows > self._rows):
            oldest = next(iter(self._kept))
            rows -= len(self._kept.pop(oldest).frame.items)

    def of(self, request: FrameRequest, newest: Frame | None) -> LoadedFrame | None:
        """What was read last for this request; None: nothing is kept, or the ``newest`` frame is of an earlier store."""
        read = self._kept.get(request)
        return None if read is None or newest is None or read.frame.seq.ts > newest.seq.ts else read


class Feed:
    """Reads what the screen on top requests while ``run`` runs; all reading is done in that thread."""

    def __init__(
        self,
        store: Path,
        rule_config: RuleConfig,
        now: Callable[[], int],
        post: Callable[[Message], object],
        *,
        every_s: float = EVERY_S,
        settings: Settings | None = None,
        machine: Callable[[], int] | None = None,
        cpu_s: Callable[[], float] = time.thread_time,
    ) -> None:
        """``now`` gives ms since 1970 UTC; ``post`` takes messages from any thread.

        ``settings`` and ``machine`` are as for ``read_frame``; ``cpu_s`` is the processor time of the thread, seconds.
        """
        self._cpu_s = cpu_s
        self._settings = settings
        self._machine = now if machine is None else machine
        self._store = store
        self._rule_config = rule_config
        self._now = now
        self._post = post
        self._every_s = every_s
        self._request = FrameRequest()
        self._forced = False
        self._begins = True
        self._ways: list[Way] = []
        self._at: int | None = None
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._reader: StoreReader | None = None
        self._file: tuple[int, int] | None = None
        self._done: tuple[FrameRequest, StorePosition] | None = None
        self._failure = ""
        self._seen = False
        self._newest: StorePosition | None = None
        self._waits = 0
        self._cost_s = 0.0
        self._deferred = DeferredRelease()

    def request(self, request: FrameRequest) -> None:
        """Read this from now on, at once, even when nothing has changed."""
        with self._lock:
            if request == self._request and self._begins:
                # The first look at the store, which is under way, is for this.
                return
            self._request, self._forced = request, True
        self._wake.set()

    def travel(self, way: Way) -> None:
        """Take this way after those before it, and read as of where it ends from then on."""
        with self._lock:
            self._ways.append(way)
            self._forced = True
        self._wake.set()

    def stop(self) -> None:
        """End ``run`` after the current read."""
        self._stopped.set()
        self._wake.set()

    def run(self) -> None:
        """Check, read and post until ``stop``."""
        try:
            while not self._stopped.is_set():
                self._deferred.release()
                self._check()
                self._wake.wait(self._every_s)
                self._wake.clear()
        finally:
            self._close()

    def _check(self) -> None:
        try:
            self._look()
        finally:
            self._begins = False

    def _look(self) -> None:
        with self._lock:
            request, forced, self._forced = self._request, self._forced, False
            ways, self._ways = self._ways, []
        if forced:
            self._failure = ""
        try:
            stat = self._store.stat()
            if self._file != (stat.st_dev, stat.st_ino):
                # The store was replaced: the open file is no longer written.
                self._close()
            if self._reader is None:
                opened = StoreReader.open(self._store)
                self._reader = opened
                self._reader = self._completed(opened)
                self._file = (stat.st_dev, stat.st_ino)
            self._take_ways(self._reader, ways)
            request = request._replace(at=self._at)
            seq = store_position(self._reader, self._at)
            if not forced and (self._done == (request, seq) or self._puts_off(request, seq)):
                return
            self._newest, self._waits = seq, 0
            began = self._cpu_s()
            read = self._read(self._reader, request)
            self._cost_s = self._cpu_s() - began
        except FileNotFoundError:
            self._close()
            if self._seen:
                self._post_failure(
                    f"The store {self._store} is missing: the values are the last ones read. Waiting for it to return"
                )
                return
            text = f"Waiting for the store {self._store}: it does not exist yet. Start 'mqvitals agent', or see 'mqvitals demo'"
            self._post_failure(text, waiting=True)
            return
        except StoreError as error:
            self._close()
            self._post_failure(str(error))
            return
        except OSError as error:
            self._close()
            self._post_failure(f"The store {self._store} cannot be read: {error.strerror or error}")
            return
        self._done, self._failure, self._seen = (request, seq), "", True
        if request.screen != DETAIL:
            # Below a detail the list is still shown: its items are replaced only by those of another list.
            self._deferred.replace(read.frame.items)
        self._post(FrameLoaded(read, self))

    def _completed(self, opened: StoreReader) -> StoreReader:
        """The reader of the store, completed by the engine of ``history`` where the settings name one."""
        if self._settings is None or self._settings.history.backend != PROMETHEUS:
            return opened
        # What speaks HTTP takes time to import.
        from mqvitals_agent.engine_history.reader import with_engine

        return with_engine(opened, self._settings, patience_ms=ENGINE_PATIENCE_MS)

    def _take_ways(self, reader: StoreReader, ways: Sequence[Way]) -> None:
        said = ""
        for way in ways:
            arrival = way(reader, self._at)
            self._at, said = arrival.at, arrival.words
        if ways:
            self._post(Travelled(self._at, said, self))

    def _puts_off(self, request: FrameRequest, seq: StorePosition) -> bool:
        """Whether to look again at the next check: the snapshots of a large group come one after another."""
        if self._done is None or self._done[0] != request or self._cost_s < COSTLY_S:
            return False
        if seq == self._newest or self._waits == _MOST_WAITS:
            return False
        self._newest = seq
        self._waits += 1
        return True

    def _read(self, reader: StoreReader, request: FrameRequest) -> LoadedFrame:
        if request.at is None:
            reader.forget_moments()
        frame = read_frame(reader, self._now(), request, self._rule_config, self._settings, self._machine())
        trend = None if frame.detail is None else frame.detail.trend
        if request.screen != DETAIL or trend is None:
            return LoadedFrame(frame)
        earlier = []
        for name, ms in EARLIER_DAYS:
            series = reader.trend(trend.object, trend.metric.name, trend.span.since - ms, trend.span.until - ms)
            if series.points:
                points = charted_points(series.points, series.intervals, trend.metric)
                earlier.append((name, tuple((ts + ms, value) for ts, value in points)))
        return LoadedFrame(frame, tuple(earlier))

    def _post_failure(self, text: str, *, waiting: bool = False) -> None:
        if text != self._failure:
            self._failure = text
            self._post(FeedFailed(text, waiting=waiting, feed=self))

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader, self._file, self._done = None, None, None


def frame_at(frame: Frame, now: int, machine: int | None = None, newest: Frame | None = None) -> Frame:
    """The frame as of ``now`` (ms UTC), with later ages; a frame of a replay stays as it is.

    ``machine`` is the machine's time, by which people act; None: ``now`` is that. ``newest`` is a frame that another
    screen may have read since: it says when each owner reported last, so that nothing is called stale that is not.
    """
    if frame.data.past:
        return frame
    handled = replace(frame.data.handled, now=max(now if machine is None else machine, frame.data.handled.now))
    members = frame.data.members if newest is None or newest.seq.ts < frame.seq.ts else newest.data.members
    data = replace(frame.data, now=max(now, frame.data.now), handled=handled, members=members)
    return replace(frame, now=data.now, data=data, status=aged_status(frame.status, data))
