"""INQUIRE_USAGE: page sets, buffer pools, positions in the log, shared message data sets. Each item names its kind."""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import DecodedReply
from mqvitals_agent.pcf.encoder import integer
from mqvitals_agent.poll.columns import MetricColumns, MetricValues, ParameterValues
from mqvitals_agent.poll.probe import GROUP, CycleRows, MemberReport, Probe, percent, probe_part, wanted_parameters
from mqvitals_rules.vocabulary import log, qsg, storage
from mqvitals_rules.vocabulary.metric import Absence, Reported

_COMMAND = "INQUIRE_USAGE"
PAGE_SET = probe_part(storage.PAGE_SET_KIND, _COMMAND)
BUFFER_POOL = probe_part(storage.BUFFER_POOL_KIND, _COMMAND)
POSITIONS = probe_part(log.LOG_KIND, _COMMAND)
DATA_SETS = probe_part(qsg.SMDS_KIND, _COMMAND)

_PAGE_SET = MetricColumns(storage.PAGE_SET_KIND, _COMMAND)
_BUFFER_POOL = MetricColumns(storage.BUFFER_POOL_KIND, _COMMAND)
_DATA_SETS = MetricColumns(qsg.SMDS_KIND, _COMMAND)
_POSITION = {
    mq.MQUSAGE_DS_OLDEST_ACTIVE_UOW: "oldest_uow",
    mq.MQUSAGE_DS_OLDEST_PS_RECOVERY: "page_set_recovery",
    mq.MQUSAGE_DS_OLDEST_CF_RECOVERY: "cf_recovery",
}
_POSITION_PARAMETERS = {
    "rba": mq.MQCACF_USAGE_LOG_RBA,
    "lrsn": mq.MQCACF_USAGE_LOG_LRSN,
    "data_set": mq.MQCACF_DATA_SET_NAME,
}
_OLDEST_UNIT = frozenset(name for name in POSITIONS.metrics if "uow" in name)
"""What the oldest active unit of work has."""
_OF_LOG = frozenset({"uow_span_mb", "oldest_uow_age_s", "uow_in_current_log"})
_PARTS = {
    mq.MQIACF_USAGE_PAGESET: (PAGE_SET, BUFFER_POOL),
    mq.MQIACF_USAGE_DATA_SET: (POSITIONS,),
    mq.MQIACF_USAGE_SMDS: (DATA_SETS,),
    mq.MQIACF_ALL: (PAGE_SET, BUFFER_POOL, POSITIONS, DATA_SETS),
}


def read(answer: MemberReport, rows: CycleRows) -> None:
    """Rows by the kind that each item states."""
    positions: MetricValues = {}
    data_sets: dict[str, list[ParameterValues]] = {}
    for item in answer.items:
        kind = item.get(mq.MQIACF_USAGE_TYPE)
        if kind == mq.MQIACF_USAGE_PAGESET:
            _read_page_set(answer, item, rows)
        elif kind == mq.MQIACF_USAGE_BUFFER_POOL:
            _read_buffer_pool(answer, item, rows)
        elif kind == mq.MQIACF_USAGE_DATA_SET:
            _read_position(item.values, positions)
        elif kind == mq.MQIACF_USAGE_SMDS:
            names = item.get(mq.MQCACF_CF_STRUC_NAMES)
            name = names[0] if type(names) is tuple and names else names
            if name and type(name) is str:
                data_sets.setdefault(name, []).append(item.values)
    if positions or answer.selection.part == mq.MQIACF_USAGE_DATA_SET:
        metrics = {name: positions.get(name, Absence.NOT_RETURNED) for name in POSITIONS.metrics}
        # What takes the state of the log is added where that is known (``ingest/log_figures``).
        metrics |= dict.fromkeys(_OF_LOG, Absence.WINDOW)
        if not positions.keys() & _OLDEST_UNIT:
            # Without an active unit of work there is no such item.
            metrics |= dict.fromkeys(_OLDEST_UNIT, Absence.NOTHING_TO_TELL if answer.whole else Absence.NO_ANSWER)
        rows.put(POSITIONS, answer.queue_manager, "", answer.row(metrics))
    for structure, parts in data_sets.items():
        merged = {number: value for values in parts for number, value in values.items()}
        rows.put(DATA_SETS, GROUP, f"{structure}/{answer.queue_manager}", answer.row(_DATA_SETS.read(merged)))


def _read_page_set(answer: MemberReport, item: DecodedReply, rows: CycleRows) -> None:
    number = item.get(mq.MQIA_PAGESET_ID)
    if type(number) is not int:
        return
    metrics = _PAGE_SET.read_item(item)
    total, unused = metrics["total_pages"], metrics["unused_pages"]
    used: Reported = total - unused if type(total) is int and type(unused) is int else unused
    metrics["used_pct"] = percent(used, total)
    totals = {name: metrics[name] for name in _PAGE_SET.counters}
    rows.put(PAGE_SET, answer.queue_manager, str(number), answer.row(metrics, totals=totals))


def _read_buffer_pool(answer: MemberReport, item: DecodedReply, rows: CycleRows) -> None:
    number = item.get(mq.MQIACF_BUFFER_POOL_ID)
    if type(number) is not int:
        return
    metrics = _BUFFER_POOL.read_item(item)
    metrics["worst_free_pct"] = metrics["free_pct"]  # the interval's low is reported by SMF only
    rows.put(BUFFER_POOL, answer.queue_manager, str(number), answer.row(metrics))


def _read_position(values: ParameterValues, positions: MetricValues) -> None:
    kind = values.get(mq.MQIACF_USAGE_DATA_SET_TYPE)
    prefix = _POSITION.get(kind) if type(kind) is int else None
    if prefix is None:
        return
    for name, number in _POSITION_PARAMETERS.items():
        value = values.get(number)
        if f"{prefix}_{name}" in POSITIONS.metrics:
            positions[f"{prefix}_{name}"] = value if type(value) is str else Absence.NOT_RETURNED


PROBE = Probe(
    mq.MQCMD_INQUIRE_USAGE,
    read,
    lambda selection: _PARTS.get(selection.part, ()),
    wanted_parameters(
        mq.MQIACF_USAGE_TYPE,
        mq.MQIA_PAGESET_ID,
        mq.MQIACF_BUFFER_POOL_ID,
        mq.MQIACF_USAGE_DATA_SET_TYPE,
        mq.MQCACF_USAGE_LOG_RBA,
        mq.MQCACF_USAGE_LOG_LRSN,
        mq.MQCACF_DATA_SET_NAME,
        mq.MQCACF_CF_STRUC_NAMES,
        columns=[_PAGE_SET.wanted, _BUFFER_POOL.wanted, _DATA_SETS.wanted],
    ),
    parameters=lambda options: (integer(mq.MQIACF_USAGE_TYPE, options.part or mq.MQIACF_USAGE_PAGESET),),
)

PROBES = (PROBE,)
