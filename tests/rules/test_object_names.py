"""What can name an owner and an object, and that whole names are read as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.ruleset.facts import facts_as_yaml
from mqvitals_rules.snapshot import LONGEST_NAME, LONGEST_OWNER, ObjectName, is_object_name, is_owner_name
from mqvitals_rules.vocabulary.metric import LARGEST, Absence, within_range
from mqvitals_rules.vocabulary.tables import KINDS

owners = st.text(min_size=1, max_size=60).filter(is_owner_name)
objects = st.text(min_size=1, max_size=60).filter(is_object_name) | st.sampled_from(["/", "//a", "a/b/c", "a b", " a"])


@given(owners, st.sampled_from(sorted(KINDS)), objects)
def test_a_whole_name_is_read_as_it_was_written(owner: str, kind: str, name: str) -> None:
    """Slashes and blanks belong to the name."""
    assert ObjectName.parse(str(ObjectName(owner, kind, name))) == ObjectName(owner, kind, name)


@given(owners, st.sampled_from(sorted(KINDS)))
def test_one_of_its_kind_has_no_name(owner: str, kind: str) -> None:
    assert ObjectName.parse(str(ObjectName(owner, kind))) == ObjectName(owner, kind)


@pytest.mark.parametrize(
    "text", ["", "/", "a/b", " A", "A ", "A\n", "A\0", "\x1b[2J", "\ud800", "\u202e", "A" * (LONGEST_OWNER + 1), 5]
)
def test_what_names_no_owner(text: object) -> None:
    assert not is_owner_name(text)


@pytest.mark.parametrize("text", ["", " ", "A\n", "A\0", "\x1b[2J", "\ud800", "\u202e", "A" * (LONGEST_NAME + 1), None])
def test_what_names_no_object(text: object) -> None:
    assert not is_object_name(text)


def test_numbers_out_of_range_are_absent() -> None:
    """Neither a difference nor a store of 64 bits could hold them; texts and fractions are left alone."""
    for value in (LARGEST, -LARGEST, 0, 1e300, "9" * 50, Absence.RESET):
        assert within_range(value) == value
    for value in (LARGEST + 1, -LARGEST - 1, 1 << 80):
        assert within_range(value) is Absence.OUT_OF_RANGE


def test_no_objects_no_lines() -> None:
    assert list(facts_as_yaml(())) == []
