"""INQUIRE_LOG, INQUIRE_ARCHIVE and INQUIRE_SYSTEM: items of several types.

Parameters come twice: as they were at start (INITIAL), and those that were changed since (SET), which override.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import DecodedReply
from mqvitals_agent.pcf.message import Value
from mqvitals_agent.poll.columns import LocalTimes, MetricColumns, MetricValues
from mqvitals_agent.poll.probe import CycleRows, MemberReport, Probe, probe_part, wanted_parameters
from mqvitals_rules.timestamps import moved_by_zone
from mqvitals_rules.vocabulary import log, queue_manager
from mqvitals_rules.vocabulary.metric import Absence, Reported

LOG = probe_part(log.LOG_KIND, "INQUIRE_LOG")
START = probe_part(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_LOG")
ARCHIVE = probe_part(log.LOG_KIND, "INQUIRE_ARCHIVE")
SYSTEM = probe_part(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_SYSTEM")
SYSTEM_LOG = probe_part(log.LOG_KIND, "INQUIRE_SYSTEM")

_LOG = MetricColumns(log.LOG_KIND, "INQUIRE_LOG")
_START = MetricColumns(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_LOG")
_ARCHIVE = MetricColumns(log.LOG_KIND, "INQUIRE_ARCHIVE")
_SYSTEM = MetricColumns(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_SYSTEM")
_SYSTEM_LOG = MetricColumns(log.LOG_KIND, "INQUIRE_SYSTEM")
_FIGURES = tuple(name for name in LOG.metrics if name.startswith("rba_"))
_RBA = frozenset("0123456789ABCDEFabcdef")


def _of(items: Sequence[DecodedReply], kind: int) -> list[dict[int, Value]]:
    return [item.values for item in items if item.values.get(mq.MQIACF_SYSP_TYPE) == kind]


def _parameters(items: Sequence[DecodedReply]) -> dict[int, Value]:
    """What is in force: what was set since start over what was there at start."""
    merged: dict[int, Value] = {}
    for kind in (mq.MQSYSP_TYPE_INITIAL, mq.MQSYSP_TYPE_SET):
        for values in _of(items, kind):
            merged.update(values)
    return merged


def read_log(answer: MemberReport, rows: CycleRows) -> None:
    """The log's parameters, copies and status in one row; when the queue manager started in another."""
    merged = _parameters(answer.items)
    for values in _of(answer.items, mq.MQSYSP_TYPE_LOG_STATUS):
        merged.update(values)
    metrics = _LOG.read(merged)
    copies = {
        number: values
        for values in _of(answer.items, mq.MQSYSP_TYPE_LOG_COPY)
        if type(number := values.get(mq.MQIACF_SYSP_LOG_COPY)) is int
    }
    used = [share for values in copies.values() if type(share := values.get(mq.MQIACF_SYSP_LOG_USED)) is int]
    metrics["used_pct"] = max(used) if used else Absence.NOT_RETURNED
    metrics["copies"] = len(copies)
    for number in (1, 2):
        name = copies.get(number, {}).get(mq.MQCACF_DATA_SET_NAME)
        metrics[f"data_set_copy{number}"] = name if type(name) is str else Absence.NOTHING_TO_TELL
    metrics["written_bytes"] = Absence.FIRST_READING
    # What takes the past or declared facts is added where these are known (``ingest/log_figures``).
    metrics |= dict.fromkeys(_FIGURES, Absence.WINDOW)
    totals: MetricValues = {"written_bytes": position(metrics["rba"])}
    rows.put(LOG, answer.queue_manager, "", answer.row(metrics, totals=totals))
    start: MetricValues = {"restarts": Absence.FIRST_READING}
    local = _START.read_times(merged, start)
    rows.put(START, answer.queue_manager, "", answer.row(start, local))


class RestartCounter:
    """When each queue manager was started, as its last answer told: another time is a restart."""

    def __init__(self) -> None:
        self._started: dict[str, int] = {}

    def count(self, queue_manager: str, values: Mapping[str, Reported], local: LocalTimes) -> Reported:
        """1 where it was started again since its last answer, else 0; absent at the first, and where no start is told."""
        started = local.get("uptime_s")
        if started is None:
            told = values.get("start_ts", Absence.NOT_RETURNED)
            return told if isinstance(told, Absence) else Absence.NOT_RETURNED
        before = self._started.get(queue_manager)
        self._started[queue_manager] = started
        if before is None:
            return Absence.FIRST_READING
        # The same start is told in local time, which another zone moves.
        return int(not moved_by_zone(started - before))


def position(rba: Reported) -> Reported:
    """A log position, hexadecimal text, as a number of bytes."""
    if type(rba) is str and 0 < len(rba) <= 16 and _RBA.issuperset(rba):
        return int(rba, 16)
    return rba if isinstance(rba, Absence) else Absence.NOT_RETURNED


def read_archive(answer: MemberReport, rows: CycleRows) -> None:
    """The archiving parameters and the tape units in one row."""
    metrics = _ARCHIVE.read(_parameters(answer.items))
    tapes = _of(answer.items, mq.MQSYSP_TYPE_ARCHIVE_TAPE)
    metrics["tape_units"] = len(tapes)
    metrics["tape_units_busy"] = sum(
        values.get(mq.MQIACF_SYSP_UNIT_STATUS) == mq.MQSYSP_STATUS_BUSY for values in tapes
    )
    rows.put(ARCHIVE, answer.queue_manager, "", answer.row(metrics))


def read_system(answer: MemberReport, rows: CycleRows) -> None:
    """The system parameters: most are the queue manager's, two the log's."""
    merged = _parameters(answer.items)
    rows.put(SYSTEM, answer.queue_manager, "", answer.row(_SYSTEM.read(merged)))
    rows.put(SYSTEM_LOG, answer.queue_manager, "", answer.row(_SYSTEM_LOG.read(merged)))


LOG_PROBE = Probe(
    mq.MQCMD_INQUIRE_LOG,
    read_log,
    lambda _: (LOG, START),
    wanted_parameters(
        mq.MQIACF_SYSP_TYPE,
        mq.MQIACF_SYSP_LOG_COPY,
        mq.MQIACF_SYSP_LOG_USED,
        mq.MQCACF_DATA_SET_NAME,
        columns=[_LOG.wanted, _START.wanted],
    ),
)
ARCHIVE_PROBE = Probe(
    mq.MQCMD_INQUIRE_ARCHIVE,
    read_archive,
    lambda _: (ARCHIVE,),
    wanted_parameters(mq.MQIACF_SYSP_TYPE, mq.MQIACF_SYSP_UNIT_STATUS, columns=[_ARCHIVE.wanted]),
)
SYSTEM_PROBE = Probe(
    mq.MQCMD_INQUIRE_SYSTEM,
    read_system,
    lambda _: (SYSTEM, SYSTEM_LOG),
    wanted_parameters(mq.MQIACF_SYSP_TYPE, columns=[_SYSTEM.wanted, _SYSTEM_LOG.wanted]),
)

PROBES = (LOG_PROBE, ARCHIVE_PROBE, SYSTEM_PROBE)
