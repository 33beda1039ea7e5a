"""What formulas ask fits what the vocabulary knows."""

from __future__ import annotations

import pytest

from mqvitals_agent.plan_inputs import (
    INPUT_SOURCES,
    MEMBERS,
    RATE,
    SECONDS,
    InputSource,
    KnownMetric,
    KnownValue,
    find_inputs,
)
from mqvitals_rules.plan.catalogue import FORMULAS
from mqvitals_rules.vocabulary.metric import Absence, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

ALL = [
    (formula, kind, take) for formula, kinds in INPUT_SOURCES.items() for kind, takes in kinds.items() for take in takes
]


@pytest.mark.parametrize(
    ("formula", "kind", "take"), ALL, ids=[f"{f}-{k}-{t.input}-{n}" for n, (f, k, t) in enumerate(ALL)]
)
def test_inputs_and_metrics_exist(formula: str, kind: str, take: InputSource) -> None:
    """Every way goes from metrics of the kind, or of a single kind of the owner, to an input of the formula."""
    assert take.input in {each.name for each in FORMULAS[formula].inputs}
    for name in take.metrics:
        other, dot, plain = name.rpartition(".")
        if other == MEMBERS:
            assert KINDS["queue"].metric(plain) is not None
            assert KINDS["queue"].metric(kind) is not None
            continue
        metric = KINDS[other if dot else kind].metric(plain.removesuffix(RATE).removesuffix(SECONDS))
        assert metric is not None, name
        assert not dot or KINDS[other].single
        assert not plain.endswith((RATE, SECONDS)) or metric.type is MetricType.COUNTER


def test_the_first_way_that_can_be_gone() -> None:
    """A batch size in effect comes before the defined one; the words say which it was, and how old."""
    formula = FORMULAS["channel-ceiling"]
    told: dict[str, KnownMetric] = {
        "batchsz": KnownValue(50, 1000),
        "batchsz_defined": KnownValue(100, 2000),
        "nettime_us_short": Absence.NOT_COLLECTED,
    }
    batch, wait = find_inputs(formula, "channel", told)
    assert (batch.value, batch.words, batch.ts) == (50, "batchsz", 1000)
    assert (wait.value, wait.words) == (None, "nettime_us_short: not collected")
    batch, wait = find_inputs(formula, "channel", {**told, "batchsz": Absence.INACTIVE})
    assert (batch.value, batch.words, batch.ts) == (100, "batchsz_defined", 2000)


def test_what_is_given_is_not_looked_for() -> None:
    """Nothing is said of an input that a person gives."""
    formula = FORMULAS["channel-ceiling"]
    assert [each.input.name for each in find_inputs(formula, "channel", {}, {"batch_msgs"})] == ["wait_us"]


def test_the_oldest_of_several_moments() -> None:
    """An input of several metrics is as old as the oldest, and silent when one is."""
    told = {
        "size_max_kb": KnownValue(524_288, 3000),
        "size_used_pct": KnownValue(40, 1000, "no answer"),
        "entries_used": KnownValue(84_000, 2000),
    }
    each, messages = find_inputs(FORMULAS["cf-structure-size"], "cf_structure", told)
    assert (each.value, each.ts, each.silent) == (2045, 1000, "no answer")
    assert messages.value == 84_000


def test_nonsense_is_not_taken() -> None:
    """What a formula does not allow is no input: an empty structure says nothing of lengths, a batch of 0 is none."""
    told = {"size_max_kb": KnownValue(524_288, 1), "size_used_pct": KnownValue(1, 1), "entries_used": KnownValue(0, 1)}
    each, messages = find_inputs(FORMULAS["cf-structure-size"], "cf_structure", told)
    assert (each.value, each.words) == (None, "size_max_kb x size_used_pct / 1.25 / entries_used has no value now")
    assert messages.value is None
    assert "must be 1 to 10,000,000,000 messages, not 0" in messages.words


def test_words_are_taken_too() -> None:
    """A declared number chooses a layout."""
    told = {"total_pages": KnownValue(1000, 5), "queue_manager.maxshortmsgs": KnownValue(0, None)}
    found = {each.input.name: each for each in find_inputs(FORMULAS["page-set-capacity"], "page_set", told)}
    assert found["layout"].value == "maxshortmsgs-0"
    assert found["layout"].ts is None
    assert found["pages"].value == 1000
    assert found["msg_bytes"].words == "queues.put_bytes: not asked"


def test_what_nothing_tells_must_be_given() -> None:
    """An input without default that no metric tells is said to be missing; one with a default is not mentioned."""
    found = find_inputs(FORMULAS["cf-backup-interval"], "cf_structure", {})
    assert {each.input.name: each.words for each in found if each.input.default is None} == {
        "msgs_per_s": "no metric has it"
    }
    assert "read_mb_per_s" not in {each.input.name for each in found}
