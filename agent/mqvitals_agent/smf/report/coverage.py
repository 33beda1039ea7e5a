"""Which records are there and which are not: gaps between intervals, and what to switch on for what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from mqvitals_agent.smf.report.evidence import Source
from mqvitals_agent.smf.report.staging import Span

MOST_GAPS: Final = 5
"""So many gaps are named, the others counted."""
_TOLERANCE_US: Final = 2_000_000
"""Intervals do not join to the microsecond."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """The intervals of one subtype: how many, their shortest and longest length, and gaps (microseconds)."""

    number: int
    shortest_us: int
    longest_us: int
    gaps: tuple[Span, ...]
    gap_count: int


def intervals_of(spans: Iterable[Span]) -> Intervals | None:
    """What is to be said about intervals that come in the order of their beginnings; None when there are none."""
    number = gap_count = 0
    shortest = longest = 0
    covered: int | None = None
    gaps: list[Span] = []
    for began, ended in spans:
        length = ended - began
        shortest = length if not number else min(shortest, length)
        longest = max(longest, length)
        number += 1
        if covered is not None and began - covered > _TOLERANCE_US:
            gap_count += 1
            if len(gaps) < MOST_GAPS:
                gaps.append((covered, began))
        covered = ended if covered is None else max(covered, ended)
    return Intervals(number, shortest, longest, tuple(gaps), gap_count) if number else None


class Wanted(NamedTuple):
    """Records that a health check goes by: ``kinds`` are the objects they tell of, ``since`` the release that has them first."""

    subtypes: frozenset[tuple[int, int]]
    since: int
    what: str
    how: str
    kinds: tuple[str, ...]


WANTED: Final = (
    Wanted(
        frozenset({(115, 1)}),
        0,
        "logs (115 subtype 1)",
        "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP",
        ("log",),
    ),
    Wanted(
        frozenset({(115, 215)}),
        800,
        "buffer pools (115 subtype 215)",
        "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP",
        ("buffer_pool",),
    ),
    Wanted(
        frozenset({(115, 201)}),
        900,
        "page sets (115 subtype 201)",
        "START TRACE(STAT) CLASS(1), or SMFSTAT in CSQ6SYSP",
        ("page_set",),
    ),
    Wanted(
        frozenset({(115, 231)}),
        800,
        "channel initiator, adapters and dispatchers (115 subtype 231)",
        "START TRACE(STAT) CLASS(4)",
        ("channel_initiator", "adapter", "dispatcher", "ssl_task", "dns_task"),
    ),
    Wanted(
        frozenset({(115, 216)}),
        930,
        "queues (115 subtype 216)",
        "START TRACE(STAT) CLASS(5), and STATQ of the queue manager and its queues",
        ("queue",),
    ),
    Wanted(
        frozenset({(116, 10)}),
        800,
        "channels (116 subtype 10)",
        "START TRACE(ACCTG) CLASS(4), and STATCHL of the queue manager and its channels",
        ("channel",),
    ),
    Wanted(
        frozenset({(116, 1), (116, 2)}),
        0,
        "applications (116 subtypes 1 and 2)",
        "START TRACE(ACCTG) CLASS(3) for a while, and ACCTQ of the queue manager and its queues",
        ("application",),
    ),
)
"""In the order of their use."""


def missing(source: Source) -> tuple[Wanted, ...]:
    """The records that a queue manager did not write though its release can."""
    newest = max(source.releases, default=0)
    return tuple(
        each
        for each in WANTED
        if not each.subtypes & source.records.keys() and (not each.since or newest >= each.since)
    )
