"""Matchers of labels: their form, what they match, and what is none."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.sections.matcher import LONGEST, Matcher, Operator, match, matchers_text, parse_matcher

OBJECT = {"object": "QM01/queue/PAY.IN", "severity": "critical", "summary": "one\ntwo", "team": 'Zürich, "A" \\ B'}


@pytest.mark.parametrize(
    ("text", "label", "operator", "value"),
    [
        ("severity=critical", "severity", "=", "critical"),
        (" severity != critical ", "severity", "!=", "critical"),
        ('severity="critical"', "severity", "=", "critical"),
        ("owner=", "owner", "=", ""),
        ('owner=""', "owner", "=", ""),
        ("object=~QM01/queue/.*", "object", "=~", "QM01/queue/.*"),
        ("object!~QM0[12]/.*", "object", "!~", "QM0[12]/.*"),
        (r"object=~QM01/queue/PAY\..*", "object", "=~", r"QM01/queue/PAY\..*"),
        (r'object=~"QM01/queue/PAY\..*"', "object", "=~", r"QM01/queue/PAY\..*"),
        (r'object=~"PAY\\..*"', "object", "=~", r"PAY\..*"),
        ("rule=~BP-[0-9]{2}", "rule", "=~", "BP-[0-9]{2}"),
        (r'team="Zürich, \"A\" \\ B"', "team", "=", 'Zürich, "A" \\ B'),
        (r'note="one\ntwo\t"', "note", "=", "one\ntwo\\t"),
        ("note=a=b", "note", "=", "a=b"),
    ],
)
def test_the_form_is_that_of_alertmanager(text: str, label: str, operator: str, value: str) -> None:
    """Quoted or not; three escapes; any other backslash is itself, as regular expressions need it."""
    assert parse_matcher(text) == Matcher(label, Operator(operator), value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is no matcher: write a label, =, !=, =~ or !~, and a value, such as severity=critical"),
        ("critical", "'critical' is no matcher: "),
        ("=critical", "is no matcher"),
        ("1st=x", "is no matcher"),
        ("sévérité=x", "is no matcher"),
        ("severity~=critical", "is no matcher"),
        ("severity==critical", "write the value in double quotes"),
        ("severity=~~critical", "write the value in double quotes"),
        ("severity='critical'", "write the value in double quotes"),
        ("severity={critical}", "write the value in double quotes"),
        ("severity=critical,rule=BP-03", "write the value in double quotes, and each matcher by itself"),
        ("severity=critical rule=BP-03", "write the value in double quotes, and each matcher by itself"),
        ('severity=cri"tical', "write the value in double quotes"),
        ('severity="critical', "the double quotes of the value do not fit"),
        ('severity="critical\\"', "the double quotes of the value do not fit"),
        ('severity="a" rule="b"', "the double quotes of the value do not fit"),
        ("object=~(QM01", r"'(QM01' is no regular expression (RE2): missing ): (QM01"),
        (r"object=~(a)\1", r"is no regular expression (RE2): invalid escape sequence: \1"),
        ("object=~(?=a)", "is no regular expression (RE2): invalid perl operator: (?="),
        ("object=~((a{100}){100}){100}", "is no regular expression (RE2): invalid repetition size: {100}"),
        ("object=\udcff", "is no text: it has bytes that are not UTF-8"),
        ("object=~\udcff", "is no text: it has bytes that are not UTF-8"),
        ("object=" + "a" * (LONGEST + 1), "the value of a matcher has at most 1,000 characters"),
        ("object=" + "a" * 100 * LONGEST, "the value of a matcher has at most 1,000 characters"),
        ("x" * 100 * LONGEST, "is no matcher"),
    ],
)
def test_what_is_none_is_refused_with_a_sentence(text: str, said: str) -> None:
    """It names what is wrong and what to write, on one short line."""
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        parse_matcher(text)
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("severity=critical", True),
        ("severity!=critical", False),
        ("severity=crit", False),
        ("severity=Critical", False),
        ("severity=~crit", False),
        ("severity=~crit.*", True),
        ("severity=~warning|critical", True),
        ("severity=~crit|critical", True),
        ("severity=~critical|", True),
        ("severity=~(?i)CRITICAL", True),
        ("severity!~crit", True),
        ("severity!~warning|critical", False),
        ("object=~PAY.*", False),
        (r"object=~.*PAY\.IN", True),
        ("summary=~one.two", True),
        ("summary=~one", False),
        ("summary=~one$", False),
        (r'team="Zürich, \"A\" \\ B"', True),
        ("team=~Z.rich.*", True),
        ("absent=", True),
        ("absent!=", False),
        ("absent=~.*", True),
        ("absent=~.+", False),
        ("absent!=x", True),
        ("absent!~x", True),
        ("severity=", False),
    ],
)
def test_whole_values_are_compared(text: str, matches: bool) -> None:
    """A regular expression is anchored at both ends; a label that is absent is an empty one."""
    assert parse_matcher(text).matches(OBJECT) is matches


def test_all_matchers_must_match() -> None:
    """None at all match everything."""
    severe, other = parse_matcher("severity=critical"), parse_matcher("object=x")
    assert match([severe], OBJECT)
    assert not match([severe, other], OBJECT)
    assert match([], OBJECT)


VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text('ab"\\,= \nñ{}', max_size=12)


@given(st.from_regex("[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True), st.sampled_from(["=", "!="]), VALUES)
def test_what_is_written_is_read(label: str, operator: str, value: str) -> None:
    """Whatever the value is: quotes, commas, control characters, any script."""
    matcher = Matcher(label, Operator(operator), value)
    assert parse_matcher(str(matcher)) == matcher
    assert matcher.matches({label: value}) is (operator == "=")


@given(st.text(st.characters(), max_size=20) | st.text('ab_=~!"\\, {}.*(', max_size=20))
def test_any_text_is_a_matcher_or_refused(text: str) -> None:
    """Nothing else is raised; one that is read stays the same when it is written."""
    try:
        matcher = parse_matcher(text)
    except ValueError:
        return
    assert parse_matcher(str(matcher)) == matcher


@given(VALUES, st.sampled_from(["a", "a.b", "(a|b)*", "[^a]*", "a?b+", ".*", "", "(?i)A", "a|ab|b"]))
def test_regular_expressions_agree_with_python_where_both_know_them(value: str, pattern: str) -> None:
    """Python's ``fullmatch`` is the other implementation."""
    expected = re.fullmatch(pattern, value, re.DOTALL) is not None
    assert Matcher("x", Operator.REGEX, pattern).matches({"x": value}) is expected
    assert Matcher("x", Operator.NOT_REGEX, pattern).matches({"x": value}) is not expected


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "((a?){50}){1}a{50}b", "(.*)(.*)(.*)(.*)(.*)b"])
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    """With Python's expressions each of these would take longer than the universe is old."""
    assert not Matcher("object", Operator.REGEX, pattern).matches({"object": "a" * 20_000})


@given(st.text(st.characters(), max_size=20), st.sampled_from(["x=~.*", "x!~(?s).*", r"x=~\C*", "x=a", "x!=a"]))
def test_any_label_can_be_matched(value: str, text: str) -> None:
    """Also one with a lone surrogate, which no UTF-8 can hold: it is compared as receivers get it."""
    assert parse_matcher(text).matches({"x": value}) in (True, False)


def test_a_lone_surrogate_is_matched_as_receivers_get_it() -> None:
    """They get U+FFFD for it."""
    assert Matcher("x", Operator.EQUAL, "a\ufffd").matches({"x": "a\udcff"})


def test_a_matcher_can_be_copied() -> None:
    """Its compiled expression is made again."""
    matcher = parse_matcher("object=~QM01/.*")
    for same in (copy.deepcopy(matcher), pickle.loads(pickle.dumps(matcher))):
        assert same == matcher
        assert same.matches({"object": "QM01/log"})
        assert not same.matches({"object": "QM02/log"})


def test_matchers_are_shown_as_they_are_typed() -> None:
    """Quoted only where they need it."""
    texts = ['rule="BP-03"', 'severity!="info"', 'team="a b"', r'object=~"QM01/queue/PAY\\..*"']
    assert matchers_text(map(parse_matcher, texts)) == (
        r'rule=BP-03 severity!=info team="a b" object=~"QM01/queue/PAY\\..*"'
    )
