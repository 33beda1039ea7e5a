"""Parses the text of an expression, within bounds; mistakes with their place in the text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place, Problem


class ExpressionError(ConfigError):
    """An expression cannot be used. ``problems`` holds every mistake found, each at its column."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong: at which character of the text (from 0), and a sentence."""

    offset: int
    message: str


class RefusedExpressionError(Exception):
    """Raised inside the package when a part of an expression is not accepted."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(mistake.message for mistake in self.mistakes))

    @classmethod
    def at(cls, offset: int, message: str) -> RefusedExpressionError:
        """One mistake."""
        return cls((Mistake(offset, message),))


def located(text: str) -> LocatedText:
    """``text`` with its place; one that comes from no file is called ``expression`` and counts columns from 1."""
    return text if isinstance(text, LocatedText) else LocatedText(text, Place("expression", 1, 1))


def problems(text: LocatedText, mistakes: Iterable[Mistake]) -> tuple[Problem, ...]:
    """The mistakes at their places in the file."""
    return tuple(Problem(text.at(mistake.offset), "", mistake.message) for mistake in mistakes)


MOST_CHARACTERS = 500
MOST_NODES = 100
DEEPEST = 25
LARGEST_NUMBER = 10**18

_BREAKS = re.compile(r"[\t\n\r\f\v\x85\u2028\u2029]")
_OTHER_LANGUAGES = {"&&": "and", "||": "or", "!": "not", "<>": "!=", "=": "=="}
_FOREIGN = re.compile(r"&&|\|\||<>|!(?!=)|(?<![=!<>:])=(?!=)")


class Syntax:
    """A parsed expression. Columns of its nodes are found with ``start`` and ``end``."""

    __slots__ = ("_bytes", "_line", "_skipped", "body")

    def __init__(self, body: ast.expr, line: str, skipped: int) -> None:
        self.body = body
        self._line = line
        self._bytes = None if line.isascii() else line.encode()
        self._skipped = skipped

    def start(self, node: ast.expr) -> int:
        """The character at which a node begins."""
        return self._offset(node.col_offset)

    def end(self, node: ast.expr) -> int:
        """The character after a node's last."""
        assert node.end_col_offset is not None, "the parser gives every expression an end"
        return self._offset(node.end_col_offset)

    def text(self, node: ast.expr) -> str:
        """A node as it is written."""
        return self._line[self.start(node) - self._skipped : self.end(node) - self._skipped]

    def _offset(self, column: int) -> int:
        # The parser counts bytes of UTF-8.
        characters = column if self._bytes is None else len(self._bytes[:column].decode())
        return characters + self._skipped


def parse(text: str) -> Syntax:
    """Parse ``text``. Raises RefusedExpressionError when it is no expression or beyond the limits."""
    if len(text) > MOST_CHARACTERS:
        raise RefusedExpressionError.at(MOST_CHARACTERS, f"longer than {MOST_CHARACTERS} characters")
    # A folded text of a YAML file may hold line ends, which mean nothing here; one for one, so that columns stay true.
    line = _BREAKS.sub(" ", text)
    if not line.strip():
        raise RefusedExpressionError.at(0, "an empty expression")
    _check_characters(line)
    bare = line.lstrip()
    skipped = len(line) - len(bare)
    try:
        with warnings.catch_warnings():
            # What Python only warns about, such as 5and 6, is no way to write a rule.
            warnings.simplefilter("error")
            tree = ast.parse(bare, mode="eval")
    except SyntaxError as error:
        # At the end of the text the parser gives no column.
        last = len(line.rstrip()) - 1
        offset = min(error.offset - 1 + skipped, last) if error.offset else last
        raise RefusedExpressionError.at(
            offset, _why(line, error.msg if error.offset else "something is missing at the end")
        ) from None
    except (RecursionError, MemoryError):
        raise RefusedExpressionError.at(0, "nested too deeply") from None
    except ValueError as error:
        raise RefusedExpressionError.at(0, f"cannot be read: {error}") from None
    syntax = Syntax(tree.body, bare, skipped)
    _check_size(syntax)
    return syntax


def _check_characters(line: str) -> None:
    quote = ""
    for offset, char in enumerate(line):
        if not char.isprintable():
            raise RefusedExpressionError.at(offset, f"the character U+{ord(char):04X} cannot be used")
        if char == "\\":
            raise RefusedExpressionError.at(offset, "a backslash cannot be used")
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            if line.startswith(char * 3, offset):
                raise RefusedExpressionError.at(offset, 'a text stands in single or double quotes: "5m"')
            quote = char
        elif char == "#":
            # The parser would drop the rest, which in a folded text is the rest of the rule.
            raise RefusedExpressionError.at(offset, "a comment cannot stand inside an expression")


def _why(line: str, message: str) -> str:
    foreign = _FOREIGN.search(line)
    if foreign:
        return f"cannot be read: write {_OTHER_LANGUAGES[foreign[0]]} instead of {foreign[0]}"
    return f"cannot be read: {message}"


def _check_size(syntax: Syntax) -> None:
    count = 0
    stack: list[tuple[ast.AST, int]] = [(syntax.body, 1)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, ast.expr):
            count += 1
            if depth > DEEPEST:
                raise RefusedExpressionError.at(syntax.start(node), f"nested more than {DEEPEST} levels deep")
        # Operators and the like are no nodes of their own to a reader.
        stack.extend((child, depth + isinstance(child, ast.expr)) for child in ast.iter_child_nodes(node))
    if count > MOST_NODES:
        raise RefusedExpressionError.at(0, f"has {count} parts, and {MOST_NODES} is the limit; make two rules of it")
