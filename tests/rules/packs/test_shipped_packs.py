"""The shipped rules: each has its tests, its source, its thresholds in use, and a page that is up to date."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import compile_rule
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.markdown import rules_page
from mqvitals_rules.ruleset.pack import load_rules, shipped_packs
from mqvitals_rules.ruleset.rule import Rule, RuleKind
from mqvitals_rules.ruleset.ruleset import RuleSet, doubts
from mqvitals_rules.testing import RuleTest, decode_tests, run_test
from mqvitals_rules.vocabulary.tables import KINDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "rules.md"
NOT_SHIPPED = Path(__file__).resolve().parents[3] / "docs" / "rules-not-shipped.md"
OWN = "mqvitals"
"""The document of rules that follow from no document."""
PACKS = files("mqvitals_rules") / "packs"


@cache
def rules() -> RuleSet:
    return load_rule_config(Settings()).rules


@cache
def pack_tests() -> dict[str, tuple[RuleTest, ...]]:
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


def left_out() -> list[list[str]]:
    """The cells of each row of the page of rules that are not shipped: id, title, tier, reason."""
    lines = NOT_SHIPPED.read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")]
    return [row for row in rows if re.fullmatch(r"[A-Z0-9]+-\d\d\d?", row[0])]


def test_ids_are_unique_and_have_one_form() -> None:
    """Letters of the topic, a hyphen and two or three digits; no two rules share one."""
    ids = [str(rule.id) for rule in every_rule()]
    assert [rule for rule in ids if not re.fullmatch(r"[A-Z][A-Z0-9]*-\d\d\d?", rule)] == []
    assert len(ids) == len(set(ids))


def test_what_is_not_shipped_says_why() -> None:
    """Each row has a title, a tier and a reason in words, and is no rule that is shipped."""
    assert left_out()
    for rule, title, tier, reason in left_out():
        assert rules().rule(rule) is None
        assert title
        assert re.fullmatch("[PSMD](?:[>+|][PSMD])*", tier.replace("\\", ""))
        assert len(reason.split()) >= 8


def test_only_the_agent_s_rules_follow_from_no_document() -> None:
    """They have a tier of their own; every other rule cites documents and has a tier of data."""
    for rule in every_rule():
        own = rule.id.startswith("AGENT-")
        assert rule.sources, rule.id
        assert {source.document == OWN for source in rule.sources} == {own}, rule.id
        assert (rule.tier == "A") is own, rule.id
        assert rule.tier, rule.id


def test_the_page_lists_every_rule() -> None:
    """docs/rules.md has a heading for each rule that is shipped, and for no other."""
    headings = re.findall(r"^### ([A-Z0-9]+-\d\d\d?)\b", PAGE.read_text("utf-8"), re.MULTILINE)
    assert headings == [str(rule.id) for rule in load_rules(KINDS)]


def test_every_rule_is_tested_firing_and_silent() -> None:
    """For each rule there is a moment at which it must fire and one at which it must not."""
    fires, silent = _tested()
    ids = {str(rule.id) for rule in every_rule()}
    assert ids - fires == set()
    assert ids - silent == set()


@cache
def _tested() -> tuple[frozenset[str], frozenset[str]]:
    """The rules of which a test says that they fire, and those of which one says that they do not."""
    ids = {str(rule.id) for rule in every_rule()}
    fires: set[str] = set()
    silent: set[str] = set()
    for entry, exact in (
        (each.entry, each.exact) for found in pack_tests().values() for test in found for each in test.expectations
    ):
        firing = {str(one.rule) for one in entry.firing or ()}
        fires |= firing
        silent |= set(map(str, entry.not_firing))
        if entry.firing is not None and (exact or not entry.firing):
            silent |= ids - firing
    return frozenset(fires), frozenset(silent)


def test_every_rule_says_what_a_person_needs() -> None:
    """Each rule has advice, a caveat, a source that is a title and no file name, and a summary that names its object."""
    for rule in every_rule():
        assert rule.advice.strip(), rule.id
        assert rule.caveat.strip(), rule.id
        assert rule.needs, rule.id
        for source in rule.sources:
            assert source.document, rule.id
            assert ".txt" not in source.document, rule.id
            assert source.section, rule.id
        # The name of dead letters is their reason and their destination.
        parts = ("{name}",) if rule.scope != "dead_letter" else ("{reason}", "{destination}")
        assert all(part in rule.summary for part in parts) or KINDS[rule.scope].single, rule.id


def test_thresholds_are_used() -> None:
    """A parameter that no condition reads would be a knob without effect."""
    for rule in every_rule():
        conditions = " ".join([rule.when, rule.clear.when or "", *(case.when for case in rule.severity_if)])
        for name, parameter in rule.parameters.items():
            assert name in conditions, rule.id
            assert parameter.meaning, rule.id


def test_every_operational_rule_can_be_tuned_or_is_a_plain_state() -> None:
    """One of both, and never both: a rule that says neither is one whose figures nobody looked for."""
    for rule in every_rule():
        assert not (rule.parameters and rule.plain_state), rule.id
        assert rule.parameters or rule.plain_state or rule.kind is not RuleKind.OPERATIONAL, rule.id


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
    assert doubts(compile_rule(rule, KINDS) for rule in every_rule()) == []


def test_page_is_up_to_date() -> None:
    """docs/rules.md is what `mqvitals rules list --markdown` prints now."""
    assert PAGE.read_text("utf-8") == rules_page(load_rules(KINDS)), "write it again: make docs"
