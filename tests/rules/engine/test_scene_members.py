"""Members, pairs and console messages of objects as rules see them: who belongs to whom, and how that follows changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.engine import Engine
from mqvitals_rules.eval_context import EvalContext
from mqvitals_rules.expression import Expression, compile_expression
from mqvitals_rules.history import MemoryHistory, ObjectMessage
from mqvitals_rules.latest import LatestValues
from mqvitals_rules.latest_state import RELATIONS, LatestState
from mqvitals_rules.members import MemberIndex, has_members
from mqvitals_rules.ruleset.facts import Fact, Facts
from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

BEGIN = 1_763_640_000_000
MINUTE = 60_000


@cache
def expression(text: str, kind: str) -> Expression:
    return compile_expression(text, KINDS[kind], KINDS)


class Desk:
    """A world with a scene; time is in minutes from the beginning."""

    def __init__(self, *facts: Fact, group_of: Callable[[str], str | None] = lambda _: None) -> None:
        self.history = MemoryHistory()
        self.world = LatestValues(KINDS, Facts(KINDS, facts), group_of)
        self.scene = EvalContext(KINDS, self.world, self.history)
        self.minute = 0.0

    def tell(self, minute: float, *readings: Reading, group: bool = False) -> None:
        self.minute = minute
        owner = readings[0].object.owner if readings else "QM01"
        snapshot = Snapshot(owner, group, 1, at(minute), readings)
        self.history.add(snapshot)
        self.world.learn(snapshot)

    def enter(self, name: str) -> EvalContext:
        state = self.world.state(ObjectName.parse(name))
        assert state is not None
        self.scene.enter(state, at(self.minute))
        self.scene.absence = None
        return self.scene

    def members(self, name: str, kind: str) -> list[str]:
        return [member.name for member, _ in self.enter(name).members(kind)]

    def truth(self, text: str, name: str) -> bool | None:
        scene = self.enter(name)
        found = expression(text, ObjectName.parse(name).kind)
        verdict = found.truth(scene)
        assert found.explain(scene).truth is verdict
        return verdict


def at(minute: float) -> int:
    return BEGIN + round(minute * MINUTE)


def told(name: str, minute: float = 0, **values: Reported) -> Reading:
    return Reading(ObjectName.parse(name), "P", at(minute), values, MINUTE)


def queues(count: int, minute: float = 0, **values: Reported) -> list[Reading]:
    return [told(f"QM01/queue/Q{number}", minute, page_set=number % 2, **values) for number in range(count)]


POOLS = (
    told("QM01/page_set/0", buffer_pool=3, used_pct=10),
    told("QM01/page_set/1", buffer_pool=3.0, used_pct=20),
    told("QM01/buffer_pool/3", free_pct=50),
    told("QM01/queue_manager", command_level=930),
)


def test_who_belongs_to_whom() -> None:
    """By the metric that names the other; of a queue manager everything of its own; of its own kind everybody."""
    desk = Desk()
    desk.tell(0, *queues(3), *POOLS)
    desk.tell(0, told("QM02/queue/OTHER", page_set=0), told("QM02/queue_manager", command_level=920))
    assert desk.members("QM01/page_set/0", "queue") == ["Q0", "Q2"]
    assert desk.members("QM01/buffer_pool/3", "queue") == ["Q0", "Q1", "Q2"]
    assert desk.members("QM01/buffer_pool/3", "page_set") == ["0", "1"]
    assert desk.members("QM01/queue_manager", "queue") == ["Q0", "Q1", "Q2"]
    assert desk.members("QM02/queue_manager", "queue") == ["OTHER"]
    assert desk.members("QM01/queue/Q1", "queue") == ["Q0", "Q1", "Q2"]
    assert desk.members("QM01/queue/Q1", "page_set") == []


def test_members_of_the_group() -> None:
    """A structure has the shared queues and those that any member keeps in it; the group has everything."""
    desk = Desk()
    desk.tell(
        0,
        told("QSG1/cf_structure/APP1", type=0),
        told("QSG1/queue/SHARED", cf_structure="APP1"),
        told("QSG1/qsg", qmgr_count=2),
        group=True,
    )
    desk.tell(0, told("QM01/queue/OWN", cf_structure="APP1"), told("QM01/queue_manager", command_level=930))
    desk.tell(0, told("QM02/queue_manager", command_level=920))
    assert desk.members("QSG1/cf_structure/APP1", "queue") == ["SHARED", "OWN"]
    assert desk.members("QSG1/qsg", "queue") == ["SHARED", "OWN"]
    assert desk.members("QSG1/cf_structure/APP1", "queue_manager") == ["", ""]
    assert desk.truth(
        "least(queue_manager, command_level) == 920 and count(queue_manager, command_level > 0) == 2", "QSG1/qsg"
    )


@pytest.mark.parametrize(
    ("scope", "kind", "has"),
    [
        ("page_set", "queue", True),
        ("queue", "channel", True),
        ("queue", "queue", True),
        ("queue_manager", "channel", True),
        ("cf_structure", "log", True),
        ("page_set", "channel", False),
        ("buffer_pool", "queue_manager", False),
    ],
)
def test_which_kinds_have_members(scope: str, kind: str, has: bool) -> None:
    assert has_members(KINDS[scope], KINDS[kind]) is has


def test_members_follow_changes() -> None:
    """Objects that come and go, queues that move to another page set, page sets that move to another pool."""
    desk = Desk()
    desk.tell(0, *queues(2), *POOLS)
    assert desk.members("QM01/page_set/0", "queue") == ["Q0"]
    desk.tell(1, told("QM01/queue/NEW", 1, page_set=0))
    assert desk.members("QM01/page_set/0", "queue") == ["Q0", "NEW"]
    desk.tell(2, told("QM01/queue/Q0", 2, page_set=1))
    assert desk.members("QM01/page_set/0", "queue") == ["NEW"]
    desk.tell(3, Reading(ObjectName("QM01", "queue", "NEW"), "P", at(3), {}, MINUTE, gone=True))
    assert desk.members("QM01/page_set/0", "queue") == []
    assert desk.members("QM01/buffer_pool/3", "queue") == ["Q0", "Q1"]
    desk.tell(4, told("QM01/page_set/1", 4, buffer_pool=2))
    assert desk.members("QM01/buffer_pool/3", "queue") == []


def test_members_are_unknown_while_nothing_tells_who_they_are() -> None:
    """Not that there is nobody: before definitions are told, and after an outage of those that were never known."""
    desk = Desk()
    desk.tell(0, told("QM01/queue/Q0", depth=1), told("QM01/page_set/0", used_pct=3))
    for text in ("count(queue, depth > 5) == 0", "any(queue, depth > 5)"):
        assert desk.truth(text, "QM01/page_set/0") is None
        assert desk.scene.absence is Absence.NOT_ASKED
    desk.tell(1, told("QM01/queue/Q0", 1, page_set=Absence.NOT_RETURNED))
    assert desk.truth("count(queue, depth > 5) == 0", "QM01/page_set/0") is True
    desk.tell(2, told("QM01/queue/Q0", 2, page_set=Absence.NO_ANSWER))
    assert desk.truth("count(queue, depth > 5) == 0", "QM01/page_set/0") is None


def test_members_stay_while_nothing_tells_otherwise() -> None:
    """An outage does not take a queue from its page set."""
    desk = Desk()
    desk.tell(0, *queues(2, depth=9), *POOLS)
    assert desk.members("QM01/buffer_pool/3", "queue") == ["Q0", "Q1"]
    assert desk.members("QM01/page_set/0", "queue") == ["Q0"]
    desk.tell(1, *(told(f"QM01/queue/Q{number}", 1, page_set=Absence.NO_ANSWER, depth=9) for number in range(2)))
    assert desk.members("QM01/page_set/0", "queue") == ["Q0"]
    assert desk.members("QM01/buffer_pool/3", "queue") == ["Q0", "Q1"]


def test_members_do_not_depend_on_who_asked_when() -> None:
    """What was reported last counts, not what a context happened to look at before the outage."""
    desk = Desk()
    desk.tell(0, *queues(2, depth=9), *POOLS)
    desk.tell(1, *(told(f"QM01/queue/Q{number}", 1, page_set=Absence.NO_ANSWER, depth=9) for number in range(2)))
    assert desk.members("QM01/page_set/0", "queue") == ["Q0"]
    assert desk.members("QM01/buffer_pool/3", "queue") == ["Q0", "Q1"]
    assert desk.truth("sum(queue, depth) == 9", "QM01/page_set/0") is True
    desk.tell(2, told("QM01/queue/Q0", 2, page_set=Absence.NOT_RETURNED))
    desk.tell(3, told("QM01/queue/Q0", 3, page_set=Absence.NO_ANSWER))
    assert desk.members("QM01/page_set/0", "queue") == []
    assert desk.members("QM01/page_set/1", "queue") == ["Q1"]


def test_the_pool_of_a_page_set_that_does_not_answer() -> None:
    """A queue that moves belongs to the pool that its new page set named last, not to the pool of its old one."""
    desk = Desk()
    desk.tell(0, *queues(2), *POOLS, told("QM01/page_set/1", buffer_pool=2), told("QM01/buffer_pool/2", free_pct=50))
    assert desk.members("QM01/buffer_pool/3", "queue") == ["Q0"]
    desk.tell(1, told("QM01/page_set/1", 1, buffer_pool=Absence.NO_ANSWER), told("QM01/queue/Q0", 1, page_set=1))
    assert desk.members("QM01/buffer_pool/3", "queue") == []
    assert desk.members("QM01/buffer_pool/2", "queue") == ["Q0", "Q1"]


def test_a_link_reported_before_an_outage_does_not_show_that_there_are_no_others() -> None:
    """While no queue names its page set now, one may have moved: a page set without queues is unknown, not in order."""
    desk = Desk()
    desk.tell(0, told("QM01/queue/Q0", page_set=0, depth=9), *POOLS, told("QM01/buffer_pool/2", free_pct=50))
    for text in ("any(queue, depth > 5)", "sum(queue, depth) > 5", "count(queue, depth > 5) > 0"):
        assert desk.truth(text, "QM01/page_set/1") is False
        assert desk.truth(text, "QM01/buffer_pool/2") is False
    desk.tell(1, told("QM01/queue/Q0", 1, page_set=Absence.NO_ANSWER, depth=9))
    for text in ("any(queue, depth > 5)", "sum(queue, depth) > 5", "count(queue, depth > 5) > 0"):
        for holder in ("QM01/page_set/1", "QM01/buffer_pool/2"):
            assert desk.truth(text, holder) is None
            assert desk.scene.absence is Absence.NO_ANSWER
        assert desk.truth(text, "QM01/page_set/0") is True
    desk.tell(2, told("QM01/queue/Q0", 2, page_set=0, depth=9))
    assert desk.truth("any(queue, depth > 5)", "QM01/page_set/1") is False
    assert desk.truth("any(queue, depth > 5)", "QM01/buffer_pool/2") is False
    desk.tell(3, told("QM01/page_set/0", 3, buffer_pool=Absence.NO_ANSWER))
    assert desk.truth("any(queue, depth > 5)", "QM01/page_set/1") is False
    assert desk.truth("any(queue, depth > 5)", "QM01/buffer_pool/2") is None


@pytest.mark.parametrize(
    "reason", [Absence.NOT_AUTHORISED, Absence.NEEDS_SMF, Absence.NEEDS_STATISTICS, Absence.OUT_OF_RANGE]
)
def test_a_link_that_cannot_be_had_does_not_name_none(reason: Absence) -> None:
    """Only an answer without a page set shows that a queue has none. A refused command does not."""
    desk = Desk()
    desk.tell(0, told("QM01/queue/Q0", page_set=reason, depth=9), *POOLS)
    for text in ("any(queue, depth > 5)", "sum(queue, depth) > 5", "count(queue, depth > 5) > 0"):
        for holder in ("QM01/page_set/0", "QM01/buffer_pool/3"):
            assert desk.truth(text, holder) is None
            assert desk.scene.absence is reason
    desk.tell(1, told("QM01/queue/Q0", 1, page_set=0, depth=9))
    desk.tell(2, told("QM01/queue/Q0", 2, page_set=reason, depth=9))
    assert desk.members("QM01/page_set/0", "queue") == ["Q0"]
    assert desk.truth("any(queue, depth > 5)", "QM01/page_set/1") is None


@pytest.mark.parametrize("reason", [None, Absence.NOT_AUTHORISED, Absence.NO_ANSWER])
def test_a_queue_that_never_named_its_page_set_may_be_on_any(reason: Absence | None) -> None:
    """Beside queues whose page sets are known: what these decide stays decided, all else is unknown."""
    desk = Desk()
    unnamed: dict[str, Any] = {} if reason is None else {"page_set": reason}
    desk.tell(0, told("QM01/queue/Q0", page_set=0, depth=9), told("QM01/queue/Q1", depth=1, **unnamed), *POOLS)
    desk.tell(0, told("QM01/buffer_pool/2", free_pct=50))
    for holder in ("QM01/page_set/0", "QM01/buffer_pool/3"):
        assert desk.truth("any(queue, depth > 5)", holder) is True
        assert desk.truth("any(queue, depth > 50)", holder) is None
        assert desk.truth("sum(queue, depth) > 5", holder) is None
        assert desk.scene.absence is (reason or Absence.NOT_ASKED)
    for holder in ("QM01/page_set/1", "QM01/buffer_pool/2"):
        assert desk.truth("any(queue, depth > 5)", holder) is None
        assert desk.truth("count(queue, depth > 5) == 0", holder) is None
    desk.tell(1, told("QM01/queue/Q1", 1, page_set=Absence.NOT_RETURNED, depth=1))
    assert desk.truth("any(queue, depth > 50)", "QM01/page_set/0") is False
    assert desk.truth("sum(queue, depth) == 9", "QM01/buffer_pool/3") is True
    assert desk.truth("any(queue, depth > 5)", "QM01/page_set/1") is False


def test_the_pool_of_a_page_set_that_nothing_reported() -> None:
    """Queues name page sets, but which pools these have is not known."""
    desk = Desk()
    desk.tell(0, told("QM01/queue/Q0", page_set=0, depth=9), told("QM01/buffer_pool/3", free_pct=50))
    for text in ("any(queue, depth > 5)", "count(queue, depth > 5) == 0"):
        assert desk.truth(text, "QM01/buffer_pool/3") is None
        assert desk.scene.absence is Absence.NOT_ASKED


def test_a_queue_that_nothing_declares_to_be_fed_is_fed_by_none() -> None:
    """A declaration is made where it is true: the queues without one do not make others' channels unknown."""
    desk = Desk(Fact(ObjectPattern.parse("QM01/queue/Q0"), "fed_by", "TO.QM01"))
    desk.tell(0, *queues(2, depth=1), told("QM01/channel/TO.QM01", msgs=1), told("QM01/channel/TO.QM02", msgs=1))
    assert desk.truth("count(queue, depth > 0) == 1", "QM01/channel/TO.QM01") is True
    assert desk.truth("any(queue, depth > 0)", "QM01/channel/TO.QM02") is False


def test_a_stale_record_of_a_queue_shows_nothing_about_a_structure() -> None:
    """A queue named another structure in a record that is stale: what this structure holds is unknown."""
    desk = Desk()
    name = ObjectName("QSG1", "queue", "Q0")
    record = Reading(name, "S", at(0), {"cf_structure": "APP2"}, MINUTE, poll=False, source=Source.SMF)
    structures = [told(f"QSG1/cf_structure/APP{number}", type=0) for number in (1, 2)]
    desk.tell(0, record, *structures, group=True)
    assert desk.truth("any(queue, def_persistence == YES)", "QSG1/cf_structure/APP1") is False
    desk.tell(60, *(told(f"QSG1/cf_structure/APP{number}", 60, type=0) for number in (1, 2)), group=True)
    assert desk.truth("any(queue, def_persistence == YES)", "QSG1/cf_structure/APP1") is None
    assert desk.scene.absence is Absence.AWAITED
    assert desk.members("QSG1/cf_structure/APP2", "queue") == ["Q0"]


def test_queues_of_another_group_show_nothing_about_a_structure() -> None:
    """They are no report of this group's queues, and do not belong to its structure of the same name."""
    desk = Desk()
    desk.tell(0, told("QSG2/queue/Q0", cf_structure="APP1", def_persistence=1), group=True)
    desk.tell(0, told("QSG1/cf_structure/APP1", type=0), group=True)
    assert desk.members("QSG1/cf_structure/APP1", "queue") == []
    assert desk.truth("any(queue, def_persistence == YES)", "QSG1/cf_structure/APP1") is None
    assert desk.scene.absence is Absence.NOT_ASKED


def two_groups(*names: tuple[str, str]) -> Desk:
    """QM01 and QM02 belong to QSG1, QM03 to QSG2, as ``names`` know; each group has a structure APP1."""
    desk = Desk(group_of=dict(names).get)
    for owner in ("QM01", "QM02", "QM03"):
        desk.tell(0, told(f"{owner}/queue_manager", command_level=930), told(f"{owner}/log", full_logs=3))
    for owner in ("QSG1", "QSG2"):
        readings = [
            told(f"{owner}/{name}", **{metric: 2}) for name, metric in (("qsg", "qmgr_count"), ("smds/A", "status"))
        ]
        desk.tell(0, *readings, told(f"{owner}/cf_structure/APP1", type=0), group=True)
    return desk


def test_queue_managers_of_another_group_are_not_members() -> None:
    """One file of SMF records may hold several groups."""
    desk = two_groups(("QM01", "QSG1"), ("QM02", "QSG1"), ("QM03", "QSG2"))
    for group, count in (("QSG1", 2), ("QSG2", 1), ("QSG1", 2)):
        for holder in (f"{group}/qsg", f"{group}/cf_structure/APP1"):
            assert len(desk.members(holder, "log")) == len(desk.members(holder, "queue_manager")) == count
            assert desk.truth("any(log, full_logs > 5)", holder) is False
    desk.tell(1, told("QM03/queue/Q0", 1, cf_structure="APP1", def_persistence=1))
    assert desk.truth("any(queue, def_persistence == YES)", "QSG2/cf_structure/APP1") is True
    assert desk.members("QSG1/cf_structure/APP1", "queue") == []
    assert desk.enter("QM03/queue_manager").value("qsg", "qmgr_count") == 2


def test_a_queue_manager_may_be_in_one_of_two_groups() -> None:
    """While it is not known in which, it may be a member of either."""
    desk = two_groups(("QM01", "QSG1"), ("QM03", "QSG2"))
    assert desk.members("QSG1/qsg", "log") == [""]
    assert desk.truth("any(log, full_logs == 3)", "QSG1/qsg") is True
    assert desk.truth("any(log, full_logs == 4)", "QSG1/qsg") is None
    assert desk.scene.absence is Absence.NOT_ASKED
    assert desk.truth("count(queue_manager, command_level > 0) == 1", "QSG2/cf_structure/APP1") is None
    desk.tell(1, told("QM02/queue_manager", 1, qsg_name="QSG1"))
    assert desk.truth("any(log, full_logs == 4)", "QSG1/qsg") is False
    assert desk.truth("count(queue_manager, command_level > 0) == 1", "QSG2/cf_structure/APP1") is True


def test_a_queue_manager_in_no_group_is_not_a_member() -> None:
    """Its name of the group is blank, also while that is not answered again."""
    desk = Desk()
    desk.tell(0, told("QSG1/qsg", qmgr_count=2), group=True)
    desk.tell(0, told("QM01/queue_manager", qsg_name="ABCD"), told("QM02/queue_manager", qsg_name="    "))
    desk.tell(0, told("QM02/queue_manager", qsg_name="    "))
    assert len(desk.members("QSG1/qsg", "queue_manager")) == 1
    desk.tell(1, told("QM02/queue_manager", 1, qsg_name=Absence.NO_ANSWER))
    assert len(desk.members("QSG1/qsg", "queue_manager")) == 1


def test_members_named_by_a_record_stay_when_it_is_stale() -> None:
    """A record that names the page set of a queue counts as a poll does."""
    desk = Desk()
    desk.tell(0, *POOLS)
    record = Reading(
        ObjectName.parse("QM01/queue/Q0"), "S", at(0), {"page_set": 0}, MINUTE, poll=False, source=Source.SMF
    )
    desk.tell(0, record)
    desk.minute = 10
    state = desk.enter("QM01/queue/Q0")
    assert state.value("queue", "page_set") is Absence.AWAITED
    assert desk.members("QM01/page_set/0", "queue") == ["Q0"]


def test_verdicts_follow_values() -> None:
    """What was worked out about members is forgotten when a poll tells something new, and when values become stale."""
    desk = Desk()
    desk.tell(0, *queues(4, depth=1), *POOLS)
    assert desk.truth("any(queue, depth > 5)", "QM01/buffer_pool/3") is False
    desk.tell(1, told("QM01/queue/Q3", 1, depth=9))
    assert desk.truth("any(queue, depth > 5)", "QM01/buffer_pool/3") is True
    assert desk.truth("sum(queue, depth) == 12", "QM01/page_set/1") is False
    assert desk.truth("sum(queue, depth) == 10", "QM01/page_set/1") is True
    desk.tell(2, *queues(3, 1, depth=1), told("QM01/queue/Q3", 2, depth=9))
    desk.tell(4.5, told("QM01/queue/Q3", 4.5, depth=9))
    assert desk.truth("count(queue, depth > 5) == 1", "QM01/buffer_pool/3") is None
    assert desk.scene.absence is Absence.STALE


def test_members_values_told_by_a_record() -> None:
    """They are known at once to what is judged next."""
    desk = Desk()
    desk.tell(0, *queues(2), *POOLS)
    text = "sum(page_set, full_count) > 3"
    assert desk.truth(text, "QM01/buffer_pool/3") is None
    for number, count in enumerate((1, 5)):
        name = ObjectName("QM01", "page_set", str(number))
        desk.tell(0, Reading(name, "SMF", at(0), {"full_count": count}, MINUTE, poll=False, source=Source.SMF))
    assert desk.truth(text, "QM01/buffer_pool/3") is True


@pytest.mark.parametrize("depth", [0, 7, None])
def test_the_member_that_is_named_is_found_as_by_looking_at_all(depth: int | None) -> None:
    desk = Desk()
    value: Reported = Absence.NOT_RETURNED if depth is None else depth
    names: list[Reported] = ["Q0", "Q1", "Q9", "", Absence.NOT_RETURNED]
    desk.tell(0, *(told(f"QM01/queue/Q{number}", stream_queue=name, depth=value) for number, name in enumerate(names)))
    for number in range(len(names)):
        for more in ("", " and depth > 3", " and depth > this.depth"):
            verdicts = [
                desk.truth(f"any(queue, {equal}{more})", f"QM01/queue/Q{number}")
                for equal in ("name == this.stream_queue", "this.stream_queue == name")
            ]
            assert verdicts[0] is verdicts[1]
    desk.tell(1, told("QM01/queue/Q9", 1, depth=9, stream_queue=""))
    assert desk.truth("any(queue, name == this.stream_queue and depth > 3)", "QM01/queue/Q2") is True


def test_what_belongs_to_members() -> None:
    """A member's page set is its own; the judged object's past and name can be asked for beside it."""
    desk = Desk()
    desk.tell(0, *queues(3, depth=1), *POOLS)
    assert desk.truth("count(queue, page_set.used_pct > 15) == 1", "QM01/queue_manager") is True
    assert desk.truth("any(queue, name == this.name)", "QM01/queue/Q1") is True
    assert (
        desk.truth('count(queue, startswith(name, "Q") and not endswith(name, "1")) == 2', "QM01/queue_manager") is True
    )
    assert desk.truth("any(queue, queue_manager.command_level >= 930 and depth > 0)", "QM01/page_set/0") is True


def test_a_share_within_members_leaves_them_alone() -> None:
    """Going through all objects of a kind for a sum does not disturb going through members."""
    desk = Desk()
    desk.tell(0, *queues(4, depth=1), *POOLS)
    text = "count(queue, share(depth) == 0.25 and share(this.used_pct) > 0.5 and depth == 1) == 2"
    assert desk.truth(text, "QM01/page_set/1") is True
    assert desk.truth("share(used_pct) == 1 / 3", "QM01/page_set/0") is True


def test_shares_of_increases() -> None:
    """The part of all increases over the window; unknown when fewer than four of five have any."""
    desk = Desk()
    for minute in range(1, 6):
        readings = [told(f"QM01/queue/Q{number}", minute, puts=number * 10) for number in range(5)]
        desk.tell(minute, *(each for each in readings if minute < 5 or each.object.name != "Q4"))
    assert desk.truth('share(puts, "1m") == 0.5', "QM01/queue/Q3") is True
    assert desk.truth('share(puts, "5m") > 0.35', "QM01/queue/Q3") is False
    few = Desk()
    few.tell(1, *[told(f"QM01/queue/Q{number}", 1, **({"puts": 7} if number < 3 else {})) for number in range(5)])
    assert few.truth('share(puts, "5m") > 0', "QM01/queue/Q1") is None


RULE = """\
rules:
  - id: MY-01
    title: A rule of ours
    tier: P
    kind: operational
    scope: page_set
    when: {when}
    severity: warning
    summary: "page set {{name}}"
    advice: Look at it.
    caveat: None.
    source: {{document: Our own handbook, section: Members}}
"""


@pytest.mark.parametrize(
    ("when", "column", "message"),
    [
        ("any(channel, msgs > 3)", 11, "a page_set has no members of kind channel"),
        ("used_pct > 5 and count(queue, smds.used_pct > 3) > 1", 28, "a queue has no one smds that belongs to it"),
        (
            "any(queue, depth > 3) and this.used_pct > 1",
            37,
            "this stands inside any, count, sum, most or least; write used_pct",
        ),
    ],
)
def test_rules_about_members_that_there_cannot_be(when: str, column: int, message: str) -> None:
    """They are refused when they are loaded, where they say so."""
    _, problems = decode_packs([("ours.yaml", RULE.format(when=when))], KINDS)
    (problem,) = {(each.place.line, each.place.column, each.message) for each in problems}
    assert problem == (7, column, message)


def test_the_engine_tells_why_members_are_unknown() -> None:
    """The reason is that of the members, and follows them."""
    rules, _ = decode_packs([("ours.yaml", RULE.format(when="count(queue, qtime_us_short > 5) > 1"))], KINDS)
    engine = Engine(RuleSet(rules, KINDS), Facts(KINDS), MemoryHistory())

    def tell(minute: float, qtime: Reported) -> dict[str, Absence]:
        readings = (*queues(4, minute, qtime_us_short=qtime), told("QM01/page_set/0", minute, used_pct=5))
        found = engine.evaluate(Snapshot("QM01", False, 1, at(minute), readings))
        return {count.rule: count.reason for count in found.unknown}

    assert tell(0, Absence.NOT_COLLECTED) == {"MY-01": Absence.NOT_COLLECTED}
    assert tell(1, Absence.NO_ANSWER) == {"MY-01": Absence.NO_ANSWER}
    assert tell(2, 9) == {}
    assert [str(alert.scope) for alert in engine.open_alerts] == ["QM01/page_set/0"]
    assert tell(3, 1) == {}


def declared(name: str, pair: str) -> Fact:
    return Fact(ObjectPattern.parse(name), "pair", pair)


def test_pairs() -> None:
    """The pair of the same owner, or else of the group; one that is not known is not asked, one undeclared not declared."""
    desk = Desk(
        declared("QM01/queue/REQ", "REP"), declared("QM01/queue/LOST", "NOWHERE"), declared("QM01/queue/OUT", "SHARED")
    )
    desk.tell(0, told("QSG1/queue/SHARED", depth=7), group=True)
    desk.tell(
        0,
        told("QM01/queue/REQ", depth=1, page_set=0),
        told("QM01/queue/REP", depth=8, page_set=0),
        told("QM01/queue/LOST", depth=1),
        told("QM01/queue/OUT", depth=1),
        *POOLS,
    )
    assert desk.truth("pair.depth == 8 and pair.page_set == page_set", "QM01/queue/REQ") is True
    assert desk.truth("pair.depth == 7", "QM01/queue/OUT") is True
    assert desk.truth("count(queue, pair.depth > depth) == 2", "QM01/queue_manager") is None
    assert desk.truth("any(queue, pair.page_set == page_set)", "QM01/queue_manager") is True
    for name, absence in (("QM01/queue/LOST", Absence.NOT_ASKED), ("QM01/queue/REP", Absence.NOT_DECLARED)):
        assert desk.truth("pair.depth == 8", name) is None
        assert desk.scene.absence is absence


def test_messages_about_an_object() -> None:
    """Of an object with a name only those that name it, of a single one all of its owner; unknown where no console is followed."""
    desk = Desk()
    desk.tell(10, *POOLS, told("QM01/buffer_pool/4", free_pct=50))
    desk.tell(10, told("QM02/queue_manager", command_level=930))
    desk.history.add_message("QM01", ObjectMessage(at(11), "CSQP020E", ObjectName("QM01", "buffer_pool", "4")))
    desk.history.add_message("QM01", ObjectMessage(at(5), "CSQP020E", ObjectName("QM01", "buffer_pool", "3")))
    text = 'seen("CSQP020E", "10m")'
    assert desk.truth(text, "QM01/buffer_pool/3") is True
    assert desk.truth(text, "QM01/buffer_pool/4") is False  # it comes only later
    assert desk.truth(text, "QM01/queue_manager") is True
    assert desk.truth(text, "QM02/queue_manager") is None
    assert desk.scene.absence is Absence.NEEDS_CONSOLE
    desk.history.follow("QM02")
    assert desk.truth(text, "QM02/queue_manager") is False
    desk.minute = 11
    assert desk.truth(text, "QM01/buffer_pool/4") is True
    assert desk.truth('seen("CSQP020E", "5m")', "QM01/buffer_pool/3") is False


def test_messages_about_the_group() -> None:
    """Any member's console may tell of what belongs to the group."""
    desk = Desk()
    desk.tell(1, told("QSG1/cf_structure/APP1", 1, type=0), told("QSG1/qsg", 1, qmgr_count=2), group=True)
    desk.tell(1, told("QM01/queue_manager", 1, command_level=930))
    desk.tell(1, told("QM02/queue_manager", 1, command_level=930))
    text = 'seen("CSQE022E", "1h")'
    assert desk.truth(text, "QSG1/cf_structure/APP1") is None
    desk.history.add_message("QM02", ObjectMessage(at(0.5), "CSQE022E", ObjectName("QM02", "cf_structure", "APP1")))
    assert desk.truth(text, "QSG1/cf_structure/APP1") is True
    assert desk.truth(text, "QSG1/qsg") is True


def named(
    world: LatestValues, state: LatestState, kind: str, before: dict[tuple[ObjectName, str], Reported | None]
) -> ObjectName | None:
    """What an object belongs to; while what names it is stale, what that named before."""
    between, metric = RELATIONS[state.name.kind, kind]
    told: LatestState | None = state
    if between != state.name.kind:
        first = named(world, state, between, before)
        told = None if first is None else world.state(first)
    value = None
    if told is not None:
        value = told.values.get(metric)
        if value in (Absence.STALE, Absence.AWAITED):
            value = before.get((told.name, metric))
        before[told.name, metric] = value
    if not isinstance(value, int | float):
        return None
    group = world.group_of(state.name.owner) or ""
    names = (ObjectName(owner, kind, f"{value:g}") for owner in (state.name.owner, group))
    return next((name for name in names if world.state(name) is not None), None)


STEP = st.tuples(
    st.sampled_from(["queue", "page_set", "gone", "quiet"]),
    st.sampled_from(["QM01", "QM02", "QSG1"]),
    st.integers(0, 4),
    st.integers(0, 2),
    st.integers(0, 3),
)
RELATED = (("queue", "page_set"), ("queue", "buffer_pool"), ("page_set", "buffer_pool"))


@given(st.lists(STEP, max_size=25))
def test_the_index_is_never_behind(steps: Sequence[tuple[str, str, int, int, int]]) -> None:
    """Whatever changes, members are those whose related object it is."""
    desk = Desk()
    for owner in ("QM01", "QSG1"):
        pools = [told(f"{owner}/buffer_pool/{pool}", free_pct=1) for pool in (2, 3)]
        desk.tell(0, *pools, told(f"{owner}/page_set/{len(owner) % 2}", buffer_pool=2), group=owner == "QSG1")
    index = MemberIndex(KINDS, desk.world)
    before: dict[tuple[ObjectName, str], Reported | None] = {}
    for what, owner, number, target, pause in steps:
        now = desk.minute + pause
        if what == "queue":
            page_set: Reported = target if number else Absence.NOT_RETURNED
            desk.tell(now, told(f"{owner}/queue/Q{number}", now, page_set=page_set), group=owner == "QSG1")
        elif what == "page_set":
            desk.tell(now, told(f"{owner}/page_set/{target}", now, buffer_pool=2 + number % 2), group=owner == "QSG1")
        elif what == "gone":
            desk.tell(now, Reading(ObjectName(owner, "queue", f"Q{number}"), "P", at(now), {}, MINUTE, gone=True))
        desk.minute = now
        for state in desk.world:
            if at(now) > state.deadline:
                state.expire(at(now))
        for kind, holder in RELATED:
            belongs = {
                state.name: named(desk.world, state, holder, before) for state in desk.world if state.name.kind == kind
            }
            for state in desk.world:
                if state.name.kind == holder:
                    found = {each.name for each in index.of(state, kind, at(now)).states}
                    assert found == {name for name, other in belongs.items() if other == state.name}
