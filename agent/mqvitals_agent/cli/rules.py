"""``mqvitals rules``: checks rule files and runs their tests. ``rules_show`` lists and explains rules."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.cli import rules_show
from mqvitals_agent.commandline.arguments import add_zone_argument
from mqvitals_agent.commandline.settings import explained, settings_of
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.problem import Problem
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.rule import Rule
    from mqvitals_rules.ruleset.ruleset import RuleSet
    from mqvitals_rules.testing import Coverage, RuleTest
    from mqvitals_rules.testing import RuleTestFailure as Unmet
    from mqvitals_rules.testing.coverage import Condition, RuleCoverage


CHECK_DESCRIPTION = """\
Checks rule files together with the shipped rules: shape, names, types, expressions, ids that occur twice, comparisons
that can never hold or always do. Every problem is printed as FILE:LINE:COLUMN: KEY: what is wrong, with the line and
a caret under the spot. Warnings are about rules without tests (the tests of ours.yaml are in ours.test.yaml), and
about parameters and thresholds without effect. Without FILE the shipped rules, the configuration's rule files and its
thresholds are checked. Exit code 0 when there is no problem, with or without warnings; 1 when there is one, 2 when a
FILE cannot be read.
"""


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules check``."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="rule files (default: those of the configuration)")


def run_check(arguments: argparse.Namespace) -> int:
    """Check; returns the exit code. Raises Failure."""
    from mqvitals_rules.ruleset.config import check_settings, ineffective_thresholds
    from mqvitals_rules.ruleset.pack import read_rules
    from mqvitals_rules.ruleset.ruleset import RuleSet, doubts
    from mqvitals_rules.vocabulary.tables import KINDS

    warnings: list[Problem] = []
    if arguments.files:
        files = tuple(arguments.files)
        _readable(files)
        rules, problems = read_rules(KINDS, files)
        where = f"{len(files)} file{'s' * (len(files) > 1)}"
    else:
        settings = settings_of(arguments)
        files = tuple(map(str, settings.rules.files))
        rules, _ = read_rules(KINDS, settings.rules.files)
        problems = list(check_settings(settings))
        where = "the shipped rules" if not files else "the shipped rules and those of the configuration"
        if not problems:
            warnings += ineffective_thresholds(settings)
    problems += doubts(rules, KINDS) if not problems else []
    if problems:
        print(explained(sorted(problems)))
        return ExitCode.FOUND
    ruleset = RuleSet(rules, KINDS)
    for path in files:
        warnings += _idle_parameters(path, rules)
        warnings += _untested(path, Path(path).with_suffix(".test.yaml"), ruleset)
    if not arguments.files:
        warnings += _untested_packs(ruleset)
    if warnings:
        print(explained(warnings))
    count = f", {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
    print(f"{where}: no problems found ({len(rules)} rules in all){count}")
    return ExitCode.DONE


def _readable(paths: Iterable[str]) -> None:
    """Raises Failure for the first file that cannot be read at all: nothing can be said about its rules."""
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError, read
    from mqvitals_rules.ruleset.pack import MOST_FILES

    paths = tuple(paths)
    if len(paths) > MOST_FILES:
        raise Failure(f"{len(paths):,} rule files are named; {MOST_FILES:,} can be read")
    for path in paths:
        try:
            read(path)
        except UnreadableError as error:
            raise Failure(str(error)) from error
        except ConfigError:
            continue  # a mistake in the file is reported with its place like the others


def _untested(path: str, tests: Path, rules: RuleSet) -> Iterator[Problem]:
    """The rules of a file that no test names."""
    from mqvitals_config.problem import ConfigError, Place, Problem
    from mqvitals_config.source import UnreadableError, read

    own = [rule for rule in rules.rules if rule.id.place.path == path]
    try:
        yield from _without_test(own, _tested_rules(str(tests), read(str(tests)), rules))
    except UnreadableError:
        yield from _without_test(own, frozenset())
    except ConfigError:
        yield Problem(Place(str(tests)), "", "warning: these tests cannot be played; 'mqvitals rules test' shows why")


def _idle_parameters(path: str, rules: Iterable[Rule]) -> Iterator[Problem]:
    """The parameters of a file's rules that neither a condition nor a text names: to change them changes nothing."""
    from mqvitals_config.problem import Problem

    for rule in rules:
        if rule.id.place.path != path:
            continue
        cases = [text for case in rule.mqsc_if for text in (case.when, case.mqsc)]
        texts = [rule.when, rule.clear.when, *(case.when for case in rule.severity_if), rule.summary, rule.mqsc, *cases]
        named = set(re.findall(r"\w+", " ".join(filter(None, texts))))
        for name in rule.parameters:
            if name not in named:
                yield Problem(rule.id.place, "", f"warning: {rule.id} never uses its parameter {name}")


def _untested_packs(rules: RuleSet) -> Iterator[Problem]:
    """The shipped rules that no shipped test names, in any pack."""
    from mqvitals_rules.ruleset.pack import shipped_packs
    from mqvitals_rules.testing.cases import shipped_tests

    packs = {path for path, _ in shipped_packs()}
    named = frozenset[str]().union(*(_tested_rules(path, text, rules) for path, text in shipped_tests().values()))
    return _without_test([rule for rule in rules.rules if rule.id.place.path in packs], named)


def _tested_rules(path: str, text: str, rules: RuleSet) -> frozenset[str]:
    """The rules that the tests of a file name. Raises ConfigError for tests with a mistake."""
    from mqvitals_rules.testing import decode_tests

    return frozenset[str]().union(*(test.rules for test in decode_tests(path, text, rules)))


def _without_test(own: Iterable[Rule], named: frozenset[str]) -> Iterator[Problem]:
    from mqvitals_config.problem import Problem

    return (Problem(rule.id.place, "", f"warning: {rule.id} has no test") for rule in own if rule.id not in named)


_SIDE_WORDS = {True: "true", False: "false", None: "unknown"}


def coverage_lines(coverages: Sequence[Coverage]) -> list[str]:
    """A line for each rule and condition that tests leave out in part, and a line of counts."""
    from mqvitals_agent.text.terminal import safe

    rules = _covered_rules(coverages)
    lines = ["", "Coverage"]
    for rule in rules:
        lines += [f"  {safe(line)}" for line in _gaps(rule)]
    conditions = [condition for rule in rules for condition in rule.conditions]
    both = sum({True, False} <= condition.sides for condition in conditions)
    unknown = sum(None in condition.sides for condition in conditions)
    lines.append(
        f"{len(rules)} rules, {sum(rule.both_sides for rule in rules)} of them expected to fire and not to; "
        f"{len(conditions)} conditions, {both} seen true and false, {unknown} unknown"
    )
    return lines


def coverage_json(coverages: Sequence[Coverage]) -> dict[str, Any]:
    """The same for programs."""
    rules = _covered_rules(coverages)
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
                        **{word: side in condition.sides for side, word in _SIDE_WORDS.items()},
                    }
                    for condition in rule.conditions
                ],
            }
            for rule in rules
        ],
    }


def _covered_rules(coverages: Sequence[Coverage]) -> list[RuleCoverage]:
    return [rule for coverage in coverages for rule in coverage.rules]


def _gaps(rule: RuleCoverage) -> Iterator[str]:
    if not rule.tests:
        yield f"{rule.rule}: no test names it"
        return
    never = [
        word
        for word, found in (("to fire", rule.fires), ("not to fire", rule.silent), ("to be unknown", rule.unknown))
        if not found
    ]
    if never:
        yield f"{rule.rule}: never expected {' or '.join(never)}"
    for condition in rule.conditions:
        if condition.missing:
            yield f"{rule.rule} {condition.where}: never {_missing(condition)}: {condition.text}"


def _missing(condition: Condition) -> str:
    return " or ".join(_SIDE_WORDS[side] for side in condition.missing)


TEST_DESCRIPTION = """\
Plays tests of rules ('mqvitals help rule-tests'). A FILE ends in .test.yaml; its tests see the shipped rules, those
of the configuration with its thresholds, and those of a file beside it of the same stem: mine.test.yaml tests
mine.yaml. A PACK is a shipped one by its name, such as buffer_pools, and is tested as it is shipped; without
arguments all are. One line for each expectation that does not hold. Exit code 0 when all hold, 1 when one does not, 2
when a test could not be played: a FILE cannot be read or is wrong, there is no such PACK, there are no tests.
"""

_SUFFIX = ".test.yaml"


@dataclass(frozen=True, slots=True)
class RuleTestSuite:
    """A file of tests, with the rules that they see; ``covered``: whose coverage is asked for."""

    path: str
    tests: tuple[RuleTest, ...]
    rules: RuleSet
    covered: frozenset[str]


@dataclass(frozen=True, slots=True)
class RuleTestResult:
    """A test and what failed of it."""

    path: str
    test: RuleTest
    failures: tuple[Unmet, ...]


def add_test_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules test``."""
    parser.add_argument(
        "names", metavar="FILE|PACK", nargs="*", help="a file of tests, or a shipped pack (default: all of these)"
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="list the rules and conditions, and the side of each, that no test covers",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def run_test(arguments: argparse.Namespace) -> int:
    """Play the tests; returns the exit code. Raises Failure."""
    from mqvitals_rules.testing import run_test

    suites = list(_suites(arguments))
    coverages = _coverages(suites) if arguments.coverage else []
    played: list[RuleTestResult] = []
    for suite in suites:
        coverage = next((each for each in coverages if each.of is suite.rules), None)
        played += (
            RuleTestResult(suite.path, test, tuple(run_test(test, suite.rules, coverage))) for test in suite.tests
        )
    if not played:
        raise Failure("there are no tests", hint="'mqvitals help rule-tests' shows how they are written")
    if arguments.json:
        found = _results_json(played)
        if arguments.coverage:
            found["coverage"] = coverage_json(coverages)
        print(json.dumps(found, indent=2))
    else:
        for line in (
            *_failure_lines(played),
            *(coverage_lines(coverages) if arguments.coverage else ()),
            _summary(played),
        ):
            print(line)
    return ExitCode.FOUND if any(each.failures for each in played) else ExitCode.DONE


def _coverages(suites: Iterable[RuleTestSuite]) -> list[Coverage]:
    """What takes note of what tests exercise: one for all suites that see the same rules."""
    from mqvitals_rules.testing import Coverage

    found: dict[int, Coverage] = {}
    for suite in suites:
        found.setdefault(id(suite.rules), Coverage(suite.rules)).want(suite.covered)
    return list(found.values())


def _suites(arguments: argparse.Namespace) -> Iterator[RuleTestSuite]:
    from mqvitals_config.problem import did_you_mean
    from mqvitals_rules.testing.cases import shipped_tests

    shipped = shipped_tests()
    rules = None
    for name in arguments.names or shipped:
        if not _is_file(name) and name in shipped:
            rules = rules or _shipped_rules()
            path, text = shipped[name]
            covered = frozenset(str(rule.id) for rule in rules.rules if rule.topic == name)
            yield RuleTestSuite(path, _decode_tests(path, text, rules), rules, covered)
        elif _is_file(name) or os.path.lexists(name):
            yield _site_suite(name, arguments)
        else:
            meant = did_you_mean(name, shipped).removeprefix("; ")
            hint = f"the packs are {', '.join(shipped)}; the name of a file of tests ends in {_SUFFIX}"
            raise Failure(f"there is no pack {name!r}", hint=meant or hint)


def _is_file(name: str) -> bool:
    return name.endswith(_SUFFIX) or os.sep in name


def _shipped_rules() -> RuleSet:
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset.config import load_rule_config

    return load_rule_config(Settings()).rules


def _site_suite(path: str, arguments: argparse.Namespace) -> RuleTestSuite:
    """The tests of a file of the site, with the rules in force there."""
    from mqvitals_agent.commandline.settings import judging_of
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError, read

    try:
        text = read(path)
    except UnreadableError as error:
        raise Failure(str(error)) from error
    except ConfigError as error:
        raise _unusable_tests(path, error) from error
    if not path.endswith(_SUFFIX):
        where = Path(path).with_suffix(_SUFFIX)
        raise Failure(f"{path}: the name of a file of tests ends in {_SUFFIX}", hint=f"its tests belong into {where}")
    settings, beside = _with_rules_beside(settings_of(arguments), path)
    rules = judging_of(settings).rules
    tests = _decode_tests(path, text, rules)
    if beside:
        covered = frozenset(str(rule.id) for rule in rules.rules if rule.id.place.path == beside)
    else:
        covered = frozenset[str]().union(*(test.rules for test in tests))
    return RuleTestSuite(path, tests, rules, covered)


def _with_rules_beside(settings: Settings, path: str) -> tuple[Settings, str]:
    """The settings with the rule file that the tests at ``path`` belong to, if it exists, and its name."""
    from mqvitals_config.problem import LocatedText, Place

    beside = path.removesuffix(_SUFFIX) + ".yaml"
    if not Path(beside).exists():
        return settings, ""
    for named in settings.rules.files:
        if os.path.realpath(named) == os.path.realpath(beside):
            return settings, str(named)
    rules = replace(settings.rules, files=(*settings.rules.files, LocatedText(beside, Place(path))))
    return replace(settings, rules=rules), beside


def _decode_tests(path: str, text: str, rules: RuleSet) -> tuple[RuleTest, ...]:
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.testing import decode_tests

    try:
        return decode_tests(path, text, rules)
    except ConfigError as error:
        raise _unusable_tests(path, error) from error


def _unusable_tests(path: str, error: Any) -> Failure:
    return Failure(
        f"the tests of {path} cannot be played:\n{explained(error.problems)}", hint="see 'mqvitals help rule-tests'"
    )


def _failure_lines(played: Sequence[RuleTestResult]) -> Iterator[str]:
    from mqvitals_agent.text.terminal import safe

    for each in played:
        yield from (safe(str(failure)) for failure in each.failures)


def _summary(played: Sequence[RuleTestResult]) -> str:
    failed = sum(bool(each.failures) for each in played)
    unmet = sum(len(each.failures) for each in played)
    files = len({each.path for each in played})
    what = f"{len(played)} test{'s' * (len(played) != 1)} in {files} file{'s' * (files != 1)}"
    if not failed:
        return f"{what}: all passed"
    return f"{what}: {len(played) - failed} passed, {failed} failed ({unmet} expectation{'s' * (unmet != 1)})"


def _results_json(played: Sequence[RuleTestResult]) -> dict[str, Any]:
    failed = sum(bool(each.failures) for each in played)
    return {
        "passed": len(played) - failed,
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
            for each in played
        ],
    }


_EXPLAIN = """\
Prints a rule: its condition, thresholds with their origin, advice, caveat and source. With an object
(QM01/buffer_pool/3) and a store it evaluates the rule for that object now: the condition with the values filled in, the
verdict, what is missing where it is unknown, with the facts to declare as lines for the configuration, and the rule's
past alerts about the object.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``check``, ``test``, ``list`` and ``run_explain``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="report the problems of rule files", description=CHECK_DESCRIPTION)
    add_check_arguments(check)
    test = actions.add_parser("test", help="play tests of rules", description=TEST_DESCRIPTION)
    add_test_arguments(test)
    listing = actions.add_parser("list", help="list the rules in force", description=rules_show.LIST_DESCRIPTION)
    rules_show.add_list_arguments(listing)
    explain = actions.add_parser("explain", help="explain a rule, or its verdict about an object", description=_EXPLAIN)
    explain.add_argument("rule", metavar="RULE", help="the rule's id, such as BP-01")
    explain.add_argument(
        "object", metavar="OBJECT", nargs="?", help="an object of the store, such as QM01/buffer_pool/3"
    )
    explain.add_argument("--store", metavar="FILE", help="the store (default: that of the configuration)")
    add_zone_argument(explain)
    for command in (check, test, listing, explain):
        command.add_argument(
            "--config", metavar="FILE", help="the configuration (default: the one MQVITALS_CONFIG names)"
        )


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code. Raises Failure."""
    if arguments.action == "check":
        return run_check(arguments)
    if arguments.action == "list":
        return rules_show.run_list(arguments)
    if arguments.action == "test":
        return run_test(arguments)
    return rules_show.run_explain(arguments)
