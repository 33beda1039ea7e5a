"""What console messages say: whether one was seen, and how long it was from one to another."""

from __future__ import annotations

from mqvitals_rules.expression.context import Context


def seen(context: Context, ids: frozenset[str], window_ms: int) -> bool | None:
    """Whether there was a message with one of these ids in the window; None: no console is followed."""
    found = context.messages(ids, context.now - window_ms)
    return None if found is None else bool(found)


def elapsed(context: Context, first: str, second: str, window_ms: int) -> float | None:
    """Seconds from a message ``first`` to the next ``second``, the newest such pair in the window; None: there is none."""
    began: int | None = None
    took: float | None = None
    for message in context.messages(frozenset((first, second)), context.now - window_ms) or ():
        if message.id == first:
            began = message.ts
        elif began is not None:
            took = (message.ts - began) / 1000
            began = None
    return took
