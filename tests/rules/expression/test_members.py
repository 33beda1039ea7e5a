"""What is true of members, of a pair, of names and of console messages; the compiled function and the careful one agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.expression import Context, Expression, Missing
from mqvitals_rules.expression.context import Unplaced
from mqvitals_rules.expression.expression import MemberUse
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported

Compile = Callable[..., Expression]
Make = Callable[..., Context]

NOW = 1_700_000_000_000
ABSENT = Absence.NOT_COLLECTED


def judged(expression: Expression, context: Context) -> bool | None:
    """The verdict, the same of the compiled function and of the explanation."""
    verdict = expression.truth(context)
    explanation = expression.explain(context)
    assert explanation.truth is verdict
    assert bool(explanation.missing) is (verdict is None)
    return verdict


def queues(context: Make, *depths: Reported) -> Sequence[Context]:
    """Queues Q0, Q1, ... of these depths."""
    return [context({"depth": depth, "max_depth": 100}, name=f"Q{index}") for index, depth in enumerate(depths)]


@pytest.mark.parametrize(
    ("depths", "expected"),
    [
        ((), False),
        ((1, 2), False),
        ((1, 9), True),
        ((ABSENT, 9), True),
        ((9, ABSENT), True),
        ((1, ABSENT), None),
        ((1, 1, 1, 1, 1, 1, ABSENT), None),
        ((ABSENT,), None),
    ],
)
def test_any(compiled: Compile, context: Make, depths: Sequence[Reported], expected: bool | None) -> None:
    """One that holds decides; else one that is unknown makes it unknown; nobody makes it false."""
    page_set = context({"used_pct": 50}, company={"queue": queues(context, *depths)})
    assert judged(compiled("any(queue, depth > limit)", "page_set", limit=5), page_set) is expected
    assert judged(compiled("not any(queue, depth > 5)", "page_set"), page_set) is (
        None if expected is None else not expected
    )


@pytest.mark.parametrize(
    ("text", "depths", "expected"),
    [
        ("count(queue, depth > 5)", (), 0),
        ("count(queue, depth > 5)", (1, 9, 8), 2),
        ("count(queue, depth > 5)", (1, 9, 8, 7, ABSENT), 3),  # exactly 80 % are known
        ("count(queue, depth > 5)", (1, 9, 8, ABSENT), None),
        ("sum(queue, depth)", (), 0),
        ("sum(queue, depth)", (1, 9, 8.5), 18.5),
        ("sum(queue, depth / max_depth)", (50, 100), 1.5),
        ("sum(queue, depth)", (1, 9, 8, 7, ABSENT), 25),
        ("sum(queue, depth)", (1, ABSENT), None),
        ("sum(queue, depth / (depth - 1))", (1, 2), None),
        ("sum(queue, depth)", (float("inf"), float("-inf")), None),
        ("sum(queue, depth)", (10**400, 0.5), None),
        ("most(queue, depth)", (), None),
        ("most(queue, depth)", (1, 9, 8), 9),
        ("most(queue, depth)", (1, 9, 8, 7, ABSENT), 9),
        ("most(queue, depth)", (ABSENT, 9), None),
        ("least(queue, depth)", (), None),
        ("least(queue, depth)", (3, 9, 8), 3),
    ],
)
def test_numbers_of_members(
    compiled: Compile, context: Make, text: str, depths: Sequence[Reported], expected: float | None
) -> None:
    """Unknown unless four of five are known; of nobody the count and the sum are 0 and the others unknown."""
    page_set = context({"used_pct": 50}, company={"queue": queues(context, *depths)})
    equal = None if expected is None else True
    assert judged(compiled(f"{text} == limit", "page_set", limit=expected or 0), page_set) is equal
    above = None if expected is None else False
    assert judged(compiled(f"{text} > limit", "page_set", limit=expected or 0), page_set) is above


def test_members_of_whom_nothing_is_known(compiled: Compile, context: Make) -> None:
    """Where it is not known who they are, nothing is known of them, not even that there is nobody."""
    page_set: Any = context({"used_pct": 50}, company={"queue": []})
    page_set.members("queue").doubt = Absence.NOT_ASKED
    for text in ("any(queue, depth > 5)", "count(queue, name != 'A') == 0", "sum(queue, depth) == 0"):
        expression = compiled(text, "page_set")
        assert judged(expression, page_set) is None
        assert expression.explain(page_set).missing == (Missing("queue", Absence.NOT_ASKED),)
        assert "[not asked]" in expression.filled(page_set)


@pytest.mark.parametrize(
    ("text", "depths", "expected"),
    [
        ("any(queue, depth > 5)", (1, 9), True),
        ("any(queue, depth > 5)", (1, 2, 3, 4, 5), None),
        ("count(queue, depth > 5) == 0", (), None),
        ("count(queue, depth > 5) == 2", (9, 8), None),
        ("count(queue, depth > 5) == 2", (9, 8, 1, 1), True),  # exactly 80 % are known
        ("count(queue, depth > 5) == 2", (9, 8, 1, ABSENT), None),
        ("sum(queue, depth) > 100", (1,), None),
        ("sum(queue, depth) > 100", (1, 2, 3, 4), False),
        ("most(queue, depth) == 9", (9,), None),
        ("present(queue)", (), True),
    ],
)
def test_an_object_that_may_be_a_member(
    compiled: Compile, context: Make, text: str, depths: Sequence[Reported], expected: bool | None
) -> None:
    """It counts as a member that is unknown, and the explanation names the metric that says where it belongs."""
    page_set: Any = context({"used_pct": 50}, company={"queue": queues(context, *depths)})
    page_set.members("queue").unplaced = [Unplaced("queue.page_set", Absence.NOT_AUTHORISED)]
    expression = compiled(text, "page_set")
    assert judged(expression, page_set) is expected
    missing = expression.explain(page_set).missing
    assert (Missing("queue.page_set", Absence.NOT_AUTHORISED) in missing) is (expected is None)


def test_the_judged_objects_own_values(compiled: Compile, context: Make) -> None:
    """``this`` is the judged object, whose past and name can be asked for too; a member's own names are its own."""
    members = queues(context, 40, 60)
    page_set = context({"used_pct": 50}, {"used_pct": [50.0] * 6}, name="Q1", company={"queue": members})
    assert judged(compiled("count(queue, depth > this.used_pct) == 1", "page_set"), page_set) is True
    assert judged(compiled('count(queue, avg(this.used_pct, "5m") > depth) == 1', "page_set"), page_set) is True
    assert judged(compiled("sum(queue, this.used_pct) == 100", "page_set"), page_set) is True
    assert judged(compiled("count(queue, name == this.name) == 1", "page_set"), page_set) is True
    assert (
        judged(compiled("any(queue, present(this.used_pct) and rising(this.used_pct, 2))", "page_set"), page_set)
        is False
    )


def test_facts_of_members_that_nobody_declared(compiled: Compile, context: Make) -> None:
    """They are left out inside; a member of which everything is left out is unknown."""
    members = [context({"depth": 9, "priority": Absence.NOT_DECLARED}, name="A")]
    page_set = context({"used_pct": 50}, company={"queue": members})
    assert judged(compiled("any(queue, depth > 5 and priority > 3)", "page_set"), page_set) is True
    lone = compiled("any(queue, priority > 3)", "page_set")
    assert judged(lone, page_set) is None
    assert lone.explain(page_set).missing == (Missing("queue.priority", Absence.NOT_DECLARED),)


def test_what_is_the_same_for_all_is_worked_out_once(compiled: Compile, context: Make) -> None:
    """The members' notes keep it; what compares with the judged object is worked out each time."""
    page_set: Any = context({"used_pct": 50}, company={"queue": queues(context, 40, 60)})
    company = page_set.members("queue")
    alike = compiled("count(queue, depth > 50) == 1", "page_set")
    apart = compiled("any(queue, depth > this.used_pct)", "page_set")
    assert (alike.truth(page_set), apart.truth(page_set)) == (True, True)
    for member in company.contexts:
        member.values["depth"] = 1
    assert (alike.truth(page_set), apart.truth(page_set)) == (True, False)
    company.notes.clear()
    assert (alike.truth(page_set), apart.truth(page_set)) == (False, False)


def test_members_are_not_looked_at_without_need(compiled: Compile, context: Make) -> None:
    """What stands before and decides spares them."""
    page_set: Any = context({"used_pct": 5}, company={"queue": queues(context, 40)})
    assert compiled("used_pct > 50 and any(queue, depth > 5)", "page_set").truth(page_set) is False
    assert page_set.asked == ["used_pct"]


@pytest.mark.parametrize(
    ("text", "depths", "expected"),
    [
        ("any(queue, depth > limit)", (9, 1, 8), "any(queue, depth > limit [5]) [Q0, Q2]"),
        ("any(queue, depth > 5)", (9, 8, 7, 6, 8, 1), "any(queue, depth > 5) [Q0, Q1, Q2 and 2 more]"),
        ("any(queue, depth > 5)", (1, 2), "any(queue, depth > 5) [none of 2]"),
        ("any(queue, depth > 5)", (1, ABSENT), "any(queue, depth > 5) [not collected]"),
        ("count(queue, depth > 5) > 1", (1, 9), "count(queue, depth > 5) [1] > 1"),
        ("sum(queue, depth) > 1", (1, ABSENT), "sum(queue, depth) [not collected] > 1"),
        ("most(queue, depth) > used_pct", (), "most(queue, depth) [none] > used_pct [50]"),
    ],
)
def test_explanation(compiled: Compile, context: Make, text: str, depths: Sequence[Reported], expected: str) -> None:
    """Which members hold, or how many there are; what is missing is named as the judged object sees it."""
    page_set = context({"used_pct": 50}, company={"queue": queues(context, *depths)})
    expression = compiled(text, "page_set", limit=5)
    explanation = expression.explain(page_set)
    assert explanation.filled == explanation.terms[0].filled == expected
    if ABSENT in depths:
        assert explanation.missing == (Missing("queue.depth", ABSENT),)


def test_what_an_expression_says_of_itself(compiled: Compile) -> None:
    """Its own metrics apart from those of members and of the pair; the past of members too."""
    expression = compiled(
        'max_depth > 3 and any(channel, rate(msgs, "10m") > this.depth and qsg.qmgr_count > 3) and pair.depth > 3'
        ' and seen("CSQP020E") and elapsed("CSQR003I", "CSQR006I", "1d") > 3'
    )
    assert expression.names == {("queue", "max_depth"), ("queue", "depth")}
    assert expression.pairs == {"depth"}
    assert expression.messages == {"CSQP020E", "CSQR003I", "CSQR006I"}
    assert expression.members == (MemberUse("channel", frozenset({("channel", "msgs"), ("qsg", "qmgr_count")}), 18),)
    assert [(use.function, use.kind, use.metric, use.window_ms) for use in expression.windows] == [
        ("rate", "channel", "msgs", 600_000)
    ]


def test_the_pair(compiled: Compile, context: Make) -> None:
    """The other queue's metrics and past; without a declared pair everything about it is unknown, also its facts."""
    reply = context({"depth": 80, "role": 5}, {"depth": [80.0] * 6}, name="REPLY")
    request = context({"depth": 5, "pair": "REPLY"}, pair=reply)
    assert judged(compiled("pair.depth > 10 * depth and pair.role == batch"), request) is True
    assert judged(compiled('avg(pair.depth, "5m") == 80 and present(pair.depth)'), request) is True
    assert judged(compiled("eta(depth, pair.depth) > 3"), request) is None
    alone = context({"depth": 5})
    for text in ("pair.depth > 3", "depth == 5 and pair.priority > 3", 'avg(pair.depth, "5m") > 3'):
        assert judged(compiled(text), alone) is None
        assert compiled(text).reason(alone) is Absence.NOT_DECLARED
    assert compiled("pair.depth > 3").explain(alone).missing == (Missing("pair", Absence.NOT_DECLARED),)
    group = context({"qmgr_count": 3}, company={"queue": [alone]})
    assert compiled("any(queue, pair.depth > 3)", "qsg").explain(group).missing == (
        Missing("queue.pair", Absence.NOT_DECLARED),
    )
    assert judged(compiled("present(pair.depth)"), alone) is False
    explanation = compiled("pair.depth > depth").explain(request)
    assert explanation.filled == "pair.depth [80] > depth [5]"
    assert explanation.values == {"pair.depth": 80, "depth": 5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('startswith(name, "SYSTEM.")', True),
        ('endswith(name, "SYSTEM.")', False),
        ('endswith(name, ".QUEUE") and name != "X"', True),
        ('name in ("A", "SYSTEM.DEAD.QUEUE")', True),
        ("startswith(name, xmitq)", True),
        ("startswith(local_address, xmitq)", None),
    ],
)
def test_names_and_texts(compiled: Compile, context: Make, text: str, expected: bool | None) -> None:
    """The object's own name, and how texts begin and end."""
    channel = context({"xmitq": "SYSTEM", "status": 3}, name="SYSTEM.DEAD.QUEUE")
    assert judged(compiled(f"status == RUNNING and {text}", "channel"), channel) is expected
    assert "'SYSTEM" in compiled('status == RUNNING and name == "A"', "channel").filled(channel)


def told(*messages: tuple[int, str]) -> list[ObjectMessage]:
    """Messages so many seconds ago."""
    return [ObjectMessage(NOW - 1000 * ago, code, ObjectName("QM01", "queue_manager")) for ago, code in messages]


def test_seen(compiled: Compile, context: Make) -> None:
    """A message of that id in the window; unknown where no console is followed."""
    expression = compiled('seen("CSQP020E", "10m")')
    assert judged(expression, context(told=told((599, "CSQP020E")))) is True
    assert judged(expression, context(told=told((600, "CSQP020E"), (5, "CSQP021I")))) is False
    assert judged(expression, context(told=[])) is False
    silent = context()
    assert judged(expression, silent) is None
    assert expression.reason(silent) is Absence.NEEDS_CONSOLE
    assert expression.explain(silent).missing == (Missing('seen("CSQP020E", "10m")', Absence.NEEDS_CONSOLE),)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), None),
        (((50, "CSQR003I"), (20, "CSQR006I")), 30),
        (((50, "CSQR003I"), (20, "CSQR006I"), (10, "CSQR003I")), 30),  # the newest whole pair
        (((50, "CSQR003I"), (20, "CSQR006I"), (10, "CSQR006I")), 30),  # to the next one
        (((90, "CSQR003I"), (50, "CSQR003I"), (20, "CSQR006I")), 30),
        (((90, "CSQR003I"), (80, "CSQR006I"), (50, "CSQR003I"), (30, "CSQR006I")), 20),
        (((50, "CSQR006I"), (20, "CSQR003I")), None),
        (((50, "CSQR003I"),), None),
        (((4000, "CSQR003I"), (20, "CSQR006I")), None),  # the first is outside the window
    ],
)
def test_elapsed(compiled: Compile, context: Make, messages: Sequence[tuple[int, str]], expected: float | None) -> None:
    """Seconds from the one to the next of the other."""
    expression = compiled('elapsed("CSQR003I", "CSQR006I", "1h") == limit', limit=expected or 0)
    scene = context(told=told(*messages))
    assert judged(expression, scene) is (None if expected is None else True)
    if expected is None:
        assert expression.reason(scene) is Absence.NOTHING_TO_TELL
        assert expression.reason(context()) is Absence.NEEDS_CONSOLE


def test_what_is_usual(compiled: Compile, context: Make) -> None:
    """A gauge's baseline is a value, a counter's a rate; without one it is unknown."""
    channel = context({"xmitq_msgs": 90, "msgs": 600}, {"msgs": [600.0] * 6}, usual={"xmitq_msgs": 30, "msgs/s": 2})
    assert judged(compiled("xmitq_msgs == 3 * baseline(xmitq_msgs)", "channel"), channel) is True
    assert judged(compiled('rate(msgs, "5m") == 5 * baseline(msgs)', "channel"), channel) is True
    fresh = context({"xmitq_msgs": 90})
    assert judged(compiled("xmitq_msgs > baseline(xmitq_msgs)", "channel"), fresh) is None
    assert compiled("xmitq_msgs > baseline(xmitq_msgs)", "channel").reason(fresh) is Absence.WINDOW


@pytest.mark.parametrize(
    ("values", "totals", "expected"),
    [
        ({"xmitq_msgs": 25}, {"xmitq_msgs": 100}, True),
        ({"xmitq_msgs": 24}, {"xmitq_msgs": 100}, False),
        ({"xmitq_msgs": 0}, {"xmitq_msgs": 0}, None),  # nothing of nothing
        ({"xmitq_msgs": 25}, {}, None),
        ({"xmitq_msgs": ABSENT}, {"xmitq_msgs": 100}, None),
        ({"xmitq_msgs": float("inf")}, {"xmitq_msgs": float("inf")}, None),
    ],
)
def test_shares(
    compiled: Compile, context: Make, values: Mapping[str, Reported], totals: Mapping[str, float], expected: bool | None
) -> None:
    """A part of the sum over all of its kind and owner."""
    assert judged(compiled("share(xmitq_msgs) >= 0.25", "channel"), context(values, totals=totals)) is expected


def test_shares_of_counters(compiled: Compile, context: Make) -> None:
    """Of a counter the increases over the window."""
    channel = context({"msgs": 10}, {"msgs": [10.0] * 5}, totals={"msgs": 200})
    assert judged(compiled('share(msgs, "5m") == 0.25', "channel"), channel) is True
    assert channel.asked.count("total of msgs over 300000") > 0  # type: ignore[attr-defined]


def test_eta_begins_anew_when_its_limit_changes(compiled: Compile, context: Make) -> None:
    """What filled up before the limit was raised says nothing of how long it will take now."""
    rising = [10.0, 20.0, 30.0, 40.0, 50.0, 55.0, 56.0, 57.0, 58.0, 59.0]
    expression = compiled('eta(depth, max_depth, "20m") < 1000')
    steady = context({"depth": 59, "max_depth": 100}, {"depth": rising, "max_depth": [100.0] * 10})
    assert judged(expression, steady) is True
    raised = context({"depth": 59, "max_depth": 100}, {"depth": rising, "max_depth": [60.0] * 5 + [100.0] * 5})
    assert judged(expression, raised) is False  # 41 minutes
    part = compiled('eta(depth, 0.8 * max_depth, "20m") < 1000')
    assert judged(part, raised) is False
    late = context({"depth": 59, "max_depth": 100}, {"depth": rising, "max_depth": [60.0] * 7 + [100.0] * 3})
    assert judged(expression, late) is None
    gaps = context({"depth": 59, "max_depth": 100}, {"depth": rising, "max_depth": [100.0, *[None] * 8, 100.0]})
    assert judged(expression, gaps) is True


_DEPTHS = st.sampled_from([0, 60, 100, *list(Absence)[:4]])


@given(
    st.lists(st.tuples(_DEPTHS, _DEPTHS), max_size=12),
    st.sampled_from(["depth > 50 and max_depth > 50", "depth > max_depth or not depth > 5", "depth / max_depth > 1"]),
)
def test_what_many_members_lack_is_what_each_of_them_lacks(
    compiled: Compile, context: Make, values: Sequence[tuple[Reported, Reported]], condition: str
) -> None:
    """Members that lack the same are looked at once, and nothing is lost by that."""
    members = [context({"depth": depth, "max_depth": most}, name=f"Q{at}") for at, (depth, most) in enumerate(values)]
    found = compiled(f"any(queue, {condition})", "page_set").explain(context({}, company={"queue": members}))
    alone = compiled(f"any(queue, {condition})", "page_set")
    each = [alone.explain(context({}, company={"queue": [member]})) for member in members]
    truths = [one.truth for one in each]
    assert found.truth is (True if True in truths else None if None in truths else False)
    lacked = tuple(dict.fromkeys(missing for one in each for missing in one.missing))
    assert found.missing == (lacked if found.truth is None else ())


def test_the_same_words_with_another_limit_are_told_apart(compiled: Compile, context: Make) -> None:
    """What is known of members for one rule is no answer to another that compares with another number."""
    page_set = context({"used_pct": 50}, company={"queue": queues(context, 1, 9, 99)})
    low = compiled("any(queue, depth > limit)", "page_set", limit=5)
    high = compiled("any(queue, depth > limit)", "page_set", limit=50)
    assert low.filled(page_set) == "any(queue, depth > limit [5]) [Q1, Q2]"
    assert high.filled(page_set) == "any(queue, depth > limit [50]) [Q2]"


def test_what_is_asked_again_of_members_is_looked_up_once(compiled: Compile, context: Make) -> None:
    """Rules that look back in the same words share what they found, and so do the parts of one."""
    channels: Any = [context({"msgs": 1}, {"msgs": [1, 2, 3]}, name=f"C{index}") for index in range(3)]
    owner = context({"qmgr_count": 1}, company={"channel": channels})
    for limit in (5, 50):
        explanation = compiled('sum(channel, delta(msgs, "5m")) > limit', "qsg", limit=limit).explain(owner)
        assert explanation.truth is (limit == 5)
        assert explanation.filled == f'sum(channel, delta(msgs, "5m")) [18] > limit [{limit}]'
    assert [each.asked.count("past of msgs") for each in channels] == [1, 1, 1]


def test_members_that_differ_in_what_is_there_lack_different_figures(compiled: Compile, context: Make) -> None:
    """``present`` is no figure, and decides all the same what is missing."""
    one = context({"depth": ABSENT, "input_handles": ABSENT, "max_depth": ABSENT}, name="Q0")
    other = context({"depth": ABSENT, "input_handles": ABSENT, "max_depth": 100}, name="Q1")
    page_set = context({"used_pct": 50}, company={"queue": [one, other]})
    expression = compiled("any(queue, present(max_depth) and depth > 1 or input_handles > 1)", "page_set")
    assert judged(expression, page_set) is None
    assert set(expression.explain(page_set).missing) == {
        Missing("queue.depth", ABSENT),
        Missing("queue.input_handles", ABSENT),
    }
