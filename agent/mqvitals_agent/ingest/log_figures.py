"""Figures of a log that take its past, its console or declared facts: how long its range of positions lasts, and how
much of it the oldest unit of work holds.

A log position (RBA) is a text in the answers, which rules cannot compare in size.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from mqvitals_agent.ingest.messages import NewestMessage
from mqvitals_agent.poll.kinds.log import position
from mqvitals_agent.store.older import PastReader
from mqvitals_agent.store.rows.samples.hour_means import HourMean
from mqvitals_rules.history import WEEKS
from mqvitals_rules.plan.log_range import days_left, used_pct, width_of
from mqvitals_rules.ruleset.facts import Facts
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot, Source
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS, WEEK_MS
from mqvitals_rules.vocabulary.metric import Absence, Reported

LOG: Final = "log"
GROWTH: Final = "written_bytes"
"""The metric whose hourly means the rates are made of."""
_MB: Final = 2**20
_LEAST_MS: Final = DAY_MS
"""A rate of less time than that is none: a night is no day."""
_SETTLED_MS: Final = 600_000
"""The means of an hour are in the store this long after its end."""
_READ_AGAIN: Final = 3
"""Hours that are read once more when another one is over: what waits for the file of the store comes late."""
_MARK_MS: Final = 60_000
_MARKS: Final = 2 * 1440
"""Positions kept of each log, one a minute: two days."""

_OF_UNIT: Final = ("uow_span_mb", "oldest_uow_age_s", "uow_in_current_log")
_RANGE: Final = "CSQJ034I"
_END_OF_RANGE = re.compile(r"RBA RANGE IS\s+([0-9A-F]{12,16})\b", re.IGNORECASE)


class HourMeans(Protocol):
    """The means of past hours: ``WindowHistory``."""

    def hours(self, kind: str, metric: str, begun: Sequence[int]) -> Sequence[HourMean]:
        """The means of hours by their beginnings. Raises StoreError."""
        ...


class LogFigures:
    """Adds the figures to the readings of logs. Give it every snapshot, in order. ``older`` has the console messages."""

    def __init__(self, means: HourMeans, facts: Facts, older: PastReader | None) -> None:
        self._means = means
        self._facts = facts
        self._older = older
        self._positions: dict[str, deque[tuple[int, int]]] = {}
        """By queue manager: times (ms UTC) and positions, oldest first."""
        self._data_sets: dict[str, tuple[Reported, ...]] = {}
        """By queue manager: the current active log, copies 1 and 2."""
        self._rates: dict[ObjectName, tuple[Reported, Reported]] = {}
        self._hours: dict[tuple[ObjectName, int], HourMean] = {}
        self._read_at = -1
        self._of_start = NewestMessage(older, _RANGE)

    def added(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the figures of its log. Raises StoreError."""
        found = {
            place: reading
            for place, reading in enumerate(snapshot.readings)
            if reading.object.kind == LOG and reading.source is Source.POLL and reading.answered and not reading.gone
        }
        if not found:
            return snapshot
        readings = list(snapshot.readings)
        for place, reading in found.items():
            if "rba" in reading.values:
                readings[place] = _with(reading, self._of_range(reading))
        # After the position of the same cycle is known.
        for place, reading in found.items():
            if "oldest_uow_rba" in reading.values:
                readings[place] = _with(reading, self._of_unit(reading))
        return replace(snapshot, readings=tuple(readings))

    def shift(self, by_ms: int) -> None:
        """The clock was corrected by so much."""
        self._positions = {
            owner: deque(((ts + by_ms, each) for ts, each in marks), _MARKS) for owner, marks in self._positions.items()
        }
        self._read_at = -1

    def _of_range(self, reading: Reading) -> Mapping[str, Reported]:
        name, now = reading.object, reading.ts
        found = position(reading.values["rba"])
        if type(found) is not int:
            reason = found if isinstance(found, Absence) else Absence.NOT_RETURNED
            return dict.fromkeys(("rba_width", "rba_used_pct", "rba_days_left", "rba_busiest_days_left"), reason) | {
                "rba_mb_per_day": reason,
                "rba_busiest_mb_per_day": reason,
            }
        self._note(name.owner, now, found)
        self._data_sets[name.owner] = tuple(
            reading.values.get(f"data_set_copy{copy}", Absence.NOT_RETURNED) for copy in (1, 2)
        )
        declared = self._facts.of(name).get("rba_bytes")
        width = width_of(found, self._announced(name.owner, now), declared if type(declared) is int else None)
        usual, busiest = self._rate(name, now)
        counted = width or 6
        return {
            "rba_width": Absence.NOT_DECLARED if width is None else width,
            "rba_used_pct": used_pct(found, counted),
            "rba_mb_per_day": usual,
            "rba_busiest_mb_per_day": busiest,
            "rba_days_left": _days(found, counted, usual),
            "rba_busiest_days_left": _days(found, counted, busiest),
        }

    def _announced(self, owner: str, now: int) -> int | None:
        """What the newest CSQJ034I says, which comes at the start of a queue manager. Raises StoreError."""
        end = _END_OF_RANGE.search(self._of_start.text(owner, now))
        return None if end is None else 6 if len(end[1].lstrip("0")) <= 12 else 8

    def _rate(self, name: ObjectName, now: int) -> tuple[Reported, Reported]:
        """MB a day in the last 7 days, and in the busiest of the last weeks. Raises StoreError."""
        settled = (now - _SETTLED_MS) // HOUR_MS
        if settled != self._read_at:
            end = settled * HOUR_MS
            first = end - WEEKS * WEEK_MS
            since = first if self._read_at < 0 else max(first, (self._read_at - _READ_AGAIN) * HOUR_MS)
            read = self._means.hours(LOG, GROWTH, range(since, end, HOUR_MS))
            if read or self._older is None or not self._older.failing:
                known = {key: each for key, each in self._hours.items() if first <= key[1] < since}
                self._hours = known | {(each.object, each.hour): each for each in read}
                of_log: dict[ObjectName, list[HourMean]] = {}
                for each in self._hours.values():
                    of_log.setdefault(each.object, []).append(each)
                self._rates = {log: _weekly(hours, end) for log, hours in of_log.items()}
                self._read_at = settled
        return self._rates.get(name, (Absence.WINDOW, Absence.WINDOW))

    def _note(self, owner: str, ts: int, found: int) -> None:
        marks = self._positions.setdefault(owner, deque(maxlen=_MARKS))
        if marks and found < marks[-1][1]:
            marks.clear()  # the log was reset
        if len(marks) > 1 and ts - marks[-2][0] < _MARK_MS:
            marks.pop()  # the newest one is always kept
        marks.append((ts, found))

    def _of_unit(self, reading: Reading) -> Mapping[str, Reported]:
        values, marks = reading.values, self._positions.get(reading.object.owner)
        oldest = position(values["oldest_uow_rba"])
        if oldest == 0 or oldest is Absence.NOTHING_TO_TELL:
            return {"uow_span_mb": 0, "oldest_uow_age_s": 0, "uow_in_current_log": Absence.NOTHING_TO_TELL}
        if not isinstance(oldest, int):
            return dict.fromkeys(_OF_UNIT, oldest)
        if not marks:
            return dict.fromkeys(_OF_UNIT, Absence.NOT_ASKED)
        current = [each for each in self._data_sets[reading.object.owner] if isinstance(each, str)]
        return {
            "uow_in_current_log": int(values.get("oldest_uow_data_set") in current)
            if current
            else Absence.NOT_RETURNED,
            "uow_span_mb": max(marks[-1][1] - oldest, 0) / _MB,
            "oldest_uow_age_s": _age_s(marks, oldest, reading.ts),
        }


def _with(reading: Reading, figures: Mapping[str, Reported]) -> Reading:
    return replace(reading, values={**reading.values, **figures})


def _days(found: int, width: int, mb_per_day: Reported) -> Reported:
    if isinstance(mb_per_day, int | float):
        return days_left(found, width, mb_per_day * _MB)
    return mb_per_day


def _weekly(hours: Iterable[HourMean], end: int) -> tuple[Reported, Reported]:
    """MB a day in the 7 days before ``end`` (ms UTC), and in the busiest week before it."""
    grown, covered = [0.0] * WEEKS, [0] * WEEKS
    for each in hours:
        week = (end - 1 - each.hour) // WEEK_MS
        if 0 <= week < WEEKS:
            # The mean is bytes a second, and its weight the ms that it covers.
            grown[week] += each.mean * each.weight / 1000
            covered[week] += each.weight
    rates = [
        grown[week] / covered[week] * DAY_MS / _MB if covered[week] >= _LEAST_MS else None for week in range(WEEKS)
    ]
    known = [rate for rate in rates if rate is not None]
    return Absence.WINDOW if rates[0] is None else rates[0], max(known) if known else Absence.WINDOW


def _age_s(marks: Sequence[tuple[int, int]], oldest: int, now: int) -> Reported:
    """How long ago the log was at a position, to the minute; unknown where it was before the first one kept."""
    place = bisect_right(marks, oldest, key=lambda mark: mark[1])
    if place == 0:
        return Absence.WINDOW
    return max(now - marks[place - 1][0], 0) // 1000
