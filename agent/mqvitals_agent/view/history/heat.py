"""The states of the last hours, a few minutes a cell: of each queue manager, and of each alert.

A cell has the worst state of its time. Without a snapshot in it nothing is known: it is a hole, whatever fired before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mqvitals_agent.text.figure import rough_age
from mqvitals_agent.text.severity import Health, health_of
from mqvitals_agent.text.styled import Part

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_agent.store.rows.alerts.alert_rows import SeveritySpan
    from mqvitals_agent.view.status import StatusData

CELLS: Final = 72
"""Cells that are read; a narrower strip shows several in one."""

_STEPS_MS: Final = tuple(1000 * s for s in (5, 10, 15, 30, 60, 120, 300, 600))
"""Lengths of a cell: the shortest with which the cells cover all that there is, 12 hours at most."""

States = Sequence[Health | None]


@dataclass(frozen=True, slots=True)
class Heat:
    """States from ``since`` (ms UTC) on, ``step_ms`` a cell: by the name of an owner, and by the number of an alert."""

    since: int = 0
    step_ms: int = 0
    owners: Mapping[str, States] = field(default_factory=dict)
    alerts: Mapping[int, States] = field(default_factory=dict)

    def words(self, width: int) -> str:
        """What a strip of ``width`` cells shows: ``last 6 h``."""
        return f"last {rough_age(self.step_ms * CELLS)}" if width and self.step_ms else ""

    def moment(self, cell: int, width: int) -> int:
        """When the time of a cell of a strip of ``width`` cells ends, ms UTC."""
        return self.since + self.step_ms * (CELLS * (cell + 1) // width)


def read_heat(reader: StoreReader, data: StatusData) -> Heat:
    """The states until ``data.now``, in two queries. Raises StoreError."""
    if not data.members:
        return Heat()
    # A cell begins at a multiple of its length: the past does not change while time goes on.
    age = data.now - min(member.first_ts for member in data.members)
    step = next((each for each in _STEPS_MS if each * (CELLS - 1) >= age), _STEPS_MS[-1])
    since = (data.now // step - CELLS + 1) * step
    polled = reader.polled_cells(since, data.now, step)
    spans = reader.severity_spans(since, data.now)
    return heat_of(since, step, data.now, polled, spans)


def heat_of(
    since: int, step_ms: int, until: int, polled: Mapping[str, Iterable[int]], spans: Iterable[SeveritySpan]
) -> Heat:
    """The states of cells of ``step_ms`` from ``since`` to ``until`` (ms UTC).

    ``polled`` are the cells with snapshots by owner, ``spans`` the times in which alerts fired.
    """
    cells: dict[str, list[Health | None]] = {}
    for owner, places in polled.items():
        row = cells[owner] = [None] * CELLS
        for place in places:
            if 0 <= place < CELLS:
                row[place] = Health.OK
    alerts: dict[int, list[Health | None]] = {}
    known = {owner: list(row) for owner, row in cells.items()}
    for span in spans:
        if span.owner not in cells:
            continue
        own = alerts.setdefault(span.number, list(known[span.owner]))
        health = health_of(span.severity)
        end = until if span.end is None else min(span.end, until)
        for place in range(max((span.begin - since) // step_ms, 0), min((end - since) // step_ms, CELLS - 1) + 1):
            for row in (cells[span.owner], own):
                before = row[place]
                if before is not None:
                    row[place] = max(before, health)
    return Heat(since, step_ms, cells, alerts)


def folded(states: States, width: int) -> list[Health | None]:
    """The states in ``width`` cells, each the worst of its part; a part is a hole only if all of it is."""
    size = len(states)
    if not 0 < width < size:
        return list(states)
    parts = (states[size * x // width : size * (x + 1) // width] for x in range(width))
    return [max((each for each in part if each is not None), default=None) for part in parts]


def heat_parts(heat: Heat, states: States, key: str, x: int, now: int) -> tuple[Part, ...]:
    """The parts of a strip of ``states`` that begins in the cell ``x`` of a line about ``key``.

    Each leads to the end of the time of its cell, ``now`` (ms UTC) at the latest; a hole leads nowhere.
    """
    return tuple(
        Part(x + place, x + place + 1, key, min(heat.moment(place, len(states)), now), state.name)
        for place, state in enumerate(states)
        if state is not None
    )
