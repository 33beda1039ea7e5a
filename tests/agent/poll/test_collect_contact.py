"""Whether queue managers can be reached, and what became of each form of command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mqvitals_agent.connection.connection import Exchange, MqiCalls, MqiFailure, Reply
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.command_form import command_form as form_of
from mqvitals_agent.poll.command_form import display_command
from mqvitals_agent.poll.probe import QueryOptions
from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary.metric import Absence

if TYPE_CHECKING:
    from tests.agent.poll.conftest import Talk

LOG, STATUS = mq.MQCMD_INQUIRE_LOG, mq.MQCMD_INQUIRE_Q_STATUS
QUEUE = {mq.MQCA_Q_NAME: "A", mq.MQIA_CURRENT_Q_DEPTH: 1, mq.MQIA_QSG_DISP: 0}


def outcome(talk: Talk, name: str) -> tuple[Outcome, object]:
    """The outcome and reason of a form of command in the cycle that ends here."""
    values = talk.end().reading(name).values
    return Outcome(values["outcome"]), values["reason"]


def test_answering_queue_manager_is_reachable(talk: Talk) -> None:
    """An answer, also an empty one, shows that the connection stands; a queue manager nobody asked is not judged."""
    talk.ask(LOG)
    told = talk.end()
    reading = told.reading("QM01/queue_manager", "CONNECTION")
    assert (reading.poll, reading.answered) == (True, True)
    untold = {"hung_calls": Absence.NOT_LIVE, "hanging_calls": Absence.NOT_LIVE}
    assert reading.values == {"reachable": 1, "reason": 0, "unknown_ccsid": 0, **untold}
    silent = told.reading("QM02/queue_manager", "CONNECTION")
    assert (silent.poll, silent.answered) == (False, False)
    assert silent.values["reachable"] is Absence.NOT_ASKED


def test_an_unknown_character_set_is_named_and_names_are_read(talk: Talk) -> None:
    """The answers count, cycle by cycle, also after the shape of the messages is known; then the CCSID is right again."""
    stated = ((500).to_bytes(4, "big"), (4711).to_bytes(4, "big"))
    told = []
    for unknown in (True, True, True, False):
        replies = talk.replies(STATUS, [QUEUE] * 40)
        if unknown:
            replies = [Reply(785, 4711, each.data.replace(*stated)) for each in replies]
        talk.exchange(STATUS, replies)
        cycle = talk.end()
        told.append(cycle.value("QM01/queue_manager", "unknown_ccsid"))
        assert cycle.value("QM01/queue/A", "depth") == 1
        assert cycle.value("QM01/agent/INQUIRE_Q_STATUS", "outcome") == Outcome.OK.value
    assert told == [4711, 4711, 4711, 0]


def test_calls_that_hang_are_told_as_increase_and_as_they_are(talk: Talk) -> None:
    """Each cycle tells what came since the one before; a connector that is new counts from none."""
    told = []
    for hung, hanging in ((0, 0), (2, 1), (2, 0), (1, 1)):
        talk.collector.builder.polling.set_calls("QM01", MqiCalls(hung, hanging))
        talk.ask(LOG)
        values = talk.end().reading("QM01/queue_manager", "CONNECTION").values
        told.append((values["hung_calls"], values["hanging_calls"]))
    assert told == [(0, 0), (2, 1), (0, 0), (1, 1)]


@pytest.mark.parametrize("reason", [2009, 2059, 2161, 2162, 2202, 2203, 2273, 2537, 2538])
def test_lost_connection_is_unreachable(talk: Talk, reason: int) -> None:
    """A call that failed for want of a connection; its reason is told."""
    talk.fail(reason, command=LOG)
    told = talk.end()
    assert told.value("QM01/queue_manager", "reachable") == 0
    assert told.value("QM01/queue_manager", "reason") == reason


def test_failed_attempt_to_connect_is_unreachable_whatever_the_reason(talk: Talk) -> None:
    """A wrong password keeps us out as well as a queue manager that is down."""
    talk.fail(2035)
    told = talk.end()
    assert told.value("QM01/queue_manager", "reachable") == 0
    assert told.value("QM01/queue_manager", "reason") == 2035


def test_reconnected_in_the_same_cycle_is_reachable(talk: Talk) -> None:
    """The last exchange of the cycle counts."""
    talk.fail(2009, command=LOG)
    talk.fail(2059)
    talk.ask(LOG)
    told = talk.end()
    assert told.value("QM01/queue_manager", "reachable") == 1
    assert told.value("QM01/queue_manager", "reason") == 0


@pytest.mark.parametrize("reason", [2033, 2053, 2035])
def test_other_failures_do_not_make_it_unreachable(talk: Talk, reason: int) -> None:
    """No reply, a full command queue, no authority: the connection stands."""
    talk.fail(reason, command=LOG)
    assert talk.end().value("QM01/queue_manager", "reachable") == 1


def test_everything_polled_is_unknown_while_it_is_unreachable(talk: Talk) -> None:
    """Objects of probes that could not even be asked get their null point; definitions do not."""
    talk.ask(STATUS, [QUEUE])
    talk.ask(LOG, [{mq.MQIACF_SYSP_TYPE: 13, mq.MQIACF_SYSP_TOTAL_LOGS: 8}])
    talk.ask(mq.MQCMD_INQUIRE_Q, [{mq.MQCA_Q_NAME: "A", mq.MQIA_Q_TYPE: 1}])
    talk.end()
    talk.fail(2059)
    told = talk.end()
    for name in ("QM01/queue/A", "QM01/log"):
        reading = told.reading(name)
        assert (reading.poll, reading.answered) == (True, False)
        assert set(reading.values.values()) == {Absence.UNREACHABLE}


def test_what_was_told_before_the_connection_broke_counts(talk: Talk) -> None:
    """A probe that was answered in the cycle keeps its values."""
    for _ in range(2):
        talk.ask(STATUS, [QUEUE])
        talk.ask(LOG, [{mq.MQIACF_SYSP_TYPE: 13}])
        talk.end()
    talk.ask(STATUS, [QUEUE])
    talk.fail(2009, command=LOG)
    told = talk.end()
    assert told.reading("QM01/queue/A").answered
    assert not told.reading("QM01/log").answered


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (0, Outcome.OK),
        (3065, Outcome.NOT_FOUND),
        (3200, Outcome.NOT_FOUND),
        (2085, Outcome.NOT_FOUND),
        (4091, Outcome.NOT_FOUND),
        (3007, Outcome.UNKNOWN_COMMAND),
        (3081, Outcome.REFUSED),
        (2035, Outcome.REFUSED),
        (3217, Outcome.FAILED),
    ],
)
def test_outcome_of_an_answer(talk: Talk, reason: int, expected: Outcome) -> None:
    """The first specific reason decides, never the summary's 3008; a command without a probe is judged too."""
    for command, form in [
        (mq.MQCMD_INQUIRE_ARCHIVE, "INQUIRE_ARCHIVE"),
        (161, "INQUIRE_Q_MGR_STATUS"),
        (40, "PING_Q_MGR"),
        (999, "COMMAND 999"),
    ]:
        talk.ask(command, reason=reason)
        assert outcome(talk, f"QM01/agent/{form}") == (expected, reason)


def test_command_in_mqsc(talk: Talk) -> None:
    """Each form of a command tells its name in MQSC; one without such a name stands as itself."""
    for command, scope, form, written in [
        (mq.MQCMD_INQUIRE_ARCHIVE, "", "INQUIRE_ARCHIVE", "DISPLAY ARCHIVE"),
        (mq.MQCMD_INQUIRE_CHANNEL_STATUS, "*", "INQUIRE_CHANNEL_STATUS CMDSCOPE(*)", "DISPLAY CHSTATUS"),
        (mq.MQCMD_INQUIRE_QSG, "", "INQUIRE_QSG", "DISPLAY GROUP"),
        (999, "", "COMMAND 999", "COMMAND 999"),
    ]:
        assert form_of(command, scope) == form
        assert display_command(form) == written
    talk.ask(mq.MQCMD_INQUIRE_ARCHIVE, reason=3081)
    assert talk.end().value("QM01/agent/INQUIRE_ARCHIVE", "mqsc") == "DISPLAY ARCHIVE"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [(2033, Outcome.INCOMPLETE), (2009, Outcome.UNREACHABLE), (2035, Outcome.REFUSED), (2053, Outcome.FAILED)],
)
def test_outcome_of_a_failed_call(talk: Talk, reason: int, expected: Outcome) -> None:
    """The MQI's reason decides when nothing came."""
    talk.fail(reason, command=LOG)
    assert outcome(talk, "QM01/agent/INQUIRE_LOG") == (expected, reason)


def test_cut_answer_is_incomplete(talk: Talk) -> None:
    """Also without an error on record: the response sets tell."""
    talk.ask(STATUS, [QUEUE, QUEUE], keep=1)
    assert outcome(talk, "QM01/agent/INQUIRE_Q_STATUS") == (Outcome.INCOMPLETE, 2033)
    talk.exchange(STATUS, [])
    assert outcome(talk, "QM01/agent/INQUIRE_Q_STATUS") == (Outcome.INCOMPLETE, 2033)


def test_worst_outcome_of_the_cycle(talk: Talk) -> None:
    """Of several commands of one form the worst is told, the figures are sums."""
    talk.ask(LOG)
    talk.ask(LOG, reason=3081)
    talk.ask(LOG)
    values = talk.end().reading("QM01/agent/INQUIRE_LOG").values
    assert (values["outcome"], values["reason"]) == (Outcome.REFUSED.value, 3081)
    assert (values["commands"], values["replies"], values["elapsed_ms"]) == (3, 4, 21)
    assert isinstance(values["bytes"], int)


def test_scoped_form_is_apart_and_judged_by_member(talk: Talk) -> None:
    """A member that refuses the scoped command is told so, while its own command succeeds."""
    talk.ask(mq.MQCMD_INQUIRE_CHANNEL_STATUS, queue_manager="QM02", reason=3065)
    scoped = talk.scoped(mq.MQCMD_INQUIRE_CHANNEL_STATUS, {"QM01": [], "QM02": 3081})
    talk.exchange(mq.MQCMD_INQUIRE_CHANNEL_STATUS, scoped, question=QueryOptions(scope="*"))
    told = talk.end()
    form = "INQUIRE_CHANNEL_STATUS CMDSCOPE(*)"
    assert told.value(f"QM02/agent/{form}", "outcome") == Outcome.REFUSED.value
    assert told.value("QM02/agent/INQUIRE_CHANNEL_STATUS", "outcome") == Outcome.NOT_FOUND.value
    assert told.value(f"QM01/agent/{form}", "outcome") == Outcome.OK.value
    assert told.value(f"QM01/agent/{form}", "replies") == 3
    assert told.reading(f"QM02/agent/{form}").poll


def test_member_whose_scoped_answer_stops_is_incomplete(talk: Talk) -> None:
    """Only the member whose set did not end; the known objects of both that answered and that did not are kept apart."""
    talk.exchange(STATUS, talk.scoped(STATUS, {"QM01": [QUEUE], "QM02": [QUEUE]}), question=QueryOptions(scope="*"))
    talk.end()
    replies = talk.scoped(STATUS, {"QM01": [QUEUE], "QM02": [QUEUE]})
    talk.exchange(STATUS, [*replies[:-3], *replies[-1:]], question=QueryOptions(scope="*"), error=2033)
    told = talk.end()
    form = "INQUIRE_Q_STATUS CMDSCOPE(*)"
    assert told.value(f"QM01/agent/{form}", "outcome") == Outcome.INCOMPLETE.value  # nothing tells whose set is missing
    assert told.reading("QM01/queue/A").answered
    assert not told.reading("QM02/queue/A").answered
    cut = [*replies[:-2], replies[-1]]
    talk.exchange(STATUS, cut, question=QueryOptions(scope="*"), error=2033)
    told = talk.end()
    assert told.value(f"QM01/agent/{form}", "outcome") == Outcome.OK.value
    assert told.value(f"QM02/agent/{form}", "outcome") == Outcome.INCOMPLETE.value


def test_damaged_message_costs_itself_alone(talk: Talk) -> None:
    """The rest of the answer is read; what may have been in the damaged message is neither told nor gone."""
    other = QUEUE | {mq.MQCA_Q_NAME: "B"}
    talk.ask(STATUS, [QUEUE, other])
    talk.end()
    replies = talk.replies(STATUS, [QUEUE, other])
    replies[1] = Reply(785, 500, replies[1].data[:50])
    talk.exchange(STATUS, replies)
    told = talk.end()
    assert told.value("QM01/agent/INQUIRE_Q_STATUS", "outcome") == Outcome.DAMAGED.value
    assert told.reading("QM01/queue/A").answered
    assert not told.reading("QM01/queue/B").answered
    assert not told.reading("QM01/queue/B").gone
    assert talk.collector.damaged == 1


def test_request_that_cannot_be_read_selects_nothing(talk: Talk) -> None:
    """The answer is read all the same; nothing is made of what is not in it."""
    talk.ask(STATUS, [QUEUE])
    talk.end()
    for sent in (b"\x00\x01", None):
        exchange = Exchange(
            0, talk.at, 1, "QM01", STATUS, sent, tuple(talk.replies(STATUS, [QUEUE | {mq.MQCA_Q_NAME: "B"}]))
        )
        talk.collector.feed(exchange)
        told = talk.end()
        assert told.readings("QM01/queue/A") == []


def test_commands_without_a_probe_are_counted_and_named(talk: Talk) -> None:
    """What no probe reads is counted, by name."""
    for command in (147, 147, 40, 999):
        talk.ask(command)
    assert talk.collector.unprobed == {"INQUIRE_CF_STRUC_NAMES": 2, "PING_Q_MGR": 1, "COMMAND 999": 1}


def test_unknown_queue_manager_gets_a_snapshot(talk: Talk) -> None:
    """Whoever is heard of has a snapshot in every cycle from then on."""
    talk.ask(LOG, queue_manager="QM09")
    assert talk.end().owners() == ["QM01", "QM02", "QM09", "PRDQSG"]
    assert talk.end().owners() == ["QM01", "QM02", "QM09", "PRDQSG"]


def test_classic_answer_without_a_sender(talk: Talk) -> None:
    """A distributed queue manager may not name itself: the answer is its own."""
    from mqvitals_agent.pcf.encoder import encode_message, integer, string

    items = [string(mq.MQCA_Q_NAME, "A"), integer(mq.MQIA_CURRENT_Q_DEPTH, 4)]
    data = encode_message(mq.MQCFT_RESPONSE, STATUS, items, order="<", ccsid=1208)
    talk.exchange(STATUS, [Reply(546, 1208, data)])
    told = talk.end()
    assert told.value("QM01/queue/A", "depth") == 4
    assert told.value("QM01/agent/INQUIRE_Q_STATUS", "outcome") == Outcome.OK.value


def test_empty_cycle(talk: Talk) -> None:
    """A cycle without any exchange still has its snapshots."""
    told = talk.end()
    assert told.owners() == ["QM01", "QM02", "PRDQSG"]
    assert all(reading.probe == "CONNECTION" for snapshot in told.snapshots for reading in snapshot.readings)


def test_error_and_answer_together(talk: Talk) -> None:
    """An answer that had come whole before the connection broke counts as told, the command as unreachable."""
    failure = MqiFailure(2, 2009)
    talk.collector.feed(Exchange(0, talk.at, 1, "QM01", STATUS, b"", tuple(talk.replies(STATUS, [QUEUE])), failure))
    told = talk.end()
    assert told.value("QM01/queue/A", "depth") == 1
    assert told.value("QM01/agent/INQUIRE_Q_STATUS", "outcome") == Outcome.UNREACHABLE.value
