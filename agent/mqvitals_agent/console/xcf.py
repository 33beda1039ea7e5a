"""The answer to ``D XCF,STR,STRNAME=...``: message IXC360I, as a console, a SYSLOG or a job prints it.

Labels and their order are those of z/OS MVS System Messages, IXC360I. Each label is looked for in its line, whatever columns stand
before it, so that other releases' further lines do no harm. ACTUAL SIZE and ELEMENTS stand in a part of the message that IBM's page
shows in several forms; both known ones are read, and what is in none of them is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from mqvitals_agent.errors import MqvitalsError

MOST_LINES: Final = 200_000
"""More lines than this are no answer to a command."""
_NAME: Final = re.compile(r"\bSTRNAME:\s*([A-Z0-9$@#_]{1,16})(?:\s|$)")
_SIZE: Final = re.compile(r"\b(POLICY SIZE|POLICY INITSIZE|POLICY MINSIZE|ACTUAL SIZE)\s*:\s*(\d[\d,]*)\s*([KMGT])\b")
_NUMBER: Final = re.compile(r"\b(FULLTHRESHOLD)\s*:\s*(\d{1,3})\b")
_WORD: Final = re.compile(r"\b(ALLOWAUTOALT|DUPLEX)\s*:\s*([A-Z]+(?:,? [A-Z]+)*)")
_LIST: Final = re.compile(r"\b(PREFERENCE LIST)\s*:\s*([A-Z0-9$@# ]+?)\s*$")
_ELEMENTS: Final = re.compile(r"\bELEMENTS\s*:?\s*(?:IN-USE:)?\s*(\d[\d,]*),?\s+(?:TOTAL:)?\s*(\d[\d,]*)")
_KB: Final = {"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}
_SIZES: Final = {
    "POLICY SIZE": "policy_size_kb",
    "POLICY INITSIZE": "policy_initsize_kb",
    "POLICY MINSIZE": "policy_minsize_kb",
    "ACTUAL SIZE": "actual_size_kb",
}
_PENDING: Final = "PENDING POLICY INFORMATION"


class XcfError(MqvitalsError):
    """A text that holds no answer to ``D XCF,STR,STRNAME=``."""


@dataclass(slots=True)
class XcfStructure:
    """A structure by its name in z/OS, and what the answer says of it, by metric."""

    name: str
    values: dict[str, int | str] = field(default_factory=dict)


def xcf_structures(lines: Iterable[str]) -> list[XcfStructure]:
    """The structures of a text, in its order; of one that comes twice the last answer. Raises XcfError where there is none."""
    found: dict[str, XcfStructure] = {}
    present: XcfStructure | None = None
    pending = False
    for count, line in enumerate(lines):
        if count >= MOST_LINES:
            raise XcfError(f"more than {MOST_LINES:,} lines: this is no answer to D XCF,STR,STRNAME=")
        name = _NAME.search(line)
        if name is not None:
            found.pop(name[1], None)
            present = found[name[1]] = XcfStructure(name[1])
            pending = False
        elif _PENDING in line:
            # A policy that is not in force yet.
            pending = True
        elif "ALLOCATION TIME" in line or "ACTIVE STRUCTURE" in line:
            pending = False
        if present is not None and not pending:
            for metric, value in _values(line):
                # A structure that is being rebuilt has two instances: the first is the one in use.
                present.values.setdefault(metric, value)
    if not found:
        raise XcfError("no STRNAME: is in it; give the answer to D XCF,STR,STRNAME=... (message IXC360I)")
    return list(found.values())


def _values(line: str) -> Iterator[tuple[str, int | str]]:
    for label, number, unit in _SIZE.findall(line):
        yield _SIZES[label], _whole(number) * _KB[unit]
    for _, number in _NUMBER.findall(line):
        if 1 <= int(number) <= 100:
            yield "full_threshold_pct", int(number)
    for label, word in _WORD.findall(line):
        if label == "DUPLEX":
            yield "policy_duplex", word
        elif word in ("YES", "NO"):
            yield "auto_alter", int(word == "YES")
    for _, names in _LIST.findall(line):
        yield "preference_list", " ".join(names.split())
    elements = _ELEMENTS.search(line)
    if elements is not None and _whole(elements[1]) <= _whole(elements[2]):
        yield "elements_max", _whole(elements[2])


def _whole(digits: str) -> int:
    return int(digits.replace(",", "")[:15])
