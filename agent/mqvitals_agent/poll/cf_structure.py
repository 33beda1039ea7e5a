"""Coupling facility structures: INQUIRE_CF_STRUC_STATUS (summary, backup) and INQUIRE_CF_STRUC. They belong to the group.

The backup is asked for less often than the summary, so it makes readings of its own, named ``INQUIRE_CF_STRUC_STATUS BACKUP``.
"""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.poll import alteration
from mqvitals_agent.poll.columns import Columns
from mqvitals_agent.poll.probe import GROUP, Answer, Part, Probe, Question, Rows, ask, part, wanted
from mqvitals_agent.poll.selection import Selection
from mqvitals_agent.poll.share import percent
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.qsg import CF_STRUCTURE_KIND
from mqvitals_rules.vocabulary.qsg import QSG_KIND as QSG

_ALL = [metric.name for metric in CF_STRUCTURE_KIND.metrics if metric.command == "INQUIRE_CF_STRUC_STATUS"]
_OF_BACKUP = [name for name in _ALL if name.startswith("backup_")]
_OF_SUMMARY = [name for name in _ALL if name not in _OF_BACKUP]

SUMMARY = part(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC_STATUS", only=_OF_SUMMARY)
BACKUP = part(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC_STATUS", only=_OF_BACKUP, label="BACKUP")
DEFINITION = part(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC")
COUNT = part(QSG, "INQUIRE_CF_STRUC")

_COLUMNS = {
    mq.MQIACF_CF_STATUS_SUMMARY: (SUMMARY, Columns(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC_STATUS", only=_OF_SUMMARY)),
    mq.MQIACF_CF_STATUS_BACKUP: (BACKUP, Columns(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC_STATUS", only=_OF_BACKUP)),
}
_DEFINITION = Columns(CF_STRUCTURE_KIND, "INQUIRE_CF_STRUC")


def ask_status(question: Question) -> bytes:
    """DISPLAY CFSTATUS(name) TYPE(SUMMARY), or TYPE(BACKUP) with that part."""
    return ask(
        mq.MQCMD_INQUIRE_CF_STRUC_STATUS,
        question,
        string(mq.MQCA_CF_STRUC_NAME, question.name),
        integer(mq.MQIACF_CF_STATUS_TYPE, question.part or mq.MQIACF_CF_STATUS_SUMMARY),
    )


def ask_definition(question: Question) -> bytes:
    """DISPLAY CFSTRUCT(name)."""
    return ask(mq.MQCMD_INQUIRE_CF_STRUC, question, string(mq.MQCA_CF_STRUC_NAME, question.name))


def _status_parts(selection: Selection) -> tuple[Part, ...]:
    found = _COLUMNS.get(selection.part)
    return () if found is None else (found[0],)


def read_status(answer: Answer, rows: Rows) -> None:
    """One row a structure and part; an item says itself which part it is."""
    for item in answer.items:
        values = item.values
        name = values.get(mq.MQCA_CF_STRUC_NAME)
        kind = values.get(mq.MQIACF_CF_STATUS_TYPE, answer.selection.part)
        found = _COLUMNS.get(kind) if type(kind) is int else None
        if not name or type(name) is not str or found is None:
            continue
        which, columns = found
        metrics = columns.read(values)
        local = columns.read_times(values, metrics)
        if which is SUMMARY:
            metrics["entries_pct"] = percent(metrics["entries_used"], metrics["entries_max"])
        else:
            date = values.get(mq.MQCACF_BACKUP_DATE)
            metrics["backup_made"] = int(bool(date)) if type(date) is str else Absence.NOT_RETURNED
        rows.put(which, GROUP, name, answer.row(metrics, local))


def read_definition(answer: Answer, rows: Rows) -> None:
    """One row a structure, and how many there are when all were asked for."""
    count = 0
    for item in answer.items:
        name = item.values.get(mq.MQCA_CF_STRUC_NAME)
        if not name or type(name) is not str:
            continue
        count += 1
        alteration.note(rows, CF_STRUCTURE_KIND.name, name, answer.queue_manager, item.values)
        metrics = _DEFINITION.read(item.values)
        local = _DEFINITION.read_times(item.values, metrics)
        rows.put(DEFINITION, GROUP, name, answer.row(metrics, local))
    if count and answer.selection.name == "*" and not answer.selection.partial:
        rows.put(COUNT, GROUP, "", answer.row({"structure_count": count}))


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_CF_STRUC_STATUS,
    "INQUIRE_CF_STRUC_STATUS",
    ask_status,
    _status_parts,
    read_status,
    wanted(
        mq.MQCA_CF_STRUC_NAME,
        mq.MQIACF_CF_STATUS_TYPE,
        columns=[columns.wanted for _, columns in _COLUMNS.values()],
    ),
    mq.MQCA_CF_STRUC_NAME,
)
DEFINITION_PROBE = Probe(
    mq.MQCMD_INQUIRE_CF_STRUC,
    "INQUIRE_CF_STRUC",
    ask_definition,
    lambda _: (DEFINITION,),
    read_definition,
    wanted(mq.MQCA_CF_STRUC_NAME, columns=[_DEFINITION.wanted]),
    mq.MQCA_CF_STRUC_NAME,
)
