"""The queue-sharing group as a whole."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.entry import answer, gauge, text
from mqvitals_rules.vocabulary.metric import Kind

_MEMBERS = answer(
    "INQUIRE_QSG",
    text("name", "the group's name in MQ, at most four characters",
         pcf="MQCA_QSG_NAME", mqsc="QSGNAME"),
    gauge("qmgr_count", "count", "queue managers defined in the group",
          computed="the number of members in the answer"),
    gauge("members_active", "count", "members that are active",
          pcf="MQIACF_Q_MGR_STATUS", computed="the number of members with status ACTIVE"),
    gauge("members_failed", "count", "members that have failed and may hold up others",
          pcf="MQIACF_Q_MGR_STATUS", computed="the number of members with status FAILED"),
    gauge("db2_active", "count", "members with an active connection to Db2",
          pcf="MQIACF_DB2_CONN_STATUS", computed="the number of members whose Db2 connection is ACTIVE"),
    gauge("lowest_command_level", "number", "lowest command level of the members; decides what the group can use",
          pcf="MQIA_COMMAND_LEVEL", computed="the lowest of the members"),
    text("members", "the members and their status",
         pcf="MQCA_Q_MGR_NAME", computed="name and status of each member, in the order of their names"),
)

_STRUCTURES = answer(
    "INQUIRE_CF_STRUC",
    gauge("structure_count", "count", "application structures of the group",
          computed="the number of structures in the answer"),
)

_CHANGES = (
    gauge("altered_1d", "count",
          "definitions of shared queues, group queues and structures last changed within 24 hours",
          command="INQUIRE_Q", platform="zos", computed="from date and time of the alterations and the time zones"),
)

_DECLARED = (
    gauge("cf_busy_pct", "pct", "how busy the busiest coupling facility of the group is, as RMF reports it", platform="zos",
          declared=True, needed=True),
    gauge("cfcc_level", "number", "lowest level of coupling facility code", platform="zos", declared=True, needed=True),
    gauge("sysplex_structures", "count", "structures of all sorts in the sysplex", platform="zos", declared=True),
)

KIND = Kind(
    name="qsg",
    meaning="the queue-sharing group",
    poll="INQUIRE_QSG",
    metrics=(*_MEMBERS, *_STRUCTURES, *_CHANGES, *_DECLARED),
    single=True,
    of_group=True,
)
