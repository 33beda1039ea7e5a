"""What the log says of cycles: how they are stored, how they are dated, what the store no longer keeps."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mqvitals_agent.log import as_change, as_event, as_recovery, forget
from mqvitals_agent.service.cycle_clock import CORRECTION_MS, CycleClock, DatingReason
from mqvitals_agent.service.cycle_writer import StoredCycle
from mqvitals_agent.store.deletion_clock import DeletionDecision
from mqvitals_agent.store.error import StoreError, StoreState
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.settings import StoreSettings, format_size

_LOG = logging.getLogger(__name__)


class CycleLog:
    """Writes these lines, each once while it holds. ``state`` is that of the store as of the last cycle."""

    def __init__(self) -> None:
        self.state = StoreState()
        self._behind = False

    def note_stored(self, stored: StoredCycle) -> None:
        """Log what is to be said of a cycle that was stored, or could not be."""
        for incident in stored.incidents:
            _LOG.error(incident.text, extra=as_event("store.damaged"))
        for kind, count in stored.refused.items():
            _LOG.warning(
                f"{kind}: such values are not stored; {count:,} so far",
                extra=as_change(f"store refused {kind}", "store.refused", refused=count),
            )
        self.note_state(stored.errors, stored.state)
        if stored.unwatched:
            names = ", ".join(stored.unwatched)
            text = f"no longer monitored: {names}; their alerts have ended, their history stays"
            _LOG.warning(text, extra=as_event("queue_manager.unwatched", queue_managers=names))

    def note_state(self, errors: Sequence[StoreError], state: StoreState) -> None:
        """Log once that cycles cannot be stored, and once that they are again."""
        text = "; ".join(dict.fromkeys(map(str, errors)))
        if text and state.trouble is not None:
            text += "; rules are still evaluated and alerts sent"
        if text:
            _LOG.error(text, extra=as_change("store", "store.failed"))
        else:
            _LOG.info(
                "cycles are stored again",
                extra=as_recovery("store", "store.recovered", waiting=state.waiting, dropped=state.dropped),
            )
        if state.dropped > self.state.dropped:
            _LOG.error(
                "the oldest cycles waiting for the store are dropped: there are too many",
                extra=as_change("store dropped", "store.dropped", dropped=state.dropped),
            )
        elif not text:
            forget(_LOG, "store dropped")
        self.state = state

    def note_end(self, state: StoreState) -> None:
        """Log what the last writes did not store."""
        self.state = state
        if state.waiting or state.unwritten:
            _LOG.error(
                f"the last writes to the store failed: snapshots lost: {state.waiting:,}, alerts and notifications not up"
                f" to date: {state.unwritten:,}; the next run may send some of these again",
                extra=as_event("store.unwritten", snapshots=state.waiting, alerts=state.unwritten),
            )

    def note_clock(self, cycle: CycleClock) -> None:
        """Log once that the clock was set, and once that samples are dated by it again."""
        behind = cycle.dating is DatingReason.BEHIND
        by = cycle.correction
        if abs(by) >= CORRECTION_MS:
            length = format_duration(abs(by) // 1000 * 1000)
            _LOG.warning(
                f"the clock was set {'ahead' if by > 0 else 'back'} by {length}; samples are dated {cycle.dating.value}"
                + ("; those are deleted" if cycle.dating.deletes else ""),
                extra=as_event("clock.corrected", by_ms=by, lead_ms=max(cycle.lead, 0)),
            )
        if behind and not self._behind:
            _LOG.error(
                f"the clock is {format_duration(cycle.lead // 1000 * 1000)} behind the last sample in the store: until it has"
                " caught up, samples are dated after that one, at half the clock's pace; see that the clock is right."
                " If it is, stop the agent, and `mqvitals store check --repair` deletes what lies more than a day ahead",
                extra=as_event("clock.behind", behind_ms=cycle.lead),
            )
        elif self._behind and not behind:
            _LOG.info("samples are dated by the clock again", extra=as_event("clock.caught_up"))
        self._behind = behind

    def note_retention_failed(self, error: StoreError) -> None:
        """Log once that old data cannot be deleted."""
        text = f"data older than store.keep cannot be deleted: {error}"
        _LOG.error(text, extra=as_change("retention", "store.retention_failed"))

    def note_retention(self, deletion: DeletionDecision, first: StoreSettings | None) -> None:
        """Log once that deletion waits for the clock, and once that it goes on; ``first``: it is the first one of a store."""
        forget(_LOG, "retention")
        if first is not None:
            _announce_retention(first)
        key = "retention clock"
        if deletion.reason:
            _LOG.warning(deletion.reason, extra=as_change(key, "store.retention_waits"))
        else:
            _LOG.info(
                "data older than store.keep is deleted again",
                extra=as_recovery(key, "store.retention_resumed"),
            )


def _announce_retention(store: StoreSettings) -> None:
    keep = "for ever" if store.keep is None else f"for {format_duration(store.keep)}"
    most = "without a limit" if store.max_size is None else f"at most {format_size(store.max_size)}"
    _LOG.warning(
        f"the store keeps samples, ended alerts and console messages {keep}, {most}: older data is deleted from now on;"
        " store.keep and store.max_size change that (forever and none keep everything)",
        extra=as_event("store.retention"),
    )
