"""What a store takes, by kind and by day, and how fast that grows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mqvitals_agent.store.file.database import explained
from mqvitals_agent.store.file.page_counts import EXACT_UP_TO, table_sizes
from mqvitals_agent.store.file.schema import open_as_it_is
from mqvitals_agent.store.rows.tables import LAST_MOMENT

DAY_MS: Final = 86_400_000
_LEAST_MS: Final = 7_200_000
"""Of less than two hours no growth a day is told."""
_OTHERS: Final = {
    "alerts": (
        *("alert", "alert_transition", "notice", "alert_group", "resent", "receiver", "report"),
        *("acknowledgement", "note", "silence", "audit", "unknown_count"),
    ),
    "messages and events": ("message", "console_file", "console_owner", "event_queue"),
    "journal and changes": ("journal", "change"),
    "SMF records": ("record", "smf_record", "smf_part", "smf_file"),
    "hourly means": ("hour_mean",),
    "objects and snapshots": ("object", "owner", "snapshot", "reading", "instance"),
}
"""Tables of no one kind, by what they hold."""
_REST: Final = "other"


@dataclass(frozen=True, slots=True)
class KindSize:
    """Bytes of a kind of object: its history, and the current state."""

    history: int = 0
    current: int = 0


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store takes, in bytes.

    ``file`` with its ``free`` pages, and ``log`` are as on the disk. ``kinds`` are the kinds of objects, ``others`` what the
    remaining tables hold; ``estimated``: these were not counted page by page. ``days`` are parts of the history by the day
    on which it was taken (ms UTC of its begin), by the number of readings of that day: always estimated. ``growth`` is
    what the last 24 hours of samples take, as a day; None: less than two hours are known. ``oldest`` and ``newest`` samples
    are ms UTC, None where there is none.
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


def read_info(path: Path, *, exact_up_to: int = EXACT_UP_TO) -> StoreInfo:
    """Look at the store at ``path``; ``exact_up_to`` as for ``table_sizes``. Raises StoreError."""
    sizes = table_sizes(path, exact_up_to=exact_up_to)
    kinds: dict[str, KindSize] = {}
    others: Counter[str] = Counter()
    topics = {table: topic for topic, tables in _OTHERS.items() for table in tables}
    for table, size in sizes.by_table.items():
        what, _, kind = table.partition("_")
        if what == "sample":
            kinds[kind] = KindSize(size, kinds.get(kind, KindSize()).current)
        elif what == "current":
            kinds[kind] = KindSize(kinds.get(kind, KindSize()).history, size)
        else:
            others[topics.get(table, _REST)] += size
    with closing(open_as_it_is(path, older=True)) as connection, explained(path, "reading"):
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        readings, newest, last_day, span = _readings(connection)
        histories = [table for table in sizes.by_table if table.startswith("sample_")]
        heads = (connection.execute(f"SELECT min(ts) FROM {table}").fetchone()[0] for table in histories)  # noqa: S608 - ours
        oldest = min((int(head) for head in heads if head is not None), default=None)
    history = sum(each.history for each in kinds.values())
    total = sum(readings.values())
    return StoreInfo(
        path,
        pages * page,
        free * page,
        _length(path.with_name(path.name + "-wal")),
        kinds,
        +others,
        sizes.estimated,
        {day * DAY_MS: round(history * count / total) for day, count in sorted(readings.items())} if total else {},
        round(history * last_day / total * DAY_MS / span) if total and span >= _LEAST_MS else None,
        oldest,
        newest,
    )


def _readings(connection: sqlite3.Connection) -> tuple[Counter[int], int | None, int, int]:
    """The readings of each day since 1970, the time of the newest, and how many there are in the day up to it, and in
    which part of that, ms. Raises sqlite3.Error.
    """
    every = (
        "(SELECT ts, readings FROM snapshot WHERE ts BETWEEN 1 AND :last"
        " UNION ALL SELECT ts, 1 FROM record WHERE ts BETWEEN 1 AND :last)"
    )
    bounds = {"last": LAST_MOMENT, "day": DAY_MS}
    days = Counter(
        {
            int(day): int(count)
            for day, count in connection.execute(
                f"SELECT ts / :day, sum(readings) FROM {every} GROUP BY 1",  # noqa: S608 - ours
                bounds,
            )
        }
    )
    oldest, newest = connection.execute(f"SELECT min(ts), max(ts) FROM {every}", bounds).fetchone()  # noqa: S608 - ours
    if newest is None:
        return days, None, 0, 0
    since = max(newest - DAY_MS, oldest)
    (last_day,) = connection.execute(
        f"SELECT sum(readings) FROM {every} WHERE ts > :since",  # noqa: S608 - ours
        {**bounds, "since": since},
    ).fetchone()
    return days, int(newest), int(last_day or 0), int(newest - since)


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
