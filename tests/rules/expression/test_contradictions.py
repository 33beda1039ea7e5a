"""Conditions that say nothing: what cannot hold, what always does, what cannot hold together."""

from __future__ import annotations

import pytest

from mqvitals_rules.expression import compile_expression
from mqvitals_rules.vocabulary.tables import KINDS

NEVER, ALWAYS = "can never hold", "always holds"
TOGETHER = "can never hold together"


def doubts(text: str, kind: str = "queue", **parameters: float) -> list[tuple[int, str]]:
    """Column and words of what is told about a condition."""
    found = compile_expression(text, KINDS[kind], KINDS, parameters).doubts()
    return [(each.place.column, each.message) for each in found]


@pytest.mark.parametrize(
    ("text", "kind", "column", "words"),
    [
        ("depth < 0", "queue", 1, NEVER),
        ("0 > depth", "queue", 1, NEVER),
        ("depth >= 0", "queue", 1, ALWAYS),
        ("-depth > 0", "queue", 1, NEVER),
        ("abs(depth - 5) < 0", "queue", 1, NEVER),
        ("depth + max_depth < 0", "queue", 1, NEVER),
        ("max(depth, 7) < 7", "queue", 1, NEVER),
        ("share(depth) > 1", "queue", 1, NEVER),
        ('rate(msgs, "5m") < 0', "channel", 1, NEVER),
        ("count(queue, depth > 3) < 0", "page_set", 1, NEVER),
        ("count(queue, depth < 0) > 3", "page_set", 14, NEVER),
        ("free_pct > 100", "buffer_pool", 1, NEVER),
        ("depth == -1", "queue", 1, NEVER),
        ("depth > 5 and depth < 3", "queue", 15, TOGETHER),
        ("depth > 5 and depth < 5", "queue", 15, TOGETHER),
        ("depth >= 5 and depth < 5", "queue", 16, TOGETHER),
        ("depth == 3 and depth == 4", "queue", 16, TOGETHER),
        ("5 < depth < 4", "queue", 5, TOGETHER),
        ("depth >= low and (depth <= high and get_enabled == ENABLED)", "queue", 19, TOGETHER),
        ("status == RUNNING and status in (STOPPED, PAUSED)", "channel", 23, TOGETHER),
        ("status == RUNNING and status != RUNNING", "channel", 23, TOGETHER),
        ("not (status == RUNNING or status == PAUSED) and status in (RUNNING, PAUSED)", "channel", 49, TOGETHER),
        ("depth > 5 or depth < 8", "queue", 14, ALWAYS),
        ("status == RUNNING or status != RUNNING", "channel", 22, ALWAYS),
    ],
)
def test_what_says_nothing(text: str, kind: str, column: int, words: str) -> None:
    """It is told, at the comparison."""
    (found,) = doubts(text, kind, low=5, high=3) if "low" in text else doubts(text, kind)
    assert found[0] == column
    assert words in found[1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("depth > 0", "queue"),
        ("depth - 3 < 0", "queue"),
        ("depth >= 5 and depth <= 5", "queue"),
        ("depth > 5 and max_depth < 3", "queue"),
        ("depth > 5 or depth < 3", "queue"),
        ("depth > 5 or depth > 3", "queue"),
        ("status == RUNNING or status in (STOPPED, PAUSED)", "channel"),
        ("status != RUNNING and status != PAUSED", "channel"),
        ('rate(msgs, "5m") > 5 and rate(msgs, "1h") < 5', "channel"),
        ("any(queue, depth > 5) and any(queue, depth < 3)", "page_set"),
        ("kaint_s < 0", "channel"),
        ("depth >= none", "queue"),
        ("free_pct <= 100 - 50", "buffer_pool"),
    ],
)
def test_what_says_something(text: str, kind: str) -> None:
    """Nothing is told; a parameter may let everything through."""
    assert (doubts(text, kind, none=0) if "none" in text else doubts(text, kind)) == []
