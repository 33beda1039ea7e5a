"""The metrics of the receivers of alerts: since when one fails, and how much waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from mqvitals_agent.store.rows.alerts.receivers import ReceiverRow
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.agent import RECEIVER_KIND
from mqvitals_rules.vocabulary.metric import Absence, Reported

MEASURE_MS: Final = 60_000
"""How often they are measured, at most, while nothing begins or ends to fail."""
PROBE: Final = RECEIVER_KIND.poll


class ReceiverMeter:
    """Adds readings of receivers to the snapshots of those to whom the store belongs. Use it in the thread of the store."""

    def __init__(self) -> None:
        self._known: set[ObjectName] = set()
        self._states: tuple[object, ...] = ()
        self._ts: int | None = None

    def remember(self, name: ObjectName) -> None:
        """The store knows this receiver from an earlier run."""
        self._known.add(name)

    def added(
        self, snapshots: tuple[Snapshot, ...], owner: str | None, rows: Sequence[ReceiverRow]
    ) -> tuple[Snapshot, ...]:
        """The snapshots of a cycle, that of ``owner`` with readings of the receivers ``rows`` when those are due."""
        return tuple(
            replace(each, readings=(*each.readings, *readings))
            if (readings := tuple(self._readings(each, owner, rows)))
            else each
            for each in snapshots
        )

    def _readings(self, snapshot: Snapshot, owner: str | None, rows: Sequence[ReceiverRow]) -> Iterable[Reading]:
        now, present = snapshot.ts, frozenset(row.name for row in rows)
        for name in sorted(self._known):
            if name.owner == snapshot.owner and (name.owner != owner or name.name not in present):
                self._known.discard(name)
                yield Reading(name, PROBE, now, {}, gone=True)
        if snapshot.owner != owner:
            return
        states = tuple((row.name, row.failing, row.error, row.refused > 0) for row in rows)
        if states == self._states and self._ts is not None and 0 <= now - self._ts < MEASURE_MS:
            return
        self._states, self._ts = states, now
        for row in rows:
            name = ObjectName(snapshot.owner, RECEIVER_KIND.name, row.name)
            self._known.add(name)
            yield Reading(name, PROBE, now, receiver_values(row, now))


def receiver_values(row: ReceiverRow, now: int) -> dict[str, Reported]:
    """The metrics of a receiver at ``now`` (ms UTC)."""
    return {
        "failing_s": 0 if row.failing is None else _seconds(now - row.failing),
        "accepted_ago_s": Absence.NOTHING_TO_TELL if row.accepted is None else _seconds(now - row.accepted),
        "pending": row.waiting,
        "oldest_pending_s": Absence.NOTHING_TO_TELL if row.oldest is None else _seconds(now - row.oldest),
        "refused": row.refused,
        "trouble": (row.error or row.refusal) or Absence.NOTHING_TO_TELL,
    }


def _seconds(ms: int) -> int:
    return max(ms, 0) // 1000
