"""Misspelt names."""

from __future__ import annotations

import pytest

from mqvitals_config.decoding.problem import did_you_mean, shown


@pytest.mark.parametrize(
    ("word", "phrase"),
    [
        ("stoer", "; did you mean 'store'?"),
        ("STORE", "; did you mean 'store'?"),
        ("xyz", ""),
        ("", ""),
        ("store" * 100_000, ""),
        ("bp-01", "; did you mean 'BP-01'?"),
    ],
)
def test_did_you_mean(word: str, phrase: str) -> None:
    """Close names are offered as they are really written; nothing is offered for what is far off or very long."""
    assert did_you_mean(word, ["store", "rules", "BP-01"]) == phrase


def test_shown() -> None:
    """Quoted, cut, and without anything that steers a terminal."""
    assert shown("a'b") == "'a'b'"
    assert shown("\x1b[2J\u202e") == "'\\x1b[2J\\u202e'"
    assert shown("x" * 100) == "'" + "x" * 59 + "…'"
