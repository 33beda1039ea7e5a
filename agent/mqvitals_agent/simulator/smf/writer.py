"""Writes the simulated group's SMF records, interval after interval, into a folder or a stream."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from mqvitals_agent.simulator.flow import STEP_MS
from mqvitals_agent.simulator.model import World
from mqvitals_agent.simulator.smf.member_meter import MemberMeter
from mqvitals_agent.simulator.state import Group

KEPT: Final = 10
"""So many intervals are remembered until they are written, and so many files stay in a folder."""
_PATTERN: Final = "SMF-*.dat"


class SmfWriter:
    """Follows a world from now on. Intervals end on the grid of ``interval_ms`` (whole seconds), counted from 1970 UTC.

    Which records are written follows from the world and the moments at which intervals end, however often anyone looks, as
    long as it is at least once in ``KEPT`` intervals. A queue manager that goes down ends its interval early; the next one
    begins when it is up again.
    """

    def __init__(self, world: World, target: Path | BinaryIO, interval_ms: int) -> None:
        """``target``: a folder, which gets a file ``SMF-<end>.dat`` for each interval, or a stream.

        Make it before the world has been moved far: what was lived through before, it has not seen. Raises ValueError for an
        interval that is not of whole seconds.
        """
        if interval_ms <= 0 or interval_ms % STEP_MS:
            raise ValueError(f"an interval is of whole seconds, not of {interval_ms} ms")
        self._world = world
        self._target = target
        self._interval_ms = interval_ms
        self._due: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._ended: list[bytes] = []
        self._meters = self._begun(world.group)
        world.watch(self, lived_ms=(KEPT + 1) * interval_ms)

    @property
    def interval_ms(self) -> int:
        """The statistics interval."""
        return self._interval_ms

    def second(self, group: Group) -> None:
        """The group has lived one second more."""
        if not self._meters:
            # After a leap: nothing is known of the interval that it ended in.
            self._begin(group)
            return
        living = [
            name
            for name, fault in ((name, group.faults.get(name)) for name in group.members)
            if not (fault and fault.down)
        ]
        for name, meter in self._meters.items():
            if name in living:
                meter.second(living)
            else:
                self._stop(group, name, meter)
        if self._ends(group.now):
            self._end(group)

    def leap(self, group: Group) -> None:
        """Rounds have been added: of the intervals in them nothing is told, nor of those half seen."""
        self._ended.clear()
        self._due.clear()
        self._meters = {}
        self._begin(group)

    def write_due(self, now: int) -> list[Path]:
        """Write the intervals that have ended until ``now``, ms since 1970 UTC; returns the files, none for a stream.

        A file appears under its name when it is whole. One that is there already stays as it is: the records of an interval are the same
        whoever writes them. Older files of the same kind go, but for the last ``KEPT``. Raises OSError.
        """
        self._world.advance(now)
        due = list(self._due)
        self._due.clear()
        if not isinstance(self._target, Path):
            for _, data in due:
                self._target.write(data)
            return []
        written = [path for ended, data in due if (path := _put(self._target, ended, data)) is not None]
        if due:
            for path in sorted(self._target.glob(_PATTERN))[:-KEPT]:
                path.unlink(missing_ok=True)
        return written

    def _meter(self, group: Group, name: str) -> MemberMeter:
        return MemberMeter(group, group.members[name], partial(self._world.up_since, name))

    def _begun(self, group: Group) -> dict[str, MemberMeter]:
        return {name: self._meter(group, name) for name in group.members}

    def _ends(self, now: int) -> bool:
        # The world's seconds need not be those of the clock: the first one at or after the end counts.
        return now % self._interval_ms < STEP_MS

    def _begin(self, group: Group) -> None:
        if self._ends(group.now):
            self._world.settle()
            self._meters = self._begun(group)

    def _stop(self, group: Group, name: str, meter: MemberMeter) -> None:
        """A queue manager is down: what it did until then is its last record."""
        self._world.settle()
        if meter.lasts:
            self._ended += meter.records()
        self._meters[name] = self._meter(group, name)

    def _end(self, group: Group) -> None:
        self._world.settle()
        for name, meter in self._meters.items():
            if meter.lasts:
                self._ended += meter.records()
                self._meters[name] = self._meter(group, name)
        if self._ended:
            self._due.append((group.now, b"".join(self._ended)))
            self._ended = []


def _put(folder: Path, ended: int, data: bytes) -> Path | None:
    """The file of the interval that ended then; None when it is there already."""
    path = folder / f"SMF-{datetime.fromtimestamp(ended // 1000, UTC):%Y%m%dT%H%M%SZ}.dat"
    if path.exists():
        return None
    part = folder / f".{path.name}.part"
    part.write_bytes(data)
    part.replace(path)
    return path
