"""The answer's JSON: what is written is read again, and anything else is refused in words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.who.holder import LATEST, Holders, MemberHolders, from_json, to_json
from mqvitals_rules.snapshot import ObjectName

QUEUE = ObjectName("QM01", "queue", "PAY.IN")
EMPTY = Holders(QUEUE, (MemberHolders("QM01", 1_000, 20),))

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_KEYS = st.sampled_from(["queue", "members", "queue_manager", "at", "took_ms", "holders", "connection", "notes"])
_JSON = st.recursive(
    _SCALARS,
    lambda some: st.lists(some, max_size=4) | st.dictionaries(_KEYS | st.text(max_size=3), some, max_size=6),
    max_leaves=20,
)


@given(data=st.data())
def test_what_is_written_is_read(data: st.DataObject, any_holders: st.SearchStrategy[Holders]) -> None:
    """Any Holders come back as they were, through plain ASCII on one line."""
    holders = data.draw(any_holders)
    text = to_json(holders)
    assert text.isascii()
    assert "\n" not in text
    assert from_json(text) == holders


@given(st.text() | _JSON.map(json.dumps))
def test_any_text_gives_holders_or_value_error(text: str) -> None:
    """Whatever stands in the store, reading it raises nothing but ValueError."""
    try:
        found = from_json(text)
    except ValueError as error:
        assert str(error)  # noqa: PT017 - either way is allowed
    else:
        assert from_json(to_json(found)) == found


@given(data=st.data())
def test_a_damaged_answer_gives_holders_or_value_error(
    data: st.DataObject, any_holders: st.SearchStrategy[Holders]
) -> None:
    """One value anywhere in a good answer replaced by another: Holders or ValueError, nothing else."""
    tree = json.loads(to_json(data.draw(any_holders)))
    at = tree
    while True:
        keys = sorted(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(_JSON)
    try:
        assert isinstance(from_json(json.dumps(tree)), Holders)
    except ValueError as error:
        assert str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "the answer must be an object"),
        ("{}", "lacks some of members, queue"),
        ('{"queue": ["QM01", "queue"], "members": []}', "queue must be a list of owner, kind and name"),
        ('{"queue": ["QM01", "queue", "A"], "members": {}}', "members must be a list"),
        ('{"queue": ["QM01", "queue", "A"], "members": [NaN]}', "NaN"),
    ],
)
def test_says_what_is_wrong(text: str, said: str) -> None:
    """The error says what is wrong and where."""
    with pytest.raises(ValueError, match=said):
        from_json(text)


@pytest.mark.parametrize("at", [True, 1.0, "1", None, LATEST + 1, 10**40])
def test_a_moment_must_be_one(at: object) -> None:
    """A moment is a whole number inside the calendar, so that nothing that shows it can fail."""
    tree = json.loads(to_json(EMPTY))
    tree["members"][0]["at"] = at
    with pytest.raises(ValueError, match=r"members\[0\]: at"):
        from_json(json.dumps(tree))


def test_other_releases_are_understood() -> None:
    """A member that is not known is ignored, and one with a default may be missing."""
    tree = json.loads(to_json(EMPTY))
    tree["later"] = {"x": 1}
    del tree["members"][0]["notes"]
    assert from_json(json.dumps(tree)) == EMPTY
