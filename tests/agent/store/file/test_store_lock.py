"""One writer a store, whatever name it is opened under and whatever happens to the note beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.file.store_file import WriterLock, trouble_of, writer_of
from mqvitals_agent.store.writer import Store

OPEN = """
import sys
from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.writer import Store
try:
    Store.open(sys.argv[1]).close()
except StoreError as error:
    print(error)
else:
    print("opened")
"""


def opened_elsewhere(path: Path) -> str:
    """What another process gets that opens the store for writing."""
    run = subprocess.run([sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def note_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def test_a_deleted_note_lets_nobody_in(path: Path) -> None:
    with Store.open(path):
        note_of(path).unlink()
        assert "is writing the store" in opened_elsewhere(path)
    assert opened_elsewhere(path) == "opened"


def test_a_hard_link_is_the_same_store(path: Path) -> None:
    other = path.with_name("other.db")
    with Store.open(path):
        os.link(path, other)
        assert "is writing the store" in opened_elsewhere(other)
        with pytest.raises(StoreError, match="is writing the store"):
            Store.open(other)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_note_that_is_a_link_is_left_alone(path: Path, link: Any) -> None:
    """A link in the note's place keeps nobody from writing the store, and what it leads to keeps its bytes."""
    victim = path.with_name("victim")
    victim.write_bytes(b"precious" * 500)
    link(victim, note_of(path))
    with Store.open(path):
        assert "process unknown is writing the store" in opened_elsewhere(path) or link is os.link
    assert victim.read_bytes() == b"precious" * 500
    assert note_of(path).exists()


def test_a_pipe_as_note_keeps_nobody_waiting(path: Path) -> None:
    os.mkfifo(note_of(path))
    Store.open(path).close()


def test_the_note_names_process_and_trouble(path: Path) -> None:
    """Also when the text before was longer; nobody who only looks takes the lock away."""
    path.touch()
    lock = WriterLock(path)
    try:
        assert writer_of(path) == str(os.getpid())
        assert trouble_of(path) == ""
        for text in ("the disk is full:\nnothing is stored " * 90, "the disk is full"):
            lock.note(text)
            assert trouble_of(path) == " ".join(text.split())[: len(trouble_of(path))]
            assert trouble_of(path).startswith("the disk is full")
        assert trouble_of(path) == "the disk is full"
        assert "is writing" in opened_elsewhere(path)
    finally:
        lock.release()
    assert (writer_of(path), trouble_of(path)) == (None, "")


def test_looking_for_the_writer_does_not_touch_sqlites_locks(path: Path, make: Any) -> None:
    """Who asks for the writer must not close a descriptor of the store: that would drop SQLite's locks of the process."""
    with Store.open(path, kinds=make.kinds) as store:
        store.write(make.snapshot(1, make.status(1, depth=1)), make.verdict())
        before = locks_on(path)
        assert before
        writer_of(path)
        with pytest.raises(StoreError):
            Store.open(path)
        assert locks_on(path) == before


def locks_on(path: Path) -> list[str]:
    """The POSIX locks that this process has on a file, as Linux lists them."""
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return [
        line.split(": ", 1)[1] for line in lines if "POSIX" in line and inode in line and f" {os.getpid()} " in line
    ]
