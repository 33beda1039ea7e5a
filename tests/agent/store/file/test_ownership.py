"""Others of a group may watch: the store and the files beside it belong to that group."""

from __future__ import annotations

import grp
import os
from pathlib import Path

import pytest

from mqvitals_agent.store.error import StoreError
from mqvitals_agent.store.writer import Store


def another_group() -> grp.struct_group:
    """A group that this process may give files to and that is not its own."""
    own = os.getegid()
    mine = {group for group in os.getgroups() if group != own}
    for group in grp.getgrall():
        if group.gr_gid in mine or (os.geteuid() == 0 and group.gr_gid != own):
            return group
    # Giving a file away takes a second group or root, and neither can be had from within a test.
    pytest.skip("this user is in one group only")


def test_the_files_belong_to_the_group(tmp_path: Path) -> None:
    """Store, log and index have the group and the mode that the settings name, while the writer has them open."""
    group = another_group()
    path = tmp_path / "shared.db"
    with Store.open(path, mode=0o660, shared_with=group.gr_name):
        files = sorted(tmp_path.glob("shared.db*"))
        assert {file.name for file in files} >= {"shared.db", "shared.db-wal", "shared.db-shm"}
        for file in files:
            if file.suffix != ".lock":
                assert file.stat().st_gid == group.gr_gid, file
                assert file.stat().st_mode & 0o777 == 0o660, file


def test_an_unknown_group(tmp_path: Path) -> None:
    """A group that does not exist is one sentence, and the writer's lock is let go."""
    path = tmp_path / "shared.db"
    with pytest.raises(StoreError, match="there is no group no-such-group"):
        Store.open(path, shared_with="no-such-group")
    Store.open(path).close()


def test_a_forbidden_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that this process may not give files to is one sentence."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    group = another_group()
    monkeypatch.setattr(os, "chown", refuse)
    with pytest.raises(StoreError, match=r"cannot be given to the group .* \(Operation not permitted\)"):
        Store.open(tmp_path / "shared.db", shared_with=group.gr_name)
