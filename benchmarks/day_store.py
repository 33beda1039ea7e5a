"""A store that an agent with 10,000 queues and 2,000 channels has written for a day, in minutes: for benchmarks of what reads it.

    python benchmarks/day_store.py day.db --hours 24

The agent writes the newest minutes itself, with everything that it stores. The hours before are copies of the rows of these
minutes at earlier times, in the order of the table, as the agent would have inserted them: what is read of the past costs
the same, and only its values repeat. A day takes about 15 GB. Where the file exists already it is left as it is.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from mqvitals_agent.store.rows.tables import tables_of
from mqvitals_rules.vocabulary.tables import KINDS

QUEUES, CHANNELS, INTERVAL_S = 10_000, 2_000, 10
SCENARIO = "busy-morning"
TEMPLATE_S = 300
"""The length of what the agent writes itself; a whole number of cycles."""
_HOUR_S = 3600
PROGRAM = (sys.executable, "-P", "-m", "mqvitals_tui.main")


def agent_command(store: Path, *words: str) -> tuple[str, ...]:
    """The command line of an agent of this group."""
    return (
        *(*PROGRAM, "agent", "--scenario", SCENARIO, "--store", str(store), "--interval", f"{INTERVAL_S}s"),
        *("--queues", str(QUEUES), "--channels", str(CHANNELS), *words),
    )


def environment() -> dict[str, str]:
    """The variables of the programs under measurement: none of the site's settings."""
    return {key: value for key, value in os.environ.items() if not key.startswith("MQVITALS_")}


def make(store: Path, hours: float) -> None:
    """Make the store; it ends about now. Raises subprocess.CalledProcessError when the agent fails."""
    part = store.with_name(f"{store.name}.part")
    for each in part.parent.glob(f"{part.name}*"):
        each.unlink()
    words = ("--for", f"{TEMPLATE_S}s", "--speed", "max")
    log = store.with_name(f"{store.name}.log")
    with log.open("wb") as stream:
        subprocess.run(agent_command(part, *words), check=True, env=environment(), stderr=stream)
    with closing(sqlite3.connect(part, isolation_level=None)) as connection:
        # Nobody reads it yet: what is interrupted is made again.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
        lengthen(connection, max(1, round(hours * _HOUR_S / TEMPLATE_S)))
        connection.execute("PRAGMA journal_mode = WAL")
    part.rename(store)


def lengthen(connection: sqlite3.Connection, times: int) -> None:
    """Put copies of all samples before them, so that the store is ``times`` as long. Raises sqlite3.Error."""
    earlier = [count * TEMPLATE_S * 1000 for count in range(times - 1, 0, -1)]
    cycles = TEMPLATE_S // INTERVAL_S
    connection.execute("BEGIN")
    (first,) = connection.execute("SELECT coalesce(min(ts), 0) FROM snapshot").fetchone()
    for tables in tables_of(KINDS).values():
        _repeat(connection, tables.history, earlier, "ts, object_id, source")
        # What has not changed since it was first told would not have changed for so long.
        connection.execute(
            f"UPDATE {tables.current} SET changed = changed - ? WHERE changed < ?",
            (earlier[0] if earlier else 0, first + INTERVAL_S * 1000),
        )
    _repeat(connection, "record", earlier, "object_id, source, ts")
    _repeat(connection, "snapshot", earlier, "owner, ts")
    connection.execute("UPDATE owner SET last_cycle = last_cycle + ?", (len(earlier) * cycles,))
    for table in ("owner", "object"):
        connection.execute(f"UPDATE {table} SET first_ts = first_ts - ?", earlier[:1] or (0,))
    connection.execute("COMMIT")


def _repeat(connection: sqlite3.Connection, table: str, earlier: Sequence[int], order: str) -> None:
    """Insert the rows of a table as often as there are times (ms) by which they are moved back, in the table's order."""
    names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    columns = ", ".join(f'"{name}"' for name in names)
    moved = ", ".join('"ts" - ?' if name == "ts" else f'"{name}"' for name in names)
    connection.execute(f"CREATE TEMP TABLE newest AS SELECT * FROM {table} ORDER BY {order}")
    # What is written in the order of the key fills its pages, as in an agent's store.
    connection.execute(f"DELETE FROM {table}")
    for ms in (*earlier, 0):
        connection.execute(f"INSERT INTO {table} ({columns}) SELECT {moved} FROM newest", (ms,))
    connection.execute("DROP TABLE newest")


def main() -> int:
    """Make the store, if it is not there."""
    parser = argparse.ArgumentParser(description="a store of a day of a large group")
    parser.add_argument("store", type=Path)
    parser.add_argument("--hours", type=float, default=24.0, help="what it holds (default: %(default)g)")
    arguments = parser.parse_args()
    if not arguments.store.exists():
        make(arguments.store, arguments.hours)
    print(f"{arguments.store}: {arguments.store.stat().st_size / 1e9:.1f} GB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
