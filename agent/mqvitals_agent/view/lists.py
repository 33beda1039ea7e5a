"""The lists of objects: what each reads, its columns, their widths, its order and its filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.status import GroupStatus
from mqvitals_agent.view.table import (
    Column,
    Item,
    age_column,
    metric_column,
    name_column,
    owner_column,
    pair_column,
    rate_column,
    record_column,
    short_absence,
    size_column,
    state_column,
    storage_name_column,
    used_column,
)
from mqvitals_agent.view.values import MAIN_METRIC, RATE, natural_order, with_rates
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


def read_items(reader: StoreReader, status: GroupStatus, kind: str) -> tuple[Item, ...]:
    """The objects of a list, worst first, then by name. Raises StoreError."""
    data = status.data
    by_object = health_by_object(status.firing)
    stale = {
        member.name
        for member in status.owners
        # Outcomes of earlier commands are not current for a queue manager that cannot be asked now.
        if member.stale or (kind == "agent" and member.reachable is False)
    }
    items: list[Item] = []
    for each in kinds_of(kind):
        metrics = tuple(name for name in METRICS[each] if KINDS[each].metric(name) is not None)
        for member in data.members:
            found: Mapping[ObjectName, Mapping[str, CurrentValue]] = reader.current_by_kind(member.name, each, metrics)
            if each in RATE:
                found = with_rates(reader, each, found)
            is_stale = member.name in stale
            items += [
                Item(name, health_of_item(name, values, by_object, stale=is_stale), values, is_stale)
                for name, values in found.items()
            ]
    items.sort(key=lambda item: (-item.health, natural_order(item.name)))
    return tuple(items)


def read_store(reader: StoreReader, status: GroupStatus) -> Item | None:
    """The agent's store as last measured; None where no agent has measured it. Raises StoreError."""
    kind = KINDS["store"]
    by_object = health_by_object(status.firing)
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, kind.name).items():
            stale = any(
                each.stale for each in (*status.queue_managers, status.group) if each and each.name == name.owner
            )
            return Item(name, health_of_item(name, values, by_object, stale=stale), values, stale)
    return None


def health_by_object(alerts: Iterable[Alert]) -> Mapping[ObjectName, Health]:
    """The worst alert about each object, and of each object that an alert's rule evaluates."""
    worst: dict[ObjectName, Health] = {}
    for alert in alerts:
        health = health_of(alert.severity)
        for name in (alert.key.object, alert.scope):
            worst[name] = max(worst.get(name, Health.OK), health)
    return worst


def health_of_item(
    name: ObjectName, values: Mapping[str, CurrentValue], by_object: Mapping[ObjectName, Health], *, stale: bool
) -> Health:
    """The health by its alerts; unknown when its owner is silent, or when its main metric was not answered."""
    health = by_object.get(name, Health.OK)
    if stale:
        return Health.UNKNOWN
    latest = values.get(MAIN_METRIC[name.kind])
    if latest is None or latest.unanswered is not None or latest.value in _UNANSWERED:
        return max(health, Health.UNKNOWN)
    return health


_UNANSWERED = frozenset(
    {Absence.NO_ANSWER, Absence.UNREACHABLE, Absence.STALE, Absence.NOT_AUTHORISED, Absence.NOT_ASKED}
)


def ordered(items: Iterable[Item], column: Column, *, reverse: bool = False) -> tuple[Item, ...]:
    """The items sorted by a column; those with equal values stay as they are, those without any come last either
    way."""
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
    metric of the list as its figure begins; any other text before a colon is part of a name.
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
    latest = item.values.get(name)
    metric = KINDS[item.name.kind].metric(name)
    if latest is None or metric is None:
        return ""
    return figure(latest.value, metric).casefold()


__all__ = ["GAP", "columns", "fitted", "short_absence"]


def _channel() -> tuple[Column, ...]:
    kind = "channel"
    return (
        state_column(),
        name_column("Channel", 18),
        owner_column(),
        metric_column(kind, "status", "Status", 12, main=True),
        rate_column("Msgs/s", 9, "number"),
        age_column(),
        metric_column(kind, "xmitq_msgs", "Xmitq, msgs", 11, main=True),
        metric_column(kind, "nettime_us_short", "Net time", 9),
        metric_column(kind, "xbatchsz_short", "Batch, msgs", 11),
        metric_column(kind, "batchsz", "BATCHSZ, msgs", 13),
        metric_column(kind, "type", "Type", 8),
        metric_column(kind, "substate", "Substate", 11),
        metric_column(kind, "remote_queue_manager", "Partner", 10),
        metric_column(kind, "indoubt", "In doubt", 8),
        metric_column(kind, "short_left", "Short retries", 13),
        metric_column(kind, "conname", "Address", 24),
    )


def _queue() -> tuple[Column, ...]:
    kind = "queue"
    return (
        state_column(),
        name_column("Queue", 20),
        owner_column(),
        metric_column(kind, "depth", "Depth, msgs", 11, main=True),
        age_column(),
        metric_column(kind, "input_handles", "Getters", 7),
        metric_column(kind, "oldest_msg_age_s", "Oldest msg", 11),
        metric_column(kind, "output_handles", "Putters", 9),
        metric_column(kind, "max_depth", "Max, msgs", 11),
        metric_column(kind, "qtime_us_short", "Time on queue", 13),
        metric_column(kind, "last_get_age_s", "Last get", 10),
        metric_column(kind, "usage", "Usage", 7),
    )


def _storage() -> tuple[Column, ...]:
    return (
        state_column(),
        storage_name_column(),
        replace(owner_column(), title="Queue mgr", width=9),
        metric_column("buffer_pool", "free_pct", "Free %", 8, main=True),
        record_column("buffer_pool", "low_pct", "Lowest", 11),
        used_column(),
        age_column(),
        size_column(),
        metric_column("buffer_pool", "free", "Free buffers", 12),
        metric_column("page_set", "buffer_pool", "In pool", 7),
        metric_column("page_set", "status", "Status", 10),
        metric_column("page_set", "expand_type", "Expand", 7),
        metric_column("page_set", "unused_pages", "Unused pages", 13),
        metric_column("buffer_pool", "purpose", "Purpose", 14),
        metric_column("buffer_pool", "location", "Location", 9),
    )


def _cf_structure() -> tuple[Column, ...]:
    kind = "cf_structure"
    return (
        state_column(),
        name_column("Structure", 16),
        metric_column(kind, "status", "Status", 12),
        metric_column(kind, "entries_pct", "Entries %", 9, main=True),
        metric_column(kind, "size_used_pct", "Size %", 8),
        age_column(),
        metric_column(kind, "entries_used", "Entries used", 12),
        metric_column(kind, "entries_max", "of", 8),
        metric_column(kind, "size_max_kb", "Size", 9),
        metric_column(kind, "backup_age_s", "Last backup", 12),
        metric_column(kind, "offload_use", "Offloaded", 9),
        metric_column(kind, "type", "Type", 11),
    )


def _smds() -> tuple[Column, ...]:
    kind = "smds"
    return (
        state_column(),
        name_column("Data set of", 20),
        owner_column(),
        metric_column(kind, "used_pct", "Used %", 9, main=True),
        age_column(),
        metric_column(kind, "offload_msgs", "Msgs", 10),
        metric_column(kind, "waits_pct", "Waits %", 8),
        metric_column(kind, "status", "Status", 10),
        metric_column(kind, "total_blocks", "Blocks", 9),
        metric_column(kind, "expand", "Expand", 8),
    )


def _channel_initiator() -> tuple[Column, ...]:
    kind = "channel_initiator"
    return (
        state_column(),
        name_column("Queue mgr", 9),
        metric_column(kind, "status", "Status", 9, main=True),
        pair_column(kind, "adapters_started", "adapters_max", "Adapters", 9),
        record_column(kind, "adapters_unused", "Unused", 9),
        pair_column(kind, "dispatchers_started", "dispatchers_max", "Dispatchers", 11),
        age_column(),
        pair_column(kind, "current", "current_max", "Instances", 11),
        pair_column(kind, "active", "active_max", "Active", 11),
        metric_column(kind, "retrying", "Retrying", 9),
        metric_column(kind, "stopped", "Stopped", 9),
        metric_column(kind, "paused", "Paused", 9),
        pair_column(kind, "ssltasks_started", "ssltasks_max", "TLS tasks", 9),
        metric_column(kind, "listeners_down", "Listeners down", 14),
    )


def _log() -> tuple[Column, ...]:
    kind = "log"
    return (
        state_column(),
        name_column("Queue manager", 13),
        pair_column(kind, "full_logs", "total_logs", "Full logs", 9, main=True),
        metric_column(kind, "used_pct", "Current %", 9),
        rate_column("Logged/s", 10, "bytes"),
        age_column(),
        metric_column(kind, "suspend", "Suspended", 9, main=True),
        metric_column(kind, "offload_status", "Offload", 18),
        metric_column(kind, "dual_active", "Dual", 5),
    )


def _queue_manager() -> tuple[Column, ...]:
    kind = "queue_manager"
    return (
        state_column(),
        name_column("Queue manager", 13),
        metric_column(kind, "reachable", "Reachable", 11, main=True),
        metric_column(kind, "reason", "Reason", 7, main=True),
        age_column(),
        metric_column(kind, "version", "Version", 9),
        metric_column(kind, "command_level", "Level", 7),
        metric_column(kind, "platform", "Platform", 9),
        metric_column(kind, "qsg_name", "Group", 7),
        metric_column(kind, "monq", "MONQ", 7),
        metric_column(kind, "monchl", "MONCHL", 7),
    )


def _qsg() -> tuple[Column, ...]:
    kind = "qsg"
    return (
        state_column(),
        name_column("Group", 10),
        pair_column(kind, "members_active", "qmgr_count", "Active", 8, main=True),
        metric_column(kind, "members_failed", "Failed", 8, main=True),
        age_column(),
        metric_column(kind, "db2_active", "With Db2", 8),
        metric_column(kind, "structure_count", "Structures", 10),
    )


def _agent() -> tuple[Column, ...]:
    kind = "agent"
    return (
        state_column(),
        name_column("Command", 21),
        owner_column(),
        metric_column(kind, "outcome", "Outcome", 12, main=True),
        metric_column(kind, "elapsed_ms", "Took", 6),
        age_column(),
        metric_column(kind, "replies", "Replies", 8),
        metric_column(kind, "bytes", "Data", 9),
        *(
            metric_column(kind, name, title, width)
            for name, title, width in (("every_ms", "Every", 8), ("stretched", "Doubled", 7))
            if KINDS[kind].metric(name) is not None
        ),
        metric_column(kind, "commands", "Commands", 8),
        metric_column(kind, "reason", "Reason", 7),
        metric_column(kind, "mqsc", "In MQSC", 30),
    )


_LISTS: Mapping[str, Callable[[], tuple[Column, ...]]] = {
    "channel": _channel,
    "queue": _queue,
    STORAGE: _storage,
    "cf_structure": _cf_structure,
    "smds": _smds,
    "channel_initiator": _channel_initiator,
    "log": _log,
    "queue_manager": _queue_manager,
    "qsg": _qsg,
    "agent": _agent,
}

_MADE: dict[str, tuple[Column, ...]] = {}


def columns(kind: str) -> tuple[Column, ...]:
    """The columns of a list (a kind, or ``storage``), the most important first. Raises KeyError for any other."""
    if kind not in _MADE:
        _MADE[kind] = _LISTS[kind]()
    return _MADE[kind]


GAP = 2
"""Cells between two columns, as ``fitted`` counts them."""

_WIDEST_NAME = 48


def fitted(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """The columns that fit into ``width`` cells, ``GAP`` between two: the last ones are left out first.

    The remaining room goes to the name column, up to the longest name of MQ.
    """
    kept = list(columns)
    while len(kept) > 2 and _total(kept) > width:
        kept.pop()
    room = width - _total(kept)
    return tuple(
        replace(each, width=max(min(each.width + room, max(_WIDEST_NAME, each.width)), 8))
        if each.id == "name"
        else each
        for each in kept
    )


def _total(columns: Sequence[Column]) -> int:
    return sum(each.width for each in columns) + GAP * (len(columns) - 1)


def spaced(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """The columns that fit into ``width`` cells, the last ones left out first."""
    kept = fitted(columns, width - 1)
    apart: list[Column] = []
    for position, column in enumerate(kept):
        after_right = position > 0 and kept[position - 1].right
        more = 1 if (not column.right and position < len(kept) - 1) or (column.right and after_right) else 0
        apart.append(replace(column, width=column.width + more) if more else column)
    return tuple(apart)
