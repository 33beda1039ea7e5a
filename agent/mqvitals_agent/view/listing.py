"""Objects of a kind as the items of a table: read, ordered, and those that match what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.rate import RATE, with_rates
from mqvitals_agent.view.remedy import TREND
from mqvitals_agent.view.status import StatusView
from mqvitals_agent.view.table import Column, Item
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader

STORAGE = "storage"
"""The list of buffer pools and page sets."""

METRICS: Mapping[str, tuple[str, ...]] = {
    "queue_manager": ("reachable", "reason", "version", "command_level", "platform", "qsg_name", "monq", "monchl"),
    "qsg": ("name", "qmgr_count", "members_active", "members_failed", "db2_active", "structure_count"),
    "channel": (
        "status",
        "substate",
        "type",
        "msgs",
        "xmitq_msgs",
        "nettime_us_short",
        "batchsz",
        "xbatchsz_short",
        "indoubt",
        "short_left",
        "remote_queue_manager",
        "conname",
    ),
    "queue": (
        "depth",
        "max_depth",
        "oldest_msg_age_s",
        "input_handles",
        "output_handles",
        "qtime_us_short",
        "last_get_age_s",
        "usage",
    ),
    "buffer_pool": ("total", "free", "free_pct", "low_pct", "location", "purpose"),
    "page_set": ("total_pages", "unused_pages", "used_pct", "status", "expand_type", "buffer_pool"),
    "cf_structure": (
        "status",
        "type",
        "entries_pct",
        "entries_used",
        "entries_max",
        "size_used_pct",
        "size_max_kb",
        "offload_use",
        "backup_age_s",
    ),
    "smds": ("status", "used_pct", "total_blocks", "offload_msgs", "waits_pct", "expand"),
    "channel_initiator": (
        "status",
        "adapters_started",
        "adapters_max",
        "adapters_unused",
        "dispatchers_started",
        "dispatchers_max",
        "ssltasks_started",
        "ssltasks_max",
        "current",
        "current_max",
        "active",
        "active_max",
        "retrying",
        "stopped",
        "paused",
        "listeners",
        "listeners_down",
    ),
    "log": ("full_logs", "total_logs", "used_pct", "written_bytes", "offload_status", "suspend", "dual_active"),
    "agent": ("outcome", "mqsc", "reason", "commands", "replies", "bytes", "elapsed_ms", "every_ms", "stretched"),
}
"""The metrics that a list shows, by kind."""


def kinds_of(kind: str) -> tuple[str, ...]:
    """The kinds of objects on the list called ``kind``."""
    return ("buffer_pool", "page_set") if kind == STORAGE else (kind,)


def read_items(reader: StoreReader, status: StatusView, kind: str) -> tuple[Item, ...]:
    """The objects of a list, worst first, then by name. Raises StoreError."""
    situation = status.situation
    by_object = health_by_object(status.firing)
    stale = {
        member.name
        for member in status.owners
        # What became of earlier commands says nothing of one that cannot be asked now.
        if member.stale or (kind == "agent" and member.reachable is False)
    }
    items: list[Item] = []
    for each in kinds_of(kind):
        metrics = tuple(name for name in METRICS[each] if KINDS[each].metric(name) is not None)
        for member in situation.members:
            found: Mapping[ObjectName, Mapping[str, CurrentValue]] = reader.current_by_kind(member.name, each, metrics)
            if each in RATE:
                found = with_rates(reader, each, found)
            is_stale = member.name in stale
            items += [
                Item(name, health_of_item(name, values, by_object, stale=is_stale), values, is_stale)
                for name, values in found.items()
            ]
    items.sort(key=lambda item: (-item.health, natural(item.name)))
    return tuple(items)


def read_store(reader: StoreReader, status: StatusView) -> Item | None:
    """The agent's own store, as it was last measured; None where no agent has. Raises StoreError."""
    kind = KINDS["store"]
    by_object = health_by_object(status.firing)
    for member in status.situation.members:
        for name, values in reader.current_by_kind(member.name, kind.name).items():
            stale = any(
                each.stale for each in (*status.queue_managers, status.group) if each and each.name == name.owner
            )
            return Item(name, health_of_item(name, values, by_object, stale=stale), values, stale)
    return None


def health_by_object(alerts: Iterable[Alert]) -> Mapping[ObjectName, Health]:
    """The worst alert about each object, or that an object gave rise to."""
    worst: dict[ObjectName, Health] = {}
    for alert in alerts:
        health = health_of(alert.severity)
        for name in (alert.key.object, alert.scope):
            worst[name] = max(worst.get(name, Health.OK), health)
    return worst


def health_of_item(
    name: ObjectName, values: Mapping[str, CurrentValue], by_object: Mapping[ObjectName, Health], *, stale: bool
) -> Health:
    """As its alerts say; unknown when its owner is silent, or when the figure that matters most was asked for in vain."""
    health = by_object.get(name, Health.OK)
    if stale:
        return Health.UNKNOWN
    told = values.get(TREND[name.kind])
    if told is None or told.unanswered is not None or told.value in _UNTOLD:
        return max(health, Health.UNKNOWN)
    return health


_UNTOLD = frozenset({Absence.NO_ANSWER, Absence.UNREACHABLE, Absence.STALE, Absence.NOT_AUTHORISED, Absence.NOT_ASKED})


def natural(name: ObjectName) -> tuple[str, int, str, str]:
    """A key that puts numbered objects in the order of their numbers: buffer pool 10 after 9."""
    rest = name.name
    return (name.kind, int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 10 else 0, rest, name.owner)


def ordered(items: Iterable[Item], column: Column, *, reverse: bool = False) -> tuple[Item, ...]:
    """The items sorted by a column; those with equal values stay as they are, those without any come last either way."""
    present: list[tuple[float | str, Item]] = []
    absent: list[Item] = []
    order = column.order
    for item in items:
        value = order(item)
        if value is None:
            absent.append(item)
        else:
            present.append((value, item))
    present.sort(key=lambda pair: pair[0], reverse=reverse)
    return (*(item for _, item in present), *absent)


def matching(items: Sequence[Item], text: str) -> tuple[Item, ...]:
    """The items in which every word of ``text`` occurs in the whole name, upper and lower case alike.

    A word ``severity:critical`` selects by how an item is, ``state:retrying`` by its status, ``depth:0`` by any other
    metric of the list as its figure begins; what stands before a colon and is none of these is part of a name.
    """
    found = items
    for word in text.casefold().split():
        test = _test(word, found)
        found = [item for item in found if test(item)]
    return tuple(found)


def _test(word: str, items: Sequence[Item]) -> Callable[[Item], bool]:
    field, colon, wanted = word.partition(":")
    if colon and field in ("severity", "health"):
        return lambda item: item.health.word.startswith(wanted)
    metric = "status" if field == "state" else field
    if colon and any(metric in item.values for item in items):
        return lambda item: _figure(item, metric).startswith(wanted)
    return lambda item: word in item.key.casefold()


def _figure(item: Item, name: str) -> str:
    told = item.values.get(name)
    metric = KINDS[item.name.kind].metric(name)
    if told is None or metric is None:
        return ""
    return figure(told.value, metric).casefold()
