"""Console messages in conditions: open until another one comes, how often, and what they name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from mqvitals_rules.expression import Context, Expression, ExpressionError
from mqvitals_rules.history import ObjectMessage
from mqvitals_rules.vocabulary.metric import Absence

NOW = 1_700_000_000_000
MINUTE, DAY = 60_000, 86_400_000

Compiled = Callable[..., Expression]
MakeContext = Callable[..., Context]


def told(*each: tuple[int, str]) -> list[ObjectMessage]:
    """Messages so many ms before now."""
    return [ObjectMessage(NOW - ago, code) for ago, code in each]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (None, None),
        ([], False),
        (told((300 * DAY, "CSQJ004I")), True),
        (told((300 * DAY, "CSQJ004I"), (200 * DAY, "CSQJ005I")), False),
        (told((300 * DAY, "CSQJ005I"), (DAY, "CSQJ004I")), True),
        (told((DAY, "CSQJ004I"), (DAY, "CSQJ005I")), False),
        (told((DAY, "CSQJ004I"), (MINUTE, "CSQY022I")), False),
        (told((DAY, "CSQJ004I"), (2, "CSQY022I"), (1, "CSQJ004I")), True),
        (told((DAY, "CSQJ111A")), False),
    ],
)
def test_a_message_is_open_until_another_ends_it(
    compiled: Compiled, context: MakeContext, messages: Sequence[ObjectMessage] | None, expected: bool | None
) -> None:
    """Whatever the window; one that ends it at the same time ends it."""
    expression = compiled('open("CSQJ004I", "CSQJ005I", "CSQY022I")')
    found = expression.explain(context(told=messages))
    assert expression.truth(context(told=messages)) is found.truth is expected
    reasons = [(each.name, each.absence) for each in found.missing]
    assert reasons == ([(expression.text, Absence.NEEDS_CONSOLE)] if expected is None else [])
    assert expression.messages == {"CSQJ004I", "CSQJ005I", "CSQY022I"}


def test_how_often_a_message_came(compiled: Compiled, context: MakeContext) -> None:
    """All that were counted together count; a family counts together."""
    messages = [
        ObjectMessage(NOW - 11 * MINUTE, "CSQX777E", None, 500),
        ObjectMessage(NOW - 9 * MINUTE, "CSQX777E", None, 19),
        ObjectMessage(NOW - 8 * MINUTE, "CSQX776E"),
    ]
    known = context(told=messages)
    assert compiled('times("CSQX777E", "10m") >= 20').truth(known) is False
    assert compiled('times("CSQX776E", "CSQX777E", "10m") == 20').truth(known) is True
    assert compiled('times("CSQX777E", "12m") == 519').truth(known) is True
    assert compiled('times("CSQX513E", "12m") == 0').truth(known) is True
    assert compiled('times("CSQX777E", "10m") >= 20').filled(known) == 'times("CSQX777E", "10m") [19] >= 20'
    unknown = compiled('times("CSQX777E", "10m") == 0').explain(context())
    assert (unknown.truth, unknown.missing[0].absence) == (None, Absence.NEEDS_CONSOLE)


def test_seen_takes_several_ids(compiled: Compiled, context: MakeContext) -> None:
    known = context(told=told((2 * MINUTE, "CSQX776E")))
    assert compiled('seen("CSQX776E", "CSQX777E")').truth(known) is True
    assert compiled('seen("CSQX776E", "CSQX777E", "1m")').truth(known) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [("15", True), ("95", False), ("95.5", False), ("0", True), ("ab", None), ("0x1f", None), (" 5", None)],
)
def test_an_insert_of_the_newest_message(
    compiled: Compiled, context: MakeContext, text: str, expected: bool | None
) -> None:
    """It is a number where it is written as a decimal number, else nothing."""
    messages = [
        ObjectMessage(NOW - 90 * DAY, "CSQJ110E", None, 1, (("pct", "50"),)),
        ObjectMessage(NOW - 80 * DAY, "CSQJ110E", None, 1, (("pct", text), ("data_set", "DS1"))),
        ObjectMessage(NOW, "CSQJ111A", None, 1, (("pct", "50"),)),
    ]
    expression = compiled('latest("CSQJ110E", "pct") < 50')
    assert expression.truth(context(told=messages)) is expected
    assert expression.inserts == {("CSQJ110E", "pct")}
    missing = expression.explain(context(told=messages)).missing
    assert [each.absence for each in missing] == ([Absence.NOTHING_TO_TELL] if expected is None else [])
    assert compiled('latest_text("CSQJ110E", "data_set") == "DS1"').truth(context(told=messages)) is True
    assert compiled('latest_text("CSQJ110E", "pct") in ("95", "x")').truth(context(told=messages)) is (text == "95")


def test_no_insert_without_a_message_or_of_that_name(compiled: Compiled, context: MakeContext) -> None:
    for text in ('latest("CSQJ110E", "pct") < 50', 'latest_text("CSQJ110E", "pct") != "5"'):
        for messages, reason in (
            (None, Absence.NEEDS_CONSOLE),
            ([], Absence.NOTHING_TO_TELL),
            ([ObjectMessage(NOW, "CSQJ110E", None, 1, (("full", "5"),))], Absence.NOTHING_TO_TELL),
        ):
            found = compiled(text).explain(context(told=messages))
            assert (found.truth, found.missing[0].absence) == (None, reason)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('open("CSQJ004I")', 1, 'expected open("CSQJ004I", "CSQJ005I"): a message, and those that end it'),
        ('open("CSQJ004I", "CSQJ004I")', 6, "open is about a message and others that end it"),
        ('open("CSQJ004I", depth)', 18, 'expected the id of a console message: "CSQP020E"'),
        ('latest("CSQJ110E") < 5', 1, 'expected latest("CSQJ110E", "pct"): a message, and one of its inserts'),
        ('latest("CSQJ110E", pct) < 5', 20, 'expected the name of an insert, as in latest("CSQJ110E", "pct")'),
        ('latest_text("CSQJ110E", "pct") < 5', 1, "< compares numbers, not the text pct of CSQJ110E"),
        ('latest("CSQJ110E", "pct") == "5"', 1, "a number cannot equal the text '5'"),
        ("times() > 3", 1, 'expected times("CSQX777E", "10m")'),
        ('times("CSQX777E", 10) > 3', 19, 'expected a window written out, as in times("CSQX777E", "10m")'),
        ('times("CSQX777E", "10") > 3', 19, "'10' is no window: a duration needs a unit: 10s, 10m or 10h"),
        ('times("csqx777e") > 3', 7, "'csqx777e' is no id of a message of MQ on z/OS; did you mean 'CSQX777E'?"),
        ('times("CSQX777E", "10m")', 1, "expected a condition, not a number; compare it with something"),
        ('open("CSQJ004I", "CSQJ005I") > 3', 1, "expected a number, and open(...) is a condition"),
        ("unchanged()", 1, 'expected unchanged(metric, "5m")'),
        ("unchanged(3)", 11, 'expected the name of a metric: unchanged(metric, "5m")'),
        ("unchanged(priority)", 11, "priority is declared in the configuration and has no history"),
    ],
)
def test_what_is_no_question_about_messages(compiled: Compiled, text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compiled(text)
    (problem,) = raised.value.problems
    assert (problem.place.column, problem.message) == (column, message)


def test_a_counter_never_stays_what_it_is(compiled: Compiled) -> None:
    with pytest.raises(ExpressionError, match=r"write delta\(msgs\) == 0"):
        compiled("unchanged(msgs)", "channel")


@pytest.mark.parametrize(
    ("past", "expected"),
    [
        ([7, 7, 7, 7, 7, 7], True),
        ([3, 7, 7, 7, 7, 7], True),
        ([7, 3, 7, 7, 7, 7], False),
        ([7, 7, 7, 7, 7, 3], False),
        ([7, 7, None, 7, 7, 7], True),
        ([7, 7, None, None, 7, 7], None),
        ([7, 7, None, None, None, 3], False),
        ([7, 7], None),
        ([], None),
    ],
)
def test_unchanged_over_a_window(
    compiled: Compiled, context: MakeContext, past: list[float | None], expected: bool | None
) -> None:
    """Polls once a minute: one value in all of the window, which the polls cover; two values decide at once."""
    expression = compiled('unchanged(local_address, "5m")', "channel")
    known = context({"local_address": "A"}, {"local_address": past})
    found = expression.explain(known)
    assert expression.truth(known) is found.truth is expected
    assert [(each.name, each.absence) for each in found.missing] == (
        [("local_address", Absence.WINDOW)] if expected is None else []
    )


def test_unchanged_of_an_event(compiled: Compiled, context: MakeContext) -> None:
    """Event messages are asked for like those of a console."""
    known = context(told=told((MINUTE, "event:2283:8")))
    assert compiled('open("event:2283:8", "event:2282", "event:2283:7")').truth(known) is True
    assert compiled('seen("event:2283:8")').truth(known) is True
