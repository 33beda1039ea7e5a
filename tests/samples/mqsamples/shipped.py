"""The shipped packs, decoded and compiled once for all tests of a worker: every command prepares the rules anew; some of
them, for tests of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import Problem
from mqvitals_config.settings import Settings
from mqvitals_rules import rule_state
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.expression.compiler import EvaluateTogether, compile_together
from mqvitals_rules.expression.node import Condition
from mqvitals_rules.ruleset import decoded_packs, pack, ruleset
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.decoded_packs import Pack, decoded
from mqvitals_rules.ruleset.pack import decode_pack
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.testing import cases
from mqvitals_rules.vocabulary.metric import Absence, Kind
from mqvitals_rules.vocabulary.tables import KINDS

_ENGINE_RULES = frozenset(
    {
        *(f"BP-{number:02}" for number in range(1, 11)),
        *("CF-01", "CF-02", "CF-03", "CF-04"),
        *("Q-02", "Q-03"),
        *("AGENT-01", "AGENT-02", "AGENT-03"),
        *("CHL-01", "CHL-07"),
    }
)


@cache
def engine_rules() -> RuleSet:
    """Those of the shipped rules that tests of the engine are about."""
    every = load_rule_config(Settings()).rules
    return replace(every, rules=tuple(rule for rule in every.rules if rule.id in _ENGINE_RULES), compiled={})


def remember(patch: pytest.MonkeyPatch) -> None:
    """Have the same text of a shipped pack, of its tests, and the same shipped rule read once; what is read never changes."""
    texts = {text for _, text in pack.shipped_packs()}
    packs: dict[tuple[str, str], tuple[tuple[Rule, ...], list[Problem]]] = {}
    forms: dict[int, tuple[Rule, CompiledRule | None]] = {}
    tests: dict[tuple[str, str, object], Any] = {}
    together: dict[tuple[object, ...], tuple[EvaluateTogether, object]] = {}
    known: dict[tuple[object, ...], Mapping[Pack, tuple[Rule, ...]]] = {}

    def known_of(shipped: Sequence[Pack]) -> Mapping[Pack, tuple[Rule, ...]]:
        # Tests about the file have another one.
        key = (decoded_packs.decoded_file(), *shipped)
        if key not in known:
            known[key] = decoded(shipped)
            forms.update({id(rule): (rule, None) for rules in known[key].values() for rule in rules})
        return known[key]

    def decoded_once(path: str, text: str, kinds: Mapping[str, Kind]) -> tuple[tuple[Rule, ...], list[Problem]]:
        if kinds is not KINDS or text not in texts:
            return decode_pack(path, text, kinds)
        if (path, text) not in packs:
            packs[path, text] = decode_pack(path, text, kinds)
            forms.update({id(rule): (rule, None) for rule in packs[path, text][0]})
        rules, problems = packs[path, text]
        return rules, list(problems)

    def compiled(rule: Rule, kinds: Mapping[str, Kind], values: Mapping[str, float] | None = None) -> CompiledRule:
        if kinds is not KINDS or values or id(rule) not in forms:
            return compile_rule(rule, kinds, values)
        form = forms[id(rule)][1] or compile_rule(rule, kinds)
        forms[id(rule)] = rule, form
        return form

    def decoded_tests(path: str, text: str, shape: Any) -> Any:
        # Short ones are of tests about mistakes, each read once.
        if len(text) < 5_000:
            return decode(path, text, shape)
        if (path, text, shape) not in tests:
            tests[path, text, shape] = decode(path, text, shape)
        return tests[path, text, shape]

    def compiled_together(
        conditions: Sequence[tuple[int, Condition]], unreported: Mapping[str, Absence]
    ) -> EvaluateTogether:
        # The conditions are kept, so that no other one gets the identity of one of them.
        key = (*((place, id(root)) for place, root in conditions), *unreported.items())
        if key not in together:
            together[key] = compile_together(conditions, unreported), conditions
        return together[key][0]

    patch.setattr(pack, "decode_pack", decoded_once)
    patch.setattr(pack, "decoded", known_of)
    patch.setattr(rule_state, "compile_together", compiled_together)
    patch.setattr(pack, "compile_rule", compiled)
    patch.setattr(ruleset, "compile_rule", compiled)
    patch.setattr(cases, "decode", decoded_tests)
