"""The notation in which tests of rules are written, and what a test says when it fails."""

from __future__ import annotations

import pytest

from mqvitals_config.problem import ConfigError
from mqvitals_config.settings import Settings
from mqvitals_rules.check import prepare
from mqvitals_rules.pack_test import decode_tests, run_tests
from mqvitals_rules.series import parse_series
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import metric

RULES = prepare(Settings()).rules

TEXT = """\
tests:
  - name: A pool sinks
    interval: 10s
    facts:
      buffer_pools: [{objects: "*/buffer_pool/5", purpose: short_lived}]
    series:
      QM01/buffer_pool/5: {total: 50000, low_pct: 25 18 18 60+5x10 _ stale}
      QM01/channel/TO.QM02: {status: RUNNING, type: SDR, short_left: 10}
    expect:
      - at: 20s
        firing: [{rule: BP-01, object: QM01/buffer_pool/5, severity: warning}]
        not_firing: [BP-02]
        unknown: [CHL-07]
"""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 2.5 -3", (1, 2.5, -3)),
        ("60+5x3", (60, 65, 70, 75)),
        ("60-5x2", (60, 55, 50)),
        ("4x2", (4, 4, 4)),
        ("_ stale _x1", (Absence.NO_ANSWER, Absence.STALE, Absence.NO_ANSWER, Absence.NO_ANSWER)),
        ("needs_smf not_collected", (Absence.NEEDS_SMF, Absence.NOT_COLLECTED)),
    ],
)
def test_series_of_numbers(text: str, values: tuple[Reported, ...]) -> None:
    """Numbers, steps, repetitions and absences are read as they are meant."""
    assert parse_series(text, metric("queue", "depth")) == values


def test_series_of_states_and_texts() -> None:
    """States are written by their names, texts as they are."""
    assert parse_series("RUNNING RETRYINGx1 5 inactive", metric("channel", "status")) == (3, 5, 5, 5, Absence.INACTIVE)
    assert parse_series("QM02 _", metric("channel", "xmitq")) == ("QM02", Absence.NO_ANSWER)


@pytest.mark.parametrize("text", ["", "x3", "five", "5x", "1e3", "4x99999", "RUNNING"])
def test_series_that_is_none(text: str) -> None:
    """What is no series is refused with a sentence."""
    with pytest.raises(ValueError, match=r"expected|needs at least|more than"):
        parse_series(text, metric("queue", "depth"))


def test_a_test_that_holds() -> None:
    """The example of the documentation holds."""
    assert run_tests("t.yaml", TEXT, RULES) == []


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("at: 20s", "at: 0s", "BP-01 on QM01/buffer_pool/5 should be firing and is not"),
        (
            "severity: warning}]",
            "severity: critical}]",
            "BP-01 on QM01/buffer_pool/5 should be critical and is warning",
        ),
        (
            "firing: [{rule: BP-01, object: QM01/buffer_pool/5, severity: warning}]",
            "firing: []",
            "is firing and not expected",
        ),
        ("not_firing: [BP-02]", "not_firing: [BP-01]", "BP-01 on QM01/buffer_pool/5 is firing and should not be"),
        ("unknown: [CHL-07]", "unknown: [PS-01]", "PS-01 should be unknown for some object and is not"),
        ("unknown: [CHL-07]", "known: [CHL-07]", "CHL-07 is unknown for some object and should not be"),
    ],
)
def test_a_test_that_fails(old: str, new: str, failure: str) -> None:
    """An expectation that does not hold is one sentence: the test, the moment, what should be and what is."""
    failures = run_tests("t.yaml", TEXT.replace(old, new, 1), RULES)
    assert [failure in sentence for sentence in failures] == [True]
    assert failures[0].startswith("A pool sinks, after ")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("QM01/buffer_pool/5: {total", "QM01/bufferpool/5: {total", "did you mean 'buffer_pool'?"),
        ("QM01/buffer_pool/5: {total", "QM01/buffer_pool: {total", "owner/buffer_pool/name"),
        ("total: 50000", "totl: 50000", "did you mean 'total'?"),
        ("low_pct: 25", "low_pct: x25", "is no value of low_pct"),
        ("rule: BP-01", "rule: BP-91", "there is no rule 'BP-91'"),
        ("purpose: short_lived", "purpose: short", "is no purpose of a buffer_pool"),
        ("at: 20s", "at: 25s", "multiples of the interval"),
        ("interval: 10s", "interval: 0s", "longer than 0s"),
        ("interval: 10s", "intervall: 10s", "did you mean 'interval'?"),
    ],
)
def test_a_test_file_with_a_mistake(old: str, new: str, words: str) -> None:
    """Mistakes in a test file are told like those in any other."""
    with pytest.raises(ConfigError) as caught:
        decode_tests("t.yaml", TEXT.replace(old, new, 1), RULES)
    assert any(words in problem.message for problem in caught.value.problems)


RECORDS = """\
tests:
  - name: Values and where they come from
    interval: 30m{records}
    facts:
      buffer_pools: [{{objects: "*/buffer_pool/*", purpose: short_lived}}]
    series:
      QM01/buffer_pool/5: {{free_pct: 60 4 60, low_pct: {low}}}
    expect:
      - {{at: 0s, firing: []}}
      - {{at: 30m, firing: [{{rule: BP-03, object: QM01/buffer_pool/5}}]}}
      - {{at: 1h, firing: [{firing}]}}
"""
STILL = "{rule: BP-03, object: QM01/buffer_pool/5}"


@pytest.mark.parametrize(
    ("records", "low", "firing"),
    [
        ("", "_", STILL),  # polls: three good ones end it
        ("", "50 4 50", STILL),
        ("\n    records: true", "50", STILL),  # records: two good ones
    ],
)
def test_what_only_smf_tells_comes_as_a_record(records: str, low: str, firing: str) -> None:
    """A pool that is polled, with and without records, and one that only records tell."""
    assert run_tests("own.test.yaml", RECORDS.format(records=records, low=low, firing=firing), RULES) == []


def test_where_no_record_came_nothing_is_told() -> None:
    """A blank in a series of what SMF tells is no record: what the record before told is believed for a time."""
    text = """\
tests:
  - name: A record and then none
    interval: 30m
    series:
      QM01/log: {wtb: 1 _x9, pagein: 0 _x9}
      QM02/log: {wtb: needs_smf, pagein: needs_smf, full_logs: 1}
    expect:
      - {at: 2h, firing: [{rule: LOG-02, object: QM01/log}], unknown: [LOG-02]}
"""
    assert run_tests("own.test.yaml", text, RULES) == []
