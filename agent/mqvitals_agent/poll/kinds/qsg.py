"""The queue-sharing group: its members (INQUIRE_QSG), coupling facility structures and shared message data sets.

INQUIRE_CF_STRUC_STATUS is asked for its parts: backups, connections and data sets less often than the summary, and each
makes readings of its own. Changes of the
group's definitions are counted over a day; a deleted definition counts until its last alteration is a day ago.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.columns import MetricColumns, MetricValues, ParameterValues
from mqvitals_agent.poll.local_time import local_ms
from mqvitals_agent.poll.probe import (
    GROUP,
    CycleRows,
    MemberReport,
    Probe,
    QueryOptions,
    percent,
    probe_part,
    wanted_parameters,
)
from mqvitals_rules.snapshot import is_owner_name
from mqvitals_rules.timestamps import DAY_MS
from mqvitals_rules.vocabulary.metric import CF_STATUS, Absence, Reported
from mqvitals_rules.vocabulary.qsg import CF_STRUCTURE_KIND, QSG_KIND, SMDS_CONNECTION_KIND, SMDS_KIND
from mqvitals_rules.vocabulary.qsg import QSG_KIND as QSG

_BEHIND_MS = 12 * 3_600_000
"""No time zone is further behind UTC: what is older than a day and this is so everywhere."""
CHANGES = probe_part(QSG_KIND, "INQUIRE_Q")

DefinitionKey = tuple[str, str]
"""What sort of definition, and its name."""


class AlterationTime(NamedTuple):
    """When a definition was altered, in the local time of the queue manager that answered."""

    member: str
    local_ms: int


def note_alteration(rows: CycleRows, sort: str, name: str, member: str, values: ParameterValues) -> None:
    """Keep when a definition of the group was altered, where its item has that."""
    found = local_ms(values.get(mq.MQCA_ALTERATION_DATE), values.get(mq.MQCA_ALTERATION_TIME))
    if found is not None:
        rows.altered[sort, name] = (member, found)


class AlterationCounter:
    """Alterations of the group's definitions within the last day."""

    def __init__(self) -> None:
        self._recent: dict[DefinitionKey, AlterationTime] = {}

    def note(self, altered: Mapping[DefinitionKey, tuple[str, int]]) -> None:
        """Add those of a cycle."""
        self._recent.update((key, AlterationTime(*each)) for key, each in altered.items())

    def count(self, now: int, utc: Callable[[str, int], int | None]) -> Reported:
        """How many were altered within a day before ``now`` (ms UTC).

        ``utc``: a queue manager's local time as UTC; None while its time zone is not known, then the count is absent.
        """
        self._recent = {key: each for key, each in self._recent.items() if now - each.local_ms < DAY_MS + _BEHIND_MS}
        moments = {key: utc(*each) for key, each in self._recent.items()}
        if None in moments.values():
            return Absence.TIME_ZONE_UNKNOWN
        self._recent = {key: self._recent[key] for key, at in moments.items() if at is not None and now - at < DAY_MS}
        return len(self._recent)


MEMBERS = probe_part(QSG_KIND, "INQUIRE_QSG")
_STATUS = {0: "UNKNOWN", 1: "CREATED", 2: "ACTIVE", 3: "INACTIVE", 4: "FAILED", 5: "PENDING"}
"""MQQSGS."""


def read_members(answer: MemberReport, rows: CycleRows) -> None:
    """One row: how many members there are, and how they are."""
    members = [item.values for item in answer.items if mq.MQCA_Q_MGR_NAME in item.values]
    if not members:
        return
    name = next(
        (text for values in members if type(text := values.get(mq.MQCA_QSG_NAME)) is str and is_owner_name(text)), ""
    )
    rows.group = name or rows.group
    levels = [level for values in members if type(level := values.get(mq.MQIA_COMMAND_LEVEL)) is int]
    states = [values.get(mq.MQIACF_Q_MGR_STATUS) for values in members]
    metrics: dict[str, Reported] = {
        "name": name or Absence.NOT_RETURNED,
        "qmgr_count": len(members),
        "members_active": states.count(mq.MQQSGS_ACTIVE),
        "members_inactive": states.count(mq.MQQSGS_INACTIVE),
        "members_failed": states.count(mq.MQQSGS_FAILED),
        "inactive_members": _names(members, mq.MQIACF_Q_MGR_STATUS, mq.MQQSGS_INACTIVE),
        "failed_members": _names(members, mq.MQIACF_Q_MGR_STATUS, mq.MQQSGS_FAILED),
        "db2_active": sum(values.get(mq.MQIACF_DB2_CONN_STATUS) == mq.MQQSGS_ACTIVE for values in members),
        "members_without_db2": _names(
            [each for each in members if each.get(mq.MQIACF_DB2_CONN_STATUS) != mq.MQQSGS_ACTIVE],
            mq.MQIACF_Q_MGR_STATUS,
            mq.MQQSGS_ACTIVE,
        ),
        "lowest_command_level": min(levels) if levels else Absence.NOT_RETURNED,
        "command_levels": len(set(levels)) if levels else Absence.NOT_RETURNED,
        "members": ", ".join(sorted(map(_member, members))),
    }
    rows.active_members = frozenset(
        str(values[mq.MQCA_Q_MGR_NAME]) for values in members if values.get(mq.MQIACF_Q_MGR_STATUS) == mq.MQQSGS_ACTIVE
    )
    rows.put(MEMBERS, GROUP, "", answer.row(metrics))


def _names(members: Iterable[ParameterValues], metric: int, wanted: int) -> str:
    """The names of the members with that state, in their order."""
    return ", ".join(sorted(str(each[mq.MQCA_Q_MGR_NAME]) for each in members if each.get(metric) == wanted))


def _member(values: ParameterValues) -> str:
    status = values.get(mq.MQIACF_Q_MGR_STATUS)
    word = _STATUS.get(status, str(status)) if type(status) is int else "UNKNOWN"
    return f"{values[mq.MQCA_Q_MGR_NAME]!s} {word}"


QSG_PROBE = Probe(
    mq.MQCMD_INQUIRE_QSG,
    read_members,
    lambda _: (MEMBERS,),
    wanted_parameters(
        mq.MQCA_Q_MGR_NAME,
        mq.MQCA_QSG_NAME,
        mq.MQIA_COMMAND_LEVEL,
        mq.MQIACF_Q_MGR_STATUS,
        mq.MQIACF_DB2_CONN_STATUS,
    ),
)


_CF_STATUS = "INQUIRE_CF_STRUC_STATUS"
_ALL = [metric.name for metric in CF_STRUCTURE_KIND.metrics if metric.command == _CF_STATUS]
_OF_BACKUP = [name for name in _ALL if name.startswith("backup_")]
_OF_CONNECTIONS = [name for name in _ALL if name == "members_connected" or "connections" in name]
_OF_SUMMARY = [name for name in _ALL if name not in (*_OF_BACKUP, *_OF_CONNECTIONS)]

CF_SUMMARY = probe_part(CF_STRUCTURE_KIND, _CF_STATUS, only=_OF_SUMMARY)
CF_BACKUP = probe_part(CF_STRUCTURE_KIND, _CF_STATUS, only=_OF_BACKUP, label="BACKUP")
CF_CONNECTIONS = probe_part(CF_STRUCTURE_KIND, _CF_STATUS, only=_OF_CONNECTIONS, label="CONNECT")
SMDS_STATE = probe_part(SMDS_KIND, _CF_STATUS, label="SMDS")
CF_DEFINITION = probe_part(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC")
CF_COUNT = probe_part(QSG, "INQUIRE_CF_STRUC")

_PARTS = {
    mq.MQIACF_CF_STATUS_SUMMARY: CF_SUMMARY,
    mq.MQIACF_CF_STATUS_BACKUP: CF_BACKUP,
    mq.MQIACF_CF_STATUS_CONNECT: CF_CONNECTIONS,
    mq.MQIACF_CF_STATUS_SMDS: SMDS_STATE,
}
_SUMMARY = MetricColumns(CF_STRUCTURE_KIND, _CF_STATUS, only=_OF_SUMMARY)
_BACKUP = MetricColumns(CF_STRUCTURE_KIND, _CF_STATUS, only=_OF_BACKUP)
_SMDS_STATE = MetricColumns(SMDS_KIND, _CF_STATUS)
_CF_STATUS_WORDS = {number: word for word, number in CF_STATUS.items()}
_DEFINITION = MetricColumns(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC")


def _status_parameters(options: QueryOptions) -> tuple[Parameter, ...]:
    part = options.part or mq.MQIACF_CF_STATUS_SUMMARY
    return string(mq.MQCA_CF_STRUC_NAME, options.name), integer(mq.MQIACF_CF_STATUS_TYPE, part)


def read_cf_status(answer: MemberReport, rows: CycleRows) -> None:
    """One row a structure and part, or a data set; each item names its part."""
    connections: dict[str, dict[str, int | Absence]] = {}
    for item in answer.items:
        values = item.values
        name = values.get(mq.MQCA_CF_STRUC_NAME)
        kind = values.get(mq.MQIACF_CF_STATUS_TYPE, answer.selection.part)
        if not name or type(name) is not str:
            continue
        if kind == mq.MQIACF_CF_STATUS_SUMMARY:
            metrics = _SUMMARY.read(values)
            local = _SUMMARY.read_times(values, metrics)
            metrics["entries_pct"] = percent(metrics["entries_used"], metrics["entries_max"])
            rows.put(CF_SUMMARY, GROUP, name, answer.row(metrics, local))
        elif kind == mq.MQIACF_CF_STATUS_BACKUP:
            metrics = _BACKUP.read(values)
            local = _BACKUP.read_times(values, metrics)
            date = values.get(mq.MQCACF_BACKUP_DATE)
            metrics["backup_made"] = int(bool(date)) if type(date) is str else Absence.NOT_RETURNED
            rows.put(CF_BACKUP, GROUP, name, answer.row(metrics, local))
        elif kind == mq.MQIACF_CF_STATUS_SMDS:
            _read_smds_state(answer, values, name, rows)
        elif kind == mq.MQIACF_CF_STATUS_CONNECT:
            member, status = values.get(mq.MQCA_Q_MGR_NAME), values.get(mq.MQIACF_CF_STRUC_STATUS)
            if member and type(member) is str:
                known = status if type(status) is int else Absence.NOT_RETURNED
                connections.setdefault(name, {})[member] = known
    for name, members in connections.items():
        rows.put(CF_CONNECTIONS, GROUP, name, answer.row(_connection_metrics(members)))


def _read_smds_state(answer: MemberReport, values: ParameterValues, structure: str, rows: CycleRows) -> None:
    owner = values.get(mq.MQCACF_CF_SMDS)
    if owner and type(owner) is str:
        metrics = _SMDS_STATE.read(values)
        local = _SMDS_STATE.read_times(values, metrics)
        rows.put(SMDS_STATE, GROUP, f"{structure}/{owner}", answer.row(metrics, local))


def _connection_metrics(members: Mapping[str, int | Absence]) -> MetricValues:
    """What the group's queue managers report of their connections to one structure."""
    known = {name: status for name, status in sorted(members.items()) if not isinstance(status, Absence)}
    if len(known) < len(members):
        return dict.fromkeys(CF_CONNECTIONS.metrics, Absence.NOT_RETURNED)
    failed = [name for name, status in known.items() if status == mq.MQCFSTATUS_FAILED]
    return {
        "members_connected": sum(status == mq.MQCFSTATUS_ACTIVE for status in known.values()),
        "connections_failed": len(failed),
        "failed_connections": ", ".join(failed),
        "connections": ", ".join(f"{name} {_CF_STATUS_WORDS.get(each, str(each))}" for name, each in known.items()),
    }


def read_cf_definition(answer: MemberReport, rows: CycleRows) -> None:
    """One row a structure, and how many there are when all were asked for."""
    count = 0
    for item in answer.items:
        name = item.values.get(mq.MQCA_CF_STRUC_NAME)
        if not name or type(name) is not str:
            continue
        count += 1
        note_alteration(rows, CF_STRUCTURE_KIND.name, name, answer.queue_manager, item.values)
        metrics = _DEFINITION.read(item.values)
        local = _DEFINITION.read_times(item.values, metrics)
        rows.put(CF_DEFINITION, GROUP, name, answer.row(metrics, local))
    if count and answer.selection.name == "*" and not answer.selection.partial:
        rows.put(CF_COUNT, GROUP, "", answer.row({"structure_count": count}))


CF_STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS,
    read_cf_status,
    lambda selection: (_PARTS[selection.part],) if selection.part in _PARTS else (),
    wanted_parameters(
        mq.MQCA_CF_STRUC_NAME,
        mq.MQIACF_CF_STATUS_TYPE,
        mq.MQCACF_CF_SMDS,
        mq.MQCA_Q_MGR_NAME,
        columns=[_SUMMARY.wanted, _BACKUP.wanted, _SMDS_STATE.wanted],
    ),
    mq.MQCA_CF_STRUC_NAME,
    _status_parameters,
)
CF_DEFINITION_PROBE = Probe(
    mq.MQCMD_INQUIRE_CF_STRUC,
    read_cf_definition,
    lambda _: (CF_DEFINITION,),
    wanted_parameters(mq.MQCA_CF_STRUC_NAME, columns=[_DEFINITION.wanted]),
    mq.MQCA_CF_STRUC_NAME,
    lambda options: (string(mq.MQCA_CF_STRUC_NAME, options.name),),
)


SMDS = probe_part(SMDS_KIND, "INQUIRE_SMDS")
_SMDS_COLUMNS = MetricColumns(SMDS_KIND, "INQUIRE_SMDS")


def read_smds(answer: MemberReport, rows: CycleRows) -> None:
    """One row a structure and member."""
    for item in answer.items:
        member = item.values.get(mq.MQCACF_CF_SMDS)
        structure = item.values.get(mq.MQCA_CF_STRUC_NAME)
        if member and structure and type(member) is str and type(structure) is str:
            rows.put(SMDS, GROUP, f"{structure}/{member}", answer.row(_SMDS_COLUMNS.read(item.values)))


SMDS_PROBE = Probe(
    mq.MQCMD_INQUIRE_SMDS,
    read_smds,
    lambda _: (SMDS,),
    wanted_parameters(mq.MQCACF_CF_SMDS, mq.MQCA_CF_STRUC_NAME, columns=[_SMDS_COLUMNS.wanted]),
    parameters=lambda options: (string(mq.MQCACF_CF_SMDS, "*"), string(mq.MQCA_CF_STRUC_NAME, options.name)),
)

SMDS_CONNECTION = probe_part(SMDS_CONNECTION_KIND, "INQUIRE_SMDSCONN")
_CONNECTION_COLUMNS = MetricColumns(SMDS_CONNECTION_KIND, "INQUIRE_SMDSCONN")


def read_smds_connections(answer: MemberReport, rows: CycleRows) -> None:
    """One row a data set to which the queue manager that answers is, or could be, connected."""
    for item in answer.items:
        owner = item.values.get(mq.MQCACF_CF_SMDSCONN)
        structure = item.values.get(mq.MQCA_CF_STRUC_NAME)
        if owner and structure and type(owner) is str and type(structure) is str:
            name = f"{structure}/{owner}"
            metrics = _CONNECTION_COLUMNS.read(item.values)
            metrics["data_set"] = name
            rows.put(SMDS_CONNECTION, answer.queue_manager, name, answer.row(metrics))


SMDS_CONNECTION_PROBE = Probe(
    mq.MQCMD_INQUIRE_SMDSCONN,
    read_smds_connections,
    lambda _: (SMDS_CONNECTION,),
    wanted_parameters(mq.MQCACF_CF_SMDSCONN, mq.MQCA_CF_STRUC_NAME, columns=[_CONNECTION_COLUMNS.wanted]),
    parameters=lambda options: (string(mq.MQCACF_CF_SMDSCONN, "*"), string(mq.MQCA_CF_STRUC_NAME, options.name)),
)

PROBES = (CF_STATUS_PROBE, CF_DEFINITION_PROBE, QSG_PROBE, SMDS_PROBE, SMDS_CONNECTION_PROBE)
