"""Thresholds of an object's figures, and how near a rule is to holding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.expression.explanation import Explanation
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.thresholds import (
    NEAR,
    applies,
    bounded_with,
    bounding,
    comes_near,
    low_end_is_bad,
    low_is_bad,
    nearness,
    thresholds_of,
)
from mqvitals_rules.vocabulary.metric import NO_LIMIT, Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS
from mqvitals_rules.vocabulary.tables import metric as metric_of

RULES = load_rule_config(Settings()).rules


def rules_of(kind: str) -> tuple[CompiledRule, ...]:
    return tuple(RULES.rules_for(ObjectName("QM01", kind, "X")))


def rule(kind: str, name: str) -> CompiledRule:
    return next(each for each in rules_of(kind) if each.id == name)


def look(of: CompiledRule, **values: Reported) -> Explanation:
    """What a rule finds with these values of the object; everything else is declared as usual or absent."""

    def value(kind: str, name: str) -> Reported:
        usual = metric_of(kind, name).default
        return values.get(name, Absence.NOT_ASKED if usual is None else usual)

    return of.when.explain(InstantContext(value, 0, "X"))


def test_a_pool_has_the_thresholds_of_its_stages() -> None:
    """Low is bad, each stage has its severity, and the metric that the worse of two stands for has the same."""
    found = [each for each in thresholds_of(rules_of("buffer_pool"), "buffer_pool", {}) if each.metric == "free_pct"]
    assert {(each.value, each.severity, each.rule) for each in found} == {
        (20, Severity.WARNING, "BP-01"),
        (15, Severity.WARNING, "BP-02"),
        (5, Severity.CRITICAL, "BP-03"),
    }
    assert all(each.low_is_bad for each in found)


def test_a_share_of_another_figure_is_calculated() -> None:
    """A queue is nearly full at a share of its MAXDEPTH, whatever that is; without it there is no threshold."""
    found = list(thresholds_of([rule("queue", "Q-01")], "queue", {"max_depth": 5000}))
    assert [(each.metric, each.value, each.low_is_bad) for each in found if each.metric == "depth"] == [
        ("depth", 4000, False),
        ("depth", 5000, False),
    ]
    for unbounded in ({}, {"max_depth": NO_LIMIT}):
        found = list(thresholds_of([rule("queue", "Q-01")], "queue", unbounded))
        assert not [each for each in found if each.metric == "depth"]


def test_every_kind_has_thresholds_of_numbers_on_the_bad_side() -> None:
    """No threshold of states, none on the good side of what a rule measures by the metric."""
    for kind in KINDS:
        of_kind = rules_of(kind)
        bad = low_is_bad([each for each in of_kind if each.rule.kind is RuleKind.OPERATIONAL], kind)
        for each in thresholds_of(of_kind, kind, {metric.name: 100 for metric in KINDS[kind].metrics}):
            assert metric_of(kind, each.metric).values == {}
            assert bad.get(each.metric, each.low_is_bad) is each.low_is_bad


def test_a_rule_of_other_objects_does_not_apply() -> None:
    """What an object is set to keeps a rule from it; a figure does not."""
    full = rule("queue", "Q-01")
    assert applies(full, look(full, depth=0, max_depth=5000, usage=0))
    small = rule("buffer_pool", "BP-01")
    assert not applies(
        small, look(small, worst_free_pct=90, total=100, purpose=metric_of("buffer_pool", "purpose").values["batch"])
    )


@given(free=st.floats(5.001, 100), total=st.integers(1, 10**6))
def test_nearness_is_the_share_of_the_way(free: float, total: int) -> None:
    """Of a pool above its critical threshold: what the threshold is of the free share; near from four fifths on."""
    critical = rule("buffer_pool", "BP-03")
    found = look(critical, worst_free_pct=free, total=total)
    assert nearness(critical, found) == pytest.approx(5 / free)
    assert comes_near(critical, found) is (5 / free >= NEAR)


@given(values=st.dictionaries(st.sampled_from([m.name for m in KINDS["queue"].metrics]), st.integers(-5, 10**6)))
def test_nearness_agrees_with_the_verdict(values: dict[str, int]) -> None:
    """For any values it is 1 where a condition holds and less where not, and only what does not hold can come near."""
    for each in rules_of("queue"):
        found = look(each, **{name: value for name, value in values.items() if metric_of("queue", name).unit})
        near = nearness(each, found)
        assert 0 <= near <= 1
        assert (near == 1) is (found.truth is True), each.id
        assert not (comes_near(each, found) and found.truth is not False)


@pytest.mark.parametrize(
    ("kind", "metric", "low"),
    [
        ("buffer_pool", "free_pct", True),
        ("buffer_pool", "low_pct", True),
        ("page_set", "used_pct", False),
        ("cf_structure", "entries_pct", False),
        ("queue", "depth", False),
        ("smds", "used_pct", False),
    ],
)
def test_one_end_of_a_figure_is_bad(kind: str, metric: str, low: bool) -> None:
    """As the rules have it that measure their alerts by it."""
    assert low_end_is_bad(rules_of(kind), kind, metric) is low


def test_the_bad_end_without_a_rule() -> None:
    """Then the vocabulary decides: little is bad of what is left."""
    for kind, metric, low in (
        ("buffer_pool", "free_pct", True),
        ("page_set", "unused_pages", True),
        ("channel", "short_left", True),
        ("page_set", "used_pct", False),
        ("queue", "depth", False),
    ):
        assert low_end_is_bad((), kind, metric) is low, (kind, metric)


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_rules_that_tell_of_a_metric_hold_all_of_its_thresholds(kind: str) -> None:
    """Which end is bad and every threshold that an alert is measured by are the same as with all rules of the object."""
    name = ObjectName("QM01", kind, "X")
    values: dict[str, Reported] = {each.name: 100 for each in KINDS[kind].metrics}
    for metric in (each.name for each in KINDS[kind].metrics):
        every, telling = rules_of(kind), RULES.rules_telling(name, bounding(kind, metric))
        assert {each.id for each in telling} <= {each.id for each in every}
        assert low_end_is_bad(telling, kind, metric) is low_end_is_bad(every, kind, metric)
        measured, of_telling = (
            [each for each in rules if each.figure and metric in bounded_with(kind, each.figure.metric.name)]
            for rules in (every, telling)
        )
        assert thresholds_of(measured, kind, values) == thresholds_of(of_telling, kind, values)
