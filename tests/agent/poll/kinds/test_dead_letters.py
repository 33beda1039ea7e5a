"""Dead letters: counted by reason and destination, with what is known of the reason; what is no header counts as none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqvitals_agent.connection.connection import BROWSE_DEAD_LETTERS, MOST_DEAD_LETTERS, Exchange, MqiFailure, Reply
from mqvitals_agent.poll.kinds import dead_letters
from mqvitals_agent.poll.queries import distributed_queries, zos_queries
from mqvitals_agent.simulator.answer import dead_letter_header
from mqvitals_config.sections.collection import PollingSettings
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk, Told

MINUTE = 60_000


def look(talk: Talk, *headers: bytes, reason: int = 0) -> Told:
    """A cycle in which the dead-letter queue was looked at."""
    replies = tuple(Reply(785, 500, header) for header in headers)
    error = MqiFailure(2, reason) if reason else None
    request = dead_letters.REQUEST
    talk.collector.feed(Exchange(0, talk.at, 3, "QM01", BROWSE_DEAD_LETTERS, request, replies, error))
    return talk.end()


def test_messages_are_counted_by_reason_and_destination(talk: Talk) -> None:
    """With the first and the last, and what usually is the matter."""
    now = talk.at
    told = look(
        talk,
        dead_letter_header("QM01", 2053, "PAY.IN", now - 9 * MINUTE),
        dead_letter_header("QM01", 2053, "PAY.IN", now - 2 * MINUTE),
        dead_letter_header("QM01", 2085, "PAY.IN", now),
    )
    values = told.reading("QM01/dead_letter/2053/PAY.IN").values
    assert (values["messages"], values["reason"], values["reason_name"]) == (2, 2053, "MQRC_Q_FULL")
    assert (values["first_age_s"], values["last_age_s"]) == (9 * 60, 2 * 60)
    assert (values["send_to"], values["put_by"], values["destination"]) == (
        "the application",
        "QM01CHIN",
        "PAY.IN",
    )
    assert told.value("QM01/dead_letter/2085/PAY.IN", "messages") == 1
    assert told.value("QM01/agent/DEAD_LETTERS", "replies") == 3


def test_what_has_no_header_counts_as_such(talk: Talk) -> None:
    """Of another format, nothing is read."""
    told = look(talk, b"", b"DLH and then something else")
    assert told.value("QM01/dead_letter/0/-", "messages") == 2
    assert told.value("QM01/dead_letter/0/-", "last_age_s") is Absence.NOTHING_TO_TELL


def test_reasons_that_no_message_has_any_more_are_gone(talk: Talk) -> None:
    """After a whole look; a look that failed, or saw a part of the messages, proves nothing."""
    header = dead_letter_header("QM01", 2053, "PAY.IN", talk.at)
    other = dead_letter_header("QM01", 2085, "Q", talk.at)
    look(talk, header)
    refused = look(talk, reason=2035).reading("QM01/dead_letter/2053/PAY.IN")
    assert not refused.answered
    assert refused.values["messages"] is Absence.NOT_AUTHORISED
    assert look(talk, *[other] * MOST_DEAD_LETTERS).readings("QM01/dead_letter/2053/PAY.IN") == []
    assert look(talk, other).reading("QM01/dead_letter/2053/PAY.IN").gone


def test_every_reason_has_words() -> None:
    """Those of the table, ranges included, and any other reason code."""
    assert dead_letters.dead_letter_reason(2192).send_to == "the MQ team, at once"
    assert {dead_letters.dead_letter_reason(each).send_to for each in (291, 299, 301, 399, 600, 855)} == {"IMS"}
    assert {dead_letters.dead_letter_reason(each).send_to for each in (401, 413)} == {"CICS"}
    assert dead_letters.dead_letter_reason(300).name == "unknown reason"
    assert dead_letters.dead_letter_reason(2009).name == "MQRC_CONNECTION_BROKEN"


def test_nothing_is_browsed_unless_the_settings_say_so() -> None:
    """Off by default, on every platform."""
    for queries in (zos_queries, distributed_queries):
        asked = [query.command for query in queries(PollingSettings())]
        wanted = [query.command for query in queries(PollingSettings(dead_letters=True))]
        assert BROWSE_DEAD_LETTERS not in asked
        assert wanted == [*asked, BROWSE_DEAD_LETTERS]
