"""Words for messages: what stands in a file, and lists of what could."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mqvitals_config.node import MappingNode, Node, ScalarNode, SequenceNode
from mqvitals_config.suggestion import shown


def described(node: Node) -> str:
    """What stands there, in words."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if not isinstance(node, ScalarNode) or node.tag == "null":
        return "nothing"
    if node.tag == "bool":
        return f"the boolean {node.text}"
    if node.tag in ("int", "float"):
        return f"the number {word_of(node.text)}{_as_read(node)}"
    if node.tag == "timestamp":
        return f"the date {word_of(node.text)}"
    return f"the string {shown(node.text)}"


def _as_read(node: ScalarNode) -> str:
    """For numbers that YAML 1.1 reads in a way nobody expects: how."""
    digits = node.text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    number: int | None = None
    if len(digits) > 20:  # nobody's time of day
        return ""
    if ":" in digits and "." not in digits:
        number = 0
        for part in digits.split(":"):
            number = number * 60 + int(part)
    elif re.fullmatch("0[0-7]+", digits):
        number = int(digits, 8)
    return "" if number is None else f" (YAML reads {sign * number})"


def word_of(text: str) -> str:
    """A key or number of the file as part of a message: safe and not too long."""
    return shown(text)[1:-1]


def listing(words: Iterable[str], last: str = "and") -> str:
    """``a, b and c``."""
    *first, final = list(words) or ["nothing"]
    return f"{', '.join(first)} {last} {final}" if first else final
