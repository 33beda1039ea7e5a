"""The group's things: structures, shared message data sets, the group itself, and what the group is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

STATUS = mq.MQCMD_INQUIRE_CF_STRUC_STATUS
BACKUP = QueryOptions(part=mq.MQIACF_CF_STATUS_BACKUP)


def summary(name: str, used: int = 120_098) -> dict[int, Any]:
    """A structure's summary item."""
    return {
        mq.MQCA_CF_STRUC_NAME: name.ljust(12),
        mq.MQIACF_CF_STATUS_TYPE: mq.MQIACF_CF_STATUS_SUMMARY,
        mq.MQIACF_CF_STRUC_STATUS: 1,
        mq.MQIACF_CF_STRUC_ENTRIES_MAX: 200_000,
        mq.MQIACF_CF_STRUC_ENTRIES_USED: used,
        mq.MQCACF_FAIL_DATE: "",
        mq.MQCACF_FAIL_TIME: "",
    }


def backup(name: str) -> dict[int, Any]:
    """A structure's backup item."""
    return {
        mq.MQCA_CF_STRUC_NAME: name,
        mq.MQIACF_CF_STATUS_TYPE: mq.MQIACF_CF_STATUS_BACKUP,
        mq.MQCACF_BACKUP_DATE: "2026-11-20",
        mq.MQCACF_BACKUP_TIME: "12.43.00",
        mq.MQIACF_CF_STRUC_BACKUP_SIZE: 212,
        mq.MQCACF_CF_STRUC_LOG_Q_MGRS: ["QM01", "QM02"],
    }


SMDS = QueryOptions(part=mq.MQIACF_CF_STATUS_SMDS)


def data_set(structure: str, owner: str, status: int = mq.MQCFSTATUS_ACTIVE) -> dict[int, Any]:
    """A data set's item of CFSTATUS TYPE(SMDS); one that has failed since a moment, and is suspended."""
    failed = status == mq.MQCFSTATUS_FAILED
    return {
        mq.MQCA_CF_STRUC_NAME: structure,
        mq.MQIACF_CF_STATUS_TYPE: mq.MQIACF_CF_STATUS_SMDS,
        mq.MQCACF_CF_SMDS: owner,
        mq.MQIACF_CF_STRUC_STATUS: status,
        mq.MQIACF_CF_STRUC_ACCESS: mq.MQCFACCESS_SUSPENDED if failed else mq.MQCFACCESS_ENABLED,
        mq.MQCACF_FAIL_DATE: "2026-11-20" if failed else "",
        mq.MQCACF_FAIL_TIME: "12.43.00" if failed else "",
        mq.MQCACF_RECOVERY_DATE: "",
        mq.MQCACF_RECOVERY_TIME: "",
    }


def connection(structure: str, owner: str, status: int) -> dict[int, Any]:
    """A data set's item of SMDSCONN."""
    return {
        mq.MQCACF_CF_SMDSCONN: owner,
        mq.MQCA_CF_STRUC_NAME: structure,
        mq.MQIACF_SMDS_STATUS: status,
        mq.MQIACF_SMDS_AVAIL: mq.MQS_AVAIL_NORMAL,
    }


def member(name: str, status: int = mq.MQQSGS_ACTIVE, level: int = 940) -> dict[int, Any]:
    """A member's item of INQUIRE_QSG."""
    return {
        mq.MQCA_QSG_NAME: "PRDQ",
        mq.MQCA_Q_MGR_NAME: name,
        mq.MQIACF_Q_MGR_STATUS: status,
        mq.MQIA_COMMAND_LEVEL: level,
        mq.MQIACF_DB2_CONN_STATUS: status,
    }


def test_structures_belong_to_the_group(talk: Talk) -> None:
    """Whoever is asked, a structure stands under the group's name, once."""
    talk.ask(STATUS, [summary("APPL1"), summary("CSQ_ADMIN", 58)])
    talk.ask(STATUS, [summary("APPL1", 120_100), summary("CSQ_ADMIN", 58)], queue_manager="QM02")
    told = talk.end()
    reading = told.reading("PRDQSG/cf_structure/APPL1")
    assert reading.poll
    assert reading.values["entries_pct"] == 60.05
    assert reading.values["fail_ts"] is Absence.NOTHING_TO_TELL
    assert told.snapshots[-1].group
    assert told.owners() == ["QM01", "QM02", "PRDQSG"]


def test_summary_and_backup_are_readings_of_their_own(talk: Talk) -> None:
    """Only the summary is a poll; a backup asked for less often does not wipe out the rest."""
    talk.ask(STATUS, [summary("APPL1")])
    talk.ask(STATUS, [backup("APPL1")], question=BACKUP)
    told = talk.end()
    polled, kept = told.readings("PRDQSG/cf_structure/APPL1")
    assert (polled.probe, polled.poll) == ("INQUIRE_CF_STRUC_STATUS", True)
    assert (kept.probe, kept.poll) == ("INQUIRE_CF_STRUC_STATUS BACKUP", False)
    assert kept.values["backup_ts"] == "2026-11-20 12.43.00"
    assert kept.values["backup_logs"] == "QM01 QM02"
    assert "entries_used" not in kept.values


def test_backup_alone_is_no_word_about_the_summary(talk: Talk) -> None:
    """A cycle that asks for the backup only makes no poll, and nothing is gone."""
    talk.ask(STATUS, [summary("APPL1"), summary("CSQ_ADMIN")])
    talk.end()
    talk.ask(STATUS, [backup("APPL1")], question=BACKUP)
    told = talk.end()
    assert [reading.probe for reading in told.readings("PRDQSG/cf_structure/APPL1")] == [
        "INQUIRE_CF_STRUC_STATUS BACKUP"
    ]
    assert told.readings("PRDQSG/cf_structure/CSQ_ADMIN") == []


def test_deleted_structure_is_gone(talk: Talk) -> None:
    """A structure that a whole summary lacks is gone."""
    talk.ask(STATUS, [summary("APPL1"), summary("OLD")])
    talk.end()
    talk.ask(STATUS, [summary("APPL1")])
    told = talk.end()
    assert told.reading("PRDQSG/cf_structure/OLD").gone


def test_group_without_its_speaker_is_unreachable(talk: Talk) -> None:
    """When the queue manager that told of the group cannot be reached, the group's polled things are null points."""
    talk.ask(STATUS, [summary("APPL1")])
    talk.end()
    talk.fail(2059)
    talk.ask(mq.MQCMD_INQUIRE_LOG, queue_manager="QM02")
    reading = talk.end().reading("PRDQSG/cf_structure/APPL1")
    assert (reading.poll, reading.answered) == (True, False)
    assert set(reading.values.values()) == {Absence.UNREACHABLE}
    talk.fail(2059)
    talk.ask(STATUS, [summary("APPL1")], queue_manager="QM02")
    assert talk.end().reading("PRDQSG/cf_structure/APPL1").answered


def test_another_member_down_leaves_the_group_alone(talk: Talk) -> None:
    """A queue manager that never told of the group takes nothing of it away."""
    talk.ask(STATUS, [summary("APPL1")])
    talk.end()
    talk.fail(2059, queue_manager="QM02")
    assert talk.end().readings("PRDQSG/cf_structure/APPL1") == []


def test_definitions_and_their_number(talk: Talk) -> None:
    """INQUIRE_CF_STRUC fills the definitions and counts the structures of the group."""
    talk.ask(
        mq.MQCMD_INQUIRE_CF_STRUC, [{mq.MQCA_CF_STRUC_NAME: name, mq.MQIA_CF_LEVEL: 5} for name in ("APPL1", "APPL2")]
    )
    told = talk.end()
    assert told.value("PRDQSG/cf_structure/APPL2", "cflevel") == 5
    assert told.value("PRDQSG/qsg", "structure_count") == 2


def test_group_and_its_members(talk: Talk) -> None:
    """One object with the numbers of members by state, the lowest command level, and the members as text."""
    members = [member("QM02", mq.MQQSGS_FAILED, 930), member("QM01")]
    talk.ask(mq.MQCMD_INQUIRE_QSG, members)
    values = talk.end().reading("PRDQSG/qsg").values
    assert (values["qmgr_count"], values["members_active"], values["members_failed"]) == (2, 1, 1)
    assert (values["name"], values["lowest_command_level"], values["command_levels"]) == ("PRDQ", 930, 2)
    assert values["members"] == "QM01 ACTIVE, QM02 FAILED"


def test_members_that_are_away_are_named(talk: Talk) -> None:
    """Those that failed, those stopped in order, and the active ones that lost Db2; blank where there is none."""
    cut_off = member("QM03") | {mq.MQIACF_DB2_CONN_STATUS: mq.MQQSGS_INACTIVE}
    members = [cut_off, member("QM05", mq.MQQSGS_FAILED), member("QM01"), member("QM02", mq.MQQSGS_FAILED)]
    talk.ask(mq.MQCMD_INQUIRE_QSG, [*members, member("QM04", mq.MQQSGS_INACTIVE)])
    values = talk.end().reading("PRDQSG/qsg").values
    assert (values["members_failed"], values["failed_members"]) == (2, "QM02, QM05")
    assert (values["members_inactive"], values["inactive_members"]) == (1, "QM04")
    assert (values["members_active"], values["db2_active"], values["members_without_db2"]) == (2, 1, "QM03")
    talk.ask(mq.MQCMD_INQUIRE_QSG, [member("QM01")])
    values = talk.end().reading("PRDQSG/qsg").values
    assert [values[name] for name in ("failed_members", "inactive_members", "members_without_db2")] == ["", "", ""]


def test_shared_message_data_sets(talk: Talk) -> None:
    """Each member's data set of a structure is an object, named by both; the answer with its state is its poll."""
    talk.ask(
        mq.MQCMD_INQUIRE_SMDS,
        [{mq.MQCACF_CF_SMDS: "QM02", mq.MQCA_CF_STRUC_NAME: "APPL1", mq.MQIA_CF_SMDS_BUFFERS: 200}],
    )
    reading = talk.end().reading("PRDQSG/smds/APPL1/QM02")
    assert reading.values["buffers_defined"] == 200
    assert not reading.poll
    talk.ask(STATUS, [data_set("APPL1", "QM02", mq.MQCFSTATUS_FAILED), data_set("APPL1", "QM03")], question=SMDS)
    told = talk.end()
    reading = told.reading("PRDQSG/smds/APPL1/QM02")
    assert reading.poll
    assert (reading.values["data_set_status"], reading.values["access"]) == (mq.MQCFSTATUS_FAILED, 1)
    assert reading.values["fail_ts"] == "2026-11-20 12.43.00"
    assert told.value("PRDQSG/smds/APPL1/QM03", "fail_ts") is Absence.NOTHING_TO_TELL
    talk.ask(STATUS, [data_set("APPL1", "QM02")], question=SMDS)
    assert talk.end().reading("PRDQSG/smds/APPL1/QM03").gone


def test_connections_to_data_sets_belong_to_who_answers(talk: Talk) -> None:
    """Each queue manager has its own view of each data set; one that is away has none."""
    for name, status in (("QM01", mq.MQS_STATUS_OPEN), ("QM02", mq.MQS_STATUS_DATAFAIL)):
        talk.ask(mq.MQCMD_INQUIRE_SMDSCONN, [connection("APPL1", "QM03", status)], queue_manager=name)
    told = talk.end()
    assert told.value("QM01/smds_connection/APPL1/QM03", "status") == mq.MQS_STATUS_OPEN
    reading = told.reading("QM02/smds_connection/APPL1/QM03")
    assert (reading.poll, reading.values["status"], reading.values["data_set"]) == (
        True,
        mq.MQS_STATUS_DATAFAIL,
        "APPL1/QM03",
    )
    talk.fail(2059, queue_manager="QM02")
    assert set(talk.end().reading("QM02/smds_connection/APPL1/QM03").values.values()) == {Absence.UNREACHABLE}


def test_connections_to_a_structure(talk: Talk) -> None:
    """How many members are connected, and who failed; the summary is a reading of its own."""
    items = [
        {
            mq.MQCA_CF_STRUC_NAME: "APPL1",
            mq.MQIACF_CF_STATUS_TYPE: mq.MQIACF_CF_STATUS_CONNECT,
            mq.MQCA_Q_MGR_NAME: name,
            mq.MQIACF_CF_STRUC_STATUS: status,
        }
        for name, status in (("QM03", 4), ("QM01", 1), ("QM02", 5), ("QM04", 77))
    ]
    talk.ask(STATUS, items, question=QueryOptions(part=mq.MQIACF_CF_STATUS_CONNECT))
    reading = talk.end().reading("PRDQSG/cf_structure/APPL1")
    assert reading.poll is False
    assert reading.values == {
        "members_connected": 1,
        "connections_failed": 1,
        "failed_connections": "QM03",
        "connections": "QM01 ACTIVE, QM02 NONE, QM03 FAILED, QM04 77",
    }
    del items[0][mq.MQIACF_CF_STRUC_STATUS]
    talk.ask(STATUS, items, question=QueryOptions(part=mq.MQIACF_CF_STATUS_CONNECT))
    assert set(talk.end().reading("PRDQSG/cf_structure/APPL1").values.values()) == {Absence.NOT_RETURNED}


def test_nameless_group_takes_mqs_name(talk: Talk) -> None:
    """Without a name from the site the queue-sharing group's own is used, and kept."""
    talk.collector = Collector("", [])
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    assert talk.end().owners() == ["QM01"]
    talk.ask(STATUS, [summary("APPL1")])
    talk.ask(mq.MQCMD_INQUIRE_QSG, [member("QM01")])
    assert talk.end().readings("PRDQ/cf_structure/APPL1")


def test_site_that_calls_its_group_like_a_queue_manager(talk: Talk) -> None:
    """Two owners never share a name: a lone queue manager's site name makes no group."""
    talk.collector = Collector("QM01", ["QM01"])
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    assert talk.end().owners() == ["QM01"]


def test_times_of_snapshots(talk: Talk) -> None:
    """A snapshot's time is its owner's first request of the cycle; the group's the first that told of the group."""
    began = talk.at
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    talk.ask(mq.MQCMD_INQUIRE_LOG, queue_manager="QM02")
    talk.ask(STATUS, [summary("APPL1")])
    told = talk.end()
    assert [snapshot.ts - began for snapshot in told.snapshots] == [0, 100, 200]
    assert told.reading("PRDQSG/cf_structure/APPL1").ts == began + 200
    later = talk.at
    talk.ask(mq.MQCMD_INQUIRE_LOG, queue_manager="QM02")
    assert {snapshot.ts for snapshot in talk.end().snapshots} == {later}
