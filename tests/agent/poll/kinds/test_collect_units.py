"""Units of work: what the connections that have one add up to, and which are the oldest."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.encoder import byte_string, integer, request, string_filter
from mqvitals_agent.poll.collector import Collector
from mqvitals_agent.poll.queries import PROBES, configured_ms, zos_queries
from mqvitals_config.sections.collection import PollingSettings
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

CONN = mq.MQCMD_INQUIRE_CONNECTION
NO_CONNECTION = mq.MQRCCF_NONE_FOUND
QM = "QM01/queue_manager"
COUNTS = ("units_active", "units_logged", "units_prepared", "units_unresolved")


def unit(state: int, began: str = "", logged: str = "", name: str = "CICSPA01") -> dict[int, Any]:
    """A connection's item; times are those of 20 November, empty: blank."""
    return {
        mq.MQBACF_CONNECTION_ID: b"\xc3\xe2\xd8\xc3QM01        \0\0\0\0\0\0\0\x2a",
        mq.MQCACF_APPL_TAG: name,
        mq.MQCACF_USER_IDENTIFIER: "CICSUSER",
        mq.MQCACH_CHANNEL_NAME: "",
        mq.MQCACH_CONNECTION_NAME: "",
        mq.MQIACF_UOW_STATE: state,
        mq.MQIACF_UOW_TYPE: mq.MQUOWT_CICS,
        mq.MQCACF_UOW_START_DATE: "2026-11-20" if began else "",
        mq.MQCACF_UOW_START_TIME: began,
        mq.MQCACF_UOW_LOG_START_DATE: "2026-11-20" if logged else "",
        mq.MQCACF_UOW_LOG_START_TIME: logged,
        mq.MQBACF_Q_MGR_UOW_ID: bytes.fromhex("0000001A00000000"),
    }


ACTIVE, PREPARED, UNRESOLVED = mq.MQUOWST_ACTIVE, mq.MQUOWST_PREPARED, mq.MQUOWST_UNRESOLVED


def test_counts_and_the_oldest(talk: Talk) -> None:
    """Of the active ones the oldest with log records counts, of those in doubt the oldest, whichever the state."""
    talk.ask(
        CONN,
        [
            unit(ACTIVE, "08.00.00", "", "READER"),
            unit(ACTIVE, "11.00.00", "11.30.00", "WRITER"),
            unit(ACTIVE, "09.00.00", "11.40.00", "LATER"),
            unit(PREPARED, "11.10.00", "11.20.00", "PREPARED"),
            unit(UNRESOLVED, "11.10.00", "11.15.00", "LOST"),
        ],
    )
    values = talk.end().reading(QM, "INQUIRE_CONNECTION").values
    assert [values[name] for name in COUNTS] == [3, 2, 1, 1]
    assert (
        values["logged_oldest"] == "WRITER, user CICSUSER, CICS, connection 000000000000002A, QMURID 0000001A00000000"
    )
    assert str(values["indoubt_oldest"]).startswith("LOST, ")
    assert values["indoubt_age_s"] is values["logged_age_s"] is Absence.TIME_ZONE_UNKNOWN


def test_ages_are_those_of_the_zone(talk: Talk) -> None:
    """The answer came at 12:00 UTC, 13:00 of the queue manager."""
    talk.collector = Collector("PRDQSG", ["QM01"], lambda _: timezone(timedelta(hours=1)))
    talk.ask(CONN, [unit(UNRESOLVED, "12.00.00", "12.45.00"), unit(ACTIVE, "12.00.00", "10.59.00")])
    values = talk.end().reading(QM, "INQUIRE_CONNECTION").values
    assert values["indoubt_age_s"] == 15 * 60
    assert values["logged_age_s"] == 121 * 60


def test_no_unit_of_work_is_none(talk: Talk) -> None:
    """Nothing found is an answer: no unit of work, and no oldest one."""
    talk.ask(CONN, reason=NO_CONNECTION)
    values = talk.end().reading(QM, "INQUIRE_CONNECTION").values
    assert [values[name] for name in COUNTS] == [0, 0, 0, 0]
    assert {values["indoubt_age_s"], values["logged_age_s"], values["logged_oldest"]} == {Absence.NOTHING_TO_TELL}


def test_half_an_answer_counts_nothing(talk: Talk) -> None:
    """What did not come may be older and more."""
    talk.ask(CONN, [unit(ACTIVE, "11.00.00", "11.30.00")] * 3, keep=2)
    assert set(talk.end().reading(QM, "INQUIRE_CONNECTION").values.values()) == {Absence.NO_ANSWER}


def test_a_refusal_is_that_of_connections_alone(talk: Talk) -> None:
    talk.ask(CONN, [unit(ACTIVE, "11.00.00", "11.30.00")])
    talk.end()
    talk.ask(CONN, reason=2035)
    talk.ask(mq.MQCMD_INQUIRE_Q_MGR, [{mq.MQIA_COMMAND_LEVEL: 940}])
    told = talk.end()
    assert set(told.reading(QM, "INQUIRE_CONNECTION").values.values()) == {Absence.NOT_AUTHORISED}
    assert told.reading(QM, "INQUIRE_Q_MGR").values["command_level"] == 940


def test_the_connections_of_one_application_say_nothing_of_the_others(talk: Talk) -> None:
    """Another filter than the probe's own, as of a question on demand."""
    asked = request(
        CONN,
        (
            byte_string(mq.MQBACF_GENERIC_CONNECTION_ID, b""),
            integer(mq.MQIACF_CONN_INFO_TYPE, mq.MQIACF_CONN_INFO_CONN),
            string_filter(mq.MQCACF_APPL_TAG, mq.MQCFOP_EQUAL, "CICSPA01"),
        ),
    )
    talk.exchange(CONN, talk.replies(CONN, [unit(ACTIVE, "11.00.00", "11.30.00")]), sent=asked)
    assert not [each for each in talk.end().snapshot("QM01").readings if each.probe == "INQUIRE_CONNECTION"]


def test_what_is_asked_and_how_often() -> None:
    """All connections with a unit of work, every five minutes and never more often than each minute."""
    (query,) = [each for each in zos_queries(PollingSettings()) if each.question == "INQUIRE_CONNECTION"]
    values = Decoder().decode(query.request, 1208).values
    assert values[mq.MQBACF_GENERIC_CONNECTION_ID] == b""
    assert values[mq.MQIACF_CONN_INFO_TYPE] == mq.MQIACF_CONN_INFO_CONN
    where: Any = values[mq.MQIACF_UOW_STATE]
    assert (where.operator, where.value) == (mq.MQCFOP_NOT_EQUAL, mq.MQUOWST_NONE)
    assert configured_ms("INQUIRE_CONNECTION", 30_000) == 300_000
    assert configured_ms("INQUIRE_CONNECTION", 30_000, {"INQUIRE_CONNECTION": 1_000}) == 60_000


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                number: st.integers(-(2**31), 2**31 - 1)
                | st.sampled_from(["", "2026-11-20", "11.00.00", "A\x1b[2J"])
                | st.binary(max_size=48)
                for number in PROBES[CONN].wanted
            },
        ),
        max_size=5,
    )
)
def test_any_connections(talk: Talk, found: list[dict[int, Any]]) -> None:
    """Parameters missing, of another type or size: the counts are never more than the items, and nothing raises."""
    talk.collector = Collector("PRDQSG", ["QM01"])
    safe = [{number: value for number, value in item.items() if number not in OF_THE_ANSWER} for item in found]
    talk.ask(CONN, safe)
    values = talk.end().reading(QM, "INQUIRE_CONNECTION").values
    counts = [values[name] for name in COUNTS]
    numbers = [each for each in counts if isinstance(each, int)]
    assert len(numbers) == len(COUNTS)
    assert 0 <= numbers[1] <= numbers[0]
    assert numbers[0] + numbers[2] + numbers[3] <= len(safe)


OF_THE_ANSWER = {
    mq.MQBACF_RESPONSE_ID,
    mq.MQBACF_RESPONSE_SET,
    mq.MQCACF_RESPONSE_Q_MGR_NAME,
    mq.MQIACF_COMMAND_INFO,
    mq.MQIACF_CMDSCOPE_Q_MGR_COUNT,
}
