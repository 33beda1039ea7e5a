"""The metrics of the agent's small server: whether it listens, and what it has served."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mqvitals_agent.service.agent_meters import MEASURE_MS
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.agent import SERVER_KIND
from mqvitals_rules.vocabulary.metric import NO_YES, Absence, Reported


@dataclass(frozen=True, slots=True)
class ServerState:
    """How it goes with the server now: where it listens, why it does not though it should, and its figures since the start."""

    address: str = ""
    trouble: str = ""
    pages: int = 0
    refused: int = 0
    series: int = 0
    left_out: int = 0


class ServerMeter:
    """Adds readings of the server to the snapshots of those to whom the store belongs. Use it in the thread of the store."""

    def __init__(self) -> None:
        self._known: set[ObjectName] = set()
        self._before: ServerState | None = None
        self._ts: int | None = None
        self._failing: int | None = None

    def remember(self, name: ObjectName) -> None:
        """The store knows the server from an earlier run."""
        self._known.add(name)

    def added(
        self, snapshots: tuple[Snapshot, ...], owner: str | None, state: ServerState | None
    ) -> tuple[Snapshot, ...]:
        """The snapshots of a cycle, that of ``owner`` with a reading when one is due; ``state`` None: there is no server."""
        return tuple(
            replace(each, readings=(*each.readings, *readings))
            if (readings := self._readings(each, owner, state))
            else each
            for each in snapshots
        )

    def _readings(self, snapshot: Snapshot, owner: str | None, state: ServerState | None) -> list[Reading]:
        now, name = snapshot.ts, ObjectName(snapshot.owner, SERVER_KIND.name)
        wanted = snapshot.owner == owner and state is not None
        if not wanted and name in self._known and owner is not None:
            self._known.discard(name)
            return [Reading(name, SERVER_KIND.poll, now, {}, gone=True)]
        if not wanted or state is None:
            return []
        if not state.trouble:
            self._failing = None
        elif self._failing is None or self._failing > now:
            self._failing = now
        before = self._before
        news = before is None or (before.address, before.trouble) != (state.address, state.trouble)
        if not news and self._ts is not None and 0 <= now - self._ts < MEASURE_MS:
            return []
        interval = None if self._ts is None or now <= self._ts else now - self._ts
        self._known.add(name)
        self._before, self._ts = state, now
        return [Reading(name, SERVER_KIND.poll, now, self._values(state, before, now), interval)]

    def _values(self, state: ServerState, before: ServerState | None, now: int) -> dict[str, Reported]:
        failing = 0 if self._failing is None else (now - self._failing) // 1000
        return {
            "listening": NO_YES["YES" if state.address else "NO"],
            "address": state.address or Absence.NOTHING_TO_TELL,
            "failing_s": failing,
            "trouble": state.trouble or Absence.NOTHING_TO_TELL,
            "pages": Absence.FIRST_READING if before is None else max(state.pages - before.pages, 0),
            "refused": Absence.FIRST_READING if before is None else max(state.refused - before.refused, 0),
            "series": state.series,
            "series_left_out": state.left_out,
        }
