"""What is read from the decoded form of packs is what their YAML says, and anything that differs leads back to the YAML."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset import decoded_packs, pack
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.decoded_packs import Pack, decoded, encoded, main
from mqvitals_rules.ruleset.pack import decode_pack, read_rules, shipped_packs
from mqvitals_rules.ruleset.rule import Rule
from mqvitals_rules.vocabulary.tables import KINDS

PATH = "queues.yaml"
SHIPPED = shipped_packs()
RULES = {each: decode_pack(*each, KINDS)[0] for each in SHIPPED}
FILE = encoded(RULES)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for the decoded form."""
    return tmp_path_factory.mktemp("packs") / "decoded.json"


def test_shipped_packs_read_so_are_those_of_their_yaml(file: Path) -> None:
    """Every field of every rule, and where each text stands in which file."""
    assert main([str(file)]) == 0
    found = decoded(SHIPPED, file)
    assert found == RULES
    # Texts are equal wherever they stand: what is written again has the places too.
    assert encoded(found) == FILE
    for rules in found.values():
        for rule in rules:
            assert rule.id.place.path == rule.when.place.path == f"{rule.topic}.yaml"
            assert {type(getattr(rule, each.name)) for each in fields(rule)} <= _types_of(RULES, rule)


def _types_of(rules: dict[Pack, tuple[Rule, ...]], like: Rule) -> set[type]:
    (same,) = (each for every in rules.values() for each in every if each.id == like.id)
    return {type(getattr(same, each.name)) for each in fields(same)}


texts = st.text(max_size=8)
numbers = st.integers(0, 10**6)
located = st.builds(LocatedText, texts, st.builds(Place, st.just(PATH), numbers, numbers), texts)


@pytest.fixture(scope="module", autouse=True)
def _texts_with_places() -> Iterator[None]:
    st.register_type_strategy(LocatedText, located)
    st.register_type_strategy(float, st.floats(allow_nan=False))
    yield
    st.register_type_strategy(LocatedText, st.builds(LocatedText, texts, st.builds(Place, texts)))
    st.register_type_strategy(float, st.floats())


@given(data=st.data())
def test_any_rule_is_read_as_it_was_written(data: st.DataObject, file: Path) -> None:
    """Whatever its fields hold."""
    rules = st.lists(st.builds(Rule, **{each.name: ... for each in fields(Rule)}), max_size=3)
    packs = {(PATH, data.draw(texts)): tuple(data.draw(rules))}
    file.write_bytes(encoded(packs))
    found = decoded(tuple(packs), file)
    assert found == packs
    assert encoded(found) == encoded(packs)


@given(where=st.integers(0, len(FILE) - 1), bit=st.integers(0, 7))
def test_a_damaged_byte_is_noticed_wherever_it_is(where: int, bit: int, file: Path) -> None:
    """Also one that leaves the file valid JSON."""
    damaged = bytearray(FILE)
    damaged[where] ^= 1 << bit
    file.write_bytes(damaged)
    assert decoded(SHIPPED, file) == {}


@given(length=st.integers(0, len(FILE) - 1), more=st.binary(max_size=4))
def test_a_file_of_another_length_is_noticed(length: int, more: bytes, file: Path) -> None:
    """Cut off anywhere, or with something behind its end."""
    for content in (FILE[:length] + more, FILE + b" " + more):
        if content != FILE:
            file.write_bytes(content)
            assert decoded(SHIPPED, file) == {}


@pytest.mark.parametrize(
    "packs",
    [
        SHIPPED[1:],
        (*SHIPPED, SHIPPED[0]),
        (*reversed(SHIPPED),),
        ((SHIPPED[0][0], SHIPPED[0][1] + "\n"), *SHIPPED[1:]),
        (("x" + SHIPPED[0][0], SHIPPED[0][1]), *SHIPPED[1:]),
        # What one loses the next one gains.
        ((SHIPPED[0][0], SHIPPED[0][1][:-1]), (SHIPPED[1][0], SHIPPED[0][1][-1] + SHIPPED[1][1]), *SHIPPED[2:]),
    ],
)
def test_other_packs_are_decoded_themselves(packs: Sequence[Pack], file: Path) -> None:
    """One less, one more, another order, another text, another name."""
    file.write_bytes(FILE)
    assert decoded(SHIPPED, file)
    assert decoded(packs, file) == {}


@pytest.mark.parametrize(("package", "path"), decoded_packs._DECODED_BY)
def test_other_code_decodes_packs_itself(
    package: str, path: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a text means is for the code to say: after a change of any module that does, nothing older is believed."""
    file.write_bytes(FILE)
    for name in ("mqvitals_config", "mqvitals_rules"):
        source = Path(str(files(name)))
        shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(decoded_packs, "files", lambda name: tmp_path / name)
    assert decoded(SHIPPED, file)
    changed = tmp_path / package / path
    for module in sorted(changed.glob("*.py")) if changed.is_dir() else [changed]:
        before = module.read_text("utf-8")
        module.write_text(before + "# changed\n", "utf-8")
        assert decoded(SHIPPED, file) == {}
        module.write_text(before, "utf-8")
    assert decoded(SHIPPED, file)


@pytest.mark.parametrize("damage", ["missing", "folder", "empty", "another program's"])
def test_without_a_good_file_the_rules_are_those_of_the_packs(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody notices but by the time that it takes."""
    path = tmp_path / "decoded.json"
    if damage == "folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes(b"" if damage == "empty" else b"[]\n[[]]")
    monkeypatch.setattr(decoded_packs, "decoded_file", lambda: path)
    rules, problems = read_rules(KINDS)
    assert not problems
    assert rules == tuple(rule for found in RULES.values() for rule in found)


def test_what_is_known_is_not_decoded_again(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the site is, though it has the name of a pack."""
    file.write_bytes(FILE)
    monkeypatch.setattr(decoded_packs, "decoded_file", lambda: file)
    decoding: list[str] = []

    def noted(path: str, *rest: object) -> object:
        decoding.append(path)
        return decode_pack(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pack, "decode_pack", noted)
    rules, _ = read_rules(KINDS)
    assert not decoding
    assert encoded({("", ""): rules}) == encoded({("", ""): [rule for found in RULES.values() for rule in found]})
    ours = tmp_path / PATH
    ours.write_text("rules: []\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_rules(KINDS, [PATH])[0] == rules
    assert decoding == [PATH]


def test_tests_prepare_the_shipped_rules_once() -> None:
    """Thousands of tests load them: they get the same rules, and each compiled rule is the one made first."""
    first, again = load_rule_config(Settings()).rules, load_rule_config(Settings()).rules
    assert [id(rule) for rule in first.rules] == [id(rule) for rule in again.rules]
    assert first.compiled
    assert {name: id(rule) for name, rule in first.compiled.items()} == {
        name: id(rule) for name, rule in again.compiled.items()
    }
