"""Means of whole hours that a former version noted, of the metrics whose baseline rules ask for: they are read as long as
baselines look back on them. Today hours are rolled up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mqvitals_agent.store.rows.tables import OBJECT_ID, integer, moment, numbered, text
from mqvitals_rules.history import WEEKS
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.timestamps import HOUR_MS, WEEK_MS

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


def read_hours(
    connection: sqlite3.Connection, kind: str, metric: str, begun: Sequence[int], name: ObjectName | None = None
) -> list[HourMean]:
    """The means of a metric in the hours that began at ``begun`` (ms UTC), of all objects of a kind or of one. Raises
    sqlite3.Error.
    """
    marks = ", ".join("?" * len(begun))
    # Of one object each hour is one seek.
    only = "" if name is None else f" AND h.object_id = ({OBJECT_ID})"
    rows = connection.execute(
        "SELECT o.owner, o.name, h.hour, h.mean, h.weight FROM hour_mean AS h CROSS JOIN object AS o"  # noqa: S608
        f" WHERE h.hour IN ({marks}) AND h.kind = ? AND h.metric = ? AND o.id = h.object_id{only}",
        (*begun, kind, metric, *(() if name is None else name)),
    )
    return [
        HourMean(ObjectName(text(owner), kind, text(name)), metric, moment(hour), _mean(mean), integer(weight))
        for owner, name, hour, mean, weight in rows
    ]


def _mean(value: object) -> float:
    if type(value) is not float:
        raise TypeError(f"{value!r:.60} is no mean")
    return value


def drop_old_means(connection: sqlite3.Connection, now: int) -> Iterator[int]:
    """Delete the means that no baseline looks back on as of ``now`` (ms UTC), an hour between two yields of how many they
    were. Raises sqlite3.Error.
    """
    while True:
        (hour,) = connection.execute("SELECT min(hour) FROM hour_mean").fetchone()
        if hour is None or hour >= now - (WEEKS + 1) * WEEK_MS:
            return
        yield connection.execute("DELETE FROM hour_mean WHERE hour = ?", (hour,)).rowcount


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
