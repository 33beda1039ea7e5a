"""A simulated group that several agents monitor: a folder keeps when it began, and who has a reply queue open.

Each process simulates the group for itself. With the same scenario, seed and beginning it is the same group, and a lock on
a file stands for a reply queue that is open for exclusive input: it ends with its process, as a handle of MQ does.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import NamedTuple

from mqvitals_agent.errors import Failure

_BEGINNING = "began.json"


class GroupBeginning(NamedTuple):
    """When the simulated group began, and which time it was then on this machine; both ms since 1970 UTC."""

    began: int
    at: int

    def now(self, machine: int, speed: float) -> int:
        """The group's time when the machine's is ``machine``; it goes ``speed`` times as fast, and never beyond."""
        return min(self.began + round((machine - self.at) * speed), machine)


class ReplyQueueLock:
    """A reply queue that is open; ``close`` ends that, as does the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def close(self) -> None:
        """Close it; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


class GroupFolder:
    """The folder of a simulated group; it is made with the first agent."""

    def __init__(self, path: Path) -> None:
        """Raises Failure when the folder cannot be made."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(
                f"cannot use the folder {path}: {error.strerror}", hint="name another with --group-folder"
            ) from error
        self._path = path

    def beginning(self, first: GroupBeginning) -> GroupBeginning:
        """When the group began: ``first``, unless another agent was there before. Raises Failure."""
        path = self._path / _BEGINNING
        try:
            with path.open("a+", encoding="ascii") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                if text := file.read():
                    return GroupBeginning(*map(int, json.loads(text)))
                file.write(json.dumps(first))
                return first
        except (OSError, ValueError, TypeError) as error:
            raise Failure(f"cannot read {path}: {error}", hint="name an empty folder with --group-folder") from error

    def open_reply_queue(self, queue_manager: str) -> ReplyQueueLock | None:
        """Open the reply queue of a queue manager; None when another program has it open. Raises OSError."""
        descriptor = os.open(self._path / f"{queue_manager}.reply", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return ReplyQueueLock(descriptor)
