"""What a store holds of objects, told to the world that rules look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.world import World

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader


def lasting_owners(reader: StoreReader) -> frozenset[str]:
    """The owners whose SMF records do not go stale: no agent polls them, so that their newest records are how they are.

    Raises StoreError.
    """
    past = reader.meta().past
    return frozenset(owner.name for owner in reader.owners() if past or not owner.last_cycle)


def load_kind(
    reader: StoreReader,
    world: World,
    owner: str,
    kind: str,
    group: str,
    metrics: Collection[str] | None = None,
    lasting: Collection[str] = (),
) -> None:
    """Tell the world of all existing objects of a kind of an owner, only of ``metrics`` when given; ``group`` is the group's name.

    ``lasting`` is as ``lasting_owners`` gives it. Raises StoreError.
    """
    for name, current in reader.current_by_kind(owner, kind, metrics).items():
        learn(world, name, group, current, lasting)


def learn(
    world: World, name: ObjectName, group: str, told: Mapping[str, CurrentValue], lasting: Collection[str] = ()
) -> None:
    """Tell the world of one object. ``lasting`` is as ``lasting_owners`` gives it."""
    # Nothing but accounting tells of applications, and it may be switched on for an hour of a year.
    stays = name.owner in lasting or name.kind == "application"
    poll = KINDS[name.kind].poll
    values = {}
    recorded: dict[tuple[str, Source, int | None, int], dict[str, Reported]] = {}
    for metric, current in told.items():
        if current.source is not Source.POLL and current.ts is not None:
            about = current.probe, current.source, current.interval_ms, current.ts
            recorded.setdefault(about, {})[metric] = current.value
            continue
        # What a poll asked for in vain is absent to a rule, however well the last value is remembered.
        silent = current.unanswered is not None and current.probe == poll
        values[metric] = current.unanswered if silent and current.unanswered is not None else current.value
    records = [
        Reading(
            name, probe, ts, values_of, None if stays and source is Source.SMF else interval, poll=False, source=source
        )
        for (probe, source, interval, ts), values_of in recorded.items()
    ]
    world.learn(Snapshot(name.owner, name.owner == group, 0, 0, (Reading(name, poll, 0, values), *records)))
