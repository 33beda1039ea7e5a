"""The words of alerts and the commands beside them: figures for people, names as MQSC takes them."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.message_summary import end_words
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.ruleset.quantity import format_quantity, with_unit
from mqvitals_rules.ruleset.rule import Origin, RuleParameter
from mqvitals_rules.ruleset.template import Template, compile_advice, compile_template, mqsc_name
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import CHANNEL_STATUS, NO_LIMIT, Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS


def filled(text: str, name: str, *, mqsc: bool) -> str:
    located = LocatedText(text, Place("ours.yaml", 1, 1))
    template, problems = compile_template(located, KINDS["queue"], KINDS, {}, {}, mqsc=mqsc)
    assert problems == []
    return template.fill(ObjectName("QM01", "queue", name), lambda _kind, _metric: Absence.NOT_ASKED)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("APPL1.IN_OUT/50%", "APPL1.IN_OUT/50%"),
        ("Orders.in", "'Orders.in'"),
        ("O'BRIEN", "'O''BRIEN'"),
        ("A) ALL ALTER QL(B", "'A) ALL ALTER QL(B'"),
        ("É", "'É'"),
        ("", "''"),
    ],
)
def test_name_in_a_command(name: str, written: str) -> None:
    """A name that MQ would fold, or that would end early, is quoted in a command, and only there."""
    assert mqsc_name(name) == written
    assert filled("DISPLAY QSTATUS({name})", name, mqsc=True) == f"DISPLAY QSTATUS({written})"
    assert filled("queue {name}", name, mqsc=False) == f"queue {name}"


ADVICE = "END on {owner}: START CHANNEL({name}) after RESET of {xmitq}; wait {idle_s}; keep {this} and { }"


def advised(name: str, xmitq: Reported) -> str:
    parameters = {"idle_s": RuleParameter("idle_s", 300.0, "s", Origin.DEFAULT, "time without a get")}
    template = compile_advice(
        LocatedText(ADVICE, Place("ours.yaml", 1, 1)), KINDS["channel"], KINDS, parameters, {"idle_s": 600.0}
    )
    return template.fill(ObjectName("QM01", "channel", name), lambda _kind, _metric: xmitq)


def test_advice_names_the_object_and_leaves_other_braces() -> None:
    """Its commands can be typed as they stand; where a value is absent, one sees what to fill in; a site's braces stay."""
    assert advised("To.qm02", "QM02") == (
        "END on QM01: START CHANNEL('To.qm02') after RESET of QM02; wait 10 min; keep {this} and { }"
    )
    for value in (Absence.NOT_ASKED, "", "  "):
        assert "RESET of <xmitq>;" in advised("TO.QM02", value)


def test_no_braces_are_left_in_the_advice_of_a_shipped_rule() -> None:
    """Each names a metric, a threshold or the object."""
    for compiled in shipped():
        rule = compiled.rule
        text = compiled.advice.fill(ObjectName("QM01", rule.scope, "X"), lambda _kind, _metric: Absence.NOT_ASKED)
        assert not {"{", "}"} & set(text), (rule.id, text)


def commands_of(compiled: CompiledRule) -> list[Template]:
    return [*([] if compiled.mqsc is None else [compiled.mqsc]), *(template for _, template in compiled.mqsc_if)]


@cache
def shipped() -> tuple[CompiledRule, ...]:
    """The shipped rules, compiled."""
    return tuple(compile_rule(rule, KINDS) for rule in load_rules(KINDS))


@given(st.data())
def test_no_command_of_a_shipped_rule_has_an_absent_value_in_it(data: st.DataObject) -> None:
    """Whichever of its operands are absent, and why: a command is whole or left out, and advice has no word of an absence."""
    for compiled in shipped():
        rule = compiled.rule
        fields = sorted({pair for each in (*commands_of(compiled), compiled.advice) for pair in names_of(each)})
        if not fields:
            continue
        lacking = data.draw(st.sets(st.sampled_from(fields), min_size=1))
        absence = data.draw(st.sampled_from([*Absence, "", " "]))
        name = ObjectName("QM01", rule.scope, "X")

        def lookup(
            kind: str, metric: str, lacking: set[tuple[str, str]] = lacking, absence: Reported = absence
        ) -> Reported:
            return absence if (kind, metric) in lacking else "Some.value"

        for template in commands_of(compiled):
            text = template.fill(name, lookup)
            for mark in ("unknown (", "()", "( )", "<"):
                assert mark not in text, (rule.id, text)
            if names_of(template) and set(names_of(template)) <= lacking:
                assert text == "", rule.id
        advice = compiled.advice.fill(name, lookup)
        assert "unknown (" not in advice, (rule.id, advice)
        for _, metric in lacking & set(names_of(compiled.advice)):
            assert f"<{metric}>" in advice, (rule.id, advice)


def names_of(template: Template) -> list[tuple[str, str]]:
    return [(kind, metric.name) for kind, metric in template.metrics]


def test_a_rule_without_a_whole_command_has_none() -> None:
    """The case that fits is left out for the usual command when only that one is whole."""
    compiled = next(each for each in shipped() if each.id == "OPS-261")
    name = ObjectName("QM01", "queue", "ORDERS")

    def command(copies: Reported) -> str:
        return compiled.command(name, InstantContext(lambda _kind, _metric: copies, 0, name.name))

    assert command("COPIES") == "DISPLAY QLOCAL(COPIES) CURDEPTH MAXDEPTH PUT"
    assert command("Copies.of") == "DISPLAY QLOCAL('Copies.of') CURDEPTH MAXDEPTH PUT"
    assert command(Absence.STALE) == command("") == ""


def test_quotes_around_a_name_in_a_command_are_refused() -> None:
    """They would be doubled."""
    text = LocatedText("DISPLAY QSTATUS('{name}')", Place("ours.yaml", 3, 5))
    _, [problem] = compile_template(text, KINDS["queue"], KINDS, {}, {}, mqsc=True)
    assert (problem.place.line, problem.place.column) == (3, 22)
    assert "without quotes" in problem.message


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (999, "us", "999 us"),
        (1_000, "us", "1 ms"),
        (4_579, "us", "4.6 ms"),
        (87_312, "us", "87.3 ms"),
        (88_626.4, "us", "88.6 ms"),
        (43_000, "messages", "43000 messages"),
        (93.0832, "pct", "93.08 %"),
        (2059, "number", "2059"),
        (599, "s", "599 s"),
        (980, "s", "16.3 min"),
        (7_199, "s", "120 min"),
        (9_800, "s", "2.7 hours"),
        (172_799, "s", "48 hours"),
        (6_155.24, "MB", "6 GiB"),
        (999.5, "MB", "999.5 MB"),
        (2_592_000, "s", "30 days"),
        (1_080_000.5, "s", "12.5 days"),
        (1_048_575, "bytes", "1048575 bytes"),
        (5 * 1024**3, "bytes", "5 GiB"),
        (1_610_612_736, "bytes", "1.5 GiB"),
    ],
)
def test_figures_for_people(value: float, unit: str, text: str) -> None:
    """Times and sizes have a unit in which they are short; counts keep their digits, as MQ's own displays show them."""
    assert format_quantity(value, unit) == text


@pytest.mark.parametrize(("text", "column"), [("{depth", 1), ("depth} {name}", 6), ("{name} {{depth}}", 8)])
def test_a_brace_alone_is_refused(text: str, column: int) -> None:
    """A field that is not closed, or not opened, is told where its brace stands, and not written out as it is."""
    located = LocatedText(text, Place("ours.yaml", 1, 1))
    _, problems = compile_template(located, KINDS["queue"], KINDS, {}, {})
    assert problems[0].place.column == column
    assert "alone" in problems[0].message


def test_a_threshold_keeps_its_unit() -> None:
    """What a file writes in microseconds is listed so."""
    assert with_unit(20_000, "us") == "20000 us"


def test_no_summary_tells_of_a_moment_that_passes() -> None:
    """An alert stays open after the rise or the moment that raised it: its words must hold as long."""
    for rule in load_rules(KINDS):
        words = rule.summary.lower().replace("(", " ").replace(":", " ").split()
        assert not {"rising", "now", "growing", "usually"} & set(words), rule.id


def channel_text(text: str, values: dict[str, Reported]) -> str:
    template, problems = compile_template(LocatedText(text, Place("ours.yaml", 1, 1)), KINDS["channel"], KINDS, {}, {})
    assert problems == []
    return template.fill(
        ObjectName("QM01", "channel", "C"), lambda _kind, name: values.get(name, Absence.NOT_COLLECTED)
    )


def test_the_first_metric_that_has_a_value() -> None:
    """Of several in one pair of braces the first that is there is shown; without any, why the first is absent."""
    text = "{xbatchsz_short|msgs_per_batch|batchsz}"
    assert channel_text(text, {"xbatchsz_short": 3, "msgs_per_batch": 4.5}) == "3 messages"
    assert channel_text(text, {"msgs_per_batch": 4.5, "batchsz": 50}) == "4.5 messages"
    assert channel_text(text, {"batchsz": 50}) == "50 messages"
    assert channel_text(text, {}) == "unknown (not collected)"


@pytest.mark.parametrize(
    "field", ["xbatchsz_short|nothing", "nothing|xbatchsz_short", "queue.depth|batchsz", "batchsz|"]
)
def test_every_metric_of_a_choice_is_checked(field: str) -> None:
    """All of them must be metrics of the object itself."""
    located = LocatedText(f"{{{field}}}", Place("ours.yaml", 1, 1))
    _, [problem] = compile_template(located, KINDS["channel"], KINDS, {}, {})
    assert "is no metric of channel" in problem.message


def pool_words(text: str, **values: Reported) -> str:
    located = LocatedText(text, Place("ours.yaml", 1, 1))
    template, problems = compile_template(located, KINDS["buffer_pool"], KINDS, {}, {})
    assert problems == []
    return template.fill(ObjectName("QM01", "buffer_pool", "3"), lambda _, metric: values[metric])


@pytest.mark.parametrize(
    ("free", "words"),
    [
        (4, "pool 3: 4 % free, few"),
        (34, "pool 3: 4 % free at the lowest, 34 % now, few"),
        (Absence.NO_ANSWER, "pool 3: 4 % free, few"),
    ],
)
def test_an_aside_is_shown_where_it_says_something_new(free: Reported, words: str) -> None:
    """The same figure is not said twice, and an absent one is not said aside."""
    text = "pool {name}: {worst_free_pct} free[[ at the lowest, {free_pct} now]], few"
    assert pool_words(text, worst_free_pct=4, free_pct=free) == words
    assert pool_words("[{free_pct}] [ok]", free_pct=4) == "[4 %] [ok]"


@pytest.mark.parametrize(
    ("text", "column"), [("a [[ {free_pct}", 3), ("a ]] {free_pct}", 3), ("[[ {free_pct} [[ b ]]", 15)]
)
def test_an_aside_out_of_place_is_refused(text: str, column: int) -> None:
    """With its place."""
    _, problems = compile_template(LocatedText(text, Place("ours.yaml", 1, 1)), KINDS["buffer_pool"], KINDS, {}, {})
    assert column in [problem.place.column for problem in problems]
    assert all("aside" in problem.message for problem in problems)


SERVED = "queue {name}: {any channel: <name> is <status>, <xmitq_msgs> wait|no channel serves it}"
STATUSES = {name: float(number) for name, number in CHANNEL_STATUS.items()}


def served(owner: str, members: list[tuple[ObjectName, dict[str, Reported]]] | Absence) -> str:
    template, problems = compile_template(LocatedText(SERVED, Place("ours.yaml", 1, 1)), KINDS["queue"], KINDS, {}, {})
    assert problems == []
    return template.fill(ObjectName(owner, "queue", "X"), lambda *_: Absence.NOT_ASKED, lambda _: members)


def a_channel(owner: str, name: str, status: str) -> tuple[ObjectName, dict[str, Reported]]:
    return ObjectName(owner, "channel", name), {"status": STATUSES[status], "xmitq_msgs": 3}


def test_members_are_named_with_their_metrics() -> None:
    """In the order of their names; of a shared object with the queue manager; a value that is absent says why."""
    one = a_channel("QM01", "TO.B", "STOPPED")
    assert served("QM01", [one]) == "queue X: TO.B is STOPPED, 3 messages wait"
    assert served("PRDQ", [one]) == "queue X: TO.B of QM01 is STOPPED, 3 messages wait"
    other: tuple[ObjectName, dict[str, Reported]]
    other = ObjectName("QM01", "channel", "TO.A"), {"status": Absence.NO_ANSWER}
    assert served("QM01", [one, other]) == served("QM01", [other, one])
    assert served("QM01", [one, other]).startswith("queue X: TO.A is unknown (no answer), unknown (not asked) wait, TO")


def test_members_that_fulfil_a_condition_and_their_owners() -> None:
    """``if`` leaves members out: those for which the condition is false, or not known; ``<owner>`` is the queue manager."""
    text = "data set {name}: down on {any smds_connection if status == DATAFAIL or avail == ERROR: <owner> (<status>)|none}"
    located = LocatedText(text, Place("ours.yaml", 1, 1))
    template, problems = compile_template(located, KINDS["smds"], KINDS, {}, {})
    assert problems == []
    states: list[tuple[str, dict[str, Reported]]] = [
        ("QM03", {"status": 8.0, "avail": 0.0}),
        ("QM01", {"status": 0.0, "avail": 1.0}),
        ("QM02", {"status": 3.0, "avail": 0.0}),
        ("QM04", {"status": Absence.NO_ANSWER, "avail": Absence.NO_ANSWER}),
    ]
    members = [(ObjectName(owner, "smds_connection", "A/QM02"), values) for owner, values in states]
    of = ObjectName("PRDQ", "smds", "A/QM02")
    filled = template.fill(of, lambda *_: Absence.NOT_ASKED, lambda _: members)
    assert filled == "data set A/QM02: down on QM01 (CLOSED), QM03 (DATAFAIL)"
    filled = template.fill(of, lambda *_: Absence.NOT_ASKED, lambda _: members[2:])
    assert filled == "data set A/QM02: down on none"


def test_a_text_without_members_and_with_many() -> None:
    """The words for none, a reason where they are not known, and a number beyond three."""
    assert served("QM01", []) == "queue X: no channel serves it"
    assert served("QM01", Absence.NOT_ASKED) == "queue X: channel unknown (not asked)"
    many = [a_channel("QM01", f"TO.{place}", "BINDING") for place in range(7)]
    assert served("QM01", many).endswith("TO.2 is BINDING, 3 messages wait, 4 more")


@pytest.mark.parametrize(
    "field",
    [
        "any channel: <nmae>|none",
        "any chanel: <name>|none",
        "any channel: <name>",
        "any log: <name>|none",
        "any channel if stauts == RUNNING: <name>|none",
        "any channel if max(xmitq_msgs, '5m') > 3: <name>|none",
        "any channel if queue.depth > 3: <name>|none",
    ],
)
def test_members_are_checked(field: str) -> None:
    """The kind must have members here, and the metrics be theirs; in a command there are none."""
    located = LocatedText(f"{{{field}}}", Place("ours.yaml", 1, 1))
    _, [problem] = compile_template(located, KINDS["queue"], KINDS, {}, {})
    assert "shows no members of a queue" in problem.message
    _, [problem] = compile_template(
        LocatedText(SERVED, Place("ours.yaml", 1, 1)), KINDS["queue"], KINDS, {}, {}, mqsc=True
    )
    assert "shows no members" in problem.message


def test_the_figure_of_each_shipped_rule_is_one_of_its_conditions() -> None:
    """It stands in the summary; for pools a low one is bad, for page sets a high one."""
    figures = {}
    for form in shipped():
        if form.figure is not None:
            key = (form.figure.kind, form.figure.metric.name)
            assert key in form.when.names
            assert key in [(kind, metric.name) for kind, metric in form.summary.metrics]
            figures[form.id] = (form.figure.metric.name, form.figure.low_is_bad)
    assert {figures[rule] for rule in ("BP-01", "BP-02", "BP-03")} == {("worst_free_pct", True)}
    assert figures["PS-01"] == ("used_pct", False)


@pytest.mark.parametrize(
    ("depth", "words"),
    [
        (1, "queue X: 1 message waits"),
        (1.0, "queue X: 1 message waits"),
        (0, "queue X: 0 messages wait"),
        (2, "queue X: 2 messages wait"),
        (Absence.NOT_ASKED, "queue X: unknown (not asked) wait"),
    ],
)
def test_words_agree_with_the_number_before_them(depth: Reported, words: str) -> None:
    """Units by themselves, other words where the text gives one for 1 and one for the rest."""
    text = LocatedText("queue {name}: {depth} {one depth: waits|wait}", Place("ours.yaml", 1, 1))
    template, problems = compile_template(text, KINDS["queue"], KINDS, {}, {})
    assert problems == []
    assert template.fill(ObjectName("QM01", "queue", "X"), lambda _kind, _metric: depth) == words
    assert {metric.name for _, metric in template.metrics} == {"depth"}


def test_words_agree_with_what_a_message_names() -> None:
    """Also within an aside, which they do not make worth showing."""
    text = LocatedText("log[[ after {CSQJ161I.offloads} {one CSQJ161I.offloads: offload|offloads}]]", Place("x", 1, 1))
    template, problems = compile_template(text, KINDS["log"], KINDS, {}, {})
    assert problems == []
    name = ObjectName("QM01", "log")

    def shown(offloads: str | None) -> str:
        return template.fill(name, lambda *_: Absence.NOT_ASKED, inserts=lambda *_: offloads)

    assert [shown(each) for each in ("1", "3", None)] == ["log after 1 offload", "log after 3 offloads", "log"]
    assert template.inserts == {("CSQJ161I", "offloads")}


@pytest.mark.parametrize("field", ["one deph: waits|wait", "one depth: waits", "one depth waits|wait"])
def test_words_that_agree_with_nothing_are_refused(field: str) -> None:
    text = LocatedText(f"queue {{{field}}}", Place("ours.yaml", 3, 5))
    _, [problem] = compile_template(text, KINDS["queue"], KINDS, {}, {})
    assert "agrees with no number of a queue: write {one METRIC: WORD FOR ONE|WORD FOR MORE}" in problem.message
    assert problem.place.column == 12


@pytest.mark.parametrize(
    ("unit", "text"),
    [("messages", "1 message"), ("pages", "1 page"), ("days", "1 day"), ("us", "1 us"), ("MB/s", "1 MB/s")],
)
def test_one_of_a_unit(unit: str, text: str) -> None:
    assert with_unit(1.0, unit) == text


@pytest.mark.parametrize(
    ("depth", "most", "words"),
    [
        (209_832, 240_000, "209832 of at most 240000 messages"),
        (1, 5_000, "1 of at most 5000 messages"),
        (Absence.STALE, 5_000, "unknown (stale) of at most 5000 messages"),
        (Absence.STALE, Absence.STALE, "unknown (stale) of at most unknown (stale)"),
        (7, Absence.STALE, "7 messages of at most unknown (stale)"),
        (7, NO_LIMIT, "7 messages of at most no limit"),
    ],
)
def test_a_figure_beside_its_limit_has_one_unit(depth: Reported, most: Reported, words: str) -> None:
    """The unit stands once, behind the limit; where one of the two is absent each says what it is."""
    located = LocatedText("{depth} of at most {max_depth}", Place("ours.yaml", 1, 1))
    template, problems = compile_template(located, KINDS["queue"], KINDS, {}, {})
    assert problems == []
    values = {"depth": depth, "max_depth": most}
    assert template.fill(ObjectName("QM01", "queue", "X"), lambda _kind, metric: values[metric]) == words


def test_a_record_s_figure_says_when_its_interval_ended() -> None:
    """Only a metric that records have can be named so."""
    located = LocatedText("{low_pct} until {end of low_pct}", Place("ours.yaml", 1, 1))
    template, problems = compile_template(located, KINDS["buffer_pool"], KINDS, {}, {})
    assert problems == []
    pool = ObjectName("QM01", "buffer_pool", "3")
    assert template.fill(pool, lambda *_: 4, ends=lambda metric: f"the end of {metric}") == (
        "4 % until the end of low_pct"
    )
    assert template.fill(pool, lambda *_: 4) == "4 % until unknown"
    other = LocatedText("{end of purpose}", Place("ours.yaml", 1, 1))
    _, [problem] = compile_template(other, KINDS["buffer_pool"], KINDS, {}, {})
    assert "is in no record of a buffer_pool" in problem.message
    now = 1_795_176_590_000
    assert [end_words(now - ago, now) for ago in (0, 86_400_000)] == ["12:09 UTC", "2026-11-19 12:09 UTC"]
    assert end_words(None, now) == ""
