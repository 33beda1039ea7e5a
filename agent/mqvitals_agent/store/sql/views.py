"""The views and tables that a connection has for itself: plain rows with ISO times, names of objects, words for states."""

# ruff: noqa: S608 - all of it is made of the vocabulary
from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from mqvitals_agent.store.rows.tables import POLL, tables_of
from mqvitals_agent.store.sql.functions import CELL, HOURS, INTERVAL, POLLED, TIMES
from mqvitals_rules.snapshot import Source
from mqvitals_rules.timestamps import DAY_MS, HOUR_MS
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

_NUMBER: Final = f"(((s.ts / {HOUR_MS}) << 26) | (s.object_id << 2) | (s.source & 3))"
"""The number of the chunk that a row would be in: see ``ChunkKey``."""

_ALERTS: Final = """CREATE TEMP VIEW alerts AS SELECT id, rule, owner, kind, name, instance, severity, worst AS worst_severity,
    state, {since} AS since, {started} AS started, {ended} AS ended,
    (ended - started) / 1000.0 AS duration_s, summary, value_now, worst_value FROM main.alert"""

_OBJECTS: Final = """CREATE TEMP VIEW objects AS SELECT id, owner, kind, name, {first} AS first_seen, {gone} AS gone
    FROM main.object"""


def create_views(connection: sqlite3.Connection, columns: Mapping[str, Collection[str]]) -> None:
    """Create them; ``columns`` are those of every table of the store. Raises sqlite3.Error."""
    connection.execute(_ALERTS.format(since=_iso("since"), started=_iso("started"), ended=_iso("ended")))
    connection.execute(_OBJECTS.format(first=_iso("first_ts"), gone=_iso("gone_ts")))
    _create_tables(connection)
    for kind in KINDS.values():
        there = columns.get(tables_of(KINDS)[kind.name].history)
        if there is not None:
            connection.execute(_history(kind, there))
            connection.execute(_hours(kind))


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TEMP TABLE metric(kind TEXT, metric TEXT, type TEXT, unit TEXT, pcf TEXT, mqsc TEXT, smf TEXT, meaning TEXT,"
        " PRIMARY KEY(kind, metric)) WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TEMP TABLE state(kind TEXT, metric TEXT, code INTEGER, word TEXT, PRIMARY KEY(kind, metric, code)) WITHOUT ROWID"
    )
    metrics = [(kind.name, each) for kind in KINDS.values() for each in kind.metrics]
    connection.executemany(
        "INSERT INTO temp.metric VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (kind, each.name, each.type.value, each.unit, each.pcf, each.mqsc, each.smf, each.meaning)
            for kind, each in metrics
        ],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO temp.state VALUES(?, ?, ?, ?)",
        [(kind, each.name, code, word) for kind, each in metrics for word, code in each.values.items()],
    )


def _history(kind: Kind, there: Collection[str]) -> str:
    """Polls by the snapshots of the owner, records by their index, both but for sealed hours, and the samples of these.

    SQLite takes a view apart, and computes of it only what a statement names, where the columns of all parts have the same
    affinity: those of rows lose theirs by a plus.
    """
    metrics = [each for each in kind.metrics if each.in_history]
    table = f'main."{tables_of(KINDS)[kind.name].history}"'

    def of_row(metric: Metric) -> str:
        return f'+s."{metric.name}"' if metric.name in there else "NULL"

    def of_chunk(metric: Metric) -> str:
        return f"{CELL}(c.id, j.key, '{metric.name}')"

    def chosen(ts: str, hour: str, source: str, interval: str, polled: str, cells: Iterator[str]) -> str:
        fixed = (
            f"{_iso(ts)} AS at, {_hour(hour)} AS hour, o.owner AS owner, o.name AS name, {_source(source)} AS source"
        )
        values = "".join(f', {cell} AS "{metric.name}"' for metric, cell in zip(metrics, cells, strict=True))
        return f"SELECT {fixed}, {ts} AS ts, {interval} / 1000.0 AS interval_s, {polled} AS polled{values}"

    rows = chosen(
        "t.ts",
        f"t.ts / {HOUR_MS}",
        "s.source",
        "s.interval_ms",
        "+s.polled",
        (_word(each, of_row(each)) for each in metrics),
    )
    sealed = chosen(
        "CAST(j.value AS INTEGER)",
        "h.hour",
        "(c.id & 3)",
        f"{CELL}(c.id, j.key, '{INTERVAL}')",
        f"{CELL}(c.id, j.key, '{POLLED}')",
        (_word(each, of_chunk(each)) for each in metrics),
    )
    young = f"NOT EXISTS (SELECT 1 FROM main.chunk WHERE id = {_NUMBER}) AND o.kind = '{kind.name}'"
    # Snapshots from before the oldest row, those of sealed hours, lead to none.
    oldest = f"t.ts >= (SELECT min(ts) FROM {table})"
    # The hours that have chunks: a seek each.
    hours = """(WITH RECURSIVE found(hour) AS (
            SELECT min(id) >> 26 FROM main.chunk
            UNION ALL SELECT (SELECT min(id) >> 26 FROM main.chunk WHERE id >= (found.hour + 1) << 26) FROM found
            WHERE found.hour IS NOT NULL) SELECT hour FROM found WHERE hour IS NOT NULL)"""
    return f"""CREATE TEMP VIEW history_{kind.name} AS
        {rows} FROM main.object AS o JOIN main.snapshot AS t ON t.owner = o.owner
            CROSS JOIN {table} AS s
            WHERE s.ts = t.ts AND s.object_id = o.id AND s.source = {POLL} AND {oldest} AND {young}
        UNION ALL {rows} FROM main.object AS o JOIN main.record AS t ON t.object_id = o.id
            CROSS JOIN {table} AS s
            WHERE s.ts = t.ts AND s.object_id = o.id AND s.source = t.source AND {oldest} AND {young}
        UNION ALL {sealed} FROM {hours} AS h CROSS JOIN main.object AS o CROSS JOIN main.chunk AS c
            CROSS JOIN json_each({TIMES}(c.id)) AS j
            WHERE o.kind = '{kind.name}'
            AND c.id BETWEEN ((h.hour << 26) | (o.id << 2)) AND ((h.hour << 26) | (o.id << 2) | 3)"""


def _hours(kind: Kind) -> str:
    """What hours came to, whatever their age: the days between the first and the last that have any."""

    def figure(place: int) -> str:
        return f"json_extract(j.value, '$[{place}]')"

    last = "".join(
        f" WHEN '{each.name}' THEN {_word(each, figure(7))}"
        for each in kind.metrics
        if each.in_history and each.type is MetricType.STATE
    )
    told = f"CASE m.metric{last} ELSE {figure(7)} END" if last else figure(7)
    return f"""CREATE TEMP VIEW hours_{kind.name} AS
        WITH RECURSIVE days(day, ends) AS (
            SELECT min(first_ts) / {DAY_MS}, max(last_ts) / {DAY_MS} FROM main.owner
            UNION ALL SELECT day + 1, ends FROM days WHERE day < ends)
        SELECT strftime('%Y-%m-%dT%H:%M:%SZ', {figure(0)}, 'unixepoch') AS hour,
            date(d.day * 86400, 'unixepoch') AS day, o.owner AS owner, o.name AS name, m.metric AS metric, m.unit AS unit,
            {figure(1)} AS count, {figure(2)} AS lowest, {figure(3)} AS highest, {figure(4)} AS mean,
            {figure(5)} AS increase, {figure(6)} AS covered_s, {told} AS last
        FROM days AS d CROSS JOIN main.object AS o CROSS JOIN temp.metric AS m
            CROSS JOIN json_each({HOURS}(o.owner, o.kind, o.name, m.metric, d.day)) AS j
            WHERE o.kind = '{kind.name}' AND m.kind = '{kind.name}' AND m.type <> 'text'"""


def _iso(ts: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%fZ', {ts} / 1000.0, 'unixepoch')"


def _hour(hour: str) -> str:
    return f"strftime('%Y-%m-%dT%H:00Z', ({hour}) * 3600, 'unixepoch')"


def _source(code: str) -> str:
    words = "".join(f" WHEN {each % 4} THEN '{each.name.lower()}'" for each in Source)
    return f"CASE ({code}) & 3{words} END"


def _word(metric: Metric, cell: str) -> str:
    """The word of a state; a number without one is itself, and so are other metrics."""
    if metric.type is not MetricType.STATE or not metric.values or cell == "NULL":
        return cell
    words: dict[int, str] = {}
    for word, code in metric.values.items():
        words.setdefault(code, word)
    quoted = {code: word.replace("'", "''") for code, word in words.items()}
    listed = "".join(f" WHEN {code:d} THEN '{word}'" for code, word in quoted.items())
    return f"CASE {cell}{listed} ELSE {cell} END"
