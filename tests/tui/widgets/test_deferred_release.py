"""What the screen no longer shows is freed by whoever read it, and not before something else took its place."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

from mqvitals_agent.view.frame import DETAIL, LIST, FrameRequest
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_tui.feed import RELEASED_AT_ONCE, DeferredRelease, Feed

Lives = Callable[[str], Any]


class Thing:
    """Can be watched."""


def watched(count: int) -> tuple[tuple[Thing, ...], list[weakref.ref[Thing]]]:
    things = tuple(Thing() for _ in range(count))
    return things, [weakref.ref(thing) for thing in things]


def living(refs: list[weakref.ref[Thing]]) -> int:
    return sum(ref() is not None for ref in refs)


def test_old_things_are_freed_when_they_are_let_go_of() -> None:
    """Not when the next ones come, but at the call after that; and the newest stay."""
    deferred = DeferredRelease()
    first, old = watched(3 * RELEASED_AT_ONCE + 1)
    second, new = watched(5)
    deferred.replace(first)
    del first
    deferred.release()
    assert living(old) == len(old)
    deferred.replace(second)
    del second
    assert living(old) == len(old)
    deferred.release()
    assert living(old) == 0
    assert living(new) == len(new)


def test_nothing_is_forgotten_between_two_lettings_go() -> None:
    """What was renewed twice before is old as a whole, and freed as a whole."""
    deferred = DeferredRelease()
    refs: list[weakref.ref[Thing]] = []
    for _ in range(3):
        things, more = watched(7)
        refs += more
        deferred.replace(things)
        del things
    assert living(refs) == 21
    deferred.release()
    assert living(refs) == 7


def test_the_feed_frees_what_the_screen_showed_before(lives: Lives, judging: RuleConfig) -> None:
    """The items of a list outlive the next frame, whoever dropped them; a detail above the list makes none of them old."""
    got: list[Any] = []
    feed = Feed(lives("incident").store, judging, lambda: 0, got.append)
    feed.request(FrameRequest(LIST, "queue"))
    feed._check()
    first = sizes(feed)
    assert first[0] > 10
    feed.request(FrameRequest(DETAIL, name=ObjectName("QM01", "buffer_pool", "3")))
    feed._check()
    assert sizes(feed) == first
    feed.request(FrameRequest(LIST, "queue"))
    feed._check()
    got.clear()
    gc.collect()
    assert sizes(feed) == (first[0], first[0])
    feed._deferred.release()
    assert sizes(feed) == first
    feed._close()


def sizes(feed: Feed) -> tuple[int, int]:
    """How many things are the newest, and how many old."""
    return len(feed._deferred._newest), len(feed._deferred._old)


def test_the_running_feed_lets_go_before_it_looks_again(lives: Lives, judging: RuleConfig) -> None:
    """While it runs, nothing old is kept for longer than until the next look; what is shown stays."""
    kept: list[tuple[int, int]] = []
    request = FrameRequest(LIST, "queue")

    class Watched(Feed):
        def _check(self) -> None:
            kept.append(sizes(self))
            self.request(request)
            super()._check()
            if len(kept) == 4:
                self.stop()

    feed = Watched(lives("incident").store, judging, lambda: 0, lambda _: None, every_s=0.001)
    feed.request(request)
    feed.run()
    assert kept[0] == (0, 0)
    assert kept[1][0] > 10
    assert kept[1:] == [(kept[1][0], 0)] * 3
