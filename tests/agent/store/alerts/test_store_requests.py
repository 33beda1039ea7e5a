"""Questions in the store: asked beside the writer, answered by it, and gone after a while."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlite_utils import Database

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.migration import STRUCTURE, migrations
from mqvitals_agent.store.file.schema import APPLICATION_ID
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.store.rows.requests import ANSWER_WAIT_MS, KEEP_MS, WHO, RequestClient, StoredRequest
from mqvitals_agent.store.writer import Store

NOW = 1_763_640_000_000


def test_asked_and_answered(path: Path, make: Any) -> None:
    """Whoever asks has no answer until the writer gives one; the writer goes on writing samples meanwhile."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        number = book.ask(WHO, make.queue("A'; DROP TABLE request"), NOW)
        assert book.answer(number) is None
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        assert store.requests.waiting(NOW + 5) == (
            StoredRequest(number, WHO, make.queue("A'; DROP TABLE request"), NOW),
        )
        store.requests.answer([number], '{"x": "\N{SNOWMAN}"}', NOW + 9)
        assert book.answer(number) == '{"x": "\N{SNOWMAN}"}'
        assert store.requests.waiting(NOW + 10) == ()


def test_an_answer_is_not_replaced(path: Path, make: Any) -> None:
    """What has been answered stays as it was told."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        one, other = (book.ask(WHO, make.queue(), NOW) for _ in range(2))
        store.requests.answer([one], "first", NOW)
        store.requests.answer([one, other], "second", NOW)
        assert [book.answer(one), book.answer(other)] == ["first", "second"]


def test_nobody_waits_for_ever(path: Path, make: Any) -> None:
    """A question older than a minute is not asked, nor one from a future that the clock was set back from."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        numbers = [
            book.ask(WHO, make.queue(), NOW + age)
            for age in (-ANSWER_WAIT_MS - 1, -ANSWER_WAIT_MS, ANSWER_WAIT_MS, ANSWER_WAIT_MS + 1)
        ]
        assert [wish.id for wish in store.requests.waiting(NOW)] == numbers[1:3]


def test_old_questions_go(path: Path, make: Any) -> None:
    """Ten minutes after they were asked, answered or not; whoever still waits for one is told so."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        answered, late = (book.ask(WHO, make.queue(), NOW) for _ in range(2))
        store.requests.answer([answered], "{}", NOW + 1)
        last = book.ask(WHO, make.queue(), NOW + KEEP_MS)
        assert book.answer(answered) == "{}"
        store.requests.answer([last], "{}", NOW + KEEP_MS + 1)
        for number in (answered, late):
            with pytest.raises(StoreError, match="no longer in the store"):
                book.answer(number)
        assert book.answer(last) == "{}"


def test_the_writer_forgets(path: Path, make: Any) -> None:
    """Also when nobody asks any more: answers name people. What is younger stays."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        old, young = book.ask(WHO, make.queue(), NOW), book.ask(WHO, make.queue(), NOW + 1)
        store.requests.delete_old(NOW + KEEP_MS + 1)
        with pytest.raises(StoreError, match="no longer in the store"):
            book.answer(old)
        assert book.answer(young) is None


def test_asked_in_one_thread_and_read_in_another(path: Path, make: Any) -> None:
    """A screen asks in a thread so as not to stand still, and seldom twice in the same one."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book, ThreadPoolExecutor(1) as other:
        number = other.submit(book.ask, WHO, make.queue(), NOW).result(10)
        store.requests.answer([number], "{}", NOW)
        assert book.answer(number) == "{}"


def test_questions_that_wait_are_found_by_an_index(path: Path, make: Any) -> None:
    """The look of each second reads no answered question."""
    with Store.open(path, kinds=make.kinds) as store:
        seen: list[str] = []
        store._connection.set_trace_callback(seen.append)
        store.requests.waiting(NOW)
        store._connection.set_trace_callback(None)
        (statement,) = seen
        (plan,) = store._connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    assert "USING INDEX request_waits (asked_ts>? AND asked_ts<?)" in plan[3]


def test_no_store_is_made(path: Path) -> None:
    """Where there is no store nothing is made, an empty file stays empty, and neither is a place for questions."""
    with pytest.raises(StoreError, match="there is no store"):
        RequestClient.open(path)
    assert not list(path.parent.iterdir())
    path.touch()
    with pytest.raises(StoreError, match="is empty"):
        RequestClient.open(path)
    assert path.stat().st_size == 0


def test_a_replay_answers_nobody(path: Path, make: Any) -> None:
    """A replay has no queue managers to ask: that is said at once."""
    Store.open(path, replay=True, kinds=make.kinds).close()
    with pytest.raises(StoreError, match="holds a replay: it has no queue manager to ask"):
        RequestClient.open(path)


def test_the_lock_is_not_taken(path: Path, make: Any) -> None:
    """A writer can begin and end while somebody has a question; without one the question waits."""
    Store.open(path, kinds=make.kinds).close()
    with RequestClient.open(path) as book:
        number = book.ask(WHO, make.queue(), NOW)
        assert not path.with_name(path.name + ".lock").exists()
        with Store.open(path, kinds=make.kinds) as store:
            store.requests.answer([wish.id for wish in store.requests.waiting(NOW)], "{}", NOW)
        assert book.answer(number) == "{}"


def test_a_store_of_structure_3_is_brought_up_to_date(path: Path, make: Any) -> None:
    """Whoever asks before is told what to do; then what was in it stays, and questions can be put."""
    db = Database(path)
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.conn.execute("PRAGMA journal_mode = WAL")
    migrations().apply(db, stop_before="structure_4")
    db.conn.execute("INSERT INTO meta VALUES('mode', 'live')")
    db.conn.execute("INSERT INTO object VALUES(1, 'QM01', 'queue', 'APPL.IN', 5, NULL)")
    db.conn.execute("PRAGMA user_version = 3")
    db.conn.commit()
    assert "request" not in db.table_names()
    db.close()
    with pytest.raises(StoreError, match=f"older structure 3; this mqvitals reads {STRUCTURE}"):
        RequestClient.open(path)
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        number = book.ask(WHO, make.queue(), NOW)
        assert [wish.id for wish in store.requests.waiting(NOW)] == [number]
    with StoreReader.open(path, kinds=make.kinds) as reader:
        assert [str(row.name) for row in reader.objects()] == ["QM01/queue/APPL.IN"]


def test_a_locked_store_is_named(path: Path, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's open transaction is waited for, then named; afterwards one can ask."""
    monkeypatch.setattr("mqvitals_agent.store.file.schema.BUSY_MS", 50)
    with Store.open(path, kinds=make.kinds), RequestClient.open(path) as book:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another program keeps the store"):
            book.ask(WHO, make.queue(), NOW)
        with pytest.raises(StoreError, match="another program keeps the store"):
            RequestClient.open(path)
        other.execute("ROLLBACK")
        other.close()
        assert book.answer(book.ask(WHO, make.queue(), NOW)) is None


def test_a_name_that_is_no_text(path: Path, make: Any) -> None:
    """Bytes from a command line that are no text cannot name an object, which is said without showing them raw."""
    with Store.open(path, kinds=make.kinds), RequestClient.open(path) as book:
        with pytest.raises(StoreError, match="cannot be the name of an object"):
            book.ask(WHO, make.queue("A\udcff"), NOW)
        assert book.answer(book.ask(WHO, make.queue(), NOW)) is None


def test_a_damaged_answer(path: Path, make: Any) -> None:
    """Cells that no writer of ours wrote are a damaged store, to whoever asks."""
    with Store.open(path, kinds=make.kinds) as store, RequestClient.open(path) as book:
        number = book.ask(WHO, make.queue(), NOW)
        store._connection.execute("UPDATE request SET answered_ts = 1, answer = NULL")
        with pytest.raises(StoreError, match="is damaged"):
            book.answer(number)


def test_after_the_end(path: Path, make: Any) -> None:
    """A closed place for questions, and a closed store, say so as a StoreError."""
    store = Store.open(path, kinds=make.kinds)
    book = RequestClient.open(path)
    book.close()
    book.close()
    store.close()
    for use in (
        lambda: book.ask(WHO, make.queue(), NOW),
        lambda: book.answer(1),
        lambda: store.requests.waiting(NOW),
        lambda: store.requests.answer([1], "{}", NOW),
    ):
        with pytest.raises(StoreError):
            use()


AS_NOBODY = """
import os, sys
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.rows.requests import RequestClient
from mqvitals_rules.snapshot import ObjectName
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    with RequestClient.open(sys.argv[1]) as book:
        print(book.ask("who", ObjectName("QM01", "queue", "Q"), 5))
except StoreError as error:
    print(error)
"""


def as_nobody(path: Path) -> str:
    """Ask without root's privileges: root may do everything."""
    command = [sys.executable, "-c", AS_NOBODY, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def test_permissions() -> None:
    """Who may only read cannot ask and is told so; who may write the files beside a running writer can, in any folder."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        path = folder / "store.db"
        folder.chmod(0o755)
        with Store.open(path, mode=0o644):
            assert "no permission for writing the store" in as_nobody(path)
        path.unlink()
        with Store.open(path, mode=0o666):
            # The writer's log is there: nothing has to be made in the folder.
            assert as_nobody(path) == "1\n"
        assert path.stat().st_size
        assert "no permission for writing the store" in as_nobody(path)
