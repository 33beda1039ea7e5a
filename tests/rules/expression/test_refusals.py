"""What is no expression of the language: each with the column and a sentence that says what would be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_rules.expression import Expression, ExpressionError, compile_expression, compile_value
from mqvitals_rules.vocabulary.metric import Kind

Compile = Callable[..., Expression]

STATUSES = "INACTIVE, RUNNING, RETRYING, STOPPED"
LANGUAGE = "is not part of the rule language"

REFUSED: tuple[tuple[str, int, str], ...] = (
    # names
    ("deph > 3", 1, "queue has no metric 'deph', and the rule no parameter of that name; did you mean 'depth'?"),
    ("depth > limt", 9, "queue has no metric 'limt', and the rule no parameter of that name; did you mean 'limit'?"),
    ("depth > zzz", 9, "queue has no metric 'zzz', and the rule no parameter of that name"),
    ("0 < qmgr_count", 5, "queue has no metric 'qmgr_count'; did you mean 'qsg.qmgr_count'?"),
    ("qsg.qmgr_cont > 3", 1, "qsg has no metric 'qmgr_cont'; did you mean 'qmgr_count'?"),
    ("gsg.qmgr_count > 3", 1, "there is no kind of object 'gsg'; did you mean 'qsg'?"),
    ("page_set > 3", 1, "page_set is a kind of object; write page_set.metric"),
    ("XMITQ", 1, "XMITQ is a value of usage and stands beside it; write usage == XMITQ"),
    ("usage == XMIT", 10, "'XMIT' is no value of the state usage; did you mean 'XMITQ'?"),
    ("usage == zzz", 10, "'zzz' is no value of the state usage; the values are NORMAL, XMITQ"),
    ("zzz != usage", 1, "'zzz' is no value of the state usage; the values are NORMAL, XMITQ"),
    ("usage in (XMITQ, NORMA)", 18, "'NORMA' is no value of the state usage; did you mean 'NORMAL'?"),
    ("buffer_pool.purpose in SHRT", 24, "there is no set 'SHRT'; did you mean 'SHORT'?"),
    ("buffer_pool.purpose in zzz", 24, "there is no set 'zzz'; buffer_pool has the sets SHORT, LONG"),
    ("usage in SHORT", 10, "there is no set 'SHORT'"),
    ("usage in (XMITQ)", 11, "XMITQ is one value, not a set; write usage == XMITQ"),
    ("depth.x.y > 3", 1, "expected metric or kind.metric"),
    ("d\u212apth > 1", 1, "a name has letters a to z, digits and _ only"),
    ("\uff44epth > 1", 1, "a name has letters a to z, digits and _ only"),
    # types
    ("depth", 1, "expected a condition, not the gauge depth; compare it with something"),
    ("depth + 1", 1, "expected a condition, not a number; compare it with something"),
    ("usage", 1, "expected a condition, not the state usage; compare it with one of its values: NORMAL, XMITQ"),
    ("'x'", 1, "expected a condition, not the text 'x'; compare it with something"),
    ("usage > 0", 1, "> compares numbers, not the state usage"),
    ("usage == 1", 1, "the state usage cannot equal a number; the values are NORMAL, XMITQ"),
    ("usage == trigger", 1, "the state usage cannot equal the state trigger; the values are NORMAL, XMITQ"),
    ("depth == 'x'", 1, "the gauge depth cannot equal the text 'x'"),
    ("'a' < 'b'", 1, "< compares numbers, not the text 'a'"),
    ("usage + 1 > 0", 1, "expected a number, not the state usage"),
    ("'a' * 9999999999 == 'b'", 1, "expected a number, not the text 'a'"),
    ("depth * (depth > 3) > 0", 10, "expected a number, not a condition"),
    ("(depth > 3) == (depth > 4)", 2, "expected a number, not a condition"),
    ("depth + rising(depth, 3) > 0", 9, "expected a number, and rising(...) is a condition"),
    ("present(depth) == 1", 1, "expected a number, and present(...) is a condition"),
    ("depth in (1, 'x')", 14, "the gauge depth cannot be the text 'x'"),
    ("usage in (XMITQ, 1)", 18, "the state usage cannot be a number"),
    ("depth in (1, max_depth)", 14, "expected values that are written out: (A, B)"),
    ("depth in ()", 10, "expected the name of a set, or values in parentheses: (A, B)"),
    ("depth in 3", 10, "expected the name of a set, or values in parentheses: (A, B)"),
    ("depth in [1, 2]", 10, "expected the name of a set, or values in parentheses: (A, B)"),
    ("depth + 1 in SHORT", 14, "only a metric can be in a named set"),
    ("depth is 3", 1, "'is' is not part of the rule language; write =="),
    ("depth is not max_depth", 1, "'is' is not part of the rule language; write !="),
    ("1 < 2", 1, "the condition looks at no metric"),
    ("True", 1, f"'True' {LANGUAGE}"),
    ("depth == None", 10, f"'None' {LANGUAGE}"),
    ("depth == ...", 10, f"... {LANGUAGE}"),
    ("depth == 2j", 10, f"'2j' {LANGUAGE}"),
    ("depth == b'x'", 10, f"\"b'x'\" {LANGUAGE}".replace('"', "'", 2)),
    ("depth > 1e999", 9, "a number greater than 1e18"),
    ("depth > " + "9" * 400, 9, "a number greater than 1e18"),
    # forms
    ("depth ** 2 > 1", 1, "of the arithmetic operators there are + - * / only"),
    ("depth % 2 == 1", 1, "of the arithmetic operators there are + - * / only"),
    ("depth // 2 == 1", 1, "of the arithmetic operators there are + - * / only"),
    ("depth << 99 > 1", 1, "of the arithmetic operators there are + - * / only"),
    ("~depth > 1", 1, "of the arithmetic operators there are + - * / only"),
    ("+depth > 1", 1, "of the arithmetic operators there are + - * / only"),
    ("depth[0] > 1", 1, f"'[...]' {LANGUAGE}"),
    ("[depth] == [1]", 1, f"'[...]' {LANGUAGE}"),
    ("{1: 2} == depth", 1, f"'{{...}}' {LANGUAGE}"),
    ("{1, 2} == depth", 1, f"'{{...}}' {LANGUAGE}"),
    ("(1, 2) == depth", 1, f"a list of values without 'in' before it {LANGUAGE}"),
    ("f'{depth}' == 'x'", 1, f"an f-string {LANGUAGE}"),
    ("(lambda: 1) == depth", 2, f"'lambda' {LANGUAGE}"),
    ("1 if depth > 3 else 0", 1, f"'if ... else' {LANGUAGE}"),
    ("(x := depth) > 3", 2, f"':=' {LANGUAGE}"),
    ("[x for x in depth] == 3", 1, f"a comprehension {LANGUAGE}"),
    ("abs(*depth) > 3", 5, f"'*' {LANGUAGE}"),
    ("(yield) > 3", 2, f"this {LANGUAGE}"),
    # calls
    ("__import__('os').system('x') == 0", 1, "the only functions are those of the rule language"),
    ("(abs)(depth)(3) > 0", 1, "the only functions are those of the rule language"),
    (
        "foo(depth) > 3",
        1,
        "there is no function 'foo'; there are rate, delta, avg, median, min, max, eta, baseline, share, any, count, sum, most, least, seen, open, times, latest, latest_text, elapsed, rising, unchanged, startswith, endswith, abs, present",
    ),
    ("average(depth) > 3", 1, "there is no function 'average'; did you mean 'avg'?"),
    ("risin(depth, 3)", 1, "there is no function 'risin'; did you mean 'rising'?"),
    ("abs(depth, 3) > 0", 1, "abs takes one number: abs(x)"),
    ("abs(x=depth) > 0", 1, "arguments have no names here"),
    ("rising(depth, n=3)", 1, "arguments have no names here"),
    ("rate(depth, '5m') > 0", 6, "rate needs a counter, and depth is a gauge"),
    ("rate(usage) > 0", 6, "rate needs a counter, and usage is a state"),
    ("avg(usage, '5m') > 0", 5, "avg needs a gauge, and usage is a state"),
    ("min(channel.status, '5m') > 0", 5, "min needs a gauge, and channel.status is a state"),
    (
        "avg(channel.msgs, '5m') > 0",
        5,
        'avg needs a gauge, and channel.msgs is a counter; rate and delta look back on it: rate(channel.msgs, "5m")',
    ),
    (
        "rising(channel.msgs, 3)",
        8,
        'rising needs a gauge, and channel.msgs is a counter; rate and delta look back on it: rate(channel.msgs, "5m")',
    ),
    ("rising(usage, 3)", 8, "rising needs a gauge, and usage is a state"),
    ("avg(priority, '5m') > 0", 5, "priority is declared in the configuration and has no history"),
    ("rising(priority, 3)", 8, "priority is declared in the configuration and has no history"),
    (
        "avg(depth, '5 minutes') > 0",
        12,
        "'5 minutes' is no window: expected a duration such as 30s, 5m, 1h, 1d, 250ms or 1h30m",
    ),
    ("avg(depth, '5') > 0", 12, "'5' is no window: a duration needs a unit: 5s, 5m or 5h"),
    ("avg(depth, '10ms') > 0", 12, "a window is 1s to 366d long"),
    ("avg(depth, '999d') > 0", 12, "a window is 1s to 366d long"),
    ("avg(depth, limit) > 0", 12, "limit is no window: a parameter that is one is in seconds, and ends in _s"),
    ("avg(depth, usage) > 0", 12, 'expected a window written out, as in avg(gauge, "5m")'),
    ("avg(depth, 5) > 0", 12, 'expected a window written out, as in avg(gauge, "5m")'),
    ("avg() > 0", 1, 'expected avg(gauge, "5m")'),
    ("avg(depth, '5m', 3) > 0", 1, 'expected avg(gauge, "5m")'),
    ("eta(depth) > 0", 1, 'expected eta(gauge, limit, "10m")'),
    ("eta(depth, '10m') > 0", 12, "expected a number, not the text '10m'"),
    ("avg(depth + 1, '5m') > 0", 5, 'expected the name of a metric: avg(gauge, "5m")'),
    ("max(limit, '5m') > 0", 5, 'expected the name of a metric: max(gauge, "5m")'),
    ("max(depth, usage) > 0", 12, "expected a number, not the state usage"),
    ("present()", 1, "expected present(metric)"),
    ("present(3)", 9, "expected the name of a metric: present(metric)"),
    ("rising(depth)", 1, "expected rising(gauge, n) with n from 1 to 100"),
    ("rising(depth, 0)", 15, "expected rising(gauge, n) with n from 1 to 100, written out"),
    ("rising(depth, 101)", 15, "expected rising(gauge, n) with n from 1 to 100, written out"),
    ("rising(depth, True)", 15, "expected rising(gauge, n) with n from 1 to 100, written out"),
    ("rising(depth, limit)", 15, "expected rising(gauge, n) with n from 1 to 100, written out"),
    # members, the pair, messages, names
    ("any(queu, depth > 3)", 5, "there is no kind of object 'queu'; did you mean 'queue'?"),
    (
        "any(queue, deph > 3)",
        12,
        "queue has no metric 'deph', and the rule no parameter of that name; did you mean 'depth'?",
    ),
    ("any(page_set, depth > 3)", 15, "page_set has no metric 'depth'; did you mean 'this.depth'?"),
    ("any(queue, depth)", 12, "expected a condition, not the gauge depth; compare it with something"),
    ("any(queue)", 1, "expected any(kind, condition), with a kind of object such as queue"),
    ("any(queue, depth > 3, 5)", 1, "expected any(kind, condition), with a kind of object such as queue"),
    ("count('queue', depth > 3) > 1", 1, "expected count(kind, condition), with a kind of object such as queue"),
    ("sum(queue, depth > 3) > 1", 12, "expected a number, not a condition"),
    ("most(queue, usage) > 1", 13, "expected a number, not the state usage"),
    ("least(queue, this.deph) > 1", 14, "queue has no metric 'deph'; did you mean 'depth'?"),
    ("any(queue, count(queue, depth > 3) > 1)", 12, "count(...) cannot stand inside another function of members"),
    ("count(queue, depth > 3)", 1, "expected a condition, not a number; compare it with something"),
    ("any(queue, depth > 3) > 1", 1, "expected a number, and any(...) is a condition"),
    ("cuont(queue, depth > 3) > 1", 1, "there is no function 'cuont'; did you mean 'count'?"),
    ("this.depth > 3", 1, "this stands inside any, count, sum, most or least; write depth"),
    ("any(channel, pair.depth > 3)", 14, "a channel has no pair; a queue can have one"),
    ("pair.dpth > 3", 1, "queue has no metric 'dpth'; did you mean 'depth'?"),
    ("pair.name == 'A'", 1, "queue has no metric 'name'"),
    ("name > 3", 1, "> compares numbers, not the text name"),
    ("name == 3", 1, "the text name cannot equal a number"),
    ("name in (1, 2)", 10, "the text name cannot be a number"),
    ("startswith(name, 'A')", 1, "the condition looks at no metric"),
    ("startswith(name)", 1, 'expected startswith(text, "A")'),
    ("endswith(depth, 'A')", 10, "expected a text, not the gauge depth"),
    ("startswith(name, '')", 18, "startswith holds for every text when it looks for an empty one"),
    ("startswith(name, 'A') > 3", 1, "expected a number, and startswith(...) is a condition"),
    ("seen()", 1, 'expected seen("CSQP020E", "10m")'),
    ("seen(depth)", 6, 'expected the id of a console message: "CSQP020E"'),
    ("seen('CSQP02E')", 6, "'CSQP02E' is no id of a message of MQ on z/OS, such as CSQP020E"),
    ("seen('csqp020e')", 6, "'csqp020e' is no id of a message of MQ on z/OS; did you mean 'CSQP020E'?"),
    ("seen('CSQP020E', '10')", 18, "'10' is no window: a duration needs a unit: 10s, 10m or 10h"),
    ("seen('CSQP020E', 10)", 18, 'expected a window written out, as in seen("CSQP020E", "10m")'),
    ("elapsed('CSQR003I') > 3", 1, 'expected elapsed("CSQR003I", "CSQR006I", "1d")'),
    ("elapsed('CSQR003I', 'CSQR003I') > 3", 21, "elapsed is about two different messages"),
    ("elapsed('CSQR003I', '1d') > 3", 21, "'1d' is no id of a message of MQ on z/OS, such as CSQP020E"),
    # what is usual, and shares
    ("median(usage, '5m') > 0", 8, "median needs a gauge, and usage is a state"),
    ("baseline(usage) > 0", 10, "baseline needs a gauge or a counter, and usage is a state"),
    ("baseline(priority) > 0", 10, "priority is declared in the configuration and has no history"),
    ("baseline(depth, '5m') > 0", 1, "expected baseline(gauge) or baseline(counter)"),
    ("share(depth, '5m') > 0", 1, 'expected share(gauge) or share(counter, "5m")'),
    ("share(usage) > 0", 7, "share needs a gauge or a counter, and usage is a state"),
    # text that is no expression
    ("", 1, "an empty expression"),
    (" \n ", 1, "an empty expression"),
    ("depth > ", 7, "cannot be read: something is missing at the end"),
    ("depth > 3 and", 13, "cannot be read: something is missing at the end"),
    ("depth > 3 3", 11, "cannot be read: invalid syntax"),
    ("depth > 3)", 10, "cannot be read: unmatched ')'"),
    ("(depth > 3", 1, "cannot be read: '(' was never closed"),
    ("depth > 3; import os", 10, "cannot be read: invalid syntax"),
    ("depth = 3", 7, "cannot be read: write == instead of ="),
    ("depth > 3 && usage == XMITQ", 12, "cannot be read: write and instead of &&"),
    ("depth > 3 || usage == XMITQ", 12, "cannot be read: write or instead of ||"),
    ("!depth", 1, "cannot be read: write not instead of !"),
    ("depth <> 3", 7, "cannot be read: write != instead of <>"),
    ("depth > 3 # deep", 11, "a comment cannot stand inside an expression"),
    ("depth\x00 > 3", 6, "the character U+0000 cannot be used"),
    ("depth\u00a0> 3", 6, "the character U+00A0 cannot be used"),
    ("depth == '\ud800'", 11, "the character U+D800 cannot be used"),
    ("depth == '\\n'", 11, "a backslash cannot be used"),
    ('depth == """x"""', 10, 'a text stands in single or double quotes: "5m"'),
    ("depth > 5and usage == XMITQ", 9, "cannot be read: invalid decimal literal"),
)


@pytest.mark.parametrize(("text", "column", "message"), REFUSED)
def test_refusals(compiled: Compile, text: str, column: int, message: str) -> None:
    """Each mistake is refused when the rule is loaded, at its column, with a sentence."""
    with pytest.raises(ExpressionError) as raised:
        compiled(text, "queue", limit=3)
    problem = raised.value.problems[0]
    assert (problem.place.column, problem.message) == (column, message)
    assert problem.place.line == 1


def test_a_window_may_be_a_parameter_in_seconds(compiled: Compile) -> None:
    """With the values that a window can have; the second number of min stays a number."""
    assert {each.window_ms for each in compiled("avg(depth, long_s) > 3", "queue", long_s=1.5).windows} == {1500}
    for long_s, refused in ((0.5, True), (1, False), (366 * 86_400, False), (367 * 86_400, True)):
        text = "seen('CSQP020E', long_s)"
        if refused:
            with pytest.raises(ExpressionError, match="a window is 1s to 366d long"):
                compiled(text, "queue", long_s=long_s)
        else:
            compiled(text, "queue", long_s=long_s)
    assert compiled("min(depth, long_s) > 3", "queue", long_s=300).windows == ()


def test_all_mistakes_at_once(compiled: Compile) -> None:
    """Mistakes in several terms, and on both sides of one, are all told."""
    with pytest.raises(ExpressionError) as raised:
        compiled("deph > maxdepth and (usage == XMIT or not foo(3) > 1) and depth in ('a', 'b')")
    assert [problem.place.column for problem in raised.value.problems] == [1, 8, 31, 43, 69, 74]


def test_places_in_a_file(kinds: Mapping[str, Kind]) -> None:
    """A text of a file is refused at its place in the file, also on a later line of a folded text."""
    source = "depth > 3 and\n        usage == XMIT"
    text = LocatedText("depth > 3 and usage == XMIT", Place("queues.yaml", 12, 7), source)
    with pytest.raises(ExpressionError) as raised:
        compile_expression(text, kinds["queue"], kinds, {})
    assert str(raised.value) == "queues.yaml:13:18: 'XMIT' is no value of the state usage; did you mean 'XMITQ'?"


def test_line_ends_are_blanks(compiled: Compile) -> None:
    """A block of several lines is one expression, and columns count through it."""
    assert compiled("depth > 3\n  and depth < 9\r\n").names == {("queue", "depth")}
    with pytest.raises(ExpressionError) as raised:
        compiled("depth > 3\n  and deph < 9")
    assert raised.value.problems[0].place.column == 17


def test_columns_count_characters(compiled: Compile) -> None:
    """Letters of several bytes before a mistake do not shift it."""
    with pytest.raises(ExpressionError) as raised:
        compiled("xmitq == 'äöü€' and deph > 3", "channel")
    assert raised.value.problems[0].place.column == 21
    with pytest.raises(ExpressionError) as raised:
        compiled("xmitq == 'äöü€' and deph > > 3", "channel")
    assert raised.value.problems[0].place.column == 28


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depth > 3 " + " " * 500, "longer than 500 characters"),
        ("(" * 245 + "depth > 3" + ")" * 245, "cannot be read: too many nested parentheses"),
        ("not " * 120 + "depth > 3", "nested more than 25 levels deep"),
        ("-" * 480 + "depth > 3", "nested more than 25 levels deep"),
        ("depth > " + "+".join("1" * 40), "nested more than 25 levels deep"),
        (" or ".join(["depth>1"] * 40), "has 121 parts, and 100 is the limit; make two rules of it"),
        ("abs(" * 90 + "depth" + ")" * 90 + ">1", "nested more than 25 levels deep"),
    ],
)
def test_limits(compiled: Compile, text: str, message: str) -> None:
    """Length, parts and depth are bounded."""
    with pytest.raises(ExpressionError) as raised:
        compiled(text)
    assert raised.value.problems[0].message == message


@pytest.mark.parametrize(
    "text",
    [
        "not " * 23 + "depth > 3",
        "(" * 80 + "depth > 3" + ")" * 80,
        "depth > " + "(" * 20 + "1" + "+depth)" * 20,
        "depth > 1" + "".join(f" or (depth > {i} and (depth < 9" for i in range(9)) + "))" * 9,
        " and ".join(["depth>1"] * 33),
        "depth > " + "max(1, abs(" * 11 + "depth" + "))" * 11,
        "depth > " + "1/(" * 20 + "depth" + ")" * 20,
        "depth > " + "-" * 22 + "depth",
    ],
)
def test_what_the_limits_allow_compiles(compiled: Compile, context: Callable[..., object], text: str) -> None:
    """At the limits an expression still compiles, and is evaluated both ways alike."""
    expression = compiled(text)
    scene = context({"depth": 4})
    assert expression.truth(scene) is expression.explain(scene).truth  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("nan"), 10**400, -(10**5000), True, "5"],
    ids=["inf", "nan", "huge", "huger", "yes", "text"],
)
def test_parameters_are_finite_numbers(compiled: Compile, value: float) -> None:
    """A threshold that is no number is refused where it is used."""
    with pytest.raises(ExpressionError, match="the parameter limit is no number up to 1e18"):
        compiled("depth > limit", limit=value)


def test_a_value_is_a_number(kinds: Mapping[str, Kind]) -> None:
    """A calculation for a summary is checked as conditions are."""
    with pytest.raises(ExpressionError, match="expected a number, not a condition"):
        compile_value("depth > 3", kinds["queue"], kinds, {})
    with pytest.raises(ExpressionError, match="expected a number, not the state usage"):
        compile_value("usage", kinds["queue"], kinds, {})
