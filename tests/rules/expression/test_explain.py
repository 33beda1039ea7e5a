"""What an expression says about itself: its names, its windows, and why it comes to what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from mqvitals_rules.expression import (
    Context,
    Expression,
    Missing,
    TermVerdict,
    WindowUse,
    compile_value,
)
from mqvitals_rules.vocabulary.metric import Absence, Kind, Reported

Compile = Callable[..., Expression]
Make = Callable[..., Context]


def test_names_and_windows(compiled: Compile) -> None:
    """Every metric with its kind, and every look into the past once, with what it needs."""
    expression = compiled(
        "status == RETRYING and rate(msgs) > limit and present(ping_us) and rising(queue.depth, 3)"
        ' and eta(xmitq_msgs, qsg.qmgr_count, "10m") < 9 and rate(msgs, "5m") < 100',
        "channel",
        limit=5,
    )
    assert expression.names == {
        ("channel", "status"),
        ("channel", "msgs"),
        ("channel", "ping_us"),
        ("channel", "xmitq_msgs"),
        ("queue", "depth"),
        ("qsg", "qmgr_count"),
    }
    assert (expression.members, expression.messages, expression.pairs) == ((), frozenset(), frozenset())
    assert expression.windows == (
        WindowUse("rate", "channel", "msgs", 300_000, 0),
        WindowUse("rising", "queue", "depth", 0, 4),
        WindowUse("eta", "channel", "xmitq_msgs", 600_000, 0),
        WindowUse("eta", "qsg", "qmgr_count", 600_000, 0),
    )
    assert expression.source.startswith("status == RETRYING")


def test_explanation_of_a_verdict_that_holds(compiled: Compile, context: Make) -> None:
    """Every term comes with its values, also those that were not needed; nothing is missing."""
    expression = compiled(
        "purpose in SHORT and 5 < worst_free_pct <= limit or purpose not in (mixed, system)", "buffer_pool", limit=20
    )
    explanation = expression.explain(context({"purpose": 9, "worst_free_pct": 12.25}))
    assert explanation.truth is True
    assert explanation.terms == (
        TermVerdict("purpose in SHORT", "purpose [unclassified] in SHORT", True),
        TermVerdict("5 < worst_free_pct", "5 < worst_free_pct [12.25]", True),
        TermVerdict("worst_free_pct <= limit", "worst_free_pct [12.25] <= limit [20]", True),
        TermVerdict("purpose not in (mixed, system)", "purpose [unclassified] not in (mixed, system)", True),
    )
    assert explanation.values == {"purpose": 9, "worst_free_pct": 12.25}
    assert explanation.missing == ()
    assert explanation.filled == (
        "purpose [unclassified] in SHORT and 5 < worst_free_pct [12.25] <= limit [20]"
        " or purpose [unclassified] not in (mixed, system)"
    )


def test_explanation_of_an_unknown_verdict(compiled: Compile, context: Make) -> None:
    """Missing is what makes it unknown: not what was decided without it, not what was left out."""
    expression = compiled(
        "(status == RETRYING or batchsz > 1 and short_left > 3) and nettime_us_short > 2 * ping_us"
        ' and rate(msgs, "5m") > 0 and max(xmitq_msgs, short_left) > 0',
        "channel",
    )
    values: Mapping[str, Reported] = {
        "status": 3,
        "batchsz": 1,
        "short_left": Absence.INACTIVE,
        "ping_us": Absence.NOT_DECLARED,
        "msgs": 5,
        "xmitq_msgs": Absence.NOT_COLLECTED,
        "nettime_us_short": Absence.NOT_COLLECTED,
    }
    values = {**values, "batchsz": 2}
    scene = context(values)
    explanation = expression.explain(scene)
    assert explanation.truth is None
    assert explanation.missing == (
        Missing("short_left", Absence.INACTIVE),
        Missing("msgs", Absence.WINDOW),
        Missing("xmitq_msgs", Absence.NOT_COLLECTED),
    )
    assert [term.left_out for term in explanation.terms] == [False, False, False, True, False, False]
    assert explanation.terms[3].filled == "nettime_us_short [not collected] > 2 * ping_us [not declared]"
    assert explanation.terms[4].filled == 'rate(msgs, "5m") [not enough history] > 0'
    assert explanation.terms[5].filled == "max(xmitq_msgs [not collected], short_left [inactive]) > 0"
    assert expression.reason(scene) is Absence.INACTIVE


def test_missing_is_empty_for_a_known_verdict(compiled: Compile, context: Make) -> None:
    """An absent value that changes nothing is no matter."""
    expression = compiled("depth > 3 and max_depth > 3")
    scene = context({"depth": 1})
    assert expression.explain(scene).truth is False
    assert expression.explain(scene).missing == ()
    assert expression.reason(scene) is None


def test_a_condition_of_undeclared_facts_misses_them(compiled: Compile, context: Make) -> None:
    """When all of it is left out, the facts are what is missing."""
    explanation = compiled("priority > 3 or not priority < 9").explain(context({"priority": Absence.NOT_DECLARED}))
    assert explanation.truth is None
    assert explanation.missing == (Missing("priority", Absence.NOT_DECLARED),)


def test_why_the_past_tells_nothing(compiled: Compile, context: Make) -> None:
    """A metric that has no value now either tells its own reason rather than a short history."""
    expression = compiled('rate(msgs, "5m") > 0', "channel")
    assert expression.reason(context({"msgs": Absence.FIRST_READING})) is Absence.FIRST_READING
    assert expression.reason(context({"msgs": 7})) is Absence.WINDOW
    assert compiled("rising(depth, 3)").reason(context({"depth": 7})) is Absence.WINDOW


@pytest.mark.parametrize(
    ("text", "values", "past", "expected"),
    [
        ("depth / max_depth > 0.8", {"depth": 9, "max_depth": 10}, {}, "depth [9] / max_depth [10] > 0.8"),
        ("depth > 3 ", {"depth": 1234567}, {}, "depth [1234567] > 3 "),
        ("depth > 3", {"depth": 0.012345}, {}, "depth [0.012345] > 3"),
        ("depth > 3", {"depth": 12.0}, {}, "depth [12] > 3"),
        ("depth > 3", {"depth": 99.99999}, {}, "depth [100] > 3"),
        ("depth > 3", {"depth": 99.9999}, {}, "depth [99.9999] > 3"),
        ("depth > 3", {"depth": 12345.678}, {}, "depth [12345.68] > 3"),
        ("depth > 3", {"depth": -2.5}, {}, "depth [-2.5] > 3"),
        ("depth > 3", {"depth": 1e30}, {}, "depth [1.000e+30] > 3"),
        ("depth > 3", {"depth": 10**30}, {}, "depth [very large] > 3"),
        ("depth > 3", {"depth": 0}, {}, "depth [0] > 3"),
        ("eta(depth, 9) < 3", {}, {"depth": [5, 4, 3, 2, 1]}, "eta(depth, 9) [infinite] < 3"),
        ("eta(depth, max_depth) < 3", {"max_depth": 50}, {"depth": [1] * 5}, "eta(depth, max_depth) [infinite] < 3"),
        ("usage == XMITQ", {"usage": 7}, {}, "usage [7] == XMITQ"),
        ("usage == XMITQ", {"usage": 1}, {}, "usage [XMITQ] == XMITQ"),
        ('max(trigger, "5m") == ON', {}, {"trigger": [0.0] * 5}, 'max(trigger, "5m") [OFF] == ON'),
        ("qsg.qmgr_count > 1", {"qsg.qmgr_count": 4}, {}, "qsg.qmgr_count [4] > 1"),
        ("rising(depth, 3) and present(depth)", {"depth": 4}, {}, "rising(depth, 3) and present(depth)"),
        ("depth > limit", {"depth": 4}, {}, "depth [4] > limit [2.5]"),
    ],
)
def test_filled(
    compiled: Compile,
    context: Make,
    text: str,
    values: Mapping[str, Reported],
    past: Mapping[str, list[float | None]],
    expected: str,
) -> None:
    """The text with each value in brackets behind its name; states by their names."""
    expression = compiled(text, limit=2.5)
    assert expression.filled(context(values, past)) == expected


def test_texts_of_mq_are_shown_without_control_characters(compiled: Compile, context: Make) -> None:
    """What came from MQ cannot steer a terminal."""
    expression = compiled('xmitq == "A"', "channel")
    assert expression.filled(context({"xmitq": "A\x1b[2J"})) == "xmitq ['A\\x1b[2J'] == \"A\""


def test_calculations(kinds: Mapping[str, Kind], context: Make) -> None:
    """A number for a summary, or the reason why there is none."""
    share = compile_value("100 * depth / max_depth", kinds["queue"], kinds, {})
    assert share.value(context({"depth": 30, "max_depth": 60})) == 50
    assert share.value(context({"depth": 30, "max_depth": Absence.STALE})) is Absence.STALE
    assert share.value(context({"depth": 30, "max_depth": 0})) is Absence.NOTHING_TO_TELL
    assert share.names == {("queue", "depth"), ("queue", "max_depth")}
    left = compile_value('eta(depth, limit, "10m")', kinds["queue"], kinds, {"limit": 100})
    assert left.windows == (WindowUse("eta", "queue", "depth", 600_000, 0),)
    assert left.value(context({}, {"depth": [10, 20, 30, 40, 50]})) == pytest.approx(300)
    assert left.value(context({"depth": 3})) is Absence.WINDOW


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worst_free_pct > 120", "worst_free_pct is between 0 and 100: this can never hold"),
        ("worst_free_pct > limit", "worst_free_pct is between 0 and 100: this can never hold"),
        ("-1 >= worst_free_pct", "worst_free_pct is between 0 and 100: this can never hold"),
        ("worst_free_pct == 101", "worst_free_pct is between 0 and 100: this can never hold"),
        ("worst_free_pct != 101", "worst_free_pct is between 0 and 100: this always holds"),
        ("worst_free_pct >= 0", "worst_free_pct is between 0 and 100: this always holds"),
        ("worst_free_pct < 0", "worst_free_pct is between 0 and 100: this can never hold"),
        ("worst_free_pct <= 100", "worst_free_pct is between 0 and 100: this always holds"),
        ("worst_free_pct < 100", None),
        ("worst_free_pct <= 0", None),
        ("worst_free_pct >= 100", None),
        ("worst_free_pct == 100", None),
        ("worst_free_pct > 99", None),
        ("worst_free_pct * 2 > 120", None),
        ("worst_free_pct > cf_structure.full_threshold_pct", None),
        ("page_set.total_pages > 120", None),
    ],
)
def test_doubts(compiled: Compile, text: str, message: str | None) -> None:
    """A percentage compared with what it cannot be is pointed out."""
    found = compiled(f"purpose == mixed and {text}", "buffer_pool", limit=200).doubts()
    assert [problem.message for problem in found] == ([message] if message else [])
    assert all(problem.place.column == 22 for problem in found)
