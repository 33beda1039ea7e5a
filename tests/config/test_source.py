"""Reading a file, or saying why it cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.source import LARGEST_BYTES, UnreadableError, read


def test_a_file_is_read(tmp_path: Path) -> None:
    """UTF-8, with or without a byte order mark."""
    (tmp_path / "a").write_text("für\n", "utf-8")
    (tmp_path / "b").write_text("für\n", "utf-8-sig")
    assert read(str(tmp_path / "a")) == read(str(tmp_path / "b")) == "für\n"


def test_no_such_file(tmp_path: Path) -> None:
    """Absent files, folders and impossible names are each a sentence with the path."""
    absent = str(tmp_path / "absent.yaml")
    for path, words in (
        (absent, "No such file or directory"),
        (str(tmp_path), "Is a directory"),
        ("a\0b", "null byte"),
    ):
        with pytest.raises(UnreadableError) as raised:
            read(path)
        assert str(raised.value).startswith(f"{path}: cannot be read: ")
        assert words in str(raised.value)


def test_a_file_that_may_not_be_read(
    open_folder: Path, ordinary_user: Callable[[], AbstractContextManager[None]]
) -> None:
    """The operating system's word for it; it is the file's own rights that count."""
    path = open_folder / "x.yaml"
    path.write_text("a: 1\n", "utf-8")
    path.chmod(0o644)
    with ordinary_user():
        assert read(str(path)) == "a: 1\n"
    path.chmod(0o000)
    with ordinary_user(), pytest.raises(UnreadableError, match="cannot be read: Permission denied"):
        read(str(path))


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    """No more than the limit is ever read."""
    path = tmp_path / "x.yaml"
    with path.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    with pytest.raises(UnreadableError, match="is larger than 4 MiB"):
        read(str(path))


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    """The first wrong byte's line and column are told."""
    path = tmp_path / "x.yaml"
    path.write_bytes("a: b\nü: ".encode() + b"\xff\xfe")
    with pytest.raises(ConfigError) as raised:
        read(str(path))
    assert str(raised.value) == f"{path}:2:4: is not UTF-8: byte 0xff starts no character; save the file as UTF-8"
    assert not isinstance(raised.value, UnreadableError)
