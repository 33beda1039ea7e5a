"""The shipped rules: each has its tests, its source, its thresholds in use, and a page that is up to date."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules.check import prepare
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.pack_test import PackTest, decode_tests, run_test
from mqvitals_rules.page import page
from mqvitals_rules.rule import Rule, RuleKind
from mqvitals_rules.ruleset import RuleSet, doubts, load_rules, shipped_packs
from mqvitals_rules.vocabulary.tables import KINDS

# fmt: off
PROMISED = (
    "AGENT-01", "AGENT-02", "AGENT-03", "AGENT-04", "AGENT-05", "AGENT-06",
    "BP-01", "BP-02", "BP-03", "BP-04", "BP-05", "BP-06", "BP-07", "BP-08", "BP-09", "BP-10", "BP-11",
    "BP-12", "BP-13", "BP-14", "BP-15", "BP-16", "BP-17", "BP-18", "BP-20", "BP-21", "BP-22",
    "CF-01", "CF-02", "CF-03", "CF-04", "CF-05", "CF-06", "CF-07", "CF-08", "CF-09", "CF-10", "CF-11", "CF-12", "CF-13",
    "CF-14", "CF-15", "CF-16", "CF-17", "CF-18", "CF-19", "CF-20",
    "CHIN-01", "CHIN-02", "CHIN-03", "CHIN-04", "CHIN-05", "CHIN-06", "CHIN-07", "CHIN-08", "CHIN-09", "CHIN-10", "CHIN-11",
    "CHIN-12",
    "CHL-01", "CHL-02", "CHL-03", "CHL-04", "CHL-05", "CHL-06", "CHL-07", "CHL-08", "CHL-13", "CHL-14", "CHL-15", "CHL-16",
    "CHL-17", "CHL-18", "CHL-19", "CHL-20", "CHL-21", "CHL-22", "CHL-23", "CHL-24", "CHL-25",
    "LOG-01", "LOG-02", "LOG-03", "LOG-04", "LOG-05", "LOG-06", "LOG-07", "LOG-08", "LOG-09", "LOG-10", "LOG-11", "LOG-12", "LOG-13",
    "LOG-14", "LOG-15", "LOG-16",
    "PS-01", "PS-02", "PS-03", "PS-04", "PS-05", "PS-06", "PS-07", "PS-08", "PS-09",
    "Q-01", "Q-02", "Q-03", "Q-04", "Q-05", "Q-06", "Q-07", "Q-08", "Q-09", "Q-10", "Q-11", "Q-12", "Q-13",
    "DB2-01", "DB2-02", "SMDS-01", "SMDS-02",
    "APP-01", "APP-02", "APP-03", "APP-04", "APP-05", "APP-06", "APP-07", "APP-08", "APP-09", "APP-10", "APP-11", "APP-12", "APP-13",
    "APP-14",
    "AMS-01", "AMS-02", "AMS-03", "AMS-04", "AMS-05", "AMS-06", "AMS-07", "AMS-08", "AMS-09", "AMS-10", "AMS-11", "AMS-12",
    "CFG-01", "CFG-02", "CFG-03", "CFG-04", "CFG-05", "CFG-06", "CFG-07",
    "DQ-01", "DQ-02", "DQ-03",
    "MB-01", "MB-02", "MB-03", "MB-04",
)
# fmt: on
PACKS = files("mqvitals_rules") / "packs"


@cache
def rules() -> RuleSet:
    return prepare(Settings()).rules


@cache
def pack_tests() -> dict[str, tuple[PackTest, ...]]:
    names = sorted(entry.name for entry in PACKS.iterdir() if entry.name.endswith(".test.yaml"))
    return {name: decode_tests(name, (PACKS / name).read_text("utf-8"), rules()) for name in names}


def every_rule() -> list[Rule]:
    return list(rules().rules)


@pytest.mark.parametrize(
    ("name", "index"), [(name, index) for name, found in pack_tests().items() for index in range(len(found))]
)
def test_pack_test_passes(name: str, index: int) -> None:
    """Every test that stands beside a pack holds."""
    assert run_test(pack_tests()[name][index], rules()) == []


def test_every_pack_has_its_tests() -> None:
    """Beside each pack stands the file of its tests."""
    assert {name.replace(".yaml", ".test.yaml") for name, _ in shipped_packs()} == set(pack_tests())


def test_the_promised_rules_are_there() -> None:
    """The packs hold the rules that are promised, and no other."""
    assert sorted(str(rule.id) for rule in every_rule()) == sorted(PROMISED)


@pytest.mark.parametrize("rule_id", PROMISED)
def test_rule_is_tested_firing_and_silent(rule_id: str) -> None:
    """For each rule there is a moment at which it must fire and one at which it must not."""
    expected = [expected for found in pack_tests().values() for test in found for expected in test.expectations]
    fires = [each for each in expected if any(entry.rule == rule_id for entry in each.entry.firing or ())]
    silent = [
        each
        for each in expected
        if rule_id in each.entry.not_firing
        or (
            each.entry.firing is not None
            and (each.exact or not each.entry.firing)
            and all(entry.rule != rule_id for entry in each.entry.firing)
        )
    ]
    assert fires
    assert silent


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: str(rule.id))
def test_rule_says_what_a_person_needs(rule: Rule) -> None:
    """Each rule has advice, a caveat, a source that is a title and no file name, and a summary that names its object."""
    assert rule.advice.strip()
    assert rule.caveat.strip()
    assert rule.needs
    for source in rule.sources:
        assert source.document
        assert ".txt" not in source.document
        assert source.section
    assert "{name}" in rule.summary or KINDS[rule.scope].single


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: str(rule.id))
def test_thresholds_are_used(rule: Rule) -> None:
    """A parameter that no condition reads would be a knob without effect."""
    conditions = " ".join([rule.when, rule.clear.when or "", *(case.when for case in rule.severity_if)])
    for name, parameter in rule.parameters.items():
        assert name in conditions
        assert parameter.meaning


def test_a_pool_below_five_percent_is_worse_than_one_below_twenty() -> None:
    """The family of the free buffers has its ranks in the order of the trouble."""
    ranks = rules().ranks
    assert ranks["BP-01"] < ranks["BP-02"] < ranks["BP-03"]


def test_reviews_do_not_wait() -> None:
    """Advice on the configuration has no hold: what is configured is so at once."""
    for rule in every_rule():
        if rule.kind is RuleKind.REVIEW:
            assert (rule.hold.polls, rule.hold.duration_ms) == (1, None)


def test_unreachable_is_critical_at_once() -> None:
    """Nothing else can be known of a queue manager that is not reached."""
    rule = rules().rule("AGENT-01")
    assert rule is not None
    assert (rule.severity, rule.hold.polls) == (Severity.CRITICAL, 1)


def test_no_comparison_is_idle() -> None:
    """No shipped condition holds a comparison that is always true or always false."""
    assert doubts(every_rule(), KINDS) == []


def test_page_is_up_to_date() -> None:
    """docs/rules.md is what `mqvitals rules list --markdown` prints now."""
    written = Path(__file__).resolve().parents[3] / "docs" / "rules.md"
    assert written.read_text("utf-8") == page(load_rules(KINDS))
