"""The reports that IBM's documents print, C-01 to C-28 in the catalogue: each is put before the rules, or is the figure that a rule calculates with."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.testing import RuleTest, decode_tests, run_test

HERE = Path(__file__).resolve().parent
PRINTED = HERE / "printed_reports.test.yaml"
PACKS = files("mqvitals_rules") / "packs"
MESSAGES = HERE.parents[1] / "agent" / "console" / "test_printed_messages.py"
REPORTS = tuple(f"C-{number:02}" for number in range(1, 29))
CALCULATED = {"C-19", "C-21", "C-24", "C-27"}
"""Those whose figures stand in a rule's parameters or advice, and are compared with them below."""
OF_NO_RULE = {"C-26", "C-28"}
"""Storage of a VSAM file's buffers and the speed of processors: nothing that a rule judges or says."""


@cache
def rules() -> RuleSet:
    return load_rule_config(Settings()).rules


def rule(name: str) -> Rule:
    return next(each for each in rules().rules if each.id == name)


@cache
def printed() -> tuple[RuleTest, ...]:
    return decode_tests(PRINTED.name, PRINTED.read_text("utf-8"), rules())


@pytest.mark.parametrize("index", range(len(printed())), ids=lambda index: printed()[index].name.split(",")[0])
def test_printed_report(index: int) -> None:
    """The rules say of it what a correct analysis says."""
    assert run_test(printed()[index], rules()) == []


def test_every_report_is_tested() -> None:
    """Each is named by a test of rules, or by one of this file or of the console's messages."""
    named = set(re.findall(r"C-\d\d", PRINTED.read_text("utf-8")))
    for entry in PACKS.iterdir():
        if entry.name.endswith(".test.yaml"):
            named.update(re.findall(r"C-\d\d", " ".join(re.findall(r"- name: (.*)", entry.read_text("utf-8")))))
    assert "def test_c_22_" in MESSAGES.read_text("utf-8")
    named |= CALCULATED | OF_NO_RULE | {"C-22"}
    assert sorted(set(REPORTS) - named) == []


def test_c_21_what_two_islands_of_protection_cost() -> None:
    """The rule tells the document's figures: processor time, its share, the rate lost."""
    advice = rule("AMS-12").advice
    assert all(figure in advice for figure in ("110 us", "31 %", "13 %", "17 %"))


@pytest.mark.parametrize(("cpu_ms_per_batch", "share_pct"), [(0.55, 14.5), (16.5, 0.48)])
def test_c_24_what_a_receive_time_out_costs(cpu_ms_per_batch: float, share_pct: float) -> None:
    """A wait for each batch, of one message and of 50."""
    wait_ms = rule("CHL-19").parameters["wait_ms"].value
    assert 100 * wait_ms / cpu_ms_per_batch == pytest.approx(share_pct, rel=0.02)


def test_c_27_storage_of_users_and_indexes() -> None:
    """859 MB for 100,000 users of one queue, and 25,940 MB for 100 million messages in indexes, whatever the document's sum says."""
    for name in ("CFG-01", "CFG-05"):
        first_kb = rule(name).parameters["first_kb"].value
        assert 100_000 * first_kb * 1024 / 2**20 == pytest.approx(859.4, rel=0.001)
    assert 100_000_000 * rule("CFG-05").parameters["index_bytes"].value / 2**20 == pytest.approx(25_940, rel=0.001)


@pytest.mark.parametrize("slip", ["315", "29,940", "29940", "29.2 GB", "3347", "238 %", "252 %"])
def test_c_19_slips_of_the_documents_are_not_repeated(slip: str) -> None:
    """Sums that the documents got wrong stand in no rule: 1550 transactions a second for 491 are 215.7 % more, not 315.6 %."""
    said = [f"{each.title} {each.advice} {each.caveat} {each.summary}" for each in rules().rules]
    assert not any(re.search(rf"(?<!\d){re.escape(slip)}", each) for each in said)
