"""Restarts of queue managers, detected by the sequence numbers of their records.

A queue manager numbers its records from 1 on after each start (QWHS), so a lower number means a restart. Its buffers
are empty then and work has queued up, so rates and increases of the first two intervals are absent as ``restarted
lately``. The channel initiator numbers nothing: its records follow the queue manager's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from mqvitals_agent.smf.kinds import mapping_of
from mqvitals_agent.smf.record import Record, utc_text
from mqvitals_rules.snapshot import Reading
from mqvitals_rules.vocabulary.metric import Absence, Reported

GUARDED_INTERVALS: Final = 2
"""The number of intervals after a restart without rates and increases."""
_TOGETHER_US: Final = 2_000_000
"""Records of one interval end within this time of each other, in any order."""
_WRAPS: Final = 0xF000_0000
"""A number beyond this has wrapped round when a lower one follows."""


class Restart(NamedTuple):
    """A restart between the end of the last record before it and the end of the first record after it.

    Both are microseconds since 1970 UTC; ``until_us`` is the beginning of the first interval where that is known.
    """

    queue_manager: str
    since_us: int
    until_us: int

    def words(self) -> str:
        """``QM01 was restarted between 2026-03-01 12:00:05 and 12:01:00 UTC``."""
        since, until = (utc_text(each) or "" for each in (self.since_us, self.until_us))
        day = "" if since[:10] == until[:10] else f"{until[:10]} "
        return f"{self.queue_manager} was restarted between {since[:10]} {since[11:19]} and {day}{until[11:19]} UTC"


@dataclass(slots=True)
class _Run:
    """A queue manager's newest end, the highest number at that time, and the ends of intervals since a restart."""

    ended_us: int
    highest: int
    ends: list[int] | None = None
    restart: Restart | None = None


@dataclass(slots=True)
class RestartDetector:
    """Sees records in the order of their ends. Late ones, from an older file, neither show nor hide a restart."""

    found: list[Restart] = field(default_factory=list)
    _runs: dict[tuple[str, str], _Run] = field(default_factory=dict)

    def note(self, record: Record) -> bool:
        """Look at a record; True when its rates and increases are not evaluated."""
        if record.end_us is None:
            return False
        return self.take(record.sysid, record.ssid, record.end_us, record.sequence[1], record.start_us)

    def take(self, system: str, queue_manager: str, ended_us: int, number: int, began_us: int | None) -> bool:
        """The same of a record's end, its number (0: none) and the beginning of its interval (None: it has none)."""
        run = self._runs.get((system, queue_manager))
        if run is None:
            if number:
                self._runs[system, queue_manager] = _Run(ended_us, number)
            return False
        later = ended_us > run.ended_us + _TOGETHER_US
        # After a run of a single record the next one has the same number: then the time between them decides.
        again = number == run.highest and began_us is not None and began_us > run.ended_us + _TOGETHER_US
        if number and later and (number < run.highest or again) and run.highest < _WRAPS:
            began = ended_us if began_us is None else min(max(began_us, run.ended_us), ended_us)
            run.restart = Restart(queue_manager, run.ended_us, began)
            run.ends = []
            self.found.append(run.restart)
            run.highest = number
        elif number:
            run.highest = number if later else max(run.highest, number)
        if number:
            run.ended_us = max(run.ended_us, ended_us)
        return self._is_guarded(run, ended_us, has_interval=began_us is not None)

    def _is_guarded(self, run: _Run, ended_us: int, *, has_interval: bool) -> bool:
        ends, restart = run.ends, run.restart
        if ends is None or restart is None or ended_us <= restart.since_us:
            return False
        following = not ends or ended_us > ends[-1] + _TOGETHER_US
        over = following and len(ends) >= GUARDED_INTERVALS
        if has_interval and over:
            run.ends = None
        elif has_interval and following:
            ends.append(ended_us)
        return not over


def guarded_restarts(records: Iterable[tuple[str, str, int, int, int | None]]) -> Iterator[tuple[Restart, int]]:
    """Restarts, each with the time (microseconds) until which rates and increases are absent.

    ``records`` are system, queue manager, end, number and beginning of each, in this order.
    """
    for (system, queue_manager), each in groupby(records, key=itemgetter(0, 1)):
        detector = RestartDetector()
        guards: list[int] = []
        for _, _, ended, number, began in each:
            is_guarded = detector.take(system, queue_manager, ended, number, began)
            if len(detector.found) > len(guards):
                guards.append(ended)
            elif is_guarded:
                guards[-1] = ended
        yield from zip(detector.found, guards, strict=True)


def guarded(reading: Reading) -> Reading:
    """A reading of an interval after a restart: its rates and increases are absent."""
    rates = mapping_of(reading.object.kind, reading.probe).rates
    values: Mapping[str, Reported] = {
        metric: Absence.RESTARTED if metric in rates and not isinstance(value, Absence) else value
        for metric, value in reading.values.items()
    }
    return replace(reading, values=values)


def lines(restarts: Iterable[Restart]) -> list[str]:
    """In words, one restart a line; nothing where there is none."""
    return [f"{each.words()}: rates and increases of two intervals are not evaluated" for each in restarts]
