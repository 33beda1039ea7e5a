"""Tests of rules, written in YAML: what objects say poll by poll, and which alerts must then be firing.

Each is played through a real engine. The shipped packs have theirs beside them.
"""

from mqvitals_rules.pack_test.comparison import Failure
from mqvitals_rules.pack_test.coverage import Coverage
from mqvitals_rules.pack_test.run import run_test, run_tests
from mqvitals_rules.pack_test.test_case import PackTest, decode_tests

__all__ = ["Coverage", "Failure", "PackTest", "decode_tests", "run_test", "run_tests"]
