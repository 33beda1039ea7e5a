"""What an engine must have of a store, read from its rows and named by the vocabulary alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from mqvitals_agent.openmetrics.names import families_of
from mqvitals_rules.vocabulary.metric import MetricType
from mqvitals_rules.vocabulary.tables import KINDS

NAMED: Final = {"queue": "queue", "channel": "channel", "buffer_pool": "bufferpool", "page_set": "pageset"}
"""Kinds that are compared, and the label with the name of an object."""

Row = tuple[str, str, str, int]
"""The name of a series, owner, object, and time (ms UTC)."""


def asked(store: Path, query: str) -> list[tuple[object, ...]]:
    """The rows of a query; none while there is no store yet."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()
    except sqlite3.Error:
        return []


def gauges(store: Path) -> dict[Row, float]:
    """The exported values of all polled samples that are gauges or states, of some kinds that all groups have."""
    found = {}
    for kind in NAMED:
        known = KINDS[kind]
        metrics = [metric for metric in known.metrics if metric.in_history and metric.type is not MetricType.COUNTER]
        columns = ", ".join(f's."{metric.name}"' for metric in metrics)
        for ts, owner, name, *cells in asked(
            store,
            f"SELECT s.ts, o.owner, o.name, {columns} FROM sample_{kind} AS s JOIN object AS o ON o.id = s.object_id"
            " WHERE s.source = 1",
        ):
            for metric, cell in zip(metrics, cells, strict=True):
                for family in families_of(known, metric) if cell is not None else ():
                    value = family.value_of(float(str(cell)))
                    if value is not None:
                        found[family.sample, str(owner), str(name), int(str(ts))] = value
    return found


def label_of_names() -> Mapping[str, str]:
    """Name of a series -> the label with the name of its object."""
    return {
        family.sample: label
        for kind, label in NAMED.items()
        for metric in KINDS[kind].metrics
        for family in families_of(KINDS[kind], metric)
    }
