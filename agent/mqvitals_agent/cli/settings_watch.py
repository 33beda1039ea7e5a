"""Notices that the files of the settings and rules have changed: looked at every few seconds, told when they stay as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from mqvitals_agent.clock import Clock

LOOK_MS: Final = 5_000
"""How often the files are looked at."""


class _Mark(NamedTuple):
    """By what a file is known to be another than before. An editor may put a new file in the place of the old one."""

    size: int
    changed_ns: int
    number: int


class SettingsWatch:
    """Calls ``changed`` when files have changed and then were the same at two looks: one may be half written at the first."""

    def __init__(self, clock: Clock, changed: Callable[[], Awaitable[None]]) -> None:
        self._clock = clock
        self._changed = changed
        self._paths: tuple[str, ...] = ()
        self._known: Mapping[str, _Mark | None] = {}
        self._before: Mapping[str, _Mark | None] = {}

    def watch(self, paths: Iterable[str]) -> None:
        """Look at these files from now on; they have been read as they are now."""
        self._paths = tuple(dict.fromkeys(paths))
        self._known = self._before = _marks(self._paths)

    def watch_too(self, paths: Iterable[str]) -> None:
        """Look at these files instead; those that are looked at already are known as they were then."""
        known = self._known
        self._paths = tuple(dict.fromkeys(paths))
        self._known = self._before = {path: known[path] if path in known else _mark(path) for path in self._paths}

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._clock.sleep(LOOK_MS)
            paths = self._paths
            found = await asyncio.to_thread(_marks, paths)
            if paths is not self._paths:
                continue
            same, self._before = found == self._before, found
            if same and found != self._known:
                self._known = found
                await self._changed()


def _marks(paths: Iterable[str]) -> dict[str, _Mark | None]:
    return {path: _mark(path) for path in paths}


def _mark(path: str) -> _Mark | None:
    """None for a file that is not there, or cannot be looked at."""
    try:
        told = Path(path).stat()
    except (OSError, ValueError):
        return None
    return _Mark(told.st_size, told.st_mtime_ns, told.st_ino)
