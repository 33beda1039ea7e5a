"""The rows of days that are over: the hours of a metric of an object and source in a day (UTC) as one short blob.

The metrics of one probe have values in the same samples: which hours these are, how many values and how much time they
cover stands once for each object, source and day, in the row of the metric without a name. The rows of its metrics say
which of these it is, and hold bounds, totals and last values as narrow arrays; what does not change all day is one number.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class, whatever it is called
from typing import Final, NamedTuple

from mqvitals_agent.store.rows.sealed.codec import ARRAYS, DamagedChunkError, Number, narrowest, numbers_of, unpacked
from mqvitals_agent.store.rows.sealed.rollup import MetricHour
from mqvitals_agent.store.rows.tables import integer, numbered, text

DAY_HOURS: Final = 24
_COVER: Final = ""
"""The metric without a name."""

_HEAD: Final = Struct("<H")
_MASK: Final = Struct("<I")
_LENGTH: Final = Struct("<I")
_REAL: Final = Struct("<d")

_AS_BEFORE: Final = 0
"""The column before once more."""
_HELD: Final = 1
"""The lowest value for all of the time that is covered."""
_ONE: Final = 0x10
"""One whole number for all hours; its width is added."""
_WHOLE: Final = 0x20
"""Whole numbers; their width is added."""
_ONE_REAL: Final = 0x30
_REALS: Final = 0x31
_ANYTHING: Final = 0x32
"""JSON."""
_ONES: Final = tuple(Struct(f"<{each}") for each in ARRAYS)
_FORMS: Final = {
    **{_ONE + width: form for width, form in enumerate(_ONES)},
    **{_WHOLE + width: form for width, form in enumerate(_ONES)},
    _ONE_REAL: _REAL,
    _REALS: _REAL,
}
"""By code, a number of its column."""
_OF_ALL: Final = frozenset((*range(_ONE, _ONE + len(_ONES)), _ONE_REAL))
"""Codes of one number for all hours."""
_WIDTHS: Final = {
    _AS_BEFORE: (0, 0),
    _HELD: (0, 0),
    _ONE_REAL: (_REAL.size, 0),
    _REALS: (0, _REAL.size),
    **{_ONE + width: (one.size, 0) for width, one in enumerate(_ONES)},
    **{_WHOLE + width: (0, one.size) for width, one in enumerate(_ONES)},
}
"""By code, the bytes of a column: of all hours together, and of each."""


class Cover(NamedTuple):
    """Hours of a day (0 to 23, rising) with the number of values and the ms that these cover, in each."""

    hours: tuple[int, ...]
    counts: tuple[int, ...]
    covered_ms: tuple[int, ...]


class MetricDay(NamedTuple):
    """The hours of a metric in a day as columns: see ``MetricHour``."""

    cover: Cover
    lowest: Sequence[Number]
    highest: Sequence[Number]
    totals: Sequence[Number]
    lasts: Sequence[Number]

    def hour(self, hour: int) -> MetricHour:
        """An hour of the day, one of those in ``cover``."""
        place = self.cover.hours.index(hour)
        return MetricHour(
            self.cover.counts[place],
            self.lowest[place],
            self.highest[place],
            self.totals[place],
            self.cover.covered_ms[place],
            self.lasts[place],
        )

    def whole(self) -> MetricHour:
        """All of the day as one."""
        _, counts, covered = self.cover
        return MetricHour(
            sum(counts), min(self.lowest), max(self.highest), sum(self.totals), sum(covered), self.lasts[-1]
        )

    def hours(self) -> dict[int, MetricHour]:
        """By hour of the day."""
        hours, counts, covered = self.cover
        columns = counts, self.lowest, self.highest, self.totals, covered, self.lasts
        return dict(zip(hours, map(MetricHour, *columns), strict=True))


class HourTotal(NamedTuple):
    """Of a ``MetricHour`` what its mean is made of."""

    count: int  # type: ignore[assignment]  # nobody counts what is in one
    total: Number
    covered_ms: int
    last: Number


def encode_day(
    metrics: Mapping[str, Mapping[int, MetricHour]],
) -> tuple[bytes, Mapping[str, bytes]]:
    """The row of all metrics of an object in a day, and that of each; hours are those of the day.

    Raises TypeError for what is no number.
    """
    covers: dict[Cover, int] = {}
    found: dict[str, bytes] = {}
    # In order of the names: what is rolled up again from other pieces has the same bytes.
    for name, hours in sorted(metrics.items()):
        if not hours:
            continue
        rows = [hours[hour] for hour in sorted(hours)]
        cover = Cover(tuple(sorted(hours)), tuple(each.count for each in rows), tuple(each.covered_ms for each in rows))
        number = covers.setdefault(cover, len(covers))
        lowest = [each.lowest for each in rows]
        highest = [each.highest for each in rows]
        totals = [each.total for each in rows]
        lasts = [each.last for each in rows]
        held = [value * ms for value, ms in zip(lowest, cover.covered_ms, strict=True)]
        found[name] = b"".join(
            (
                _HEAD.pack(number),
                _column(lowest),
                bytes((_AS_BEFORE,)) if _same(highest, lowest) else _column(highest),
                bytes((_AS_BEFORE,)) if _same(lasts, highest) else _column(lasts),
                bytes((_HELD,)) if _same(totals, held) else _column(totals),
            )
        )
    parts = []
    for hours_of, counts, covered in covers:
        parts += [_MASK.pack(sum(1 << hour for hour in hours_of)), _column(counts), _column(covered)]
    return b"".join(parts), found


def decode_day(covers: Sequence[Cover], data: bytes) -> MetricDay:
    """A metric's row. Raises DamagedChunkError."""
    try:
        cover = covers[_HEAD.unpack_from(data)[0]]
        count = len(cover.hours)
        lowest, place = _read(data, 2, count)
        if data[place] == _AS_BEFORE:
            highest, place = lowest, place + 1
        else:
            highest, place = _read(data, place, count)
        if data[place] == _AS_BEFORE:
            lasts, place = highest, place + 1
        else:
            lasts, place = _read(data, place, count)
        totals: Sequence[Number]
        if data[place] == _HELD:
            totals, place = [value * ms for value, ms in zip(lowest, cover.covered_ms, strict=True)], place + 1
        else:
            totals, place = _read(data, place, count)
    except (StructError, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise DamagedChunkError("the hours of a day are damaged") from error
    if place != len(data):
        raise DamagedChunkError("the hours of a day have another length than they say")
    return MetricDay(cover, lowest, highest, totals, lasts)


def decode_total(covers: Sequence[Cover], data: bytes, hour: int) -> HourTotal | None:
    """Of a metric's row a single hour of the day; None: it has none. In a third of the time that ``decode_day`` takes.

    Raises DamagedChunkError.
    """
    try:
        cover = covers[_HEAD.unpack_from(data)[0]]
        if hour not in cover.hours:
            return None
        place, count = cover.hours.index(hour), len(cover.hours)
        lowest = highest = _HEAD.size
        begin = lowest + _length(data, lowest, count)
        if data[begin] != _AS_BEFORE:
            highest = begin
        begin += _length(data, begin, count)
        last = highest if data[begin] == _AS_BEFORE else begin
        begin += _length(data, begin, count)
        if begin + _length(data, begin, count) != len(data):
            raise DamagedChunkError("the hours of a day have another length than they say")
        covered = cover.covered_ms[place]
        total = _at(data, lowest, place, count) * covered if data[begin] == _HELD else _at(data, begin, place, count)
        return HourTotal(cover.counts[place], total, covered, _at(data, last, place, count))
    except (StructError, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise DamagedChunkError("the hours of a day are damaged") from error


@lru_cache(maxsize=1024)
def decode_covers(data: bytes) -> Sequence[Cover]:
    """The row of all metrics: thousands of objects of an owner have the same. Raises DamagedChunkError."""
    found, place = [], 0
    try:
        while place < len(data):
            (mask,) = _MASK.unpack_from(data, place)
            hours = tuple(hour for hour in range(DAY_HOURS) if mask >> hour & 1)
            counts, place = _read(data, place + _MASK.size, len(hours))
            covered, place = _read(data, place, len(hours))
            found.append(Cover(hours, _times(counts), _times(covered)))
    except (StructError, ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise DamagedChunkError("the hours of a day are damaged") from error
    return found


def _times(values: Sequence[Number]) -> tuple[int, ...]:
    if not values or not set(map(type, values)) <= {int}:
        raise TypeError("numbers and times are whole")
    return tuple(map(int, values))


def _same(some: Sequence[Number], others: Sequence[Number]) -> bool:
    """Whether these are equal to the type, and to the sign of a zero."""
    return list(map(repr, some)) == list(map(repr, others))


def _column(values: Sequence[Number]) -> bytes:
    types = set(map(type, values))
    first = values[0]
    one = _same(values, [first] * len(values))
    if types == {int}:
        width = narrowest(int(min(values)), int(max(values)))
        if width is not None:
            if one:
                return bytes((_ONE + width,)) + _ONES[width].pack(first)
            return bytes((_WHOLE + width,)) + array(ARRAYS[width], values).tobytes()
    elif types == {float}:
        if one:
            return bytes((_ONE_REAL,)) + _REAL.pack(first)
        return bytes((_REALS,)) + array("d", values).tobytes()
    elif not types <= {int, float}:
        raise TypeError("the hours of a day hold what is no number")
    body = json.dumps(list(values)).encode()
    return bytes((_ANYTHING,)) + _LENGTH.pack(len(body)) + body


def _read(data: bytes, place: int, count: int) -> tuple[Sequence[Number], int]:
    """A column of ``count`` numbers at a place, and the place behind it."""
    code = data[place]
    if code == _ANYTHING:
        end = place + _length(data, place, count)
        return numbers_of(data[place + 1 + _LENGTH.size : end], count), end
    one, of_each = _WIDTHS[code]
    place += 1
    end = place + one + of_each * count
    form = _FORMS[code]
    if code in _OF_ALL:
        return [form.unpack_from(data, place)[0]] * count, end
    numbers = unpacked(form.format[1:], data[place:end])
    if len(numbers) != count:
        raise ValueError("a column is cut")
    return numbers, end


def _length(data: bytes, place: int, count: int) -> int:
    """The bytes of the column of ``count`` numbers at a place."""
    code = data[place]
    if code == _ANYTHING:
        return 1 + _LENGTH.size + int(_LENGTH.unpack_from(data, place + 1)[0])
    one, of_each = _WIDTHS[code]
    return 1 + one + of_each * count


def _at(data: bytes, place: int, of: int, count: int) -> Number:
    """The number ``of`` so many in the column at a place."""
    code = data[place]
    if code == _ANYTHING:
        return _read(data, place, count)[0][of]
    form = _FORMS[code]
    found: Number = form.unpack_from(data, place + 1 + _WIDTHS[code][1] * of)[0]
    return found


class RollupReader:
    """Reads the rows of days over one connection. The numbers of metrics are remembered.

    Days count from 1970 UTC. A damaged row is as if it was not there: one must not take those of all other objects with it;
    ``store check`` looks for them. Every method raises sqlite3.Error, and TypeError for a cell that no row has.
    """

    def __init__(self) -> None:
        self._metrics: dict[tuple[str, str], int] = {}

    def rolled(self, connection: sqlite3.Connection, kind: str) -> int:
        """The day of a kind up to which all days are rolled up; -1: none is."""
        row = connection.execute("SELECT day FROM rolled WHERE kind = ?", (kind,)).fetchone()
        return -1 if row is None else integer(row[0])

    def span(self, connection: sqlite3.Connection) -> tuple[int, int] | None:
        """The first and the last day of which there are rows of any metric; None: there are none."""
        ends = connection.execute(
            "SELECT min(first), max(last) FROM (SELECT (SELECT min(day) FROM rollup WHERE metric = m.id) AS first,"
            " (SELECT max(day) FROM rollup WHERE metric = m.id) AS last FROM rollup_metric AS m WHERE metric = ?)",
            (_COVER,),
        ).fetchone()
        return None if ends[0] is None else (integer(ends[0]), integer(ends[1]))

    def of_object(
        self,
        connection: sqlite3.Connection,
        kind: str,
        metrics: Collection[str],
        number: int,
        source: int,
        days: Iterable[int],
    ) -> dict[int, dict[str, MetricDay]]:
        """By day, the metrics that have hours in it. A day without any is left out."""
        all_of = self._number(connection, kind, _COVER)
        known = {metric: self._number(connection, kind, metric) for metric in metrics}
        numbers = {metric: each for metric, each in known.items() if each is not None}
        found: dict[int, dict[str, MetricDay]] = {}
        if all_of is None:
            return found
        query = "SELECT data FROM rollup WHERE metric = ? AND day = ? AND object_id = ? AND source = ?"
        for day in days:
            row = connection.execute(query, (all_of, day, number, source)).fetchone()
            if row is None:
                continue
            covers = _blob(row[0])
            of_day = found[day] = {}
            for metric, each in numbers.items():
                row = connection.execute(query, (each, day, number, source)).fetchone()
                hours = None if row is None else _decoded(covers, row[0])
                if hours is not None:
                    of_day[metric] = hours
        return found

    def metrics(self, connection: sqlite3.Connection, kind: str) -> Sequence[str]:
        """The metrics of a kind that ever had hours."""
        rows = connection.execute("SELECT metric FROM rollup_metric WHERE kind = ? ORDER BY id", (kind,))
        return [text(metric) for (metric,) in rows if metric != _COVER]

    def of_kind(
        self, connection: sqlite3.Connection, kind: str, metric: str, day: int
    ) -> dict[tuple[int, int], MetricDay]:
        """By number of the object and source, the hours of a metric in a day."""
        found: dict[tuple[int, int], MetricDay] = {}
        for key, covers, data in self._rows(connection, kind, metric, day):
            known = _decoded(covers, data)
            if known is not None:
                found[key] = known
        return found

    def totals_of_kind(
        self, connection: sqlite3.Connection, kind: str, metric: str, day: int, hour: int
    ) -> dict[tuple[int, int], HourTotal]:
        """By number of the object and source, what a metric came to in an hour of a day (0 to 23)."""
        found: dict[tuple[int, int], HourTotal] = {}
        for key, covers, data in self._rows(connection, kind, metric, day):
            try:
                known = decode_total(decode_covers(_blob(covers)), _blob(data), hour)
            except DamagedChunkError:
                continue
            if known is not None:
                found[key] = known
        return found

    def _rows(
        self, connection: sqlite3.Connection, kind: str, metric: str, day: int
    ) -> Iterator[tuple[tuple[int, int], object, object]]:
        """The rows of a metric in a day: number of the object and source, the row of all its metrics, and its own."""
        all_of, number = self._number(connection, kind, _COVER), self._number(connection, kind, metric)
        if all_of is None or number is None:
            return
        query = "SELECT object_id, source, data FROM rollup WHERE metric = ? AND day = ?"
        covers = {(each, source): data for each, source, data in connection.execute(query, (all_of, day))}
        for each, source, data in connection.execute(query, (number, day)):
            key = integer(each), integer(source)
            if key in covers:
                yield key, covers[key], data

    def _number(self, connection: sqlite3.Connection, kind: str, metric: str) -> int | None:
        known = self._metrics.get((kind, metric))
        if known is None:
            row = connection.execute(
                "SELECT id FROM rollup_metric WHERE kind = ? AND metric = ?", (kind, metric)
            ).fetchone()
            if row is None:
                return None
            known = self._metrics[kind, metric] = integer(row[0])
        return known


def has_rollup(connection: sqlite3.Connection, kind: str, number: int) -> bool:
    """Whether there are hours of an object of a kind. Raises sqlite3.Error.

    Looked for from the newest day that has any, one seek a day.
    """
    row = connection.execute("SELECT id FROM rollup_metric WHERE kind = ? AND metric = ?", (kind, _COVER)).fetchone()
    if row is None:
        return False
    of_all = integer(row[0])
    first, last = connection.execute(
        "SELECT (SELECT min(day) FROM rollup WHERE metric = ?1), (SELECT max(day) FROM rollup WHERE metric = ?1)",
        numbered(of_all),
    ).fetchone()
    if first is None:
        return False
    query = "SELECT 1 FROM rollup WHERE metric = ? AND day = ? AND object_id = ? LIMIT 1"
    return any(
        connection.execute(query, (of_all, day, number)).fetchone() is not None
        for day in range(integer(last), integer(first) - 1, -1)
    )


class RollupWriter:
    """Writes the rows of days within transactions of the caller, who calls ``load`` after a rollback.

    Every method raises sqlite3.Error.
    """

    def __init__(self) -> None:
        self.load()

    def load(self) -> None:
        """Forget what was written since."""
        self._metrics: dict[str, dict[str, int]] = {}

    def write(
        self,
        connection: sqlite3.Connection,
        kind: str,
        day: int,
        number: int,
        source: int,
        metrics: Mapping[str, Mapping[int, MetricHour]],
    ) -> int:
        """Write the hours of a day of an object and source in place of any that are there; returns their bytes."""
        numbers = self._numbers(connection, kind)
        key = day, number, source
        if numbers:
            marks = ", ".join("?" * len(numbers))
            connection.execute(
                f"DELETE FROM rollup WHERE metric IN ({marks}) AND day = ? AND object_id = ? AND source = ?",  # noqa: S608
                (*numbers.values(), *key),
            )
        covers, rows = encode_day(metrics)
        if not rows:
            return 0
        for name in (_COVER, *rows):
            if name not in numbers:
                connection.execute("INSERT INTO rollup_metric(kind, metric) VALUES(?, ?)", (kind, name))
                self._metrics.pop(kind, None)
        numbers = self._numbers(connection, kind)
        connection.executemany(
            "INSERT INTO rollup(metric, day, object_id, source, data) VALUES(?, ?, ?, ?, ?)",
            [(numbers[name], *key, data) for name, data in ((_COVER, covers), *rows.items())],
        )
        return len(covers) + sum(map(len, rows.values()))

    def mark(self, connection: sqlite3.Connection, kind: str, day: int) -> None:
        """All days of a kind up to and including this one are rolled up."""
        connection.execute(
            "INSERT INTO rolled(kind, day) VALUES(?, ?) ON CONFLICT(kind) DO UPDATE SET day = excluded.day", (kind, day)
        )

    def _numbers(self, connection: sqlite3.Connection, kind: str) -> Mapping[str, int]:
        known = self._metrics.get(kind)
        if known is None:
            rows = connection.execute("SELECT metric, id FROM rollup_metric WHERE kind = ?", (kind,))
            known = self._metrics[kind] = {text(metric): integer(number) for metric, number in rows}
        return known


def _decoded(covers: object, data: object) -> MetricDay | None:
    """A metric's row; None: it is damaged."""
    try:
        return decode_day(decode_covers(_blob(covers)), _blob(data))
    except DamagedChunkError:
        return None


def _blob(cell: object) -> bytes:
    if type(cell) is not bytes:
        raise TypeError(f"{cell!r:.60} is no row of a day")
    return cell
