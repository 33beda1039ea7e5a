"""Notices that the files of the settings and rules have changed: looked at every few seconds, told when they stay as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.bounded_call import BoundedCall, NoAnswerError
from mqvitals_agent.clock import Clock

LOOK_MS: Final = 5_000
"""How often the files are looked at."""
ANSWER_S: Final = 5.0
"""A file system that does not answer for so long hangs: the file then counts as unchanged, and the others are looked at."""


class Mark(NamedTuple):
    """By what a file is known to be another than before. An editor may put a new file in the place of the old one."""

    size: int
    changed_ns: int
    number: int


class SettingsWatch:
    """Calls ``changed`` when files have changed and then were the same at two looks: one may be half written at the first."""

    def __init__(
        self,
        clock: Clock,
        changed: Callable[[], Awaitable[None]],
        *,
        mark: Callable[[str], Mark | None] | None = None,
        answer_s: float = ANSWER_S,
    ) -> None:
        """``mark`` looks at a file and may hang; it is given up after ``answer_s`` seconds of real time."""
        self._clock = clock
        self._changed = changed
        self._mark = mark or mark_of
        self._answer_s = answer_s
        self._calls: dict[str, BoundedCall] = {}
        self._paths: tuple[str, ...] = ()
        self._known: Mapping[str, Mark | None] = {}
        self._before: Mapping[str, Mark | None] = {}

    async def watch(self, paths: Iterable[str]) -> None:
        """Look at these files from now on; they have been read as they are now."""
        await self._look_at(tuple(dict.fromkeys(paths)), {})

    async def watch_too(self, paths: Iterable[str]) -> None:
        """Look at these files instead; those that are looked at already are known as they were then."""
        await self._look_at(tuple(dict.fromkeys(paths)), self._known)

    async def _look_at(self, paths: tuple[str, ...], known: Mapping[str, Mark | None]) -> None:
        new = await self._marks([path for path in paths if path not in known])
        self._paths = paths
        self._known = self._before = {path: known[path] if path in known else new[path] for path in paths}
        self._calls = {path: call for path, call in self._calls.items() if path in self._known}

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._clock.sleep(LOOK_MS)
            paths = self._paths
            found = await self._marks(paths)
            if paths is not self._paths:
                continue
            same, self._before = found == self._before, found
            if same and found != self._known:
                self._known = found
                await self._changed()

    async def _marks(self, paths: Sequence[str]) -> dict[str, Mark | None]:
        with self._clock.hold():
            found = await asyncio.gather(*map(self._marked, paths))
        return dict(zip(paths, found, strict=True))

    async def _marked(self, path: str) -> Mark | None:
        call = self._calls.setdefault(path, BoundedCall())
        try:
            return await call.run(partial(self._mark, path), self._answer_s)
        except (NoAnswerError, OSError):
            return self._before.get(path)


def mark_of(path: str) -> Mark | None:
    """None for a file that is not there, or cannot be looked at."""
    try:
        told = Path(path).stat()
    except (OSError, ValueError):
        return None
    return Mark(told.st_size, told.st_mtime_ns, told.st_ino)
