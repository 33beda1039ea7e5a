"""The columns of every list, the most important first, and those of them that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mqvitals_agent.view.column import (
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
from mqvitals_agent.view.listing import STORAGE
from mqvitals_agent.view.table import Column
from mqvitals_rules.vocabulary.tables import KINDS

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

    What room is left goes to the column of the name, up to the longest name that MQ has.
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
