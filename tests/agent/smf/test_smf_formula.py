"""What the vocabulary says of SMF fields, as functions."""

from __future__ import annotations

import pytest

from mqvitals_agent.smf.kinds import BY_KIND, DIRECT, POOLS, STORAGE
from mqvitals_agent.smf.layout.field import Field
from mqvitals_agent.smf.measured_kinds import MEASURED
from mqvitals_agent.smf.metric_mapping import NamedField, compiled, names_in
from mqvitals_rules.expression import ExpressionError
from mqvitals_rules.vocabulary.metric import Absence
from mqvitals_rules.vocabulary.tables import KINDS

NAMES = {
    "A": NamedField("a", Field(0, "u32", "a", "D")),
    "B": NamedField("b", Field(0, "u32", "b", "D")),
    "T": NamedField("t", Field(0, "dur", "t", "D")),
    "LOW": NamedField("low", Field(0, "u32", "low", "LW")),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", 12),
        ("A/B", 3),
        ("A+B", 16),
        ("(A-B)/B", 2),
        ("A-B-B", 4),
        ("A/B/B", 0.75),
        ("T", 1.5),
        ("T/QWHSDURN", 0.0015),
        ("(A+B)/(A-B)", 2),
        ("A*100/B", 300),
    ],
)
def test_formulas_are_worked_out(text: str, expected: float) -> None:
    """Sums, differences and quotients from left to right, durations as microseconds, QWHSDURN as the interval."""
    assert compiled(text, NAMES)({"a": 12, "b": 4, "t": 6144}, 1000) == pytest.approx(expected)


def test_what_is_not_there_is_absent() -> None:
    """An older release's section lacks the field; a divisor is 0; an interval is unknown; a lowest was never set."""
    assert compiled("A+B", NAMES)({"a": 1, "b": None}, 1) is Absence.NOT_RETURNED
    assert compiled("A/B", NAMES)({"a": 1, "b": 0}, 1) is Absence.NOTHING_TO_TELL
    assert compiled("T/QWHSDURN", NAMES)({"t": 1}, None) is Absence.NOT_RETURNED
    assert compiled("LOW", NAMES)({"low": 0x8FFFFFFF}, 1) is Absence.NOTHING_TO_TELL
    assert compiled("LOW", NAMES)({"low": 0x0FFFFFFF}, 1) is Absence.NOTHING_TO_TELL
    assert compiled("A", NAMES)({"a": 0x0FFFFFFF}, 1) == 0x0FFFFFFF


@pytest.mark.parametrize("text", ["", "A+", "(A", "A)", "A B", "a", "A**B", "A//B", "UNKNOWN", "/A", "()"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    """A mistake in the vocabulary is told, not guessed at."""
    with pytest.raises(ExpressionError):
        compiled(text, NAMES)


def test_names_of_a_formula() -> None:
    """The fields in their order."""
    assert names_in("(QCTELTM-QCTCPTM)/QCTREQN") == ("QCTELTM", "QCTCPTM", "QCTREQN")


MAPPINGS = (*BY_KIND.values(), STORAGE, POOLS, DIRECT, *MEASURED.values())


@pytest.mark.parametrize("kind", sorted({each.kind.name for each in MAPPINGS}))
def test_every_metric_with_an_smf_field_is_told(kind: str) -> None:
    """No line of the vocabulary names a field that nobody reads, but those that are left out on purpose."""
    several = [each for each in MAPPINGS if each.kind.name == kind]
    named = {metric.name for metric in KINDS[kind].metrics if metric.smf}
    told = {metric.name for each in several for metric in each.metrics}
    assert named - told == frozenset().union(*(each.omitted for each in several))
    for measures in several:
        empty = measures.values(dict.fromkeys(measures.wanted), None)
        assert empty.keys() == {metric.name for metric in measures.metrics}
        values = {name: value for name, value in empty.items() if not isinstance(value, Absence)}
        assert set(values.values()) <= {""}, values


def test_kinds_that_only_records_tell_are_all_read() -> None:
    """Every kind whose probe is an SMF record, or of which a metric names an SMF field, has its measures."""
    told = {name for name, kind in KINDS.items() if kind.poll.startswith("SMF") or any(m.smf for m in kind.metrics)}
    assert told <= {each.kind.name for each in MAPPINGS}
