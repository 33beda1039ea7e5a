"""``mqvitals rules test``: play the tests of rules and say which expectations do not hold, and what no test exercises."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.commandline.failure import ExitCode, Failure
from mqvitals_agent.commandline.settings import explained, settings_of

if TYPE_CHECKING:
    from mqvitals_config.settings import Settings
    from mqvitals_rules.ruleset import RuleSet
    from mqvitals_rules.testing import Coverage, RuleTest
    from mqvitals_rules.testing import RuleTestFailure as Unmet

DESCRIPTION = """\
Plays tests of rules ('mqvitals help rule-tests'). A FILE ends in .test.yaml; its tests see the shipped rules, those of the configuration with its thresholds, and
those of a file beside it of the same stem: mine.test.yaml tests mine.yaml. A PACK is a shipped one by its name, such as buffer_pools, and is tested as it is shipped;
without arguments all are. One line for each expectation that does not hold. Exit code 0 when all hold, 1 when one does not, 2 when a test could
not be played: a FILE cannot be read or is wrong, there is no such PACK, there are no tests.
"""

_SUFFIX = ".test.yaml"


@dataclass(frozen=True, slots=True)
class Suite:
    """A file of tests, with the rules that they see; ``covered``: whose coverage is asked for."""

    path: str
    tests: tuple[RuleTest, ...]
    rules: RuleSet
    covered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Played:
    """A test and what failed of it."""

    path: str
    test: RuleTest
    failures: tuple[Unmet, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules test``."""
    parser.add_argument(
        "names", metavar="FILE|PACK", nargs="*", help="a file of tests, or a shipped pack (default: all of these)"
    )
    parser.add_argument(
        "--coverage", action="store_true", help="say which rules and conditions, on which side, no test exercises"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Play the tests; returns the exit code. Raises Failure."""
    from mqvitals_agent.cli.rules_coverage import coverage_json, coverage_lines
    from mqvitals_rules.testing import run_test

    suites = list(_suites(arguments))
    coverages = _coverages(suites) if arguments.coverage else []
    played: list[Played] = []
    for suite in suites:
        coverage = next((each for each in coverages if each.of is suite.rules), None)
        played += (Played(suite.path, test, tuple(run_test(test, suite.rules, coverage))) for test in suite.tests)
    if not played:
        raise Failure("there are no tests", hint="'mqvitals help rule-tests' shows how they are written")
    if arguments.json:
        told = _json(played)
        if arguments.coverage:
            told["coverage"] = coverage_json(coverages)
        print(json.dumps(told, indent=2))
    else:
        for line in (*_lines(played), *(coverage_lines(coverages) if arguments.coverage else ()), _counts(played)):
            print(line)
    return ExitCode.FOUND if any(each.failures for each in played) else ExitCode.DONE


def _coverages(suites: Iterable[Suite]) -> list[Coverage]:
    """What takes note of what tests exercise: one for all suites that see the same rules."""
    from mqvitals_rules.testing import Coverage

    found: dict[int, Coverage] = {}
    for suite in suites:
        found.setdefault(id(suite.rules), Coverage(suite.rules)).want(suite.covered)
    return list(found.values())


def _suites(arguments: argparse.Namespace) -> Iterator[Suite]:
    from mqvitals_config.problem import did_you_mean
    from mqvitals_rules.testing.cases import shipped_tests

    shipped = shipped_tests()
    rules = None
    for name in arguments.names or shipped:
        if not _is_file(name) and name in shipped:
            rules = rules or _shipped_rules()
            path, text = shipped[name]
            covered = frozenset(str(rule.id) for rule in rules.rules if rule.topic == name)
            yield Suite(path, _decoded(path, text, rules), rules, covered)
        elif _is_file(name) or os.path.lexists(name):
            yield _own(name, arguments)
        else:
            meant = did_you_mean(name, shipped).removeprefix("; ")
            hint = f"the packs are {', '.join(shipped)}; the name of a file of tests ends in {_SUFFIX}"
            raise Failure(f"there is no pack {name!r}", hint=meant or hint)


def _is_file(name: str) -> bool:
    return name.endswith(_SUFFIX) or os.sep in name


def _shipped_rules() -> RuleSet:
    from mqvitals_config.settings import Settings
    from mqvitals_rules.rule_config import load_rule_config

    return load_rule_config(Settings()).rules


def _own(path: str, arguments: argparse.Namespace) -> Suite:
    """The tests of a file of the site, with the rules in force there."""
    from mqvitals_agent.commandline.settings import judging_of
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError, read

    try:
        text = read(path)
    except UnreadableError as error:
        raise Failure(str(error)) from error
    except ConfigError as error:
        raise _wrong(path, error) from error
    if not path.endswith(_SUFFIX):
        where = Path(path).with_suffix(_SUFFIX)
        raise Failure(f"{path}: the name of a file of tests ends in {_SUFFIX}", hint=f"tests of it stand in {where}")
    settings, beside = _with_rules_beside(settings_of(arguments), path)
    rules = judging_of(settings).rules
    tests = _decoded(path, text, rules)
    if beside:
        covered = frozenset(str(rule.id) for rule in rules.rules if rule.id.place.path == beside)
    else:
        covered = frozenset[str]().union(*(test.rules for test in tests))
    return Suite(path, tests, rules, covered)


def _with_rules_beside(settings: Settings, path: str) -> tuple[Settings, str]:
    """The settings with the file of rules that the tests at ``path`` are about, if it is there, and how it is called."""
    from mqvitals_config.problem import LocatedText, Place

    beside = path.removesuffix(_SUFFIX) + ".yaml"
    if not Path(beside).exists():
        return settings, ""
    for named in settings.rules.files:
        if os.path.realpath(named) == os.path.realpath(beside):
            return settings, str(named)
    rules = replace(settings.rules, files=(*settings.rules.files, LocatedText(beside, Place(path))))
    return replace(settings, rules=rules), beside


def _decoded(path: str, text: str, rules: RuleSet) -> tuple[RuleTest, ...]:
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.testing import decode_tests

    try:
        return decode_tests(path, text, rules)
    except ConfigError as error:
        raise _wrong(path, error) from error


def _wrong(path: str, error: Any) -> Failure:
    return Failure(
        f"the tests of {path} cannot be played:\n{explained(error.problems)}", hint="see 'mqvitals help rule-tests'"
    )


def _lines(played: Sequence[Played]) -> Iterator[str]:
    from mqvitals_agent.text.terminal import safe

    for each in played:
        yield from (safe(str(failure)) for failure in each.failures)


def _counts(played: Sequence[Played]) -> str:
    failed = sum(bool(each.failures) for each in played)
    unmet = sum(len(each.failures) for each in played)
    files = len({each.path for each in played})
    what = f"{len(played)} test{'s' * (len(played) != 1)} in {files} file{'s' * (files != 1)}"
    if not failed:
        return f"{what}: all passed"
    return f"{what}: {len(played) - failed} passed, {failed} failed ({unmet} expectation{'s' * (unmet != 1)})"


def _json(played: Sequence[Played]) -> dict[str, Any]:
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
