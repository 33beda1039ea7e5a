"""Which applications of a day stand by themselves: those that used most processor time; the rest is one sum.

A job or a transaction is named with the queue that it used, ``job/queue``; ``*/*`` is all the others together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from mqvitals_agent.smf.layout.field import Value
from mqvitals_agent.smf.subject import APPLICATION
from mqvitals_agent.smf.total import Total
from mqvitals_rules.snapshot import ObjectName

DAY_MS: Final = 86_400_000
REST: Final = "*/*"
_MOST: Final = (1 << 63) - 1
"""What a store can hold."""
_TIMES: Final = ("openct", "closect", "getct", "putct", "put1ct", "inqct", "setct")
_OWN: Final = frozenset(
    {
        "wtid.atyp",
        "wtid.ccn",
        "wtid.cori",
        "wtid.chl",
        "objname",
        "basename",
        "qtype",
        "indxtype",
        "qsgdisp",
        "nps",
        "nbuffpool",
    }
)


def processor_time(fields: Mapping[str, Value | None]) -> int:
    """What an application's calls for a queue used, in TOD units."""
    return min(sum(value for key in _TIMES if isinstance(value := fields.get(key), int)), _MOST)


def top(used: Mapping[str, int], count: int) -> frozenset[str]:
    """The ``count`` names that used most; of equal ones those that come first in the alphabet."""
    return frozenset(sorted(used, key=lambda name: (-used[name], name))[:count])


def as_rest(total: Total) -> Total:
    """A total as a part of the rest: what is an application's own (its job, its queue) is not told."""
    fields = {key: None if key in _OWN else value for key, value in total.fields.items()}
    return replace(total, object=total.object._replace(name=REST), fields=fields)


def ranked(totals: Iterable[Total], count: int) -> list[Total]:
    """Totals of applications with all but the ``count`` costliest of each queue manager and day added up."""
    days: dict[tuple[str, int], list[Total]] = defaultdict(list)
    for total in totals:
        days[total.object.owner, total.ts // DAY_MS].append(total)
    found: list[Total] = []
    for each in days.values():
        used: dict[str, int] = defaultdict(int)
        for total in each:
            used[total.object.name] += processor_time(total.fields)
        first = top(used, count)
        rest: dict[tuple[ObjectName, int], Total] = {}
        for total in each:
            if total.object.name in first:
                found.append(total)
                continue
            part = as_rest(total)
            known = rest.get((part.object, part.ts))
            together = part if known is None else known.plus(part, APPLICATION.putting_together)
            rest[part.object, part.ts] = together
        found += rest.values()
    return found
