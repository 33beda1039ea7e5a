"""Opening a store: a new one, an old one, a newer one, a damaged one, one that is none."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.migration import STRUCTURE
from mqvitals_agent.store.file.schema import APPLICATION_ID, PAGE_SIZE
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.result import StoreMeta
from mqvitals_agent.store.rows.tables import KindTables
from mqvitals_agent.store.writer import OwnerProgress, Store
from mqvitals_rules.lifecycle.alert import AlertState, Transition
from mqvitals_rules.snapshot import Instance
from mqvitals_rules.vocabulary.metric import Absence, Kind, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS


def pragma(path: Path, text: str) -> Any:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"PRAGMA {text}").fetchone()
    finally:
        connection.commit()
        connection.close()


def both_refuse(path: Path, make: Any, sentence: str) -> None:
    """Writer and reader alike say ``sentence``, name the file, and say what to do; the file stays as it is."""
    before = path.read_bytes() if path.is_file() else b""
    for opening in (Store.open, StoreReader.open):
        with pytest.raises(StoreError, match=sentence) as caught:
            opening(path, kinds=make.kinds)
        assert str(path) in caught.value.message
        assert caught.value.hint
        assert "\n" not in str(caught.value)
    assert not path.is_file() or path.read_bytes() == before
    assert not path.with_name(path.name + ".lock").exists()


def test_a_new_store(path: Path, make: Any) -> None:
    """A new store is marked as ours, is readable by its owner alone, and tells what it is for."""
    store = Store.open(
        path, replay=True, source="incident.jsonl.gz", group="PRDQSG", created=make.start, kinds=make.kinds
    )
    store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
    for name in (path.name, path.name + "-wal", path.name + "-shm", path.name + ".lock"):
        assert stat.S_IMODE(path.with_name(name).stat().st_mode) == 0o600, name
    store.close()
    store.close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert pragma(path, "application_id") == (APPLICATION_ID,)
    assert pragma(path, "user_version") == (STRUCTURE,)
    assert pragma(path, "page_size") == (PAGE_SIZE,)
    assert pragma(path, "journal_mode") == ("wal",)
    with StoreReader.open(path, kinds=make.kinds) as reader:
        meta = StoreMeta("replay", "incident.jsonl.gz", "PRDQSG", "2025-11-20T12:00:00.000Z", "0.1.0")
        assert reader.meta() == replace(meta, version=reader.meta().version)
        assert reader.last_ts() == make.ts(1)
    with Store.open(path, replay=True, kinds=make.kinds) as store:
        assert store.progress() == {"QM01": OwnerProgress(make.ts(1), 1)}


def test_an_empty_file_becomes_a_store(path: Path, make: Any) -> None:
    """A file of no bytes, as mktemp makes them, may be used for a new store; a reader says that it is empty."""
    path.touch()
    with pytest.raises(StoreError, match="is empty"):
        StoreReader.open(path, kinds=make.kinds)
    Store.open(path, kinds=make.kinds).close()
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert reader.owners() == ()
        assert reader.last_ts() is None


def test_what_is_no_store(path: Path, make: Any) -> None:
    """A text file, a foreign database and a folder are refused and left alone."""
    path.write_text("depth=5\n" * 1000)
    both_refuse(path, make, "no mqvitals store: it is not an SQLite file")
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE address(name)")
    connection.close()
    both_refuse(path, make, "is an SQLite file, but no mqvitals store")
    path.unlink()
    path.mkdir()
    both_refuse(path, make, "is a folder")


def test_a_newer_structure(path: Path, make: Any) -> None:
    """A store of a later mqvitals is neither read nor written."""
    Store.open(path, kinds=make.kinds).close()
    pragma(path, f"user_version = {STRUCTURE + 1}")
    both_refuse(path, make, rf"written by a newer mqvitals \(structure {STRUCTURE + 1}, this one knows {STRUCTURE}\)")


def test_an_older_structure_is_migrated_by_the_writer(path: Path, make: Any) -> None:
    """A store whose making was cut short, or that an older version made, is completed by the next writer; a reader says so."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.close()
    with pytest.raises(StoreError, match="older structure 0"):
        StoreReader.open(path, kinds=make.kinds)
    Store.open(path, kinds=make.kinds).close()
    StoreReader.open(path, kinds=make.kinds).close()


def test_no_file_and_no_folder(path: Path, make: Any) -> None:
    """A reader needs the file, a writer the folder."""
    with pytest.raises(StoreError, match="there is no store"):
        StoreReader.open(path)
    with pytest.raises(StoreError, match=r"the folder of the store .* does not exist"):
        Store.open(path.parent / "missing" / "store.db")


def test_live_and_replay_are_not_mixed(path: Path, make: Any) -> None:
    """A recording is not replayed into an agent's store, nor does an agent write into a replay's."""
    Store.open(path, replay=True, kinds=make.kinds).close()
    with pytest.raises(StoreError, match="holds a replay"):
        Store.open(path, kinds=make.kinds)
    Store.open(path, replay=True, kinds=make.kinds).close()


def test_one_writer(path: Path, make: Any) -> None:
    """A second writer is told which process has the store; a reader is not in the way."""
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        with pytest.raises(StoreError, match=f"process {os.getpid()} is writing the store"):
            Store.open(path, kinds=make.kinds)
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        assert reader.last_ts() == make.ts(1)
    Store.open(path, kinds=make.kinds).close()


def test_a_lock_left_behind_is_no_lock(path: Path, make: Any) -> None:
    """The lock file of a killed process keeps nobody out."""
    path.with_name(path.name + ".lock").write_text("4711\n")
    Store.open(path, kinds=make.kinds).close()


def test_adding_a_metric_is_adding_a_line(path: Path, make: Any) -> None:
    """A store made before a metric or kind existed gets it on opening; readers of either age work, and old samples are null."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
    queue = make.kinds["queue"]
    more = replace(
        queue,
        metrics=(
            Metric("age_s", "s", MetricType.GAUGE, "age"),
            *queue.metrics,
            Metric("note", "", MetricType.TEXT, "x"),
        ),
    )
    later: dict[str, Kind] = {**make.kinds, "queue": more, "page_set": Kind("page_set", "a page set", "USAGE", ())}
    with StoreReader.open(path, kinds=later) as reader:
        assert reader.trend(make.queue(), "age_s").points == ((make.ts(1), None),)
        assert reader.current(make.queue()).keys() == {"depth"}
        assert reader.current_by_kind("QM01", "page_set") == {}
    with Store.open(path, kinds=later) as store:
        store.write(make.snapshot(2, make.status(2, depth=2, age_s=7, note="n")), make.verdict())
    with StoreReader.open(path, kinds=later) as reader:
        assert reader.trend(make.queue(), "age_s").points == ((make.ts(1), None), (make.ts(2), 7))
        assert reader.current(make.queue())["note"].value == "n"
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(3, make.status(3, depth=3)), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [value for _, value in reader.trend(make.queue(), "depth").points] == [1, 2, 3]


def test_names_of_the_vocabulary_are_columns() -> None:
    """Every kind and metric can be a table and a column; anything else is refused before it reaches SQL."""
    for kind in KINDS.values():
        KindTables.of(kind)
    for bad in ('x"; DROP TABLE object', "Depth", "ts", "", "absent"):
        with pytest.raises(ValueError, match="cannot be the name of a column"):
            KindTables.of(Kind("queue", "", "", (Metric(bad, "", MetricType.GAUGE, ""),)))


def whole_store(path: Path, make: Any) -> bytes:
    with Store.open(path, kinds=make.kinds) as store:
        for cycle in range(1, 40):
            readings = [make.status(cycle, f"Q{number}", depth=cycle, usage=Absence.RESET) for number in range(50)]
            alert = make.alert(cycle, AlertState.FIRING, started=cycle, name=f"Q{cycle}")
            instance = Instance(make.queue(), f"JOB{cycle}", {"depth": 1, "puts": Absence.RESET})
            verdict = make.verdict(Transition(alert, None, alert.why), unknown=(("BP-01", Absence.NEEDS_SMF, cycle),))
            store.write(make.snapshot(cycle, *readings, instances=(instance,)), verdict)
    return path.read_bytes()


def test_a_truncated_store(path: Path, make: Any) -> None:
    """A store whose end is missing is called damaged, whether a page or nearly everything is gone."""
    whole = whole_store(path, make)
    for length in (len(whole) - PAGE_SIZE, len(whole) // 2, PAGE_SIZE, 5000, 100):
        path.write_bytes(whole[:length])
        both_refuse(path, make, "is damaged|no mqvitals store")


def use(path: Path, make: Any) -> str:
    """Read all there is and write once more; gives back what was said."""
    try:
        with StoreReader.open(path, kinds=make.kinds) as reader:
            reader.meta(), reader.owners(), reader.unknown_counts()
            for each in reader.alerts(include_ended=True, include_pending=True):
                reader.transitions(each.id)
            for row in reader.objects(gone=True)[::7]:
                reader.trend(row.name, "depth")
                reader.current(row.name)
                reader.instances(row.name)
            reader.current_by_kind("QM01", "queue")
            list(reader.polls("queue", ["depth"], 0))
        with Store.open(path, kinds=make.kinds) as store:
            store.write(make.snapshot(99, make.status(99, depth=1)), make.verdict())
    except StoreError as error:
        return str(error)
    return ""


def test_a_damaged_store(path: Path, make: Any, soak: bool) -> None:
    """Bytes overwritten anywhere are noticed in words where they are met, or not at all; never as another exception."""
    whole = whole_store(path, make)
    source = random.Random(5)
    noticed = 0
    times = 150 if soak else 40
    for number in range(times):
        place = source.randrange(len(whole))
        length = source.choice((1, 8, 64, 4096))
        path.write_bytes(whole[:place] + source.randbytes(length) + whole[place + length :])
        said = use(path, make)
        noticed += bool(said)
        assert "\n" not in said, (number, place, length)
        for each in path.parent.iterdir():
            each.unlink()
    assert noticed, "most of a new store is empty pages"


OPEN_AS_NOBODY = """
import os, sys
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    if sys.argv[1] == "read":
        with StoreReader.open(sys.argv[2]) as reader:
            print(reader.last_ts())
    else:
        Store.open(sys.argv[2]).close()
except StoreError as error:
    print(error)
"""


def as_nobody(what: str, path: Path) -> str:
    """Open a store without root's privileges: root may do everything."""
    command = [sys.executable, "-c", OPEN_AS_NOBODY, what, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def test_permissions(make: Any) -> None:
    """Without permission there is a sentence; a store in a folder closed to us can be read while nobody writes it."""
    with TemporaryDirectory() as name:
        # Not pytest's own folder, which is closed to everyone else.
        folder = Path(name).resolve()
        path = folder / "store.db"
        with Store.open(path, mode=0o644) as store:
            store.write(make.snapshot(1), make.verdict())
        folder.chmod(0o555)
        try:
            assert as_nobody("read", path) == f"{make.ts(1)}\n"
            assert "no permission for writing the store" in as_nobody("write", folder / "new.db")
            assert "no permission for writing the store" in as_nobody("write", path)
            path.chmod(0o000)
            assert "no permission for reading the store" in as_nobody("read", path)
        finally:
            folder.chmod(0o755)


def test_a_locked_store(path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's open transaction is waited for, then named; the writer goes on afterwards."""
    monkeypatch.setattr("mqvitals_agent.store.file.schema.BUSY_MS", 50)
    with Store.open(path, kinds=make.kinds) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another program keeps the store"):
            store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        other.execute("ROLLBACK")
        other.close()
        store.write(make.snapshot(2, make.status(2, depth=2)), make.verdict())


def test_long_queries_end(path: Path, make: Any) -> None:
    """A query that takes longer than its limit is stopped with a sentence, and the reader stays usable."""
    with Store.open(path, kinds=make.kinds) as store:
        for cycle in range(1, 60):
            readings = [make.status(cycle, f"Q{number}", depth=cycle) for number in range(200)]
            store.write(make.snapshot(cycle, *readings), make.verdict())
    with StoreReader.open(path, kinds=make.kinds) as reader:
        reader._limit_s = 0.0
        with pytest.raises(StoreError, match="took too long and was stopped"):
            list(reader.polls("queue", ["depth"], 0))
        reader._limit_s = 30.0
        assert len(list(reader.polls("queue", ["depth"], 0))) == 59 * 200


def test_import_cost(path: Path, make: Any) -> None:
    """The reader and the hot path never import sqlite_utils: only making or migrating a store does."""
    code = (
        "import sys\n"
        "from mqvitals_agent.store.reader import StoreReader\n"
        "from mqvitals_agent.store.writer import Store\n"
        "from mqvitals_agent.ingest.windows import WindowHistory\n"
        "def loaded(): return 'sqlite_utils' in sys.modules\n"
        "print(loaded())\n"
        "Store.open(sys.argv[1]).close(); made = loaded()\n"
        "print(made)\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert runs == [["False", "True"], ["False", "False"]]


def test_a_reader_sees_columns_that_a_writer_adds_later(path: Path, make: Any) -> None:
    """A reader may open a store that is being made, or that a later version is about to write to: it goes on seeing all."""
    queue = make.kinds["queue"]
    fewer = replace(queue, metrics=tuple(metric for metric in queue.metrics if metric.name != "depth"))
    Store.open(path, kinds={**make.kinds, "queue": fewer}).close()
    with StoreReader.open(path, kinds=make.kinds) as reader:
        store = Store.open(path, kinds=make.kinds)
        store.write(make.snapshot(1, make.status(1, depth=7)), make.verdict())
        store.close()
        assert reader.current(make.queue())["depth"].value == 7
        assert reader.trend(make.queue(), "depth").points == ((make.ts(1), 7),)
