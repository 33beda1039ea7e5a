"""The rules of an object on its page: which are open, and what stands for the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mqvitals_agent.text.severity import Health
from mqvitals_agent.view.object.detail import ObjectRule
from mqvitals_agent.view.screens.object.rules import open_rules, rule_lines, rules_title, verdict
from mqvitals_agent.view.screens.object.sections import PageState
from mqvitals_rules.explanation import RuleExplanation
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric as metric_of

POOL = ObjectName("QM01", "buffer_pool", "3")
Look = Callable[..., tuple[ObjectRule, ...]]


@pytest.fixture
def look(judging: RuleConfig) -> Look:
    """What the stages of the free share find for a pool with these values."""

    def found(**values: Reported) -> tuple[ObjectRule, ...]:
        def value(kind: str, name: str) -> Reported:
            usual = metric_of(kind, name).default
            return values.get(name, Absence.NOT_ASKED if usual is None else usual)

        return tuple(
            ObjectRule(
                rule,
                RuleExplanation(
                    POOL, rule.when.explain(InstantContext(value, 0, "3")), None, rule.rule.severity, "", "", "", ()
                ),
                None,
            )
            for rule in judging.rules.rules_for(POOL)
            if rule.id in ("BP-03", "PS-01", "BP-05", "BP-06", "BP-10")
        )

    return found


@pytest.mark.parametrize(("free", "opened"), [(4, ["BP-03"]), (5, ["BP-03"]), (6, ["BP-03"]), (7, []), (90, [])])
def test_a_rule_opens_from_four_fifths_of_its_threshold(look: Look, free: int, opened: list[str]) -> None:
    """At 5 % free it holds; 5 is more than 80 % of 6, and less of 7."""
    found = look(worst_free_pct=free, total=1000)
    assert [each.rule.id for each in open_rules(found)] == opened
    health, words = verdict(found[[each.rule.id for each in found].index("BP-03")], 0)
    assert (health is Health.OK) == (free > 5)
    assert words == {4: "holds; fires at the next evaluation", 5: "holds; fires at the next evaluation"}.get(
        free, "fine, but 83 % of the way to its threshold" if free == 6 else "fine"
    )


def test_the_others_take_a_line_a_reason(look: Look) -> None:
    """Fine ones first, then the unknown ones by what is missing; opened, each stands there in full."""
    found = look(worst_free_pct=50, total=1000, dmc=Absence.NEEDS_SMF, sos=Absence.NEEDS_SMF, stla=0)
    assert rules_title(found) == "Rules: 2 fine, 2 unknown"
    folded = list(rule_lines(found, (), 0, 80, PageState()))
    assert [line.section for line in folded] == ["rules fine", "rules needs SMF"]
    assert len({line.section for line in folded}) == len(folded)
    assert all("rule" in line.text for line in folded)
    opened = list(rule_lines(found, (), 0, 80, PageState(folded={"rules fine": False})))
    assert len(opened) > len(folded)
    assert any("BP-03" in line.text and "fine" in line.text and not line.section for line in opened)
