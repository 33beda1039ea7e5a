"""Only regular files are opened: a pipe would hold the reader up, and to open a device may do something."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from mqvitals_config.decoding.source import NotRegularError, UnreadableError, read, read_regular


def test_a_regular_file_is_read_as_far_as_is_wanted(tmp_path: Path) -> None:
    """Also through a symbolic link, which is how secrets are mounted."""
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "b").symlink_to("a")
    assert read_regular(tmp_path / "b", 3) == b"123"
    assert read_regular(str(tmp_path / "a"), 100) == b"12345"


def test_pipes_sockets_and_devices_are_refused(tmp_path: Path) -> None:
    """At once, though nobody ever writes into the pipe."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        for path, kind in ((tmp_path / "pipe", "named pipe"), (tmp_path / "s", "socket"), ("/dev/zero", "device")):
            with pytest.raises(NotRegularError) as refused:
                read_regular(path, 10)
            assert refused.value.strerror == f"it is a {kind}, not a regular file"
            with pytest.raises(UnreadableError, match=f"cannot be read: it is a {kind}, not a regular file"):
                read(str(path))
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 10)


def test_what_takes_the_place_of_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at once more when it is open, and then closed."""
    regular, pipe = tmp_path / "regular", tmp_path / "pipe"
    regular.write_bytes(b"")
    os.mkfifo(pipe)
    facts = regular.stat()
    monkeypatch.setattr(Path, "stat", lambda _: facts)
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    with pytest.raises(NotRegularError):
        read_regular(pipe, 10)
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before
