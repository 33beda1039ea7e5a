"""INQUIRE_Q_MGR: the queue manager's attributes, some of which belong to its channel initiator; INQUIRE_Q_MGR_STATUS elsewhere."""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integers
from mqvitals_agent.poll.columns import Columns, Row
from mqvitals_agent.poll.probe import Answer, Probe, Question, Rows, ask, part, wanted
from mqvitals_rules.snapshot import is_owner_name
from mqvitals_rules.vocabulary import channel_initiator, queue_manager
from mqvitals_rules.vocabulary.metric import Absence

ATTRIBUTES = part(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR")
STATUS = part(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR_STATUS")
CONFIGURED = part(channel_initiator.CHANNEL_INITIATOR_KIND, "INQUIRE_Q_MGR")

_ATTRIBUTES = {
    distributed: Columns(
        queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR", platform="distributed" if distributed else "zos"
    )
    for distributed in (False, True)
}
_CONFIGURED = Columns(channel_initiator.CHANNEL_INITIATOR_KIND, "INQUIRE_Q_MGR")
_STATUS = Columns(queue_manager.QUEUE_MANAGER_KIND, "INQUIRE_Q_MGR_STATUS", platform="distributed")


def ask_attributes(question: Question) -> bytes:
    """DISPLAY QMGR ALL."""
    return ask(mq.MQCMD_INQUIRE_Q_MGR, question, integers(mq.MQIACF_Q_MGR_ATTRS, [mq.MQIACF_ALL]))


def ask_status(question: Question) -> bytes:
    """DISPLAY QMSTATUS ALL, which z/OS does not know."""
    return ask(mq.MQCMD_INQUIRE_Q_MGR_STATUS, question)


def read(answer: Answer, rows: Rows) -> None:
    """The attributes, and what other probes need to know of the queue manager: platform, dead-letter queue, group."""
    item = next(iter(answer.items), None)
    if item is None:
        return
    values = item.values
    distributed = values.get(mq.MQIA_PLATFORM, mq.MQPL_ZOS) != mq.MQPL_ZOS
    rows.distributed[answer.queue_manager] = distributed
    dead_letter_queue = values.get(mq.MQCA_DEAD_LETTER_Q_NAME)
    if type(dead_letter_queue) is str:
        rows.dead_letter_queues[answer.queue_manager] = dead_letter_queue
    group = values.get(mq.MQCA_QSG_NAME)
    if type(group) is str and is_owner_name(group):
        rows.group = group
    columns = _ATTRIBUTES[distributed]
    metrics = columns.read(values)
    totals: Row | None = None
    if not distributed:
        metrics["qsg_joined"] = Absence.FIRST_READING
        name = metrics["qsg_name"]
        totals = {"qsg_joined": int(bool(name.strip())) if type(name) is str else name}
    local = columns.read_times(values, metrics)
    rows.put(ATTRIBUTES, answer.queue_manager, "", answer.row(metrics, local, totals=totals))
    if not distributed:
        rows.put(CONFIGURED, answer.queue_manager, "", answer.row(_CONFIGURED.read(values)))


def read_status(answer: Answer, rows: Rows) -> None:
    """What runs inside the queue manager, and since when."""
    item = next(iter(answer.items), None)
    if item is not None:
        metrics = _STATUS.read(item.values)
        local = _STATUS.read_times(item.values, metrics)
        rows.put(STATUS, answer.queue_manager, "", answer.row(metrics, local))


STATUS_PROBE = Probe(
    mq.MQCMD_INQUIRE_Q_MGR_STATUS,
    "INQUIRE_Q_MGR_STATUS",
    ask_status,
    lambda _: (STATUS,),
    read_status,
    wanted(columns=[_STATUS.wanted]),
)
PROBE = Probe(
    mq.MQCMD_INQUIRE_Q_MGR,
    "INQUIRE_Q_MGR",
    ask_attributes,
    lambda _: (ATTRIBUTES, CONFIGURED),
    read,
    wanted(
        mq.MQIA_PLATFORM,
        mq.MQCA_DEAD_LETTER_Q_NAME,
        mq.MQCA_QSG_NAME,
        columns=[_CONFIGURED.wanted, *(columns.wanted for columns in _ATTRIBUTES.values())],
    ),
)
