"""Packs: YAML files of rules, the shipped ones and those of the site, decoded with every problem at its place.

``PackFile`` is a whole file. Expressions and templates are checked when the rules are compiled.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Annotated, Final

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.node import MappingNode, Node, ScalarNode, SequenceNode, compose
from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place, Problem, did_you_mean
from mqvitals_config.decoding.schema import Convert
from mqvitals_config.decoding.source import UnreadableError, read
from mqvitals_config.sections.rules import ClearSettings, HoldSettings
from mqvitals_rules.compiled_rule import CompiledRule, compile_rule
from mqvitals_rules.expression import ExpressionError, compile_expression
from mqvitals_rules.lifecycle.alert import Severity
from mqvitals_rules.ruleset.decoded_packs import decoded
from mqvitals_rules.ruleset.rule import (
    Citation,
    Clear,
    Family,
    Hold,
    MqscCase,
    Origin,
    Rule,
    RuleKind,
    RuleParameter,
    SeverityCase,
)
from mqvitals_rules.vocabulary.metric import Kind
from mqvitals_rules.vocabulary.tables import KINDS

CLEAR_POLLS = 3
"""Good polls that end an operational alert; alerts of rules that are evaluated every few minutes end at once."""
AT_ONCE: Final = HoldSettings(polls=1)
"""The hold of a rule that says nothing about it."""

MOST_FILES: Final = 500
"""Rule files of a site: each is read at every start and whenever one of them changes."""

_TIER = re.compile("[PSMDA](?:[>+|][PSMDA])*")


def _tier(text: str) -> str:
    if text and not _TIER.fullmatch(text):
        raise ValueError(f"a tier is one of P, S, M, D and A, or several with >, + or | between, as P>S; not {text!r}")
    return str(text)


Tier = Annotated[str, Convert(_tier)]


@dataclass(frozen=True, slots=True)
class ParameterEntry:
    """``stress_pct: {value: 20, unit: "%", origin: document, meaning: ...}``."""

    value: float
    origin: Origin
    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ClearEntry(ClearSettings):
    """``clear: {when: free_pct > 25, polls: 3}`` or ``clear: {for: 10m}``.

    Without ``when`` the rule's own condition must be false.
    """

    when: LocatedText | None = None


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One rule as a file writes it."""

    id: LocatedText
    title: str
    kind: RuleKind
    scope: LocatedText
    when: LocatedText
    severity: Severity
    summary: LocatedText
    advice: str
    caveat: str
    source: Citation | tuple[Citation, ...]
    about: LocatedText | None = None
    family: str = ""
    rank: int = 0
    clear: ClearEntry = ClearEntry()
    hold: HoldSettings = AT_ONCE
    severity_if: tuple[SeverityCase, ...] = ()
    parameters: Mapping[LocatedText, ParameterEntry] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    mqsc: LocatedText | None = None
    mqsc_if: tuple[MqscCase, ...] = ()
    tier: Tier = ""
    caused_by: tuple[LocatedText, ...] = ()
    caused_by_partner: tuple[LocatedText, ...] = ()
    same_incident: tuple[LocatedText, ...] = ()
    quiet_restarts: bool = False
    off: bool = False
    plain_state: bool = False

    def __post_init__(self) -> None:
        if self.plain_state and self.parameters:
            raise ValueError("a plain state has no parameters; remove one of the two")
        if self.mqsc_if and self.mqsc is None:
            raise ValueError("mqsc_if needs mqsc, the command for when none of its conditions holds")


@dataclass(frozen=True, slots=True)
class PackFile:
    """The whole file."""

    rules: tuple[RuleEntry, ...]


def decode_pack(path: str, text: str, kinds: Mapping[str, Kind]) -> tuple[tuple[Rule, ...], list[Problem]]:
    """The rules that ``text`` writes and what is wrong with their shape and names; a rule with a problem is left out.

    When the shape is wrong there are no rules, and the kinds and expressions that can be read all the same are
    checked too, so that a person sees every mistake at once.
    """
    try:
        entries = decode(path, text, PackFile).rules
    except ConfigError as error:
        return (), [*error.problems, *_meaning_problems(path, text, kinds)]
    rules = []
    problems: list[Problem] = []
    for entry in entries:
        found = list(_name_problems(entry, kinds))
        problems += found
        if not found:
            rules.append(_rule(entry, PurePath(path).name.partition(".")[0]))
    return tuple(rules), problems


def _rule(entry: RuleEntry, topic: str) -> Rule:
    polls = entry.clear.polls or (CLEAR_POLLS if entry.kind is RuleKind.OPERATIONAL else 1)
    return Rule(
        id=entry.id,
        topic=topic,
        title=entry.title,
        kind=entry.kind,
        scope=str(entry.scope),
        about=str(entry.about or entry.scope),
        family=Family(entry.family, entry.rank) if entry.family else None,
        when=entry.when,
        clear=Clear(entry.clear.when, polls, entry.clear.records, entry.clear.duration),
        hold=Hold(entry.hold.polls or 1, entry.hold.duration, entry.hold.records, entry.hold.of),
        severity=entry.severity,
        severity_if=entry.severity_if,
        parameters={
            str(name): RuleParameter(str(name), each.value, each.unit, each.origin, each.meaning)
            for name, each in entry.parameters.items()
        },
        summary=entry.summary,
        advice=entry.advice,
        caveat=entry.caveat,
        sources=entry.source if isinstance(entry.source, tuple) else (entry.source,),
        needs=entry.needs,
        mqsc=entry.mqsc,
        mqsc_if=entry.mqsc_if,
        tier=entry.tier,
        caused_by=entry.caused_by,
        caused_by_partner=entry.caused_by_partner,
        same_incident=entry.same_incident,
        quiet_restarts=entry.quiet_restarts,
        off=entry.off,
        plain_state=entry.plain_state,
    )


def _name_problems(entry: RuleEntry, kinds: Mapping[str, Kind]) -> Iterator[Problem]:
    if not entry.id.strip():
        yield Problem(entry.id.place, "id", "a rule needs an id")
    scope = kinds.get(entry.scope)
    if scope is None:
        yield _no_kind(entry.scope, "scope", kinds)
    if entry.about is not None:
        about = kinds.get(entry.about)
        if about is None:
            yield _no_kind(entry.about, "about", kinds)
        elif not about.single:
            yield Problem(
                entry.about.place,
                "about",
                f"must be a kind with one object for each queue manager, and {about.name} has many",
            )
    for cause in entry.caused_by_partner:
        if scope is not None and scope.name not in ("channel", "queue", "qsg", "cluster_queue_manager"):
            yield Problem(
                cause.place,
                "caused_by_partner",
                f"a {scope.name} has no partner; only a channel, a transmission queue and a cluster queue manager have one,"
                " and a group its members",
            )
    for name in entry.parameters:
        if not name.isidentifier() or keyword.iskeyword(name):
            yield Problem(
                name.place, "parameters", f"{name!r} cannot be the name of a parameter; use letters, digits and _"
            )
        elif scope is not None and scope.metric(name) is not None:
            yield Problem(name.place, "parameters", f"{name!r} is already the name of a metric of {scope.name}")


def _meaning_problems(path: str, text: str, kinds: Mapping[str, Kind]) -> Iterator[Problem]:
    """What is wrong with the kinds and expressions of a file whose shape is wrong, as far as they can be
    found in it.
    """
    root, _ = compose(path, text)
    rules = _entries(root).get("rules")
    for node in rules.items if isinstance(rules, SequenceNode) else ():
        rule = _entries(node)
        written = rule.get("scope")
        if not isinstance(written, ScalarNode) or written.tag != "str":
            continue
        scope = kinds.get(written.text)
        if scope is None:
            yield _no_kind(written.located, "scope", kinds)
            continue
        names = dict.fromkeys(_entries(rule.get("parameters")), 1.0)
        conditions = [rule.get("when"), _entries(rule.get("clear")).get("when")]
        for cases in (rule.get("severity_if"), rule.get("mqsc_if")):
            items = cases.items if isinstance(cases, SequenceNode) else ()
            conditions += [_entries(case).get("when") for case in items]
        for condition in conditions:
            if isinstance(condition, ScalarNode) and condition.tag == "str":
                try:
                    compile_expression(condition.located, scope, kinds, names)
                except ExpressionError as error:
                    yield from error.problems


def _entries(node: Node | None) -> dict[str, Node]:
    if not isinstance(node, MappingNode):
        return {}
    return {key.text: value for key, value in node.items if isinstance(key, ScalarNode)}


def _no_kind(text: LocatedText, key: str, kinds: Mapping[str, Kind]) -> Problem:
    return Problem(text.place, key, f"there is no kind of object {str(text)!r}{did_you_mean(text, kinds)}")


def _shipped_folder() -> Traversable:
    return files("mqvitals_rules") / "packs"


def shipped_packs() -> tuple[tuple[str, str], ...]:
    """(file name, text) of every pack that comes with the product, in order of name."""
    folder = _shipped_folder()
    names = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml") and not entry.name.endswith(".test.yaml")
    )
    return tuple((name, (folder / name).read_text("utf-8")) for name in names)


def load_rules(kinds: Mapping[str, Kind], extra_files: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The shipped rules and those of further files. Raises ConfigError with what ``read_rules`` finds wrong."""
    rules, problems = read_rules(kinds, extra_files)
    if problems:
        raise ConfigError(problems)
    return rules


def read_rules(
    kinds: Mapping[str, Kind],
    extra_files: Sequence[str] = (),
    compiled: dict[str, CompiledRule] | None = None,
    deferred: set[str] | None = None,
) -> tuple[tuple[Rule, ...], list[Problem]]:
    """The shipped rules and those of further files, and every problem in them.

    A file that cannot be read is a problem of the place that names it, where the path knows its place. ``compiled``
    takes the compiled rules by id. Without it the expressions of shipped packs are not compiled, which takes longer
    than anything else: tests and ``rules check`` do that. Nor are they with ``deferred``, which takes the ids of their rules.
    """
    problems: list[Problem] = []
    shipped = shipped_packs()
    packs = list(shipped)
    trusted = frozenset(packs) if compiled is None or deferred is not None else frozenset()
    if len(extra_files) > MOST_FILES:
        place = extra_files[0].place if isinstance(extra_files[0], LocatedText) else Place("rules.files")
        problems.append(Problem(place, "", f"{len(extra_files):,} rule files are named; {MOST_FILES:,} can be read"))
        extra_files = ()
    for index, path in enumerate(extra_files):
        try:
            text = read(path)
        except UnreadableError as error:
            if isinstance(path, LocatedText):
                problems.append(Problem(path.place, f"rules.files[{index}]", str(error)))
            else:
                problems.extend(error.problems)
        except ConfigError as error:
            problems.extend(error.problems)
        else:
            # A file that is a shipped pack itself takes its place: its rules do not occur twice.
            packs = [each for each in packs if not _is_pack(path, each[0])]
            packs.append((path, text))
    rules, found = decode_packs(packs, kinds, compiled, trusted, decoded(shipped) if kinds is KINDS else {})
    if deferred is not None:
        paths = {path for path, _ in trusted}
        deferred.update(str(rule.id) for rule in rules if rule.id.place.path in paths)
    problems += found
    # A rule that cannot be read must not make those that name it look misspelt too.
    return rules, problems or unknown_causes(rules)


def _is_pack(path: str, name: str) -> bool:
    """Whether ``path`` is the file of the shipped pack with this file name."""
    pack = _shipped_folder() / name
    return PurePath(path).name == name and isinstance(pack, Path) and pack.is_file() and pack.samefile(path)


def decode_packs(
    packs: Iterable[tuple[str, str]],
    kinds: Mapping[str, Kind],
    compiled: dict[str, CompiledRule] | None = None,
    trusted: Collection[tuple[str, str]] = (),
    known: Mapping[tuple[str, str], tuple[Rule, ...]] = MappingProxyType({}),
) -> tuple[tuple[Rule, ...], list[Problem]]:
    """The rules of several files, (path, text) each, and every problem; ``compiled`` as for ``read_rules``.

    The expressions of ``trusted`` files are not compiled; ``known`` are the rules of files that were decoded before.
    """
    rules: list[Rule] = []
    problems: list[Problem] = []
    seen: dict[str, Rule] = {}
    for path, text in packs:
        before = known.get((path, text))
        own, found = decode_pack(path, text, kinds) if before is None else (before, [])
        problems += found
        for rule in own:
            first = seen.setdefault(str(rule.id), rule)
            if first is not rule:
                problems.append(Problem(rule.id.place, "id", f"the rule {rule.id} exists already, at {first.id.place}"))
                continue
            rules.append(rule)
            if (path, text) in trusted:
                continue
            try:
                found_rule = compile_rule(rule, kinds)
            except ConfigError as error:
                problems.extend(error.problems)
            else:
                if compiled is not None:
                    compiled[found_rule.id] = found_rule
    return tuple(rules), problems


def unknown_causes(rules: Sequence[Rule]) -> list[Problem]:
    """Rules that are named as causes and do not exist."""
    ids = [str(rule.id) for rule in rules]
    return [
        Problem(cause.place, key, f"there is no rule {str(cause)!r}{did_you_mean(cause, ids)}")
        for rule in rules
        for key, causes in (
            ("caused_by", rule.caused_by),
            ("caused_by_partner", rule.caused_by_partner),
            ("same_incident", rule.same_incident),
        )
        for cause in causes
        if cause not in ids
    ]
