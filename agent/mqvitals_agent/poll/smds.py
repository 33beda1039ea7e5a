"""INQUIRE_SMDS: each member's shared message data set of each structure, named ``structure/member``."""

from __future__ import annotations

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import string
from mqvitals_agent.poll.columns import Columns
from mqvitals_agent.poll.probe import GROUP, Answer, Probe, Question, Rows, ask, part, wanted
from mqvitals_rules.vocabulary.qsg import SMDS_KIND

DEFINITION = part(SMDS_KIND, "INQUIRE_SMDS")
_COLUMNS = Columns(SMDS_KIND, "INQUIRE_SMDS")


def ask_definition(question: Question) -> bytes:
    """DISPLAY SMDS(*) CFSTRUCT(name)."""
    return ask(
        mq.MQCMD_INQUIRE_SMDS,
        question,
        string(mq.MQCACF_CF_SMDS, "*"),
        string(mq.MQCA_CF_STRUC_NAME, question.name),
    )


def read(answer: Answer, rows: Rows) -> None:
    """One row a structure and member."""
    for item in answer.items:
        member = item.values.get(mq.MQCACF_CF_SMDS)
        structure = item.values.get(mq.MQCA_CF_STRUC_NAME)
        if member and structure and type(member) is str and type(structure) is str:
            rows.put(DEFINITION, GROUP, f"{structure}/{member}", answer.row(_COLUMNS.read(item.values)))


PROBE = Probe(
    mq.MQCMD_INQUIRE_SMDS,
    "INQUIRE_SMDS",
    ask_definition,
    lambda _: (DEFINITION,),
    read,
    wanted(mq.MQCACF_CF_SMDS, mq.MQCA_CF_STRUC_NAME, columns=[_COLUMNS.wanted]),
)
