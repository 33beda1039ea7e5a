"""Settings whose words fit no rule, no parameter, no kind and no state are refused at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place
from mqvitals_config.load import load_settings
from mqvitals_config.sections.rules import RuleSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import check_settings, load_rule_config, readable_rule_config
from mqvitals_rules.ruleset.rule import Origin, RuleParameter
from mqvitals_rules.ruleset.tuning_settings import impossible_value
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

GOOD = """\
rules:
  disabled: [CHL-07]
  thresholds:
    - {rule: BP-01, parameter: stress_pct, value: 30, objects: QM01/buffer_pool/*}
facts:
  buffer_pools:
    - {objects: "*/buffer_pool/3", purpose: short_lived}
  queues:
    - {objects: "*/queue/BATCH.*", role: batch, lifetime: long, pair: BATCH.REPLY}
  channels:
    - {objects: QM01/channel/TO.PARTNER, ping_us: 120}
  cf_structures:
    - {objects: "*/cf_structure/APPL1", full_threshold_pct: 90}
"""


def settings_of(text: str, folder: Path) -> Settings:
    file = folder / "mqvitals.yaml"
    file.write_text(text, "utf-8")
    return load_settings(str(file), {}, {}).settings


def test_good_settings(tmp_path: Path) -> None:
    """Overrides, switches and facts that fit are taken over."""
    settings = settings_of(GOOD, tmp_path)
    assert check_settings(settings) == ()
    judging = load_rule_config(settings)
    pool = ObjectName("QM01", "buffer_pool", "3")
    form = next(form for form in judging.rules.rules_for(pool) if form.id == "BP-01")
    assert form.values["stress_pct"] == 30
    assert judging.facts.of(pool) == {"purpose": 4}
    assert judging.facts.of(ObjectName("QM02", "queue", "BATCH.FEED")) == {
        "role": 5,
        "lifetime": 1,
        "pair": "BATCH.REPLY",
        "importance": 0,
    }
    assert judging.facts.of(ObjectName("QM01", "channel", "TO.PARTNER")) == {"ping_us": 120}
    assert judging.facts.of(ObjectName("PRDQSG", "cf_structure", "APPL1")) == {"full_threshold_pct": 90}
    assert judging.facts.of(ObjectName("PRDQSG", "cf_structure", "APPL2")) == {"full_threshold_pct": 80}
    assert all(form.id != "CHL-07" for form in judging.rules.rules_for(ObjectName("QM01", "channel", "X")))


@pytest.mark.parametrize(
    ("rules", "in_force"),
    [
        ("{}", False),
        ("{enabled: [OPS-291]}", True),
        ("{enabled: [OPS-292]}", False),
        ("{enabled: [OPS-291], disabled: [OPS-291]}", False),
    ],
)
def test_a_rule_that_is_off_until_it_is_switched_on(rules: str, in_force: bool, tmp_path: Path) -> None:
    """Only its own id in ``enabled`` switches it on, and ``disabled`` has the last word."""
    settings = settings_of(f"rules: {rules}\n", tmp_path)
    channel = ObjectName("QM01", "channel", "X")
    for config in (load_rule_config(settings), readable_rule_config(settings)):
        assert ("OPS-291" in {rule.id for rule in config.rules.rules_for(channel)}) is in_force
        assert any(window.metric == "ssl_peer_defined" for window in config.rules.windows) is in_force


def test_without_settings_only_pool_0_has_a_purpose() -> None:
    """Undeclared, pool 0 is a system pool and every other one unclassified; a queue's role is not batch."""
    facts = load_rule_config(Settings()).facts
    assert [facts.of(ObjectName("QM01", "buffer_pool", number))["purpose"] for number in "0123"] == [0, 9, 9, 9]
    assert facts.of(ObjectName("QM01", "queue", "ANY"))["role"] == 0


def test_layout_of_pools_is_one_fact_of_a_queue_manager(tmp_path: Path) -> None:
    """It gives pools a purpose by their number; a declared purpose of a pool overrides it, in any order."""
    facts = load_rule_config(
        settings_of(
            """\
facts:
  buffer_pools:
    - {objects: QM01/buffer_pool/2, purpose: batch}
  queue_managers:
    - {objects: "*/queue_manager", pool_layout: ibm}
    - {objects: QM02/queue_manager, pool_layout: gse2017}
    - {objects: QM03/queue_manager, pool_layout: none}
""",
            tmp_path,
        )
    ).facts
    purposes = KINDS["buffer_pool"].metric("purpose")
    assert purposes is not None
    names = {number: name for name, number in purposes.values.items()}

    def found(owner: str) -> list[str]:
        return [names[int(facts.of(ObjectName(owner, "buffer_pool", number))["purpose"])] for number in "01234"]

    assert found("QM01") == ["system", "long_lived", "batch", "mixed", "unclassified"]
    assert found("QM02") == ["system", "system_shallow", "system_deep", "unclassified", "unclassified"]
    assert found("QM03") == ["system", *4 * ["unclassified"]]
    assert found("QM04") == ["system", "long_lived", "short_lived", "mixed", "unclassified"]


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("disabled: [CHL-07]", "disabled: [CHL-077]", 2, 14, "there is no rule 'CHL-077'; did you mean 'CHL-07'?"),
        ("disabled: [CHL-07]", "enabled: [CHL-077]", 2, 13, "there is no rule 'CHL-077'; did you mean 'CHL-07'?"),
        ("rule: BP-01", "rule: NOPE", 4, 14, "there is no rule 'NOPE'; 'mqvitals rules list' shows all"),
        ("stress_pct", "stres_pct", 4, 32, "did you mean 'stress_pct'?"),
        ("objects: QM01/buffer_pool/*", "objects: QM01/queue/*", 4, 64, "applies to objects of kind buffer_pool"),
        ("objects: QM01/buffer_pool/*", "objects: QM01/bufferpool/*", 4, 69, "did you mean 'buffer_pool'?"),
        ("objects: QM01/buffer_pool/*", "objects: QM01", 4, 64, "owner/kind/name"),
        ("purpose: short_lived", "purpose: shortlived", 7, 45, "did you mean 'short_lived'?"),
        ('"*/buffer_pool/3"', '"*/page_set/3"', 7, 18, "facts.buffer_pools declares objects of kind buffer_pool"),
        ("role: batch", "role: batsh", 9, 42, "did you mean 'batch'?"),
        ("lifetime: long", "lifetime: forever", 9, 59, "there is short, long"),
    ],
)
def test_mistake_is_told_at_its_place(old: str, new: str, line: int, column: int, words: str, tmp_path: Path) -> None:
    """Each word that fits nothing is one problem at its line and column, with what was probably meant."""
    assert old in GOOD
    [problem] = check_settings(settings_of(GOOD.replace(old, new, 1), tmp_path))
    assert (problem.place.line, problem.place.column) == (line, column)
    assert words in problem.message


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Problems of rules, facts and rule files come together, in the order of the files."""
    text = (
        GOOD.replace("CHL-07", "CHL-77").replace("purpose: short_lived", "purpose: x").replace("role: batch", "role: y")
    )
    settings = settings_of(text, tmp_path)
    assert [problem.place.line for problem in check_settings(settings)] == [2, 7, 9]
    with pytest.raises(ConfigError) as caught:
        load_rule_config(settings)
    assert caught.value.problems == check_settings(settings)


def test_a_broken_rule_file_does_not_make_its_thresholds_wrong(tmp_path: Path) -> None:
    """When a rule file cannot be read, what the settings say of its rules is not called misspelt too."""
    (tmp_path / "ours.yaml").write_text("rules: [{id: MY-01}]", "utf-8")
    text = GOOD.replace("rules:\n", "rules:\n  files: [ours.yaml]\n").replace(
        "rule: BP-01, parameter: stress_pct", "rule: MY-01, parameter: x"
    )
    problems = check_settings(settings_of(text, tmp_path))
    assert problems
    assert {problem.place.path for problem in problems} == {str(tmp_path / "ours.yaml")}


def test_what_can_be_read_is_there_to_look_with(tmp_path: Path) -> None:
    """Of a file with a mistake the other files' rules remain, with facts; thresholds only while none is wrong."""
    (tmp_path / "ours.yaml").write_text("rules: [{id: MY-01}]", "utf-8")
    settings = settings_of(GOOD.replace("rules:\n", "rules:\n  files: [ours.yaml]\n"), tmp_path)
    judging = readable_rule_config(settings)
    pool = ObjectName("QM01", "buffer_pool", "3")
    form = next(form for form in judging.rules.rules_for(pool) if form.id == "BP-01")
    assert form.values["stress_pct"] == 30
    assert judging.facts.of(pool) == {"purpose": 4}
    wrong = readable_rule_config(settings_of(GOOD.replace("QM01/buffer_pool/*}", "QM01}"), tmp_path)).rules
    assert next(form for form in wrong.rules_for(pool) if form.id == "BP-01").values["stress_pct"] != 30


def test_a_rule_file_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    """The mistake stands in the configuration, not in a file that nobody can open."""
    settings = settings_of(GOOD.replace("rules:\n", "rules:\n  files: [nope.yaml]\n"), tmp_path)
    [problem] = check_settings(settings)
    assert problem.place == Place(str(tmp_path / "mqvitals.yaml"), 2, 11)
    assert problem.key == "rules.files[0]"
    assert problem.message == f"{tmp_path / 'nope.yaml'}: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("rule", "parameter", "value", "words"),
    [
        ("BP-01", "stress_pct", "300", "stress_pct is a percentage, from 0 to 100, not 300"),
        ("BP-02", "synchronous_write_pct", "-4", "synchronous_write_pct is a percentage, from 0 to 100, not -4"),
        ("CHL-06", "least_us", "-1", "least_us cannot be negative; the rule's own value is 1000 us"),
        ("CHL-06", "growth", "-2", "growth cannot be negative; the rule's own value is 2"),
        ("Q-02", "depth_least", "-10", "depth_least cannot be negative; the rule's own value is 1000 messages"),
        ("CF-01", "entries_each", "-0.5", "entries_each cannot be negative"),
    ],
)
def test_a_threshold_that_its_unit_forbids(rule: str, parameter: str, value: str, words: str, tmp_path: Path) -> None:
    """A share beyond 0 to 100 and a negative count, time or factor are refused at the value."""
    text = f"rules:\n  thresholds:\n    - rule: {rule}\n      parameter: {parameter}\n      value: {value}\n"
    [problem] = check_settings(settings_of(text, tmp_path))
    assert (problem.place.line, problem.place.column, problem.key) == (5, 14, "rules.thresholds[0].value")
    assert words in problem.message


def test_limits_of_thresholds() -> None:
    """The ends of a unit's range are in it; a rule whose own value breaks a limit, or has a unit of its own, is not held to it."""

    def of(value: float, unit: str) -> RuleParameter:
        return RuleParameter("x", value, unit, Origin.DEFAULT, "")

    for value in (0, 100):
        assert not impossible_value(of(20, "pct"), value)
    assert not impossible_value(of(0.5, ""), 0)
    assert not impossible_value(of(150, "pct"), 300)
    assert not impossible_value(of(-3, ""), -5)
    assert not impossible_value(of(3, "degrees"), -5)


def test_so_many_rule_files_are_read() -> None:
    """More are refused where they are named, and none of them is opened."""
    files = tuple(LocatedText(f"/nowhere/{number}.yaml", Place("x.yaml", 2 + number, 5)) for number in range(501))
    settings = Settings(rules=RuleSettings(files=files))
    assert list(map(str, check_settings(settings))) == ["x.yaml:2:5: 501 rule files are named; 500 can be read"]
