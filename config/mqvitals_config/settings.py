"""Every setting there is, as frozen dataclasses with their defaults.

Only the form is checked here. Rule ids, parameters, patterns and the names of states are ``LocatedText`` that keep
their place, so that ``mqvitals_rules`` can report what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from mqvitals_config.decoding.problem import LocatedText, Place, Problem, repeated
from mqvitals_config.decoding.scalars import display_name
from mqvitals_config.decoding.schema import Convert, Doc, duration_within
from mqvitals_config.receivers.template import LINK_FORM, link_template
from mqvitals_config.receivers.types import AnyReceiver
from mqvitals_config.sections.alerting import (
    LabelSettings,
    RouteNames,
    RouteSettings,
    known_labels,
    route_contradictions,
)
from mqvitals_config.sections.collection import (
    ConsoleSettings,
    PollingSettings,
    SmfSettings,
    console_contradictions,
    event_contradictions,
)
from mqvitals_config.sections.connection import ConnectionSettings, ObjectText, connection_contradictions
from mqvitals_config.sections.facts import FactSettings
from mqvitals_config.sections.fleet import FleetGroupSettings, fleet_contradictions
from mqvitals_config.sections.history import HistorySettings, history_contradictions
from mqvitals_config.sections.maintenance import MaintenanceSettings, maintenance_contradictions
from mqvitals_config.sections.remote_write import RemoteWriteSettings, remote_write_contradictions
from mqvitals_config.sections.reports import ReportSettings, report_contradictions
from mqvitals_config.sections.rules import RuleSettings
from mqvitals_config.sections.serve import ServeSettings, serve_contradictions
from mqvitals_config.sections.standby import StandbySettings, standby_contradictions
from mqvitals_config.sections.store import StoreSettings
from mqvitals_config.sections.time_intervals import TimeIntervalSettings, TimeZone, interval_contradictions

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
SymbolSet = Literal["braille", "block", "ascii"]


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The lines that the agent writes about itself to standard error."""

    format: Annotated[
        LogFormat,
        Doc("Lines for people, or one JSON object a line.", "MQVITALS_LOG_FORMAT", "--log-format"),
    ] = "text"
    level: Annotated[
        LogLevel,
        Doc("The lowest level that is written.", "MQVITALS_LOG_LEVEL"),
    ] = "info"


@dataclass(frozen=True, slots=True)
class TuiSettings:
    """The full-screen interface."""

    bell: Annotated[
        bool,
        Doc(
            "Ring the terminal's bell once for each critical alert that begins and that nobody has acknowledged or silenced."
        ),
    ] = False
    symbols: Annotated[
        SymbolSet | None,
        Doc(
            "What charts, meters, frames and signs are drawn with: braille dots, blocks where a font has no braille, or ASCII alone.",
            "MQVITALS_SYMBOLS",
            "--symbols",
            default="by the terminal's locale: braille where it is one of UTF-8, else ascii",
        ),
    ] = None
    time_zone: Annotated[
        TimeZone | None,
        Doc(
            "The zone in which times are shown and read: an IANA name or an offset from UTC.", default="the terminal's"
        ),
    ] = None
    fleet_interval: Annotated[
        Annotated[int, duration_within(1_000, 600_000, "must be from 1s to 10m")],
        Doc("How often the screen of the fleet asks all groups.", default="10s"),
    ] = 10_000


def owner_name(text: LocatedText) -> LocatedText:
    """A name that can begin an object's whole name, such as ``PRDQSG``; raises ValueError."""
    if "/" in text:
        raise ValueError("this name cannot hold a '/', which separates the parts of an object's name")
    return display_name(text)


OwnerName = Annotated[LocatedText, Convert(owner_name)]


@dataclass(frozen=True, slots=True)
class QueueManager:
    """One queue manager of the group and its settings."""

    name: Annotated[OwnerName, Doc("The queue manager's name.")]
    time_zone: Annotated[
        TimeZone | None,
        Doc("The zone of its local times, where it differs from the group's `time_zone`.", default="that of the group"),
    ] = None
    connection: Annotated[
        ConnectionSettings | None,
        Doc("How it is reached: any key of `connection`, where it differs.", default="as the group"),
    ] = None
    statistics_queue: Annotated[
        ObjectText | None,
        Doc(
            "Where a distributed queue manager puts its statistics messages: SYSTEM.ADMIN.STATISTICS.QUEUE. A destructive read:"
            " messages are taken from that queue and are gone, so no other program may read it. Not for z/OS, which writes none.",
            default="none are read",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one queue-sharing group."""

    name: Annotated[
        OwnerName | None,
        Doc(
            "Your name for the queue-sharing group. Objects of the whole group have it as their owner, such as"
            " `PRDQSG/cf_structure/APPL1`.",
            "MQVITALS_NAME",
            default="the name in the recording, else the queue-sharing group's own",
        ),
    ] = None
    time_zone: Annotated[
        TimeZone | None,
        Doc(
            "The zone of the queue managers' local times: an IANA name or an offset from UTC.",
            "MQVITALS_TIME_ZONE",
            default="derived from the newest times that a queue manager shows",
        ),
    ] = None
    connection: Annotated[
        ConnectionSettings, Doc("How queue managers are reached; each queue manager can override it.")
    ] = field(default_factory=ConnectionSettings)
    queue_managers: Annotated[
        tuple[QueueManager, ...], Doc("The queue managers of the group and their own settings.")
    ] = ()
    polling: Annotated[PollingSettings, Doc("What is polled, and how often.")] = field(default_factory=PollingSettings)
    receivers: Annotated[tuple[AnyReceiver, ...], Doc("Receivers of alert notifications.")] = ()
    labels: Annotated[
        tuple[LabelSettings, ...],
        Doc("Labels of your own, by object. Alerts carry them, and routes and silences can match them."),
    ] = ()
    route: Annotated[
        RouteSettings | None,
        Doc(
            "The tree of routes that leads alerts to receivers, written as Alertmanager's. 'mqvitals alerts route' shows it.",
            default="every receiver gets what its `min_severity` allows",
        ),
    ] = None
    link: Annotated[
        Annotated[LocatedText, Convert(link_template, LINK_FORM)] | None,
        Doc(
            "Your own page about an alert, which messages link to: an address with the alert's parts in it; see `mqvitals help"
            " templates`.",
            default="no link",
        ),
    ] = None
    time_intervals: Annotated[
        tuple[TimeIntervalSettings, ...],
        Doc("Times that come again, for routes that are muted or active during them; written as Alertmanager's."),
    ] = ()
    maintenance: Annotated[
        tuple[MaintenanceSettings, ...],
        Doc(
            "Maintenance windows: nothing is notified about what they are about. 'mqvitals maintenance list' shows them."
        ),
    ] = ()
    reports: Annotated[
        tuple[ReportSettings, ...],
        Doc("Handovers that are sent to receivers at set times; see `mqvitals help handover`."),
    ] = ()
    remote_write: Annotated[
        tuple[RemoteWriteSettings, ...],
        Doc(
            "Engines that all samples are sent to by Prometheus' remote write protocol, with its keys; see `mqvitals help"
            " prometheus`. Changes take effect at the next start."
        ),
    ] = ()
    history: Annotated[
        HistorySettings,
        Doc(
            "Where `mqvitals trend`, charts and baselines read samples that the store no longer holds; see `mqvitals help"
            " prometheus`. Of the agent changes take effect at the next start."
        ),
    ] = field(default_factory=HistorySettings)
    serve: Annotated[ServeSettings, Doc("What the agent serves over HTTP: metrics for Prometheus, and its status.")] = (
        field(default_factory=ServeSettings)
    )
    fleet: Annotated[
        tuple[FleetGroupSettings, ...],
        Doc("The groups that `mqvitals fleet` and `mqvitals top --fleet` show together; see `mqvitals help screen`."),
    ] = ()
    log: Annotated[LogSettings, Doc("The lines that the agent writes about itself to standard error.")] = field(
        default_factory=LogSettings
    )
    tui: Annotated[TuiSettings, Doc("The full-screen interface, `mqvitals top`.")] = field(default_factory=TuiSettings)
    store: Annotated[StoreSettings, Doc("Where samples and alerts are kept.")] = field(default_factory=StoreSettings)
    standby: Annotated[
        StandbySettings | None,
        Doc(
            "Two agents for this group, each with a store of its own, one of which waits; see `mqvitals help standby`. `{}` turns it on.",
            default="this agent is the only one",
        ),
    ] = None
    smf: Annotated[SmfSettings, Doc("SMF records of z/OS, and how they come to the agent.")] = field(
        default_factory=SmfSettings
    )
    console: Annotated[ConsoleSettings, Doc("Console messages of z/OS, and where they come from.")] = field(
        default_factory=ConsoleSettings
    )
    rules: Annotated[RuleSettings, Doc("Which rules are in force, and how they are tuned.")] = field(
        default_factory=RuleSettings
    )
    facts: Annotated[FactSettings, Doc("Facts that no command reports and only the site knows.")] = field(
        default_factory=FactSettings
    )

    def connection_of(self, queue_manager: QueueManager) -> ConnectionSettings:
        """How a queue manager is reached: its own settings over the group's."""
        own = queue_manager.connection
        return self.connection if own is None else own.completed_by(self.connection)

    def time_zone_of(self, queue_manager: str) -> str | None:
        """The declared zone of a queue manager's local times, None when there is none."""
        own = (entry.time_zone for entry in self.queue_managers if entry.name == queue_manager)
        return next((zone for zone in own if zone), self.time_zone)


def contradictions(settings: Settings, places: Mapping[str, Place] | None = None) -> Iterator[Problem]:
    """Settings that are valid by themselves and contradict each other. ``places`` says where each key stands."""
    for key, named in (("queue_managers", settings.queue_managers), ("receivers", settings.receivers)):
        for index, name, first in repeated(entry.name for entry in named):
            message = f"{name} occurs twice, first on line {first.place.line}"
            yield Problem(name.place, f"{key}[{index}].name", message)
    for index, queue_manager in enumerate(settings.queue_managers):
        way = settings.connection_of(queue_manager)
        yield from connection_contradictions(way, queue_manager.name, f"queue_managers[{index}]")
        statistics = queue_manager.statistics_queue
        if statistics is not None and not way.is_reachable:
            message = f"{queue_manager.name} has no connection of its own, so {statistics} cannot be read"
            yield Problem(statistics.place, f"queue_managers[{index}].statistics_queue", message)
        if statistics is not None and statistics in (way.reply_queue, way.command_queue):
            message = f"{statistics} is already the reply queue or the command queue"
            yield Problem(statistics.place, f"queue_managers[{index}].statistics_queue", message)
    yield from standby_contradictions(
        settings.standby, [(each.name, settings.connection_of(each)) for each in settings.queue_managers]
    )
    yield from console_contradictions(settings.console)
    yield from event_contradictions(settings.polling.events)
    yield from interval_contradictions(settings.time_intervals)
    labels = known_labels(settings.labels)
    yield from maintenance_contradictions(
        settings.maintenance,
        settings.time_zone,
        [str(each.name) for each in settings.queue_managers],
        labels,
        places or {},
    )
    if settings.route is not None:
        receivers = [str(each.name) for each in settings.receivers if each.takes_alerts]
        others = [str(each.name) for each in settings.receivers if not each.takes_alerts]
        intervals = [str(each.name) for each in settings.time_intervals]
        yield from route_contradictions(settings.route, RouteNames(receivers, labels, intervals, places or {}, others))
    yield from serve_contradictions(settings.serve, places or {})
    yield from report_contradictions(settings.reports, settings.receivers)
    yield from remote_write_contradictions(settings.remote_write)
    yield from fleet_contradictions(settings.fleet)
    yield from history_contradictions(settings.history, settings.remote_write, places or {})
    group = settings.store.group
    if group is not None and not settings.store.mode & 0o060:
        message = f"mode {settings.store.mode} gives the group {group} no access; set store.mode to 0660"
        yield Problem(group.place, "store.group", message)
