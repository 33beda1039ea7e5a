"""Queues: INQUIRE_Q_STATUS for status, INQUIRE_Q for definitions, INQUIRE_STG_CLASS for their page sets.

A private queue belongs to the queue manager that answered. A shared queue is one object of the group: every member
reports the same depth and its own handles and times. Definitions of disposition GROUP are templates and no queues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll import qsg
from mqvitals_agent.poll.columns import MetricColumns, MetricValues, ParameterPicker, ParameterValues
from mqvitals_agent.poll.probe import (
    CycleRows,
    MemberReport,
    ObjectRow,
    Probe,
    ProbePart,
    QueryOptions,
    RequestSelection,
    pcf_request,
    probe_part,
    wanted_parameters,
)
from mqvitals_rules.plan.page_sets import message_pages
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

STATUS = probe_part(QUEUE_KIND, "INQUIRE_Q_STATUS")
DEFINITION = probe_part(QUEUE_KIND, "INQUIRE_Q")
SUMMED = ("input_handles", "output_handles")
"""Of a shared queue, each member reports its own handles."""

_STATUS = {
    distributed: MetricColumns(QUEUE_KIND, "INQUIRE_Q_STATUS", platform="distributed" if distributed else "zos")
    for distributed in (False, True)
}
_DEFINITION = {
    distributed: MetricColumns(QUEUE_KIND, "INQUIRE_Q", platform="distributed" if distributed else "zos")
    for distributed in (False, True)
}

_PICK = ParameterPicker(mq.MQCA_Q_NAME, mq.MQIA_MONITORING_Q, mq.MQIA_QSG_DISP)


def ask_status(question: QueryOptions) -> bytes:
    """DISPLAY QSTATUS(name) TYPE(QUEUE), by default with the shared queues."""
    return pcf_request(
        mq.MQCMD_INQUIRE_Q_STATUS,
        question,
        string(mq.MQCA_Q_NAME, question.name),
        integer(mq.MQIACF_Q_STATUS_TYPE, question.part or mq.MQIACF_Q_STATUS),
        *_disposition(question),
    )


def ask_definition(question: QueryOptions) -> bytes:
    """DISPLAY QLOCAL(name), by default with the shared queues."""
    return pcf_request(
        mq.MQCMD_INQUIRE_Q,
        question,
        string(mq.MQCA_Q_NAME, question.name),
        integer(mq.MQIA_Q_TYPE, mq.MQQT_LOCAL),
        *_disposition(question),
    )


def _disposition(question: QueryOptions) -> tuple[Parameter, ...]:
    return () if question.disposition is None else (integer(mq.MQIA_QSG_DISP, question.disposition),)


def ask_storage_class(question: QueryOptions) -> bytes:
    """DISPLAY STGCLASS(name)."""
    return pcf_request(mq.MQCMD_INQUIRE_STG_CLASS, question, string(mq.MQCA_STORAGE_CLASS, question.name))


def _status_parts(selection: RequestSelection) -> tuple[ProbePart, ...]:
    return (STATUS,) if selection.part == mq.MQIACF_Q_STATUS else ()


def read_status(answer: MemberReport, rows: CycleRows) -> None:
    """One row a queue; handles (the other part of this command) are not read."""
    if answer.selection.part != mq.MQIACF_Q_STATUS:
        return
    columns = _STATUS[answer.distributed]
    off, on = Absence.NOT_COLLECTED, Absence.NOTHING_TO_TELL
    newest = 0
    for item in answer.items:
        name, level, disposition = _PICK(item)
        if not name or type(name) is not str:
            continue
        monitored = type(level) is int and level > 0
        metrics = columns.read_item(item, monitored=monitored)
        local = columns.read_item_times(item, metrics, on if monitored else off)
        for seen in local:
            newest = max(newest, seen.ms)
        row = answer.row(metrics, local)
        if disposition == mq.MQQSGD_SHARED:
            rows.put_shared(STATUS, name, row)
        elif disposition != mq.MQQSGD_GROUP:
            rows.put(STATUS, answer.queue_manager, name, row)
    rows.see(answer, newest)


def read_definition(answer: MemberReport, rows: CycleRows) -> None:
    """One row a local queue; templates and other types are left out."""
    columns = _DEFINITION[answer.distributed]
    for item in answer.items:
        values = item.values
        name = values.get(mq.MQCA_Q_NAME)
        disposition = values.get(mq.MQIA_QSG_DISP)
        if name and type(name) is str and disposition in (mq.MQQSGD_SHARED, mq.MQQSGD_GROUP):
            qsg.note_alteration(rows, QUEUE_KIND.name, name, answer.queue_manager, values)
        if (
            not name
            or type(name) is not str
            or disposition == mq.MQQSGD_GROUP
            or values.get(mq.MQIA_Q_TYPE, mq.MQQT_LOCAL) != mq.MQQT_LOCAL
        ):
            continue
        metrics = columns.read(values)
        row = answer.row(metrics, columns.read_times(values, metrics))
        longest = metrics["max_msg_length"]
        if not answer.distributed:
            metrics["max_msg_pages"] = message_pages(longest) if type(longest) is int else longest
        number = values.get(mq.MQIA_PAGESET_ID)
        metrics["page_set"] = number if type(number) is int else Absence.NOT_ASKED
        metrics["buffer_pool"] = Absence.NOT_ASKED
        if not answer.distributed:
            metrics["index_entries"] = _indexed(values)
        if disposition == mq.MQQSGD_SHARED:
            metrics["page_set"] = metrics["buffer_pool"] = metrics["index_entries"] = Absence.NOTHING_TO_TELL
            rows.put_shared(DEFINITION, name, row)
        else:
            rows.put(DEFINITION, answer.queue_manager, name, row)


def relate_storage(values: MetricValues, storage_classes: Mapping[str, int], buffer_pools: Mapping[int, int]) -> None:
    """Add a private queue's page set, by its storage class, and that page set's buffer pool, as far as known."""
    name = values.get("storage_class")
    if type(name) is str and name in storage_classes:
        values["page_set"] = storage_classes[name]
    page_set = values["page_set"]
    if type(page_set) is int and page_set in buffer_pools:
        values["buffer_pool"] = buffer_pools[page_set]


def _indexed(values: ParameterValues) -> Reported:
    """The messages in the index of a private queue: all of an indexed one's."""
    index, depth = values.get(mq.MQIA_INDEX_TYPE), values.get(mq.MQIA_CURRENT_Q_DEPTH)
    if type(index) is not int or type(depth) is not int:
        return Absence.NOT_RETURNED
    return 0 if index == mq.MQIT_NONE else depth


def read_storage_classes(answer: MemberReport, rows: CycleRows) -> None:
    """Storage class to page set, templates left out: queues are joined to their page sets by it."""
    classes = rows.storage_classes.setdefault(answer.queue_manager, {})
    for item in answer.items:
        name = item.values.get(mq.MQCA_STORAGE_CLASS)
        page_set = item.values.get(mq.MQIA_PAGESET_ID)
        if type(name) is str and type(page_set) is int and item.values.get(mq.MQIA_QSG_DISP) != mq.MQQSGD_GROUP:
            classes[name] = page_set


Age = Callable[[ObjectRow, int], Reported]
"""How long ago a local time of a row's queue manager was, s, or why that is not known."""


def combine_status(members: Mapping[str, ObjectRow], age: Age) -> ObjectRow:
    """A shared queue from what its members report: the newest depth, the sum of the handles, the newest times.

    Members may live in different time zones: the ages decide which time is the newest. Only where no zone is known the
    times themselves are compared.
    """
    rows = sorted(members.values(), key=lambda row: row.at)
    newest = rows[-1]
    if len(rows) == 1:
        return newest
    values = dict(newest.values)
    for name in SUMMED:
        numbers = [number for row in rows if type(number := row.values.get(name)) is int]
        if numbers:
            values[name] = sum(numbers)
    for times in _STATUS[False].times:
        found = [(age(row, seen.ms), seen.ms, row) for row in rows for seen in row.local if seen.age == times.age]
        if not found:
            continue
        known = [(-old, ms, row) for old, ms, row in found if type(old) is int]
        _, ms, row = max(known or [(0, ms, row) for _, ms, row in found], key=lambda triple: triple[:2])
        values[times.text] = row.values[times.text]
        values[times.age] = age(row, ms)
    return ObjectRow(values, newest.whole, newest.own, newest.at, newest.now, newest.member)


def combine_definition(members: Mapping[str, ObjectRow], _: Age) -> ObjectRow:
    """A shared queue's definition is the same from every member: the newest."""
    return max(members.values(), key=lambda row: row.at)


COMBINE = {STATUS: combine_status, DEFINITION: combine_definition}
"""How the members' rows of a shared queue become one."""

STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q_STATUS,
    "INQUIRE_Q_STATUS",
    ask_status,
    _status_parts,
    read_status,
    wanted_parameters(
        mq.MQCA_Q_NAME, mq.MQIA_QSG_DISP, mq.MQIA_MONITORING_Q, columns=[c.wanted for c in _STATUS.values()]
    ),
    mq.MQCA_Q_NAME,
)
DEFINITION_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q,
    "INQUIRE_Q",
    ask_definition,
    lambda _: (DEFINITION,),
    read_definition,
    wanted_parameters(
        mq.MQCA_Q_NAME,
        mq.MQIA_QSG_DISP,
        mq.MQIA_Q_TYPE,
        mq.MQIA_PAGESET_ID,
        mq.MQIA_CURRENT_Q_DEPTH,
        columns=[c.wanted for c in _DEFINITION.values()],
    ),
    mq.MQCA_Q_NAME,
)
STORAGE_CLASS_PROBE = Probe(
    mq.MQCMD_INQUIRE_STG_CLASS,
    "INQUIRE_STG_CLASS",
    ask_storage_class,
    lambda _: (),
    read_storage_classes,
    wanted_parameters(mq.MQCA_STORAGE_CLASS, mq.MQIA_PAGESET_ID, mq.MQIA_QSG_DISP),
)

PROBES = (STATUS_PROBE, DEFINITION_PROBE, STORAGE_CLASS_PROBE)
