"""YAML text to nodes that know their place, bounded in size and depth, without aliases, anchors, tags and merges.

Built from libyaml's events rather than by its own composer: an alias is refused where it stands, before anything
expands, and nothing here recurses, whatever the depth of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from mqvitals_config.decoding.problem import LINE_BREAK, LocatedText, Place, Problem, shown, word_of
from mqvitals_config.decoding.source import LARGEST_BYTES

DEEPEST = 40
MOST_NODES = 100_000
MOST_PROBLEMS = 1000

# PyYAML without libyaml has only the slow loader, which reads the same language.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What YAML allows in a text, less the byte order mark.
_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")

_STANDARD = "tag:yaml.org,2002:"


@dataclass(slots=True)
class BrokenNode:
    """Stands for a node that was refused already: later checks skip it."""

    place: Place


@dataclass(slots=True)
class ScalarNode:
    """A single value. ``tag`` is what YAML 1.1 takes it for: str, bool, int, float, null, timestamp, merge, value.

    ``style`` is how it is quoted: ``'``, ``"``, ``|``, ``>`` or empty. ``source`` is the text as the file writes it,
    quotes included; empty where that is the same.
    """

    place: Place
    text: str
    tag: str
    style: str = ""
    source: str = ""

    @property
    def located(self) -> LocatedText:
        """The text at the place of its first character, with the source where that reads differently."""
        place, source = self.place, self.source
        if self.style in ("'", '"'):
            source = source[1:-1]
            place = Place(place.path, place.line, place.column + 1)
        elif self.style in ("|", ">"):
            _header, *rest = LINE_BREAK.split(source, maxsplit=1)
            source = "".join(rest)
            start = len(source) - len(source.lstrip(" \t\r\n\x85\u2028\u2029"))
            skipped = LINE_BREAK.split(source[:start])
            source = source[start:]
            place = Place(place.path, place.line + len(skipped), len(skipped[-1]) + 1)
        return LocatedText(self.text, place, "" if source == self.text else source)


@dataclass(slots=True)
class SequenceNode:
    """A list."""

    place: Place
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class MappingNode:
    """Keys and their values, as written: duplicates are still in it."""

    place: Place
    items: list[tuple[Node, Node]] = field(default_factory=list)


Node = ScalarNode | SequenceNode | MappingNode | BrokenNode


def compose(path: str, text: str) -> tuple[Node | None, list[Problem]]:
    """The nodes of the one document in ``text``, None when it holds none, and every problem of the YAML itself.

    After a syntax error the nodes are not to be used; they are None then.
    """
    text = text.removeprefix("\ufeff")
    if len(text) > LARGEST_BYTES:
        return None, [Problem(Place(path), "", f"is longer than {LARGEST_BYTES} characters")]
    bad = _NOT_ALLOWED.search(text)
    if bad:
        before = LINE_BREAK.split(text[: bad.start()])
        place = Place(path, len(before), len(before[-1]) + 1)
        return None, [Problem(place, "", f"the character U+{ord(bad[0]):04X} is not allowed in YAML; remove it")]
    return _Composer(path, text).compose()


class _Composer:
    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[Problem] = []
        self.refused: set[str] = set()

    def compose(self) -> tuple[Node | None, list[Problem]]:
        loader = _LOADER(self.text)
        try:
            root = self._document(loader)
        except yaml.MarkedYAMLError as error:
            root = None
            self.problems.append(self._syntax(error))
        except yaml.YAMLError as error:
            root = None
            self.problems.append(Problem(Place(self.path), "", f"not valid YAML: {error}"))
        except _TooMuchError as limit:
            root = None
            self.problems.append(limit.problem)
        finally:
            loader.dispose()
        return root, self.problems

    def _document(self, loader: Any) -> Node | None:
        root: Node | None = None
        open_nodes: list[SequenceNode | MappingNode] = []
        keys: list[Node | None] = []  # of each open mapping the key that waits for its value
        count = 0
        while loader.check_event():
            event = loader.get_event()
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                self.problems.append(Problem(self._place(event), "", "a second document starts here; a file holds one"))
                break
            if isinstance(event, yaml.CollectionEndEvent):
                open_nodes.pop()
                keys.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            count += 1
            node = self._node(event, loader)
            if count > MOST_NODES:
                raise _TooMuchError(Problem(node.place, "", f"more than {MOST_NODES:,} values in one file"))
            if not open_nodes:
                root = node
            elif isinstance(parent := open_nodes[-1], SequenceNode):
                parent.items.append(node)
            elif (key := keys[-1]) is None:
                keys[-1] = node
            else:
                parent.items.append((key, node))
                keys[-1] = None
            if isinstance(event, yaml.CollectionStartEvent):
                if len(open_nodes) == DEEPEST:
                    raise _TooMuchError(Problem(node.place, "", f"nested deeper than {DEEPEST} levels"))
                # A refused collection is still read to its end, into a node that is discarded.
                opened = node if isinstance(node, SequenceNode | MappingNode) else SequenceNode(node.place)
                open_nodes.append(opened)
                keys.append(None)
        return root

    def _place(self, event: Any) -> Place:
        return Place(self.path, event.start_mark.line + 1, event.start_mark.column + 1)

    def _node(self, event: Any, loader: Any) -> Node:
        place = self._place(event)
        if isinstance(event, yaml.AliasEvent):
            self._refuse(place, f"*{event.anchor}", _alias_message(f"*{event.anchor}"))
            return BrokenNode(place)
        if event.anchor is not None:
            message = "an unquoted '&' begins a YAML anchor, which is not allowed; quote the text, or repeat the value"
            self._refuse(place, "&", message)
        tag = getattr(event, "tag", None)
        if tag is not None:
            word = _first_word(self.text[event.start_mark.index :])
            message = f"an unquoted '!' begins a YAML tag, which is not allowed; quote the text: '{word}'"
            self._refuse(place, word, message)
            return BrokenNode(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return SequenceNode(place)
        if isinstance(event, yaml.MappingStartEvent):
            return MappingNode(place)
        start, end = event.start_mark, event.end_mark
        # With an anchor, which was refused, the source begins with that.
        source = "" if event.anchor is not None else self.text[start.index : end.index]
        plain = event.implicit[0]
        tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit).removeprefix(_STANDARD) if plain else "str"
        return ScalarNode(place, event.value, tag, event.style or "", source)

    def _refuse(self, place: Place, what: str, message: str) -> None:
        if what not in self.refused:  # once each: an alias bomb has hundreds of the same
            self.refused.add(what)
            if len(self.problems) == MOST_PROBLEMS:
                raise _TooMuchError(too_many_problems(self.path))
            self.problems.append(Problem(place, "", message))

    def _syntax(self, error: yaml.MarkedYAMLError) -> Problem:
        mark = error.problem_mark or error.context_mark
        if mark is None:
            return Problem(Place(self.path), "", f"not valid YAML: {error.problem or error.context}")
        place = Place(self.path, mark.line + 1, mark.column + 1)
        rest = self.text[mark.index :]
        context = str(error.context or "")
        if "alias" in context or "anchor" in context:
            begin = error.context_mark or mark
            place = Place(self.path, begin.line + 1, begin.column + 1)
            word = _first_word(self.text[begin.index :])
            if word.startswith("*"):
                return Problem(place, "", _alias_message(word))
        if "cannot start any token" in str(error.problem) and rest:
            if rest[0] == "\t":
                return Problem(place, "", "a tab cannot indent in YAML; use blanks")
            return Problem(place, "", f"an unquoted text cannot begin with '{rest[0]}'; quote it")
        if "end of stream" in str(error.problem) and "quoted" in context and error.context_mark:
            begin = error.context_mark
            return Problem(Place(self.path, begin.line + 1, begin.column + 1), "", "this quote is never closed")
        line = LINE_BREAK.split(self.text[: mark.index])[-1]
        if str(error.problem).startswith("mapping values"):
            message = "no key can stand here; is this line indented like the lines around it?"
            if ": " in line:
                message = "a second ': ' on this line; quote the value, or put its keys on lines of their own"
            return Problem(place, "", message)
        message = f"not valid YAML: {error.problem}"
        if context:
            message += f", {context}"
            if error.context_mark and error.context_mark.line != mark.line:
                message += f" that began on line {error.context_mark.line + 1}"
        if "expected key" in message or "expected <block end>" in message:
            message += "; is this line indented like the lines around it?"
        return Problem(place, "", message)


class _TooMuchError(Exception):
    """A bound was passed; composing stops."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def too_many_problems(path: str) -> Problem:
    """The last problem of a file that has too many to list."""
    return Problem(Place(path), "", f"more than {MOST_PROBLEMS} problems; these are the first")


def _alias_message(word: str) -> str:
    return f"an unquoted '*' begins a YAML alias, which is not allowed; quote the text: '{word}'"


def _first_word(text: str) -> str:
    found = re.match(r"[^\s,\[\]{}]{0,60}", text)
    return found[0].removesuffix(":") if found else ""


def described(node: Node) -> str:
    """A node in words: ``the string 'x'``, ``a list``."""
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
    """How YAML 1.1 reads a number, where that is unexpected."""
    digits = node.text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    number: int | None = None
    if len(digits) > 20:  # no time of day
        return ""
    if ":" in digits and "." not in digits:
        number = 0
        for part in digits.split(":"):
            number = number * 60 + int(part)
    elif re.fullmatch("0[0-7]+", digits):
        number = int(digits, 8)
    return "" if number is None else f" (YAML reads {sign * number})"
