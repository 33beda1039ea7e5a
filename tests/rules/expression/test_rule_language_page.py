"""Every example of the page about the language is what the page says it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mqvitals_rules.expression import Context, ExpressionError, compile_expression
from mqvitals_rules.expression.functions import FUNCTIONS
from mqvitals_rules.latest import relates
from mqvitals_rules.members import has_members
from mqvitals_rules.vocabulary.tables import KINDS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "rule-language.md").read_text("utf-8")
EXAMPLES = [
    (kind, line)
    for kind, block in re.findall(r"^```rule (\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
MISTAKES = re.findall(r"^\| (\w+) \| `([^`]+)` \| (.+) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_examples_are_accepted(kind: str, text: str, context: Callable[..., Context]) -> None:
    """Each compiles against the real vocabulary and can be judged of an object of which nothing is known."""
    expression = compile_expression(text, KINDS[kind], KINDS, {"limit": 3})
    assert expression.truth(context()) is expression.explain(context()).truth
    assert expression.doubts() == ()
    assert all(has_members(KINDS[kind], KINDS[use.kind]) for use in expression.members)
    assert all(relates(KINDS[kind], KINDS[name]) for name, _ in expression.names)


@pytest.mark.parametrize(("kind", "text", "message"), MISTAKES)
def test_mistakes_are_answered_as_written(kind: str, text: str, message: str) -> None:
    """Each is refused with the sentence of the page."""
    with pytest.raises(ExpressionError) as raised:
        compile_expression(text, KINDS[kind], KINDS, {})
    assert raised.value.problems[0].message == message


def test_the_page_names_every_function() -> None:
    """No function is missing from the page, nor examples from the tests."""
    for name in FUNCTIONS:
        assert f"`{name}(" in PAGE
        assert any(f"{name}(" in text for _, text in EXAMPLES)
    assert len(EXAMPLES) >= 30
    assert len(MISTAKES) == 12
