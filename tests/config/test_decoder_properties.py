"""Whatever the text: a value of the type, or ConfigError with problems that can be shown."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import LINE_BREAK, ConfigError, LocatedText, Place, Problem
from mqvitals_config.decoding.scalars import time_zone
from mqvitals_config.decoding.source import explained
from mqvitals_config.load import walk
from mqvitals_config.settings import Settings

# Characters and words that mean something to YAML, or to us, more often than chance has them.
SIGNS = [
    ": ",
    "- ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "#",
    "&a ",
    "*a",
    "!",
    "!!str ",
    "|\n  ",
    ">-\n ",
    "'",
    '"',
    "\\",
    "%",
    "@",
    "`",
]
ENDS = ["\n", "\n  ", "\n    - ", "---\n", "...\n", "\t", "\r", "\x85", "\u2028", "\ufeff", "\x00", "\x1b"]
VALUES = ["<<", "=", "~", "no", "0777", "12:30:45", "1e3", ".inf", "2026-01-01"]
WORDS = ["name", "store", "path", "rules", "thresholds", "facts", "queues", "objects", "time_zone"]
PIECES = st.sampled_from([*SIGNS, *ENDS, *VALUES, *WORDS])
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)


def judge(text: str) -> Settings | None:
    """Decode, and hold the decoder to its promise."""
    problems: tuple[Problem, ...] = ()
    try:
        decoded = decode("x.yaml", text, Settings)
    except ConfigError as error:
        problems = error.problems
    else:
        assert isinstance(decoded, Settings)
        return decoded
    assert problems
    lines = len(LINE_BREAK.split(text)) + 1
    for problem in problems:
        assert problem.message
        assert problem.place.line <= lines
    words = explained(problems, lambda _: text)
    assert all(char.isprintable() or char == "\n" for char in words)
    return None


@given(TEXTS)
def test_random_text(text: str) -> None:
    """Text made of YAML's own signs never gives another exception."""
    judge(text)


@given(st.text(st.characters(), max_size=60))
def test_any_characters(text: str) -> None:
    """Nor does text of any characters, surrogates included."""
    judge(text)


@given(st.data())
def test_mutated_example(example_settings: str, data: st.DataObject) -> None:
    """A good file with pieces cut out, put in, or moved is read or explained."""
    text = example_settings
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = min(len(text), begin + data.draw(st.integers(0, 30)))
        text = text[:begin] + data.draw(PIECES | st.just(text[begin:end] * 2) | st.just("")) + text[end:]
    judge(text)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["UTC", "0600", "*/queue/*"])
)
KEYS = st.sampled_from(
    ["name", "store", "path", "mode", "rules", "disabled", "thresholds", "rule", "parameter", "value", "facts"]
) | st.text(max_size=4)
TREES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)


@given(st.dictionaries(KEYS, TREES, max_size=5))
def test_random_trees(tree: dict[str, Any]) -> None:
    """Well-formed YAML of any shape is read or explained, and what is read has the types it should."""
    decoded = judge(yaml.safe_dump(tree, allow_unicode=True))
    if decoded is None:
        return
    for _, value in walk(decoded):
        assert value is None or isinstance(value, str | int | float | tuple | dict)
    if decoded.time_zone:
        time_zone(decoded.time_zone)


@given(st.text("ab \n'\"<>\\", max_size=30), st.sampled_from(["'", '"', "|", ">"]))
def test_places_of_characters(text: str, style: Any) -> None:
    """Whatever a text's style, the place of each of its letters is in the file and not before its beginning."""
    source = yaml.dump({"name": text}, default_style=style)
    found = decode_name(source)
    for offset in range(len(found)):
        place = found.at(offset)
        assert found.place <= place
        assert place.line <= source.count("\n") + 1


def decode_name(source: str) -> LocatedText:
    """The value of the only key, whose own key may be quoted too."""
    from mqvitals_config.decoding.node import MappingNode, ScalarNode, compose

    root, problems = compose("x.yaml", source)
    assert not problems
    assert isinstance(root, MappingNode)
    value = root.items[0][1]
    assert isinstance(value, ScalarNode)
    assert value.place >= Place("x.yaml", 1, 1)
    return value.located
