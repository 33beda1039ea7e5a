"""``mqvitals rules check``: reports the problems of rule files."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.settings import explained, settings_of
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.decoding.problem import Problem
    from mqvitals_rules.compiled_rule import CompiledRule
    from mqvitals_rules.ruleset.rule import Rule
    from mqvitals_rules.ruleset.ruleset import RuleSet

_DESCRIPTION = """\
Checks rule files together with the shipped rules: shape, names, types, expressions, ids that occur twice, comparisons
that can never hold or always do. Every problem is printed as FILE:LINE:COLUMN: KEY: what is wrong, with the line and
a caret under the spot. Warnings are about rules without tests (the tests of ours.yaml are in ours.test.yaml), and
about parameters and tuning without effect. Without FILE the shipped rules, the configuration's rule files and its
tuning are checked. Exit code 0 when there is no problem, with or without warnings; 1 when there is one, 2 when a
FILE cannot be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``rules check``."""
    parser.description = _DESCRIPTION
    parser.add_argument("files", metavar="FILE", nargs="*", help="rule files (default: those of the configuration)")


def run(arguments: argparse.Namespace) -> int:
    """Check; returns the exit code. Raises Failure."""
    from mqvitals_rules.ruleset.config import check_settings, ineffective_tuning
    from mqvitals_rules.ruleset.pack import read_rules, shipped_packs
    from mqvitals_rules.ruleset.ruleset import RuleSet, doubts
    from mqvitals_rules.vocabulary.tables import KINDS

    warnings: list[Problem] = []
    compiled: dict[str, CompiledRule] = {}
    if arguments.files:
        # A file of a site with the name of a shipped pack is another file.
        packs = {name for name, _ in shipped_packs()}
        files = tuple(f".{os.sep}{path}" if path in packs else path for path in arguments.files)
        _readable(files)
        rules, problems = read_rules(KINDS, files, compiled)
        where = f"{len(files)} file{'s' * (len(files) > 1)}"
    else:
        settings = settings_of(arguments)
        files = tuple(map(str, settings.rules.files))
        rules, _ = read_rules(KINDS, settings.rules.files, compiled)
        problems = list(check_settings(settings))
        where = "the shipped rules" if not files else "the shipped rules and those of the configuration"
        if not problems:
            warnings += ineffective_tuning(settings)
    problems += doubts(compiled.values()) if not problems else []
    if problems:
        print(explained(sorted(problems)))
        return ExitCode.FOUND
    ruleset = RuleSet(rules, KINDS, compiled=compiled)
    for path in files:
        warnings += _idle_parameters(path, rules)
        warnings += _unknown_inserts(path, rules)
        warnings += _untested(path, ruleset)
    if not arguments.files:
        warnings += _untested_packs(ruleset)
    if warnings:
        print(explained(warnings))
    count = f", {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
    print(f"{where}: no problems found ({len(rules)} rules in all){count}")
    return ExitCode.DONE


def _readable(paths: Iterable[str]) -> None:
    """Raises Failure for the first file that cannot be read at all: nothing can be said about its rules."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.decoding.source import UnreadableError, read
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


def _untested(path: str, rules: RuleSet) -> Iterator[Problem]:
    """The rules of a file that its tests do not name."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.decoding.source import UnreadableError, read

    tests = str(Path(path).with_suffix(".test.yaml"))
    own = [rule for rule in rules.rules if rule.id.place.path == path]
    try:
        yield from _without_test(own, _tested_rules(tests, read(tests), rules))
    except UnreadableError:
        yield from _without_test(own, frozenset())
    except ConfigError:
        yield _unusable_tests(tests)


def _unusable_tests(path: str) -> Problem:
    from mqvitals_config.decoding.problem import Place, Problem

    return Problem(Place(path), "", "warning: these tests cannot be run; 'mqvitals rules test' shows why")


def _idle_parameters(path: str, rules: Iterable[Rule]) -> Iterator[Problem]:
    """The parameters of a file's rules that neither a condition nor a text names: to change them changes nothing."""
    from mqvitals_config.decoding.problem import Problem

    for rule in rules:
        if rule.id.place.path != path:
            continue
        cases = [text for case in rule.mqsc_if for text in (case.when, case.mqsc)]
        texts = [rule.when, rule.clear.when, *(case.when for case in rule.severity_if), rule.summary, rule.mqsc, *cases]
        named = set(re.findall(r"\w+", " ".join(filter(None, texts))))
        for name in rule.parameters:
            if name not in named:
                yield Problem(rule.id.place, "", f"warning: {rule.id} never uses its parameter {name}")


def _unknown_inserts(path: str, rules: Iterable[Rule]) -> Iterator[Problem]:
    """The inserts of console messages that a file's rules read, and that the agent finds in no such message."""
    from mqvitals_agent.console.template import TEMPLATES
    from mqvitals_config.decoding.problem import Problem, did_you_mean
    from mqvitals_rules.compiled_rule import compile_rule
    from mqvitals_rules.vocabulary.tables import KINDS

    for rule in rules:
        if rule.id.place.path != path:
            continue
        compiled = compile_rule(rule, KINDS)
        read = {pair for expression in compiled.expressions for pair in expression.inserts} | compiled.summary.inserts
        for code, insert in sorted(read):
            known = list(re.compile(TEMPLATES.get(code, "")).groupindex)
            if insert not in known and not code.startswith("event:"):
                meant = did_you_mean(insert, known) or f"; it has {', '.join(known) or 'none'}"
                yield Problem(rule.id.place, "", f"warning: {code} has no insert {insert}{meant}")


def _untested_packs(rules: RuleSet) -> Iterator[Problem]:
    """The shipped rules that no shipped test names, in any pack."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.ruleset.pack import shipped_packs
    from mqvitals_rules.testing.cases import shipped_tests

    named: set[str] = set()
    for path, text in shipped_tests().values():
        try:
            named |= _tested_rules(path, text, rules)
        except ConfigError:
            yield _unusable_tests(path)
    packs = {path for path, _ in shipped_packs()}
    yield from _without_test([rule for rule in rules.rules if rule.id.place.path in packs], named)


def _tested_rules(path: str, text: str, rules: RuleSet) -> frozenset[str]:
    """The rules that the tests of a file name. Raises ConfigError for tests with a mistake."""
    from mqvitals_rules.testing import decode_tests

    return frozenset[str]().union(*(test.rules for test in decode_tests(path, text, rules)))


def _without_test(own: Iterable[Rule], named: Collection[str]) -> Iterator[Problem]:
    from mqvitals_config.decoding.problem import Problem

    return (Problem(rule.id.place, "", f"warning: {rule.id} has no test") for rule in own if rule.id not in named)
