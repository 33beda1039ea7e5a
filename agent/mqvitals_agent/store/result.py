"""What queries of a store give back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported


@dataclass(frozen=True, slots=True)
class StoreMeta:
    """A store's own facts.

    ``replay``: filled from a recording, so that its last time is "now"; else by a running agent.

    ``source`` names the recording or the configuration, ``group`` the queue-sharing group, ``created`` is ISO 8601 (may
    be empty), ``version`` the mqvitals that wrote last.
    """

    replay: bool
    source: str
    group: str
    created: str
    version: str


class Owner(NamedTuple):
    """A queue manager of the store, or the group itself: its first and last snapshot (ms UTC), last cycle and clock.

    ``unwatched`` when nothing of it is there any more: it has been taken out of the configuration.
    """

    name: str
    is_group: bool
    first_ts: int
    last_ts: int
    last_cycle: int
    clock_ms: int | None
    unwatched: bool = False


class CurrentValue(NamedTuple):
    """The newest that was told of a metric.

    ``value`` as of ``ts`` (None: no answer ever came) from ``probe``. ``asked`` is when it was last asked for, and
    ``unanswered`` why no answer came then; the value is the last one known. Of a record (``source``), ``ts`` is its end,
    ``interval_ms`` the time it is about, and ``unanswered`` says when it is stale.
    """

    value: Reported
    ts: int | None
    probe: str
    asked: int
    unanswered: Absence | None
    source: Source = Source.POLL
    interval_ms: int | None = None


class ObjectRow(NamedTuple):
    """An object of the store; ``gone`` is when it was found not to exist any more."""

    name: ObjectName
    first_ts: int
    gone: int | None


@dataclass(frozen=True, slots=True)
class Series:
    """A metric of an object over time: (ms UTC, value or None) a poll, oldest first."""

    object: ObjectName
    metric: str
    unit: str
    points: tuple[tuple[int, int | float | None], ...]


@dataclass(frozen=True, slots=True)
class UnknownRow:
    """How many objects of ``owner`` the rule could not judge in its last snapshot, and why."""

    owner: str
    rule: str
    reason: Absence
    count: int
