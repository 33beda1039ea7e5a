"""What one screen of the terminal interface shows, read from a store in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.view.alerts import AlertAdvice, read_advice, worst_first
from mqvitals_agent.view.console import event_queue_words
from mqvitals_agent.view.key_figures import OverviewHistory, read_overview_history
from mqvitals_agent.view.lists import read_items, read_store
from mqvitals_agent.view.object_detail import ObjectDetail, read_object_detail
from mqvitals_agent.view.status import FIGURES, GroupStatus, StatusData, read_status_data, status_of
from mqvitals_agent.view.table import Item
from mqvitals_agent.view.tasks import read_tasks, with_tasks
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, overshadowed
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.receivers import ReceiverRow
    from mqvitals_rules.ruleset.config import RuleConfig

OVERVIEW, LIST, ALERTS, AGENT, DETAIL = "overview", "list", "alerts", "agent", "detail"
"""The screens."""

HOUR_MS = 3_600_000

MOST_ENDED = 500
"""Ended alerts that the alerts screen lists, the newest."""

ADVISED = 3
"""The number of alerts, the worst, for which the overview reads the advice."""

_HEADER_FIGURES: Mapping[str, tuple[str, ...]] = {"queue_manager": ("reachable", "reason")}


class FrameRequest(NamedTuple):
    """What a screen needs.

    ``kind`` for a list (``storage`` means buffer pools and page sets), ``name`` for the detail of an object; ``metric``
    is what its chart shows (empty: the main one of its kind), ``span_ms`` the length of the chart.
    """

    screen: str = OVERVIEW
    kind: str = ""
    name: ObjectName | None = None
    metric: str = ""
    span_ms: int = HOUR_MS


class StorePosition(NamedTuple):
    """The newest snapshot, ms UTC, and the number of cycles of all owners."""

    ts: int = 0
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """What a screen shows. ``now`` is ms UTC (of a replay its last snapshot), ``read_at`` the clock when it was read.

    Every frame has the status, for the header. Only those of their screens have ``items`` (worst first), ``tasks`` (of
    the channel initiators), ``store`` (the agent's own), ``receivers``, ``consoles`` (files that cannot be followed,
    and why), ``event_queues`` (what there is to say about them), ``detail``, ``history`` (the overview's figures over time), ``advice`` (of the worst alert; ``further``:
    of the next two) and ``alerts``: open and ended ones, advice included, with those in ``covered`` that another alert
    covers.
    """

    request: FrameRequest
    seq: StorePosition
    now: int
    read_at: int
    data: StatusData
    status: GroupStatus
    items: tuple[Item, ...] = ()
    tasks: tuple[Item, ...] = ()
    store: Item | None = None
    receivers: tuple[ReceiverRow, ...] = ()
    consoles: tuple[tuple[str, str], ...] = ()
    event_queues: tuple[str, ...] = ()
    detail: ObjectDetail | None = None
    alerts: tuple[Alert, ...] = ()
    covered: Mapping[AlertKey, AlertKey] = field(default_factory=dict)
    history: OverviewHistory = field(default_factory=OverviewHistory)
    advice: AlertAdvice = field(default_factory=AlertAdvice)
    further: tuple[AlertAdvice, ...] = ()


def store_position(reader: StoreReader) -> StorePosition:
    """The newest position in the store; cheap to read. A frame with the same ``seq`` shows nothing new but ages.

    Raises StoreError.
    """
    owners = reader.owners()
    return StorePosition(max((owner.last_ts for owner in owners), default=0), sum(owner.last_cycle for owner in owners))


def read_frame(reader: StoreReader, clock_ms: int, request: FrameRequest, rules: RuleConfig) -> Frame:
    """Read what a screen needs, and no more. Raises StoreError."""
    seq = store_position(reader)
    data = read_status_data(reader, clock_ms, FIGURES if request.screen == OVERVIEW else _HEADER_FIGURES)
    frame = Frame(request, seq, data.now, clock_ms, data, status_of(data, rules.rules.ranks))
    return READERS[request.screen](reader, frame, rules)


def _with_overview(reader: StoreReader, frame: Frame, rules: RuleConfig) -> Frame:
    advised = frame.status.alerts[:ADVISED]
    advice, *further = [read_advice(reader, alert, rules.rules) for alert in advised] or [AlertAdvice()]
    history = read_overview_history(reader, frame.data)
    return replace(frame, history=history, advice=advice, further=tuple(further))


def _with_list(reader: StoreReader, frame: Frame, _: RuleConfig) -> Frame:
    items = read_items(reader, frame.status, frame.request.kind)
    if frame.request.kind != "channel_initiator":
        return replace(frame, items=items)
    tasks = read_tasks(reader, frame.status, [item.name.owner for item in items])
    return replace(frame, items=with_tasks(items, tasks), tasks=tasks)


def _with_agent(reader: StoreReader, frame: Frame, _: RuleConfig) -> Frame:
    return replace(
        frame,
        items=read_items(reader, frame.status, "agent"),
        store=read_store(reader, frame.status),
        receivers=reader.receivers(),
        consoles=reader.consoles_failing(),
        event_queues=tuple(event_queue_words(reader.event_queues())),
    )


def _with_detail(reader: StoreReader, frame: Frame, rules: RuleConfig) -> Frame:
    request = frame.request
    if request.name is None:
        return frame
    detail = read_object_detail(
        reader, frame.status, rules, request.name, metric=request.metric, span_ms=request.span_ms
    )
    return replace(frame, detail=detail)


def _with_alerts(reader: StoreReader, frame: Frame, rules: RuleConfig) -> Frame:
    found = [each.alert for each in reader.alerts(include_ended=True) if each.alert.started is not None]
    opened = [alert for alert in found if alert.ended is None]
    ended = sorted((alert for alert in found if alert.ended is not None), key=lambda alert: -(alert.ended or 0))
    return replace(
        frame,
        alerts=(*worst_first(opened), *ended[:MOST_ENDED]),
        covered=overshadowed(opened, rules.rules.ranks),
    )


READERS: Mapping[str, Callable[[StoreReader, Frame, RuleConfig], Frame]] = {
    OVERVIEW: _with_overview,
    LIST: _with_list,
    ALERTS: _with_alerts,
    AGENT: _with_agent,
    DETAIL: _with_detail,
}
"""What each screen reads beside the status; each raises StoreError."""
