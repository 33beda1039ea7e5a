"""Commands that meet a store with bytes overwritten."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.store_file import WriterLock
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.snapshot import ObjectName
from mqvitals_rules.vocabulary.tables import KINDS

MakeStore = Callable[..., Path]
POOL = "QM01/buffer_pool/3"


def everything(path: Path) -> None:
    """Every query of the reader, and the writer's reading. Raises StoreError."""
    with StoreReader.open(path) as reader:
        reader.meta(), reader.owners(), reader.last_ts(), reader.unknown_counts(), reader.closest("QM01/queue/X")
        for each in reader.alerts(include_ended=True, include_pending=True):
            reader.transitions(each.id)
        reader.snapshot_times("QM01", 9), reader.snapshot_span("QM01", 0, 1 << 42)
        reader.alerts_within(0, 1 << 42)
        for row in reader.objects(gone=True):
            if row.name.kind in KINDS:
                reader.current(row.name)
                reader.instances(row.name)
        for kind, metric in (("buffer_pool", "free_pct"), ("channel", "bytes_sent"), ("queue_manager", "reachable")):
            reader.current_by_kind("QM01", kind)
            list(reader.polls(kind, [metric], 0))
            list(reader.polls_near(kind, [metric], [0, 1 << 40, 1 << 41]))
        reader.rate_sums("channel", "msgs", range(0, 1 << 42, 1 << 40), 1 << 40, without=("type", 7))
        reader.trend(ObjectName.parse(POOL), "free_pct")
        reader.samples(ObjectName.parse(POOL), "free_pct", newest=4)
    with Store.open(path, replay=True) as store:
        store.progress(), store.alerts.all_open()


def execute(path: Path, sql: str) -> None:
    """Run a statement in a store, beside mqvitals."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql)


def test_flipped_bytes(make_store: MakeStore, soak: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Sixty times (300 in `make soak`) random bytes of a real store are overwritten: queries raise StoreError alone, commands never crash."""
    path = make_store()
    whole = path.read_bytes()
    used = [place for place, byte in enumerate(whole) if byte]
    dice = random.Random(20261120)
    noticed = 0
    times = 300 if soak else 60
    for number in range(times):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 4, 30))):
            data[dice.choice(used)] ^= dice.randrange(1, 256)
        path.write_bytes(data)
        said = ""
        try:
            everything(path)
        except StoreError as error:
            said = str(error)
        noticed += bool(said)
        assert "\n" not in said
        if number % 5 == 0:
            path.write_bytes(data)
            for command in (("status",), ("alerts", "list", "--all"), ("trend", "free_pct", POOL)):
                code = main([*command, "--store", str(path)])
                assert code in ((0, 1, 2, 3) if command[0] == "status" else (0, 2)), number
            assert "Traceback" not in capsys.readouterr().err
        for beside in path.parent.glob("small.db-*"):
            beside.unlink()
    assert noticed > times // 6


CELLS = (
    ("object", "name", "CAST(x'80ff' AS TEXT)"),
    ("meta", "value", "CAST(x'ce' AS TEXT)"),
    ("current_buffer_pool", "absent", "'{'"),
    ("current_buffer_pool", "absent", "'[]'"),
    ("current_buffer_pool", "absent", "'{\"free_pct\": 3}'"),
    ("current_buffer_pool", "free_pct", "'many'"),
    ("current_buffer_pool", "free_pct", "x'00'"),
    ("sample_buffer_pool", "free_pct", "'many'"),
    ("alert", "severity", "'dreadful'"),
    ("reading", "unanswered", "'WHY'"),
)


@pytest.mark.parametrize(("table", "column", "value"), CELLS)
def test_a_cell_that_we_never_write(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], table: str, column: str, value: str
) -> None:
    """Texts that are none, other types: the store is damaged, and status says that it cannot tell."""
    path = make_store()
    execute(path, f"UPDATE {table} SET {column} = {value}")
    with pytest.raises(StoreError, match="is damaged"):
        everything(path)
    looks = {"status": 3, "alerts": 2, "trend": 2, "rules": 2}
    words = {"status": [], "alerts": ["list"], "trend": ["free_pct", POOL], "rules": ["explain", "BP-03", POOL]}
    codes = {name: main([name, *words[name], "--store", str(path)]) for name in looks}
    error = capsys.readouterr().err
    assert all(codes[name] in (0, looks[name]) or name == "status" for name in codes), (codes, error)
    assert "Traceback" not in error


TIMES = (
    ("owner", "last_ts", "9000000000000000000", "owners?"),
    ("sample_buffer_pool", "ts", "ts + 9000000000000000000", "rows? of buffer pools"),
    ("alert", "started", "-5", "alerts?"),
    ("snapshot", "ts", "ts - 9000000000000000000", "snapshots?"),
)


@pytest.mark.parametrize(("table", "column", "value", "words"), TIMES)
def test_times_outside_any_calendar(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], table: str, column: str, value: str, words: str
) -> None:
    """Such rows are passed over, every command says how many, and 'store check --repair' drops them."""
    path = make_store()
    execute(path, f"UPDATE {table} SET {column} = {value}")
    main(["status", "--store", str(path)])
    error = capsys.readouterr().err
    assert "dated outside any calendar" in error
    assert "store check" in error
    assert main(["store", "check", str(path)]) == 1
    assert re.search(rf"^[\d,]+ {words} dated outside any calendar$", capsys.readouterr().out, re.MULTILINE)
    assert main(["store", "check", str(path), "--repair"]) == 0
    assert main(["store", "check", str(path)]) == 0
    capsys.readouterr()
    main(["status", "--store", str(path)])
    assert capsys.readouterr().err == ""


def test_a_table_that_is_gone(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """What our own statements do not find is missing from the file: damaged."""
    path = make_store()
    execute(path, "DROP TABLE owner")
    assert main(["status", "--store", str(path)]) == 3
    assert "is damaged (no such table: owner)" in capsys.readouterr().err


def test_an_agent_that_cannot_store(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """While it says so in the note beside the store, status says it too and cannot tell how things are."""
    path = make_store(replay=False)
    lock = WriterLock(path)
    try:
        lock.note("the disk is full")
        assert main(["status", "--store", str(path)]) == 3
        assert "cannot store its samples, so this is old: the disk is full" in " ".join(capsys.readouterr().out.split())
        assert main(["status", "--json", "--store", str(path)]) == 3
        assert json.loads(capsys.readouterr().out)["unstored"] == "the disk is full"
        lock.note("")
        main(["status", "--json", "--store", str(path)])
        assert "unstored" not in json.loads(capsys.readouterr().out)
    finally:
        lock.release()


def test_what_is_not_ours_is_named_and_dropped(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """'store check' opens what no other command does, changes nothing without --repair, and keeps a copy with it."""
    path = make_store()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON owner BEGIN DELETE FROM alert; END")
    before = path.read_bytes()
    assert main(["status", "--store", str(path)]) == 3
    assert "trigger 't' on 'owner'" in capsys.readouterr().err
    assert main(["store", "check", str(path)]) == 1
    assert "not made by mqvitals: trigger 't' on 'owner'" in capsys.readouterr().out
    assert path.read_bytes() == before
    assert main(["store", "check", str(path), "--repair"]) == 0
    assert len(list(path.parent.glob(f"{path.name}.before-repair-*"))) == 1
    everything(path)
    assert main(["store", "check", str(path.with_name("none.db"))]) == 2
    path.write_bytes(before[: len(before) // 2])
    assert main(["store", "check", str(path), "--repair"]) in (1, 2)
