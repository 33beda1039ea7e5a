"""Rules that are compiled when they are first needed are the same rules; a mistake in one keeps it out of force."""

from __future__ import annotations

from pathlib import Path

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.rules import RuleSettings
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config, readable_rule_config
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

OURS = """\
rules:
  - id: MY-01
    title: A rule of ours
    tier: P
    kind: operational
    scope: queue
    when: {when}
    severity: warning
    summary: "{{name}}"
    advice: Look at it.
    caveat: None.
    source: {{document: Our own handbook, section: Members}}
"""


def named(kind: str) -> ObjectName:
    return ObjectName("QM01", kind, "" if KINDS[kind].single else "X")


def test_deferred_rules_are_those_that_are_compiled_at_once() -> None:
    at_once, later = load_rule_config(Settings()), load_rule_config(Settings(), defer=True)
    assert later.rules.deferred == {str(rule.id) for rule in at_once.rules.rules}
    assert at_once.rules.deferred == frozenset()
    for kind in KINDS:
        first, second = (each.rules.rules_for(named(kind)) for each in (at_once, later))
        assert [(rule.id, rule.when.text, rule.values, rule.rule.summary) for rule in first] == [
            (rule.id, rule.when.text, rule.values, rule.rule.summary) for rule in second
        ]
    assert at_once.rules.windows == later.rules.windows


def test_a_rule_of_the_site_is_compiled_at_once(tmp_path: Path) -> None:
    """A mistake in it is told at the start, and leaves the shipped rules as they are."""
    path = tmp_path / "ours.yaml"
    path.write_text(OURS.format(when="depth > 5"), "utf-8")
    config = readable_rule_config(Settings(rules=RuleSettings(files=(LocatedText(str(path), Place("mqvitals.yaml")),))))
    assert "MY-01" not in config.rules.deferred
    assert "MY-01" in {rule.id for rule in config.rules.rules_for(named("queue"))}
    path.write_text(OURS.format(when="no_such_metric > 5"), "utf-8")
    config = readable_rule_config(Settings(rules=RuleSettings(files=(LocatedText(str(path), Place("mqvitals.yaml")),))))
    assert config.rules.rule("MY-01") is None
    assert len(config.rules.rules_for(named("queue"))) > 1


def test_a_deferred_rule_with_a_mistake_is_in_force_for_no_object(tmp_path: Path) -> None:
    from mqvitals_rules.ruleset.pack import decode_packs

    text = OURS.format(when="no_such_metric > 5")
    packs = [("ours.yaml", text)]
    rules, problems = decode_packs(packs, KINDS, None, packs)
    assert not problems
    ruleset = RuleSet(rules, KINDS, deferred=frozenset(("MY-01",)))
    assert ruleset.rules_for(named("queue")) == ()
    assert ruleset.rule("MY-01") is rules[0]
