"""The shipped rules in the form in which they were decoded, so that a program need not read their YAML at every start.

``make setup`` writes the file beside the packs, and the wheel has it:

    python -m mqvitals_rules.ruleset.decoded_packs rules/mqvitals_rules/packs/decoded.json

Its first line says what the rest was made from and what it holds, each as a hash. Where anything differs, because a pack or
the code that decodes packs was changed, or because the file is missing or damaged, the packs are decoded as they are.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin

from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.schema import hints_of
from mqvitals_rules.ruleset.rule import Rule

Pack = tuple[str, str]
"""The name of a pack's file, and its text."""

_DECODED_BY: Final = (
    ("mqvitals_config", "decoding"),
    ("mqvitals_config", "sections/rules.py"),
    ("mqvitals_rules", "ruleset/pack.py"),
    ("mqvitals_rules", "ruleset/rule.py"),
    ("mqvitals_rules", "ruleset/decoded_packs.py"),
    ("mqvitals_rules", "lifecycle/alert.py"),
    ("mqvitals_rules", "vocabulary"),
)
"""The code that decides what a pack's text means, and whether it is right: modules, and folders of them."""


def decoded_file() -> Traversable:
    """Where the decoded form of the shipped packs is, if it is anywhere."""
    return files("mqvitals_rules") / "packs" / "decoded.json"


def encoded(packs: Mapping[Pack, Sequence[Rule]]) -> bytes:
    """The file for these packs and their rules."""
    rows = [[_encoded(rule) for rule in rules] for rules in packs.values()]
    body = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    return f"{_made_from(packs)} {_hash(body)}\n".encode() + body


def decoded(packs: Sequence[Pack], file: Traversable | None = None) -> Mapping[Pack, tuple[Rule, ...]]:
    """The rules of the packs as ``file`` has them (None: the shipped one); none where it is not exactly of these packs."""
    try:
        head, _, body = (decoded_file() if file is None else file).read_bytes().partition(b"\n")
        if head != f"{_made_from(packs)} {_hash(body)}".encode():
            return {}
    except OSError:
        return {}
    # What the hash of the file covers was written by ``encoded`` in this form.
    rows = json.loads(body)
    return {pack: tuple(map(_decoder(Rule, pack[0]), rules)) for pack, rules in zip(packs, rows, strict=True)}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _made_from(packs: Mapping[Pack, object] | Sequence[Pack]) -> str:
    """A hash of the packs and of the code that decodes them. Raises OSError."""
    found = hashlib.sha256()
    for text in (*(text for pack in packs for text in pack), *_sources()):
        # Each with its length: a line that moves from one to the next must not look the same.
        content = text.encode()
        found.update(f"{len(content)} ".encode() + content)
    return found.hexdigest()


def _sources() -> list[str]:
    found: list[str] = []
    for package, path in _DECODED_BY:
        place = files(package) / path
        modules = sorted(place.iterdir(), key=lambda each: each.name) if place.is_dir() else [place]
        found += [each.read_text("utf-8") for each in modules if each.name.endswith(".py")]
    return found


def _encoded(value: Any) -> Any:
    """A value of a rule as JSON: a dataclass as the list of its fields."""
    match value:
        case LocatedText():
            return [str(value), value.place.line, value.place.column, value.source]
        case Enum():
            return value.name
        case tuple():
            return [_encoded(each) for each in value]
        case Mapping():
            return [[_encoded(key), _encoded(each)] for key, each in value.items()]
    if is_dataclass(value):
        return [_encoded(getattr(value, each.name)) for each in fields(value)]
    return value


def _decoder(hint: Any, path: str) -> Callable[[Any], Any]:
    """What makes a value of type ``hint`` of its JSON; ``path`` is the pack's, for the places of texts."""
    return _decoders(path)(hint)


@cache
def _decoders(path: str) -> Callable[[Any], Callable[[Any], Any]]:
    @cache
    def of(hint: Any) -> Callable[[Any], Any]:
        arguments = get_args(hint)
        if hint is LocatedText:
            return lambda row: LocatedText(row[0], Place(path, row[1], row[2]), row[3])
        if isinstance(hint, type) and issubclass(hint, Enum):
            return hint.__getitem__
        if isinstance(hint, type) and is_dataclass(hint):
            makers = [of(each) for each in hints_of(hint).values()]
            return lambda row: hint(*[make(each) for make, each in zip(makers, row, strict=True)])
        if get_origin(hint) is UnionType:
            (some,) = (of(each) for each in arguments if each is not NoneType)
            return lambda each: None if each is None else some(each)
        if get_origin(hint) is tuple:
            member = of(arguments[0])
            return lambda row: tuple([member(each) for each in row])
        if get_origin(hint) is Mapping:
            first, second = map(of, arguments)
            return lambda row: {first(key): second(each) for key, each in row}
        return _itself

    return of


def _itself(value: Any) -> Any:
    return value


def main(paths: Sequence[str]) -> int:
    """Write the decoded form of the shipped packs to each path; returns 1 where a pack is wrong. Raises OSError."""
    from mqvitals_rules.ruleset.pack import decode_pack, shipped_packs
    from mqvitals_rules.vocabulary.tables import KINDS

    found: dict[Pack, tuple[Rule, ...]] = {}
    for pack in shipped_packs():
        rules, problems = decode_pack(*pack, KINDS)
        if problems:
            sys.stderr.write("\n".join(map(str, problems)) + "\n")
            return 1
        found[pack] = rules
    for path in paths:
        Path(path).write_bytes(encoded(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
