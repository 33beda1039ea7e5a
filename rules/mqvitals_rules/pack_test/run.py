"""Running tests: what fails, and what they exercised."""

from __future__ import annotations

from mqvitals_rules.pack_test.comparison import Comparison, Failure
from mqvitals_rules.pack_test.coverage import Coverage
from mqvitals_rules.pack_test.game import Game
from mqvitals_rules.pack_test.test_case import PackTest, decode_tests
from mqvitals_rules.ruleset import RuleSet


def run_test(test: PackTest, rules: RuleSet, coverage: Coverage | None = None) -> list[Failure]:
    """Play one test; every expectation that does not hold. ``coverage`` takes note of what the test exercises."""
    game = Game(test, rules)
    watch = None if coverage is None else coverage.watch(test, game)
    failures: list[Failure] = []
    for poll in range(test.polls):
        for snapshot in game.snapshots(poll):
            if watch is not None:
                watch.look(snapshot)
        for expected in test.expectations:
            if expected.poll == poll:
                failures += Comparison(test.name, expected, game).failures()
    return failures


def run_tests(path: str, text: str, rules: RuleSet) -> list[Failure]:
    """Play every test of a file; what fails. Raises ConfigError as ``decode_tests``."""
    return [failure for test in decode_tests(path, text, rules) for failure in run_test(test, rules)]
