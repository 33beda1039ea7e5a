"""One exchange with a queue manager: what was asked, what came back, or what failed. Bytes, not meanings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class MqiFailure(NamedTuple):
    """An MQI call that failed: its completion code and reason (2009, 2033 ...)."""

    comp: int
    reason: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One message got. ``encoding`` and ``ccsid`` are those of its descriptor after the get.

    ``put`` is the queue manager's own clock when it put the message, ms since 1970 UTC; None when not kept.
    """

    encoding: int
    ccsid: int
    data: bytes
    put: int | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command and its answer, or one attempt to connect that failed (then ``command`` and ``request`` are None).

    ``line`` is where a recording holds it (0: it comes from a live connection), ``at`` when the request was put, ms
    since 1970 UTC by our clock, ``elapsed_ms`` the time until the last reply or the error. ``queue_manager`` is the one
    we were connected to; with a command scope the replies come from others.
    """

    line: int
    at: int
    elapsed_ms: int
    queue_manager: str
    command: int | None = None
    request: bytes | None = None
    replies: tuple[Reply, ...] = ()
    error: MqiFailure | None = None
