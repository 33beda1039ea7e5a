"""The way of a snapshot: into the windows, to the rules, into the store; the same for a recording and a live group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from mqvitals_agent.ingest.live_state import LiveState
from mqvitals_agent.ingest.log_figures import GROWTH, LOG, LogFigures
from mqvitals_agent.ingest.pool_figures import PoolFigures
from mqvitals_agent.ingest.queue_manager_figures import QueueManagerFigures
from mqvitals_agent.ingest.stored_baselines import FurtherHours
from mqvitals_agent.ingest.windows import WindowedMetric, WindowHistory
from mqvitals_agent.store.older import PastReader
from mqvitals_agent.store.rows.alerts.alert_rows import AlertRepository
from mqvitals_agent.store.rows.alerts.notifications import UpdateOutbox
from mqvitals_rules.engine import Engine, Evaluation
from mqvitals_rules.lifecycle.alert import Alert, AlertState, Transition, Why
from mqvitals_rules.ruleset.config import RuleConfig
from mqvitals_rules.ruleset.rule import RuleKind
from mqvitals_rules.snapshot import ObjectName, Snapshot
from mqvitals_rules.vocabulary.metric import Reported

OnTransitions = Callable[[Snapshot, Sequence[Transition]], None]
"""Called with the visible transitions of a snapshot once they are decided for good. Must not raise."""


WriteSnapshot = Callable[[Snapshot, Evaluation, UpdateOutbox | None], Sequence[tuple[int, Transition]]]
"""As ``SnapshotStore.write``."""


class SnapshotStore(Protocol):
    """What keeps snapshots and alerts: ``Store``, and ``ResilientStore``, whose file may fail. Raises StoreError."""

    @property
    def alerts(self) -> AlertRepository:
        """The alerts; the open ones go on."""
        ...

    def write(
        self, snapshot: Snapshot, evaluation: Evaluation, update_outbox: UpdateOutbox | None = None
    ) -> Sequence[tuple[int, Transition]]:
        """Keep a snapshot and what the rules made of it; returns the visible transitions with the alerts' numbers."""
        ...


class Ingest:
    """Remembers, evaluates and stores snapshots, in their order. Begins with the open alerts of the store.

    ``update_outbox`` makes the notifications for transitions of alerts; without it none are sent. ``older`` reads what
    the store holds already, for the windows, ``further`` knows hours that it does not hold. ``known`` are snapshots that the rules know without evaluating them, the
    oldest first. ``changed`` gets the visible transitions of each snapshot after they are stored, once each. ``live`` shows
    other threads what is known. ``resumed`` makes of each open alert how it goes on.
    """

    def __init__(
        self,
        store: SnapshotStore,
        config: RuleConfig,
        update_outbox: UpdateOutbox | None = None,
        *,
        older: PastReader | None = None,
        further: FurtherHours | None = None,
        known: Iterable[Snapshot] = (),
        changed: OnTransitions | None = None,
        live: LiveState | None = None,
        resumed: Callable[[Alert], Alert] = lambda alert: alert,
    ) -> None:
        wanted = {WindowedMetric.by(use) for use in config.rules.windows}
        wanted.add(WindowedMetric(LOG, GROWTH, baseline=True))
        self._store = store
        self._update_outbox = update_outbox
        self._changed = changed
        self._live = live
        self._windows = WindowHistory(sorted(wanted), older=older, zone_of=config.zone_of, further=further)
        self._log_figures = LogFigures(self._windows, config.facts, older)
        self._queue_manager_figures = QueueManagerFigures(config.facts, older)
        self._pool_figures = PoolFigures(older, config.zone_of)
        alerts = map(resumed, store.alerts.all_open())
        self._engine = Engine(config.rules, config.facts, self._windows, alerts=alerts)
        # A record comes twice an hour: until the next one, rules go by the one before, also after a restart.
        for snapshot in () if older is None else older.newest_records():
            self._engine.observe(snapshot)
        for snapshot in known:
            self._engine.observe(snapshot)
        if live is not None:
            live.follow(self._engine)

    def take(self, snapshots: Iterable[Snapshot], write: WriteSnapshot | None = None) -> None:
        """Take in snapshots, each in a transaction of its own. Raises StoreError; what came before is kept.

        ``write`` is another way into the same store than ``SnapshotStore.write``.
        """
        for polled in snapshots:
            snapshot = self._pool_figures.added(self._queue_manager_figures.added(self._log_figures.added(polled)))
            # The rules look at windows that hold the poll they evaluate.
            self._windows.add(snapshot)
            self._write(snapshot, self._engine.evaluate(snapshot), write)

    def unwatch(self, snapshot: Snapshot) -> None:
        """Take in the last snapshot of a queue manager that is no longer watched: all that it had is gone.

        Raises StoreError.
        """
        self._windows.add(snapshot)
        self._write(snapshot, self._engine.evaluate(snapshot, Why.UNWATCHED))

    def shift(self, by_ms: int, since: int) -> None:
        """The clock was corrected: what is remembered with its date is dated ``by_ms`` later (negative: earlier).

        ``since`` is how the first cycle of this run was dated: alerts that began before go by another clock, and
        stay. Alerts are stored with the next snapshot.
        """
        self._windows.shift(by_ms)
        self._log_figures.shift(by_ms)
        self._pool_figures.shift()
        self._engine.shift(by_ms, since)

    def _write(self, snapshot: Snapshot, evaluation: Evaluation, write: WriteSnapshot | None = None) -> None:
        visible = (write or self._store.write)(snapshot, evaluation, self._update_outbox)
        if self._live is not None:
            self._live.note(snapshot)
        if self._changed is not None and visible:
            self._changed(snapshot, [transition for _, transition in visible])

    def latest(self, name: ObjectName, metric: str) -> Reported | None:
        """The newest value of a metric that the rules have; None: none yet."""
        state = self._engine.latest.state(name)
        return None if state is None else state.values.get(metric)

    @property
    def firing(self) -> int:
        """How many operational alerts are firing now, those that another one explains among them; advice is none."""
        operational = RuleKind.OPERATIONAL.value
        return sum(
            alert.state is AlertState.FIRING and alert.kind_of_rule == operational for alert in self._engine.open_alerts
        )
