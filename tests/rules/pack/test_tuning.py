"""Tuning: what of the settings counts for an object, what is wrong with an entry, and what has no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import load_settings
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.lifecycle.step import HoldPolicy
from mqvitals_rules.ruleset.config import RuleConfig, check_settings, ineffective_tuning, load_rule_config
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.ruleset.rule import Clear, Hold
from mqvitals_rules.ruleset.tuning import (
    NO_CHANGE,
    RuleChange,
    Tuning,
    change_of,
    changes_in_words,
    in_force,
    off_everywhere,
    off_reason,
)
from mqvitals_rules.snapshot import ObjectName

PAGES = ObjectName("QM01", "page_set", "4")
OTHER = ObjectName("QM02", "page_set", "4")
ALL = None
QM01 = ObjectPattern.parse("QM01/*")


def settings_of(entries: str, folder: Path, more: str = "") -> Settings:
    """Settings with entries of ``tuning``, each on a line of its own from line 3 on."""
    file = folder / "mqvitals.yaml"
    lines = "".join(f"    - {each.strip()}\n" for each in entries.strip().splitlines())
    file.write_text(f"rules:\n  tuning:\n{lines}{more}", "utf-8")
    return load_settings(str(file), {}, {}).settings


def form(config: RuleConfig, rule: str, name: ObjectName) -> CompiledRule | None:
    """A rule as it is in force for an object."""
    return next((each for each in config.rules.rules_for(name) if each.id == rule), None)


def test_the_last_entry_counts_for_each_key() -> None:
    """One about the severity hides no hold before it, nor one parameter another."""
    entries = [
        Tuning("X", QM01, severity=Severity.INFO, hold=Hold(3), values={"a": 1, "b": 1}),
        Tuning("X", ALL, severity=Severity.WARNING, values={"b": 2}),
        Tuning("X", ObjectPattern.parse("QM02/*"), clear=Clear(polls=9)),
    ]
    assert change_of(entries, PAGES, off=False) == RuleChange((("a", 1), ("b", 2)), Severity.WARNING, Hold(3))
    assert change_of(entries, OTHER, off=False) == RuleChange((("b", 2),), Severity.WARNING, None, Clear(polls=9))
    assert change_of([], PAGES, off=False) == NO_CHANGE


def test_off_has_three_states() -> None:
    """Not said, off, and on again by a later entry: off for all queues but one is two entries."""
    entries = [
        Tuning("X", off=True, reason="nightly"),
        Tuning("X", severity=Severity.INFO),
        Tuning("X", QM01, off=False),
    ]
    assert change_of(entries, OTHER, off=False) is None
    assert off_reason(entries, OTHER, off=False) == "nightly"
    assert change_of(entries, PAGES, off=True) == RuleChange(severity=Severity.INFO)
    assert off_reason(entries, PAGES, off=True) is None
    assert off_reason([], PAGES, off=True) == ""
    assert not off_everywhere(entries, off=False)
    assert off_everywhere(entries[:2], off=False)
    assert off_everywhere([], off=True)
    assert not off_everywhere([Tuning("X", QM01, off=False)], off=True)


def test_what_an_entry_changes(tmp_path: Path) -> None:
    """Parameters, severity, hold and clear of the objects it names; other objects keep the rule as it is shipped."""
    config = load_rule_config(
        settings_of(
            """
            {rule: PS-01, objects: "*/page_set/4", parameters: {used_limit_pct: 70}, hold: 10m, reason: it grows}
            {family: ps_full, objects: "QM02/*", severity: info, clear: {polls: 5}, reason: nobody looks}
            """,
            tmp_path,
        )
    )
    here, there = form(config, "PS-01", PAGES), form(config, "PS-01", OTHER)
    shipped = form(config, "PS-01", ObjectName("QM01", "page_set", "5"))
    assert here is not None
    assert there is not None
    assert shipped is not None
    assert [each.values["used_limit_pct"] for each in (here, there, shipped)] == [70, 70, 85]
    assert here.policy == HoldPolicy(1, 600_000, 3)
    assert there.policy == HoldPolicy(1, 600_000, 5)
    assert shipped.policy == HoldPolicy(2, None, 3)
    assert (there.rule.severity, there.severity_if) == (Severity.INFO, ())
    assert shipped.severity_if != ()
    assert there.summary.fill(OTHER, lambda *_: 0) == shipped.summary.fill(OTHER, lambda *_: 0)
    standard = config.rules.rule("PS-01")
    assert standard is not None
    words = [each[:3] for each in in_force(standard, config.rules.tuning_of("PS-01"), PAGES)]
    assert words == [("hold", "2 polls", "10m"), ("used_limit_pct", "85 %", "70 %")]


def test_objects_with_the_same_rules_share_them(tmp_path: Path) -> None:
    """However many patterns there are: so the engine keeps one group of rules for them."""
    entries = "\n".join(f"{{rule: Q-03, objects: '*/queue/A{each}.*', off: true, reason: x}}" for each in range(50))
    rules = load_rule_config(settings_of(entries, tmp_path)).rules
    off = [rules.rules_for(ObjectName("QM01", "queue", f"A{each}.X")) for each in range(50)]
    on = [rules.rules_for(ObjectName("QM01", "queue", f"B{each}.X")) for each in range(50)]
    assert {id(each) for each in off} == {id(off[0])}
    assert {id(each) for each in on} == {id(on[0])}
    assert {each.id for each in on[0]} - {each.id for each in off[0]} == {"Q-03"}


def test_rules_that_are_off_are_switched_on_for_some_objects(tmp_path: Path) -> None:
    """Those that are off until a site names them, and those that the settings disable, by an entry with off: false."""
    text = '{rule: OPS-291, objects: "*/channel/APP.*", off: false, reason: x}\n{rule: CHL-07, objects: "QM01/*", off: false, reason: x}'
    config = load_rule_config(settings_of(text, tmp_path, "  disabled: [CHL-07]\n"))
    here, there = ObjectName("QM01", "channel", "APP.A"), ObjectName("QM02", "channel", "B")
    for rule in ("OPS-291", "CHL-07"):
        assert form(config, rule, here) is not None
        assert form(config, rule, there) is None
        assert rule not in config.rules.switched_off


def test_the_history_of_a_longer_window_is_kept(tmp_path: Path) -> None:
    """A window that is a parameter: what the tuned rule looks back on stands among the windows."""
    text = '{rule: OPS-181, objects: "*/cluster_queue_manager/*", parameters: {suspended_s: 172800}, reason: x}'
    windows = load_rule_config(settings_of(text, tmp_path)).rules.windows
    assert {each.window_ms for each in windows if each.metric == "suspend" and each.function == "unchanged"} >= {
        86_400_000,
        172_800_000,
    }


@pytest.mark.parametrize(
    ("entry", "column", "key", "words"),
    [
        ("{rule: PS_01, off: true, reason: x}", 14, "rule", "there is no rule 'PS_01'; did you mean 'PS-01'?"),
        ("{rule: ZZ-*, off: true, reason: x}", 14, "rule", "no rule is like 'ZZ-*'"),
        (
            "{family: ps_ful, off: true, reason: x}",
            16,
            "family",
            "no rule is of family 'ps_ful'; did you mean 'ps_full'?",
        ),
        ("{rule: PS-01, family: bp_free, off: true, reason: x}", 29, "family", "there is ps_full"),
        (
            "{rule: PS-01, objects: QM01/queue/X, off: true, reason: x}",
            30,
            "objects",
            "PS-01 applies to objects of kind page_set",
        ),
        (
            "{family: ps_full, objects: QM01/queue/X, off: true, reason: x}",
            34,
            "objects",
            "none of these rules applies to",
        ),
        ("{objects: QM01, off: true, reason: x}", 17, "objects", "objects are written owner/kind/name"),
        (
            "{rule: PS-01, parameters: {used_limit: 1}, reason: x}",
            34,
            "parameters.used_limit",
            "did you mean 'used_limit_pct'?",
        ),
        (
            "{rule: BP-*, parameters: {used_limit_pct: 1}, reason: x}",
            33,
            "parameters.used_limit_pct",
            "rules has a parameter",
        ),
        (
            "{rule: PS-01, parameters: {used_limit_pct: 101}, reason: x}",
            50,
            "parameters.used_limit_pct",
            "from 0 to 100",
        ),
        (
            "{family: ps_full, parameters: {critical_s: -1}, reason: x}",
            50,
            "parameters.critical_s",
            "cannot be negative",
        ),
        (
            "{rule: BP-11, parameters: {recent_s: 0}, reason: x}",
            44,
            "parameters.recent_s",
            "a window is 1s to 366d long",
        ),
        ("{rule: AGENT-01, parameters: {x: 0}, reason: x}", 37, "parameters.x", "it is a plain state"),
        ("{rule: PS-01, off: true}", 7, "reason", "this key is missing"),
        ("{rule: PS-01, off: true, reason: ' '}", 40, "reason", "the reason is empty"),
        ("{rule: PS-01, reason: x}", 7, "", "this changes nothing"),
        ("{off: true, reason: x}", 7, "", "this would change every rule for every object"),
        ("{rule: PS-01, off: true, severity: info, reason: x}", 7, "", "a rule that is off has nothing to tune"),
        ("{rule: PS-01, hold: 10, reason: x}", 27, "hold", "a duration needs a unit"),
        ("{rule: PS-01, hold: {polls: 2, for: 1m}, reason: x}", 27, "hold", "either polls or for"),
        ("{rule: PS-01, clear: {}, reason: x}", 7, "", "clear needs polls, records or for"),
        ("{rule: PS-01, severity: bad, reason: x}", 31, "severity", "'bad' is not one of critical, warning and info"),
    ],
)
def test_a_mistake_in_an_entry(entry: str, column: int, key: str, words: str, tmp_path: Path) -> None:
    """Each is reported once, at its place."""
    try:
        problems = check_settings(settings_of(entry, tmp_path))
    except ConfigError as error:
        problems = error.problems
    [problem] = problems
    assert words in problem.message
    assert (problem.place.line, problem.place.column) == (3, column)
    assert problem.key == "rules.tuning[0]" + (f".{key}" if key else "")


@pytest.mark.parametrize(
    ("entries", "hidden"),
    [
        ("{rule: PS-01, severity: info, reason: a}\n{rule: PS-01, severity: warning, reason: b}", [0]),
        ("{rule: PS-01, severity: info, hold: 1m, reason: a}\n{rule: PS-01, severity: warning, reason: b}", []),
        (
            "{rule: PS-01, objects: QM01/page_set/4, severity: info, reason: a}\n{rule: PS-*, severity: warning, reason: b}",
            [0],
        ),
        (
            "{rule: PS-01, severity: info, reason: a}\n{rule: PS-01, objects: 'QM01/*', severity: warning, reason: b}",
            [],
        ),
        (
            "{rule: PS-01, objects: QM01/page_set/4, hold: 1m, reason: a}\n{rule: PS-01, objects: 'QM01/*', off: true, reason: b}",
            [0],
        ),
        ("{rule: PS-*, severity: info, reason: a}\n{rule: PS-01, severity: warning, reason: b}", []),
        ("{rule: PS-01, off: true, reason: a}\n{rule: PS-01, objects: 'QM01/*', off: false, reason: b}", []),
    ],
)
def test_what_later_entries_hide_is_named(entries: str, hidden: list[int], tmp_path: Path) -> None:
    """Only where every key of an entry is always hidden, for each of its rules."""
    warnings = list(ineffective_tuning(settings_of(entries, tmp_path)))
    assert [each.key for each in warnings] == [f"rules.tuning[{index}]" for index in hidden]
    assert [each.place.line for each in warnings] == [3 + index for index in hidden]
    assert all("this never counts" in each.message for each in warnings)


def test_a_change_of_each_key_in_words(tmp_path: Path) -> None:
    """The standard value and the site's, as lists show them."""
    text = "{rule: PS-01, severity: info, hold: {polls: 3, of: 5}, clear: 30m, parameters: {clear_pct: 60}, off: false, reason: x}"
    rules = load_rule_config(settings_of(text, tmp_path)).rules
    rule, (entry,) = rules.rule("PS-01"), rules.tuning_of("PS-01")
    assert rule is not None
    assert [each[:3] for each in changes_in_words(rule, entry)] == [
        ("off", "on", "on"),
        ("severity", "warning; critical when used_pct >= critical_pct", "info"),
        ("hold", "2 polls", "3 of 5 polls"),
        ("clear", "3 polls", "30m"),
        ("clear_pct", "80 %", "60 %"),
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            "{synchronous_write_pct: 100}",
            "with these values of BP-03: worst_free_pct is between 0 and 100: this always holds",
        ),
        ("{clear_pct: 100}", "with these values of BP-03: worst_free_pct is between 0 and 100: this can never hold"),
        ("{synchronous_write_pct: 7}", ""),
    ],
)
def test_values_that_make_a_condition_doubtful(values: str, words: str, tmp_path: Path) -> None:
    """A comparison that with the site's values always holds, or never: possible, but hardly meant."""
    text = f"{{rule: BP-03, objects: QM01/buffer_pool/3, parameters: {values}, reason: a}}"
    found = [each.message for each in ineffective_tuning(settings_of(text, tmp_path))]
    assert found == ([f"warning: {words}"] if words else [])
