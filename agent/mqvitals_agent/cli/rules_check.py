"""``mqvitals rules check``: what is wrong with rule files, and what should not be left as it is."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.failure import ExitCode, Failure
from mqvitals_agent.commandline.settings import explained, settings_of

if TYPE_CHECKING:
    from mqvitals_config.problem import Problem
    from mqvitals_rules.rule import Rule
    from mqvitals_rules.ruleset import RuleSet

DESCRIPTION = """\
Checks rule files together with the shipped rules: shape, names, types, expressions, ids that occur twice, comparisons that can never hold or always do. Every
problem is printed as FILE:LINE:COLUMN: KEY: what is wrong, with the line and a caret under the spot. Warnings tell of rules without tests (those of
ours.yaml stand in ours.test.yaml), and of parameters and thresholds that change nothing.
Without FILE the shipped rules, the configuration's rule files and its thresholds are checked.
Exit code 0 when there is no problem, with or without warnings; 1 when there is one, 2 when a FILE cannot be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules check``."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="rule files (default: those of the configuration)")


def run(arguments: argparse.Namespace) -> int:
    """Check; returns the exit code. Raises Failure."""
    from mqvitals_rules.pack import read_rules
    from mqvitals_rules.rule_config import check_settings, ineffective_thresholds
    from mqvitals_rules.ruleset import RuleSet, doubts
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
    told = f", {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
    print(f"{where}: no problems found ({len(rules)} rules in all){told}")
    return ExitCode.DONE


def _readable(paths: Iterable[str]) -> None:
    """Raises Failure for the first file that cannot be read at all: nothing can be said about its rules."""
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError, read
    from mqvitals_rules.pack import MOST_FILES

    paths = tuple(paths)
    if len(paths) > MOST_FILES:
        raise Failure(f"{len(paths):,} rule files are named; {MOST_FILES:,} can be read")
    for path in paths:
        try:
            read(path)
        except UnreadableError as error:
            raise Failure(str(error)) from error
        except ConfigError:
            continue  # a mistake in the file, which is told with its place like the others


def _untested(path: str, tests: Path, rules: RuleSet) -> Iterator[Problem]:
    """The rules of a file that no test names."""
    from mqvitals_config.problem import ConfigError, Place, Problem
    from mqvitals_config.source import UnreadableError, read

    own = [rule for rule in rules.rules if rule.id.place.path == path]
    try:
        yield from _without_test(own, _named(str(tests), read(str(tests)), rules))
    except UnreadableError:
        yield from _without_test(own, frozenset())
    except ConfigError:
        yield Problem(Place(str(tests)), "", "warning: these tests cannot be played; 'mqvitals rules test' says why")


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
    """The shipped rules that no shipped test names, whichever pack it stands beside."""
    from mqvitals_rules.pack import shipped_packs
    from mqvitals_rules.testing.cases import shipped_tests

    packs = {path for path, _ in shipped_packs()}
    named = frozenset[str]().union(*(_named(path, text, rules) for path, text in shipped_tests().values()))
    return _without_test([rule for rule in rules.rules if rule.id.place.path in packs], named)


def _named(path: str, text: str, rules: RuleSet) -> frozenset[str]:
    """The rules that the tests of a file name. Raises ConfigError for tests with a mistake."""
    from mqvitals_rules.testing import decode_tests

    return frozenset[str]().union(*(test.rules for test in decode_tests(path, text, rules)))


def _without_test(own: Iterable[Rule], named: frozenset[str]) -> Iterator[Problem]:
    from mqvitals_config.problem import Problem

    return (Problem(rule.id.place, "", f"warning: {rule.id} has no test") for rule in own if rule.id not in named)
