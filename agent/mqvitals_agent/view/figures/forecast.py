"""When something that fills will be full, or why nobody can tell: by the line through its last values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.text.figure import age, short_age
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.styled import Line, Span, Tone, labelled, wrapped
from mqvitals_agent.view.figures.table import Cell, Column, Item
from mqvitals_agent.view.figures.values import number_in
from mqvitals_rules.snapshot import ObjectName

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.result import CurrentValue

SOON_MS: Final = 3_600_000
"""A time until full below this is a warning."""

BASIS_MS: Final = 3_600_000
"""The past that is read for a forecast."""

FARTHEST_MS: Final = 86_400_000
"""Longer times are not told."""

LEAST_MS: Final = 60_000
"""Values over a shorter time make no forecast."""

LEAST_VALUES: Final = 10
"""Fewer values make no forecast."""

_LEAST_CORRELATION = 0.9
_LEAST_RATIO = 15.0
"""How many times its own uncertainty a slope must be: noise does not reach it by chance, however few the values, and a time that is
told is right within a third.
"""

_WIDTH = 3.0
"""The range of a time until full: so many standard deviations to both sides,"""
_LEAST_RANGE = 0.05
"""and this share of the time at least: what grows in steps lies close to its line, and is no line."""

_NEWEST, _OLDER = 120, 120
"""How many values are looked at: the newest ones, and of those before as many, evenly spread."""

_SLOWER = 1.5
"""A rise has come to rest when its next value is later than the longest wait so far, times this."""

_WIDER = 2
"""The factor from one basis to the next: the shortest that shows a line is taken, so that an hour of calm before does
not hide what fills now."""


class FullIn(NamedTuple):
    """Ms until full, and the ms of the past by which it is told; or None and the reason why there is no forecast."""

    ms: int | None
    basis_ms: int = 0
    reason: str = ""

    @property
    def is_soon(self) -> bool:
        """Whether it is a warning."""
        return self.ms is not None and self.ms < SOON_MS


class LineForecast(NamedTuple):
    """``FullIn`` with its range: ms until full at the soonest and at the latest (None: that cannot be told)."""

    full: FullIn
    soonest_ms: int = 0
    latest_ms: int | None = None


class FillingFigure(NamedTuple):
    """A metric that can be full: at 100 per cent, or with ``of`` where it reaches that metric of the object."""

    metric: str
    of: str = ""


FILLING: Final[Mapping[str, FillingFigure]] = {
    "page_set": FillingFigure("used_pct"),
    "cf_structure": FillingFigure("entries_pct"),
    "smds": FillingFigure("used_pct"),
    "queue": FillingFigure("depth", "max_depth"),
}
"""What fills, by kind of object."""

MOST_READ: Final = 12
"""The objects of a list whose past is read, the fullest."""

FULL_IN: Final = "full_in"
"""The name of the ms until full among an object's values, and of its column."""

_ABSENT = FullIn(None, 0, "no value to go by")


def with_full_in(reader: StoreReader, items: Sequence[Item], places: Iterable[int], now: int) -> list[Item]:
    """The objects of a list, the fullest of those that fill with the ms until full, where there is a forecast. Those
    that may be filled in part are at ``places``.

    Raises StoreError.
    """
    found = list(items)
    for _, place in nlargest(MOST_READ, _shares(items, places)):
        item = items[place]
        ahead = read_full_in(reader, item.name, item.values, now).ms
        if ahead is not None:
            told = item.values[FILLING[item.name.kind].metric]._replace(value=ahead)
            found[place] = item._replace(values={**item.values, FULL_IN: told})
    return found


def _shares(items: Sequence[Item], places: Iterable[int]) -> Iterator[tuple[float, int]]:
    """How full those are that fill and of which it is known, above 0, each with its place among the items."""
    for place in places:
        item = items[place]
        kind = item.name.kind
        if kind in FILLING and not item.stale and (share := share_of(kind, item.values)):
            yield share, place


def full_in_column(kind: str) -> Column:
    """The time until an object is full; empty without a forecast."""
    figure = FILLING[kind]

    def cell(item: Item, _: int) -> Cell:
        ahead = number_in(item.values.get(FULL_IN))
        if ahead is None:
            return Cell("")
        soon = ahead < SOON_MS and item.health < Health.WARNING
        return Cell(short_age(round(ahead)), Tone.WARNING if soon else Tone.PLAIN)

    metrics = tuple((kind, name) for name in figure if name)
    return Column(
        FULL_IN, "Full in", 8, cell, lambda item: number_in(item.values.get(FULL_IN)), right=True, metrics=metrics
    )


def read_full_in(reader: StoreReader, name: ObjectName, values: Mapping[str, CurrentValue], now: int) -> FullIn:
    """The forecast for an object of a kind in ``FILLING`` with its newest values; ``now`` is ms UTC.

    Raises StoreError.
    """
    figure = FILLING[name.kind]
    share = share_of(name.kind, values)
    if share is None:
        return _ABSENT
    limit = 100.0 if not figure.of else number_in(values.get(figure.of)) or 0.0
    return full_in(reader.trend(name, figure.metric, now - BASIS_MS, now).points, now, limit)


def share_of(kind: str, values: Mapping[str, CurrentValue]) -> float | None:
    """How full an object of a kind in ``FILLING`` is, per cent; None where that is not known."""
    figure = FILLING[kind]
    value = number_in(values.get(figure.metric))
    if value is None:
        return None
    most = number_in(values.get(figure.of)) if figure.of else 100.0
    return None if not most or most < 0 else 100 * value / most


def full_in_lines(found: FullIn, width: int) -> list[Line]:
    """When it is full and by which past, or why there is no such time; two cells in."""
    if found.ms is None:
        return wrapped(f"no time until full: {found.reason}", width, Tone.FAINT, first="  ", rest="    ")
    words = f"full in {age(found.ms)} if it goes on as in the last {age(found.basis_ms)}"
    if found.is_soon:
        return labelled(Span(f"  {Health.WARNING.glyph}", Tone.WARNING), words, width, gap=" ")
    return wrapped(words, width, first="  ", rest="    ")


def full_in(points: Iterable[tuple[int, float | None]], now: int, limit: float = 100.0) -> FullIn:
    """When what grows in a line reaches ``limit``, as of ``now`` (ms UTC).

    Points, (ms UTC, value or None), are in time order and at any distance; a poll without a value changes nothing. The
    basis is the shortest past of at least ``LEAST_MS`` and ``LEAST_VALUES`` in which they rise in a line, and still rise.
    """
    return line_forecast(points, now, limit).full


def line_forecast(points: Iterable[tuple[int, float | None]], now: int, limit: float = 100.0) -> LineForecast:
    """``full_in`` with its range, by how far the values lie from their line."""
    known = _looked_at([(ts, value) for ts, value in points if value is not None and math.isfinite(value)])
    if len(known) < LEAST_VALUES:
        return _no_line("too few values yet")
    if known[-1][1] >= limit:
        return _no_line("full")
    if known[-1][0] - known[0][0] < LEAST_MS:
        return _no_line(f"seen for less than {age(LEAST_MS)}")
    reason = "it does not grow"
    for part in _bases(known):
        line = _fitted_line(part)
        if line is None or line.slope <= 0:
            continue
        if not line.straight:
            reason = "it does not grow in a line"
        elif _rests(part):
            reason = "it has stopped growing"
        else:
            # From the line, not from the newest value, which may be a chance one.
            way = limit - line.at(now)
            ahead = round(max(way / line.slope, 0.0))
            basis = part[-1][0] - part[0][0]
            if ahead > FARTHEST_MS:
                return LineForecast(FullIn(None, basis, "that is more than a day ahead"))
            steep, flat = line.slope + _WIDTH * line.doubt, line.slope - _WIDTH * line.doubt
            soonest = max(way - _WIDTH * line.spread, 0.0) / steep
            latest = (way + _WIDTH * line.spread) / flat if flat > 0 else None
            return LineForecast(
                FullIn(ahead, basis),
                round(min(soonest, (1 - _LEAST_RANGE) * ahead)),
                None if latest is None else round(max(latest, (1 + _LEAST_RANGE) * ahead)),
            )
    return _no_line(reason)


def _no_line(reason: str) -> LineForecast:
    return LineForecast(FullIn(None, 0, reason))


def _looked_at(known: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    older, newest = known[:-_NEWEST], known[-_NEWEST:]
    stride = -(-len(older) // _OLDER) if older else 1
    return [*older[::-1][::stride][::-1], *newest]


def _bases(known: Sequence[tuple[int, float]]) -> Iterator[Sequence[tuple[int, float]]]:
    """Parts of the past up to the newest value, the shortest first, the last one all of it."""
    end, begin = known[-1][0], len(known)
    length = max(LEAST_MS, end - known[-LEAST_VALUES][0])
    while begin > 0:
        while begin > 0 and end - known[begin - 1][0] <= length:
            begin -= 1
        if len(known) - begin >= LEAST_VALUES and end - known[begin][0] >= LEAST_MS // _WIDER:
            yield known[begin:]
        length *= _WIDER


class _FittedLine(NamedTuple):
    """A straight line by least squares: ``slope`` a ms through (``ts``, ``value``).

    ``doubt`` is the standard deviation of the slope, ``spread`` that of the values around the line.
    """

    ts: float
    value: float
    slope: float
    straight: bool
    doubt: float
    spread: float

    def at(self, ts: int) -> float:
        return self.value + self.slope * (ts - self.ts)


def _fitted_line(part: Sequence[tuple[int, float]]) -> _FittedLine | None:
    """The line through the values, and whether they lie along it; None where all are of one moment."""
    count = len(part)
    base_ts, base = part[0]
    mean_ts = sum(ts - base_ts for ts, _ in part) / count
    mean = sum(value - base for _, value in part) / count
    along = across = both = 0.0
    for ts, value in part:
        x, y = ts - base_ts - mean_ts, value - base - mean
        along += x * x
        across += y * y
        both += x * y
    if along <= 0:
        return None
    slope = both / along
    explained = slope * both
    left = max(across - explained, 0.0)
    straight = across > 0 and explained >= _LEAST_CORRELATION**2 * across
    straight = straight and explained * (count - 2) >= _LEAST_RATIO**2 * left
    spread = math.sqrt(left / max(count - 2, 1))
    return _FittedLine(base_ts + mean_ts, base + mean, slope, straight, spread / math.sqrt(along), spread)


def _rests(part: Sequence[tuple[int, float]]) -> bool:
    """Whether the last rise was longer ago than rises were apart: a line through all would still go up."""
    rises, highest = [part[0][0]], part[0][1]
    for ts, value in part[1:]:
        if value > highest:
            rises.append(ts)
            highest = value
    if len(rises) < 2:
        return True
    waited = part[-1][0] - rises[-1]
    distance = max(after[0] - before[0] for before, after in pairwise(part[-LEAST_VALUES:]))
    longest = max(after - before for before, after in pairwise(rises))
    return waited > 0 and waited + distance > _SLOWER * longest
