"""What a store takes, by kind and by day, and how fast that grows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.page_counts import EXACT_UP_TO, length_of, pages_of, table_sizes
from mqvitals_agent.store.file.schema import open_as_it_is
from mqvitals_agent.store.file.sealed_info import Sealed, read_sealed
from mqvitals_agent.store.rows.tables import LAST_MOMENT
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS

_LEAST_MS: Final = 7_200_000
"""Of less than two hours no growth a day is told."""
_OTHERS: Final = {
    "alerts": (
        *("alert", "alert_transition", "notice", "alert_group", "resent", "receiver", "report"),
        *("acknowledgement", "note", "silence", "audit", "unknown_count"),
    ),
    "messages and events": ("message", "console_file", "console_owner", "event_queue"),
    "journal and changes": ("journal", "change"),
    "sealed and rolled-up hours": ("chunk", "chunk_axis", "chunk_layout", "rollup", "rollup_metric", "rolled"),
    "SMF records": ("record", "smf_record", "smf_part", "smf_file"),
    "hourly means": ("hour_mean",),
    "remote write": ("stored_samples", "remote_write", "remote_total"),
    "objects and snapshots": ("object", "owner", "snapshot", "reading", "instance"),
}
"""Tables of no one kind, by what they hold."""
_REST: Final = "other"


@dataclass(frozen=True, slots=True)
class KindSize:
    """Bytes of a kind of object: its samples as rows and in sealed hours, its rolled-up hours, and the current state."""

    rows: int = 0
    sealed: int = 0
    hours: int = 0
    current: int = 0

    @property
    def samples(self) -> int:
        """Rows and sealed hours together."""
        return self.rows + self.sealed


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store takes, in bytes.

    ``file`` with its ``free`` pages, and ``log`` are as on the disk. ``kinds`` are the kinds of objects, ``others`` what the
    remaining tables hold; ``estimated``: these were not counted page by page. What chunks and hours of each kind take is estimated by the bytes in
    their rows. ``days`` are parts of the samples by the day on which they were taken (ms UTC of its begin), by the number of
    readings of that day: always estimated. ``growth`` is what the last 24 hours of samples take as a day, once they are sealed
    where any are, and a day of rolled-up hours; None: less than two hours are known. ``oldest`` and ``newest`` samples are
    ms UTC; None: there is none. ``sealed`` is what there is of sealed and rolled-up hours.
    """

    path: Path
    file: int
    free: int
    log: int
    kinds: Mapping[str, KindSize]
    others: Mapping[str, int]
    estimated: bool
    days: Mapping[int, int]
    growth: int | None
    oldest: int | None
    newest: int | None
    sealed: Sealed


def read_info(path: Path, *, exact_up_to: int = EXACT_UP_TO) -> StoreInfo:
    """Look at the store at ``path``; ``exact_up_to`` as for ``table_sizes``. Raises StoreError."""
    sizes = table_sizes(path, exact_up_to=exact_up_to)
    rows: Counter[str] = Counter()
    current: Counter[str] = Counter()
    others: Counter[str] = Counter()
    topics = {table: topic for topic, tables in _OTHERS.items() for table in tables}
    for table, size in sizes.by_table.items():
        what, _, kind = table.partition("_")
        if what == "sample":
            rows[kind] += size
        elif what == "current":
            current[kind] += size
        else:
            others[topics.get(table, _REST)] += size
    with closing(open_as_it_is(path, older=True)) as connection, explained(path, "reading"):
        pages = pages_of(connection)
        readings = _readings(connection)
        histories = [table for table in sizes.by_table if table.startswith("sample_")]
        heads = (connection.execute(f"SELECT min(ts) FROM {table}").fetchone()[0] for table in histories)  # noqa: S608 - ours
        oldest = min((int(head) for head in heads if head is not None), default=None)
        sealed = read_sealed(connection, exact=not sizes.estimated) if "chunk" in sizes.by_table else Sealed()
    of_chunks = _shared(sealed.chunk_weights, others, sizes.by_table, ("chunk", "chunk_axis", "chunk_layout"), topics)
    of_hours = _shared(sealed.hour_weights, others, sizes.by_table, ("rollup", "rollup_metric", "rolled"), topics)
    kinds = {
        kind: KindSize(rows[kind], of_chunks[kind], of_hours[kind], current[kind])
        for kind in {*rows, *current, *of_chunks, *of_hours}
    }
    if sealed.begin is not None:
        first = sealed.begin if not readings.oldest else max(sealed.begin, readings.oldest)
        oldest = first if oldest is None else min(oldest, first)
    days = _by_day(readings, sealed.end, sum(rows.values()), of_chunks.total())
    return StoreInfo(
        path,
        pages.count * pages.size,
        pages.free * pages.size,
        length_of(path.with_name(path.name + "-wal")),
        kinds,
        +others,
        sizes.estimated,
        days,
        _growth(readings, sealed, sum(rows.values()), of_chunks.total(), of_hours.total()),
        oldest,
        readings.newest,
        sealed,
    )


def _shared(
    weights: Counter[str],
    others: Counter[str],
    by_table: Mapping[str, int],
    tables: Sequence[str],
    topics: Mapping[str, str],
) -> Counter[str]:
    """The bytes of ``tables`` by kind; they are taken from ``others``, where they are of no kind."""
    total, weight = sum(by_table.get(table, 0) for table in tables), weights.total()
    if not weight:
        return Counter()
    for table in tables:
        others[topics[table]] -= by_table.get(table, 0)
    return Counter({kind: round(total * each / weight) for kind, each in weights.items()})


def _by_day(readings: _Readings, sealed_to: int | None, rows: int, sealed: int) -> dict[int, int]:
    """Bytes of samples by day: rows and sealed hours apart, each by the number of readings."""
    found: Counter[int] = Counter()
    for size, counts in ((sealed, readings.before(sealed_to)), (rows, readings.since(sealed_to))):
        total = sum(counts.values())
        for hour, count in counts.items():
            found[hour * HOUR_MS // DAY_MS * DAY_MS] += round(size * count / total)
    return dict(sorted(found.items()))


def _growth(readings: _Readings, sealed: Sealed, rows: int, chunks: int, hours: int) -> int | None:
    """Bytes a day."""
    total = sum(readings.before(sealed.end).values())
    size = chunks
    if not total:
        total, size = sum(readings.by_hour.values()), rows
    if not total or readings.span < _LEAST_MS:
        return None
    return round(size * readings.last_day / total * DAY_MS / readings.span + hours / max(sealed.days, 1))


class _Readings(NamedTuple):
    """The readings of each hour since 1970, the times of the oldest and the newest (ms UTC), and how many there are in the
    day up to it, and in which part of that, ms.
    """

    by_hour: Mapping[int, int]
    oldest: int | None = None
    newest: int | None = None
    last_day: int = 0
    span: int = 0

    def before(self, bound: int | None) -> Mapping[int, int]:
        """Those of hours before ``bound``, ms UTC; without one none."""
        return {hour: count for hour, count in self.by_hour.items() if bound is not None and hour * HOUR_MS < bound}

    def since(self, bound: int | None) -> Mapping[int, int]:
        """The others."""
        return {hour: count for hour, count in self.by_hour.items() if bound is None or hour * HOUR_MS >= bound}


def _readings(connection: sqlite3.Connection) -> _Readings:
    """Raises sqlite3.Error."""
    every = (
        "(SELECT ts, readings FROM snapshot WHERE ts BETWEEN 1 AND :last"
        " UNION ALL SELECT ts, 1 FROM record WHERE ts BETWEEN 1 AND :last)"
    )
    bounds = {"last": LAST_MOMENT, "hour": HOUR_MS}
    hours = {
        int(hour): int(count)
        for hour, count in connection.execute(
            f"SELECT ts / :hour, sum(readings) FROM {every} GROUP BY 1",  # noqa: S608 - ours
            bounds,
        )
    }
    oldest, newest = connection.execute(f"SELECT min(ts), max(ts) FROM {every}", bounds).fetchone()  # noqa: S608 - ours
    if newest is None:
        return _Readings(hours)
    since = max(newest - DAY_MS, oldest)
    (last_day,) = connection.execute(
        f"SELECT sum(readings) FROM {every} WHERE ts > :since",  # noqa: S608 - ours
        {**bounds, "since": since},
    ).fetchone()
    return _Readings(hours, int(oldest), int(newest), int(last_day or 0), int(newest - since))
