"""``mqvitals export`` as Parquet, read again by pyarrow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main

pytest.importorskip("pyarrow")

MakeStore = Callable[..., Path]


def test_parquet(make_store: MakeStore, tmp_path: Path) -> None:
    """Times are moments, states words, numbers 64-bit floating point, absent values null; units and meanings go along."""
    from pyarrow import parquet

    target = tmp_path / "channel.parquet"
    command = ["export", "QM01/channel/*", "--metrics", "status,bytes_sent", "--store", str(make_store())]
    assert main([*command, "-o", str(target)]) == 0
    table = parquet.read_table(target)
    rows = table.to_pylist()
    assert rows[1] == {
        "at": datetime(2026, 11, 20, 12, 0, 10, tzinfo=UTC),
        "owner": "QM01",
        "kind": "channel",
        "name": "TO.QM02",
        "source": "poll",
        "interval_s": 10.0,
        "status": "RUNNING",
        "bytes_sent": 1000.0,
    }
    assert [row["bytes_sent"] for row in rows] == [None, 1000, 2000, 3000, 4000, 5000]
    assert table.schema.field("bytes_sent").metadata[b"unit"] == b"bytes per interval"
    assert main([*command, "-o", str(target), "--force", "--codes"]) == 0
    assert parquet.read_table(target).column("status").to_pylist() == [3, 3, 5, 3, 3, 3]
