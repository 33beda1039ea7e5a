"""Patterns of object names: ``QM01/buffer_pool/3``, ``*/queue/BATCH.*``, ``QM0?/channel_initiator``."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from mqvitals_config.decoding.problem import LocatedText, Problem, did_you_mean
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

ALL_KINDS: Final = "*"
"""The kind of a pattern that selects objects of any."""


@dataclass(frozen=True, slots=True)
class ObjectPattern:
    """Selects objects of one kind, or with ``*`` as kind of all kinds.

    In owner and name ``*`` stands for any text, ``?`` for one character; nothing else is special.

    Without a name it selects every object of the kind.
    """

    text: str
    kind: str
    owner: re.Pattern[str]
    name: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> ObjectPattern:
        """Read a pattern. Raises ValueError when it has fewer than two parts or an empty one."""
        parts = text.split("/", 2)
        if len(parts) < 2 or not all(parts):
            raise ValueError(
                f"objects are written owner/kind/name, such as QM01/buffer_pool/3 or */queue/BATCH.*, not {text!r}"
            )
        return cls(text, parts[1], _glob(parts[0]), _glob(parts[2] if len(parts) == 3 else "*"))

    def matches(self, name: ObjectName) -> bool:
        """Whether the pattern selects the object."""
        return (
            self.kind in (name.kind, ALL_KINDS)
            and bool(self.owner.fullmatch(name.owner))
            and bool(self.name.fullmatch(name.name))
        )


def _glob(text: str) -> re.Pattern[str]:
    first, *middle = ("".join("." if char == "?" else re.escape(char) for char in part) for part in text.split("*"))
    if not middle:
        return re.compile(first, re.DOTALL)
    *middle, last = middle
    # Each part is searched once, behind the one before: linear time, also without a match.
    return re.compile(f"{first}{''.join(f'(?>.*?{part})' for part in middle if part)}.*{last}", re.DOTALL)


def pattern_of(text: LocatedText, key: str, kind: str, who: str) -> tuple[ObjectPattern | None, list[Problem]]:
    """The pattern that a setting ``key`` gives for objects of ``kind``, or its problem; ``who`` begins the message."""
    pattern, problems = _pattern(text, key, KINDS)
    if pattern is not None and pattern.kind != kind:
        message = f"{who} objects of kind {kind}, and this pattern selects {pattern.kind}"
        return None, [Problem(text.place, key, message)]
    return pattern, problems


def any_pattern_of(text: LocatedText, key: str) -> tuple[ObjectPattern | None, list[Problem]]:
    """The pattern that a setting ``key`` gives for objects of any kind, or of all (``QM01/*``); or its problem."""
    return _pattern(text, key, (*KINDS, ALL_KINDS))


def _pattern(text: LocatedText, key: str, kinds: Collection[str]) -> tuple[ObjectPattern | None, list[Problem]]:
    try:
        pattern = ObjectPattern.parse(text)
    except ValueError as error:
        return None, [Problem(text.place, key, str(error))]
    if pattern.kind not in kinds:
        offset = text.index("/") + 1
        message = f"there is no kind of object {pattern.kind!r}{did_you_mean(pattern.kind, KINDS)}"
        return None, [Problem(text.at(offset), key, message)]
    return pattern, []
