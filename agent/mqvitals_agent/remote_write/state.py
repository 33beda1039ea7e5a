"""How it goes with an engine, as senders tell the agent's own metrics and probes tell the doctor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemoteState:
    """How it goes with an engine. Times are ms UTC, None: never, or not now.

    Since the agent began it has taken ``sent`` samples in ``sent_bytes`` of compressed requests. Since it is known it has refused
    ``refused``, and was not sent ``missed`` samples of objects, which were deleted before. ``pending`` samples of objects wait,
    the oldest taken at ``oldest``. ``error`` is what keeps it from taking more.
    """

    name: str
    sent: int = 0
    sent_bytes: int = 0
    refused: int = 0
    missed: int = 0
    pending: int = 0
    oldest: int | None = None
    accepted_at: int | None = None
    failing_since: int | None = None
    error: str = ""
