"""The lists of objects: what each reads, its columns, their widths, its order and its filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from mqvitals_agent.store.result import CurrentValue
from mqvitals_agent.text.figure import figure
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.view.figures.forecast import full_in_column, with_full_in
from mqvitals_agent.view.figures.meter_columns import with_meter
from mqvitals_agent.view.figures.table import (
    AGE,
    CLIENT_NAME,
    OWNER,
    STATE,
    STORAGE_NAME,
    Column,
    Item,
    channels_column,
    cpu_column,
    least_column,
    metric_column,
    name_column,
    pair_column,
    rate_column,
    record_column,
    size_column,
)
from mqvitals_agent.view.figures.values import MAIN_METRIC, RATE, natural_order, number_in, with_rates
from mqvitals_agent.view.status import GroupStatus
from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.ruleset.ruleset import RuleSet


STORAGE = "storage"
"""The list of buffer pools and page sets."""


STRUCTURES = "structures"
"""The matrix of structures: with their data sets and the connections to these."""

_KINDS = {STORAGE: ("buffer_pool", "page_set"), STRUCTURES: ("cf_structure", "smds", "smds_connection")}


def kinds_of(kind: str) -> tuple[str, ...]:
    """The kinds of objects on the list called ``kind``."""
    return _KINDS.get(kind, (kind,))


def read_items(reader: StoreReader, status: GroupStatus, kind: str, rules: RuleSet | None = None) -> tuple[Item, ...]:
    """The objects of a list, worst first, then by name; clients with the most instances first. Raises StoreError.

    Objects whose owner is stale are unknown, all alike: among them those stand first that were worst when last seen.
    ``rules`` give the meters of the list their ticks.
    """
    data = status.data
    by_object = health_by_object(status.firing)
    stale = status.stale
    if kind == "agent":
        # Outcomes of earlier commands are not current for a queue manager that cannot be asked now.
        stale |= {member.name for member in status.queue_managers if member.reachable is False}
    items: list[Item] = []
    serving = _serving_channels(reader, status) if kind == "queue" else {}
    for each in kinds_of(kind):
        for member in data.members:
            found: Mapping[ObjectName, Mapping[str, CurrentValue]]
            found = reader.current_by_kind(member.name, each, metrics_of(each))
            if each in RATE:
                found = with_rates(reader, each, found)
            is_stale = member.name in stale
            items += [
                Item(
                    name,
                    health_of_item(name, values, by_object, stale=is_stale),
                    values,
                    is_stale,
                    _channels(name, values, serving),
                    () if rules is None else rules.rules_for(name),
                )
                for name, values in found.items()
            ]
    items = with_full_in(reader, items, data.now)

    def order(item: Item) -> tuple[object, ...]:
        last = health_of_item(item.name, item.values, by_object, stale=False) if item.stale else item.health
        return -item.health, -last, -_size(item), natural_order(item.name)

    return tuple(sorted(items, key=order))


def _size(item: Item) -> float:
    """What puts the greatest clients first; other lists are ordered by name."""
    return number_in(item.values.get("instances")) or 0.0 if item.name.kind == "client" else 0.0


_Serving = Mapping[tuple[str, str], list[tuple[ObjectName, CurrentValue]]]
"""(owner, transmission queue) -> its channels, each with its status."""


def _serving_channels(reader: StoreReader, status: GroupStatus) -> _Serving:
    """The channels of every transmission queue; of the group's queues those of all its queue managers."""
    groups = [member.name for member in status.data.members if member.is_group]
    found: dict[tuple[str, str], list[tuple[ObjectName, CurrentValue]]] = {}
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, "channel", ("xmitq", "status")).items():
            queue, latest = values.get("xmitq"), values.get("status")
            if latest is not None and queue is not None and isinstance(queue.value, str) and queue.value:
                for owner in (member.name, *groups):
                    found.setdefault((owner, queue.value), []).append((name, latest))
    return found


def _channels(name: ObjectName, values: Mapping[str, CurrentValue], serving: _Serving) -> CurrentValue | None:
    """The channels of a transmission queue and their status, as of the first one's; None for other objects."""
    usage = values.get("usage") if name.kind == "queue" else None
    if usage is None or usage.value != _XMITQ:
        return None
    channels = sorted(serving.get((name.owner, name.name), []), key=lambda pair: pair[0])
    texts = []
    for channel, latest in channels:
        whose = "" if channel.owner == name.owner else f" of {channel.owner}"
        texts.append(f"{channel.name}{whose} {figure(latest.value, _CHANNEL_STATUS)}")
    return (channels[0][1] if channels else usage)._replace(value=", ".join(texts) or "no channel")


_CHANNEL_STATUS = metric_of("channel", "status")
_XMITQ = metric_of("queue", "usage").values["XMITQ"]


def read_store(reader: StoreReader, status: GroupStatus) -> Item | None:
    """The agent's store as last measured; None where no agent has measured it. Raises StoreError."""
    kind = KINDS["store"]
    by_object = health_by_object(status.firing)
    for member in status.data.members:
        for name, values in reader.current_by_kind(member.name, kind.name).items():
            stale = name.owner in status.stale
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


MAIN = True
"""Marks a main figure: it takes the tone of an item with an alert."""


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
