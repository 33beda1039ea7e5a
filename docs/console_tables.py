"""Writes the tables of console.md, made from the templates of messages and the shipped rules: ``make docs``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mqvitals_agent.console.template import TEMPLATES
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.settings import Settings
from mqvitals_rules.compiled_rule import CompiledRule
from mqvitals_rules.ruleset.config import load_rule_config

OBJECTS = {
    "buffer pools": ("pool",),
    "page sets": ("psid",),
    "queues": ("queue",),
    "channels": ("channel",),
    "structures": ("structure", "xes"),
    "shared message data sets": ("smds",),
}
"""What messages name, and the inserts that name it."""


def recognised() -> Iterator[str]:
    """The table of the messages that name an object."""
    yield "| About | Messages |"
    yield "|---|---|"
    for words, inserts in OBJECTS.items():
        found = []
        for code, template in TEMPLATES.items():
            groups = set(re.compile(template).groupindex)
            # A message about a data set names its structure too.
            if groups & set(inserts) and ("smds" in inserts or "smds" not in groups):
                found.append(code)
        yield f"| {words} | {', '.join(sorted(found))} |"


def evaluated() -> Iterator[str]:
    """The table of the messages that rules wait for: about what, which rule, how severe, and what ends the alert."""
    yield "| Messages | About | Rule | Severity | Ends |"
    yield "|---|---|---|---|---|"
    rules = load_rule_config(Settings()).rules
    for rule in rules.rules:
        compiled = rules.compiled[str(rule.id)]
        if compiled.awaited:
            codes = ", ".join(sorted(code for code in set().union(*(use.ids for use in compiled.awaited))))
            severities = sorted([rule.severity, *(case.severity for case in rule.severity_if)])
            severity = " to ".join(dict.fromkeys(each.name.lower() for each in (severities[0], severities[-1])))
            yield f"| {codes} | {rule.scope} | {rule.id} | {severity} | {ends(compiled)} |"


def ends(compiled: CompiledRule) -> str:
    """What ends the alert: other messages, the time after the last one, and the metrics that decide too."""
    partners = sorted(set().union(*(use.ends for use in compiled.awaited)))
    windows = sorted({use.window_ms for use in compiled.awaited if use.window_ms})
    if compiled.clear is not None:
        # What the condition looks at only decides when the alert begins.
        windows = sorted(windows_in(compiled.clear.text))
    if compiled.policy.clear_ms is not None:
        windows.append(compiled.policy.clear_ms)
    parts = [", ".join(partners)] if partners else []
    if windows:
        parts.append(f"{format_duration(windows[-1])} after the last")
    if not parts:
        parts.append("the next such message")
    metrics = sorted({name for each in (compiled.when, compiled.clear) if each for _, name in each.names})
    if metrics:
        parts.append(f"by {', '.join(f'`{name}`' for name in metrics)}")
    return ", or ".join(parts)


_WINDOW = re.compile(r'"(\d+)([smhd])"\)')
_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def windows_in(text: str) -> Iterator[int]:
    """The windows in the text of a condition, ms."""
    return (int(number) * _MS[unit] for number, unit in _WINDOW.findall(text))


TABLES = {"recognised": recognised, "evaluated": evaluated}


def with_tables(page: str) -> str:
    """The page with each table, between its two comments, as it must be."""
    for name, table in TABLES.items():
        begin = f"<!-- {name}: made by `make docs` -->"
        end = f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = "\n".join((f"{before}{begin}", *table(), f"{end}{after}"))
    return page


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text("utf-8")), encoding="utf-8")
