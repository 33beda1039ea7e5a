"""INQUIRE_CHANNEL_INIT: the channel initiator's tasks and channels in one item, each listener in another."""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.columns import Columns
from mqvitals_agent.poll.probe import Answer, Probe, Question, Rows, ask, part, wanted
from mqvitals_rules.vocabulary.channel_initiator import CHANNEL_INITIATOR_KIND

STATUS = part(CHANNEL_INITIATOR_KIND, "INQUIRE_CHANNEL_INIT")
_COLUMNS = Columns(CHANNEL_INITIATOR_KIND, "INQUIRE_CHANNEL_INIT")


def ask_status(question: Question) -> bytes:
    """DISPLAY CHINIT."""
    return ask(mq.MQCMD_INQUIRE_CHANNEL_INIT, question)


def read(answer: Answer, rows: Rows) -> None:
    """One row: the channel initiator's item and the number of listeners, all and those that do not run."""
    listeners = [s for item in answer.items if type(s := item.values.get(mq.MQIACH_LISTENER_STATUS)) is int]
    item = next((item for item in answer.items if mq.MQIACF_CHINIT_STATUS in item.values), None)
    if item is None:
        return
    metrics = _COLUMNS.read(item.values)
    metrics["listeners"] = len(listeners)
    metrics["listeners_down"] = sum(status != mq.MQSVC_STATUS_RUNNING for status in listeners)
    rows.put(STATUS, answer.queue_manager, "", answer.row(metrics))


PROBE = Probe(
    mq.MQCMD_INQUIRE_CHANNEL_INIT,
    "INQUIRE_CHANNEL_INIT",
    ask_status,
    lambda _: (STATUS,),
    read,
    wanted(mq.MQIACF_CHINIT_STATUS, mq.MQIACH_LISTENER_STATUS, columns=[_COLUMNS.wanted]),
)
