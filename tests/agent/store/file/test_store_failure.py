"""What must survive: a killed process, a full disk."""

from __future__ import annotations

import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mqsamples.small_disk import run_with_small_disk
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import AlertState, Transition
from mqvitals_rules.snapshot import ObjectName

QUEUES = 40

WRITER = f"""
import sys
from mqvitals_rules.engine import Evaluation
from mqvitals_agent.store.writer import Store
from mqvitals_rules.lifecycle.alert import *
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
start = 1_763_640_000_000
with Store.open(sys.argv[1], replay=True) as store:
    done = store.progress().get("QM01")
    cycle = done.cycle if done else 0
    while True:
        cycle += 1
        ts = start + cycle * 10_000
        names = [ObjectName("QM01", "queue", f"Q{{number}}") for number in range({QUEUES})]
        readings = tuple(Reading(name, "INQUIRE_Q_STATUS", ts, {{"depth": cycle}}, 10_000) for name in names)
        key = AlertKey("Q-03", ObjectName("QM01", "queue", f"Q{{cycle}}"))
        alert = Alert(key, key.object, "operational", "f", AlertState.FIRING, Severity.WARNING, Severity.WARNING, ts, ts, "s", ts)
        store.write(Snapshot("QM01", False, cycle, ts, readings), Evaluation((Transition(alert, None, Why.HELD),), ()))
        print(cycle, flush=True)
"""


def write_and_kill(path: Path, seconds: float) -> int:
    """Let a child write cycles into the store, kill it, and give back the last cycle that it said was stored."""
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=False)
    assert child.stdout is not None
    try:
        told = os.read(child.stdout.fileno(), 1 << 16)
        while told and b"\n" not in told:
            told += os.read(child.stdout.fileno(), 1 << 16)
        assert told, "the child wrote nothing"
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if select.select([child.stdout], [], [], left)[0]:
                told = (told + os.read(child.stdout.fileno(), 1 << 16))[-100:]
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    told += child.stdout.read()
    child.stdout.close()
    # A line cut short by the kill is no promise.
    return int(told[: told.rindex(b"\n")].split(b"\n")[-1])


def test_kill_loses_nothing_committed(path: Path, soak: bool) -> None:
    """A writer killed at random moments (20 in `make soak`): the store opens, every cycle it had announced is there and complete, none is half."""
    moments = random.Random(7)
    promised = 0
    for _ in range(20 if soak else 3):
        last = write_and_kill(path, moments.uniform(0.0, 0.15))
        assert last > promised, "the next writer goes on where the last one was killed"
        promised = last
        assert path.with_name(path.name + "-wal").exists(), "the log is still there: nobody closed the store"
        with StoreReader.open(path) as reader:
            (owner,) = reader.owners()
            assert owner.last_cycle >= promised
            alerts = {each.alert.key.object.name for each in reader.alerts()}
            assert alerts == {f"Q{cycle}" for cycle in range(1, owner.last_cycle + 1)}
            for number in range(0, QUEUES, 13):
                trend = reader.trend(ObjectName("QM01", "queue", f"Q{number}"), "depth")
                assert [value for _, value in trend.points] == list(range(1, owner.last_cycle + 1))
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("SELECT count(*), count(DISTINCT ts) FROM sample_queue").fetchone() == (
        QUEUES * owner.last_cycle,
        owner.last_cycle,
    )
    connection.close()


def big(make: Any, cycle: int, count: int = 3000) -> Any:
    text = "x" * 100
    return make.snapshot(
        cycle, *(make.status(cycle, f"NEW.{cycle}.{n}", depth=n, description=text) for n in range(count))
    )


def test_a_full_disk(path: Path, make: Any) -> None:
    """When the disk is full nothing of the snapshot is kept, the sentence says so, and once there is room writing goes on."""
    firing = make.alert(1, AlertState.FIRING, started=1)
    with Store.open(path, kinds=make.kinds) as store, StoreReader.open(path, kinds=make.kinds) as reader:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict(Transition(firing, None, firing.why)))
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 5}")
        ended = make.alert(2, AlertState.RESOLVED, started=1, ended=2)
        for _ in range(2):
            with pytest.raises(StoreError, match="the disk is full: nothing of this cycle was kept") as caught:
                store.write(big(make, 2), make.verdict(Transition(ended, firing, ended.why)))
            assert "free some space" in caught.value.hint
            assert str(path) in caught.value.message
            assert [str(row.name) for row in reader.objects()] == ["QM01/queue/APPL.IN"]
            assert reader.last_ts() == make.ts(1)
            assert [each.alert for each in reader.alerts()] == [firing]
            assert store.alerts.all_open() == (firing,)
        store._connection.execute("PRAGMA max_page_count = 1000000")
        store.write(big(make, 3), make.verdict(Transition(ended, firing, ended.why)))
        assert len(reader.objects()) == 3001
        assert reader.alerts() == ()
        assert reader.current(make.queue("NEW.3.2999"))["depth"].value == 2999
        assert [each.id for each in reader.alerts(include_ended=True)] == [1]


TINY_DISK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from conftest import Maker
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.writer import Store
make, path = Maker(), Path(sys.argv[1]) / "store.db"
ballast = path.with_name("ballast")
ballast.write_bytes(bytes(500_000))
stored, refused = [], []
with Store.open(path, kinds=make.kinds) as store:
    for cycle in range(1, 40):
        text = "x" * 200
        readings = [make.status(cycle, f"Q.{cycle}.{n}", depth=n, description=text) for n in range(300)]
        try:
            store.write(make.snapshot(cycle, *readings), make.verdict())
            stored.append(cycle)
        except StoreError as error:
            refused.append(str(error))
            if len(refused) == 3:
                ballast.unlink()
            if len(refused) > 6:
                break
with StoreReader.open(path, kinds=make.kinds) as reader:
    counts = {}
    for row in reader.objects():
        counts[int(row.name.name.split(".")[1])] = counts.get(int(row.name.name.split(".")[1]), 0) + 1
    assert counts == dict.fromkeys(stored, 300), (counts, stored)
    assert reader.owners()[0].last_cycle == stored[-1]
assert any("disk is full" in text for text in refused), refused
assert stored[-1] > len(stored), "after some space was freed it went on"
print("good")
"""


def test_a_really_full_disk(tmp_path: Path) -> None:
    """The same on a file system of 4 MB: whole cycles only, and it goes on when space is freed."""
    here = str(Path(__file__).parents[1])
    run = run_with_small_disk(tmp_path, "4m", [sys.executable, "-c", TINY_DISK, str(tmp_path), here])
    assert run.stdout == "good\n", run.stderr


def test_kill_while_the_store_is_made(tmp_path: Path, make: Any) -> None:
    """A writer killed while it makes the store leaves none, an empty one, or a whole one; the next writer can always go on."""
    moments = random.Random(11)
    for number in range(8):
        path = tmp_path / f"{number}.db"
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.DEVNULL)
        while not path.exists() and child.poll() is None:
            time.sleep(0.0005)
        time.sleep(moments.uniform(0.0, 0.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
        said = ""
        try:
            StoreReader.open(path).close()
        except StoreError as error:
            said = str(error)
        assert not said or "is empty" in said or "older structure" in said
        with Store.open(path, replay=True) as store:
            cycle = store.progress()["QM01"].cycle + 1 if store.progress() else 1
            store.write(make.snapshot(cycle), make.verdict())
        with StoreReader.open(path) as reader:
            assert reader.owners()[0].last_cycle == cycle


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_that_is_taken_away(path: Path, make: Any, *, replaced: bool) -> None:
    """A store deleted or replaced under its writer is noticed at the next snapshot, and the newcomer is left alone."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        path.rename(path.with_name("aside.db"))
        if replaced:
            path.write_text("something else")
        for _ in range(2):
            with pytest.raises(StoreError, match="replaced by another file" if replaced else "has been deleted"):
                store.write(make.snapshot(2, make.status(2, depth=2)), make.verdict())
    assert path.exists() is replaced
    assert not replaced or path.read_text() == "something else"


def test_the_lock_of_another(path: Path, make: Any) -> None:
    """Whose lock file was deleted does not delete that of the next writer."""
    with Store.open(path, kinds=make.kinds):
        path.with_name("store.db.lock").unlink()
        path.with_name("store.db.lock").write_text("1\n")
    assert path.with_name("store.db.lock").read_text() == "1\n"
