"""Means of whole hours of the metrics whose baseline rules ask for: a look eight weeks back is one short query."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mqvitals_agent.store.file.schema import BELIEVED
from mqvitals_agent.store.rows.tables import OBJECT_ID, integer, moment, numbered, text
from mqvitals_rules.history import HOUR_MS, WEEK_MS, WEEKS
from mqvitals_rules.snapshot import ObjectName

_KEPT_MS = (WEEKS + 1) * WEEK_MS

_KEEP = """INSERT INTO hour_mean(hour, kind, metric, object_id, mean, weight) VALUES(?, ?, ?, ?, ?, ?)
    ON CONFLICT(hour, kind, metric, object_id) DO UPDATE SET
    mean = (mean * weight + excluded.mean * excluded.weight) / (weight + excluded.weight), weight = weight + excluded.weight"""


# One seek a metric: without its metric an object is found only among all objects of the hour.
_ONE = """WITH RECURSIVE found(metric) AS (SELECT min(metric) FROM hour_mean WHERE hour = ?1 AND kind = ?2
    UNION ALL SELECT (SELECT min(metric) FROM hour_mean WHERE hour = ?1 AND kind = ?2 AND metric > found.metric) FROM found
    WHERE found.metric IS NOT NULL)
    SELECT 1 FROM found CROSS JOIN hour_mean AS h WHERE h.hour = ?1 AND h.kind = ?2 AND h.metric = found.metric
    AND h.object_id = ?3 LIMIT 1"""


class HourMean(NamedTuple):
    """The mean of a metric of an object over what was seen of an hour.

    ``hour`` is when it began, ms UTC. Of a counter the mean is the increase a second and ``weight`` the ms in which
    it arose; of others ``weight`` is the number of values. Two of the same hour make one of both.
    """

    object: ObjectName
    metric: str
    hour: int
    mean: float
    weight: int


def write_means(connection: sqlite3.Connection, means: Iterable[HourMean], objects: Mapping[ObjectName, int]) -> None:
    """Keep means of objects that the store knows, each together with what is there of its hour. Raises sqlite3.Error.

    Those of hours that no baseline looks back on any more go.
    """
    rows = [
        (each.hour, each.object.kind, each.metric, objects[each.object], each.mean, each.weight)
        for each in means
        if each.object in objects
    ]
    connection.executemany(_KEEP, rows)
    if rows:
        connection.execute(
            f"DELETE FROM hour_mean WHERE hour < {BELIEVED} - :keep",  # noqa: S608
            {"now": max(row[0] for row in rows), "keep": _KEPT_MS},
        )


def read_means(
    connection: sqlite3.Connection, kind: str, metric: str, hours: Sequence[int], name: ObjectName | None = None
) -> dict[ObjectName, list[float]]:
    """The means of ``hours`` of a metric, of all objects of a kind or of one, by object. Raises sqlite3.Error."""
    marks = ", ".join("?" * len(hours))
    # Of one object each hour is one seek.
    only = "" if name is None else f" AND h.object_id = ({OBJECT_ID})"
    rows = connection.execute(
        "SELECT o.owner, o.name, h.mean FROM hour_mean AS h CROSS JOIN object AS o"  # noqa: S608
        f" WHERE h.hour IN ({marks}) AND h.kind = ? AND h.metric = ? AND o.id = h.object_id{only}",
        (*hours, kind, metric, *(() if name is None else name)),
    )
    found: dict[ObjectName, list[float]] = {}
    for owner, rest, mean in rows:
        found.setdefault(ObjectName(text(owner), kind, text(rest)), []).append(_mean(mean))
    return found


def read_hours(connection: sqlite3.Connection, kind: str, metric: str, begun: Sequence[int]) -> list[HourMean]:
    """The means of a metric in the hours that began at ``begun`` (ms UTC). Raises sqlite3.Error."""
    marks = ", ".join("?" * len(begun))
    rows = connection.execute(
        "SELECT o.owner, o.name, h.hour, h.mean, h.weight FROM hour_mean AS h CROSS JOIN object AS o"  # noqa: S608
        f" WHERE h.hour IN ({marks}) AND h.kind = ? AND h.metric = ? AND o.id = h.object_id",
        (*begun, kind, metric),
    )
    return [
        HourMean(ObjectName(text(owner), kind, text(name)), metric, moment(hour), _mean(mean), integer(weight))
        for owner, name, hour, mean, weight in rows
    ]


def _mean(value: object) -> float:
    if type(value) is not float:
        raise TypeError(f"{value!r:.60} is no mean")
    return value


def has_means(connection: sqlite3.Connection, number: int, kind: str, last: int, now: int) -> bool:
    """Whether there are means of an object that was last there at ``last`` (ms UTC). Raises sqlite3.Error.

    Looked for from then backwards, one seek an hour and metric, as the table is ordered by hour; then on to ``now``,
    as records may come late.
    """
    (first,) = connection.execute("SELECT min(hour) FROM hour_mean").fetchone()
    if first is None:
        return False
    hour = last - last % HOUR_MS
    return any(
        connection.execute(_ONE, numbered(each, kind, number)).fetchone() is not None
        for each in (*range(hour, first - 1, -HOUR_MS), *range(hour + HOUR_MS, now + 1, HOUR_MS))
    )
