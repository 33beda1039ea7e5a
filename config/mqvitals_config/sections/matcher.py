"""Matchers of labels, in the form that Alertmanager's users write: ``severity=critical``, ``object=~"QM01/queue/PAY.*"``.

Regular expressions are RE2's, matched against the whole value, as Alertmanager's: their time grows with the text alone,
so that nobody's silence can stop the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final, Protocol

from mqvitals_config.decoding.problem import shown

_FORM: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]{0,99})\s*(=~|!~|!=|=)\s*(.*)", re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_UNQUOTED: Final = re.compile(r"""[^\s",={}~!'`][^\s",]*""")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@*?+-]+")
_ESCAPE: Final = re.compile(r'\\(n|"|\\)')
_ESCAPED: Final = {"\n": "\\n", '"': '\\"', "\\": "\\\\"}
_LONE: Final = re.compile("[\ud800-\udfff]")
LONGEST: Final = 1_000
"""Characters of a matcher's value."""


class Operator(Enum):
    """How a label's value is compared. A label that an alert lacks has the empty value."""

    EQUAL = "="
    NOT_EQUAL = "!="
    REGEX = "=~"
    NOT_REGEX = "!~"

    @property
    def is_regex(self) -> bool:
        """True where the value is a regular expression."""
        return self in (Operator.REGEX, Operator.NOT_REGEX)


class _Pattern(Protocol):
    def fullmatch(self, text: str, /) -> object: ...


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> _Pattern:
    """The regular expression, for whole values. Raises ValueError."""
    import re2  # here, because most commands need none

    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        compiled: _Pattern = re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"{shown(pattern)} is no regular expression (RE2): {shown(words)[1:-1]}") from None
    return compiled


@dataclass(frozen=True, slots=True)
class Matcher:
    """A comparison of one label.

    Raises ValueError for a value that no matcher can hold, and for one that is no regular expression where one is needed.
    """

    label: str
    operator: Operator
    value: str
    _pattern: _Pattern | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if len(self.value) > LONGEST:
            raise ValueError(f"the value of a matcher has at most {LONGEST:,} characters, not {len(self.value):,}")
        if _LONE.search(self.value):
            raise ValueError(f"{shown(self.value)} is no text: it has bytes that are not UTF-8")
        if self.operator.is_regex:
            object.__setattr__(self, "_pattern", _compiled(self.value))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether it matches an alert with these labels."""
        value = labels.get(self.label, "")
        if not value.isascii():
            value = _LONE.sub("\ufffd", value)  # as receivers get it, and as RE2 can read it
        if self._pattern is None:
            return (value == self.value) is (self.operator is Operator.EQUAL)
        return (self._pattern.fullmatch(value) is not None) is (self.operator is Operator.REGEX)

    def __str__(self) -> str:
        value = self.value
        if not _PLAIN.fullmatch(value):
            value = '"' + "".join(_ESCAPED.get(char, char) for char in value) + '"'
        return f"{self.label}{self.operator.value}{value}"

    def __reduce__(self) -> tuple[type[Matcher], tuple[str, Operator, str]]:
        # The compiled pattern cannot be copied.
        return Matcher, (self.label, self.operator, self.value)


def parse_matcher(text: str) -> Matcher:
    """``rule=BP-03``, ``object=~"QM01/queue/PAY.*"``. Raises ValueError with a sentence for what is none.

    As Alertmanager reads it: a value may be quoted, and ``\\n``, ``\\"`` and ``\\\\`` are escapes; any other backslash is itself.
    What Alertmanager's newer form refuses without quotes (blanks, commas) is refused, since it is most likely several matchers.
    """
    found = _FORM.fullmatch(text[: 4 * LONGEST])
    if found is None:
        raise ValueError(
            f"{shown(text)} is no matcher: write a label, =, !=, =~ or !~, and a value, such as severity=critical"
        )
    label, operator, rest = found[1], Operator(found[2]), found[3].rstrip()
    if len(text) > 4 * LONGEST:
        raise ValueError(f"the value of a matcher has at most {LONGEST:,} characters")
    if not rest:
        return Matcher(label, operator, "")
    if rest.startswith('"'):
        quoted = _QUOTED.fullmatch(rest)
        if quoted is None:
            raise ValueError(f"{shown(text)}: the double quotes of the value do not fit")
        rest = quoted[1]
    elif not _UNQUOTED.fullmatch(rest):
        raise ValueError(f"{shown(text)}: write the value in double quotes, and each matcher by itself")
    return Matcher(label, operator, _ESCAPE.sub(lambda char: "\n" if char[1] == "n" else char[1], rest))


def match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Whether all of them match."""
    return all(each.matches(labels) for each in matchers)


def matchers_text(matchers: Iterable[Matcher]) -> str:
    """``rule=BP-03 severity=critical``."""
    return " ".join(map(str, matchers))
