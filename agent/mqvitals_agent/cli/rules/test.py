"""``mqvitals rules test``: runs tests of rules and reports what they cover."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mqvitals_agent.commandline.settings import explained, rule_config_of, settings_of
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.ruleset import RuleSet
    from mqvitals_rules.testing import Coverage, RuleTest, RuleTestFailure
    from mqvitals_rules.testing.coverage import RuleCoverage

_DESCRIPTION = """\
Runs tests of rules ('mqvitals help rule-tests'). A FILE ends in .test.yaml; its tests see the shipped rules, those of
the configuration with its thresholds, and those of a file beside it of the same stem: mine.test.yaml tests mine.yaml.
A PACK is a shipped one by its name, such as buffer_pools, and is tested as it is shipped; without arguments all are.
One line for each expectation that does not hold. Exit code 0 when all hold, 1 when one does not, 2 when a test could
not be run: a FILE cannot be read or is wrong, there is no such PACK, there are no tests.
"""

_SUFFIX: Final = ".test.yaml"
_TRUTHS: Final = {True: "true", False: "false", None: "unknown"}


class RuleTestSuite(NamedTuple):
    """A file of tests, with the rules that they see; ``covered``: the rules whose coverage is reported."""

    path: str
    tests: tuple[RuleTest, ...]
    rules: RuleSet
    covered: frozenset[str]


class RuleTestResult(NamedTuple):
    """A test of a file, and its expectations that do not hold."""

    path: str
    test: RuleTest
    failures: tuple[RuleTestFailure, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules test``."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "names", metavar="FILE|PACK", nargs="*", help="a file of tests, or a shipped pack (default: all of these)"
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="list the rules and conditions, and the side of each, that no test covers",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Run the tests; returns the exit code. Raises Failure."""
    from mqvitals_agent.text.terminal import safe
    from mqvitals_rules.testing import run_test

    suites = list(_suites(arguments))
    coverages = _coverages(suites) if arguments.coverage else {}
    results = [
        RuleTestResult(suite.path, test, tuple(run_test(test, suite.rules, coverages.get(id(suite.rules)))))
        for suite in suites
        for test in suite.tests
    ]
    if not results:
        raise Failure("there are no tests", hint="'mqvitals help rule-tests' shows how they are written")
    covered = [rule for coverage in coverages.values() for rule in coverage.rules]
    if arguments.json:
        found = _results_json(results)
        if arguments.coverage:
            found["coverage"] = _coverage_json(covered)
        print(json.dumps(found, indent=2))
    else:
        for result in results:
            for failure in result.failures:
                print(safe(str(failure)))
        if arguments.coverage:
            for line in _coverage_lines(covered):
                print(safe(line))
        print(_summary(results))
    return ExitCode.FOUND if any(result.failures for result in results) else ExitCode.DONE


def _coverages(suites: Iterable[RuleTestSuite]) -> dict[int, Coverage]:
    """By the identity of a rule set: the coverage by all suites that see it."""
    from mqvitals_rules.testing import Coverage

    found: dict[int, Coverage] = {}
    for suite in suites:
        found.setdefault(id(suite.rules), Coverage(suite.rules)).want(suite.covered)
    return found


def _suites(arguments: argparse.Namespace) -> Iterator[RuleTestSuite]:
    from mqvitals_config.decoding.problem import suggestion
    from mqvitals_rules.testing.cases import shipped_tests

    shipped = shipped_tests()
    rules = None
    for name in arguments.names or shipped:
        is_file = name.endswith(_SUFFIX) or os.sep in name
        if not is_file and name in shipped:
            rules = rules or _shipped_rules()
            path, text = shipped[name]
            covered = frozenset(str(rule.id) for rule in rules.rules if rule.topic == name)
            yield RuleTestSuite(path, _decoded(path, text, rules), rules, covered)
        elif is_file or os.path.lexists(name):
            yield _site_suite(name, arguments)
        else:
            meant = suggestion(name, shipped)
            hint = f"the packs are {', '.join(shipped)}; the name of a file of tests ends in {_SUFFIX}"
            raise Failure(f"there is no pack {name!r}", hint=meant or hint)


def _shipped_rules() -> RuleSet:
    """The rules as they are shipped. Raises Failure for a mistake in a pack."""
    from mqvitals_config.settings import Settings

    return rule_config_of(Settings()).rules


def _site_suite(path: str, arguments: argparse.Namespace) -> RuleTestSuite:
    """The tests of a file of the site, with the rules in force there."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.decoding.source import UnreadableError, read

    try:
        text = read(path)
    except UnreadableError as error:
        raise Failure(str(error)) from error
    except ConfigError as error:
        raise _unusable(path, error) from error
    if not path.endswith(_SUFFIX):
        where = Path(path).with_suffix(_SUFFIX)
        raise Failure(f"{path}: the name of a file of tests ends in {_SUFFIX}", hint=f"its tests belong into {where}")
    settings, beside = _with_rules_beside(settings_of(arguments), path)
    rules = rule_config_of(settings).rules
    tests = _decoded(path, text, rules)
    if beside:
        covered = frozenset(str(rule.id) for rule in rules.rules if rule.id.place.path == beside)
    else:
        covered = frozenset[str]().union(*(test.rules for test in tests))
    return RuleTestSuite(path, tests, rules, covered)


def _with_rules_beside(settings: Settings, path: str) -> tuple[Settings, str]:
    """The settings with the rule file that the tests at ``path`` belong to, if it exists, and its name."""
    from mqvitals_config.decoding.problem import LocatedText, Place

    beside = path.removesuffix(_SUFFIX) + ".yaml"
    if os.sep not in beside:
        # A file of a site with the name of a shipped pack is another file.
        beside = f".{os.sep}{beside}"
    if not Path(beside).exists():
        return settings, ""
    for named in settings.rules.files:
        if os.path.realpath(named) == os.path.realpath(beside):
            return settings, str(named)
    rules = replace(settings.rules, files=(*settings.rules.files, LocatedText(beside, Place(path))))
    return replace(settings, rules=rules), beside


def _decoded(path: str, text: str, rules: RuleSet) -> tuple[RuleTest, ...]:
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.testing import decode_tests

    try:
        return decode_tests(path, text, rules)
    except ConfigError as error:
        raise _unusable(path, error) from error


def _unusable(path: str, error: ConfigError) -> Failure:
    return Failure(
        f"the tests of {path} cannot be run:\n{explained(error.problems)}", hint="see 'mqvitals help rule-tests'"
    )


def _summary(results: Sequence[RuleTestResult]) -> str:
    from mqvitals_agent.text.figure import counted

    failed = sum(bool(each.failures) for each in results)
    unmet = sum(len(each.failures) for each in results)
    what = f"{counted(len(results), 'test')} in {counted(len({each.path for each in results}), 'file')}"
    if not failed:
        return f"{what}: all passed"
    return f"{what}: {len(results) - failed} passed, {failed} failed ({counted(unmet, 'expectation')})"


def _results_json(results: Sequence[RuleTestResult]) -> dict[str, Any]:
    failed = sum(bool(each.failures) for each in results)
    return {
        "passed": len(results) - failed,
        "failed": failed,
        "tests": [
            {
                "file": each.path,
                "line": each.test.place.line,
                "name": each.test.name,
                "passed": not each.failures,
                "failures": [
                    {
                        "line": failure.place.line,
                        "column": failure.place.column,
                        "at_ms": failure.at,
                        "expected": failure.expected,
                        "actual": failure.actual,
                        "why": failure.why,
                    }
                    for failure in each.failures
                ],
            }
            for each in results
        ],
    }


def _coverage_lines(rules: Sequence[RuleCoverage]) -> Iterator[str]:
    """A line for each rule and condition that tests leave out in part, and a line of counts."""
    from mqvitals_agent.text.figure import counted

    yield ""
    yield "Coverage"
    for rule in rules:
        yield from (f"  {rule.rule}{gap}" for gap in _gaps(rule))
    conditions = [condition for rule in rules for condition in rule.conditions]
    both = sum({True, False} <= condition.sides for condition in conditions)
    unknown = sum(None in condition.sides for condition in conditions)
    yield (
        f"{counted(len(rules), 'rule')}, {sum(rule.both_sides for rule in rules)} of them expected to fire and not to; "
        f"{counted(len(conditions), 'condition')}, {both} seen true and false, {unknown} unknown"
    )


def _gaps(rule: RuleCoverage) -> Iterator[str]:
    if not rule.tests:
        yield ": no test names it"
        return
    expected = {"to fire": rule.fires, "not to fire": rule.silent, "to be unknown": rule.unknown}
    if never := [words for words, found in expected.items() if not found]:
        yield f": never expected {' or '.join(never)}"
    for condition in rule.conditions:
        if condition.missing:
            missing = " or ".join(_TRUTHS[side] for side in condition.missing)
            yield f" {condition.where}: never {missing}: {condition.text}"


def _coverage_json(rules: Sequence[RuleCoverage]) -> dict[str, Any]:
    return {
        "rules": len(rules),
        "both_sides": sum(rule.both_sides for rule in rules),
        "by_rule": [
            {
                "rule": rule.rule,
                "tests": rule.tests,
                "fires": rule.fires,
                "silent": rule.silent,
                "unknown": rule.unknown,
                "conditions": [
                    {
                        "where": condition.where,
                        "condition": condition.text,
                        **{word: side in condition.sides for side, word in _TRUTHS.items()},
                    }
                    for condition in rule.conditions
                ],
            }
            for rule in rules
        ],
    }
