"""What formulas ask fits what the vocabulary knows."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from mqsamples.plan_values import MadeUpValues
from mqvitals_agent.plan_inputs.reading import KnownMetric, KnownValue, ObjectValues, compiled_source, find_inputs
from mqvitals_agent.plan_inputs.sources import INPUT_SOURCES, InputSource
from mqvitals_agent.store.reader import StoreReader
from mqvitals_rules.plan.catalogue import FORMULAS
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

ALL = [
    (formula, kind, take) for formula, kinds in INPUT_SOURCES.items() for kind, takes in kinds.items() for take in takes
]


@pytest.mark.parametrize(
    ("formula", "kind", "take"), ALL, ids=[f"{f}-{k}-{t.input}-{n}" for n, (f, k, t) in enumerate(ALL)]
)
def test_inputs_and_metrics_exist(formula: str, kind: str, take: InputSource) -> None:
    """Each source is an expression on objects of the kind and of single kinds, for an input of the formula."""
    assert take.input in {each.name for each in FORMULAS[formula].inputs}
    if take.text:
        metric = KINDS[kind].metric(take.expression)
        assert metric is not None
        assert metric.type is MetricType.TEXT
        return
    compiled = compiled_source(take, kind)
    for other, _ in compiled.names:
        assert other == kind or KINDS[other].single
    for use in compiled.members:
        assert KINDS[use.kind].metric(kind) is not None


def test_the_first_way_that_can_be_gone() -> None:
    """A batch size in effect comes before the defined one; the words say which it was, and how old."""
    formula = FORMULAS["channel-ceiling"]
    told: dict[str, KnownMetric] = {
        "batchsz": KnownValue(50, 1000),
        "batchsz_defined": KnownValue(100, 2000),
        "nettime_us_short": Absence.NOT_COLLECTED,
    }
    batch, wait = find_inputs(formula, MadeUpValues("channel", told))
    assert (batch.value, batch.words, batch.ts) == (50, "batchsz", 1000)
    assert (wait.value, wait.words) == (None, "nettime_us_short: not collected")
    batch, wait = find_inputs(formula, MadeUpValues("channel", {**told, "batchsz": Absence.INACTIVE}))
    assert (batch.value, batch.words, batch.ts) == (100, "batchsz_defined", 2000)


def test_what_is_given_is_not_looked_for() -> None:
    """Nothing is said of an input that a person gives."""
    formula = FORMULAS["channel-ceiling"]
    assert [each.input.name for each in find_inputs(formula, MadeUpValues("channel", {}), {"batch_msgs"})] == [
        "wait_us"
    ]


def test_the_oldest_of_several_moments() -> None:
    """An input of several metrics is as old as the oldest, and silent when one is."""
    told = {
        "size_max_kb": KnownValue(524_288, 3000),
        "size_used_pct": KnownValue(40, 1000, "no answer"),
        "entries_used": KnownValue(84_000, 2000),
    }
    each, messages = find_inputs(FORMULAS["cf-structure-size"], MadeUpValues("cf_structure", told))
    assert (each.value, each.ts, each.silent) == (2045, 1000, "no answer")
    assert messages.value == 84_000


def test_nonsense_is_not_taken() -> None:
    """What a formula does not allow is no input: an empty structure says nothing of lengths, a batch of 0 is none."""
    told = {"size_max_kb": KnownValue(524_288, 1), "size_used_pct": KnownValue(1, 1), "entries_used": KnownValue(0, 1)}
    each, messages = find_inputs(FORMULAS["cf-structure-size"], MadeUpValues("cf_structure", told))
    assert (each.value, each.words) == (None, "size_max_kb x size_used_pct / 1.25 / entries_used has no value now")
    assert messages.value is None
    assert "must be 1 to 10,000,000,000 messages, not 0" in messages.words


def test_words_are_taken_too() -> None:
    """A declared number chooses a layout."""
    told = {"total_pages": KnownValue(1000, 5), "queue_manager.maxshortmsgs": KnownValue(0, None)}
    found = {
        each.input.name: each for each in find_inputs(FORMULAS["page-set-capacity"], MadeUpValues("page_set", told))
    }
    assert found["layout"].value == "maxshortmsgs-0"
    assert found["layout"].ts is None
    assert found["pages"].value == 1000
    assert found["msg_bytes"].words == "queue.put_bytes: not asked"


def test_what_nothing_tells_must_be_given() -> None:
    """An input without default that no metric tells is said to be missing; one with a default is not mentioned."""
    found = find_inputs(FORMULAS["cf-backup-interval"], MadeUpValues("cf_structure", {}))
    assert {each.input.name: each.words for each in found if each.input.default is None} == {
        "msgs_per_s": "no metric has it"
    }
    assert "read_mb_per_s" not in {each.input.name for each in found}


def test_an_hour_does_not_hold_what_ended_when_it_began(store: str) -> None:
    """An increase that was reported an hour ago to the second arose before this hour."""
    with StoreReader.open(store) as reader:
        last = reader.last_ts()
        assert last is not None
        now = last - 2 * 20_000 + 3_600_000  # of the four cycles the first has no increase
        channel = ObjectName("QM01", "channel", "TO.QM02")
        messages = find_inputs(FORMULAS["batch-transfer-time"], ObjectValues(reader, channel, Facts(KINDS), now))[0]
    assert (messages.input.name, messages.value) == ("messages", 1000)


def test_members_are_read_once_for_an_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may hold ten thousand queues: a quotient of two sums reads them once, also where none has a value."""
    values = MadeUpValues("page_set", {"total_pages": KnownValue(1000, 5)})
    reads = Mock(side_effect=values.members)
    monkeypatch.setattr(values, "members", reads)
    found = {each.input.name: each.value for each in find_inputs(FORMULAS["page-set-capacity"], values)}
    assert (found["pages"], found["msg_bytes"], reads.call_count) == (1000, None, 1)
