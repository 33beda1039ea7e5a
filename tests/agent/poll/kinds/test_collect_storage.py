"""Page sets, buffer pools, logs, the channel initiator, parameters: what belongs to one queue manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mqvitals_agent.ingest.pool_figures import DAY_LOW, DAY_LOW_FALL
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_rules.vocabulary import tables
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

USAGE, LOG = mq.MQCMD_INQUIRE_USAGE, mq.MQCMD_INQUIRE_LOG
ALL = QueryOptions(part=mq.MQIACF_ALL)


def page_set(number: int, total: int = 1000, unused: int = 250, expanded: int = 0) -> dict[int, Any]:
    """A page set's item."""
    return {
        mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_PAGESET,
        mq.MQIA_PAGESET_ID: number,
        mq.MQIACF_BUFFER_POOL_ID: 2,
        mq.MQIACF_USAGE_TOTAL_PAGES: total,
        mq.MQIACF_USAGE_UNUSED_PAGES: unused,
        mq.MQIACF_USAGE_EXPAND_COUNT: expanded,
        mq.MQIACF_PAGESET_STATUS: mq.MQUSAGE_PS_AVAILABLE,
    }


def buffer_pool(number: int, free_pct: int) -> dict[int, Any]:
    """A buffer pool's item."""
    return {
        mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_BUFFER_POOL,
        mq.MQIACF_BUFFER_POOL_ID: number,
        mq.MQIACF_USAGE_TOTAL_BUFFERS: 5000,
        mq.MQIACF_USAGE_FREE_BUFF: 50 * free_pct,
        mq.MQIACF_USAGE_FREE_BUFF_PERC: free_pct,
    }


def test_page_sets_and_buffer_pools(talk: Talk) -> None:
    """Items say their own kind; the used share has two decimals."""
    talk.ask(USAGE, [page_set(4, 100_000, 29_522), buffer_pool(3, 60)])
    told = talk.end()
    assert told.value("QM01/page_set/4", "used_pct") == 70.48
    assert told.value("QM01/page_set/4", "expand_count") is Absence.FIRST_READING
    assert told.value("QM01/buffer_pool/3", "worst_free_pct") == 60
    assert told.reading("QM01/buffer_pool/3").poll
    talk.ask(USAGE, [page_set(4, expanded=2), buffer_pool(3, 60)])
    assert talk.end().value("QM01/page_set/4", "expand_count") == 2


def test_page_set_that_was_never_opened(talk: Talk) -> None:
    """Status DEFINED comes without page counts: they are not in the answer, and neither is the share."""
    talk.ask(
        USAGE,
        [
            {
                mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_PAGESET,
                mq.MQIA_PAGESET_ID: 9,
                mq.MQIACF_PAGESET_STATUS: mq.MQUSAGE_PS_DEFINED,
            },
            page_set(5, 0, 0),
        ],
    )
    told = talk.end()
    assert told.value("QM01/page_set/9", "status") == mq.MQUSAGE_PS_DEFINED
    assert told.value("QM01/page_set/9", "used_pct") is Absence.NOT_RETURNED
    assert told.value("QM01/page_set/9", "total_pages") is Absence.NOT_RETURNED
    assert told.value("QM01/page_set/5", "used_pct") is Absence.NOT_RETURNED


def test_pool_that_was_deleted_is_gone(talk: Talk) -> None:
    """A pool and a page set that a whole answer of their type lacks are gone; other types say nothing about them."""
    talk.ask(USAGE, [page_set(4), buffer_pool(3, 60), buffer_pool(5, 60)])
    talk.end()
    talk.ask(USAGE, [], question=QueryOptions(part=mq.MQIACF_USAGE_DATA_SET))
    assert talk.end().readings("QM01/buffer_pool/5") == []
    talk.ask(USAGE, [page_set(4), buffer_pool(3, 60)])
    assert talk.end().reading("QM01/buffer_pool/5").gone


def test_log_positions_and_shared_message_data_sets(talk: Talk) -> None:
    """The data set items fill the log's positions; space and buffers of a structure's data set are one object of the group."""
    position = {mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_DATA_SET}
    smds = {mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_SMDS, mq.MQCACF_CF_STRUC_NAMES: ["APPL1"], mq.MQIACF_SMDS_STATUS: 0}
    talk.ask(
        USAGE,
        [
            position
            | {mq.MQIACF_USAGE_DATA_SET_TYPE: 10, mq.MQCACF_USAGE_LOG_RBA: "0A", mq.MQCACF_DATA_SET_NAME: "LOG.DS02"},
            position
            | {mq.MQIACF_USAGE_DATA_SET_TYPE: 12, mq.MQCACF_USAGE_LOG_RBA: "00", mq.MQCACF_USAGE_LOG_LRSN: "E1C5"},
            smds | {mq.MQIACF_USAGE_OFFLOAD_MSGS: 840, mq.MQIACF_USAGE_USED_RATE: 2},
            smds | {mq.MQIACF_USAGE_TOTAL_BUFFERS: 100, mq.MQIACF_USAGE_LOWEST_FREE: -3},
        ],
        question=ALL,
    )
    told = talk.end()
    reading = told.reading("QM01/log")
    assert (reading.probe, reading.poll) == ("INQUIRE_USAGE", False)
    assert reading.values["oldest_uow_rba"] == "0A"
    assert reading.values["oldest_uow_data_set"] == "LOG.DS02"
    assert reading.values["cf_recovery_lrsn"] == "E1C5"
    assert reading.values["page_set_recovery_rba"] is Absence.NOT_RETURNED
    values = told.reading("PRDQSG/smds/APPL1/QM01").values
    assert (values["offload_msgs"], values["used_pct"], values["buffers"], values["lowest_free"]) == (840, 2, 100, -3)


def log_items(rba: str = "000000A22CB71CFE", used: tuple[int, int] = (20, 25)) -> list[dict[int, Any]]:
    """An answer to INQUIRE_LOG: parameters, one of them changed, two copies, status."""
    return [
        {mq.MQIACF_SYSP_TYPE: 10, mq.MQIACF_SYSP_MAX_READ_TAPES: 2, mq.MQIACF_SYSP_DUAL_ACTIVE: 1},
        {mq.MQIACF_SYSP_TYPE: 11, mq.MQIACF_SYSP_MAX_READ_TAPES: 4},
        {mq.MQIACF_SYSP_TYPE: 12, mq.MQIACF_SYSP_LOG_COPY: 1, mq.MQIACF_SYSP_LOG_USED: used[0], mq.MQCACF_DATA_SET_NAME: "LOG1.DS03"},
        {mq.MQIACF_SYSP_TYPE: 12, mq.MQIACF_SYSP_LOG_COPY: 2, mq.MQIACF_SYSP_LOG_USED: used[1], mq.MQCACF_DATA_SET_NAME: "LOG2.DS03"},
        {
            mq.MQIACF_SYSP_TYPE: 13,
            mq.MQIACF_SYSP_TOTAL_LOGS: 8,
            mq.MQIACF_SYSP_FULL_LOGS: 0,
            mq.MQIACF_SYSP_OFFLOAD_STATUS: mq.MQSYSP_STATUS_AVAILABLE,
            mq.MQCACF_SYSP_LOG_RBA: rba,
            mq.MQCACF_SYSP_Q_MGR_DATE: "2026-11-07",
            mq.MQCACF_SYSP_Q_MGR_TIME: "17.46.01",
        },
    ]  # fmt: skip


def test_log(talk: Talk) -> None:
    """Items by type in one object: what was changed goes before what was there at start, the fuller copy counts."""
    talk.ask(LOG, log_items())
    told = talk.end()
    values = told.reading("QM01/log").values
    assert (values["total_logs"], values["full_logs"], values["used_pct"], values["copies"]) == (8, 0, 25, 2)
    assert values["maxrtu"] == 4
    assert values["dual_active"] == 1
    assert values["data_set_copy2"] == "LOG2.DS03"
    assert values["written_bytes"] is Absence.FIRST_READING
    assert told.value("QM01/queue_manager", "start_ts") == "2026-11-07 17.46.01"
    assert told.value("QM01/queue_manager", "uptime_s") is Absence.TIME_ZONE_UNKNOWN
    talk.ask(LOG, log_items("000000A22CB72CFE"))
    assert talk.end().value("QM01/log", "written_bytes") == 0x1000
    talk.ask(LOG, log_items("not hex"))
    assert talk.end().value("QM01/log", "written_bytes") is Absence.NOT_RETURNED


def test_single_object_is_never_gone(talk: Talk) -> None:
    """A whole answer that lacks the queue manager's one log is odd, but the log is still there."""
    talk.ask(LOG, log_items())
    talk.end()
    talk.ask(LOG, [])
    reading = talk.end().reading("QM01/log")
    assert (reading.gone, reading.answered) == (False, False)
    assert set(reading.values.values()) == {Absence.NOT_RETURNED}


def _restarts(talk: Talk, date: str, time: str) -> Any:
    """``restarts`` after an answer about the log with this start of the queue manager."""
    items = log_items()
    items[-1] |= {mq.MQCACF_SYSP_Q_MGR_DATE: date, mq.MQCACF_SYSP_Q_MGR_TIME: time}
    talk.ask(LOG, items)
    return talk.end().value("QM01/queue_manager", "restarts")


def test_another_start_is_a_restart(talk: Talk) -> None:
    """The first start that is told is none, nor is the same start in another time zone or an hour later in summer."""
    assert _restarts(talk, "2026-11-07", "17.46.01") is Absence.FIRST_READING
    assert _restarts(talk, "2026-11-07", "17.46.01") == 0
    assert _restarts(talk, "2026-11-08", "03.10.44") == 1
    assert _restarts(talk, "2026-11-08", "03.10.44") == 0
    assert _restarts(talk, "2026-11-08", "04.10.44") == 0
    assert _restarts(talk, "2026-11-08", "04.12.10") == 1
    assert _restarts(talk, "", "") is Absence.NOTHING_TO_TELL
    assert _restarts(talk, "2026-11-08", "04.12.10") == 0


def test_channel_initiator(talk: Talk) -> None:
    """One item of its own and one a listener; those that do not run are counted."""
    talk.ask(
        mq.MQCMD_INQUIRE_CHANNEL_INIT,
        [
            {mq.MQIACF_CHINIT_STATUS: 2, mq.MQIACH_ADAPS_STARTED: 7, mq.MQIACH_ADAPS_MAX: 8},
            {mq.MQIACH_LISTENER_STATUS: 2, mq.MQIACH_PORT_NUMBER: 1414},
            {mq.MQIACH_LISTENER_STATUS: 4, mq.MQIACH_PORT_NUMBER: 1514},
        ],
    )
    values = talk.end().reading("QM01/channel_initiator").values
    assert (values["status"], values["adapters_started"], values["adapters_max"]) == (2, 7, 8)
    assert (values["listeners"], values["listeners_down"], values["listeners_running"]) == (2, 1, 1)


def _lost(talk: Talk, *listeners: tuple[int, int], status: int = 2) -> Any:
    """``listeners_lost`` after an answer with these listeners, each a port (0: none) and a status."""
    items = [{mq.MQIACF_CHINIT_STATUS: status}]
    for port, how in listeners:
        protocol = {mq.MQIACH_XMIT_PROTOCOL_TYPE: mq.MQXPT_TCP, mq.MQIACH_INBOUND_DISP: mq.MQINBD_Q_MGR}
        items.append({mq.MQIACH_LISTENER_STATUS: how, **protocol, **({mq.MQIACH_PORT_NUMBER: port} if port else {})})
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_INIT, items)
    return talk.end().value("QM01/channel_initiator", "listeners_lost")


def test_a_listener_that_ran_and_does_not_is_lost(talk: Talk) -> None:
    """One that was never started is not, and one that retries is; it is over when the listener runs again."""
    assert [_lost(talk, (1414, 2), (1415, 0), (1416, 0)) for _ in range(2)] == [0, 0]
    assert _lost(talk, (1414, 0), (1415, 0), (1416, 0)) == 1
    assert _lost(talk, (1414, 4), (1415, 4), (1416, 0)) == 2
    assert _lost(talk, (1414, 2), (1415, 2), (1416, 0)) == 0
    assert _lost(talk, (1414, 2), (1415, 0), (1416, 0)) == 1


def test_a_listener_that_is_no_longer_listed_is_lost(talk: Talk) -> None:
    """Without ports the most that ran at a time count."""
    assert _lost(talk, (1414, 2), (1415, 2)) == 0
    assert _lost(talk, (1415, 2)) == 1
    assert [_lost(talk, (0, 2), (0, 2)), _lost(talk, (0, 2), (0, 0)), _lost(talk, (0, 2), (0, 2))] == [2, 3, 2]


def test_a_channel_initiator_that_stops_begins_anew(talk: Talk) -> None:
    """Nothing is lost of one that does not run, and what it was before does not count afterwards."""
    assert _lost(talk, (1414, 2), (1415, 2)) == 0
    assert _lost(talk, (1414, 0), (1415, 0), status=0) is Absence.INACTIVE
    assert _lost(talk, (1414, 2), (1415, 0)) == 0


def test_queue_manager_attributes(talk: Talk) -> None:
    """Most attributes are the queue manager's, the configured tasks its channel initiator's."""
    talk.ask(
        mq.MQCMD_INQUIRE_Q_MGR, [{mq.MQIA_PLATFORM: 1, mq.MQIA_CHINIT_ADAPTERS: 8, mq.MQCA_Q_MGR_DESC: "[/x] <b>\x1b"}]
    )
    told = talk.end()
    assert told.reading("QM01/queue_manager", "INQUIRE_Q_MGR").values["description"] == "[/x] <b>\x1b"
    reading = told.reading("QM01/channel_initiator")
    assert (reading.probe, reading.poll, reading.values["chiadaps"]) == ("INQUIRE_Q_MGR", False, 8)


def test_joining_a_group_is_counted(talk: Talk) -> None:
    """One poll tells no group and the next tells one; leaving it counts for nothing."""
    found = []
    for name in ("", "", "QSG1", "QSG1", "", "QSG1"):
        talk.ask(mq.MQCMD_INQUIRE_Q_MGR, [{mq.MQIA_PLATFORM: 1, mq.MQCA_QSG_NAME: name}])
        found.append(talk.end().reading("QM01/queue_manager", "INQUIRE_Q_MGR").values["qsg_joined"])
    assert found == [Absence.FIRST_READING, 0, 1, 0, Absence.RESET, 1]


def test_system_and_archive_parameters(talk: Talk) -> None:
    """What was set since start goes before what was there; lists of numbers and texts become texts."""
    talk.ask(
        mq.MQCMD_INQUIRE_SYSTEM,
        [
            {mq.MQIACF_SYSP_TYPE: 10, mq.MQIACF_SYSP_CHKPOINT_COUNT: 500_000, mq.MQIACF_SYSP_ROUTING_CODE: [1, 2], mq.MQCACF_EXCL_OPERATOR_MESSAGES: ["X511", "X512"]},
            {mq.MQIACF_SYSP_TYPE: 11, mq.MQIACF_SYSP_CHKPOINT_COUNT: 1_000_000},
        ],
    )  # fmt: skip
    talk.ask(
        mq.MQCMD_INQUIRE_ARCHIVE,
        [
            {mq.MQIACF_SYSP_TYPE: 10, mq.MQIACF_SYSP_BLOCK_SIZE: 28_672},
            {mq.MQIACF_SYSP_TYPE: 14, mq.MQIACF_SYSP_UNIT_STATUS: mq.MQSYSP_STATUS_BUSY},
            {mq.MQIACF_SYSP_TYPE: 14, mq.MQIACF_SYSP_UNIT_STATUS: mq.MQSYSP_STATUS_AVAILABLE},
        ],
    )
    told = talk.end()
    assert told.value("QM01/log", "logload") == 1_000_000
    assert told.value("QM01/queue_manager", "routing_codes") == "1 2"
    assert told.value("QM01/queue_manager", "excluded_messages") == "X511 X512"
    assert told.value("QM01/log", "archive_block_bytes") == 28_672
    assert (told.value("QM01/log", "tape_units"), told.value("QM01/log", "tape_units_busy")) == (2, 1)


@pytest.mark.parametrize("kind", ["page_set", "buffer_pool", "log", "channel_initiator"])
def test_every_metric_of_an_answer_is_told(talk: Talk, kind: str) -> None:
    """A reading holds all metrics that the vocabulary says its answer fills, present or absent."""
    talk.ask(USAGE, [page_set(1), buffer_pool(1, 50)])
    talk.ask(LOG, log_items())
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_INIT, [{mq.MQIACF_CHINIT_STATUS: 2}])
    readings = [each for each in talk.end().snapshot("QM01").readings if each.object.kind == kind and each.poll]
    assert len(readings) == 1
    expected = {metric.name for metric in tables.kind(kind).metrics if metric.command == readings[0].probe}
    # What takes weeks of history is added by those who have it.
    assert set(readings[0].values) == expected - {DAY_LOW, DAY_LOW_FALL}
