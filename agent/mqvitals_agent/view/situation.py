"""What the status of a group is told from: plain values, read from a store in one go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from mqvitals_agent.store.lock import trouble_of
from mqvitals_agent.store.result import RECORDS_ALONE, CurrentValue, UnknownRow
from mqvitals_agent.text.figure import age
from mqvitals_agent.text.terminal import safe
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

DEFAULT_INTERVAL_MS = 30_000
"""Taken for the distance between snapshots while there are not two of them."""

FIGURES: Mapping[str, tuple[str, ...]] = {
    "queue_manager": ("reachable", "reason"),
    "agent": ("outcome",),
    "buffer_pool": ("free_pct",),
    "page_set": ("used_pct",),
    "channel": ("status",),
    "channel_initiator": (
        "status",
        "adapters_started",
        "adapters_max",
        "dispatchers_started",
        "dispatchers_max",
    ),
    "log": ("full_logs", "total_logs"),
    "cf_structure": ("status", "entries_pct", "entries_used", "entries_max", "size_used_pct"),
}
"""The metrics that the status shows, by kind."""

Current = Mapping[ObjectName, Mapping[str, CurrentValue]]


@dataclass(frozen=True, slots=True)
class Member:
    """A queue manager, or the group itself: when it was last seen, and how far apart its snapshots are, ms."""

    name: str
    is_group: bool
    first_ts: int
    last_ts: int
    interval_ms: int = DEFAULT_INTERVAL_MS


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the status is made of, as of ``now`` (ms UTC; where nobody goes on with the store its last snapshot).

    ``alerts`` are those firing, advice on the configuration included. ``refused`` is what is wrong with settings or rules that the agent
    did not take over, ``unstored`` what keeps the agent from writing the store.
    """

    now: int
    past: bool
    origin: str
    group: str
    members: tuple[Member, ...]
    current: Current = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()
    unknown: tuple[UnknownRow, ...] = ()
    refused: str = ""
    unstored: str = ""


def read_situation(reader: StoreReader, clock: int, figures: Mapping[str, tuple[str, ...]] = FIGURES) -> Situation:
    """Read the situation. ``clock`` is the time now, for a store that a running agent fills. Raises StoreError.

    ``figures`` are the metrics to read, by kind: who shows fewer reads fewer.
    """
    meta = reader.meta()
    members = tuple(
        Member(each.name, each.is_group, each.first_ts, each.last_ts, interval(reader.snapshot_times(each.name, 20)))
        for each in reader.owners()
        if not each.unwatched
    )
    current: dict[ObjectName, Mapping[str, CurrentValue]] = {}
    for member in members:
        for kind, metrics in figures.items():
            current.update(reader.current_by_kind(member.name, kind, metrics))
    return Situation(
        now=max((member.last_ts for member in members), default=clock) if meta.past else clock,
        past=meta.past,
        origin=meta.origin,
        group=meta.group,
        members=members,
        current=current,
        alerts=tuple(stored.alert for stored in reader.alerts()),
        unknown=reader.unknown_counts(),
        refused=meta.refused,
        unstored="" if meta.past else trouble_of(reader.path),
    )


def refused_words(situation: Situation) -> str:
    """What is said of settings and rules that the agent did not take over; empty when there are none."""
    if not situation.refused or situation.past:
        return ""
    return (
        f"The settings and rules from before are in force, for those of now cannot be used: {safe(situation.refused)}"
    )


def unstored_words(situation: Situation) -> str:
    """What is said of an agent that cannot write the store; empty while it can."""
    if not situation.unstored:
        return ""
    return f"The agent runs and sends alerts, but cannot store what it sees, so this is old: {safe(situation.unstored)}"


def unreached(situation: Situation, told: int | None) -> str:
    """What is said of a queue manager that no answer shows to be there, and of which something was told at ``told`` (ms UTC)."""
    if situation.origin == RECORDS_ALONE:
        return "known by its SMF records alone"
    return "never reached" if told is None else f"unreachable: these figures are {age(situation.now - told)} old"


def interval(times: list[int]) -> int:
    """The usual distance between snapshots, ms; ``times`` are those of the newest, oldest first."""
    distances = [after - before for before, after in pairwise(times)]
    return int(median(distances)) if distances else DEFAULT_INTERVAL_MS
