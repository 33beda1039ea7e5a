"""What is usual of a queue: for how long it had a reader before it lost the last one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.poll.kinds.queue import USUAL_MS, UsualReaders

MINUTE = 60_000
HOUR = 60 * MINUTE


def told(readers: UsualReaders, is_read: bool, lasts: int) -> bool:
    """What is said at the end of so long, with a poll a minute."""
    return [readers.note(is_read=is_read, since_ms=MINUTE) for _ in range(lasts // MINUTE)][-1]


def test_a_queue_that_lost_its_reader_is_still_usually_read() -> None:
    """Also when the agent saw the reader for a minute only; until it has been without one for four hours."""
    readers = UsualReaders()
    assert told(readers, True, MINUTE)
    assert told(readers, False, USUAL_MS - MINUTE)
    assert not told(readers, False, MINUTE)


def test_a_queue_without_a_reader_is_not() -> None:
    """Neither one that nobody ever read, nor one that a job reads for an hour each night."""
    readers = UsualReaders()
    assert not told(readers, False, 23 * HOUR)
    assert not told(readers, True, HOUR)
    assert not told(readers, False, 23 * HOUR)
    assert not told(readers, True, HOUR)
    assert not told(readers, False, MINUTE)


def test_a_new_reader_becomes_usual_and_a_short_outage_changes_nothing() -> None:
    """After a day without one it takes three hours."""
    readers = UsualReaders()
    told(readers, False, 24 * HOUR)
    assert not told(readers, True, 2 * HOUR)
    assert told(readers, True, HOUR)
    assert told(readers, False, 10 * MINUTE)
    assert told(readers, True, MINUTE)


def test_a_pause_of_the_agent_is_not_taken_for_an_outage() -> None:
    """What the first poll after a day says counts for ten minutes."""
    readers = UsualReaders()
    told(readers, True, HOUR)
    assert readers.note(is_read=False, since_ms=24 * HOUR)
    assert readers.unread_ms == 10 * MINUTE


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10 * HOUR)), max_size=40))
def test_the_shares_stay_shares(polls: list[tuple[bool, int]]) -> None:
    """Whatever happens, a queue was read for no longer than it was known."""
    readers = UsualReaders()
    for is_read, since in polls:
        readers.note(is_read=is_read, since_ms=since)
        assert 0 <= readers.read <= readers.known + 1e-9 <= 1 + 2e-9
