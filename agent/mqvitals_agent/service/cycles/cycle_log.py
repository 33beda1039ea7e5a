"""What the log says of cycles: how they are stored and dated, what the store no longer keeps, and which alerts changed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mqvitals_agent.alerting.action import fingerprint
from mqvitals_agent.alerting.decision import OPERATIONAL
from mqvitals_agent.log import Fact, as_change, as_event, as_recovery, forget
from mqvitals_agent.service.agent_meters import LimitOutlook
from mqvitals_agent.service.cycles.cycle import StoredCycle
from mqvitals_agent.service.cycles.cycle_clock import CORRECTION_MS, CycleClock, DatingReason
from mqvitals_agent.store.deletion_clock import DeletionDecision
from mqvitals_agent.store.error import StoreError, StoreState
from mqvitals_agent.store.sealing import SealingStep
from mqvitals_agent.view.alerts.words import began_ts, duration_words, summary_with_owner
from mqvitals_config.decoding.scalars import format_duration
from mqvitals_config.sections.store import StoreSettings, format_keep, format_size
from mqvitals_rules.lifecycle.alert import AlertState, Severity, Transition, Why
from mqvitals_rules.snapshot import Snapshot
from mqvitals_rules.timestamps import HOUR_MS, iso

_LOG = logging.getLogger(__name__)

_LEVELS = {Severity.CRITICAL: logging.ERROR, Severity.WARNING: logging.WARNING, Severity.INFO: logging.INFO}


class CycleLog:
    """Writes these lines, each once while it holds. ``state`` is that of the store as of the last cycle."""

    def __init__(self) -> None:
        self.state = StoreState()
        self._behind = False
        self._damaged_chunks = 0
        self._limit_reached: int | None = None

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
        self.note_limit(stored.outlook)
        if stored.unwatched:
            names = ", ".join(stored.unwatched)
            text = f"no longer monitored: {names}; their alerts have ended, their history stays"
            _LOG.warning(text, extra=as_event("queue_manager.unwatched", queue_managers=names))

    def note_limit(self, outlook: LimitOutlook | None) -> None:
        """Log when the limit would be reached before samples are as old as they may become, again when that has moved by
        more than a day; and once that it has been.
        """
        if outlook is None:
            return
        key, goes = "store limit", "the oldest samples go first, hours last"
        size = format_size(outlook.limit)
        if outlook.missed:
            self._limit_reached = None
            _LOG.warning(
                f"the store's limit of {size} holds less than store.keep.raw: {goes}",
                extra=as_change(key, "store.limit_reached", limit_bytes=outlook.limit),
            )
        elif outlook.reached is None:
            self._limit_reached = None
            _LOG.info("the store's limit costs no samples any more", extra=as_recovery(key, "store.limit_recovered"))
        elif self._limit_reached is None or abs(outlook.reached - self._limit_reached) > 24 * HOUR_MS:
            self._limit_reached = outlook.reached
            _LOG.warning(
                f"the store reaches its limit of {size} on {iso(outlook.reached)[:10]}, before samples are as old as"
                f" store.keep.raw: then {goes}",
                extra=as_change(key, "store.limit_ahead", limit_bytes=outlook.limit, reached=iso(outlook.reached)),
            )

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

    def note_sealing_failed(self, error: StoreError) -> None:
        """Log once that finished hours cannot be sealed."""
        text = f"finished hours cannot be sealed, and stay as rows: {error}"
        _LOG.error(text, extra=as_change("sealing", "store.sealing_failed"))

    def note_sealing(self, step: SealingStep) -> None:
        """Log once that hours are sealed sooner than usual, and that a sealed one could not be read."""
        _LOG.info("finished hours are sealed again", extra=as_recovery("sealing", "store.sealing_recovered"))
        key = "sealing early"
        if step.hot.reason:
            _LOG.info(step.hot.reason, extra=as_change(key, "store.sealing_early", hours=step.hot.ms // HOUR_MS))
        else:
            forget(_LOG, key)
        if step.damaged:
            self._damaged_chunks += len(step.damaged)
            first = step.damaged[0]
            _LOG.error(
                "a sealed hour is damaged and its samples are lost; sealing goes on. `mqvitals store check` looks for more",
                extra=as_change(
                    "sealing damaged",
                    "store.chunk_damaged",
                    object=str(first.object),
                    hour=iso(first.ts),
                    damaged=self._damaged_chunks,
                ),
            )


def _announce_retention(store: StoreSettings) -> None:
    keep = store.keep
    raw = format_keep(keep.raw.default) + "".join(
        f", those of {kind} {format_keep(ms)}" for kind, ms in keep.raw.kinds.items()
    )
    most = "without a limit" if store.limit is None else f"at most {format_size(store.limit)}"
    _LOG.warning(
        f"the store keeps samples {raw}; hours {format_keep(keep.hours)}; ended alerts, journal and console messages"
        f" {format_keep(keep.alerts)}; {most}: older data is deleted from now on; store.keep and store.limit change that"
        " (forever and none keep everything)",
        extra=as_event("store.retention"),
    )


def log_alerts(snapshot: Snapshot, transitions: Sequence[Transition]) -> None:
    """Log the visible transitions of operational alerts in a snapshot. Never raises; may be called on any thread.

    Events are ``alert.firing``, ``alert.changed`` (another severity) and ``alert.resolved``; docs/agent.md describes
    their facts. An alert that another one explains is logged too, with that one as ``cause``: the log has everything,
    only notifications are inhibited.
    """
    for transition in transitions:
        alert = transition.after
        if alert.kind_of_rule != OPERATIONAL or alert.started is None:
            continue
        event, text = _event_text(transition)
        _LOG.log(level_of(transition), text, extra=as_event(event, **_facts(transition, group=snapshot.group)))


def level_of(transition: Transition) -> int:
    """The level of the record: by severity while the alert fires, INFO once it has ended."""
    alert = transition.after
    return logging.INFO if alert.state is AlertState.RESOLVED else _LEVELS[alert.severity]


def _event_text(transition: Transition) -> tuple[str, str]:
    alert, before = transition.after, transition.before
    about = f"{alert.key.rule} {alert.key.object}"
    if alert.state is AlertState.RESOLVED:
        reason = "" if alert.why is Why.CLEARED else f": {alert.why_text}"
        return "alert.resolved", f"{about} has ended after {duration_words(alert, alert.updated)}{reason}"
    severity = alert.severity.name
    if before is not None and before.state is AlertState.FIRING and before.severity is not alert.severity:
        return "alert.changed", f"{about} is {severity} now, it was {before.severity.name}"
    return "alert.firing", f"{about} fires, {severity}"


def _facts(transition: Transition, *, group: bool) -> dict[str, Fact]:
    alert, before = transition.after, transition.before
    facts: dict[str, Fact] = {"rule": alert.key.rule, "object": str(alert.key.object)}
    if not group:
        facts["queue_manager"] = alert.key.object.owner
    if alert.key.instance:
        facts["instance"] = alert.key.instance
    facts["severity"] = alert.severity.name.lower()
    if alert.state is AlertState.RESOLVED:
        facts["worst"] = alert.worst.name.lower()
        facts["fired_ms"] = max((alert.updated if alert.ended is None else alert.ended) - began_ts(alert), 0)
        facts["reason"] = alert.why_text
    elif before is not None and before.state is AlertState.FIRING and before.severity is not alert.severity:
        facts["before"] = before.severity.name.lower()
    if alert.cause is not None:
        facts["cause"] = f"{alert.cause.rule} {alert.cause.object}"
    facts["fingerprint"] = fingerprint(alert)
    if alert.worst_value:
        facts["worst_value"] = alert.worst_value
    if alert.value_now:
        facts["value_now"] = alert.value_now
    facts["summary"] = summary_with_owner(alert)
    return facts
