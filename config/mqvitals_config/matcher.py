"""Matchers of labels, in the form that Alertmanager's users write: ``severity=critical``, ``object=~"QM01/queue/PAY.*"``.

Regular expressions are RE2's, matched against the whole value, as Alertmanager's: their time grows with the text alone,
so that nobody's silence can stop the agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final, Protocol

_FORM: Final = re.compile(
    r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|[^\s"{}][^"]*?)?\s*', re.DOTALL
)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@*?+-]+")
LONGEST: Final = 1_000
"""Characters of a matcher."""


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
    """Raises ValueError."""
    import re2  # here, because most commands need none

    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        compiled: _Pattern = re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"{pattern!r} is no regular expression (RE2): {words}") from None
    return compiled


@dataclass(frozen=True, slots=True)
class Matcher:
    """A comparison of one label. Raises ValueError for a value that is no regular expression where one is needed."""

    label: str
    operator: Operator
    value: str
    _pattern: _Pattern | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.operator.is_regex:
            object.__setattr__(self, "_pattern", _compiled(self.value))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether it matches an alert with these labels."""
        value = labels.get(self.label, "")
        if self._pattern is None:
            return (value == self.value) is (self.operator is Operator.EQUAL)
        return (self._pattern.fullmatch(value) is not None) is (self.operator is Operator.REGEX)

    def __str__(self) -> str:
        value = self.value if _PLAIN.fullmatch(self.value) else json.dumps(self.value, ensure_ascii=False)
        return f"{self.label}{self.operator.value}{value}"


def parse_matcher(text: str) -> Matcher:
    """``rule=BP-03``, ``object=~"QM01/queue/PAY.*"``. Raises ValueError with a sentence for what is none."""
    if len(text) > LONGEST:
        raise ValueError(f"a matcher has at most {LONGEST} characters")
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is no matcher: write a label, =, !=, =~ or !~, and a value, such as severity=critical"
        )
    label, operator, value = found[1], Operator(found[2]), found[3] or ""
    if value.startswith('"'):
        try:
            value = json.loads(value, strict=False)
        except ValueError:
            raise ValueError(f"{text!r}: what stands in double quotes has an escape that is none") from None
    return Matcher(label, operator, value)


def match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Whether all of them match."""
    return all(each.matches(labels) for each in matchers)


def matchers_text(matchers: Iterable[Matcher]) -> str:
    """``rule=BP-03 severity=critical``, as it is typed."""
    return " ".join(map(str, matchers))
