"""The answer tracker: which messages make an answer, when it is complete, and what each member said."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf import encoder
from mqvitals_agent.pcf.answer import MOST_SETS, TRACKED, AnswerTracker, DecodedReply, MemberAnswer
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import Message, Parameter

DECODER = Decoder()


def identifier(number: int) -> bytes:
    """The identifier of a response set."""
    return number.to_bytes(24, "big")


def message(
    number: int | None,
    sequence: int,
    *,
    kind: int = mq.MQCFT_XR_ITEM,
    last: bool = False,
    member: str = "QM01",
    reason: int = 0,
    comp_code: int | None = None,
    announces: Iterable[int] = (),
    info: int | None = None,
    count: int | None = None,
) -> Message:
    """A message of set ``number``."""
    parameters: list[Parameter] = []
    if number is not None:
        parameters.append(encoder.byte_string(mq.MQBACF_RESPONSE_ID, identifier(number)))
        parameters.append(encoder.string(mq.MQCACF_RESPONSE_Q_MGR_NAME, member, 48))
    if info is not None:
        parameters.append(encoder.integer(mq.MQIACF_COMMAND_INFO, info))
    if count is not None:
        parameters.append(encoder.integer(mq.MQIACF_CMDSCOPE_Q_MGR_COUNT, count))
    parameters.extend(encoder.byte_string(mq.MQBACF_RESPONSE_SET, identifier(other)) for other in announces)
    parameters.append(encoder.integer(mq.MQIA_CURRENT_Q_DEPTH, sequence))
    if comp_code is None:
        comp_code = mq.MQCC_FAILED if reason else mq.MQCC_OK
    return Message(kind, mq.MQCMD_INQUIRE_Q_STATUS, sequence, int(last), comp_code, reason, parameters)


def item(number: int, sequence: int, member: str = "QM01") -> Message:
    """One object."""
    return message(number, sequence, member=member)


def summary(number: int, sequence: int, member: str = "QM01", reason: int = 0) -> Message:
    """The end of a set."""
    return message(number, sequence, kind=mq.MQCFT_XR_SUMMARY, last=True, member=member, reason=reason)


def refusal(number: int, reason: int, member: str = "QM01") -> tuple[Message, Message]:
    """A failure: what it is, and that it is one."""
    return message(number, 1, kind=mq.MQCFT_XR_MSG, reason=reason, member=member), summary(number, 2, member, 3008)


def accepted(announces: Iterable[int] = (), count: int | None = 4) -> Message:
    """A scoped command is accepted."""
    return message(1, 1, kind=mq.MQCFT_XR_MSG, last=True, info=1, count=count, announces=announces)


def completed() -> tuple[Message, Message]:
    """A scoped command is completed."""
    return message(2, 1, kind=mq.MQCFT_XR_MSG, info=3), summary(2, 2)


@pytest.fixture(params=["whole", "values"])
def follow(request: pytest.FixtureRequest) -> _Follow:
    """Feeds a tracker with whole messages, or with wanted values as the poller has them."""
    return _Follow(whole=request.param == "whole")


class _Follow:
    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self.tracker = AnswerTracker()

    def __call__(self, *messages: Message) -> list[bool]:
        """Add the messages; after which of them the answer was complete."""
        states = []
        for one in messages:
            data = encoder.encode(one)
            reply: DecodedReply = DECODER.decode(data, 0) if self._whole else DECODER.decode_values(data, 0, TRACKED)
            self.tracker.add(reply)
            states.append(self.tracker.complete)
        return states

    @property
    def answers(self) -> dict[str, MemberAnswer]:
        """The answers by queue manager."""
        return {answer.queue_manager: answer for answer in self.tracker.answers()}


def told(answer: MemberAnswer) -> tuple[int, int, int, bool]:
    """Number of items, reason, completion code, complete."""
    return len(answer.items), answer.reason, answer.comp_code, answer.complete


def test_one_set(follow: _Follow) -> None:
    """An answer of one set is complete with the last message of that set."""
    assert not follow.tracker.complete
    assert follow.tracker.answers() == ()
    assert follow(item(1, 1), item(1, 2), summary(1, 3)) == [False, False, True]
    assert told(follow.answers["QM01"]) == (2, 0, 0, True)
    assert [reply.sequence for reply in follow.answers["QM01"].items] == [1, 2]


def test_a_set_may_end_with_an_item(follow: _Follow) -> None:
    """A set may end without a summary."""
    assert follow(item(1, 1), message(1, 2, last=True)) == [False, True]
    assert told(follow.answers["QM01"]) == (2, 0, 0, True)


def test_classic_answers(follow: _Follow) -> None:
    """Answers without identifiers, as distributed queue managers give, end with the first last message."""
    kind = mq.MQCFT_RESPONSE
    assert follow(message(None, 1, kind=kind), message(None, 2, kind=kind, last=True)) == [False, True]
    assert told(follow.answers[""]) == (2, 0, 0, True)


def test_a_classic_refusal(follow: _Follow) -> None:
    """A classic failure is one message, and no item."""
    assert follow(message(None, 1, kind=mq.MQCFT_RESPONSE, last=True, reason=2085)) == [True]
    assert told(follow.answers[""]) == (0, 2085, 2, True)


def test_a_failure_in_two_messages_is_one(follow: _Follow) -> None:
    """The specific reason is the cause, 3008 in the summary is noise."""
    assert follow(*refusal(1, 3065)) == [False, True]
    assert told(follow.answers["QM01"]) == (0, 3065, 2, True)


def test_the_first_specific_reason_counts(follow: _Follow) -> None:
    """Of several reasons the first one that is a failure and not 3008 is told."""
    follow(
        message(1, 1, kind=mq.MQCFT_XR_MSG, reason=3008),
        message(1, 2, kind=mq.MQCFT_XR_MSG, reason=3100, comp_code=mq.MQCC_WARNING),
        message(1, 3, kind=mq.MQCFT_XR_MSG, reason=3081),
        message(1, 4, kind=mq.MQCFT_XR_MSG, reason=2035),
        summary(1, 5, reason=3008),
    )
    assert told(follow.answers["QM01"]) == (0, 3081, 2, True)


def test_a_warning_is_told(follow: _Follow) -> None:
    """A warning is told with its reason, and its items are items."""
    follow(message(1, 1, reason=3100, comp_code=mq.MQCC_WARNING), summary(1, 2))
    assert told(follow.answers["QM01"]) == (1, 3100, 1, True)


def test_a_failure_that_says_nothing(follow: _Follow) -> None:
    """Only when nothing else was said is 3008 the reason: a failure must not look like an empty answer."""
    follow(summary(1, 1, reason=3008))
    assert told(follow.answers["QM01"]) == (0, 3008, 2, True)


def test_objects_that_failed(follow: _Follow) -> None:
    """An item with a failure names an object and is no item; the others are."""
    follow(item(1, 1), message(1, 2, reason=2035), item(1, 3), summary(1, 4, reason=3008))
    answer = follow.answers["QM01"]
    assert told(answer) == (2, 2035, 2, True)
    assert [reply.sequence for reply in answer.failed] == [2]


def test_a_set_announced_before_it_comes(follow: _Follow) -> None:
    """An announced set is waited for, although the first one ended."""
    states = follow(
        message(1, 1, kind=mq.MQCFT_XR_MSG, last=True, announces=(5, 6)),
        item(5, 1),
        summary(5, 2),
        item(6, 1),
        summary(6, 2),
    )
    assert states == [False, False, False, False, True]
    assert told(follow.answers["QM01"]) == (2, 0, 0, True)


def test_a_set_announced_after_it_came(follow: _Follow) -> None:
    """A set that had ended before it was announced is not waited for again."""
    states = follow(
        message(1, 1, kind=mq.MQCFT_XR_MSG),
        item(5, 1),
        summary(5, 2),
        message(1, 2, kind=mq.MQCFT_XR_MSG, last=True, announces=(5,)),
    )
    assert states == [False, False, False, True]


def test_a_scoped_command(follow: _Follow) -> None:
    """Every member answers for itself: one refuses, one finds nothing, two answer; their sets come interleaved."""
    states = follow(
        accepted((11, 12, 13, 14, 2)),
        item(13, 1, "QM03"),
        *refusal(14, 3065, "QM04"),
        item(11, 1, "QM01"),
        message(12, 1, kind=mq.MQCFT_XR_MSG, reason=3081, member="QM02"),
        item(13, 2, "QM03"),
        summary(13, 3, "QM03"),
        completed()[0],
        summary(12, 2, "QM02", 3008),
        summary(11, 2, "QM01"),
        completed()[1],
    )
    assert states == [False] * 11 + [True]
    assert {name: told(answer) for name, answer in follow.answers.items()} == {
        "QM03": (2, 0, 0, True),
        "QM04": (0, 3065, 2, True),
        "QM01": (1, 0, 0, True),
        "QM02": (0, 3081, 2, True),
    }


def test_a_scoped_command_whose_sets_are_not_announced(follow: _Follow) -> None:
    """Without announcements, the report of completion and the number of members tell the end."""
    states = follow(
        accepted(count=2),
        item(11, 1, "QM01"),
        summary(11, 2, "QM01"),
        *completed(),
        item(12, 1, "QM02"),
        summary(12, 2, "QM02"),
    )
    assert states == [False] * 6 + [True]


def test_a_scoped_command_without_a_count(follow: _Follow) -> None:
    """Without a count the report of completion alone tells the end."""
    assert follow(accepted(count=None), item(11, 1), summary(11, 2), *completed()) == [False] * 4 + [True]


def test_a_generated_command(follow: _Follow) -> None:
    """A command that was generated for the members (code 2) is tracked as one that was accepted."""
    states = follow(
        message(1, 1, kind=mq.MQCFT_XR_MSG, info=1, count=2, announces=(11, 2)),
        message(1, 2, kind=mq.MQCFT_XR_MSG, last=True, info=2, announces=(12,)),
        message(11, 1, last=True),
        message(12, 1, last=True, member="QM02"),
        *completed(),
    )
    assert states == [False] * 5 + [True]
    assert [answer.queue_manager for answer in follow.tracker.answers()] == ["QM01", "QM02"]


def test_a_member_that_cannot_reply(follow: _Follow) -> None:
    """When the completion reports that a member's reply could not be put, it is not waited for; the reason is told."""
    states = follow(
        accepted(count=2),
        item(11, 1, "QM01"),
        summary(11, 2, "QM01"),
        message(2, 1, kind=mq.MQCFT_XR_MSG, info=3, reason=3226),
        summary(2, 2, reason=3008),
    )
    assert states == [False] * 4 + [True]
    assert told(follow.answers["QM01"]) == (1, 3226, 2, True)


def test_a_scoped_command_that_is_refused(follow: _Follow) -> None:
    """A scoped command that goes nowhere is an ordinary refusal."""
    assert follow(*refusal(1, 3225)) == [False, True]
    assert told(follow.answers["QM01"]) == (0, 3225, 2, True)


def test_an_answer_that_stops_coming(follow: _Follow) -> None:
    """What came before the time-out is kept, and marked as not complete."""
    assert follow(item(1, 1), item(1, 2)) == [False, False]
    assert told(follow.answers["QM01"]) == (2, 0, 0, False)


def test_a_member_that_stops_answering(follow: _Follow) -> None:
    """Only the member whose set did not end is incomplete; one that never began is missing."""
    states = follow(
        accepted((11, 12, 13, 2), count=3),
        item(11, 1, "QM01"),
        summary(11, 2, "QM01"),
        item(12, 1, "QM02"),
    )
    assert states == [False] * 4
    assert {name: told(answer) for name, answer in follow.answers.items()} == {
        "QM01": (1, 0, 0, True),
        "QM02": (1, 0, 0, False),
    }


def test_a_message_that_could_not_be_decoded(follow: _Follow) -> None:
    """A gap in the sequence of a set makes its member incomplete, though nothing more is to come."""
    assert follow(item(1, 1), item(1, 3), summary(1, 4)) == [False, False, True]
    assert told(follow.answers["QM01"]) == (2, 0, 0, False)


def test_parameters_of_other_types_are_ignored() -> None:
    """An identifier that is a number, or a name that is bytes, does not confuse the tracker."""
    tracker = AnswerTracker()
    parameters = (
        encoder.integer(mq.MQBACF_RESPONSE_ID, 1),
        encoder.integer(mq.MQBACF_RESPONSE_SET, 2),
        encoder.byte_string(mq.MQCACF_RESPONSE_Q_MGR_NAME, b"QM01"),
        encoder.string(mq.MQIACF_COMMAND_INFO, "1"),
        encoder.string(mq.MQIACF_CMDSCOPE_Q_MGR_COUNT, "4"),
    )
    tracker.add(Message(mq.MQCFT_XR_ITEM, 41, parameters=parameters))
    assert tracker.complete
    assert [told(answer) for answer in tracker.answers()] == [(1, 0, 0, True)]


def test_the_number_of_sets_is_bounded() -> None:
    """More sets than any group can have are not followed, and such an answer is never complete."""
    tracker = AnswerTracker()
    for number in range(MOST_SETS + 10):
        tracker.add(message(number, 1, last=True))
    assert not tracker.complete
    assert len(tracker.answers()[0].items) == MOST_SETS
    assert not tracker.answers()[0].complete


@pytest.mark.parametrize(("reason", "comp_code"), [(2035, None), (0, mq.MQCC_FAILED), (2035, mq.MQCC_WARNING)])
def test_an_item_in_the_middle_that_failed(reason: int, comp_code: int | None) -> None:
    """It is not taken for one more item that is whole, whichever of its fields says that it is not."""
    tracker = AnswerTracker()
    odd = message(1, 2, reason=reason, comp_code=comp_code)
    for each in (item(1, 1), odd, item(1, 3), summary(1, 4)):
        tracker.add(each)
    (answer,) = tracker.answers()
    assert tracker.complete
    failed = odd.comp_code == mq.MQCC_FAILED
    assert [each.sequence for each in answer.items] == ([1, 3] if failed else [1, 2, 3])
    assert [each.sequence for each in answer.failed] == ([2] if failed else [])
    assert answer.comp_code == odd.comp_code
    assert answer.reason == (reason or mq.MQRCCF_COMMAND_FAILED)
