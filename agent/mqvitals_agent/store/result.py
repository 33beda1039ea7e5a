"""What queries of a store give back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from mqvitals_agent.store.rows.samples.sample import SampleColumns
from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_rules.snapshot import ObjectName, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported

LIVE = "live"
"""The mode of a store that a running agent fills."""
REPLAY = "replay"
"""The mode of one that was filled from a recording."""
RECORDS = "records"
"""The mode of one that holds SMF records alone; an agent may go on with it."""
RECORDS_ALONE = "SMF records"
"""Where all samples of such a store come from."""
HOLDS = {REPLAY: "a replay", LIVE: "the agent's samples", RECORDS: RECORDS_ALONE}
"""What a store of a mode holds, in words."""


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """Which of two agents for one group fills a store: ``role`` is ``active`` or ``standby``, for ``reason``, ``since`` (ms UTC).

    ``peer`` names the other agent as far as it is known, ``follows``: a standby agent has the other one's alerts.
    """

    role: str
    since: int
    reason: str = ""
    peer: str = ""
    follows: bool = False

    @classmethod
    def stored(cls, text: str) -> AgentStanding | None:
        """What the store says of two agents, in JSON; None for what cannot be read, as a later version may have it."""
        with suppress(ValueError, TypeError):
            found = cls(**json.loads(text))
            if isinstance(found.role, str) and isinstance(found.since, int):
                return found
        return None

    @property
    def waits(self) -> bool:
        """True while the other agent is active: nothing is polled for this store, and that is no fault."""
        return self.role == "standby"


@dataclass(frozen=True, slots=True)
class StoreMeta:
    """A store's own facts.

    ``mode`` is who filled it: a running agent (``live``), a recording (``replay``), or an import of SMF records alone
    (``records``). ``source`` names the recording or the configuration, ``group`` the queue-sharing group, ``created``
    is ISO 8601 (may be empty), ``version`` the mqvitals that wrote last. ``refused`` is what is wrong with settings
    or rules that the agent was to go on by; while it is not empty those from before are in force. ``kept_from`` is
    from when on all samples are there, ``alerts_kept_from`` all alerts that ended since, ``hours_kept_from`` all hours that
    were rolled up (ms UTC; None: nothing was deleted).
    """

    mode: str
    source: str
    group: str
    created: str
    version: str
    refused: str = ""
    kept_from: int | None = None
    alerts_kept_from: int | None = None
    hours_kept_from: int | None = None
    standing: AgentStanding | None = None
    """Which of two agents fills it; None: there is but one."""
    as_of: int | None = None
    """The past moment as of which it is read, ms UTC; None: as it is now."""

    @property
    def ended(self) -> bool:
        """True when no agent fills it."""
        return self.mode in (REPLAY, RECORDS)

    @property
    def past(self) -> bool:
        """True when nothing goes on: no agent fills it, or it is read as of a past moment."""
        return self.ended or self.as_of is not None

    @property
    def holds(self) -> str:
        """What it holds, in words."""
        return HOLDS.get(self.mode, HOLDS[LIVE])

    @property
    def origin(self) -> str:
        """Where the samples come from: ``live``, ``replay of FILE`` or ``SMF records``."""
        match self.mode:
            case "replay":
                return f"replay of {self.source or 'a recording'}"
            case "records":
                return RECORDS_ALONE
            case _:
                return LIVE


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
    """The newest value of a metric.

    ``value`` as of ``ts`` (None: no answer ever came) from ``probe``. ``asked`` is when it was last asked for, and
    ``unanswered`` why no answer came then; the value is the last one known. Of a record (``source``), ``ts`` is its
    end, ``interval_ms`` the time it is about, and ``unanswered`` says when it is stale.
    """

    value: Reported
    ts: int | None
    probe: str
    asked: int
    unanswered: Absence | None
    source: Source = Source.POLL
    interval_ms: int | None = None


class StoredObject(NamedTuple):
    """An object of the store; ``gone`` is when it was found not to exist any more."""

    name: ObjectName
    first_ts: int
    gone: int | None


@dataclass(frozen=True, slots=True)
class Series:
    """A metric of an object over time: (ms UTC, value or None) a poll, oldest first.

    ``intervals`` are the ms that each point is about (None: unknown): of a counter of polls the time since the answer
    before, of a record its own interval. ``source`` is where they are from. ``kept_from``: what was before (ms UTC), within
    the time asked for, is no longer kept; None: nothing of this time has been deleted. ``damaged`` are the begins (ms UTC)
    of sealed hours that cannot be read: their samples are missing. ``lacking`` is a sentence that says why samples may be
    missing that are kept elsewhere; empty: none are.
    """

    object: ObjectName
    metric: str
    unit: str
    points: tuple[tuple[int, int | float | None], ...]
    intervals: tuple[int | None, ...] = ()
    source: Source = Source.POLL
    kept_from: int | None = None
    damaged: tuple[int, ...] = ()
    lacking: str = ""


BySource = Mapping[Source, Mapping[str, SampleColumns]]
"""Samples of an object by source and metric."""


class ObjectSamples(NamedTuple):
    """What was read of some metrics of an object: its samples, and the rest as of ``Series``."""

    by_source: BySource
    kept_from: int | None
    damaged: tuple[int, ...]
    lacking: str = ""


@dataclass(frozen=True, slots=True)
class HourSeries:
    """What the hours of a metric of an object came to: each with its begin (ms UTC), oldest first, those with a value."""

    object: ObjectName
    metric: str
    unit: str
    hours: tuple[tuple[int, MetricHour], ...]


@dataclass(frozen=True, slots=True)
class UnknownRow:
    """How many objects of ``owner`` the rule was unknown for in its last snapshot, and why."""

    owner: str
    rule: str
    reason: Absence
    count: int
