"""Patterns of object names: what they select, and that they fail as fast as they fit."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName


@given(st.text("ab*?", min_size=1, max_size=8), st.text("ab", min_size=1, max_size=10))
def test_as_everybody_knows_them(pattern: str, name: str) -> None:
    """``*`` is any text, ``?`` one character."""
    selects = ObjectPattern.parse(f"*/queue/{pattern}").matches(ObjectName("QM01", "queue", name))
    assert selects == fnmatchcase(name, pattern)


def test_nothing_else_is_special() -> None:
    for name in ("A.B", "A[B]", "A(B", "A+", "A\\", "A\nB"):
        assert ObjectPattern.parse(f"QM01/queue/{name}").matches(ObjectName("QM01", "queue", name))
    assert not ObjectPattern.parse("QM01/queue/A.B").matches(ObjectName("QM01", "queue", "AxB"))


def test_many_stars_take_linear_time() -> None:
    """Twenty of them against a long name that does not fit at its end took longer than anyone waits."""
    pattern = ObjectPattern.parse("*/queue/" + "*a" * 20 + "*b")
    name = ObjectName("QM01", "queue", "a" * 1000)
    began = time.process_time()
    assert not pattern.matches(name)
    assert time.process_time() - began < 1
