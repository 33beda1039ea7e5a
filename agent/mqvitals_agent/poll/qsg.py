"""INQUIRE_QSG: the queue-sharing group, one item a member."""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.columns import Values
from mqvitals_agent.poll.probe import GROUP, Answer, Probe, Question, Rows, ask, part, wanted
from mqvitals_rules.snapshot import is_owner_name
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.qsg import QSG_KIND

MEMBERS = part(QSG_KIND, "INQUIRE_QSG")
_STATUS = {0: "UNKNOWN", 1: "CREATED", 2: "ACTIVE", 3: "INACTIVE", 4: "FAILED", 5: "PENDING"}
"""MQQSGS."""


def ask_members(question: Question) -> bytes:
    """DISPLAY GROUP."""
    return ask(mq.MQCMD_INQUIRE_QSG, question)


def read(answer: Answer, rows: Rows) -> None:
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
        "members_failed": states.count(mq.MQQSGS_FAILED),
        "db2_active": sum(values.get(mq.MQIACF_DB2_CONN_STATUS) == mq.MQQSGS_ACTIVE for values in members),
        "lowest_command_level": min(levels) if levels else Absence.NOT_RETURNED,
        "members": ", ".join(sorted(map(_member, members))),
    }
    rows.put(MEMBERS, GROUP, "", answer.row(metrics))


def _member(values: Values) -> str:
    status = values.get(mq.MQIACF_Q_MGR_STATUS)
    word = _STATUS.get(status, str(status)) if type(status) is int else "UNKNOWN"
    return f"{values[mq.MQCA_Q_MGR_NAME]!s} {word}"


PROBE = Probe(
    mq.MQCMD_INQUIRE_QSG,
    "INQUIRE_QSG",
    ask_members,
    lambda _: (MEMBERS,),
    read,
    wanted(
        mq.MQCA_Q_MGR_NAME,
        mq.MQCA_QSG_NAME,
        mq.MQIA_COMMAND_LEVEL,
        mq.MQIACF_Q_MGR_STATUS,
        mq.MQIACF_DB2_CONN_STATUS,
    ),
)
