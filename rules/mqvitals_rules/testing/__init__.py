"""Tests of rules, written in YAML: what objects report poll by poll, and which alerts must then be firing.

Each runs through a real engine. The tests of the shipped packs stand beside them.
"""

from mqvitals_rules.testing.cases import RuleTest, decode_tests
from mqvitals_rules.testing.coverage import Coverage
from mqvitals_rules.testing.runner import RuleTestFailure, run_test, run_tests

__all__ = ["Coverage", "RuleTest", "RuleTestFailure", "decode_tests", "run_test", "run_tests"]
