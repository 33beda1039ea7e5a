"""``mqvitals export``."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.view.trend import export_rows

MakeStore = Callable[..., Path]
POOL, CHANNEL = "QM01/buffer_pool/3", "QM01/channel/TO.QM02"


def export(capsys: pytest.CaptureFixture[str], store: Path, *arguments: str) -> str:
    assert main(["export", *arguments, "--store", str(store)]) == 0
    return capsys.readouterr().out


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_csv(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each poll; what is absent is empty, states are words, numbers are whole where they were."""
    out = export(capsys, make_store(), CHANNEL, "--metrics", "status,bytes_sent,xqtime_us_short")
    assert out.splitlines()[:2] == [
        "at,owner,kind,name,source,interval_s,status,bytes_sent,xqtime_us_short",
        '2026-11-20T12:00:00.000Z,"QM01","channel","TO.QM02","poll",10.0,"RUNNING",,',
    ]
    rows = table(out)
    assert [row["bytes_sent"] for row in rows] == ["", "1000", "2000", "3000", "4000", "5000"]
    assert [row["status"] for row in rows][1:3] == ["RUNNING", "RETRYING"]


def test_json_lines(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """An object for each row; shares keep all of their digits."""
    out = export(
        capsys, make_store(), "QM01/page_set/*", "--metrics", "used_pct", "--format", "jsonl", "--tz", "+01:00"
    )
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[0] == {
        "at": "2026-11-20T13:00:00.000+01:00",
        "owner": "QM01",
        "kind": "page_set",
        "name": "4",
        "source": "poll",
        "interval_s": 10.0,
        "used_pct": 70.476190,
    }
    assert len(rows) == 6


def test_every_metric_of_a_kind(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--kind alone means all of its objects, with every number and state and no text."""
    rows = table(export(capsys, make_store(), "--kind", "channel", "--codes"))
    assert {row["name"] for row in rows} == {"TO.QM02"}
    assert [row["status"] for row in rows] == ["3", "3", "5", "3", "3", "3"]
    assert "conname" not in rows[0]
    assert len(rows[0]) > 100


def test_parts_of_the_time(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """--every has the values of 'trend', and of a counter a rate, or its increase."""
    store = make_store()
    span = ["--from", "12:00", "--to", "2026-11-20T12:00:50Z"]
    every = ["--every", "30s", *span]
    rows = table(export(capsys, store, POOL, "--metrics", "free_pct", *every, "--agg", "min"))
    assert main(["trend", "free_pct", POOL, "--store", str(store), "--json", *every, "--agg", "min"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [[row["at"], float(row["free_pct"])] for row in rows] == shown["points"]
    sums = table(export(capsys, store, CHANNEL, *every, "--agg", "sum"))
    assert [float(row["bytes_sent"]) for row in sums] == [6000, 9000]
    # Of every metric those stay that have a sum.
    assert "status" not in sums[0]
    assert "source" not in sums[0]


@pytest.mark.parametrize(
    ("name", "metric", "agg"),
    [(CHANNEL, "bytes_sent", "sum"), (CHANNEL, "bytes_sent", "avg"), ("QM01/page_set/4", "used_pct", "avg")],
)
def test_parts_are_written_as_a_trend_writes_them(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], name: str, metric: str, agg: str
) -> None:
    """To the same digit: what of an interval lies in a part has not as many as a computer calculates with."""
    store = make_store()
    span = ["--from", "12:00", "--to", "2026-11-20T12:00:50Z", "--every", "15s", "--agg", agg]
    rows = table(export(capsys, store, name, "--metrics", metric, *span))
    assert main(["trend", metric, name, "--store", str(store), "--csv", *span]) == 0
    shown = table(capsys.readouterr().out)
    assert [(row["at"], row[metric]) for row in rows] == [(row["at"], row["value"]) for row in shown]
    assert any(row[metric] for row in rows)
    assert all(len(row[metric].partition(".")[2]) <= 6 for row in rows)


def test_a_long_time_is_read_in_pieces(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the length of the pieces: the same rows, samples as well as parts."""
    store = make_store()
    span = ["--from", "2026-11-20T11:59:00Z", "--to", "2026-11-20T12:00:50Z"]
    commands = [
        [CHANNEL, "--metrics", "bytes_sent,status", *span],
        [POOL, "--every", "10s", "--metrics", "free_pct,free", *span],
        [CHANNEL, "--every", "20s", "--metrics", "bytes_sent,status", *span],
    ]
    whole = [table(export(capsys, store, *each)) for each in commands]
    monkeypatch.setattr(export_rows, "DAY_MS", 25_000)
    assert [table(export(capsys, store, *each)) for each in commands] == whole


@pytest.mark.parametrize("parts", [(), ("--every", "10s")])
def test_no_more_is_read_at_once_than_a_day(
    make_store: MakeStore,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    parts: tuple[str, ...],
) -> None:
    """And what lies a little before and after its parts: a year takes no more memory."""
    spans: list[int] = []
    trends_of = StoreReader.trends_of

    def watched(self: StoreReader, names: Any, metrics: Any, since: int, until: int) -> Any:
        spans.append(until - since)
        return trends_of(self, names, metrics, since, until)

    monkeypatch.setattr(StoreReader, "trends_of", watched)
    monkeypatch.setattr(export_rows, "DAY_MS", 20_000)
    monkeypatch.setattr(export_rows, "_NEAR_MS", 5_000)
    span = ["--from", "2026-11-20T11:59:00Z", "--to", "2026-11-20T12:00:50Z"]
    export(capsys, make_store(), POOL, "--metrics", "free_pct", *span, *parts)
    assert len(spans) > 5
    assert max(spans) < (30_000 if parts else 20_000)


def test_file(make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ending tells the form; a file that is there stays without --force, and nothing else is left."""
    store, target = make_store(), tmp_path / "out" / "pool.jsonl"
    target.parent.mkdir()
    command = ["export", POOL, "--store", str(store), "-o", str(target)]
    assert main(command) == 0
    assert "wrote 6 rows of 1 buffer pool to" in capsys.readouterr().err
    first = target.read_text()
    assert json.loads(first.splitlines()[0])["free_pct"] == 60
    assert main(command) == 2
    assert "is there already" in capsys.readouterr().err
    assert main([*command, "--metrics", "free", "--force"]) == 0
    assert target.read_text() != first
    assert list(target.parent.iterdir()) == [target]


def test_a_time_without_samples_is_told(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has its header alone, and stderr says of which time nothing is there."""
    span = ["--from", "2026-11-20T11:00:00Z", "--to", "2026-11-20T11:30:00Z"]
    assert main(["export", POOL, "--metrics", "free", *span, "--store", str(make_store())]) == 0
    out, err = capsys.readouterr()
    assert out == "at,owner,kind,name,source,interval_s,free\n"
    assert "no samples of these objects from 2026-11-20 11:00:00 to 11:30:00 UTC" in err


def test_metadata_into_a_file(make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what it wrote, and for a store of which name; a file that is there stays."""
    store, target = make_store(), tmp_path / "metadata.json"
    command = ["export", "--datasette-metadata", "--store", str(store), "-o", str(target)]
    assert main(command) == 0
    assert f"a store of the name '{store.stem}'" in capsys.readouterr().err
    assert list(json.loads(target.read_text())["databases"]) == [store.stem]
    assert main(command) == 2
    assert "is there already" in capsys.readouterr().err


def test_nothing_is_left_where_it_fails(make_store: MakeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be completed does not come to be, and the one to replace stays."""

    def interrupted(*_: object) -> Any:
        yield ()
        raise KeyboardInterrupt

    target = tmp_path / "out" / "pool.csv"
    target.parent.mkdir()
    target.write_text("as it was")
    monkeypatch.setattr(export_rows, "_rows_of", interrupted)
    assert main(["export", POOL, "--store", str(make_store()), "-o", str(target), "--force"]) != 0
    assert target.read_text() == "as it was"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "nothing is named", "--kind queue"),
        (["--kind", "que"], "there is no kind of object 'que'", "queue"),
        (["QM01/*"], "these objects are of several kinds: ", "--kind "),
        ([POOL, "--kind", "queue"], "none of these objects is a queue", "leave --kind out"),
        ([POOL, "--metrics", "depth"], "a buffer_pool has no metric 'depth'", ""),
        ([POOL, "--agg", "max"], "--agg is about the parts of --every", ""),
        ([CHANNEL, "--every", "1m", "--agg", "max", "--metrics", "status"], "status is a state", ""),
        ([POOL, "--last", "1h", "--from", "12:00"], "--last and --from", ""),
        (
            [POOL, "--from", "2026-11-20 12:00", "--to", "2026-11-20 11:00"],
            "before it begins",
            "begin earlier or end later",
        ),
        ([POOL, "-o", "table.xls"], "the ending of 'table.xls' names no form", "--format"),
        ([POOL, "-o", "/nowhere/table.csv"], "/nowhere/table.csv cannot be written", ""),
        ([POOL, "--force"], "--force is about a file", "--out"),
    ],
)
def test_mistakes(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, hint: str
) -> None:
    """Each is a sentence, and nothing is written."""
    assert main(["export", *arguments, "--store", str(make_store())]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert hint in captured.err
    assert not captured.out


def test_without_pyarrow(
    make_store: MakeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parquet needs a package that not everybody has: it is named before anything is written."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    target = tmp_path / "pool.parquet"
    assert main(["export", POOL, "--store", str(make_store()), "-o", str(target)]) == 2
    captured = capsys.readouterr()
    assert "Parquet needs the package pyarrow" in captured.err
    assert "pip install 'mqvitals[parquet]'" in captured.err
    assert not target.exists()
