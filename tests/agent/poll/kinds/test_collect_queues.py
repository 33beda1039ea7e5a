"""Queues: private and shared ones, definitions, ages, and what an answer leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.queue import QUEUE_KIND

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk, Told

STATUS, DEFINITION = mq.MQCMD_INQUIRE_Q_STATUS, mq.MQCMD_INQUIRE_Q
SHARED = mq.MQQSGD_SHARED


def status(name: str, depth: int = 1, *, disposition: int = 0, **more: Any) -> dict[int, Any]:
    """An item of queue status. Times are local, an hour before UTC; ``more`` replaces the rest by name."""
    told = {
        "handles": (1, 2), "put": ("2026-11-20", "12.59.50"), "get": ("2026-11-20", "12.59.40"), "monq": mq.MQMON_MEDIUM, "age": 9,
        "qtime": (100, 200), **more,
    }  # fmt: skip
    return {
        mq.MQCA_Q_NAME: name.ljust(48),
        mq.MQIACF_Q_STATUS_TYPE: mq.MQIACF_Q_STATUS,
        mq.MQIA_CURRENT_Q_DEPTH: depth,
        mq.MQIA_OPEN_INPUT_COUNT: told["handles"][0],
        mq.MQIA_OPEN_OUTPUT_COUNT: told["handles"][1],
        mq.MQIACF_UNCOMMITTED_MSGS: 0,
        mq.MQCACF_LAST_PUT_DATE: told["put"][0],
        mq.MQCACF_LAST_PUT_TIME: told["put"][1],
        mq.MQCACF_LAST_GET_DATE: told["get"][0],
        mq.MQCACF_LAST_GET_TIME: told["get"][1],
        mq.MQIACF_OLDEST_MSG_AGE: told["age"],
        mq.MQIACF_Q_TIME_INDICATOR: told["qtime"],
        mq.MQIA_MONITORING_Q: told["monq"],
        mq.MQIA_QSG_DISP: disposition,
    }


def definition(name: str, **more: Any) -> dict[int, Any]:
    """An item of INQUIRE_Q."""
    told = {"type": mq.MQQT_LOCAL, "disposition": 0, "usage": 0, "storage_class": "ORDERS", "page_set": 3, **more}
    return {
        mq.MQCA_Q_NAME: name,
        mq.MQIA_Q_TYPE: told["type"],
        mq.MQIA_QSG_DISP: told["disposition"],
        mq.MQIA_USAGE: told["usage"],
        mq.MQIA_MAX_Q_DEPTH: 5000,
        mq.MQCA_STORAGE_CLASS: told["storage_class"],
        mq.MQIA_PAGESET_ID: told["page_set"],
    }


def test_private_queue_belongs_to_who_answered(talk: Talk) -> None:
    """An item becomes one reading of its queue manager's queue, counted as a poll."""
    talk.ask(STATUS, [status("ORDERS", 7)])
    told = talk.end()
    reading = told.reading("QM01/queue/ORDERS")
    assert reading.probe == "INQUIRE_Q_STATUS"
    assert reading.poll
    assert reading.answered
    assert reading.interval_ms is None
    assert reading.ts == told.snapshot("QM01").ts
    assert reading.values["depth"] == 7
    assert reading.values["uncommitted"] == 0
    assert reading.values["uncommitted_msgs"] is Absence.NOT_ON_ZOS
    assert (reading.values["qtime_us_short"], reading.values["qtime_us_long"]) == (100, 200)
    assert set(reading.values) == {m.name for m in QUEUE_KIND.metrics if m.command == "INQUIRE_Q_STATUS"}


def test_interval_is_the_time_since_the_last_answer(talk: Talk) -> None:
    """Cycles without an answer make the next interval longer."""
    talk.ask(STATUS, [status("ORDERS")])
    talk.end()
    talk.end()
    talk.ask(STATUS, [status("ORDERS")])
    assert talk.end().reading("QM01/queue/ORDERS").interval_ms == 20_000


def test_monitoring_off_is_not_collected(talk: Talk) -> None:
    """-1 and blanks with MONQ off: not collected, neither zero nor good."""
    off = status("A", monq=0, age=-1, qtime=(-1, -1), put=("", ""), get=("", ""))
    quiet = status("B", age=-1, qtime=(-1, -1), put=("", ""), get=("", ""))
    talk.ask(STATUS, [off, quiet])
    told = talk.end()
    for metric in [
        "oldest_msg_age_s",
        "qtime_us_short",
        "qtime_us_long",
        "last_put_ts",
        "last_put_age_s",
        "last_get_age_s",
    ]:
        assert told.value("QM01/queue/A", metric) is Absence.NOT_COLLECTED
        assert told.value("QM01/queue/B", metric) is Absence.NOTHING_TO_TELL


def test_odd_values_are_not_returned(talk: Talk) -> None:
    """A parameter that is missing or of another type costs its metric alone."""
    item = status("ORDERS", qtime=(1, 2, 3))
    del item[mq.MQIA_OPEN_INPUT_COUNT]
    item[mq.MQIA_OPEN_OUTPUT_COUNT] = "many"
    talk.ask(STATUS, [item])
    values = talk.end().reading("QM01/queue/ORDERS").values
    assert values["depth"] == 1
    for metric in ["input_handles", "output_handles", "qtime_us_short"]:
        assert values[metric] is Absence.NOT_RETURNED


def test_nameless_items_are_left_out(talk: Talk) -> None:
    """An item that does not name its queue is nobody's."""
    item = status("")
    talk.ask(STATUS, [item, {mq.MQIA_CURRENT_Q_DEPTH: 3}])
    assert [reading for reading in talk.end().snapshot("QM01").readings if reading.object.kind == "queue"] == []


def test_ages_need_the_zone(talk: Talk) -> None:
    """Ages are absent until three polls agree about the zone, then counted in whole seconds; the time is told at once."""
    for cycle in range(3):
        talk.ask(STATUS, [status("A", put=("2026-11-20", f"13.00.{cycle}0")), status("B")])
        told = talk.end()
        if cycle < 2:
            assert told.value("QM01/queue/A", "last_put_age_s") is Absence.TIME_ZONE_UNKNOWN
    assert told.value("QM01/queue/A", "last_put_ts") == "2026-11-20 13.00.20"
    assert told.value("QM01/queue/A", "last_put_age_s") == 0
    assert told.value("QM01/queue/B", "last_put_age_s") == 30
    assert told.value("QM01/queue/B", "last_get_age_s") == 40


def test_ages_count_from_the_replys_own_time(talk: Talk) -> None:
    """Where the reply tells when it was put, that is the moment of the answer, and the queue manager's clock."""
    for cycle in range(3):
        put = talk.at + 2_000
        talk.ask(STATUS, [status("A", put=("2026-11-20", f"13.00.{cycle}1"))], put=put)
        told = talk.end()
    assert told.value("QM01/queue/A", "last_put_age_s") == 1
    assert told.snapshot("QM01").clock_ms == put
    assert told.snapshot("QM02").clock_ms is None


def test_shared_queue_is_one_object_of_the_group(talk: Talk) -> None:
    """The newest depth, the handles of all members that answered, the newest times; nothing under the members."""
    talk.ask(STATUS, [status("S", 10, disposition=SHARED, handles=(1, 1), get=("2026-11-20", "12.59.59"))])
    talk.ask(
        STATUS,
        [status("S", 12, disposition=SHARED, handles=(2, 0), put=("2026-11-20", "12.59.58"))],
        queue_manager="QM02",
    )
    told = talk.end()
    assert told.owners() == ["QM01", "QM02", "PRDQSG"]
    values = told.reading("PRDQSG/queue/S").values
    assert (values["depth"], values["input_handles"], values["output_handles"]) == (12, 3, 1)
    assert values["last_put_ts"] == "2026-11-20 12.59.58"
    assert values["last_get_ts"] == "2026-11-20 12.59.59"
    assert values["dead_letter"] == 0
    assert told.readings("QM01/queue/S") == []


def _members(**statuses: str) -> list[dict[int, Any]]:
    """The answer to INQUIRE_QSG: members and how they are."""
    return [
        {
            mq.MQCA_Q_MGR_NAME: name,
            mq.MQCA_QSG_NAME: "PRDQ",
            mq.MQIACF_Q_MGR_STATUS: mq.MQQSGS_ACTIVE if status == "ACTIVE" else mq.MQQSGS_INACTIVE,
        }
        for name, status in statuses.items()
    ]


def _shared(talk: Talk, **handles: int) -> Mapping[str, Any]:
    """What is told of a shared queue after a cycle in which these members answer with so many input handles."""
    for name, count in handles.items():
        talk.ask(STATUS, [status("S", 10, disposition=SHARED, handles=(count, 0))], queue_manager=name)
    return talk.end().reading("PRDQSG/queue/S").values


def test_handles_of_a_shared_queue_are_not_known_while_an_active_member_is_silent(talk: Talk) -> None:
    """4 + 4, then one does not answer: its last answer counts for one poll more, then it is 4 at least, of whom is said."""
    talk.ask(mq.MQCMD_INQUIRE_QSG, _members(QM01="ACTIVE", QM02="ACTIVE", QM03="INACTIVE"))
    _shared(talk, QM01=4, QM02=4)
    assert _shared(talk, QM01=4, QM02=4)["input_handles"] == 8
    assert _shared(talk, QM01=4)["input_handles"] == 8
    told = _shared(talk, QM01=4)
    assert told["input_handles"] is Absence.NO_ANSWER
    assert (told["input_handles_least"], told["handles_unknown_of"]) == (4, "QM02")
    assert told["usually_read"] is Absence.NO_ANSWER
    told = _shared(talk, QM01=4, QM02=1)
    assert (told["input_handles"], told["input_handles_least"]) == (5, Absence.NOTHING_TO_TELL)


def test_handles_of_a_shared_queue_need_every_member_that_the_group_calls_active(talk: Talk) -> None:
    """One that nobody asks leaves them open for ever; when the group calls it INACTIVE they are those of the others."""
    talk.ask(mq.MQCMD_INQUIRE_QSG, _members(QM01="ACTIVE", QM02="ACTIVE", QM03="ACTIVE"))
    told = _shared(talk, QM01=4, QM02=4)
    assert (told["input_handles"], told["input_handles_least"], told["handles_unknown_of"]) == (
        Absence.NO_ANSWER,
        8,
        "QM03",
    )
    talk.ask(mq.MQCMD_INQUIRE_QSG, _members(QM01="ACTIVE", QM02="ACTIVE", QM03="INACTIVE"))
    assert _shared(talk, QM01=4, QM02=4)["input_handles"] == 8
    assert _shared(talk, QM01=4)["input_handles"] == 8


def test_a_members_answer_counts_for_two_of_its_own_intervals(talk: Talk) -> None:
    """A member that is asked every other cycle has answered lately enough in between; a set clock changes nothing."""
    talk.ask(mq.MQCMD_INQUIRE_QSG, _members(QM01="ACTIVE", QM02="ACTIVE"))
    _shared(talk, QM01=1, QM02=2)
    _shared(talk, QM01=1)
    _shared(talk, QM01=1, QM02=2)
    assert _shared(talk, QM01=1)["input_handles"] == 3
    talk.collector.builder.shift(3_600_000)
    talk.at += 3_600_000
    assert _shared(talk, QM01=1, QM02=2)["input_handles"] == 3
    assert _shared(talk, QM01=1)["input_handles"] == 3
    _shared(talk, QM01=1)
    _shared(talk, QM01=1)
    assert _shared(talk, QM01=1)["input_handles"] is Absence.NO_ANSWER


def test_members_of_a_shared_queue_may_live_in_different_zones(talk: Talk) -> None:
    """Which put is the newest their ages tell, not their clocks on the wall; each age is by the zone of whoever told it."""
    zones = {"QM01": timezone(timedelta(hours=1)), "QM02": timezone(timedelta(hours=-5))}
    talk.collector = Collector("PRDQSG", ["QM01", "QM02"], zones.get)
    # QM01's 13:00:00 is 12:00:00 UTC, 30 s before QM02's 07:00:30.
    told_by = {"QM01": ("2026-11-20", "13.00.00"), "QM02": ("2026-11-20", "07.00.30")}
    asked_at = datetime(2026, 11, 20, 12, 0, 40, tzinfo=UTC)
    for name, put in told_by.items():
        talk.at = int(asked_at.timestamp()) * 1000
        talk.ask(STATUS, [status("S", disposition=SHARED, put=put, get=("", ""))], queue_manager=name)
    values = talk.end().reading("PRDQSG/queue/S").values
    assert values["last_put_ts"] == "2026-11-20 07.00.30"
    assert values["last_put_age_s"] == 10


def test_members_own_answer_goes_before_a_scoped_one(talk: Talk) -> None:
    """A member that is told of twice in a cycle counts once, with what it answered itself."""
    talk.ask(STATUS, [status("S", 10, disposition=SHARED, handles=(1, 0))])
    question = QueryOptions("S*", disposition=SHARED, scope="*")
    members: dict[str, Any] = {
        "QM01": [status("S", 11, disposition=SHARED, handles=(9, 0))],
        "QM02": [status("S", 11, disposition=SHARED, handles=(2, 0))],
    }
    talk.exchange(STATUS, talk.scoped(STATUS, members), question=question)
    told = talk.end()
    assert told.value("PRDQSG/queue/S", "depth") == 11
    assert told.value("PRDQSG/queue/S", "input_handles") == 3


def test_scoped_answer_belongs_to_the_member(talk: Talk) -> None:
    """A private queue in a scoped answer stands in the answering member's snapshot."""
    talk.exchange(
        STATUS,
        talk.scoped(STATUS, {"QM01": [status("A", 1)], "QM02": [status("A", 2)]}),
        question=QueryOptions(scope="*"),
    )
    told = talk.end()
    assert told.value("QM01/queue/A", "depth") == 1
    assert told.value("QM02/queue/A", "depth") == 2


def test_newest_of_two_own_answers(talk: Talk) -> None:
    """Asked twice in a cycle, an object has one reading; what the newer answer lacks is taken from the older."""
    talk.ask(STATUS, [status("A", 1)])
    item = status("A", 2)
    del item[mq.MQIA_OPEN_INPUT_COUNT]
    talk.ask(STATUS, [item], question=QueryOptions("A"))
    values = talk.end().reading("QM01/queue/A").values
    assert (values["depth"], values["input_handles"]) == (2, 1)


def test_templates_and_other_types_are_no_queues(talk: Talk) -> None:
    """Definitions of disposition GROUP are templates; aliases and models are not watched."""
    talk.ask(
        DEFINITION,
        [
            definition("A"),
            definition("B", disposition=mq.MQQSGD_GROUP),
            definition("C", type=mq.MQQT_ALIAS),
            definition("D", disposition=mq.MQQSGD_COPY),
        ],
    )
    told = talk.end()
    readings = [reading for reading in told.snapshot("QM01").readings if reading.object.kind == "queue"]
    assert [reading.object.name for reading in readings] == ["A", "D"]
    assert not any(reading.poll for reading in readings)


def test_definition_tells_the_pages_of_the_longest_message(talk: Talk) -> None:
    """One up to 3635 bytes; what is not told has none."""
    talk.ask(DEFINITION, [definition("A") | {mq.MQIA_MAX_MSG_LENGTH: 3636}, definition("B")])
    told = talk.end()
    assert told.value("QM01/queue/A", "max_msg_pages") == 2
    assert told.value("QM01/queue/B", "max_msg_pages") is Absence.NOT_RETURNED


def test_definition_finds_page_set_and_buffer_pool(talk: Talk) -> None:
    """Storage class to page set, page set to buffer pool; a shared queue has neither."""
    talk.ask(
        DEFINITION,
        [
            definition("A", page_set=9),
            definition("B", storage_class="?", page_set=4),
            definition("I", storage_class="IMS"),
            definition("N", storage_class="NONE"),
            definition("S", disposition=SHARED),
        ],
    )
    xcf = mq.MQCA_XCF_MEMBER_NAME
    talk.ask(
        mq.MQCMD_INQUIRE_STG_CLASS,
        [
            {mq.MQCA_STORAGE_CLASS: "ORDERS", mq.MQIA_PAGESET_ID: 3, mq.MQIA_QSG_DISP: 0},
            {mq.MQCA_STORAGE_CLASS: "IMS", mq.MQIA_PAGESET_ID: 3, mq.MQIA_QSG_DISP: 0, xcf: "IMSA    "},
            {mq.MQCA_STORAGE_CLASS: "NONE", mq.MQIA_PAGESET_ID: 3, mq.MQIA_QSG_DISP: 0, xcf: "        "},
            {mq.MQCA_STORAGE_CLASS: "ORDERS", mq.MQIA_PAGESET_ID: 8, mq.MQIA_QSG_DISP: mq.MQQSGD_GROUP},
        ],
    )
    page_set = {mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_PAGESET, mq.MQIA_PAGESET_ID: 3, mq.MQIACF_BUFFER_POOL_ID: 2}
    talk.ask(mq.MQCMD_INQUIRE_USAGE, [page_set])
    told = talk.end()
    assert told.value("QM01/queue/A", "page_set") == 3
    assert told.value("QM01/queue/A", "buffer_pool") == 2
    assert told.value("QM01/queue/B", "page_set") == 4
    assert told.value("QM01/queue/B", "buffer_pool") is Absence.NOT_ASKED
    assert told.value("PRDQSG/queue/S", "page_set") is Absence.NOTHING_TO_TELL
    assert [told.value(f"QM01/queue/{name}", "xcf_member") for name in "ABIN"] == [
        Absence.NOT_RETURNED,
        Absence.NOT_ASKED,
        "IMSA",
        "",
    ]
    assert told.value("PRDQSG/queue/S", "xcf_member") is Absence.NOTHING_TO_TELL


def test_what_is_usual_of_a_queue_follows_from_its_handles(talk: Talk) -> None:
    """Open for input for more than half of the time before its last reader went; unknown at first."""

    def told(handles: int) -> Any:
        talk.ask(STATUS, [status("A", handles=(handles, 0))])
        return talk.end().value("QM01/queue/A", "usually_read")

    assert told(1) is Absence.FIRST_READING
    assert [told(handles) for handles in (3, 1, 0, 0)] == [1, 1, 1, 1]
    assert [told(handles) for handles in (0, 0, 1, 0)] == [1, 1, 0, 0]


def test_an_answer_that_did_not_come_is_no_lost_reader(talk: Talk) -> None:
    """What is usual is absent with the handles, and unchanged when they are known again."""
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.ask(STATUS, [status("A")])
    assert talk.end().value("QM01/queue/A", "usually_read") == 1
    talk.ask(STATUS, keep=0)
    assert talk.end().value("QM01/queue/A", "usually_read") is Absence.NO_ANSWER
    talk.ask(STATUS, [status("A", handles=(0, 0))])
    assert talk.end().value("QM01/queue/A", "usually_read") == 1


def _pools(talk: Talk, *page_sets: tuple[int, int]) -> Told:
    """The end of a cycle whose last answer is about page sets, each with its pool."""
    usage = [
        {mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_PAGESET, mq.MQIA_PAGESET_ID: number, mq.MQIACF_BUFFER_POOL_ID: pool}
        for number, pool in page_sets
    ]
    usage += [
        {mq.MQIACF_USAGE_TYPE: mq.MQIACF_USAGE_BUFFER_POOL, mq.MQIACF_BUFFER_POOL_ID: pool}
        for pool in sorted({pool for _, pool in page_sets})
    ]
    talk.ask(mq.MQCMD_INQUIRE_USAGE, usage)
    return talk.end()


def test_pools_tell_whether_all_their_queues_are_system_queues(talk: Talk) -> None:
    """Queues of every page set of a pool count, shared ones do not; a pool without queues has none to tell of."""
    at_4 = {"storage_class": "?"}
    found = [
        definition("SYSTEM.A", page_set=1, **at_4),
        definition("SYSTEM.B", page_set=2, **at_4),
        definition("PAY.IN", page_set=4, **at_4),
        definition("SYSTEM.C", page_set=5, **at_4),
        definition("PAY.SHARED", disposition=SHARED),
    ]
    page_sets = (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3)
    assert _pools(talk, *page_sets).value("QM01/buffer_pool/1", "system_queues_only") is Absence.NOT_ASKED
    talk.ask(DEFINITION, found)
    told = _pools(talk, *page_sets)
    only = [told.value(f"QM01/buffer_pool/{pool}", "system_queues_only") for pool in (1, 2, 3)]
    assert only == [1, 0, Absence.NOTHING_TO_TELL]
    talk.ask(DEFINITION, [*found, definition("PAY.OUT", page_set=3, **at_4)])
    assert _pools(talk, *page_sets).value("QM01/buffer_pool/1", "system_queues_only") == 0


def test_pools_tell_nothing_while_a_queue_is_not_known(talk: Talk) -> None:
    """A queue whose page set is not known, an incomplete answer, and a query for some queues only, leave it open."""
    system = definition("SYSTEM.A", storage_class="?", page_set=1)
    talk.ask(DEFINITION, [system])
    assert _pools(talk, (1, 1)).value("QM01/buffer_pool/1", "system_queues_only") == 1
    unplaced = definition("PAY.IN", storage_class="UNKNOWN")
    del unplaced[mq.MQIA_PAGESET_ID]
    talk.ask(DEFINITION, [system, unplaced])
    assert _pools(talk, (1, 1)).value("QM01/buffer_pool/1", "system_queues_only") is Absence.NOT_ASKED
    talk.ask(DEFINITION, [system])
    assert _pools(talk, (1, 1)).value("QM01/buffer_pool/1", "system_queues_only") == 1
    talk.ask(DEFINITION, [system], keep=1)
    assert _pools(talk, (1, 1)).value("QM01/buffer_pool/1", "system_queues_only") is Absence.NOT_ASKED
    talk.ask(DEFINITION, [system], question=QueryOptions(name="SYSTEM.*"))
    assert _pools(talk, (1, 1)).value("QM01/buffer_pool/1", "system_queues_only") is Absence.NOT_ASKED


def test_dead_letter_queue_is_known_by_name(talk: Talk) -> None:
    """DEADQ tells which queue it is; before the queue manager's attributes were read nobody knows."""
    talk.ask(STATUS, [status("DLQ"), status("A")])
    assert talk.end().value("QM01/queue/DLQ", "dead_letter") is Absence.NOT_ASKED
    talk.ask(mq.MQCMD_INQUIRE_Q_MGR, [{mq.MQCA_DEAD_LETTER_Q_NAME: "DLQ".ljust(48), mq.MQIA_PLATFORM: mq.MQPL_ZOS}])
    talk.ask(STATUS, [status("DLQ"), status("A")])
    told = talk.end()
    assert told.value("QM01/queue/DLQ", "dead_letter") == 1
    assert told.value("QM01/queue/A", "dead_letter") == 0


def test_whether_the_dead_letter_queue_exists(talk: Talk) -> None:
    """Known from complete answers about definitions that would hold it; a filter or another pattern says nothing."""
    attributes: list[dict[int, Any]]
    attributes = [{mq.MQCA_DEAD_LETTER_Q_NAME: "DLQ".ljust(48), mq.MQIA_PLATFORM: mq.MQPL_ZOS}]

    def found() -> Reported:
        talk.ask(mq.MQCMD_INQUIRE_Q_MGR, attributes)
        return talk.end().value("QM01/queue_manager", "dead_letter_queue_found")

    assert found() is Absence.NOT_ASKED
    talk.ask(DEFINITION, [definition("A")], question=QueryOptions(name="A*"))
    assert found() is Absence.NOT_ASKED
    talk.ask(DEFINITION, [definition("A")])
    assert found() == 0
    assert found() == 0
    talk.ask(DEFINITION, [definition("A"), definition("DLQ")])
    assert found() == 1
    attributes[0][mq.MQCA_DEAD_LETTER_Q_NAME] = "OTHER"
    assert found() is Absence.NOT_ASKED
    attributes[0][mq.MQCA_DEAD_LETTER_Q_NAME] = ""
    assert found() is Absence.NOTHING_TO_TELL


def test_distributed_queue_manager(talk: Talk) -> None:
    """On other platforms uncommitted messages are counted and files have sizes; QTIME has the same order everywhere."""
    talk.ask(mq.MQCMD_INQUIRE_Q_MGR, [{mq.MQIA_PLATFORM: mq.MQPL_UNIX}], distributed=True)
    item = status("A", qtime=(5, 6))
    item[mq.MQIACF_UNCOMMITTED_MSGS] = 4
    item[mq.MQIACF_CUR_Q_FILE_SIZE] = 12
    talk.ask(STATUS, [item], distributed=True)
    values = talk.end().reading("QM01/queue/A").values
    assert values["uncommitted_msgs"] == 4
    assert values["uncommitted"] is Absence.NOT_ON_DISTRIBUTED
    assert values["file_mb"] == 12
    assert (values["qtime_us_short"], values["qtime_us_long"]) == (5, 6)


@pytest.mark.parametrize("reason", [0, mq.MQRCCF_Q_STATUS_NOT_FOUND])
def test_queue_that_is_in_no_whole_answer_is_gone(talk: Talk, reason: int) -> None:
    """A whole answer that selected a known queue and does not hold it says that it is gone, once."""
    talk.ask(STATUS, [status("A"), status("B"), status("S", disposition=SHARED)])
    talk.end()
    talk.ask(STATUS, [] if reason else [status("A"), status("S", disposition=SHARED)], reason=reason)
    told = talk.end()
    reading = told.reading("QM01/queue/B")
    assert reading.gone
    assert reading.poll
    assert reading.values == {}
    assert bool(told.readings("QM01/queue/A")[0].gone) is bool(reason)
    talk.ask(STATUS, [status("A")])
    assert talk.end().readings("QM01/queue/B") == []


def test_answer_is_silent_about_what_was_not_selected(talk: Talk) -> None:
    """Another name, the other disposition, handles instead of status: no word about the queues that are known."""
    talk.ask(STATUS, [status("A"), status("S", disposition=SHARED)])
    talk.end()
    talk.ask(STATUS, question=QueryOptions("GONE.QUEUE"), reason=mq.MQRC_UNKNOWN_OBJECT_NAME)
    talk.ask(STATUS, question=QueryOptions(part=mq.MQIACF_Q_HANDLE))
    told = talk.end()
    assert told.readings("QM01/queue/A") == []
    assert told.readings("PRDQSG/queue/S") == []
    talk.ask(STATUS, [status("A")], question=QueryOptions(disposition=None))
    assert talk.end().readings("PRDQSG/queue/S") == []
    talk.ask(STATUS, [], question=QueryOptions(disposition=SHARED), reason=mq.MQRCCF_Q_STATUS_NOT_FOUND)
    told = talk.end()
    assert told.readings("QM01/queue/A") == []
    assert told.reading("PRDQSG/queue/S").gone


def test_single_name_not_found_is_gone_for_that_name(talk: Talk) -> None:
    """Not found for one name tells about that name alone."""
    talk.ask(STATUS, [status("A"), status("B")])
    talk.end()
    talk.ask(STATUS, question=QueryOptions("A"), reason=mq.MQRC_UNKNOWN_OBJECT_NAME)
    told = talk.end()
    assert told.reading("QM01/queue/A").gone
    assert told.readings("QM01/queue/B") == []


def test_cut_answer_is_a_null_point_for_the_rest(talk: Talk) -> None:
    """An answer that stopped coming: what came counts, the other known queues are asked and unanswered."""
    talk.ask(STATUS, [status("A", 1), status("B", 1)])
    talk.end()
    talk.ask(STATUS, [status("A", 2), status("B", 2)], keep=1, error=2033)
    told = talk.end()
    assert told.value("QM01/queue/A", "depth") == 2
    reading = told.reading("QM01/queue/B")
    assert reading.poll
    assert not reading.answered
    assert not reading.gone
    assert set(reading.values.values()) == {Absence.NO_ANSWER}
    assert told.value("QM01/queue_manager", "reachable") == 1
    talk.ask(STATUS, [status("B", 3)])
    assert talk.end().reading("QM01/queue/B").interval_ms == 20_000


def test_refusal_is_a_null_point_with_its_reason(talk: Talk) -> None:
    """Not authorised is told as such."""
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.ask(STATUS, reason=mq.MQRCCF_NOT_AUTHORIZED)
    assert set(talk.end().reading("QM01/queue/A").values.values()) == {Absence.NOT_AUTHORISED}


def test_probe_that_was_not_due_gives_nothing(talk: Talk) -> None:
    """A cycle that does not ask makes no null point."""
    talk.ask(STATUS, [status("A")])
    talk.end()
    talk.ask(mq.MQCMD_INQUIRE_LOG)
    assert talk.end().readings("QM01/queue/A") == []


def test_cut_definitions_are_no_poll(talk: Talk) -> None:
    """Definitions that failed to come are absent without making a poll; gone ones are forgotten."""
    talk.ask(DEFINITION, [definition("A"), definition("B")])
    talk.end()
    talk.ask(DEFINITION, reason=mq.MQRCCF_NOT_AUTHORIZED)
    reading = talk.end().reading("QM01/queue/A")
    assert (reading.poll, reading.answered) == (False, False)
    talk.ask(DEFINITION, [definition("A")])
    assert talk.end().readings("QM01/queue/B") == []


def test_failed_item_is_neither_told_nor_gone(talk: Talk) -> None:
    """An item that only names a queue, because its attributes could not be returned, makes a null point."""
    from mqvitals_agent.connection.connection import Reply
    from mqvitals_agent.pcf.encoder import byte_string, encode_message, string

    talk.ask(STATUS, [status("A"), status("B")])
    talk.end()
    set_id = talk.set_id()
    replies = talk.replies(STATUS, [status("A")], set_id=set_id)
    identity = [byte_string(mq.MQBACF_RESPONSE_ID, set_id), string(mq.MQCACF_RESPONSE_Q_MGR_NAME, "QM01")]
    failed = [*identity, string(mq.MQCA_Q_NAME, "B")]
    item = encode_message(mq.MQCFT_XR_ITEM, STATUS, failed, sequence=2, control=0, comp_code=2, reason=2035)
    summary = encode_message(mq.MQCFT_XR_SUMMARY, STATUS, identity, sequence=3, comp_code=2, reason=3008)
    talk.exchange(STATUS, [replies[0], Reply(785, 500, item), Reply(785, 500, summary)])
    reading = talk.end().reading("QM01/queue/B")
    assert not reading.gone
    assert set(reading.values.values()) == {Absence.NOT_AUTHORISED}


def test_queues_that_are_named_by_others_know_it(talk: Talk) -> None:
    """As initiation queue, for messages put aside, for copies; private queues and those of the group name each other."""
    initq, boq, stream = mq.MQCA_INITIATION_Q_NAME, mq.MQCA_BACKOUT_REQ_Q_NAME, mq.MQCA_STREAM_QUEUE_NAME
    talk.ask(
        DEFINITION,
        [
            definition("A") | {initq: "INIT", boq: "BO".ljust(48), stream: ""},
            definition("B") | {initq: "INIT", boq: "BO", stream: "COPY"},
            definition("S", disposition=SHARED) | {initq: "INIT", boq: "", stream: ""},
            *(definition(name) | {initq: "", boq: "", stream: ""} for name in ("INIT", "BO", "COPY")),
        ],
    )
    talk.ask(DEFINITION, [definition("INIT") | {initq: "", boq: "S"}], queue_manager="QM02")
    told = talk.end()
    assert told.value("QM01/queue/INIT", "initiation_of") == 3
    assert told.value("QM02/queue/INIT", "initiation_of") == 1
    assert told.value("QM01/queue/BO", "backout_of") == "A, B"
    assert told.value("QM01/queue/COPY", "stream_of") == "B"
    assert told.value("PRDQSG/queue/S", "backout_of") == "INIT"
    assert told.value("QM01/queue/A", "backout_of") == ""
    assert told.value("QM01/queue/A", "initiation_of") == 0
    talk.ask(DEFINITION, [definition("BO") | {initq: "", boq: "", stream: ""}])
    told = talk.end()
    assert told.value("QM01/queue/BO", "backout_of") == ""


def test_a_level_without_copies_tells_of_none(talk: Talk) -> None:
    """What no definition reports is absent, not zero."""
    talk.ask(DEFINITION, [definition("A")])
    told = talk.end()
    for metric in ("initiation_of", "backout_of", "stream_of", "stream_queue", "stream_qos", "trigger_depth"):
        assert told.value("QM01/queue/A", metric) is Absence.NOT_RETURNED


def test_many_that_name_a_queue_are_listed_in_part(talk: Talk) -> None:
    """The list is bounded."""
    names = [f"Q{number:02}" for number in range(10)]
    boq = mq.MQCA_BACKOUT_REQ_Q_NAME
    talk.ask(DEFINITION, [*(definition(name) | {boq: "BO"} for name in names), definition("BO") | {boq: ""}])
    assert talk.end().value("QM01/queue/BO", "backout_of") == f"{', '.join(names[:8])} and 2 more"
