"""What one screen of the terminal interface shows, read from a store in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mqvitals_agent.alerting.configured import pipeline_of, route_tree
from mqvitals_agent.alerting.labels import Labeller
from mqvitals_agent.store.rows.alerts.alert_rows import StoredAlert
from mqvitals_agent.store.rows.journal import JournalEntry
from mqvitals_agent.view.alerts.dispositions import read_dispositions
from mqvitals_agent.view.alerts.handling import AlertSite, Handlings, read_alert_actions
from mqvitals_agent.view.alerts.maintenance import maintenance_spans
from mqvitals_agent.view.alerts.words import AlertAdvice, read_advice, worst_first
from mqvitals_agent.view.figures.table import Item
from mqvitals_agent.view.history.before import Before, read_before
from mqvitals_agent.view.history.comparison import MomentComparison, read_comparison
from mqvitals_agent.view.history.console import event_queue_words
from mqvitals_agent.view.history.heat import Heat, read_heat
from mqvitals_agent.view.history.journal import IN_OTHER_SECTIONS, MOST_RECENT, RECENT_MS
from mqvitals_agent.view.lists.items import read_engines, read_items, read_server, read_store
from mqvitals_agent.view.lists.leaders import LeaderBoard, read_leaders
from mqvitals_agent.view.lists.overview_history import RATE_OF_CHANNELS, OverviewHistory, read_overview_history
from mqvitals_agent.view.lists.tasks import read_tasks, with_tasks
from mqvitals_agent.view.object.card import Pasts, read_pasts
from mqvitals_agent.view.object.detail import ChartedMetric, ObjectDetail, read_object_detail
from mqvitals_agent.view.object.past_alerts import alerts_then
from mqvitals_agent.view.object.unknown_verdicts import UnknownVerdicts, read_unknown_verdicts
from mqvitals_agent.view.status import FIGURES, GroupStatus, StatusData, read_status_data, status_of
from mqvitals_config.settings import Settings
from mqvitals_rules.lifecycle.alert import Alert, AlertKey, overshadowed
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS
from mqvitals_rules.vocabulary.journal import EntryKind

if TYPE_CHECKING:
    from mqvitals_agent.alerting.action import Silence
    from mqvitals_agent.alerting.disposition import Disposition
    from mqvitals_agent.alerting.maintenance import MaintenanceSpan
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
    from mqvitals_rules.ruleset.config import RuleConfig

OVERVIEW, LIST, ALERTS, SILENCES, AGENT, DETAIL = "overview", "list", "alerts", "silences", "agent", "detail"
COMPARISON, UNKNOWN = "comparison", "unknown"
JOURNAL, BEFORE = "journal", "before"
"""The screens."""


MOST_ENDED = 500
"""Ended alerts that the alerts screen lists, the newest."""

MOST_ENTRIES = 1_000
"""Entries of the journal that its screen lists, the newest."""

JOURNAL_MS = 24 * HOUR_MS
"""How far back the journal's screen goes."""

_OBJECT_JOURNAL_MS, _OBJECT_ENTRIES = 7 * 24 * HOUR_MS, 200
"""How far back the journal of an object goes, and how many entries are read of it."""

MOST_ENDED_SILENCES = 50
"""Ended silences that their screen lists, the newest."""

UNSEEN_MS = 24 * HOUR_MS
"""How far back the overview counts alerts that ended before anybody acknowledged them; the alerts screen has all."""

ADVISED = 3
"""The number of alerts, the worst, for which the overview reads the advice."""

_HEADER_FIGURES: Mapping[str, tuple[str, ...]] = {"queue_manager": ("reachable", "reason")}

_OVERVIEW_FIGURES: Mapping[str, tuple[str, ...]] = {**FIGURES, "channel": (*FIGURES["channel"], *RATE_OF_CHANNELS)}
"""Those of the status, and what the rates of messages are made of: of thousands of channels both are read at once."""


class FrameRequest(NamedTuple):
    """What a screen needs.

    ``kind`` for a list (``storage`` means buffer pools and page sets), ``name`` for the detail of an object; ``metric``
    is what its chart shows (empty: the main one of its kind), ``board`` what further charts show, ``span_ms`` the
    length of the charts. ``at`` is the past moment as of which it is read, ms UTC; None: now. ``against`` is the other
    moment of a comparison, ms UTC: of the object ``name``, without one of the group.
    ``alert`` is the number of the alert of which is asked what came before it.
    """

    screen: str = OVERVIEW
    kind: str = ""
    name: ObjectName | None = None
    metric: str = ""
    span_ms: int = HOUR_MS
    at: int | None = None
    against: int | None = None
    board: tuple[ChartedMetric, ...] = ()
    alert: int = 0


class StorePosition(NamedTuple):
    """The newest snapshot, ms UTC, the number of cycles of all owners, and that of the last action of a person."""

    ts: int = 0
    cycles: int = 0
    action: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """What a screen shows. ``now`` is ms UTC (of a replay its last snapshot), ``read_at`` the clock when it was read.

    Every frame has the status, for the header. Only those of their screens have ``items`` (worst first), ``tasks`` (of
    the channel initiators), ``store`` (the agent's own), ``receivers``, ``server`` (the small one), ``engines`` (of remote write), ``consoles`` (files that cannot be followed,
    and why), ``event_queues`` (what there is to say about them), ``detail``, ``history`` (the overview's figures over time), ``advice`` (of the worst alert; ``further``:
    of the next two), ``alerts``: open and ended ones, advice included, with those in ``covered`` that another alert
    covers, ``silences`` with the number of firing alerts that each matches, and ``dispositions``: what becomes of the
    alerts of the detail. ``site`` is what the site says of alerts, ``maintenance`` what is on and planned.
    ``unseen`` counts the warnings and worse of the last day that ended before anybody acknowledged them. The overview
    and the alerts have ``heat``, the states of the last hours; the overview has ``leaders``.
    ``journal`` are its entries, oldest first: of the last minutes, the last day, or of the object; ``before`` is what
    came before an alert.
    ``unknown`` are the verdicts on the list of unknown ones.
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
    server: Item | None = None
    engines: tuple[Item, ...] = ()
    consoles: tuple[tuple[str, str], ...] = ()
    event_queues: tuple[str, ...] = ()
    detail: ObjectDetail | None = None
    alerts: tuple[Alert, ...] = ()
    covered: Mapping[AlertKey, AlertKey] = field(default_factory=dict)
    history: OverviewHistory = field(default_factory=OverviewHistory)
    advice: AlertAdvice = field(default_factory=AlertAdvice)
    further: tuple[AlertAdvice, ...] = ()
    site: AlertSite = field(default_factory=AlertSite)
    maintenance: tuple[MaintenanceSpan, ...] = ()
    unseen: int = 0
    unknown: tuple[UnknownVerdicts, ...] = ()
    silences: tuple[tuple[Silence, int], ...] = ()
    dispositions: tuple[Disposition, ...] = ()
    comparison: MomentComparison | None = None
    """What is different at the other moment of the request."""
    zone: tzinfo = UTC
    """The zone in which its times are shown."""
    heat: Heat = field(default_factory=Heat)
    leaders: tuple[LeaderBoard, ...] = ()
    journal: tuple[JournalEntry, ...] = ()
    before: Before = field(default_factory=Before)
    pasts: Pasts = field(default_factory=dict)
    """Of lists of a few objects their last hour, for the one under the cursor."""

    @property
    def handled(self) -> Handlings:
        """What people did about the alerts."""
        return self.data.handled

    @property
    def labeller(self) -> Labeller:
        """Gives alerts their labels."""
        return self.site.labeller

    def alert_numbered(self, number: int) -> Alert | None:
        """The alert with this number in the store, of those that the frame holds; None: there is none."""
        return next((each for each in (*self.data.alerts, *self.alerts) if self.handled.number(each) == number), None)


_NO_SETTINGS = Settings()


def store_position(reader: StoreReader, at: int | None = None) -> StorePosition:
    """The newest position in the store; cheap to read. A frame with the same ``seq`` shows nothing new but ages.

    As of a past moment ``at`` nothing is ever new. Raises StoreError.
    """
    if at is not None:
        return StorePosition(at)
    owners = reader.owners()
    newest = max((owner.last_ts for owner in owners), default=0)
    return StorePosition(newest, sum(owner.last_cycle for owner in owners), reader.last_action())


def read_frame(
    reader: StoreReader,
    clock_ms: int,
    request: FrameRequest,
    rules: RuleConfig,
    settings: Settings | None = None,
    machine: int | None = None,
) -> Frame:
    """Read what a screen needs, and no more. Raises StoreError.

    ``settings`` give labels, routes and receivers; ``machine`` is the time by which people act, None: ``clock_ms``.
    """
    settings = _NO_SETTINGS if settings is None else settings
    seq = store_position(reader, request.at)
    if request.at is not None:
        reader = reader.as_of(request.at)
    figures = _OVERVIEW_FIGURES if request.screen == OVERVIEW else _HEADER_FIGURES

    data = read_status_data(reader, clock_ms, figures, site_of=partial(AlertSite.of, settings), machine=machine)
    if data.as_of is not None:
        share = rules.rules.cause_share
        data = replace(data, alerts=alerts_then(reader, data.alerts, data.as_of, rules.rules.rule_of, share))
    site = AlertSite.of(settings, [member.name for member in data.members if member.is_group])
    frame = Frame(request, seq, data.now, clock_ms, data, status_of(data, rules.rules.ranks), site=site)
    return READERS[request.screen](reader, frame, rules, settings)


def _with_overview(reader: StoreReader, frame: Frame, rules: RuleConfig, _: Settings) -> Frame:
    advised = frame.status.alerts[:ADVISED]
    advice, *further = [read_advice(reader, alert, rules.rules) for alert in advised] or [AlertAdvice()]
    history = read_overview_history(reader, frame.data, rules.rules)
    unseen = 0 if frame.data.past else reader.count_unseen(frame.now - UNSEEN_MS)
    return replace(
        frame,
        history=history,
        advice=advice,
        further=tuple(further),
        unseen=unseen,
        heat=read_heat(reader, frame.data),
        leaders=read_leaders(reader, rules.rules, history.channel_rates),
        journal=reader.journal(frame.now - RECENT_MS, frame.now, limit=MOST_RECENT),
    )


def _with_journal(reader: StoreReader, frame: Frame, _rules: RuleConfig, _: Settings) -> Frame:
    return replace(frame, journal=reader.journal(frame.now - JOURNAL_MS, frame.now, limit=MOST_ENTRIES))


def _with_before(reader: StoreReader, frame: Frame, _rules: RuleConfig, _: Settings) -> Frame:
    return replace(frame, before=read_before(reader, frame.status, frame.request.alert))


def _with_list(reader: StoreReader, frame: Frame, rules: RuleConfig, _: Settings) -> Frame:
    items = read_items(reader, frame.status, frame.request.kind, rules.rules)
    frame = replace(frame, pasts=read_pasts(reader, items, frame.now))
    if frame.request.kind != "channel_initiator":
        return replace(frame, items=items)
    tasks = read_tasks(reader, frame.status, [item.name.owner for item in items])
    return replace(frame, items=with_tasks(items, tasks), tasks=tasks)


def _with_agent(reader: StoreReader, frame: Frame, _rules: RuleConfig, _: Settings) -> Frame:
    return replace(
        frame,
        items=read_items(reader, frame.status, "agent"),
        store=read_store(reader, frame.status),
        receivers=reader.receivers(),
        server=read_server(reader, frame.status),
        engines=read_engines(reader, frame.status),
        consoles=reader.consoles_failing(),
        event_queues=tuple(event_queue_words(reader.event_queues())),
    )


def _with_detail(reader: StoreReader, frame: Frame, rules: RuleConfig, settings: Settings) -> Frame:
    request = frame.request
    if request.name is None:
        return frame
    detail = read_object_detail(
        reader, frame.status, rules, request.name, metric=request.metric, board=request.board, span_ms=request.span_ms
    )
    journal = reader.journal(
        frame.now - _OBJECT_JOURNAL_MS,
        frame.now,
        objects=(request.name,),
        kinds=frozenset(EntryKind) - IN_OTHER_SECTIONS,
        limit=_OBJECT_ENTRIES,
    )
    dispositions = _dispositions(reader, frame, detail, rules, settings)
    return replace(frame, detail=detail, dispositions=dispositions, journal=journal)


def _dispositions(
    reader: StoreReader, frame: Frame, detail: ObjectDetail, rules: RuleConfig, settings: Settings
) -> tuple[Disposition, ...]:
    """What becomes of the alerts of an object on their way to receivers."""
    handled = frame.data.handled
    stored = [StoredAlert(number, each) for each in detail.alerts if (number := handled.number(each))]
    if not stored or handled.past:
        return ()
    route = route_tree(settings.route, settings.receivers)
    pipeline = pipeline_of(settings.receivers, route, frame.labeller, rules.rules.ranks, frame.site.calendar)
    return tuple(read_dispositions(reader, pipeline, stored, frame.now, handled.now))


def _with_alerts(reader: StoreReader, frame: Frame, rules: RuleConfig, _: Settings) -> Frame:
    stored = [each for each in reader.alerts(include_ended=True) if each.alert.started is not None]
    opened = list(frame.data.alerts)
    ended = sorted(
        (each.alert for each in stored if each.alert.ended is not None), key=lambda alert: -(alert.ended or 0)
    )
    ended = ended[:MOST_ENDED]
    shown = {(alert.key, alert.started) for alert in ended}
    past = [each for each in stored if (each.alert.key, each.alert.started) in shown]
    handled = frame.data.handled
    more = read_alert_actions(past, reader.actions(), frame.labeller, handled.now)
    data = replace(frame.data, handled=replace(handled, actions={**more, **handled.actions}))
    return replace(
        frame,
        data=data,
        status=replace(frame.status, data=data),
        alerts=(*worst_first(opened), *ended),
        heat=read_heat(reader, data),
        covered=overshadowed(opened, rules.rules.ranks),
    )


def _with_silences(reader: StoreReader, frame: Frame, _rules: RuleConfig, _: Settings) -> Frame:
    labels = [frame.labeller.labels_of(alert) for alert in frame.data.alerts]
    silences, now = reader.actions().silences, frame.data.handled.now
    opened = [each for each in silences if each.ends > now]
    ended = sorted((each for each in silences if each.ends <= now), key=lambda one: -one.ends)
    counted = ((each, sum(map(each.matches, labels))) for each in opened)
    maintenance = tuple(maintenance_spans(frame.site.calendar, frame.now))
    return replace(
        frame, maintenance=maintenance, silences=(*counted, *((each, 0) for each in ended[:MOST_ENDED_SILENCES]))
    )


def _with_comparison(reader: StoreReader, frame: Frame, _rules: RuleConfig, _: Settings) -> Frame:
    request = frame.request
    if request.against is None:
        return frame
    # The earlier moment comes first, whichever of them the screen is at.
    # A moment to come is the newest one.
    against = min(request.against, reader.as_of(request.against).last_ts() or request.against)
    here, there = (frame.now, reader), (against, reader.as_of(against))
    (before, then), (after, now) = sorted((here, there), key=lambda each: each[0])
    return replace(frame, comparison=read_comparison(then, now, (before, after), request.name))


def _with_unknown(reader: StoreReader, frame: Frame, rules: RuleConfig, _: Settings) -> Frame:
    return replace(frame, unknown=read_unknown_verdicts(reader, frame.data.unknown, rules))


READERS: Mapping[str, Callable[[StoreReader, Frame, RuleConfig, Settings], Frame]] = {
    OVERVIEW: _with_overview,
    LIST: _with_list,
    ALERTS: _with_alerts,
    SILENCES: _with_silences,
    AGENT: _with_agent,
    DETAIL: _with_detail,
    COMPARISON: _with_comparison,
    JOURNAL: _with_journal,
    BEFORE: _with_before,
    UNKNOWN: _with_unknown,
}
"""What each screen reads beside the status; each raises StoreError."""
