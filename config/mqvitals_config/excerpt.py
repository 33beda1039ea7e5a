"""A problem as a person reads it: the sentence, then the line of the file with a caret under the spot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from unicodedata import combining, east_asian_width

from mqvitals_config.problem import LINE_BREAK, ConfigError, Problem
from mqvitals_config.source import read

_WIDTH = 100

_SECRET_KEY = re.compile(
    r"""(?i)(?:password|passwd|passphrase|pwd|token|secret|credential|api_?key)[\w-]*(?<!_file)(?<!_variable)["']?\s*:(?!//)\s*"""
)
_NOT_BLANK = re.compile(r"\S")
_ADDRESS = re.compile(r"""(?<=://)(?P<user>[^\s'"/?#]*@)?(?P<host>[^\s'"/?#]*)(?P<rest>[^\s'"]*)""")


def source_of(path: str) -> str | None:
    """The text of a file for excerpts, None when it cannot be read now."""
    try:
        return read(path)
    except ConfigError:
        return None


def explained(problems: Iterable[Problem], source: Callable[[str], str | None] = source_of) -> str:
    """Every problem with its line and a caret, in the order given. ``source`` gives the text of a path.

    A problem without a line, or whose file cannot be had, is its sentence alone. The text is safe for a terminal.
    """
    lines: dict[str, list[str]] = {}
    parts = []
    for problem in problems:
        path = problem.place.path
        if path not in lines:
            text = source(path) if problem.place.line else None
            if text is not None:
                lines[path] = LINE_BREAK.split(text.removeprefix("\ufeff"))
        parts.append(_explained(problem, lines.get(path, [])))
    return "\n".join(parts)


def _explained(problem: Problem, lines: list[str]) -> str:
    sentence = _safe(str(problem))
    number = problem.place.line
    if not 0 < number <= len(lines):
        return sentence
    before_it = lines[number - 2] if number > 1 else ""
    line, column = _without_secrets(lines[number - 1], before_it), max(problem.place.column, 1) - 1
    # A very long line is shown from a little before the spot.
    begin = max(column - _WIDTH // 2, 0) if len(line) > _WIDTH else 0
    before = _safe(line[begin : min(column, len(line))].replace("\t", " "))
    after = _safe(line[column : begin + _WIDTH].replace("\t", " ")).rstrip()
    margin = f"{number:>5} | "
    return f"{sentence}\n{margin}{before}{after}\n{' ' * (len(margin) + _cells(before))}^"


def _without_secrets(line: str, before: str = "") -> str:
    """``line``, of the same length, without values of passwords and tokens, and with nothing but the host of any address in it.

    Whoever knows a webhook's address may post to it. ``before`` is the line before: a value may begin on the next line.
    """
    if (key := _SECRET_KEY.search(line)) is not None:
        return line[: key.end()] + _NOT_BLANK.sub("*", line[key.end() :])
    if (key := _SECRET_KEY.search(before)) is not None and before[key.end() :].strip(" |>+-0123456789") == "":
        return _NOT_BLANK.sub("*", line)

    def starred(match: re.Match[str]) -> str:
        return "*" * len(match["user"] or "") + match["host"] + "*" * len(match["rest"])

    return _ADDRESS.sub(starred, line)


def _safe(text: str) -> str:
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
