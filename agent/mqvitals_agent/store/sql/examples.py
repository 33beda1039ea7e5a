"""Questions that people really ask of a store, as SQL: in docs/store.md, and offered by Datasette."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mqvitals_rules.vocabulary.tables import KINDS


class Example(NamedTuple):
    """A question, and the statement that answers it."""

    name: str
    title: str
    sql: str


EXAMPLES: Final = (
    Example(
        "deepest",
        "Which queues were the deepest on a day, and how deep were they on average?",
        """\
SELECT owner, name, max(highest) AS deepest, round(avg(mean), 1) AS mean_depth
FROM hours_queue WHERE metric = 'depth' AND day = '2026-11-20'
GROUP BY owner, name ORDER BY deepest DESC LIMIT 10""",
    ),
    Example(
        "course",
        "What were depth and age of the oldest message of a queue between two moments?",
        """\
SELECT at, depth, oldest_msg_age_s
FROM history_queue WHERE owner = 'QM01' AND name = 'PAYMENTS.IN'
  AND hour BETWEEN '2026-11-20T11:00Z' AND '2026-11-20T12:00Z'
  AND at BETWEEN '2026-11-20T11:45' AND '2026-11-20T12:15' ORDER BY at""",
    ),
    Example(
        "traffic",
        "How much did each channel send in each hour of a day?",
        """\
SELECT hour, owner, name, increase / 1e6 AS mb_sent, mean AS bytes_per_second
FROM hours_channel WHERE metric = 'bytes_sent' AND day = '2026-11-20' ORDER BY hour, mb_sent DESC""",
    ),
    Example(
        "not-running",
        "When was a channel not running?",
        """\
SELECT at, owner, name, status
FROM history_channel WHERE name = 'TO.QM02' AND hour >= '2026-11-20' AND hour < '2026-11-21'
  AND status <> 'RUNNING' ORDER BY at""",
    ),
    Example(
        "alerts",
        "Which rules fired most often in the last 30 days, and for how long?",
        """\
SELECT rule, severity, count(*) AS times, round(sum(duration_s) / 60) AS minutes
FROM alerts WHERE started >= strftime('%Y-%m-%d', 'now', '-30 days')
GROUP BY rule, severity ORDER BY times DESC""",
    ),
)


def datasette_metadata(database: str) -> dict[str, Any]:
    """The content of a metadata file for Datasette; ``database`` is the name of the store's file without its ending."""
    kinds: Mapping[str, str] = {name: kind.meaning for name, kind in KINDS.items()}
    queries = {each.name: {"title": each.title, "sql": each.sql} for each in EXAMPLES}
    for kind, meaning in kinds.items():
        queries[f"hours-{kind}"] = {
            "title": f"What the hours of a metric of a {kind} came to ({meaning})",
            "sql": f"SELECT * FROM hours_{kind} WHERE owner = :owner AND name = :name AND metric = :metric AND day = :day",  # noqa: S608
        }
    queries["metrics"] = {"title": "What a metric means", "sql": "SELECT * FROM metric WHERE kind = :kind"}
    tables = {
        **{
            f"sample_{kind}": {"description": f"Samples of {meaning} that are not sealed yet"}
            for kind, meaning in kinds.items()
        },
        **{f"current_{kind}": {"description": f"The current state of {meaning}"} for kind, meaning in kinds.items()},
        "chunk": {"description": "Sealed hours, compressed: history_<kind> has their samples", "hidden": True},
        "rollup": {"description": "Rolled-up hours, compressed: hours_<kind> has them", "hidden": True},
    }
    return {"databases": {database: {"queries": queries, "tables": tables}}}
