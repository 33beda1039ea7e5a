"""A conversation with a command server, over a scripted link."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from mqvitals_agent.connection.connection import (
    BROWSE_DEAD_LETTERS,
    MOST_DEAD_LETTERS,
    READ_EVENTS,
    EventQuery,
    EventStep,
    Query,
    Reply,
)
from mqvitals_agent.connection.conversation import (
    SLICE_MS,
    Conversation,
    TimeSource,
)
from mqvitals_agent.connection.link import FIRST_SIZE, MqiError, OpenQueue, RequestDescriptor, StoppedError
from mqvitals_agent.connection.queue_reader import MOST_AT_ONCE
from mqvitals_agent.connection.route import CommandRoute
from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.encoder import integer, request
from mqvitals_agent.simulator.answer import answer

ASKED = request(mq.MQCMD_INQUIRE_Q, ())
MESSAGE_ID = b"request 1".ljust(24, b"\0")
REPLIES = answer("QM01", mq.MQCMD_INQUIRE_Q, [(integer(mq.MQIA_CURRENT_Q_DEPTH, 5),)] * 2, 1)


@dataclass
class ScriptedLink:
    """Answers gets from a script of messages and errors; what is not scripted is 2033, after the whole wait."""

    script: deque[bytes | MqiError] = field(default_factory=deque)
    stale: int = 0
    calls: list[tuple[object, ...]] = field(default_factory=list)
    tick: int = 0
    refuse_open: dict[str, int] = field(default_factory=dict)
    refuse_put: int = 0
    a_get_takes: int = 1
    late: int = 0
    platform: int = 1
    lying: list[bytes | MqiError] = field(default_factory=list)
    dead_letter_queue: str = "DLQ"
    dead_letters: list[bytes] = field(default_factory=list)
    browsed: int = 0

    def inquire(self, selectors: Sequence[int]) -> dict[int, int | str]:
        told: dict[int, int | str] = {
            mq.MQCA_Q_MGR_NAME: "QM01",
            mq.MQCA_COMMAND_INPUT_Q_NAME: "SYSTEM.COMMAND.INPUT",
            mq.MQIA_PLATFORM: self.platform,
            mq.MQIA_COMMAND_LEVEL: 940,
            mq.MQCA_DEAD_LETTER_Q_NAME: self.dead_letter_queue,
        }
        return {selector: told[selector] for selector in selectors}

    def open_queue(self, name: str, options: int, dynamic_name: str = "") -> OpenQueue:
        self.calls.append(("open", name, options, dynamic_name))
        if name in self.refuse_open:
            raise MqiError("MQOPEN", 2, self.refuse_open[name])
        return OpenQueue(len(self.calls), dynamic_name.replace("*", "C1F2") or name)

    def put(self, queue: OpenQueue, message: bytes, asked: RequestDescriptor) -> bytes:
        self.calls.append(("put", queue.name, message, asked))
        if self.refuse_put:
            raise MqiError("MQPUT", 2, self.refuse_put)
        return MESSAGE_ID

    def get(self, queue: OpenQueue, correlation_id: bytes | None, wait_ms: int, size: int, **_: bool) -> Reply:
        self.calls.append(("get", queue.name, correlation_id, wait_ms, size))
        if queue.name == "STATS" and self.lying:
            first = self.lying[0]
            if isinstance(first, MqiError):
                raise first
            if len(first) > size:
                raise MqiError("MQGET", 2, 2080, len(first))
            return Reply(546, 1208, bytes(self.lying.pop(0)), 1_000)  # type: ignore[arg-type]
        if correlation_id is None and self.stale:
            self.stale -= 1
            return Reply(785, 500, b"old", None)
        if wait_ms == 0 and correlation_id is not None:
            if not self.late:
                raise MqiError("MQGET", 2, 2033)
            self.late -= 1
            return Reply(785, 500, b"late", None)
        if correlation_id is None or not self.script:
            self.tick += wait_ms
            raise MqiError("MQGET", 2, 2033)
        self.tick += self.a_get_takes
        first = self.script.popleft()
        if isinstance(first, MqiError):
            raise first
        if len(first) > size:
            self.script.appendleft(first)
            raise MqiError("MQGET", 2, 2080, len(first))
        return Reply(785, 500, first, 1_000)

    def depth(self, queue: OpenQueue) -> int:
        self.calls.append(("depth", queue.name))
        return len(self.dead_letters)

    def browse(
        self, queue: OpenQueue, size: int, *, first: bool, format_: str, message_id: bytes | None = None
    ) -> Reply:
        self.calls.append(("browse", queue.name, size, first, format_))
        self.browsed = 0 if first else self.browsed + 1
        if message_id is not None:
            # The bytes of a message stand for its identifier too.
            self.browsed = self.dead_letters.index(message_id) if message_id in self.dead_letters else 99
        if self.browsed >= len(self.dead_letters):
            raise MqiError("MQGET", 2, 2033)
        return Reply(785, 500, self.dead_letters[self.browsed], 1_000)

    def commit(self) -> None:
        self.calls.append(("commit",))

    def back_out(self) -> None:
        self.calls.append(("back_out",))

    def close(self, queue: OpenQueue) -> None:
        self.calls.append(("close", queue.name))
        if 2009 in self.refuse_open.values():
            raise MqiError("MQCLOSE", 2, 2009)

    def disconnect(self) -> None:
        self.calls.append(("disconnect",))


def conversation(link: ScriptedLink, route: CommandRoute | None = None, stopping: bool = False) -> Conversation:
    time = TimeSource(lambda: 1_700_000_000_000 + link.tick, lambda: link.tick)
    return Conversation(link, route or CommandRoute("QM01"), time, lambda: stopping)


def test_the_command_queue_is_found_and_stays_open() -> None:
    """MQINQ tells its name, it is opened once for output, and two commands are put to it."""
    link = ScriptedLink(deque([*REPLIES, *REPLIES]))
    talk = conversation(link)
    talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 5000)
    talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 5000)
    opened = [call for call in link.calls if call[0] == "open"]
    assert opened[0] == ("open", "SYSTEM.COMMAND.INPUT", 16 | 8192, "")
    assert len(opened) == 2
    assert [call[1] for call in link.calls if call[0] == "put"] == ["SYSTEM.COMMAND.INPUT"] * 2


def test_an_answer_is_gathered_to_its_end_and_no_further() -> None:
    """The get after the summary is not made: it would wait for nothing."""
    link = ScriptedLink(deque(REPLIES))
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 5000)
    assert tuple(reply.data for reply in exchange.replies) == REPLIES
    assert exchange.error is None
    assert exchange.elapsed_ms == len(REPLIES)
    gets = [call for call in link.calls if call[0] == "get"]
    assert len(gets) == len(REPLIES)
    assert {call[2] for call in gets} == {MESSAGE_ID}
    assert exchange.replies[0].put == 1_000


def test_a_request_expires_and_says_where_to_answer() -> None:
    """Expiry is in tenths of a second, a little longer than the wait; bytes are described truthfully."""
    link = ScriptedLink(deque(REPLIES))
    conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 30_000)
    (put,) = (call for call in link.calls if call[0] == "put")
    assert put[3] == RequestDescriptor("MQVITALS.C1F2", 350, 1208, 785)


def test_a_dynamic_queue_is_opened_for_us_alone_and_not_drained() -> None:
    """It is made from the model, and holds nothing yet."""
    link = ScriptedLink()
    talk = conversation(link, CommandRoute("QM01", reply_model="MY.MODEL", dynamic_name="AGENT.*"))
    assert ("open", "MY.MODEL", 4 | 8192, "AGENT.*") in link.calls
    assert talk.identity.dynamic
    assert not [call for call in link.calls if call[0] == "get"]


def test_stale_replies_on_a_permanent_queue_are_drained_and_counted() -> None:
    """What an earlier run left is thrown away before the first command, without waiting."""
    link = ScriptedLink(stale=3)
    talk = conversation(link, CommandRoute("QM01", reply_queue="MQVITALS.REPLY"))
    assert ("open", "MQVITALS.REPLY", 2 | 8192, "") in link.calls
    assert talk.identity.drained == 3
    assert not talk.identity.dynamic
    assert [call[3] for call in link.calls if call[0] == "get"] == [0, 0, 0, 0]


def test_a_reply_queue_of_two_agents_is_opened_for_one_alone() -> None:
    """So the queue manager itself says which of them works."""
    link = ScriptedLink()
    conversation(link, CommandRoute("QM01", reply_queue="MQVITALS.REPLY", alone=True))
    assert ("open", "MQVITALS.REPLY", 4 | 8192, "") in link.calls


def test_waits_come_in_slices_and_end_with_2033() -> None:
    """No single wait is longer than a second, all together are the whole wait."""
    link = ScriptedLink()
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 3500)
    waits = [call[3] for call in link.calls if call[0] == "get"]
    assert waits == [SLICE_MS, SLICE_MS, SLICE_MS, 500]
    assert exchange.error == (2, 2033)
    assert exchange.elapsed_ms == 3500


def test_the_wait_begins_anew_with_each_reply() -> None:
    """An answer may take longer than the wait, as long as replies come."""
    link = ScriptedLink(deque(REPLIES), a_get_takes=900)
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert exchange.error is None
    assert len(exchange.replies) == len(REPLIES)
    assert exchange.elapsed_ms > 1000


def test_a_long_reply_is_got_again_with_its_length() -> None:
    """2080 leaves the message where it is; the next get has room for it."""
    long = answer("QM01", mq.MQCMD_INQUIRE_Q, [(integer(mq.MQIA_CURRENT_Q_DEPTH, 5),) * 5000], 1)
    link = ScriptedLink(deque(long))
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert exchange.error is None
    assert exchange.replies[0].data == long[0]
    assert [call[4] for call in link.calls if call[0] == "get"][:2] == [FIRST_SIZE, len(long[0])]


@pytest.mark.parametrize("length", [0, FIRST_SIZE, 200_000_000])
def test_a_length_that_makes_no_sense_ends_the_answer(length: int) -> None:
    """Whoever reports 2080 with a length that would fit, or that nothing has, is not asked for ever."""
    link = ScriptedLink(deque([REPLIES[0], MqiError("MQGET", 2, 2080, length)]))
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert exchange.error == (2, 2080)
    assert len(exchange.replies) == 1


def test_a_connection_that_breaks_keeps_what_came() -> None:
    """The exchange has the replies before the failure, and the failure."""
    link = ScriptedLink(deque([REPLIES[0], MqiError("MQGET", 2, 2009)]))
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert exchange.error == (2, 2009)
    assert [reply.data for reply in exchange.replies] == [REPLIES[0]]


def test_a_put_that_fails_is_the_exchanges_error() -> None:
    """2053, queue full: the command server does not read."""
    link = ScriptedLink(refuse_put=2053)
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert exchange.error == (2, 2053)
    assert exchange.replies == ()
    assert not [call for call in link.calls if call[0] == "get"]


def test_a_reply_that_is_no_pcf_is_kept_and_does_not_end_the_answer() -> None:
    """It is for whoever reads the exchange to report it."""
    link = ScriptedLink(deque([b"garbage", *REPLIES]))
    exchange = conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert exchange.replies[0].data == b"garbage"
    assert len(exchange.replies) == 1 + len(REPLIES)


def test_a_request_to_stop_is_heard_between_slices() -> None:
    """Asking raises, and nothing more is got."""
    link = ScriptedLink()
    time = TimeSource(lambda: link.tick, lambda: link.tick)
    talk = Conversation(link, CommandRoute("QM01"), time, lambda: link.tick >= 2 * SLICE_MS)
    with pytest.raises(StoppedError):
        talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 60_000)
    assert len([call for call in link.calls if call[0] == "get"]) == 2


def test_closing_closes_and_disconnects() -> None:
    """Also when the connection is lost and closing fails."""
    link = ScriptedLink()
    conversation(link).close()
    assert [call[0] for call in link.calls[-3:]] == ["close", "close", "disconnect"]
    broken = ScriptedLink()
    talk = conversation(broken)
    broken.refuse_open["x"] = 2009
    talk.close()
    assert broken.calls[-1] == ("disconnect",)


def test_each_call_that_comes_back_is_a_beat() -> None:
    """Whoever watches the thread sees by them that no call hangs."""
    link = ScriptedLink()
    talk = conversation(link)
    before = talk.beats
    talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 3000)
    assert talk.beats == before + 4


def test_a_reply_queue_that_another_holds_is_an_error_of_opening() -> None:
    """2042 reaches whoever connects."""
    link = ScriptedLink(refuse_open={"MQVITALS.REPLY": 2042})
    with pytest.raises(MqiError) as failed:
        conversation(link, CommandRoute("QM01", reply_queue="MQVITALS.REPLY"))
    assert (failed.value.call, failed.value.reason) == ("MQOPEN", 2042)


def test_what_comes_too_late_is_thrown_away() -> None:
    """Before the next command, without waiting, until the replies to the one that was given up have expired."""
    link = ScriptedLink()
    talk = conversation(link)
    assert talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000).error == (2, 2033)
    link.late = 2

    def looks() -> int:
        link.script, link.calls = deque(REPLIES), []
        assert talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000).error is None
        gets = [call for call in link.calls if call[0] in ("get", "put")]
        return [call[0] for call in gets].index("put")

    assert looks() == 3
    assert link.late == 0
    assert looks() == 1
    link.tick += 10_000
    assert looks() == 1, "a last look"
    assert looks() == 0


def test_what_breaks_while_late_replies_are_removed_is_the_exchanges_error() -> None:
    """The connection may have been lost since."""

    class Broken(ScriptedLink):
        def get(self, queue: OpenQueue, correlation_id: bytes | None, wait_ms: int, size: int, **how: bool) -> Reply:
            if self.tick >= 1000:
                raise MqiError("MQGET", 2, 2009)
            return super().get(queue, correlation_id, wait_ms, size, **how)

    link = Broken()
    talk = conversation(link)
    assert talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000).error == (2, 2033)
    assert talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000).error == (2, 2009)
    assert len([call for call in link.calls if call[0] == "put"]) == 1


STATISTICS = CommandRoute("QM01", statistics_queue="STATS")


def test_statistics_are_taken_and_nothing_is_put() -> None:
    """The queue is opened once and for us alone, when they are first asked for; what lies there is got without waiting."""
    link = ScriptedLink(lying=[b"one", b"2" * 100_000])
    talk = conversation(link, STATISTICS)
    assert not [call for call in link.calls if "STATS" in call]
    exchange = talk.ask(Query(mq.MQCMD_STATISTICS_Q, b"the request"), 5000)
    assert [reply.data for reply in exchange.replies] == [b"one", b"2" * 100_000]
    assert (exchange.error, exchange.request, exchange.command) == (None, b"the request", mq.MQCMD_STATISTICS_Q)
    assert talk.ask(Query(mq.MQCMD_STATISTICS_Q, b"again"), 5000).replies == ()
    assert [call for call in link.calls if call[0] == "open"][2:] == [("open", "STATS", 4 | 8192, "")]
    assert not [call for call in link.calls if call[0] == "put"]
    assert {call[3] for call in link.calls if call[0] == "get"} == {0}
    talk.close()
    assert ("close", "STATS") in link.calls


def test_statistics_are_taken_in_bounded_numbers() -> None:
    """What is left is for the next time."""
    link = ScriptedLink(lying=[b"x"] * (MOST_AT_ONCE + 5))
    talk = conversation(link, STATISTICS)
    assert len(talk.ask(Query(mq.MQCMD_STATISTICS_Q, b""), 5000).replies) == MOST_AT_ONCE
    assert len(talk.ask(Query(mq.MQCMD_STATISTICS_Q, b""), 5000).replies) == 5


def test_statistics_that_came_before_a_failure_are_kept() -> None:
    """They are gone from the queue. One that cannot be opened is tried again the next time."""
    link = ScriptedLink(lying=[b"one", MqiError("MQGET", 2, 2009)], refuse_open={"STATS": 2042})
    talk = conversation(link, STATISTICS)
    assert talk.ask(Query(mq.MQCMD_STATISTICS_Q, b""), 5000).error == (2, 2042)
    link.refuse_open = {}
    exchange = talk.ask(Query(mq.MQCMD_STATISTICS_Q, b""), 5000)
    assert ([reply.data for reply in exchange.replies], exchange.error) == ([b"one"], (2, 2009))


def test_a_distributed_queue_manager_has_another_model_and_other_numbers() -> None:
    """The model of z/OS is not there; one that the settings name is taken as it is. Numbers are told as they are."""
    link = ScriptedLink(deque(REPLIES), platform=mq.MQPL_UNIX)
    conversation(link).ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 1000)
    assert ("open", "SYSTEM.DEFAULT.MODEL.QUEUE", 4 | 8192, "MQVITALS.*") in link.calls
    (put,) = (call for call in link.calls if call[0] == "put")
    assert put[3] == RequestDescriptor("MQVITALS.C1F2", 60, 1208, 273)
    named = ScriptedLink(platform=mq.MQPL_UNIX)
    conversation(named, CommandRoute("QM01", reply_model="MY.MODEL"))
    assert [call[1] for call in named.calls if call[0] == "open"][1:] == ["MY.MODEL"]


LOOK = Query(BROWSE_DEAD_LETTERS, b"")


def test_dead_letters_are_looked_at_and_stay() -> None:
    """The queue is open for browsing no longer than that; its headers are asked for, and nothing is put or got."""
    link = ScriptedLink(dead_letters=[b"first", b"second"])
    talk = conversation(link)
    before = len(link.calls)
    found = talk.ask(LOOK, 5000)
    assert found.error is None
    assert [reply.data for reply in found.replies] == [b"first", b"second"]
    assert link.calls[before:] == [
        ("open", "DLQ", 8 | 32 | 8192, ""),
        ("depth", "DLQ"),
        ("browse", "DLQ", 172, True, "MQDEAD  "),
        ("browse", "DLQ", 172, False, "MQDEAD  "),
        ("close", "DLQ"),
    ]


def test_while_the_depth_is_the_same_nothing_is_browsed() -> None:
    """What was seen then is told again; another depth is looked at."""
    link = ScriptedLink(dead_letters=[b"first"])
    talk = conversation(link)
    talk.ask(LOOK, 5000)
    before = len(link.calls)
    assert [reply.data for reply in talk.ask(LOOK, 5000).replies] == [b"first"]
    assert [call[0] for call in link.calls[before:]] == ["open", "depth", "close"]
    link.dead_letters = []
    assert talk.ask(LOOK, 5000).replies == ()
    link.dead_letters = [b"other"]
    assert [reply.data for reply in talk.ask(LOOK, 5000).replies] == [b"other"]


def test_many_dead_letters_are_looked_at_in_part() -> None:
    """The number of looks is bounded."""
    link = ScriptedLink(dead_letters=[b"x"] * (MOST_DEAD_LETTERS + 1))
    assert len(conversation(link).ask(LOOK, 5000).replies) == MOST_DEAD_LETTERS


def test_without_a_dead_letter_queue_there_are_none() -> None:
    """Nothing is opened, and nothing has failed."""
    link = ScriptedLink(dead_letter_queue="")
    talk = conversation(link)
    before = len(link.calls)
    found = talk.ask(LOOK, 5000)
    assert (found.replies, found.error, link.calls[before:]) == ((), None, [])


def test_a_dead_letter_queue_that_cannot_be_opened_is_the_exchanges_error() -> None:
    """Without READ, MQOPEN fails with 2035; the connection goes on."""
    link = ScriptedLink(deque(REPLIES), refuse_open={"DLQ": 2035})
    talk = conversation(link)
    found = talk.ask(LOOK, 5000)
    assert found.error is not None
    assert (found.error.reason, found.replies) == (2035, ())
    assert talk.ask(Query(mq.MQCMD_INQUIRE_Q, ASKED), 5000).error is None


EVENTS = "SYSTEM.ADMIN.QMGR.EVENT"


def events(step: EventStep, after: bytes = b"") -> EventQuery:
    return EventQuery(READ_EVENTS, b"", queue=EVENTS, step=step, after=after)


def test_an_event_queue_is_browsed_behind_a_message() -> None:
    """It is open no longer than that; where the message is no longer there, that is said (2033)."""
    link = ScriptedLink(dead_letters=[b"first", b"second"])
    talk = conversation(link)
    before = len(link.calls)
    found = talk.ask(events(EventStep.BROWSE), 5000)
    assert ([reply.data for reply in found.replies], found.error) == ([b"first", b"second"], None)
    assert [(call[0], call[1]) for call in link.calls[before:]] == [
        ("open", EVENTS),
        *[("browse", EVENTS)] * 3,
        ("close", EVENTS),
    ]
    assert link.calls[before][2] == 8 | 8192
    assert [reply.data for reply in talk.ask(events(EventStep.BROWSE, b"first"), 5000).replies] == [b"second"]
    gone = talk.ask(events(EventStep.BROWSE, b"third"), 5000)
    assert (gone.replies, gone.error) == ((), (2, 2033))


def test_events_are_got_in_a_unit_of_work() -> None:
    """It ends when that is asked for; a conversation that ends before undoes it, for disconnecting would commit."""
    link = ScriptedLink()
    lying = [b"one", b"two"]

    def take(queue: OpenQueue, correlation_id: bytes | None, wait_ms: int, size: int, **how: bool) -> Reply:
        assert (queue.name, correlation_id, wait_ms, how) == (EVENTS, None, 0, {"syncpoint": True, "convert": False})
        if not lying:
            raise MqiError("MQGET", 2, 2033)
        return Reply(785, 500, lying.pop(0), 1_000)

    link.get = take  # type: ignore[method-assign]
    talk = conversation(link)
    before = len(link.calls)
    assert [reply.data for reply in talk.ask(events(EventStep.GET), 5000).replies] == [b"one", b"two"]
    assert talk.ask(events(EventStep.COMMIT), 5000).error is None
    assert talk.ask(events(EventStep.COMMIT), 5000).error is None, "there is no unit of work any more"
    assert [call[0] for call in link.calls[before:]] == ["open", "commit", "close"]
    lying += [b"three"]
    talk.ask(events(EventStep.GET), 5000)
    before = len(link.calls)
    talk.close()
    assert [call[0] for call in link.calls[before:]][:2] == ["back_out", "close"]
    assert ("commit",) not in link.calls[before:]


def test_an_event_queue_that_cannot_be_opened_is_the_exchanges_error() -> None:
    """The connection goes on."""
    link = ScriptedLink(refuse_open={EVENTS: 2035})
    talk = conversation(link)
    for step in (EventStep.BROWSE, EventStep.GET):
        assert talk.ask(events(step), 5000).error == (2, 2035)
    assert talk.ask(events(EventStep.BACK_OUT), 5000).error is None
