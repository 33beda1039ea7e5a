"""The notation in which tests of rules are written, and what a test says when it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.testing import decode_tests, run_tests
from mqvitals_rules.testing.cases import parse_series
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS, metric

RULES = load_rule_config(Settings()).rules

TEXT = """\
tests:
  - name: A pool sinks
    interval: 10s
    facts:
      buffer_pools: [{objects: "*/buffer_pool/5", purpose: short_lived}]
    series:
      QM01/buffer_pool/5: {total: 50000, low_pct: 25 18 18 60+5x10 _ stale}
      QM01/channel/TO.QM02: {status: RUNNING, type: SDR, short_left: 10}
    expect:
      - at: 20s
        firing: [{rule: BP-01, object: QM01/buffer_pool/5, severity: warning}]
        not_firing: [BP-02]
        unknown: [CHL-07]
"""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 2.5 -3", (1, 2.5, -3)),
        ("60+5x3", (60, 65, 70, 75)),
        ("60-5x2", (60, 55, 50)),
        ("4x2", (4, 4, 4)),
        ("_ stale _x1", (Absence.NO_ANSWER, Absence.STALE, Absence.NO_ANSWER, Absence.NO_ANSWER)),
        ("needs_smf not_collected", (Absence.NEEDS_SMF, Absence.NOT_COLLECTED)),
    ],
)
def test_series_of_numbers(text: str, values: tuple[Reported, ...]) -> None:
    """Numbers, steps, repetitions and absences are read as they are meant."""
    assert parse_series(text, metric("queue", "depth")) == values


def test_series_of_states_and_texts() -> None:
    """States are written by their names, texts as they are."""
    assert parse_series("RUNNING RETRYINGx1 5 inactive", metric("channel", "status")) == (3, 5, 5, 5, Absence.INACTIVE)
    assert parse_series("QM02 _", metric("channel", "xmitq")) == ("QM02", Absence.NO_ANSWER)


@pytest.mark.parametrize("text", ["", "x3", "five", "5x", "1e3", "4x99999", "RUNNING"])
def test_series_that_is_none(text: str) -> None:
    """What is no series is refused with a sentence."""
    with pytest.raises(ValueError, match=r"expected|needs at least|more than"):
        parse_series(text, metric("queue", "depth"))


def test_a_test_that_holds() -> None:
    """The example of the documentation holds."""
    assert run_tests("t.yaml", TEXT, RULES) == []


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        (
            "at: 20s",
            "at: 0s",
            "t.yaml:11:25: A pool sinks, after 0s: expected BP-01 firing on QM01/buffer_pool/5, but it is not firing; QM01/buffer_pool/5: ",
        ),
        (
            "severity: warning}]",
            "severity: critical}]",
            "expected BP-01 on QM01/buffer_pool/5 to be critical, but it is warning",
        ),
        (
            "firing: [{rule: BP-01, object: QM01/buffer_pool/5, severity: warning}]",
            "firing: []",
            "t.yaml:10:13: A pool sinks, after 20s: expected nothing firing, but BP-01 on QM01/buffer_pool/5 is firing (",
        ),
        (
            "firing: [{rule: BP-01, object: QM01/buffer_pool/5, severity: warning}]",
            "firing: [{rule: CHL-14}]",
            "expected CHL-14 firing, but it is not firing; QM01/channel/TO.QM02: ",
        ),
        (
            "not_firing: [BP-02]",
            "not_firing: [BP-01]",
            "expected BP-01 not firing, but BP-01 on QM01/buffer_pool/5 is firing",
        ),
        (
            "unknown: [CHL-07]",
            "unknown: [PS-01]",
            "expected PS-01 unknown for some object, but it is known for all; it evaluates none",
        ),
        (
            "unknown: [CHL-07]",
            "known: [CHL-07]",
            "expected CHL-07 known for all objects, but it is unknown for some; QM01/channel",
        ),
    ],
)
def test_a_test_that_fails(old: str, new: str, failure: str) -> None:
    """An expectation that does not hold is one sentence: the test, the moment, what should be and what is."""
    failures = run_tests("t.yaml", TEXT.replace(old, new, 1), RULES)
    assert [failure in str(sentence) for sentence in failures] == [True]


OTHERS = """\
{head}tests:
  - name: Two pools sink
    interval: 10s
    {test}series:
      QM01/buffer_pool/5: {{free_pct: 60 4}}
      QM01/buffer_pool/6: {{free_pct: 60 4}}
    expect:
      - {{at: 0s, {expect}firing: []}}
      - {{at: 10s, {expect}firing: [{{rule: BP-03, object: QM01/buffer_pool/5}}]}}
"""


def test_what_is_not_named_is_not_judged() -> None:
    """Another alert that fires is no failure."""
    assert run_tests("t.yaml", OTHERS.format(head="", test="", expect=""), RULES) == []


@pytest.mark.parametrize("where", ["head", "test", "expect"])
def test_what_is_exact_names_everything(where: str) -> None:
    """In the expectation, the test or the file: then every alert must be named."""
    ends = {"head": "\n", "test": "\n    ", "expect": ", "}
    words = {key: f"exact: true{end}" if key == where else "" for key, end in ends.items()}
    (failure,) = run_tests("t.yaml", OTHERS.format(**words), RULES)
    assert failure.expected == "nothing else firing"
    assert failure.actual.startswith("BP-03 on QM01/buffer_pool/6 is firing")
    assert "free_pct" in failure.why


def test_the_nearest_word_on_exactness_counts() -> None:
    """An expectation that says so is not exact in a file that is."""
    text = OTHERS.format(head="exact: true\n", test="", expect="exact: false, ")
    assert run_tests("t.yaml", text, RULES) == []


def test_an_expectation_that_expects_nothing() -> None:
    """It would pass whatever happens: a mistake."""
    text = OTHERS.format(head="", test="", expect="").replace("firing: []", "exact: true")
    with pytest.raises(ConfigError, match="this expects nothing"):
        run_tests("t.yaml", text, RULES)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("QM01/buffer_pool/5: {total", "QM01/bufferpool/5: {total", "did you mean 'buffer_pool'?"),
        ("QM01/buffer_pool/5: {total", "QM01/buffer_pool: {total", "owner/buffer_pool/name"),
        ("total: 50000", "totl: 50000", "did you mean 'total'?"),
        ("low_pct: 25", "low_pct: x25", "is no value of low_pct"),
        ("rule: BP-01", "rule: BP-91", "there is no rule 'BP-91'"),
        ("purpose: short_lived", "purpose: short", "is no purpose of a buffer_pool"),
        ("at: 20s", "at: 25s", "multiples of the interval"),
        ("interval: 10s", "interval: 0s", "longer than 0s"),
        ("at: 20s", "at: soon", "expected"),
        ("interval: 10s", "intervall: 10s", "did you mean 'interval'?"),
    ],
)
def test_a_test_file_with_a_mistake(old: str, new: str, words: str) -> None:
    """Mistakes in a test file are told like those in any other."""
    with pytest.raises(ConfigError) as caught:
        decode_tests("t.yaml", TEXT.replace(old, new, 1), RULES)
    assert any(words in problem.message for problem in caught.value.problems)


RECORDS = """\
tests:
  - name: Values and where they come from
    interval: 30m{records}
    facts:
      buffer_pools: [{{objects: "*/buffer_pool/*", purpose: short_lived}}]
    series:
      QM01/buffer_pool/5: {{free_pct: 60 4 60, low_pct: {low}}}
    expect:
      - {{at: 0s, firing: []}}
      - {{at: 30m, firing: [{{rule: BP-03, object: QM01/buffer_pool/5}}]}}
      - {{at: 1h, firing: [{firing}]}}
"""
STILL = "{rule: BP-03, object: QM01/buffer_pool/5}"


@pytest.mark.parametrize(
    ("records", "low", "firing"),
    [
        ("", "_", STILL),  # polls: three good ones end it
        ("", "50 4 50", STILL),
        ("\n    records: true", "50", STILL),  # records: two good ones
    ],
)
def test_what_only_smf_tells_comes_as_a_record(records: str, low: str, firing: str) -> None:
    """A pool that is polled, with and without records, and one that only records tell."""
    assert run_tests("own.test.yaml", RECORDS.format(records=records, low=low, firing=firing), RULES) == []


def test_where_no_record_came_nothing_is_told() -> None:
    """A blank in a series of what SMF tells is no record: what the record before told is believed for a time."""
    text = """\
tests:
  - name: A record and then none
    interval: 30m
    series:
      QM01/log: {wtb: 1 _x9, pagein: 0 _x9}
      QM02/log: {wtb: needs_smf, pagein: needs_smf, full_logs: 1}
    expect:
      - {at: 2h, firing: [{rule: LOG-02, object: QM01/log}], unknown: [LOG-02]}
"""
    assert run_tests("own.test.yaml", text, RULES) == []


CONSOLE = """\
rules:
  - id: OWN-01
    title: A message came
    kind: operational
    scope: buffer_pool
    when: seen("CSQP020E", "1m")
    severity: warning
    summary: "{name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Messages}
  - id: OWN-02
    title: What follows from it
    kind: operational
    scope: buffer_pool
    when: free_pct < 90
    caused_by: [OWN-01]
    severity: info
    summary: "{name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Messages}
"""

CONSOLE_TESTS = """\
tests:
  - name: The console speaks of pool 3
    interval: 30s
    console:
      QM01: [{at: 45s, id: CSQP020E, object: QM01/buffer_pool/3}, {at: 45s, id: CSQP019I}]
      QM02: []
    series:
      QM01/buffer_pool/3: {free_pct: 80}
      QM01/buffer_pool/4: {free_pct: 80}
      QM02/buffer_pool/3: {free_pct: 80}
      QM03/buffer_pool/3: {free_pct: 80}
    expect:
      - {at: 30s, not_firing: [OWN-01], unknown: [OWN-01]}
      - at: 1m
        exact: true
        firing:
          - {rule: OWN-01, object: QM01/buffer_pool/3}
          - {rule: OWN-02, object: QM01/buffer_pool/3, cause: OWN-01}
          - {rule: OWN-02, object: QM01/buffer_pool/4}
          - {rule: OWN-02, object: QM02/buffer_pool/3}
          - {rule: OWN-02, object: QM03/buffer_pool/3}
"""


@pytest.fixture(scope="module")
def with_console(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Rules about console messages."""
    path = tmp_path_factory.mktemp("rules") / "own.yaml"
    path.write_text(CONSOLE)
    rules = [rule for rule in load_rules(KINDS, [str(path)]) if rule.id.startswith("OWN")]
    return RuleSet(tuple(rules), KINDS)


def test_messages_of_a_console(with_console: RuleSet) -> None:
    """They come at their time; a console that says nothing is followed all the same, one that is not named is not."""
    assert run_tests("own.test.yaml", CONSOLE_TESTS, with_console) == []
    without = CONSOLE_TESTS.replace("      QM03/buffer_pool/3: {free_pct: 80}\n", "").replace(
        "          - {rule: OWN-02, object: QM03/buffer_pool/3}\n", ""
    )
    (failure,) = run_tests("own.test.yaml", without, with_console)
    assert failure.expected == "OWN-01 unknown for some object"


LASTING = """\
rules:
  - id: OWN-01
    title: A structure fills
    kind: operational
    scope: cf_structure
    when: open("CSQE213I", "CSQE239I", "CSQE121I")
    severity: info
    severity_if:
      - when: latest_text("CSQE213I", "dsname") == "DS2"
        severity: critical
      - when: latest("CSQE213I", "pct") >= 85 or times("CSQE213I", "1h") >= limit
        severity: warning
    hold: {polls: 1}
    clear: {polls: 1}
    parameters:
      limit: {value: 3, unit: count, origin: default, meaning: So many are too many}
    summary: "{name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Messages}
  - id: OWN-02
    title: In doubt on the same batch
    kind: operational
    scope: channel
    when: indoubt == YES and unchanged(current_luwid, "2m")
    severity: warning
    hold: {polls: 1}
    clear: {polls: 1}
    summary: "{name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Messages}
"""

LASTING_TESTS = """\
exact: true
tests:
  - name: A message lasts until another ends it, and says how much
    interval: 1h
    console:
      QM01:
        - {at: 30m, id: CSQE213I, object: QSG1/cf_structure/A, inserts: {pct: 75, dsname: DS1}}
        - {at: 300h, id: CSQE121I, object: QSG1/cf_structure/A}
      QM02:
        - {at: 150m, id: CSQE213I, object: QSG1/cf_structure/B, inserts: {pct: 85, dsname: DS1}}
        - {at: 151m, id: CSQE213I, object: QSG1/cf_structure/C, inserts: {pct: 75, dsname: DS1}, times: 3}
        - {at: 153m, id: CSQE213I, object: QSG1/cf_structure/D, inserts: {pct: 75, dsname: DS2}}
    series:
      QM01/queue_manager: {command_level: 920}
      QM02/queue_manager: {command_level: 920}
      QSG1/cf_structure/A: {entries_used: 1}
      QSG1/cf_structure/B: {entries_used: 1}
      QSG1/cf_structure/C: {entries_used: 1}
      QSG1/cf_structure/D: {entries_used: 1}
    expect:
      - {at: 0h, firing: []}
      - {at: 1h, firing: [{rule: OWN-01, object: QSG1/cf_structure/A, severity: info}]}
      - at: 3h
        firing:
          - {rule: OWN-01, object: QSG1/cf_structure/A, severity: info}
          - {rule: OWN-01, object: QSG1/cf_structure/B, severity: warning}
          - {rule: OWN-01, object: QSG1/cf_structure/C, severity: warning}
          - {rule: OWN-01, object: QSG1/cf_structure/D, severity: critical}
      - at: 299h
        firing:
          - {rule: OWN-01, object: QSG1/cf_structure/A, severity: info}
          - {rule: OWN-01, object: QSG1/cf_structure/B, severity: warning}
          - {rule: OWN-01, object: QSG1/cf_structure/C}
          - {rule: OWN-01, object: QSG1/cf_structure/D, severity: critical}
      - {at: 300h, not_firing: [], firing: [{rule: OWN-01, object: QSG1/cf_structure/B}, {rule: OWN-01, object: QSG1/cf_structure/C}, {rule: OWN-01, object: QSG1/cf_structure/D}]}
  - name: A text stays what it is, or does not
    interval: 30s
    series:
      QM01/channel/A: {indoubt: YESx9, current_luwid: AA}
      QM01/channel/B: {indoubt: YESx9, current_luwid: AA AB AC AD AE AF AG AH AI AJ}
      QM01/channel/C: {indoubt: YESx9, current_luwid: AA AA AA AA AA AB}
      QM01/channel/D: {indoubt: YESx9, current_luwid: "''"}
    expect:
      - {at: 90s, firing: [], unknown: [OWN-02]}
      - at: 2m
        firing:
          - {rule: OWN-02, object: QM01/channel/A}
          - {rule: OWN-02, object: QM01/channel/C}
          - {rule: OWN-02, object: QM01/channel/D}
      - at: 3m
        firing:
          - {rule: OWN-02, object: QM01/channel/A}
          - {rule: OWN-02, object: QM01/channel/D}
"""


def test_messages_that_last_and_texts_that_stay(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(LASTING)
    rules = [rule for rule in load_rules(KINDS, [str(path)]) if rule.id.startswith("OWN")]
    assert run_tests("own.test.yaml", LASTING_TESTS, RuleSet(tuple(rules), KINDS)) == []
    with pytest.raises(ConfigError, match="times must be 1 to 10000"):
        run_tests("own.test.yaml", LASTING_TESTS.replace("times: 3", "times: 0"), RuleSet(tuple(rules), KINDS))


def test_an_alert_that_another_one_explains(with_console: RuleSet) -> None:
    """A cause that is not the one is told."""
    text = CONSOLE_TESTS.replace(
        "{rule: OWN-02, object: QM01/buffer_pool/4}", "{rule: OWN-02, object: QM01/buffer_pool/4, cause: OWN-01}"
    )
    (failure,) = run_tests("own.test.yaml", text, with_console)
    assert failure.expected == "OWN-02 on QM01/buffer_pool/4 to be explained by OWN-01"
    assert failure.actual == "it is explained by nothing"
    assert failure.why == "no object that OWN-01 fires about is known to belong to QM01/buffer_pool/4"


def test_why_an_alert_is_not_explained(with_console: RuleSet) -> None:
    """The rule names no such cause; and of an object that no series tells of, that is said."""
    wrong = CONSOLE_TESTS.replace(
        "{rule: OWN-01, object: QM01/buffer_pool/3}", "{rule: OWN-01, object: QM01/buffer_pool/3, cause: OWN-02}"
    )
    (failure,) = run_tests("own.test.yaml", wrong, with_console)
    assert failure.why == "OWN-01 does not name OWN-02 under caused_by"
    absent = CONSOLE_TESTS.replace("{rule: OWN-02, object: QM01/buffer_pool/4}", "{rule: OWN-02, object: QM01/log}")
    found = run_tests("own.test.yaml", absent, with_console)
    assert "at this poll the test has no value of QM01/log" in [each.why for each in found]


TUNED_TESTS = """
tests:
  - name: a pool of the test group
    interval: 10s
    tuning:
      - {rule: BP-03, objects: "QM02/*", severity: info, reason: the test group}
      - {rule: BP-*, objects: QM03/buffer_pool/3, off: true, reason: nobody uses it}
    series:
      QM01/buffer_pool/3: {free_pct: 3, worst_free_pct: 3}
      QM02/buffer_pool/3: {free_pct: 3, worst_free_pct: 3}
      QM03/buffer_pool/3: {free_pct: 3, worst_free_pct: 3}
    expect:
      - at: 10s
        firing:
          - {rule: BP-03, object: QM01/buffer_pool/3, severity: critical}
          - {rule: BP-03, object: QM02/buffer_pool/3, severity: info}
        exact: true
"""


def test_a_test_may_tune_rules() -> None:
    """As the settings do, with the same checks."""
    rules = RuleSet(load_rules(KINDS), KINDS)
    assert run_tests("own.test.yaml", TUNED_TESTS, rules) == []
    with pytest.raises(ConfigError, match="the reason is empty"):
        run_tests("own.test.yaml", TUNED_TESTS.replace("the test group}", "''}"), rules)
