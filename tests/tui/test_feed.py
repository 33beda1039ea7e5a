"""The feed reads what is wanted when there is something new, and says in words when there is nothing to read."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message

from mqsamples.patience import PATIENCE_S
from mqvitals_agent.store.file import schema
from mqvitals_agent.view.frame import LIST, OVERVIEW, FrameRequest
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_tui.feed import Feed, FeedFailed, FrameLoaded

Lives = Callable[[str], Any]


@pytest.fixture
def store(lives: Lives, tmp_path: Path) -> Path:
    """A copy of a store that may be ill-treated."""
    path = tmp_path / "x.db"
    copied(lives("incident").store, path)
    return path


def copied(source: Path, path: Path) -> None:
    """A whole copy of a store, whatever is still in its write-ahead log."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(path)) as other:
        one.backup(other)


def feed_of(path: Path, judging: RuleConfig, got: list[Any]) -> Feed:
    return Feed(path, judging, lambda: 0, got.append)


def kinds(got: list[Any]) -> list[type[Any]]:
    return [type(message) for message in got]


def test_a_store_that_comes_later_is_read_when_it_is_there(lives: Lives, judging: RuleConfig, tmp_path: Path) -> None:
    """Until there is a store the feed waits and says so once; then it reads without being asked."""
    got: list[Any] = []
    feed = feed_of(tmp_path / "late.db", judging, got)
    feed._check()
    feed._check()
    assert kinds(got) == [FeedFailed]
    assert got[0].waiting
    assert "does not exist yet" in got[0].text
    copied(lives("incident").store, tmp_path / "late.db")
    feed._check()
    assert kinds(got) == [FeedFailed, FrameLoaded]
    feed._close()


def test_a_vanished_store_is_no_store_that_was_never_there(store: Path, judging: RuleConfig, tmp_path: Path) -> None:
    """What has vanished is missed in other words, and read again when it returns though nothing in it is new."""
    got: list[Any] = []
    feed = feed_of(store, judging, got)
    feed._check()
    store.rename(tmp_path / "away.db")
    feed._check()
    feed._check()
    assert kinds(got) == [FrameLoaded, FeedFailed]
    assert "is missing" in got[1].text
    assert not got[1].waiting
    (tmp_path / "away.db").rename(store)
    feed._check()
    assert kinds(got) == [FrameLoaded, FeedFailed, FrameLoaded]
    feed._close()


def test_a_store_that_is_replaced_is_read_anew(store: Path, lives: Lives, judging: RuleConfig, tmp_path: Path) -> None:
    """Another file under the same name is another store: what is open is one that nobody writes any more."""
    got: list[Any] = []
    feed = feed_of(store, judging, got)
    feed._check()
    copied(lives("empty").store, tmp_path / "other.db")
    (tmp_path / "other.db").rename(store)
    feed._check()
    assert kinds(got) == [FrameLoaded, FrameLoaded]
    assert got[0].read.frame.data.members
    assert not got[1].read.frame.data.members
    feed._close()


def test_a_damaged_store_is_read_again_when_it_is_put_right(store: Path, judging: RuleConfig, tmp_path: Path) -> None:
    """What is no store any more is said once; a good copy in its place is read without a keystroke."""
    got: list[Any] = []
    feed = feed_of(store, judging, got)
    feed._check()
    good = tmp_path / "good.db"
    copied(store, good)
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"no store at all " * 300)
    bad.rename(store)
    feed._check()
    feed._check()
    assert kinds(got) == [FrameLoaded, FeedFailed]
    assert str(store) in got[1].text
    good.rename(store)
    feed._check()
    assert kinds(got) == [FrameLoaded, FeedFailed, FrameLoaded]
    feed._close()


def test_a_locked_store_is_said_and_read_when_it_is_free(
    store: Path, judging: RuleConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's exclusive transaction stops the reading, not the program; afterwards all goes on."""
    monkeypatch.setattr(schema, "BUSY_MS", 10)
    got: list[Any] = []
    feed = feed_of(store, judging, got)
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        # Without a write-ahead log a writer keeps readers out.
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        feed._check()
        feed._check()
        assert kinds(got) == [FeedFailed]
        assert "locked" in got[0].text
        other.execute("ROLLBACK")
        feed._check()
    assert kinds(got) == [FeedFailed, FrameLoaded]
    feed._close()


def test_messages_that_nobody_has_looked_at_give_way_to_newer_ones(judging: RuleConfig, store: Path) -> None:
    """A slow screen paints the newest frame once; a failure never hides a frame that it did not see."""
    got: list[Any] = []
    feed = feed_of(store, judging, got)
    feed._check()
    frame = got[0]
    failure = FeedFailed("gone")
    assert frame.can_replace(frame)
    assert failure.can_replace(failure)
    assert failure.can_replace(frame)
    assert not frame.can_replace(failure)
    feed._close()


def test_feed_reads_only_what_is_new(lives: Lives, judging: RuleConfig) -> None:
    """Nothing is read twice but what is asked for anew; the thread ends within a second of being told."""
    got: list[Message] = []
    arrived = threading.Semaphore(0)

    def post(message: Message) -> None:
        got.append(message)
        arrived.release()

    looks = 0

    class Counted(Feed):
        def _check(self) -> None:
            nonlocal looks
            super()._check()
            looks += 1

    feed = Counted(lives("incident").store, judging, lambda: 0, post, every_s=0.001)
    thread = threading.Thread(target=feed.run)
    thread.start()
    try:
        assert arrived.acquire(timeout=PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while looks < 20:
            assert time.monotonic() < end
            thread.join(0.001)
        assert len(got) == 1
        feed.request(FrameRequest(LIST, "queue"))
        assert arrived.acquire(timeout=PATIENCE_S)
        last = got[-1]
        assert isinstance(last, FrameLoaded)
        assert last.read.frame.request == FrameRequest(LIST, "queue")
        assert last.can_replace(got[0])
    finally:
        feed.stop()
        thread.join(1)
    assert not thread.is_alive()


def test_feed_says_a_failure_once(tmp_path: Path, judging: RuleConfig) -> None:
    """The same failure is told once, and again to who asks anew."""
    got: list[FeedFailed] = []
    feed = Feed(tmp_path / "none.db", judging, lambda: 0, got.append)  # type: ignore[arg-type]
    feed._check()
    feed._check()
    assert [message.waiting for message in got] == [True]
    feed.request(FrameRequest())
    feed._check()
    assert len(got) == 2


def test_what_is_being_read_first_is_not_read_twice(lives: Lives, judging: RuleConfig) -> None:
    """A screen asks for its frame when it appears: where the feed has begun to read just that, nothing more is read."""
    got: list[Any] = []
    asked = [FrameRequest(), FrameRequest(LIST, "queue"), FrameRequest(LIST, "queue")]

    class Asked(Feed):
        def _read(self, *arguments: Any) -> Any:
            if asked:
                self.request(asked.pop(0))
            return super()._read(*arguments)

    feed = Asked(lives("incident").store, judging, lambda: 0, got.append)
    for _ in range(5):
        feed._check()
    assert [each.read.frame.request.screen for each in got] == [OVERVIEW]
    feed.request(FrameRequest(LIST, "queue"))
    for _ in range(5):
        feed._check()
    # What is asked for later is read once more, also where it is being read: somebody may have acted meanwhile.
    assert [each.read.frame.request.screen for each in got[1:]] == [LIST, LIST, LIST]
    feed._close()
