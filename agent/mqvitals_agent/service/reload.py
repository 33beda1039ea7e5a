"""Reading the configuration of a run again: when its files change, and what keeps the new one from coming into force."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from mqvitals_agent.clock import Clock
from mqvitals_agent.errors import Failure
from mqvitals_agent.log import as_event
from mqvitals_agent.service.agent_config import AgentConfig
from mqvitals_agent.threads import BoundedCall, NoAnswerError
from mqvitals_config.decoding.problem import ConfigError

if TYPE_CHECKING:
    from mqvitals_agent.service.monitored_group import MonitoredGroup, PollTargets
    from mqvitals_config.decoding.problem import Problem

_LOG = logging.getLogger(__name__)

REREAD_S: Final = 30.0
"""The configuration is read again within this time, or the reload fails."""


class Refused(NamedTuple):
    """A configuration that does not come into force: why, and the files with problems."""

    text: str
    places: tuple[str, ...] = ()


class Rereading:
    """Reads the configuration again, within ``within_s`` seconds of real time."""

    def __init__(self, within_s: float) -> None:
        self._within_s = within_s
        self._call = BoundedCall()

    async def read(
        self, before: AgentConfig, group: MonitoredGroup, reread: Callable[[], AgentConfig]
    ) -> tuple[AgentConfig, PollTargets] | Refused:
        """The configuration as it is now, with its targets. What is wrong with it is logged; ``before`` stays in force."""
        try:
            with group.clock.hold():
                return await self._call.run(lambda: _read(before, group, reread), self._within_s)
        except NoAnswerError:
            text = (
                f"the settings ({before.path}) or a file that they name could not be read within"
                f" {self._within_s:g} s: check its file system, then send SIGHUP"
            )
            _LOG.error(f"{text}; the settings from before stay in force", extra=as_event("agent.reload_refused"))
            return Refused(text)
        except Failure as error:
            text = f"{error}: the settings from before stay in force"
            _LOG.error(text, extra=as_event("agent.reload_refused"))
            return Refused(str(error))
        except ConfigError as error:
            for problem in error.problems:
                place = problem.place
                _LOG.error(
                    str(problem),
                    extra=as_event("config.problem", file=place.path, line=place.line, column=place.column),
                )
            _LOG.error(
                f"{_count_text(error.problems)} in the settings: those from before stay in force",
                extra=as_event("agent.reload_refused", problems=len(error.problems)),
            )
            return Refused(_first_problem(error), tuple(problem.place.path for problem in error.problems))


def _read(
    before: AgentConfig, group: MonitoredGroup, reread: Callable[[], AgentConfig]
) -> tuple[AgentConfig, PollTargets]:
    """Runs in a thread. Raises Failure and ConfigError."""
    config = reread().for_group(group)
    if config.empty and not before.empty:
        # An editor or a copy leaves it empty for a moment, a full disk for good: no one removes all settings that way.
        raise Failure(f"{config.path} is empty, or all of it is commented out")
    return config, group.targets if group.targets_of is None else group.targets_of(config.settings)


def _first_problem(error: ConfigError) -> str:
    """The first problem with its place, and how many more there are."""
    first, *others = error.problems
    return f"{first} (and {len(others)} more)" if others else str(first)


def _count_text(problems: Sequence[Problem]) -> str:
    """How many problems there are, in words."""
    return "there is a mistake" if len(problems) == 1 else f"there are {len(problems)} mistakes"


LOOK_MS: Final = 5_000
"""The interval of looking at the files."""
ANSWER_S: Final = 5.0
"""A file system that does not answer within this time hangs: the file then counts as unchanged."""


class FileMark(NamedTuple):
    """Identifies a version of a file. An editor may replace a file by a new one."""

    size: int
    changed_ns: int
    number: int


class FileWatch:
    """Calls ``changed`` when files have changed and were the same at two looks: one may be half written at first."""

    def __init__(
        self,
        clock: Clock,
        changed: Callable[[], Awaitable[None]],
        *,
        mark: Callable[[str], FileMark | None] | None = None,
        answer_s: float = ANSWER_S,
    ) -> None:
        """``mark`` looks at a file and may hang; it is abandoned after ``answer_s`` seconds of real time."""
        self._clock = clock
        self._changed = changed
        self._mark = mark or file_mark
        self._answer_s = answer_s
        self._calls: dict[str, BoundedCall] = {}
        self._paths: tuple[str, ...] = ()
        self._known: Mapping[str, FileMark | None] = {}
        self._before: Mapping[str, FileMark | None] = {}

    async def watch(self, paths: Iterable[str]) -> None:
        """Watch these files from now on; they have been read as they are now."""
        await self._look_at(tuple(dict.fromkeys(paths)), {})

    async def watch_too(self, paths: Iterable[str]) -> None:
        """Watch these files instead; those watched before are compared with what they were then."""
        await self._look_at(tuple(dict.fromkeys(paths)), self._known)

    async def _look_at(self, paths: tuple[str, ...], known: Mapping[str, FileMark | None]) -> None:
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

    async def _marks(self, paths: Sequence[str]) -> dict[str, FileMark | None]:
        with self._clock.hold():
            found = await asyncio.gather(*map(self._marked, paths))
        return dict(zip(paths, found, strict=True))

    async def _marked(self, path: str) -> FileMark | None:
        call = self._calls.setdefault(path, BoundedCall())
        try:
            return await call.run(partial(self._mark, path), self._answer_s)
        except (NoAnswerError, OSError):
            return self._before.get(path)


def file_mark(path: str) -> FileMark | None:
    """None for a file that is missing or inaccessible."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return FileMark(status.st_size, status.st_mtime_ns, status.st_ino)
