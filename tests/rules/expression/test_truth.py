"""Three truth values: what unknown does to comparisons, and, or, not; terms that are left out; windows behind cheap terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import pytest

from mqvitals_rules.expression import Context, Expression
from mqvitals_rules.vocabulary.metric import Absence, Reported

Compile = Callable[..., Expression]
Make = Callable[..., Context]

HUGE = 10**400
TERMS = {True: "depth > 0", False: "depth < 0", None: "max_depth > 0"}
LEFT = "priority > 0"
"""Terms of each truth where depth is 5, max_depth is absent and priority is not declared."""
VALUES: Mapping[str, Reported] = {"depth": 5, "max_depth": Absence.NO_ANSWER, "priority": Absence.NOT_DECLARED}
Truth = bool | None


def conjunction(*truths: Truth) -> Truth:
    """And."""
    return False if False in truths else None if None in truths else True


def disjunction(*truths: Truth) -> Truth:
    """Or."""
    return True if True in truths else None if None in truths else False


def judged(expression: Expression, context: Context, values: Mapping[str, Reported]) -> Truth:
    """The verdict, which must be the same whichever way the values come, and the same as the explanation's."""
    verdict = expression.truth(context)
    assert expression.truth(context, values) is verdict
    assert expression.explain(context).truth is verdict
    return verdict


@pytest.mark.parametrize(("first", "second"), list(product((True, False, None), repeat=2)))
def test_two_terms(compiled: Compile, context: Make, first: Truth, second: Truth) -> None:
    """Unknown and false is false, unknown or true is true, otherwise unknown."""
    scene = context(VALUES)
    both = compiled(f"{TERMS[first]} and {TERMS[second]}")
    either = compiled(f"{TERMS[first]} or {TERMS[second]}")
    assert judged(both, scene, VALUES) is conjunction(first, second)
    assert judged(either, scene, VALUES) is disjunction(first, second)


@pytest.mark.parametrize("truths", list(product((True, False, None), repeat=3)))
def test_three_terms(compiled: Compile, context: Make, truths: tuple[Truth, ...]) -> None:
    """However many terms there are, and mixed."""
    first, second, third = truths
    scene = context(VALUES)
    a, b, c = (TERMS[truth] for truth in truths)
    assert judged(compiled(f"{a} and {b} and {c}"), scene, VALUES) is conjunction(*truths)
    assert judged(compiled(f"{a} or {b} or {c}"), scene, VALUES) is disjunction(*truths)
    assert judged(compiled(f"{a} and ({b} or {c})"), scene, VALUES) is conjunction(first, disjunction(second, third))
    assert judged(compiled(f"not ({a} or {b}) or {c}"), scene, VALUES) is disjunction(
        None if disjunction(first, second) is None else not disjunction(first, second), third
    )


@pytest.mark.parametrize("truth", [True, False, None])
def test_not(compiled: Compile, context: Make, truth: Truth) -> None:
    """Not unknown is unknown."""
    expected = None if truth is None else not truth
    assert judged(compiled(f"not {TERMS[truth]}"), context(VALUES), VALUES) is expected


@pytest.mark.parametrize("truth", [True, False, None])
def test_a_term_on_an_undeclared_fact_is_left_out(compiled: Compile, context: Make, truth: Truth) -> None:
    """Beside other terms it changes nothing, wherever it stands, also within its own parentheses."""
    scene = context(VALUES)
    term = TERMS[truth]
    for text in (
        f"{LEFT} and {term}",
        f"{term} and {LEFT}",
        f"{LEFT} or {term}",
        f"{term} or {LEFT}",
        f"{term} or not {LEFT}",
        f"({LEFT} and not {LEFT}) or {term}",
        f"{term} and ({LEFT} or {LEFT})",
        f"{term} and ({LEFT} or {term})",
        f"{term} and depth * priority > 3",
        f"{term} and max_depth > priority",
        f"{term} and priority in (1, 2)",
        f"{term} and 0 < priority < 9",
        f"not (not {term} or {LEFT})",
    ):
        assert judged(compiled(text), scene, VALUES) is truth, text


@pytest.mark.parametrize(
    "text", [LEFT, f"not {LEFT}", f"{LEFT} and {LEFT}", f"{LEFT} or not {LEFT}", "0 < priority < 3"]
)
def test_nothing_but_left_out_terms_is_unknown(compiled: Compile, context: Make, text: str) -> None:
    """A condition of which nothing can be asked has no verdict."""
    assert judged(compiled(text), context(VALUES), VALUES) is None


def test_a_declared_fact_counts(compiled: Compile, context: Make) -> None:
    """Once it is declared the term is as any other."""
    values = {"depth": 5, "priority": 9}
    assert judged(compiled("depth > 0 and priority > 3"), context(values), values) is True
    assert judged(compiled("depth > 0 and priority < 3"), context(values), values) is False


def test_an_optional_fact_absent_for_another_reason_is_unknown(compiled: Compile, context: Make) -> None:
    """Left out is only what nobody declared."""
    values: Mapping[str, Reported] = {"depth": 5, "priority": Absence.STALE}
    assert judged(compiled("depth > 0 and priority > 3"), context(values), values) is None


def test_a_chain_is_its_comparisons_joined_by_and(compiled: Compile, context: Make) -> None:
    """One comparison that fails decides, even if another cannot be made."""
    chain = compiled("3 < depth <= max_depth")
    assert judged(chain, context({"depth": 3}), {"depth": 3}) is False
    assert judged(chain, context({"depth": 4}), {"depth": 4}) is None
    values = {"depth": 4, "max_depth": 4}
    assert judged(chain, context(values), values) is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("depth + 2 * max_depth == 21", True),
        ("(depth + 2) * max_depth == 45", True),
        ("depth - max_depth == -6", True),
        ("max_depth / depth == 3", True),
        ("abs(depth - max_depth) == 6", True),
        ("-depth < 0", True),
        ("min(depth, max_depth, 2) == 2", True),
        ("max(depth, max_depth / 3) == 3", True),
        ("depth in (1, 2, 3)", True),
        ("depth in (-3, 2.5)", False),
        ("-depth in (-3, 2)", True),
        ("depth not in (1, 2)", True),
        ("usage == XMITQ", False),
        ("usage != XMITQ", True),
        ("NORMAL == usage", True),
        ("usage in (NORMAL, XMITQ)", True),
        ("usage not in (NORMAL, XMITQ)", False),
        ("usage == usage", True),
        ("role == batch", True),
        ("queue.depth == 3", True),
        ("present(depth)", True),
        ("present(input_handles)", False),
        ("not present(priority)", True),
        ("present(qsg.qmgr_count)", True),
        ("qsg.qmgr_count * 2 == 8", True),
        ("channel_initiator.status == RUNNING", True),
        ("channel.status == RUNNING", False),
        ("depth == 3.0", True),
        ("1_000 > depth", True),
        ("max_depth / input_handles > 0", None),
        ("max_depth / (depth - 3) > 0", None),
        ("depth > 5 and max_depth / (depth - 3) > 0", False),
        ("max(depth, input_handles) > 0", None),
        ("input_handles != input_handles", None),
        ("depth * input_handles == 0", None),
        ("abs(input_handles) > 0", None),
        ("-input_handles > 0", None),
        ("input_handles in (1, 2)", None),
        ("input_handles not in (1, 2)", None),
    ],
)
def test_forms(compiled: Compile, context: Make, text: str, expected: Truth) -> None:
    """Every operator and function on values that are there, absent, or cannot be divided by."""
    values: Mapping[str, Reported] = {
        "depth": 3,
        "max_depth": 9,
        "usage": 0,
        "role": 5,
        "qsg.qmgr_count": 4,
        "channel_initiator.status": 2,
        "channel.status": 2,
        "priority": Absence.NOT_DECLARED,
    }
    assert judged(compiled(text), context(values), values) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('xmitq == "TO.QM02"', True),
        ("xmitq != 'TO.QM03'", True),
        ('xmitq in ("A", "TO.QM02")', True),
        ("xmitq == local_address", False),
        ('xmitq == ""', False),
        ('local_address == "#1"', None),
    ],
)
def test_texts(compiled: Compile, context: Make, text: str, expected: Truth) -> None:
    """Texts are equal or not."""
    values: Mapping[str, Reported] = {"xmitq": "TO.QM02", "local_address": "x"}
    if expected is None:
        values = {}
    assert judged(compiled(text, "channel"), context(values), values) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("depth * 0.5 > 1", None),
        ("depth > 1", True),
        ("depth / max_depth > 1", True),
        ("depth / 2 > 1", None),
        ("depth * 0.5 > 1 or max_depth > 1", True),
        ("not (depth * 0.5 > 1 and max_depth < 1)", True),
        ("input_handles - input_handles == 0", None),
        ("max(input_handles - input_handles, 5) > 0", None),
        ("input_handles > depth", True),
        ("abs(input_handles * 0) == 0", None),
        ("input_handles in (1, 2)", False),
    ],
)
def test_numbers_without_measure(compiled: Compile, context: Make, text: str, expected: Truth) -> None:
    """A calculation that overflows, or comes to no number, makes its term unknown; nothing is raised."""
    values = {"depth": HUGE, "max_depth": 7 * 10**300, "input_handles": float("inf")}
    assert judged(compiled(text), context(values), values) is expected


def test_a_value_of_the_wrong_type_is_no_value(compiled: Compile, context: Make) -> None:
    """A context that hands out a text for a number makes the term unknown."""
    values: Mapping[str, Reported] = {"depth": "many", "xmitq": 5}
    assert judged(compiled("depth > 1"), context(values), values) is None
    assert judged(compiled('xmitq == "A"', "channel"), context(values), values) is None


def test_windows_stand_behind_cheap_terms(compiled: Compile, context: Make) -> None:
    """The past is not looked at when a term before it has decided."""
    past = {"depth": [1, 2, 3, 4]}
    expression = compiled("input_handles == 0 and rising(depth, 3)")
    scene = context({"input_handles": 1}, past)
    assert expression.truth(scene) is False
    assert "past of depth" not in scene.asked  # type: ignore[attr-defined]
    assert expression.truth(context({"input_handles": 0}, past)) is True
    either = compiled('input_handles == 0 or max(depth, "5m") > 3')
    scene = context({"input_handles": 0}, past)
    assert either.truth(scene) is True
    assert "past of depth" not in scene.asked  # type: ignore[attr-defined]


def test_values_given_along_are_not_asked_of_the_context(compiled: Compile, context: Make) -> None:
    """What is present in the given values costs no call; what is absent there is asked, so that the context knows."""
    expression = compiled("depth > 0 and max_depth > 0 and qsg.qmgr_count > 0")
    scene = context({"qsg.qmgr_count": 2})
    assert expression.truth(scene, {"depth": 1, "max_depth": Absence.STALE}) is None
    assert scene.asked == ["max_depth", "qmgr_count"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "past", "expected"),
    [
        ('rate(msgs, "5m") > 1', {"msgs": [60, 120, 180, 240]}, True),
        ("rate(msgs) == 2.5", {"msgs": [60, 120, 180, 240]}, True),
        ('rate(msgs, "2m") == 3.5', {"msgs": [60, 120, 180, 240]}, True),
        ('delta(msgs, "5m") > 0', {"msgs": [None, None, 0]}, False),
        ('delta(msgs, "5m") > 0', {"msgs": [None, None]}, None),
        ('avg(batchsz, "5m") == 3', {"batchsz": [1, 2, 3, 4, 5]}, True),
        ('avg(batchsz, "5m") == 3', {"batchsz": [1, 5]}, None),
        ('max(batchsz, "5m") - min(batchsz, "5m") == 4', {"batchsz": [1, 2, 3, 4, 5]}, True),
        ('max(batchsz, 4, min(batchsz, "5m")) == 4', {"batchsz": [2, 3, 4, 5, 6]}, True),
        ('min(indoubt, "5m") == YES', {"indoubt": [1, 1, 1, 1, 1]}, True),
        ('min(indoubt, "5m") == YES', {"indoubt": [1, 1, 0, 1, 1]}, False),
        ('max(indoubt, "5m") in (YES, NO)', {"indoubt": [1, 1, 0, 1, 1]}, True),
        ('min(indoubt, "5m") == YES', {"indoubt": [1, 1]}, None),
        ('eta(batchsz, 100, "10m") < 600', {"batchsz": [10, 20, 30, 40, 50]}, True),
        ('eta(batchsz, 100, "10m") < 600', {"batchsz": [50, 40, 30, 20, 10]}, False),
        ('eta(batchsz, xbatchsz_short, "10m") < 600', {"batchsz": [10, 20, 30, 40, 50]}, None),
        ("eta(batchsz, 100) < 600", {"batchsz": [10, 20, 30, 40]}, None),
        ("rising(batchsz, 3)", {"batchsz": [9, 1, 2, 3, 4]}, True),
        ("not rising(batchsz, 3)", {"batchsz": [9, 8, 3, 4]}, True),
        ("rising(batchsz, 3)", {"batchsz": [2, 3, 4]}, None),
        ("rising(queue.depth, 3)", {"depth": [1, 2, 3, 4]}, True),
        ('max(batchsz, "5m") * 0.5 > 1', {"batchsz": [HUGE] * 5}, None),
        ('avg(batchsz, "5m") > 1', {"batchsz": [HUGE] * 5}, None),
        ('avg(batchsz, "5m") > 1 or status == RUNNING', {"batchsz": [HUGE] * 5}, True),
        ('eta(batchsz, 100, "10m") - eta(batchsz, 100, "10m") == 0', {"batchsz": [7] * 5}, None),
    ],
)
def test_looks_into_the_past(
    compiled: Compile, context: Make, text: str, past: Mapping[str, list[float | None]], expected: Truth
) -> None:
    """Window functions in conditions: present, not covered, and calculated with. Without a window it is 5 minutes."""
    values = {"status": 3, "batchsz": 4}
    assert judged(compiled(text, "channel"), context(values, past), values) is expected
