"""Questions in the store: looked for each second, asked once for all who wait, answered whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from mqvitals_agent.connection.connection import Exchange, MqiFailure, Query
from mqvitals_agent.service.on_demand import LOOK_MS, OnDemandRequests, queue_managers_to_ask
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.requests import WHO, RequestClient, StoredRequest
from mqvitals_agent.who.holder import Holders, from_json
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName

QUEUE = ObjectName("QM01", "queue", "APP.IN")
BEGAN = 1795176000000
STATUS = "INQUIRE_Q_STATUS"


class People:
    """Those who ask the store of a house."""

    def __init__(self, house: Any) -> None:
        self._house = house
        self._book = RequestClient.open(house.store)

    def ask(self, about: ObjectName = QUEUE, question: str = WHO) -> int:
        return self._book.ask(question, about, self._house.clock.now())

    def answer(self, number: int) -> Holders | None:
        text = self._book.answer(number)
        return None if text is None else from_json(text)

    def problems(self, number: int) -> dict[str, str]:
        """What went wrong, by queue manager that was asked. Fails when there is no answer."""
        answer = self.answer(number)
        assert answer is not None
        return {member.queue_manager: member.problem for member in answer.members}


@asynccontextmanager
async def asked(house: Any, **options: Any) -> AsyncIterator[tuple[Any, People]]:
    """A service beside which people ask, in the middle of its first interval."""
    async with house.running(requests_clock=house.clock, **options) as service:
        await house.clock.advance(10_500)
        yield service, People(house)


async def test_answered_within_a_second(house: Any) -> None:
    """The queue manager that has the queue is asked, and nobody else; the cycles go on and the recording sees nothing."""
    async with asked(house) as (_, people):
        number = people.ask()
        assert people.answer(number) is None
        await house.clock.advance(LOOK_MS)
        answer = people.answer(number)
        assert answer is not None
        assert answer.queue == QUEUE
        assert people.problems(number) == {"QM01": ""}
        assert answer.members[0].at == house.clock.now() - 500
        await house.clock.advance(50_000)
    assert house.of("QM01").times(STATUS) == [0, 11_000, 30_000, 60_000]
    assert house.of("QM02").times(STATUS) == [0, 30_000, 60_000]
    polled = [each.at for each in house.tapped if each.command == 41 and each.queue_manager == "QM01"]
    assert len(polled) == 3
    assert [each.began - house.stored[0].began for each in house.stored] == [0, 30_000, 60_000]


async def test_equal_questions_are_one(house: Any) -> None:
    """Who asks at the same time, or while it is under way, gets the same answer; another queue is another question."""
    script = house.of("QM01")
    async with asked(house) as (_, people):
        script.took[STATUS] = 3_000
        first = [people.ask(), people.ask()]
        await house.clock.advance(1_500)
        joined, other = people.ask(), people.ask(QUEUE._replace(name="OTHER"))
        await house.clock.advance(1_800)
        assert people.answer(joined) is None
        await house.clock.advance(300)
        assert [people.answer(each) for each in first] == [people.answer(joined)] * 2
        assert people.answer(joined) is not None
        assert people.answer(other) is None
        await house.clock.advance(3_000)
        assert people.problems(other) == {"QM01": ""}
        script.took.clear()
        again = people.ask()
        await house.clock.advance(LOOK_MS)
        assert people.answer(again) != people.answer(joined)
    assert len([at for at in script.times(STATUS) if 0 < at < 30_000]) == 3


async def test_a_queue_of_the_group(house: Any) -> None:
    """All members are asked, those without a connector through one that has one; each tells its own problem."""
    house.settings = replace(house.settings, name=LocatedText("PLEX", Place("test")))
    house.of("QM03").down = 2059
    async with asked(house, others=["QM09"]) as (_, people):
        before = len(house.of("QM01").requests)
        number = people.ask(ObjectName("PLEX", "queue", "SHARED.Q"))
        await house.clock.advance(LOOK_MS)
        problems = people.problems(number)
        assert list(problems) == ["QM01", "QM02", "QM03", "QM09"]
        # What the script answers in the name of QM01 tells nothing about QM09.
        assert [name for name, problem in problems.items() if problem] == ["QM03", "QM09"]
        assert "2059" in problems["QM03"] or "NOT_AVAILABLE" in problems["QM03"]
        assert any(b"QM09" in request for request in house.of("QM01").requests[before:])


async def test_unreachable(house: Any) -> None:
    """That a queue manager cannot be reached is the answer, at once."""
    house.of("QM01").down = 2059
    async with asked(house) as (_, people):
        number = people.ask()
        await house.clock.advance(LOOK_MS)
        assert people.problems(number)["QM01"]


async def test_connection_lost_in_between(house: Any) -> None:
    """The problem is the answer, at once; the next question is asked over a new connection."""
    script = house.of("QM01")
    async with asked(house) as (_, people):
        script.took[STATUS] = 2_000
        number = people.ask()
        await house.clock.advance(1_000)
        script.down = 2009
        await house.clock.advance(2_000)
        assert people.problems(number)["QM01"]
        script.down = 0
        await house.clock.advance(5_000)
        number = people.ask()
        await house.clock.advance(3_000)
        assert people.problems(number) == {"QM01": ""}
    assert len(script.attempts) == 2


async def test_deadline(house: Any) -> None:
    """After fifteen seconds what is known is the answer: who did not answer is named, what others said stays."""
    house.settings = replace(house.settings, name=LocatedText("PLEX", Place("test")))
    async with asked(house) as (_, people):
        house.of("QM02").took[STATUS] = 60_000
        number = people.ask(ObjectName("PLEX", "queue", "SHARED.Q"))
        await house.clock.advance(15_400)
        assert people.answer(number) is None
        await house.clock.advance(200)
        problems = people.problems(number)
        assert [name for name, problem in problems.items() if problem] == ["QM02"]


async def test_the_end_leaves_questions_unanswered(house: Any) -> None:
    """Neither a question under way nor one that was not seen yet delays the end, or is answered by it."""
    async with asked(house) as (_, people):
        house.of("QM01").hung = {STATUS}
        numbers = [people.ask()]
        await house.clock.advance(LOOK_MS)
        numbers.append(people.ask(QUEUE._replace(owner="QM02")))
    assert house.of("QM01").times(STATUS)[-1] == 11_000
    assert [people.answer(number) for number in numbers] == [None, None]


async def test_what_cannot_be_answered(house: Any) -> None:
    """An unknown question, an object that is no queue and an owner that is not watched are answered with a sentence."""
    async with asked(house) as (_, people):
        numbers = {
            people.ask(question="why"): "does not know the question why",
            people.ask(QUEUE._replace(kind="channel")): "is no queue",
            people.ask(QUEUE._replace(owner="QM77")): "QM77 is not monitored",
        }
        await house.clock.advance(LOOK_MS)
        for number, sentence in numbers.items():
            (problem,) = people.problems(number).values()
            assert sentence in problem
    assert house.of("QM01").times(STATUS) == [0]


async def test_after_a_reload(house: Any) -> None:
    """Who is watched now can be asked, who is not can no longer."""
    scripts, house.scripts = house.scripts, house.scripts[:2]
    async with asked(house) as (service, people):
        service.reload(house.settings, load_rule_config(house.settings), scripts[1:])
        await house.clock.advance(30_000)
        gone, new = people.ask(), people.ask(QUEUE._replace(owner="QM03"))
        await house.clock.advance(LOOK_MS)
        assert "not monitored" in people.problems(gone)["QM01"]
        assert people.problems(new) == {"QM03": ""}


async def test_late_questions_are_not_asked(house: Any) -> None:
    """What somebody asked long before the agent began is no concern any more."""
    async with house.running():
        pass
    people = People(house)
    number = people.ask()
    house.clock.set(house.clock.now() + 60_001)
    async with house.running(requests_clock=house.clock):
        await house.clock.advance(2_000)
    assert people.answer(number) is None


@pytest.mark.parametrize(
    ("about", "name", "groups", "expected"),
    [
        (QUEUE, "PLEX", frozenset({"PLEX"}), ("QM01",)),
        (QUEUE._replace(owner="LINUX1"), "PLEX", frozenset({"PLEX"}), ("LINUX1",)),
        (QUEUE._replace(owner="PLEX"), "PLEX", frozenset(), ("QM01", "QM02")),
        (QUEUE._replace(owner="QSG1"), "", frozenset({"QSG1"}), ("QM01", "QM02")),
        (QUEUE._replace(owner="OLD"), "PLEX", frozenset({"OLD", "PLEX"}), ()),
        (QUEUE._replace(owner=""), "", frozenset({"QSG1"}), ()),
    ],
)
def test_whom_to_ask(about: ObjectName, name: str, groups: frozenset[str], expected: tuple[str, ...]) -> None:
    """The queue manager itself, or all of the group under the name it has now; else there is a reason."""
    made: Any = Shelf()
    asked, problem = queue_managers_to_ask(WHO, about, made, name, groups)
    assert asked == expected
    assert bool(problem) is not bool(expected)


def test_a_group_of_nobody() -> None:
    """Where all that is watched runs elsewhere than on z/OS, there is nobody to ask about a shared queue."""
    shelf: Any = Shelf(of_group=())
    assert queue_managers_to_ask(WHO, QUEUE._replace(owner="PLEX"), shelf, "PLEX", frozenset()) == (
        (),
        "no member of the group is monitored",
    )


@dataclass
class Shelf:
    """A store with wishes in it that fails when it is told to, and a queue manager that answers when it is let."""

    waiting: list[StoredRequest] = field(default_factory=list)
    answered: dict[int, str] = field(default_factory=dict)
    forgotten: list[int] = field(default_factory=list)
    cannot_read: bool = False
    cannot_write: bool = False
    groups_unreadable: bool = False
    under_way: int = 0
    most: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    members: tuple[str, ...] = ("QM01", "QM02", "LINUX1")
    of_group: tuple[str, ...] = ("QM01", "QM02")
    written: Callable[[frozenset[int]], None] = lambda _: None

    @property
    def requests(self) -> SimpleNamespace:
        return SimpleNamespace(waiting=self.wishes, answer=self.answer_wishes, delete_old=self.forget_wishes)

    def wishes(self, _: int) -> tuple[StoredRequest, ...]:
        if self.cannot_read:
            raise StoreError("it cannot be read")
        return tuple(wish for wish in self.waiting if wish.id not in self.answered)

    def answer_wishes(self, numbers: frozenset[int], text: str, _: int) -> None:
        if self.cannot_write:
            raise StoreError("it cannot be written")
        self.answered.update(dict.fromkeys(numbers, text))
        self.written(numbers)

    def forget_wishes(self, now: int) -> None:
        if self.cannot_write:
            raise StoreError("it cannot be written")
        self.forgotten.append(now - BEGAN)

    def groups(self) -> frozenset[str]:
        if self.groups_unreadable:
            raise StoreError("it is damaged")
        return frozenset()

    def opened(self) -> Any:
        return self

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        await asyncio.sleep(0)
        found = function(*arguments)
        await asyncio.sleep(0)
        return found

    async def put(self, name: str, build: Callable[[str], Query]) -> Exchange:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.gate.wait()
        finally:
            self.under_way -= 1
        query = build("")
        return Exchange(0, 0, 0, name, query.command, query.request, error=MqiFailure(2, 2059))

    def wish(self, number: int, name: str = "Q") -> None:
        self.waiting.append(StoredRequest(number, WHO, QUEUE._replace(name=name), 0))


@asynccontextmanager
async def looking(house: Any, shelf: Shelf, **options: Any) -> AsyncIterator[None]:
    """Somebody looks for questions on the shelf until the block ends."""
    fake: Any = shelf
    inquiries = OnDemandRequests(fake, shelf.opened, fake, "", house.clock, house.clock, **options)
    task = asyncio.create_task(inquiries.run())
    await house.clock.advance(0)
    try:
        yield
    finally:
        task.cancel()
        async with asyncio.timeout(60):
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_not_without_bound(house: Any) -> None:
    """So many questions are under way at once; the others follow when these are answered."""
    shelf = Shelf()
    for number in range(20):
        shelf.wish(number, f"Q{number}")
    async with looking(house, shelf, most=3):
        await house.clock.advance(2_000)
        assert (shelf.under_way, len(shelf.answered)) == (3, 0)
        shelf.gate.set()
        await house.clock.advance(2_000)
        assert len(shelf.answered) == 9
        await house.clock.advance(10_000)
    assert shelf.answered.keys() == set(range(20))
    assert shelf.most == 3


async def test_a_store_that_cannot_be_read(house: Any) -> None:
    """It is said once, looked again each second, and said that it is well again."""
    shelf = Shelf(cannot_read=True)
    shelf.gate.set()
    shelf.wish(1)
    async with looking(house, shelf):
        await house.clock.advance(10_000)
        assert house.log.getvalue().count("requests cannot be read: it cannot be read") == 1
        shelf.cannot_read = False
        await house.clock.advance(3_000)
    assert shelf.answered.keys() == {1}
    assert house.log.getvalue().count("\n") == 2
    assert "requests can be read again" in house.log.getvalue()


async def test_old_questions_are_forgotten(house: Any) -> None:
    """When the agent begins and each minute, whether somebody asks or not: answers name people."""
    shelf = Shelf()
    async with looking(house, shelf):
        await house.clock.advance(150_000)
    assert shelf.forgotten == [0, 60_000, 120_000]


async def test_a_group_that_cannot_be_looked_up(house: Any) -> None:
    """Whoever asks is told why, and not that the group is not watched."""
    shelf = Shelf(groups_unreadable=True)
    shelf.waiting.append(StoredRequest(1, WHO, QUEUE._replace(owner="QSG1"), 0))
    async with looking(house, shelf):
        await house.clock.advance(1_000)
    (member,) = from_json(shelf.answered[1]).members
    assert member.problem == "the agent cannot read its store: it is damaged"


async def test_an_answer_that_cannot_be_written(house: Any) -> None:
    """It is written as soon as it can be, for those too who came meanwhile, without asking again."""
    shelf = Shelf(cannot_write=True)
    shelf.gate.set()
    shelf.wish(1)
    async with looking(house, shelf):
        await house.clock.advance(5_000)
        shelf.wish(2)
        shelf.gate.clear()
        await house.clock.advance(5_000)
        assert house.log.getvalue().count("requests cannot be answered: it cannot be written") == 1
        shelf.cannot_write = False
        await house.clock.advance(3_000)
        assert shelf.answered.keys() == {1, 2}
        assert house.log.getvalue().count("requests can be answered again") == 1


async def test_an_answer_that_can_never_be_written(house: Any) -> None:
    """When nobody waits any more it is given up: a later question is asked anew."""
    shelf = Shelf(cannot_write=True)
    shelf.gate.set()
    shelf.wish(1)
    async with looking(house, shelf):
        await house.clock.advance(30_000)
        shelf.waiting.clear()
        await house.clock.advance(40_000)
        shelf.cannot_write = False
        await house.clock.advance(2_000)
        assert not shelf.answered
        shelf.wish(2)
        await house.clock.advance(2_000)
    assert shelf.answered.keys() == {2}


async def test_whoever_comes_while_the_answer_is_written(house: Any) -> None:
    """Neither is left out nor is the question asked once more for it."""
    shelf = Shelf()
    shelf.wish(1)
    writing: list[frozenset[int]] = []

    def written(numbers: frozenset[int]) -> None:
        writing.append(numbers)
        if len(writing) == 1:
            inquiries._begun([StoredRequest(2, WHO, QUEUE._replace(name="Q"), 0)])

    shelf.written = written
    fake: Any = shelf
    inquiries = OnDemandRequests(fake, shelf.opened, fake, "", house.clock, house.clock)
    task = asyncio.create_task(inquiries.run())
    await house.clock.advance(0)
    shelf.gate.set()
    await house.clock.advance(0)
    task.cancel()
    assert writing == [{1}, {2}]
    assert shelf.most == 1
