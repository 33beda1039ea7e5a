"""Where statistics messages are taken from: what may be said, and what is wrong together."""

from __future__ import annotations

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.settings import Settings, contradictions

WAY = "connection: {channel: MON, connection_names: [h], tls: {cipher: ANY}, reply_queue: MY.REPLY}\n"


def problems_of(text: str) -> list[tuple[int, str, str]]:
    """The line, key and message of every contradiction."""
    settings = decode("x.yaml", text, Settings)
    return [(each.place.line, each.key, each.message) for each in contradictions(settings)]


def test_none_is_read_unless_one_is_named() -> None:
    """It is off by default, and for one queue manager at a time."""
    text = "queue_managers:\n  - {name: A}\n  - {name: B, statistics_queue: SYSTEM.ADMIN.STATISTICS.QUEUE}\n"
    first, second = decode("x.yaml", WAY + text, Settings).queue_managers
    assert (first.statistics_queue, second.statistics_queue) == (None, "SYSTEM.ADMIN.STATISTICS.QUEUE")
    assert problems_of(WAY + text) == []


def test_a_queue_that_is_needed_otherwise_is_a_mistake() -> None:
    """Answers would be taken for statistics."""
    ((line, key, message),) = problems_of(WAY + "queue_managers:\n  - {name: A, statistics_queue: MY.REPLY}\n")
    assert (line, key) == (3, "queue_managers[0].statistics_queue")
    assert message == "MY.REPLY is already the reply queue or the command queue"


def test_nothing_can_be_read_without_a_connection() -> None:
    """Another member can be asked with a command scope, but a queue must be opened."""
    ((_, key, message),) = problems_of("queue_managers:\n  - {name: A, statistics_queue: STATS}\n")
    assert key == "queue_managers[0].statistics_queue"
    assert "A has no connection of its own" in message
