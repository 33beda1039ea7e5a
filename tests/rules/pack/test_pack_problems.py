"""What is wrong with a rule file is said all at once, each mistake at its own line and column."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.problem import ConfigError, Problem
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.instant_context import InstantContext
from mqvitals_rules.ruleset.pack import decode_pack, decode_packs, load_rules, read_rules
from mqvitals_rules.ruleset.ruleset import doubts
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

GOOD = """\
rules:
  - id: MY-01
    title: A pool of ours
    kind: operational
    scope: buffer_pool
    parameters:
      limit_pct: {value: 30, unit: pct, origin: default, meaning: what we like}
    when: worst_free_pct <= limit_pct
    severity: warning
    summary: "buffer pool {name}: {worst_free_pct} free, we like {limit_pct}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Buffer pools}
"""


def problems_of(text: str) -> list[Problem]:
    _, problems = decode_packs([("ours.yaml", text)], KINDS)
    return sorted(problems)


def spots(text: str) -> list[tuple[int, int]]:
    return [(problem.place.line, problem.place.column) for problem in problems_of(text)]


def test_a_good_file_has_no_problems() -> None:
    """A small file is a rule with the usual hold and clear."""
    rules, problems = decode_packs([("ours.yaml", GOOD)], KINDS)
    assert problems == []
    assert [(str(rule.id), rule.topic, rule.hold.polls, rule.clear.polls, rule.about) for rule in rules] == [
        ("MY-01", "ours", 1, 3, "buffer_pool")
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("title: A pool of ours", "titel: A pool of ours", 3, 5, "unknown key; did you mean 'title'?"),
        ("kind: operational", "kind: operation", 4, 11, "did you mean 'operational'?"),
        ("scope: buffer_pool", "scope: bufferpool", 5, 12, "did you mean 'buffer_pool'?"),
        ("value: 30", "value: many", 7, 26, "expected a number"),
        ("origin: default", "origin: guess", 7, 49, "document and default"),
        ("limit_pct: {", "free_pct: {", 7, 7, "already the name of a metric"),
        ("limit_pct: {", "limit-pct: {", 7, 7, "cannot be the name of a parameter"),
        ("worst_free_pct <= limit_pct", "worst_fre_pct <= limit_pct", 8, 11, "did you mean 'worst_free_pct'?"),
        ("worst_free_pct <= limit_pct", "worst_free_pct <= limit", 8, 29, "did you mean 'limit_pct'?"),
        ("worst_free_pct <= limit_pct", "worst_free_pct", 8, 11, "expected a condition"),
        ("worst_free_pct <= limit_pct", "purpose <= limit_pct", 8, 11, "compares numbers"),
        ("worst_free_pct <= limit_pct", "channel.batchsz <= limit_pct", 8, 11, "no one channel that belongs to it"),
        ("severity: warning", "severity: 3", 9, 15, "info, warning and critical"),
        ("severity: warning", "severity: warning\n    hold: {polls: 2, for: 5m}", 10, 11, "either polls or for"),
        ("severity: warning", "severity: warning\n    hold: {for: 5}", 10, 17, "a duration"),
        (
            "severity: warning",
            "severity: warning\n    clear: {when: free_pct, polls: 2}",
            10,
            19,
            "expected a condition",
        ),
        ("severity: warning", "severity: warning\n    clear: {polls: 0}", 10, 12, "1 to 1000"),
        (
            "severity: warning",
            "severity: warning\n    severity_if: [{when: free_pc < 3, severity: info}]",
            10,
            26,
            "'free_pct'",
        ),
        ("severity: warning", "severity: warning\n    about: queue", 10, 12, "one object for each queue manager"),
        ("{worst_free_pct} free", "{worst_free} free", 10, 36, "no metric of buffer_pool"),
        ("{worst_free_pct} free", "{queue.depth} free", 10, 36, "no metric of buffer_pool"),
        ("caveat: None.", "caveat: no", 12, 13, "quote it"),
        ("source: {document: Our own handbook, section: Buffer pools}", "source: handbook", 13, 13, "a mapping"),
        ("    caveat: None.\n", "", 2, 5, "this key is missing"),
    ],
)
def test_mistake_is_told_at_its_place(old: str, new: str, line: int, column: int, words: str) -> None:
    """Each kind of mistake gives one sentence at the line and column where it stands."""
    assert old in GOOD
    found = problems_of(GOOD.replace(old, new, 1))
    assert [(problem.place.line, problem.place.column) for problem in found if words in problem.message] == [
        (line, column)
    ]


def test_every_mistake_at_once() -> None:
    """Mistakes of shape, of names and inside expressions are told together, in the order of the file."""
    text = GOOD.replace("kind: operational", "kind: operation").replace("worst_free_pct <=", "worst_fre_pct <=")
    text = text.replace("caveat: None.", "caveats: None.")
    second = GOOD.removeprefix("rules:\n").replace("MY-01", "MY-02").replace("scope: buffer_pool", "scope: pool")
    assert spots(text + second) == [(2, 5), (4, 11), (8, 11), (12, 5), (17, 12)]


def test_a_mistake_in_a_folded_expression_stands_on_its_own_line() -> None:
    """An expression over several lines keeps the places of its words."""
    text = GOOD.replace(
        "when: worst_free_pct <= limit_pct", "when: >-\n      worst_free_pct <= limit_pct\n      and free_pc < 3"
    )
    assert spots(text) == [(10, 11)]


def test_an_id_stands_once() -> None:
    """A second rule of an id is refused, and so is one of the shipped ids."""
    again = GOOD + GOOD.removeprefix("rules:\n")
    assert [(problem.place.line, problem.message) for problem in problems_of(again)] == [
        (14, "the rule MY-01 exists already, at ours.yaml:2:9")
    ]


def test_files_of_the_site_add_to_the_shipped_rules(tmp_path: Path) -> None:
    """A rule of the site's own stands beside the shipped ones; it cannot take the place of one; a missing file is a problem."""
    file = tmp_path / "ours.yaml"
    file.write_text(GOOD, "utf-8")
    assert "MY-01" in [str(rule.id) for rule in load_rules(KINDS, [str(file)])]
    file.write_text(GOOD.replace("MY-01", "BP-01"), "utf-8")
    _, problems = read_rules(KINDS, [str(file), str(tmp_path / "none.yaml")])
    assert sorted(problem.message for problem in problems) == [
        "cannot be read: No such file or directory",
        "the rule BP-01 exists already, at buffer_pools.yaml:4:9",
    ]
    with pytest.raises(ConfigError, match="exists already"):
        load_rules(KINDS, [str(file)])


def test_files_of_one_name_in_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are two files, also where the first is named without its folder; one file named twice has its rules twice."""
    monkeypatch.chdir(tmp_path)
    Path("ours.yaml").write_text(GOOD, "utf-8")
    Path("more").mkdir()
    Path("more/ours.yaml").write_text(GOOD.replace("MY-01", "MY-02"), "utf-8")
    rules, problems = read_rules(KINDS, ["ours.yaml", "more/ours.yaml"])
    assert not problems
    assert {"MY-01", "MY-02"} <= {str(rule.id) for rule in rules}
    _, problems = read_rules(KINDS, ["ours.yaml", "ours.yaml"])
    assert [problem.message for problem in problems] == ["the rule MY-01 exists already, at ours.yaml:2:9"]


def test_a_cause_must_be_a_rule(tmp_path: Path) -> None:
    """A rule of the shipped packs or of any other file; what is misspelt is told at its place."""
    ours = tmp_path / "ours.yaml"
    ours.write_text(GOOD + "    caused_by: [LOG-08, MY-02]\n", encoding="utf-8")
    others = tmp_path / "others.yaml"
    others.write_text(GOOD.replace("MY-01", "MY-02"), encoding="utf-8")
    assert read_rules(KINDS, [str(ours), str(others)])[1] == []
    (problem,) = read_rules(KINDS, [str(ours)])[1]
    assert (problem.place.line, problem.place.column) == (14, 25)
    assert problem.message == "there is no rule 'MY-02'; did you mean 'MY-01'?"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("hold: {polls: 3, of: 2}", "n of m polls"),
        ("hold: {for: 1m, of: 5}", "n of m polls"),
        ("hold: {polls: 3, of: 61}", "at most 60"),
        ("clear: {polls: 3, for: 1m}", "a clear is either polls or for"),
        ("clear: {for: 1m, records: 2}", "a clear is either polls or for"),
        ("plain_state: true", "a plain state has no parameters"),
        ("tier: X", "a tier is one of"),
        ("tier: P S", "a tier is one of"),
    ],
)
def test_what_cannot_be_held_cleared_or_sorted(written: str, words: str) -> None:
    (problem,) = problems_of(GOOD + f"    {written}\n")
    assert words in problem.message


def test_advice_ends_at_its_first_good_judgement() -> None:
    (rule,), _ = decode_packs([("ours.yaml", GOOD.replace("operational", "review"))], KINDS)
    assert rule.clear.polls == 1


def test_an_idle_comparison_is_doubted() -> None:
    """A comparison that a percentage can never fulfil is no mistake of form, but is told when a file is checked."""
    compiled: dict[str, CompiledRule] = {}
    _, problems = decode_packs([("ours.yaml", GOOD.replace("value: 30", "value: -1"))], KINDS, compiled)
    assert problems == []
    assert ["can never hold" in doubt.message for doubt in doubts(compiled.values())] == [True]


@pytest.mark.parametrize("divisor", ["0", "0.0", "-0", "limit_pct"])
def test_a_division_by_zero_is_doubted(divisor: str) -> None:
    """A literal zero, or a parameter that is zero, below the line can never be known: told at its place when a file is checked."""
    text = GOOD.replace("worst_free_pct <= limit_pct", f"total / {divisor} > 1").replace("value: 30", "value: 0")
    compiled: dict[str, CompiledRule] = {}
    _, problems = decode_packs([("ours.yaml", text)], KINDS, compiled)
    assert problems == []
    [doubt] = doubts(compiled.values())
    assert (doubt.place.line, doubt.place.column) == (8, 19)
    assert "divides by 0, so the result can never be known" in doubt.message


def test_another_command_under_a_condition() -> None:
    """The first case that holds gives the command; what is unknown leaves the usual one. Each is checked like other texts."""
    usual = GOOD + "    mqsc: DISPLAY USAGE PSID(*)\n"
    cases = "    mqsc_if: [{when: free_pct < 3, mqsc: 'DISPLAY USAGE PSID({name})'}]\n"
    [rule], problems = decode_packs([("ours.yaml", usual + cases)], KINDS)
    assert problems == []
    form = compile_rule(rule, KINDS)

    def command(free: Reported) -> str:
        return form.command(ObjectName("QM01", "buffer_pool", "7"), InstantContext(lambda _kind, _metric: free, 0))

    assert command(2) == "DISPLAY USAGE PSID(7)"
    assert command(4) == command(Absence.NO_ANSWER) == "DISPLAY USAGE PSID(*)"
    assert spots(usual + cases.replace("free_pct", "fre_pct").replace("{name}", "{nam}")) == [(15, 22), (15, 62)]
    [problem] = problems_of(GOOD + cases)
    assert "mqsc_if needs mqsc" in problem.message


words = st.sampled_from(
    [
        "rules:",
        "  - id: X",
        "    when: depth > 3",
        "    scope: queue",
        "    hold: {polls: 2}",
        "    clear:",
        "{",
        "- [",
        "&a *a",
        "    when: 'a",
        "x: !!t y",
        "",
    ]
)


@given(st.lists(words, max_size=12).map("\n".join) | st.text(max_size=60))
def test_no_text_breaks_the_decoder(text: str) -> None:
    """Whatever a file holds, it is decoded or told what is wrong; nothing is raised."""
    rules, problems = decode_pack("any.yaml", text, KINDS)
    assert rules or problems or "rules" in text
