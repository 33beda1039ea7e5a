"""Queues: INQUIRE_Q_STATUS for status, INQUIRE_Q for definitions, INQUIRE_STG_CLASS for their page sets.

A private queue belongs to the queue manager that answered. A shared queue is one object of the group: see
``shared_queues``. Definitions of disposition GROUP are templates and no queues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, string
from mqvitals_agent.pcf.message import Parameter
from mqvitals_agent.poll.columns import MetricValues, ParameterPicker, ParameterValues, columns_by_platform
from mqvitals_agent.poll.kinds import qsg
from mqvitals_agent.poll.kinds.storage import PAGE_SET
from mqvitals_agent.poll.probe import (
    CycleRows,
    MemberReport,
    ObjectRow,
    Probe,
    QueryOptions,
    StorageClass,
    attribute_list,
    probe_part,
    wanted_parameters,
)
from mqvitals_agent.poll.selection import QueryResult
from mqvitals_rules.plan.page_sets import message_pages
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

STATUS = probe_part(QUEUE_KIND, "INQUIRE_Q_STATUS")
DEFINITION = probe_part(QUEUE_KIND, "INQUIRE_Q")
HANDLES = {"input_handles": "input_handles_least", "output_handles": "output_handles_least"}
"""Of a shared queue each member reports its own handles: metrics of all of them, and of those that are known at least."""
_ALL_KNOWN = dict.fromkeys((*HANDLES.values(), "handles_unknown_of"), Absence.NOTHING_TO_TELL)

USUAL_MS = 4 * 3_600_000
"""So long ago counts a third of now; and after so long without a reader a queue is no longer usually read."""
_MOST_MS = 600_000
"""What one answer tells of the time before it, at most: after a pause of the agent nobody knows how it was meanwhile."""

_STATUS = columns_by_platform(QUEUE_KIND, "INQUIRE_Q_STATUS")
STATUS_TIMES = _STATUS[False].times
_DEFINITION = columns_by_platform(QUEUE_KIND, "INQUIRE_Q")

_PICK = ParameterPicker(mq.MQCA_Q_NAME, mq.MQIA_MONITORING_Q, mq.MQIA_QSG_DISP)
_READ_OF_DEFINITION = (
    mq.MQCA_Q_NAME,
    mq.MQIA_QSG_DISP,
    mq.MQIA_Q_TYPE,
    mq.MQIA_PAGESET_ID,
    mq.MQIA_CURRENT_Q_DEPTH,
    mq.MQCA_ALTERATION_DATE,
    mq.MQCA_ALTERATION_TIME,
)
# Without its disposition a shared queue would be taken for one of each member: it is asked for.
_ASKED_STATUS = _STATUS[False].wanted | {mq.MQIA_MONITORING_Q, mq.MQIA_QSG_DISP}
_ASKED_DEFINITION = _DEFINITION[False].wanted.union(_READ_OF_DEFINITION)
_ALWAYS_STATUS = frozenset({mq.MQCA_Q_NAME})
_ALWAYS_DEFINITION = frozenset({mq.MQCA_Q_NAME, mq.MQIA_Q_TYPE, mq.MQIA_QSG_DISP})
"""Attributes that are returned whichever are asked for."""


def _status_parameters(options: QueryOptions) -> tuple[Parameter, ...]:
    part = integer(mq.MQIACF_Q_STATUS_TYPE, options.part or mq.MQIACF_Q_STATUS)
    attributes = attribute_list(options, mq.MQIACF_Q_STATUS_ATTRS, _ASKED_STATUS, _ALWAYS_STATUS)
    return string(mq.MQCA_Q_NAME, options.name), part, *attributes, *_disposition(options)


def _definition_parameters(options: QueryOptions) -> tuple[Parameter, ...]:
    local = integer(mq.MQIA_Q_TYPE, mq.MQQT_LOCAL)
    attributes = attribute_list(options, mq.MQIACF_Q_ATTRS, _ASKED_DEFINITION, _ALWAYS_DEFINITION)
    return string(mq.MQCA_Q_NAME, options.name), local, *attributes, *_disposition(options)


def _disposition(options: QueryOptions) -> tuple[Parameter, ...]:
    return () if options.disposition is None else (integer(mq.MQIA_QSG_DISP, options.disposition),)


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
        metrics.update(_ALL_KNOWN)
        local = columns.read_item_times(item, metrics, on if monitored else off)
        for told in local.values():
            if told > newest:
                newest = told
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
        metrics["buffer_pool"] = metrics["xcf_member"] = Absence.NOT_ASKED
        if not answer.distributed:
            metrics["index_entries"] = _indexed(values)
        if disposition == mq.MQQSGD_SHARED:
            for metric in ("page_set", "buffer_pool", "xcf_member", "index_entries"):
                metrics[metric] = Absence.NOTHING_TO_TELL
            rows.put_shared(DEFINITION, name, row)
        else:
            rows.put(DEFINITION, answer.queue_manager, name, row)


class QueueStorage:
    """Where private queues lie: storage classes, the buffer pools of page sets, and the page sets of SYSTEM queues alone."""

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, StorageClass]] = {}
        self._pools: dict[str, dict[int, int]] = {}
        self._system_page_sets: dict[str, Mapping[int, bool]] = {}

    def learn(self, rows: CycleRows, asked: Mapping[str, Sequence[QueryResult]]) -> None:
        """Take in the rows of a cycle; ``asked``: by queue manager what its queries about definitions came to."""
        for owner, classes in rows.storage_classes.items():
            self._classes.setdefault(owner, {}).update(classes)
        for owner, page_sets in rows.reported.get(PAGE_SET, {}).items():
            pools = self._pools.setdefault(owner, {})
            for number, row in page_sets.items():
                if type(pool := row.values["buffer_pool"]) is int:
                    pools[int(number)] = pool
        for owner, questions in asked.items():
            found = None
            # Not known unless a whole answer has every private queue.
            if any(each.absence is None and each.selection.selects_all for each in questions):
                definitions = rows.reported.get(DEFINITION, {}).get(owner, {})
                found = _of_system_queues(definitions, self._classes.get(owner, {}))
            if found is None:
                self._system_page_sets.pop(owner, None)
            else:
                self._system_page_sets[owner] = found

    def relate(self, owner: str, values: MetricValues) -> None:
        """Add what a private queue's storage class says, and its page set's buffer pool, as far as known."""
        classes, buffer_pools = self._classes.get(owner, {}), self._pools.get(owner, {})
        known = classes.get(str(values.get("storage_class")))
        if known is not None:
            values["xcf_member"] = Absence.NOT_RETURNED if known.xcf_member is None else known.xcf_member
        page_set = values["page_set"] = _page_set(values, classes)
        if type(page_set) is int and page_set in buffer_pools:
            values["buffer_pool"] = buffer_pools[page_set]

    def system_queues_only(self, owner: str, pool: str) -> Reported:
        """Whether all queues in a buffer pool are SYSTEM queues, or why that is not known."""
        page_sets = self._system_page_sets.get(owner)
        if page_sets is None:
            return Absence.NOT_ASKED
        found = [
            page_sets[each] for each, of in self._pools.get(owner, {}).items() if str(of) == pool and each in page_sets
        ]
        return int(all(found)) if found else Absence.NOTHING_TO_TELL


def _page_set(values: Mapping[str, Reported], storage_classes: Mapping[str, StorageClass]) -> Reported:
    known = storage_classes.get(str(values.get("storage_class")))
    return values["page_set"] if known is None else known.page_set


def _of_system_queues(
    definitions: Mapping[str, ObjectRow], storage_classes: Mapping[str, StorageClass]
) -> Mapping[int, bool] | None:
    """Of each page set with queues whether all of them are SYSTEM queues; None where a queue's page set is not known."""
    found: dict[int, bool] = {}
    for name, row in definitions.items():
        page_set = _page_set(row.values, storage_classes)
        if type(page_set) is not int:
            return None
        found[page_set] = found.get(page_set, True) and name.startswith("SYSTEM.")
    return found


def _indexed(values: ParameterValues) -> Reported:
    """The messages in the index of a private queue: all of an indexed one's."""
    index, depth = values.get(mq.MQIA_INDEX_TYPE), values.get(mq.MQIA_CURRENT_Q_DEPTH)
    if type(index) is not int or type(depth) is not int:
        return Absence.NOT_RETURNED
    return 0 if index == mq.MQIT_NONE else depth


def read_storage_classes(answer: MemberReport, rows: CycleRows) -> None:
    """The storage classes, templates left out: queues are joined to their page sets by them."""
    classes = rows.storage_classes.setdefault(answer.queue_manager, {})
    for item in answer.items:
        name = item.values.get(mq.MQCA_STORAGE_CLASS)
        page_set = item.values.get(mq.MQIA_PAGESET_ID)
        if type(name) is str and type(page_set) is int and item.values.get(mq.MQIA_QSG_DISP) != mq.MQQSGD_GROUP:
            member = item.values.get(mq.MQCA_XCF_MEMBER_NAME)
            classes[name] = StorageClass(page_set, member.strip() if type(member) is str else None)


@lru_cache(maxsize=64)
def _kept(elapsed_ms: int) -> float:
    """What still counts after this time; for thousands of queues it is the same time."""
    return exp(-elapsed_ms / USUAL_MS)


@dataclass(slots=True)
class UsualReaders:
    """What is usual of a queue, from the agent's first minutes on: medians of hours need hours of history.

    ``known`` is for how much of the last hours it was known, ``read`` for how much of these it was open for input. Both end when its last reader went, so that the outage itself does not become what is usual. ``unread_ms`` is the
    time since, which is added when a reader returns.
    """

    known: float = 0.0
    read: float = 0.0
    unread_ms: int = 0

    def note(self, *, is_read: bool, since_ms: int) -> bool:
        """Note how it was for ``since_ms`` until now; returns whether it is usually read."""
        elapsed = min(since_ms, _MOST_MS)
        if not is_read:
            self.unread_ms += elapsed
        else:
            if self.unread_ms:
                self._add(self.unread_ms, 0.0)
                self.unread_ms = 0
            self._add(elapsed, 1.0)
        return 2 * self.read > self.known and self.unread_ms < USUAL_MS

    def _add(self, elapsed_ms: int, share: float) -> None:
        kept = _kept(elapsed_ms)
        self.known = self.known * kept + 1 - kept
        self.read = self.read * kept + (1 - kept) * share


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q_STATUS,
    read_status,
    lambda selection: (STATUS,) if selection.part == mq.MQIACF_Q_STATUS else (),
    wanted_parameters(
        mq.MQCA_Q_NAME, mq.MQIA_QSG_DISP, mq.MQIA_MONITORING_Q, columns=[c.wanted for c in _STATUS.values()]
    ),
    mq.MQCA_Q_NAME,
    _status_parameters,
)
DEFINITION_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q,
    read_definition,
    lambda _: (DEFINITION,),
    wanted_parameters(
        *_READ_OF_DEFINITION,
        columns=[c.wanted for c in _DEFINITION.values()],
    ),
    mq.MQCA_Q_NAME,
    _definition_parameters,
)
STORAGE_CLASS_PROBE = Probe(
    mq.MQCMD_INQUIRE_STG_CLASS,
    read_storage_classes,
    lambda _: (),
    wanted_parameters(mq.MQCA_STORAGE_CLASS, mq.MQIA_PAGESET_ID, mq.MQIA_QSG_DISP, mq.MQCA_XCF_MEMBER_NAME),
    parameters=lambda options: (string(mq.MQCA_STORAGE_CLASS, options.name),),
)

PROBES = (STATUS_PROBE, DEFINITION_PROBE, STORAGE_CLASS_PROBE)
