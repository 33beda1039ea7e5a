"""The shipped rules against the catalogue of the documents' rules: none is forgotten, and what they say of themselves is what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from mqvitals_config.settings import Settings
from mqvitals_rules.check import prepare
from mqvitals_rules.rule import Rule, RuleKind

RULES_OF_THE_DOCUMENTS = 162
NOT_SHIPPED = Path(__file__).resolve().parents[3] / "docs" / "rules-not-shipped.md"
OWN = "mqvitals"
"""The document of rules that follow from no document."""

_HEADING = re.compile(
    r"### (?P<id>[A-Z0-9]+-\d\d) (?:★ )?(?P<title>.+?) - (?P<kind>\S+(?: \(\w+\))?) · (?P<tier>\S+) ·"
)
_FILE = re.compile(r"\b(00\d_[0-9a-f]{8,20}\.txt)\b")
_KINDS: Mapping[str, frozenset[RuleKind]] = {
    "OP": frozenset({RuleKind.OPERATIONAL}),
    "REV": frozenset({RuleKind.REVIEW}),
    "REV/OP": frozenset({RuleKind.REVIEW, RuleKind.OPERATIONAL}),
    "APP": frozenset({RuleKind.APPLICATION}),
    "DQ": frozenset({RuleKind.DATA_QUALITY}),
}


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of a rule. ``documents``: the titles of those that it follows from."""

    kinds: frozenset[RuleKind]
    tier: str
    documents: frozenset[str]


@dataclass(frozen=True)
class Catalogue:
    """``sections``: the names of sections that are quoted anywhere, or traced to what they led to, by document."""

    entries: Mapping[str, Entry]
    sections: Mapping[str, frozenset[str]]


@cache
def shipped() -> Mapping[str, Rule]:
    return {str(rule.id): rule for rule in prepare(Settings()).rules.rules}


def left_out() -> list[list[str]]:
    """The cells of each row of the page of rules that are not shipped."""
    lines = NOT_SHIPPED.read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if re.fullmatch(r"[A-Z0-9]+-\d\d", row[0])]


def read_catalogue(text: str) -> Catalogue:
    titles = {found[1]: found[2] for found in re.finditer(r"^\| (00\S+\.txt) \| \*(.+?)\*", text, re.MULTILINE)}
    sections: dict[str, set[str]] = {title: set() for title in titles.values()}
    entries = {}
    for block in re.split(r"^(?=### )", text, flags=re.MULTILINE):
        heading, traced = _HEADING.match(block), re.match(r"### D\.\d (\S+\.txt)", block)
        if traced is not None:
            cells = re.findall(r"^\| ([^|]+) \|", block, re.MULTILINE)
            sections[titles[traced[1]]] |= {_plain(part) for cell in cells for part in re.split(r"[(;+]|: | - ", cell)}
        for file, quoted in _sources(block):
            sections[titles[file]] |= set(map(_plain, quoted))
        if heading is not None:
            documents = frozenset(titles[file] for file, _ in _sources(block))
            entries[heading["id"]] = Entry(_KINDS[heading["kind"].partition(" ")[0]], heading["tier"], documents)
    return Catalogue(entries, {title: frozenset(names - {""}) for title, names in sections.items()})


def _sources(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each file that is cited as a source, and the names quoted of it."""
    for source in re.findall(r"Source: (.*)", block):
        parts = _FILE.split(source)[1:]
        for file, rest in zip(parts[::2], parts[1::2], strict=True):
            yield file, re.findall(r'"([^"]+)"', rest)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", " ", name.casefold().removesuffix("...")).strip()


@pytest.fixture(scope="module")
def catalogue(shared_data: Path) -> Catalogue:
    path = shared_data.parent / "reference" / "rules-catalogue.md"
    if not path.is_file():
        pytest.skip(f"no catalogue at {path}")
    return read_catalogue(path.read_text("utf-8"))


def test_what_is_not_shipped_says_why() -> None:
    """Each row has a title, a tier and a reason in words, and is no rule that is shipped."""
    for rule, title, tier, reason in left_out():
        assert rule not in shipped()
        assert title
        assert re.fullmatch("[PSMD](?:[>+|][PSMD])*", tier.replace("\\", ""))
        assert len(reason.split()) >= 8


def test_no_rule_is_forgotten(catalogue: Catalogue) -> None:
    """Every rule of the catalogue is shipped, or stands among those that are not; and the packs have no other but the agent's own."""
    wanted = catalogue.entries.keys()
    assert len(wanted) == RULES_OF_THE_DOCUMENTS
    told = shipped().keys() | {row[0] for row in left_out()}
    assert sorted(wanted - told) == []
    assert sorted(rule for rule in told - wanted if not rule.startswith("AGENT-")) == []


def test_most_are_shipped(catalogue: Catalogue) -> None:
    """At least 130 of them."""
    assert len(shipped().keys() & catalogue.entries.keys()) >= 130


def test_tiers_are_the_catalogue_s(catalogue: Catalogue) -> None:
    """Where a rule's data come from."""
    entries = catalogue.entries
    told = {rule: shipped()[rule].tier for rule in sorted(shipped().keys() & entries.keys())}
    assert told == {rule: entries[rule].tier for rule in told}


def test_kinds_are_the_catalogue_s(catalogue: Catalogue) -> None:
    """What an alert of a rule is for."""
    entries = catalogue.entries
    assert [rule for rule in shipped().keys() & entries.keys() if shipped()[rule].kind not in entries[rule].kinds] == []


def test_rules_of_the_agent_have_a_tier_of_their_own() -> None:
    """They follow from no document."""
    own = [rule for rule in shipped().values() if rule.id.startswith("AGENT-")]
    assert own
    assert {rule.tier for rule in own} == {"A"}
    assert {source.document for rule in own for source in rule.sources} == {OWN}


def test_every_source_is_in_the_catalogue(catalogue: Catalogue) -> None:
    """Each rule names documents that the catalogue names for it, and of each a section that the catalogue knows."""
    cited = [
        (rule, source, entry.documents)
        for rule, entry in catalogue.entries.items()
        if rule in shipped()
        for source in shipped()[rule].sources
    ]
    assert cited
    assert [
        f"{rule}: {source.document}, {source.section}"
        for rule, source, documents in cited
        if source.document not in documents or not _known(source.section, catalogue.sections[source.document])
    ] == []


def _known(section: str, names: frozenset[str]) -> bool:
    written = f" {_plain(section)} "
    return any(written.startswith(f" {name} ") for name in names)


def test_sections_are_told_apart(catalogue: Catalogue) -> None:
    """A section that the document does not have is found out."""
    names = catalogue.sections["Performance Tuning and Problem Determination"]
    assert _known("What does buffer pool stress look like? and its notes", names)
    assert not _known("What does buffer pool bliss look like?", names)
    assert not _known("2.3.1 Results", names)
