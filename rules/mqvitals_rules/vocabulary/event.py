"""Event messages: which queue the events of a category come on, and which category an id is of.

The id of an event is ``event:REASON``, or ``event:REASON:QUALIFIER`` where its message has a reason qualifier.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from mqvitals_rules.vocabulary.metric import Absence

EVENT: Final = "event:"
"""What the id of an event begins with; no console message's does."""

CONSOLE: Final = "console"
"""The source of console messages, beside the categories of events."""

EVENT_QUEUES: Final[Mapping[str, str]] = {
    "SYSTEM.ADMIN.QMGR.EVENT": "queue manager",
    "SYSTEM.ADMIN.CHANNEL.EVENT": "channel",
    "SYSTEM.ADMIN.PERFM.EVENT": "performance",
    "SYSTEM.ADMIN.CONFIG.EVENT": "configuration",
    "SYSTEM.ADMIN.COMMAND.EVENT": "command",
}
"""The category of the events that MQ puts on each of its queues."""

EVENT_CATEGORIES: Final = frozenset(EVENT_QUEUES.values())

_CATEGORIES: Final[Mapping[int, str]] = {
    **dict.fromkeys((2053, 2224, 2225, 2226, 2227), "performance"),
    **dict.fromkeys((2125, 2126, 2233, 2234, 2279, 2282, 2283, 2284, 2295, 2296, 2371, 2552, 2577, 2578), "channel"),
    **dict.fromkeys((2367, 2368, 2369, 2370), "configuration"),
    **dict.fromkeys((2412, 2413), "command"),
}
"""Reason -> category; all others are of the queue manager."""


CHANGE_IDS: Final = tuple(f"{EVENT}{reason}" for reason in (2367, 2368, 2369, 2370, 2412, 2413))
"""The events that say who changed something: configuration events and command events."""


def is_event(code: str) -> bool:
    """Whether an id is that of an event."""
    return code.startswith(EVENT)


def event_reason(code: str) -> int:
    """The reason in the id of an event."""
    return int(code.split(":")[1])


def source_of(code: str) -> str:
    """Where messages with an id come from: ``CONSOLE``, or the category of an event."""
    return _CATEGORIES.get(event_reason(code), "queue manager") if is_event(code) else CONSOLE


def categories_of(queue: str) -> frozenset[str]:
    """The categories of events that come on a queue; on one with a name of the site any may."""
    category = EVENT_QUEUES.get(queue)
    return EVENT_CATEGORIES if category is None else frozenset((category,))


def are_followed(sources: Collection[str], codes: Collection[str]) -> bool:
    """Whether messages with these ids are known where ``sources`` are followed; of no id, whether any are."""
    if not codes:
        return bool(sources)
    return all(source_of(code) in sources for code in codes)


def lacking(codes: Collection[str]) -> Absence:
    """What is needed for messages with these ids."""
    return Absence.NEEDS_EVENTS if any(map(is_event, codes)) else Absence.NEEDS_CONSOLE
