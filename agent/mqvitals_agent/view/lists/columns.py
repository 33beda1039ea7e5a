"""The lists of objects: the kinds and metrics that each reads, its columns and their widths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure
from mqvitals_agent.text.terminal import safe
from mqvitals_agent.view.figures.forecast import full_in_column
from mqvitals_agent.view.figures.meter_columns import with_meter
from mqvitals_agent.view.figures.table import (
    AGE,
    CLIENT_NAME,
    OWNER,
    STATE,
    STORAGE_NAME,
    Cell,
    Column,
    Item,
    cpu_column,
    least_column,
    metric_column,
    name_column,
    pair_column,
    rate_column,
    record_column,
    size_column,
    value_cell,
)
from mqvitals_rules.vocabulary.tables import metric as metric_of

STORAGE = "storage"
"""The list of buffer pools and page sets."""

STRUCTURES = "structures"
"""The matrix of structures: with their data sets and the connections to these."""

_KINDS = {STORAGE: ("buffer_pool", "page_set"), STRUCTURES: ("cf_structure", "smds", "smds_connection")}

MAIN = True
"""Marks a main figure: it takes the tone of an item with an alert."""


_CHANNEL_STATUS = metric_of("channel", "status")
_XMITQ = metric_of("queue", "usage").values["XMITQ"]


def channels_column(title: str, width: int) -> Column:
    """The channels of a transmission queue with their status; empty for other objects."""

    def cell(item: Item, _: int) -> Cell:
        latest = _channels(item)
        return Cell("") if latest is None else value_cell(latest, lambda each: safe(str(each.value)), item, main=False)

    def order(item: Item) -> str | None:
        latest = _channels(item)
        return None if latest is None else str(latest.value)

    return Column("channels", title, width, cell, order)


def _channels(item: Item) -> CurrentValue | None:
    """The channels of a transmission queue and their status, as of the first one's; None for other objects. It is made when
    it is looked at: few of ten thousand queues are in sight.
    """
    name = item.name
    usage = item.values.get("usage") if name.kind == "queue" else None
    if usage is None or usage.value != _XMITQ:
        return None
    channels = sorted(item.serving.get((name.owner, name.name), ()), key=lambda pair: pair[0])
    texts = []
    for channel, latest in channels:
        whose = "" if channel.owner == name.owner else f" of {channel.owner}"
        texts.append(f"{channel.name}{whose} {figure(latest.value, _CHANNEL_STATUS)}")
    return (channels[0][1] if channels else usage)._replace(value=", ".join(texts) or "no channel")


def _list(kind: str, *columns: Column | tuple[str, str, int] | tuple[str, str, int, bool]) -> tuple[Column, ...]:
    """The state and these columns; metric, title and width stand for a column of a metric of this kind."""
    return (STATE, *(each if isinstance(each, Column) else metric_column(kind, *each) for each in columns))


COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "channel": _list(
        "channel",
        name_column("Channel", 18),
        OWNER,
        ("status", "Status", 12, MAIN),
        rate_column("channel", "Msgs/s", 9, "number"),
        AGE,
        ("xmitq_msgs", "Xmitq, msgs", 11, MAIN),
        ("nettime_us_short", "Net time", 9),
        with_meter(metric_column("channel", "xbatchsz_short", "Batch, msgs", 11), 6, "batchsz"),
        ("batchsz", "BATCHSZ, msgs", 13),
        ("type", "Type", 8),
        ("substate", "Substate", 11),
        ("remote_queue_manager", "Partner", 10),
        ("indoubt", "In doubt", 8),
        ("short_left", "Short retries", 13),
        ("conname", "Address", 24),
    ),
    "client": _list(
        "client",
        CLIENT_NAME,
        replace(OWNER, title="Queue mgr", width=9),
        ("instances", "Instances", 9, MAIN),
        AGE,
        ("remote_application", "Application", 16),
        ("channel_name", "Channel", 20),
        ("conversations", "Connections", 11),
        ("user", "User", 12),
    ),
    "cluster_queue_manager": _list(
        "cluster_queue_manager",
        name_column("Cluster, queue mgr", 22),
        replace(OWNER, title="Known by"),
        ("role", "Role", 10, MAIN),
        AGE,
        ("suspend", "Suspended", 9, MAIN),
        ("status", "Channel", 10, MAIN),
        ("channel", "Name", 20),
        ("definition_type", "Known as", 9),
    ),
    "queue": _list(
        "queue",
        name_column("Queue", 20),
        OWNER,
        ("depth", "Depth, msgs", 11, MAIN),
        AGE,
        least_column("queue", "input_handles", "input_handles_least", "Getters", 7),
        ("oldest_msg_age_s", "Oldest msg", 11),
        full_in_column("queue"),
        least_column("queue", "output_handles", "output_handles_least", "Putters", 9),
        ("max_depth", "Max, msgs", 11),
        ("qtime_us_short", "Time on queue", 13),
        ("last_get_age_s", "Last get", 10),
        ("usage", "Usage", 7),
        channels_column("Served by", 24),
    ),
    "dead_letter": _list(
        "dead_letter",
        name_column("Reason/queue", 24),
        OWNER,
        ("messages", "Msgs", 6, MAIN),
        AGE,
        ("reason_name", "Reason", 26),
        ("last_age_s", "Newest", 10),
        ("first_ts", "Since", 19),
        ("send_to", "Tell", 24),
        ("usually", "Usually", 40),
    ),
    STORAGE: _list(
        "buffer_pool",
        STORAGE_NAME,
        replace(OWNER, title="Queue mgr", width=9),
        with_meter(metric_column("buffer_pool", "free_pct", "Free", 8, MAIN), 6, low_is_bad=True),
        replace(with_meter(metric_column("page_set", "used_pct", "Used", 8, MAIN), 6), id="used"),
        AGE,
        full_in_column("page_set"),
        record_column("buffer_pool", "low_pct", "Lowest", 11),
        size_column(),
        metric_column("buffer_pool", "free", "Free buffers", 12),
        metric_column("page_set", "buffer_pool", "In pool", 7),
        metric_column("page_set", "status", "Status", 10),
        metric_column("page_set", "expand_type", "Expand", 7),
        metric_column("page_set", "unused_pages", "Unused pages", 13),
        metric_column("buffer_pool", "purpose", "Purpose", 14),
        metric_column("buffer_pool", "location", "Location", 9),
    ),
    "cf_structure": _list(
        "cf_structure",
        name_column("Structure", 12),
        ("status", "Status", 11),
        with_meter(metric_column("cf_structure", "entries_pct", "Entries", 9, MAIN), 6),
        with_meter(metric_column("cf_structure", "size_used_pct", "Size used", 8), 6),
        AGE,
        full_in_column("cf_structure"),
        ("entries_used", "Entries used", 12),
        ("entries_max", "of", 8),
        ("size_max_kb", "Size", 9),
        ("backup_age_s", "Last backup", 12),
        ("offload_use", "Offloaded", 9),
        ("type", "Type", 11),
    ),
    "smds": _list(
        "smds",
        name_column("Data set of", 20),
        OWNER,
        with_meter(metric_column("smds", "used_pct", "Used", 9, MAIN), 6),
        AGE,
        full_in_column("smds"),
        ("offload_msgs", "Msgs", 10),
        ("waits_pct", "Waits %", 8),
        ("data_set_status", "Status", 10, MAIN),
        ("access", "Access", 9, MAIN),
        ("total_blocks", "Blocks", 9),
        ("expand", "Expand", 8),
    ),
    "channel_initiator": _list(
        "channel_initiator",
        name_column("Queue mgr", 9),
        ("status", "Status", 9, MAIN),
        pair_column("channel_initiator", "adapters_started", "adapters_max", "Adapters", 9),
        with_meter(
            record_column("channel_initiator", "adapters_unused", "Unused", 9),
            *(9, "adapters_max"),
            low_is_bad=True,
            always=False,
        ),
        pair_column("channel_initiator", "dispatchers_started", "dispatchers_max", "Dispatchers", 11),
        AGE,
        with_meter(pair_column("channel_initiator", "current", "current_max", "Instances", 11), 10, "current_max"),
        pair_column("channel_initiator", "active", "active_max", "Active", 11),
        ("retrying", "Retrying", 9),
        ("stopped", "Stopped", 9),
        ("paused", "Paused", 9),
        pair_column("channel_initiator", "ssltasks_started", "ssltasks_max", "TLS tasks", 9),
        ("listeners_lost", "Listeners lost", 14),
    ),
    "log": _list(
        "log",
        name_column("Queue manager", 13),
        with_meter(pair_column("log", "full_logs", "total_logs", "Full logs", 9, main=True), 5, "total_logs"),
        with_meter(metric_column("log", "used_pct", "Current", 9), 6),
        rate_column("log", "Logged/s", 10, "bytes"),
        AGE,
        ("suspend", "Suspended", 9, MAIN),
        ("offload_status", "Offload", 18),
        ("dual_active", "Dual", 5),
        ("rba_used_pct", "RBA used", 8),
        ("rba_days_left", "RBA lasts", 10),
        ("uow_span_mb", "Oldest unit", 11),
        ("oldest_uow_age_s", "Its age", 8),
    ),
    "agent": _list(
        "agent",
        # The names of event queues differ near their ends.
        replace(name_column("Command", 21), both_ends=True),
        OWNER,
        ("outcome", "Outcome", 12, MAIN),
        ("elapsed_ms", "Took", 6),
        AGE,
        ("replies", "Replies", 8),
        ("bytes", "Data", 9),
        ("every_ms", "Every", 8),
        cpu_column("CPU/min", 7),
        ("stretched", "Doubled", 7),
        ("commands", "Commands", 8),
        ("reason", "Reason", 7),
        ("mqsc", "In MQSC", 30),
    ),
}
"""The columns of each list (a kind, or ``storage``), the most important first."""


@cache
def kinds_of(kind: str) -> tuple[str, ...]:
    """The kinds of objects on the list called ``kind``."""
    return _KINDS.get(kind, (kind,))


def metrics_of(kind: str) -> tuple[str, ...]:
    """The metrics that the list with objects of a kind needs."""
    columns = COLUMNS.get(STORAGE if kind in kinds_of(STORAGE) else kind, ())
    shown = (each for column in columns for each in column.metrics)
    names = [*(metric for of_kind, metric in shown if of_kind == kind), *_UNSHOWN.get(kind, ())]
    return tuple(dict.fromkeys(names))


_UNSHOWN = {
    "channel_initiator": ("listeners", "listeners_down"),
    "cf_structure": ("connections", "full_threshold_pct"),
    "smds_connection": ("status", "data_set"),
}
"""Metrics without a column, by which a list can be filtered, or which its matrix shows."""

GAP = 2
"""Cells between two columns, as ``fitted`` counts them."""

_WIDEST_NAME = 48


def fitted(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """The columns that fit into ``width`` cells, ``GAP`` between two: the last ones are left out first.

    The remaining room goes to meters, and then to the name column, up to the longest name of MQ.
    """
    kept = list(columns)
    while len(kept) > 2 and _total(kept) > width:
        kept.pop()
    room = width - _total(kept)
    growing = [position for position, each in enumerate(kept) if each.widest > each.width]
    for left, position in zip(range(len(growing), 0, -1), growing, strict=True):
        each = kept[position]
        more = min(each.widest - each.width, max(room, 0) // left)
        kept[position] = replace(each, width=each.width + more)
        room -= more
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
